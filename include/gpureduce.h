/*
** The C API of gpureduce 0.2.0: for hosts that link libgpureduce.a, by the names below, and for those whose Lua loads
** the module, by the function table gpureduce_api, which holds the same functions. docs/embedding.md tells how;
** docs/capi.md has the same text as this header.
**
** Written by docs/generate.lua from docs/capi: edit that, then run 'make docs'. C11 and C++17; it includes nothing of
** Lua.
*/
#ifndef GPUREDUCE_H
#define GPUREDUCE_H

#include <stddef.h>
#include <stdint.h>

#define GPUREDUCE_MAJOR 1 /* goes up when something is no longer as it was */
#define GPUREDUCE_MINOR 1 /* goes up when something is added, at the end of the table or of a struct */

/* In the registry of Lua: the config of the context to come (a light userdata), and a userdata that holds the table. */
#define GPUREDUCE_CONFIG "gpureduce.config"
#define GPUREDUCE_TABLE "gpureduce.capi"

typedef struct lua_State lua_State;

#ifdef __cplusplus
extern "C" {
#endif

/* What every function but a few returns. The words are in gpureduce_error(). */
typedef enum gpureduce_status {
  GPUREDUCE_OK = 0,
  GPUREDUCE_NO_MEMORY = 1, /* the host or the device has none left, or a limit of bytes is reached */
  GPUREDUCE_DEVICE = 2,    /* the device failed */
  GPUREDUCE_BAD = 3,       /* an argument, or what it asks for, is impossible */
  GPUREDUCE_SYSTEM = 4,    /* the operating system refused: errno is set */
  GPUREDUCE_RELEASED = 5,  /* the array has been released, perhaps by a script */
  GPUREDUCE_STOPPED = 7,   /* the stop flag, a limit of seconds or the host's hook ended the call */
  GPUREDUCE_VERSION = 8,   /* a struct or a table of a version that this library does not know */
  GPUREDUCE_NULL = 9,      /* a pointer that must point somewhere is NULL */
  GPUREDUCE_FOREIGN = 10,  /* the array belongs to another context */
  GPUREDUCE_BUSY = 11,     /* another call of this context is under way: in another thread, or around a callback */
  GPUREDUCE_UNKNOWN = 12   /* no context, array or parcel that is alive; see "Misuse" in docs/embedding.md */
} gpureduce_status;

/* The types of elements. */
typedef enum gpureduce_dtype {
  GPUREDUCE_U8 = 0,
  GPUREDUCE_I8 = 1,
  GPUREDUCE_U16 = 2,
  GPUREDUCE_I16 = 3,
  GPUREDUCE_U32 = 4,
  GPUREDUCE_I32 = 5,
  GPUREDUCE_I64 = 6,
  GPUREDUCE_F16 = 7,
  GPUREDUCE_BF16 = 8,
  GPUREDUCE_F32 = 9,
  GPUREDUCE_F64 = 10
} gpureduce_dtype;

/*
** What one Lua state, or a program without Lua, has of the library; an array, or an expression in its place; an
** array between two contexts; an operator of the host's own; results for later.
*/
typedef struct gpureduce_context gpureduce_context;
typedef struct gpureduce_array gpureduce_array;
typedef struct gpureduce_parcel gpureduce_parcel;
typedef struct gpureduce_operator gpureduce_operator;
typedef struct gpureduce_future gpureduce_future;

/* A number, in or out. Out: both fields are set, and `whole` says which is exact. In: `whole` says which one counts. */
typedef struct gpureduce_number {
  int32_t whole; /* 1: i is the number, and f the nearest to it; 0: f is */
  int64_t i;
  double f;
} gpureduce_number;

/*
** The host's job system in place of the library's threads: run `piece(work, k)` for k = 0 .. pieces - 1, each once,
** in any order and on any threads, and return when all have returned. Results do not depend on how. A piece takes
** some milliseconds at most, and never blocks. The call may come from a thread of the library's own, which does what
** scripts leave for later (gr.async). Functions of the library answer BUSY inside of it.
*/
typedef void gpureduce_run(void *user, int64_t pieces, void (*piece)(void *work, int64_t k), void *work);

/*
** The memory of elements, from the host: NULL when there is none. Blocks of host memory begin at a multiple of
** `alignment`; those of a device at one of 256, and are padded to it. `device` is a name as "cuda:0". Freeing device
** memory must wait for what the device was given before, as cudaFree does. Any thread may call, at any time, and no
** function of the library may be called from there.
*/
typedef void *gpureduce_host_alloc(void *user, size_t bytes, size_t alignment);
typedef void gpureduce_host_free(void *user, void *memory, size_t bytes);
typedef void *gpureduce_device_alloc(void *user, const char *device, size_t bytes);
typedef void gpureduce_device_free(void *user, const char *device, void *memory, size_t bytes);

/* A line of text without its end: what GPUREDUCE_TRACE asks for, which goes to stderr otherwise. */
typedef void gpureduce_log(void *user, const char *line);

/*
** How a context begins. All zeros but `size` is what the library does by itself. What is "of the process" holds for
** all contexts. Allocators can be set only before the library has memory, thus with the first context.
*/
typedef struct gpureduce_config {
  uint32_t size; /* sizeof(gpureduce_config) */
  int32_t threads; /* of the process, for one call: the caller included; 0: what there are */
  const char *device; /* "cpu", "cuda", "cuda:1"; NULL: GPUREDUCE_DEVICE, else the best there is */
  void *stream; /* a CUDA stream of the host's on that device, for all work of the context; NULL: one of its own */
  uint64_t bytes; /* of arrays at most, both sides together; 0: any. These three are limits as gr.safe sets them */
  int64_t elements; /* of one array at most; 0: any */
  double seconds; /* of one call on the CPU at most; 0: any */
  gpureduce_log *log;
  void *log_user;
  gpureduce_run *run; /* of the process, as all below */
  void *run_user;
  gpureduce_host_alloc *host_alloc; /* both of a pair or none */
  gpureduce_host_free *host_free;
  gpureduce_device_alloc *device_alloc;
  gpureduce_device_free *device_free;
  void *alloc_user;
  /* since 1.1: */
  const volatile int32_t *stop; /* a flag of the host's own, which lives as long as the context; or NULL */
} gpureduce_config;

/* What a context has, and what the process has (of all contexts). */
typedef struct gpureduce_counts {
  uint32_t size; /* sizeof(gpureduce_counts) */
  int64_t arrays;
  uint64_t live, limit; /* bytes of this context's arrays, and the most there may be (0: any) */
  uint64_t host, device, pooled; /* of the process: in use on either side, and kept for reuse */
  uint64_t bytes_up, bytes_down, launches, syncs; /* what this context's devices have done so far */
} gpureduce_counts;

/*
** Memory of the host's as an array: `length` elements, `stride` bytes apart (0: side by side). Without `device` it
** is host memory, aligned to an element. With it, it is memory of that device (which must be the one in use), and
** ready once what `stream` holds now is done. `release` is called once, when nothing needs the memory any more, from
** any thread; it is not called when wrapping fails. Work on device memory that is still queued then precedes what
** `stream`, which has to be there until then, is given afterwards.
*/
enum {
  GPUREDUCE_READONLY = 1, /* writing to it is refused */
  GPUREDUCE_CHANGING = 2, /* the owner writes at any time: every use looks at the (host) memory again */
  /* Of tensors alone: */
  GPUREDUCE_COPIED = 4,     /* from one: its elements are copied, whatever its strides, and it is gone at once */
  GPUREDUCE_UNVERSIONED = 8 /* it is a DLManagedTensor, of before DLPack 1.0; else a DLManagedTensorVersioned */
};
typedef struct gpureduce_memory {
  uint32_t size; /* sizeof(gpureduce_memory) */
  gpureduce_dtype dtype;
  uint32_t flags;
  void *data;
  int64_t length;
  int64_t rows; /* of a matrix, which has length / rows columns; 0: a vector */
  int64_t stride;
  const char *device;
  void *stream;
  void (*release)(void *user);
  void *user;
} gpureduce_memory;

/* What an array is. */
typedef struct gpureduce_info {
  uint32_t size; /* sizeof(gpureduce_info) */
  gpureduce_dtype dtype;
  int64_t length;
  int64_t rows; /* 0: a vector */
  int64_t stride; /* bytes from one element to the next; of a reversed view below 0, of an expression 0 */
  int32_t item; /* bytes of an element */
  int32_t borrowed; /* it is a value of a Lua state, which alone may drop it */
  const char *device; /* where kernels read it */
} gpureduce_info;

/* What a pointer is for. WHOLE: to write every element, so that what is there need not be brought first. */
enum { GPUREDUCE_READ = 1, GPUREDUCE_WRITE = 2, GPUREDUCE_WHOLE = 4 };

/*
** Options of operations; all zeros but `size` is none. Those that an operation does not know must be 0. What came
** with a later minor version stands at the end of a struct: the `size` of an earlier header is taken as it was.
*/
typedef struct gpureduce_options {
  uint32_t size; /* sizeof(gpureduce_options) */
  int32_t axis; /* with rows: 2 (or 0) along each row, 1 down each column */
  int64_t rows; /* read the array as so many rows; -1: those of the matrix that it is; 0: the whole */
  const gpureduce_array *segments; /* offsets (i64 or i32, from 1), one more than there are segments */
  int32_t pairs; /* of two arrays: row with row; else each row of a with all of b */
  int32_t exact; /* correctly rounded */
  double ddof;
  int32_t exclusive, reverse; /* of a scan */
  gpureduce_dtype dtype; /* that cast makes, and where of two numbers */
  double eps; /* of rmsnorm */
  /* since 1.1: */
  const gpureduce_array *mask; /* u8 or an expression, as long as the array: elements where it is 0 are missing */
  int32_t skipnan; /* elements that are NaN are missing */
  int32_t single; /* results of f64 as f32, rounded once */
  const gpureduce_array *weights; /* of quantiles: as long as the array */
} gpureduce_options;

/* An operand of an element operator: an array, or (array NULL) a number. */
typedef struct gpureduce_operand {
  const gpureduce_array *array;
  gpureduce_number number;
} gpureduce_operand;

/* The bins of a histogram: `bins` of them, even or (log) by equal factors, or between `edges`. */
typedef struct gpureduce_binning {
  uint32_t size; /* sizeof(gpureduce_binning) */
  int32_t log;
  int64_t bins; /* 0: edges says */
  const gpureduce_array *edges; /* f64, rising */
  double min, max; /* of even bins; both 0: the data's finite range */
  const gpureduce_array *weights; /* as long as the data; NULL: each sample counts 1 */
  /* since 1.1: */
  const gpureduce_array *mask; /* samples where it is 0 are missing */
  int32_t skipnan; /* samples that are NaN are missing */
  int32_t modulo; /* bin = x mod bins, of integers */
  gpureduce_array *into; /* of histogram: where the counts go, bins + 3 elements; NULL: to a new array */
} gpureduce_binning;

/* What a name of a formula stands for: an array or an expression, or (array NULL) a number. */
typedef struct gpureduce_input {
  const char *name;
  const gpureduce_array *array;
  gpureduce_number number;
} gpureduce_input;

/*
** One of several reductions to a number: op, a and b as reduce takes them. It has no other options: what is missing
** stands in a formula, as in `isnan(x) and 0 or x`.
*/
typedef struct gpureduce_item {
  const char *op;
  const gpureduce_array *a, *b;
  double ddof;
} gpureduce_item;

/*
** An operator by formulas, as gr.operator takes it (docs/reference.md): what an element `x` at position `i` makes of
** each state, what two neighbours' states (of state s: `s1` and `s2`) make of it, and what it is of no element.
** Results are the states, or what the texts of finish make of them and of `n`, how many elements there are.
*/
typedef struct gpureduce_operator_state {
  const char *name, *map, *merge;
  gpureduce_number identity;
} gpureduce_operator_state;
typedef struct gpureduce_operator_states {
  uint32_t size; /* sizeof(gpureduce_operator_states) */
  int32_t count; /* of states: 1 to 6 */
  const gpureduce_operator_state *states;
  int32_t results; /* texts of finish: 0 to 6; 0: the states themselves */
  int32_t ordered; /* the merge does not commute */
  const char *const *finish;
  int32_t check; /* try on samples whether it is associative */
} gpureduce_operator_states;

/* What to read of a file; all zeros but `size` and dtype is all of it. */
typedef struct gpureduce_file {
  uint32_t size; /* sizeof(gpureduce_file) */
  gpureduce_dtype dtype; /* of a raw file; an NPY file says its own */
  int64_t offset; /* of a raw file: bytes to skip */
  int64_t count; /* of a raw file: elements; 0: all that follow */
  int32_t map; /* 1: mapped, so that pages are read when they are used */
} gpureduce_file;

/*
** An exact sum that goes on over many calls; all zeros: nothing yet. It needs no end, and its bytes are those of
** accumulator:bytes(), the same on every machine.
*/
typedef struct gpureduce_accumulator {
  unsigned char bytes[568];
} gpureduce_accumulator;

/* ---- words ---- */

/* What the last call of this thread that failed has to say; "" before the first. */
const char *gpureduce_error(void);

/* As gr._VERSION. */
const char *gpureduce_version(void);

/* ---- contexts ---- */

/*
** Before the module is opened in that Lua state: how its context begins. A host that loads the module puts the
** config into the registry itself (GPUREDUCE_CONFIG). config: read when the module opens. Errors: BAD: the module is
** open in this state already.
*/
gpureduce_status gpureduce_configure(lua_State *L, const gpureduce_config *config);

/*
** A context without Lua. config: NULL: by itself. out: to be closed. Errors: BAD: no such device; a stream on a
** device without streams; allocators when the library has memory.
*/
gpureduce_status gpureduce_open(const gpureduce_config *config, gpureduce_context **out);

/*
** The end of a context without Lua. Arrays of it that are still there keep what they need, and are dropped as
** before. context: of open; that of a state closes with it.
*/
gpureduce_status gpureduce_close(gpureduce_context *context);

/* The context of a Lua state. out: valid until lua_close. Errors: BAD: the module is not open there. */
gpureduce_status gpureduce_of_state(lua_State *L, gpureduce_context **out);

/* Arrays made from now on live there. device: "cpu", "cuda:1". */
gpureduce_status gpureduce_use(gpureduce_context *context, const char *device);

/* The name of the device in use; looks for one if none has been used yet. out: valid for good. */
gpureduce_status gpureduce_device(gpureduce_context *context, const char **out);

/*
** Other limits from now on. gr.safe can lower them, and does not raise them. bytes: of arrays at most; 0: any.
** elements: of one array at most; 0: any. seconds: of one call on the CPU; 0: any.
*/
gpureduce_status gpureduce_limit(gpureduce_context *context, uint64_t bytes, int64_t elements, double seconds);

/*
** The stop flag. Any thread may set it while the context is alive, also during a call. A flag that the host has
** already may be given in the config. raised: 1: long calls end with STOPPED until it is 0 again.
*/
gpureduce_status gpureduce_stop(gpureduce_context *context, int raised);

/* How much memory, and what was done. out: its size is set by the caller. */
gpureduce_status gpureduce_usage(gpureduce_context *context, gpureduce_counts *out);

/* Until all work of the context is done. */
gpureduce_status gpureduce_wait(gpureduce_context *context);

/* Memory that is kept for reuse goes back to the system. */
gpureduce_status gpureduce_trim(gpureduce_context *context);

/* ---- arrays ---- */

/* Zeros, on the device in use. rows: of a matrix; 0: a vector. out: the caller's, to be dropped. */
gpureduce_status gpureduce_make(gpureduce_context *context, gpureduce_dtype dtype, int64_t length, int64_t rows,
    gpureduce_array **out);

/* An array of memory that the host owns, without a copy. out: the caller's, to be dropped. */
gpureduce_status gpureduce_wrap(gpureduce_context *context, const gpureduce_memory *memory, gpureduce_array **out);

/*
** Another handle of the same elements: so a borrowed array outlives the value of Lua that it came from. out: the
** caller's, to be dropped.
*/
gpureduce_status gpureduce_keep(const gpureduce_array *a, gpureduce_array **out);

/* The end of a handle. a: NULL: nothing. Errors: BAD: it is borrowed from Lua. */
gpureduce_status gpureduce_drop(gpureduce_array *a);

/* What it is. out: its size is set by the caller. */
gpureduce_status gpureduce_describe(const gpureduce_array *a, gpureduce_info *out);

/*
** Elements first, first + step, ... of a; both share the data. first: from 0. step: not 0. out: the caller's, to be
** dropped.
*/
gpureduce_status gpureduce_view(const gpureduce_array *a, int64_t first, int64_t step, int64_t count, gpureduce_array
    **out);

/* The same elements as a matrix. rows: divides the length; 0: a vector. out: the caller's, to be dropped. */
gpureduce_status gpureduce_matrix(const gpureduce_array *a, int64_t rows, gpureduce_array **out);

/*
** Host memory with the elements, current now. It holds until the next call that writes the array, moves it or drops
** it. With WRITE or WHOLE the host's copy counts from now on; write before the next call. access: GPUREDUCE_READ,
** WRITE, WHOLE, or several. out: the first element; describe says the stride.
*/
gpureduce_status gpureduce_host_pointer(const gpureduce_array *a, int access, void **out);

/*
** Memory of the device with the elements, current once what `stream` is given from now on runs. Call device_done
** when the work that uses it is queued. Where kernels run on the host it is host memory, and nothing is queued.
** access: as above. stream: a CUDA stream of the caller's; NULL: the legacy default stream. out: the first element,
** where kernels run.
*/
gpureduce_status gpureduce_device_pointer(const gpureduce_array *a, int access, void *stream, void **out);

/* What this context queues from now on waits for what `stream` holds now. stream: as above. */
gpureduce_status gpureduce_device_done(const gpureduce_array *a, void *stream);

/*
** The owner of wrapped memory, or who has a tensor of the array, has written these elements. first: from 0. Errors:
** BAD: the memory is nobody else's.
*/
gpureduce_status gpureduce_touch(const gpureduce_array *a, int64_t first, int64_t count);

/* Copies elements out. first: from 0. elements: room for them, side by side. */
gpureduce_status gpureduce_get(const gpureduce_array *a, int64_t first, int64_t count, void *elements);

/* Copies elements in. first: from 0. elements: side by side. */
gpureduce_status gpureduce_set(gpureduce_array *a, int64_t first, int64_t count, const void *elements);

/*
** The elements in an array on the device in use. out: where the array goes: *out is NULL for a new one, else it is
** filled.
*/
gpureduce_status gpureduce_copy(const gpureduce_array *a, gpureduce_array **out);

/* ---- arrays and lua ---- */

/*
** Pushes a value of Lua that shares the elements. As any push it needs a slot of the stack, and raises an error of
** Lua when Lua has no memory. When it fails otherwise, nothing is pushed.
*/
gpureduce_status gpureduce_push(lua_State *L, const gpureduce_array *a);

/* wrap and push in one. anchor: index of a value that is kept alive as long; 0: none. Only without release. */
gpureduce_status gpureduce_push_memory(lua_State *L, const gpureduce_memory *memory, int anchor);

/*
** The array that is this value, or NULL. It is borrowed: valid while the value is on the stack and a script has not
** released it. A transposed matrix is none; check takes it.
*/
gpureduce_array *gpureduce_test(lua_State *L, int index);

/*
** The same for an argument of a function of Lua: raises an error of Lua if it is no array. A transposed matrix is
** put in order in its place.
*/
gpureduce_array *gpureduce_check(lua_State *L, int arg);

/* ---- operations ---- */

/*
** One number of the whole array; waits for it. op: "sum", "dot", "argmax", ... as gr.reduce takes. b: of operations
** on two; else NULL. options: NULL: none. out: the result; minmax: two of them. any and all: whole, 1 or 0.
*/
gpureduce_status gpureduce_reduce(const char *op, const gpureduce_array *a, const gpureduce_array *b, const
    gpureduce_options *options, gpureduce_number *out);

/*
** A number of each row, column or segment. Nothing waits. op: as above. b: of operations on two; else NULL. options:
** with rows or segments. out: where the array goes: *out is NULL for a new one, else it is filled. out2: of minmax:
** the largest; else NULL.
*/
gpureduce_status gpureduce_reduce_each(const char *op, const gpureduce_array *a, const gpureduce_array *b, const
    gpureduce_options *options, gpureduce_array **out, gpureduce_array **out2);

/*
** Running results, of the whole or of each row or column. op: "sum", "prod", "min" or "max". options: NULL: none.
** out: where the array goes: *out is NULL for a new one, else it is filled.
*/
gpureduce_status gpureduce_scan(const char *op, const gpureduce_array *a, const gpureduce_options *options,
    gpureduce_array **out);

/*
** An operator on elements. op: "add", "exp", "clamp", ...; "<" and the other comparisons; "cast"; "where": mask,
** then two others. operands: arrays of one dtype and length, or numbers; one at least is an array. count: of them.
** options: NULL: none. out: as above; it may be one of the operands.
*/
gpureduce_status gpureduce_map(const char *op, const gpureduce_operand *operands, int count, const gpureduce_options
    *options, gpureduce_array **out);

/* Every element becomes the number. */
gpureduce_status gpureduce_fill(gpureduce_array *a, gpureduce_number value);

/* Whether dtype, length, shape and elements are the same. out: 1 or 0. */
gpureduce_status gpureduce_equal(const gpureduce_array *a, const gpureduce_array *b, int *out);

/* The elements where mask is not zero. mask: u8, as long as a. out: the caller's, to be dropped. */
gpureduce_status gpureduce_compact(const gpureduce_array *a, const gpureduce_array *mask, gpureduce_array **out);

/*
** The elements at these positions. index: positions from 1, i64 or i32. out: where the array goes: *out is NULL for
** a new one, else it is filled.
*/
gpureduce_status gpureduce_take(const gpureduce_array *a, const gpureduce_array *index, gpureduce_array **out);

/*
** Values to the elements at these positions. op: "set", "add", "min" or "max". index: positions from 1, i64 or i32.
** values: an array as long as index, or a number.
*/
gpureduce_status gpureduce_put(const char *op, gpureduce_array *a, const gpureduce_array *index, gpureduce_operand
    values);

/*
** How many samples each bin has. counts: the caller's: bins + 3 elements, of which the last three count what lies
** below, what lies above, and NaN; i64, or f64 with weights of floats. With into a view of that, or NULL. edges: the
** caller's: bins + 1 of f64; or NULL.
*/
gpureduce_status gpureduce_histogram(const gpureduce_array *a, const gpureduce_binning *binning, gpureduce_array
    **counts, gpureduce_array **edges);

/*
** Quantiles of the whole array, exact. shares: each from 0 to 1. count: of them. method: as gr.quantile takes; NULL:
** "linear". out: as many.
*/
gpureduce_status gpureduce_quantiles(const gpureduce_array *a, const double *shares, int64_t count, const char
    *method, gpureduce_number *out);

/*
** Of each row (of the whole: one). options: NULL: none. out: where the array goes: *out is NULL for a new one, else
** it is filled.
*/
gpureduce_status gpureduce_softmax(const gpureduce_array *a, const gpureduce_options *options, gpureduce_array **out);

/*
** Of each row (of the whole: one). options->eps as it is: 0 is 0. weights: as long as a row; or NULL. options: NULL:
** none. out: where the array goes: *out is NULL for a new one, else it is filled.
*/
gpureduce_status gpureduce_rmsnorm(const gpureduce_array *a, const gpureduce_array *weights, const gpureduce_options
    *options, gpureduce_array **out);

/*
** The elements of a matrix, column by column; out has its columns as rows. out: where the array goes: *out is NULL
** for a new one, else it is filled.
*/
gpureduce_status gpureduce_transpose(const gpureduce_array *a, gpureduce_array **out);

/*
** Of the columns of a matrix: as many rows and columns of f64. With mask or skipnan of each two columns those rows
** in which both are present. options: rows, mask, skipnan; ddof where correlation is 0; NULL: none. correlation: 1:
** divided by both deviations. out: where the array goes: *out is NULL for a new one, else it is filled.
*/
gpureduce_status gpureduce_covariance(const gpureduce_array *a, const gpureduce_options *options, int correlation,
    gpureduce_array **out);

/*
** Random numbers, those that Lua gets for seed and stream. kind: "rand", "randn" or "exponential". dtype: of floats.
** stream: below 2^62. out: where the array goes: *out is NULL for a new one, else it is filled.
*/
gpureduce_status gpureduce_random(gpureduce_context *context, const char *kind, gpureduce_dtype dtype, int64_t length,
    uint64_t seed, uint64_t stream, gpureduce_array **out);

/* ---- from one context to another ---- */

/*
** Packs an array, in the thread of its context, and waits for work of its device. The array is released: a value of
** Lua raises from then on; a handle is still to be dropped. out: to be attached or discarded.
*/
gpureduce_status gpureduce_detach(gpureduce_array *a, gpureduce_parcel **out);

/*
** Unpacks it, in the thread of the other context; it lives on the device where it was. parcel: gone afterwards, if
** this succeeds. out: the caller's, to be dropped.
*/
gpureduce_status gpureduce_attach(gpureduce_context *context, gpureduce_parcel *parcel, gpureduce_array **out);

/* The end of a parcel that nobody attaches; any thread. parcel: NULL: nothing. */
gpureduce_status gpureduce_discard(gpureduce_parcel *parcel);

/* ---- tensors ---- */

/*
** An array of another library's tensor, without a copy. It calls the tensor's deleter once nothing needs the memory
** any more, from any thread; after a failure the tensor is still the caller's. tensor: DLPack's; of the host's
** memory, or of a device that is here. flags: GPUREDUCE_READONLY, CHANGING, COPIED, UNVERSIONED. stream: of a
** device: what it holds now comes first; NULL: the legacy default stream. out: the caller's, to be dropped.
** transposed: 1: it lies column by column, and out is its transpose. Errors: BAD: another major version, dtype or
** device; strides that no array has.
*/
gpureduce_status gpureduce_from_dlpack(gpureduce_context *context, void *tensor, uint32_t flags, void *stream,
    gpureduce_array **out, int *transposed);

/*
** A tensor of the array for another library, where kernels use it. Whoever has it may write to the elements (touch
** says so) and keeps them alive, also after the context has been closed. Any thread may call the deleter, but with
** the context closed not during a call with an array of it. flags: GPUREDUCE_READONLY, UNVERSIONED. stream: of a
** device: what it is given from now on comes after what is queued. out: the tensor, whose deleter is to be called
** once. Errors: BAD: the device's copy of host memory that was wrapped.
*/
gpureduce_status gpureduce_to_dlpack(const gpureduce_array *a, uint32_t flags, void *stream, void **out);

/* ---- formulas ---- */

/*
** An expression. text: as gr.fuse takes it. inputs: one for each name of the text. count: of them. length: where no
** input says it; else -1. out: the caller's, to be dropped. Errors: BAD: a text that is no formula, or inputs that
** do not fit: with the column and the line, a caret below.
*/
gpureduce_status gpureduce_formula(gpureduce_context *context, const char *text, const gpureduce_input *inputs, int
    count, int64_t length, gpureduce_array **out);

/*
** The elements of an expression, beside its arrays. out: where the array goes: *out is NULL for a new one, else it
** is filled; it may be an input that is read one by one.
*/
gpureduce_status gpureduce_eval(const gpureduce_array *a, gpureduce_array **out);

/* ---- more operations ---- */

/*
** Several reductions of whole arrays: launched together, or of expressions in one pass. gr.exact is not looked at.
** items: of one context. count: of them. out: a number for each; minmax: two of them.
*/
gpureduce_status gpureduce_reduce_many(const gpureduce_item *items, int count, gpureduce_number *out);

/*
** The same for later: it returns at once, also where the CPU does the work. Results are those of the data at this
** call: writing to an array waits for what reads it. Memory that was wrapped is to be left alone until then. What
** has not ended when its Lua state closes is STOPPED. items: as above. out: to be dropped.
*/
gpureduce_status gpureduce_start(const gpureduce_item *items, int count, gpureduce_future **out);

/*
** What start began, as often as one asks. seconds: to wait; 0: only look; below 0: until they are there. done: 1:
** out is filled. out: as above.
*/
gpureduce_status gpureduce_results(gpureduce_future *future, double seconds, int *done, gpureduce_number *out);

/* The end of a future, at any time. What only reads for it stops. future: NULL: nothing. */
gpureduce_status gpureduce_future_drop(gpureduce_future *future);

/*
** A histogram of each row or column, with the same bins. options: with rows. counts: the caller's: a row for each
** row or column. tails: the caller's: rows of three, what lies below, above, and NaN. edges: the caller's: bins + 1
** of f64, for all of them.
*/
gpureduce_status gpureduce_histogram_each(const gpureduce_array *a, const gpureduce_binning *binning, const
    gpureduce_options *options, gpureduce_array **counts, gpureduce_array **tails, gpureduce_array **edges);

/*
** How many pairs lie in each cell. y: as long. of_x: bins or edges, log, min and max; mask and skipnan, of pairs:
** missing ones count nowhere. of_y: bins or edges, log, min and max. weights: as long; or NULL. counts: the
** caller's: y's bins side by side, x's one after the other; then two elements: pairs outside of the bins, and pairs
** with NaN. x_edges: the caller's. y_edges: the caller's.
*/
gpureduce_status gpureduce_histogram2d(const gpureduce_array *x, const gpureduce_array *y, const gpureduce_binning
    *of_x, const gpureduce_binning *of_y, const gpureduce_array *weights, gpureduce_array **counts, gpureduce_array
    **x_edges, gpureduce_array **y_edges);

/*
** Quantiles to an array: for each share those of all rows or columns, or of the whole. shares: each from 0 to 1.
** count: of them. method: as above; with weights NULL or "inverted_cdf". options: rows, axis, mask, skipnan, single,
** weights; NULL: none. out: where the array goes: *out is NULL for a new one, else it is filled.
*/
gpureduce_status gpureduce_quantiles_each(const gpureduce_array *a, const double *shares, int64_t count, const char
    *method, const gpureduce_options *options, gpureduce_array **out);

/* What tells the array's bytes from others. out: two words: the first 16 digits of gr.digest and the last. */
gpureduce_status gpureduce_digest(const gpureduce_array *a, uint64_t *out);

/* Adds all elements exactly. b: as long: products are added; or NULL. */
gpureduce_status gpureduce_accumulate(gpureduce_accumulator *to, const gpureduce_array *a, const gpureduce_array *b);

/* Adds what the other one has. */
gpureduce_status gpureduce_accumulator_merge(gpureduce_accumulator *to, const gpureduce_accumulator *other);

/* The sum, rounded once. single: 1: rounded to f32. */
gpureduce_status gpureduce_accumulator_value(const gpureduce_accumulator *accumulator, int single, double *out);

/*
** Random whole numbers. high: included. dtype: of integers. stream: below 2^62. out: where the array goes: *out is
** NULL for a new one, else it is filled.
*/
gpureduce_status gpureduce_randint(gpureduce_context *context, int64_t low, int64_t high, gpureduce_dtype dtype,
    int64_t length, uint64_t seed, uint64_t stream, gpureduce_array **out);

/*
** 1 .. length in random order. dtype: of integers. stream: below 2^62. out: where the array goes: *out is NULL for a
** new one, else it is filled.
*/
gpureduce_status gpureduce_permutation(gpureduce_context *context, gpureduce_dtype dtype, int64_t length, uint64_t
    seed, uint64_t stream, gpureduce_array **out);

/*
** Random elements of a. length: how many. replace: 1: one may come again. 0, and as many as there are: all in random
** order. weights: as long as a; NULL: each is as likely. stream: below 2^62. out: where the array goes: *out is NULL
** for a new one, else it is filled.
*/
gpureduce_status gpureduce_choice(const gpureduce_array *a, int64_t length, int replace, const gpureduce_array
    *weights, uint64_t seed, uint64_t stream, gpureduce_array **out);

/*
** Values to the elements where mask is not zero. mask: u8, as long as a. values: an array with an element for each
** that mask takes, or a number.
*/
gpureduce_status gpureduce_put_masked(gpureduce_array *a, const gpureduce_array *mask, gpureduce_operand values);

/* ---- files ---- */

/*
** The elements of a file; an NPY file of two dimensions is a matrix. file: NULL: all of it, of f32 if it is raw.
** out: the caller's, to be dropped. Errors: SYSTEM; BAD: the file is not what it claims to be.
*/
gpureduce_status gpureduce_load(gpureduce_context *context, const char *path, const gpureduce_file *file,
    gpureduce_array **out);

/* Writes a file, which is replaced whole. Errors: SYSTEM. */
gpureduce_status gpureduce_save(const gpureduce_array *a, const char *path);

/* ---- operators of the host's own ---- */

/* As gr.operator. out: to be dropped. Errors: BAD: texts that are no formulas; with check, what is not associative. */
gpureduce_status gpureduce_operator_make(gpureduce_context *context, const gpureduce_operator_states *states,
    gpureduce_operator **out);

/* The end of an operator. op: NULL: nothing. */
gpureduce_status gpureduce_operator_drop(gpureduce_operator *op);

/* The whole array by the operator. options: mask, skipnan; NULL: none. out: as many as the operator has results. */
gpureduce_status gpureduce_operator_reduce(gpureduce_operator *op, const gpureduce_array *a, const gpureduce_options
    *options, gpureduce_number *out);

/* Each row, column or segment by the operator. options: with rows or segments. out: as many, each as above. */
gpureduce_status gpureduce_operator_reduce_each(gpureduce_operator *op, const gpureduce_array *a, const
    gpureduce_options *options, gpureduce_array **out);

/*
** Running results of the operator. options: exclusive, reverse, mask, skipnan; NULL: none. out: as many, each as
** above.
*/
gpureduce_status gpureduce_operator_scan(gpureduce_operator *op, const gpureduce_array *a, const gpureduce_options
    *options, gpureduce_array **out);

/* ---- the table ---- */

/* X(name): all of the above, in the order of the table. */
#define GPUREDUCE_FUNCTIONS(X) \
  X(error) X(version) X(configure) X(open) X(close) X(of_state) X(use) X(device) X(limit) X(stop) X(usage) X(wait) \
  X(trim) X(make) X(wrap) X(keep) X(drop) X(describe) X(view) X(matrix) X(host_pointer) X(device_pointer) \
  X(device_done) X(touch) X(get) X(set) X(copy) X(push) X(push_memory) X(test) X(check) X(reduce) X(reduce_each) \
  X(scan) X(map) X(fill) X(equal) X(compact) X(take) X(put) X(histogram) X(quantiles) X(softmax) X(rmsnorm) \
  X(transpose) X(covariance) X(random) X(detach) X(attach) X(discard) X(from_dlpack) X(to_dlpack) X(formula) X(eval) \
  X(reduce_many) X(start) X(results) X(future_drop) X(histogram_each) X(histogram2d) X(quantiles_each) X(digest) \
  X(accumulate) X(accumulator_merge) X(accumulator_value) X(randint) X(permutation) X(choice) X(put_masked) X(load) \
  X(save) X(operator_make) X(operator_drop) X(operator_reduce) X(operator_reduce_each) X(operator_scan)

typedef struct gpureduce_api {
  uint32_t size; /* of this struct, as the module knows it */
  uint16_t major, minor;
  const char *(*error)(void);
  const char *(*version)(void);
  gpureduce_status (*configure)(lua_State *L, const gpureduce_config *config);
  gpureduce_status (*open)(const gpureduce_config *config, gpureduce_context **out);
  gpureduce_status (*close)(gpureduce_context *context);
  gpureduce_status (*of_state)(lua_State *L, gpureduce_context **out);
  gpureduce_status (*use)(gpureduce_context *context, const char *device);
  gpureduce_status (*device)(gpureduce_context *context, const char **out);
  gpureduce_status (*limit)(gpureduce_context *context, uint64_t bytes, int64_t elements, double seconds);
  gpureduce_status (*stop)(gpureduce_context *context, int raised);
  gpureduce_status (*usage)(gpureduce_context *context, gpureduce_counts *out);
  gpureduce_status (*wait)(gpureduce_context *context);
  gpureduce_status (*trim)(gpureduce_context *context);
  gpureduce_status (*make)(gpureduce_context *context, gpureduce_dtype dtype, int64_t length, int64_t rows,
      gpureduce_array **out);
  gpureduce_status (*wrap)(gpureduce_context *context, const gpureduce_memory *memory, gpureduce_array **out);
  gpureduce_status (*keep)(const gpureduce_array *a, gpureduce_array **out);
  gpureduce_status (*drop)(gpureduce_array *a);
  gpureduce_status (*describe)(const gpureduce_array *a, gpureduce_info *out);
  gpureduce_status (*view)(const gpureduce_array *a, int64_t first, int64_t step, int64_t count, gpureduce_array
      **out);
  gpureduce_status (*matrix)(const gpureduce_array *a, int64_t rows, gpureduce_array **out);
  gpureduce_status (*host_pointer)(const gpureduce_array *a, int access, void **out);
  gpureduce_status (*device_pointer)(const gpureduce_array *a, int access, void *stream, void **out);
  gpureduce_status (*device_done)(const gpureduce_array *a, void *stream);
  gpureduce_status (*touch)(const gpureduce_array *a, int64_t first, int64_t count);
  gpureduce_status (*get)(const gpureduce_array *a, int64_t first, int64_t count, void *elements);
  gpureduce_status (*set)(gpureduce_array *a, int64_t first, int64_t count, const void *elements);
  gpureduce_status (*copy)(const gpureduce_array *a, gpureduce_array **out);
  gpureduce_status (*push)(lua_State *L, const gpureduce_array *a);
  gpureduce_status (*push_memory)(lua_State *L, const gpureduce_memory *memory, int anchor);
  gpureduce_array *(*test)(lua_State *L, int index);
  gpureduce_array *(*check)(lua_State *L, int arg);
  gpureduce_status (*reduce)(const char *op, const gpureduce_array *a, const gpureduce_array *b, const
      gpureduce_options *options, gpureduce_number *out);
  gpureduce_status (*reduce_each)(const char *op, const gpureduce_array *a, const gpureduce_array *b, const
      gpureduce_options *options, gpureduce_array **out, gpureduce_array **out2);
  gpureduce_status (*scan)(const char *op, const gpureduce_array *a, const gpureduce_options *options, gpureduce_array
      **out);
  gpureduce_status (*map)(const char *op, const gpureduce_operand *operands, int count, const gpureduce_options
      *options, gpureduce_array **out);
  gpureduce_status (*fill)(gpureduce_array *a, gpureduce_number value);
  gpureduce_status (*equal)(const gpureduce_array *a, const gpureduce_array *b, int *out);
  gpureduce_status (*compact)(const gpureduce_array *a, const gpureduce_array *mask, gpureduce_array **out);
  gpureduce_status (*take)(const gpureduce_array *a, const gpureduce_array *index, gpureduce_array **out);
  gpureduce_status (*put)(const char *op, gpureduce_array *a, const gpureduce_array *index, gpureduce_operand values);
  gpureduce_status (*histogram)(const gpureduce_array *a, const gpureduce_binning *binning, gpureduce_array **counts,
      gpureduce_array **edges);
  gpureduce_status (*quantiles)(const gpureduce_array *a, const double *shares, int64_t count, const char *method,
      gpureduce_number *out);
  gpureduce_status (*softmax)(const gpureduce_array *a, const gpureduce_options *options, gpureduce_array **out);
  gpureduce_status (*rmsnorm)(const gpureduce_array *a, const gpureduce_array *weights, const gpureduce_options
      *options, gpureduce_array **out);
  gpureduce_status (*transpose)(const gpureduce_array *a, gpureduce_array **out);
  gpureduce_status (*covariance)(const gpureduce_array *a, const gpureduce_options *options, int correlation,
      gpureduce_array **out);
  gpureduce_status (*random)(gpureduce_context *context, const char *kind, gpureduce_dtype dtype, int64_t length,
      uint64_t seed, uint64_t stream, gpureduce_array **out);
  gpureduce_status (*detach)(gpureduce_array *a, gpureduce_parcel **out);
  gpureduce_status (*attach)(gpureduce_context *context, gpureduce_parcel *parcel, gpureduce_array **out);
  gpureduce_status (*discard)(gpureduce_parcel *parcel);
  gpureduce_status (*from_dlpack)(gpureduce_context *context, void *tensor, uint32_t flags, void *stream,
      gpureduce_array **out, int *transposed);
  gpureduce_status (*to_dlpack)(const gpureduce_array *a, uint32_t flags, void *stream, void **out);
  gpureduce_status (*formula)(gpureduce_context *context, const char *text, const gpureduce_input *inputs, int count,
      int64_t length, gpureduce_array **out);
  gpureduce_status (*eval)(const gpureduce_array *a, gpureduce_array **out);
  gpureduce_status (*reduce_many)(const gpureduce_item *items, int count, gpureduce_number *out);
  gpureduce_status (*start)(const gpureduce_item *items, int count, gpureduce_future **out);
  gpureduce_status (*results)(gpureduce_future *future, double seconds, int *done, gpureduce_number *out);
  gpureduce_status (*future_drop)(gpureduce_future *future);
  gpureduce_status (*histogram_each)(const gpureduce_array *a, const gpureduce_binning *binning, const
      gpureduce_options *options, gpureduce_array **counts, gpureduce_array **tails, gpureduce_array **edges);
  gpureduce_status (*histogram2d)(const gpureduce_array *x, const gpureduce_array *y, const gpureduce_binning *of_x,
      const gpureduce_binning *of_y, const gpureduce_array *weights, gpureduce_array **counts, gpureduce_array **x_edges,
      gpureduce_array **y_edges);
  gpureduce_status (*quantiles_each)(const gpureduce_array *a, const double *shares, int64_t count, const char
      *method, const gpureduce_options *options, gpureduce_array **out);
  gpureduce_status (*digest)(const gpureduce_array *a, uint64_t *out);
  gpureduce_status (*accumulate)(gpureduce_accumulator *to, const gpureduce_array *a, const gpureduce_array *b);
  gpureduce_status (*accumulator_merge)(gpureduce_accumulator *to, const gpureduce_accumulator *other);
  gpureduce_status (*accumulator_value)(const gpureduce_accumulator *accumulator, int single, double *out);
  gpureduce_status (*randint)(gpureduce_context *context, int64_t low, int64_t high, gpureduce_dtype dtype, int64_t
      length, uint64_t seed, uint64_t stream, gpureduce_array **out);
  gpureduce_status (*permutation)(gpureduce_context *context, gpureduce_dtype dtype, int64_t length, uint64_t seed,
      uint64_t stream, gpureduce_array **out);
  gpureduce_status (*choice)(const gpureduce_array *a, int64_t length, int replace, const gpureduce_array *weights,
      uint64_t seed, uint64_t stream, gpureduce_array **out);
  gpureduce_status (*put_masked)(gpureduce_array *a, const gpureduce_array *mask, gpureduce_operand values);
  gpureduce_status (*load)(gpureduce_context *context, const char *path, const gpureduce_file *file, gpureduce_array
      **out);
  gpureduce_status (*save)(const gpureduce_array *a, const char *path);
  gpureduce_status (*operator_make)(gpureduce_context *context, const gpureduce_operator_states *states,
      gpureduce_operator **out);
  gpureduce_status (*operator_drop)(gpureduce_operator *op);
  gpureduce_status (*operator_reduce)(gpureduce_operator *op, const gpureduce_array *a, const gpureduce_options
      *options, gpureduce_number *out);
  gpureduce_status (*operator_reduce_each)(gpureduce_operator *op, const gpureduce_array *a, const gpureduce_options
      *options, gpureduce_array **out);
  gpureduce_status (*operator_scan)(gpureduce_operator *op, const gpureduce_array *a, const gpureduce_options
      *options, gpureduce_array **out);
} gpureduce_api;
#ifdef __cplusplus
}
#endif

/*
** The table of a Lua state that has loaded the module; NULL where it has not, or where the module's version is another,
** which *why (may be NULL) then says. Include lua.h first.
*/
#ifdef LUA_VERSION_NUM
static inline const gpureduce_api *gpureduce_table(lua_State *L, const char **why) {
  const gpureduce_api *api = NULL;
  const char *wrong = "gpureduce: the module is not open in this Lua state";
  lua_getfield(L, LUA_REGISTRYINDEX, GPUREDUCE_TABLE);
  if (lua_touserdata(L, -1)) api = *(const gpureduce_api *const *)lua_touserdata(L, -1);
  lua_pop(L, 1);
  if (api && (api->major != GPUREDUCE_MAJOR || api->size < sizeof *api)) {
    api = NULL;
    wrong = "gpureduce: the module has a C API of another version";
  }
  if (why) *why = api ? "" : wrong;
  return api;
}
#endif

#endif
