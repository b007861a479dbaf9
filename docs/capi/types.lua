-- What the functions of the C API take and give besides opaque handles: one piece of C each, with what it is.
return {
  {
    text = "What every function but a few returns. The words are in gpureduce_error().",
    code = [[
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
} gpureduce_status;]],
  },
  {
    text = "The types of elements.",
    code = [[
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
} gpureduce_dtype;]],
  },
  {
    text = [[
What one Lua state, or a program without Lua, has of the library; an array, or an expression in its place; an array
between two contexts; an operator of the host's own; results for later.]],
    code = [[
typedef struct gpureduce_context gpureduce_context;
typedef struct gpureduce_array gpureduce_array;
typedef struct gpureduce_parcel gpureduce_parcel;
typedef struct gpureduce_operator gpureduce_operator;
typedef struct gpureduce_future gpureduce_future;]],
  },
  {
    text = [[
A number, in or out. Out: both fields are set, and `whole` says which is exact. In: `whole` says which one counts.]],
    code = [[
typedef struct gpureduce_number {
  int32_t whole; /* 1: i is the number, and f the nearest to it; 0: f is */
  int64_t i;
  double f;
} gpureduce_number;]],
  },
  {
    text = [[
The host's job system in place of the library's threads: run `piece(work, k)` for k = 0 .. pieces - 1, each once, in any
order and on any threads, and return when all have returned. Results do not depend on how. A piece takes some
milliseconds at most, and never blocks. The call may come from a thread of the library's own, which does what scripts
leave for later (gr.async). Functions of the library answer BUSY inside of it.]],
    code = [[
typedef void gpureduce_run(void *user, int64_t pieces, void (*piece)(void *work, int64_t k), void *work);]],
  },
  {
    text = [[
The memory of elements, from the host: NULL when there is none. Blocks of host memory begin at a multiple of
`alignment`; those of a device at one of 256, and are padded to it. `device` is a name as "cuda:0". Freeing device
memory must wait for what the device was given before, as cudaFree does. Any thread may call, at any time, and no
function of the library may be called from there.]],
    code = [[
typedef void *gpureduce_host_alloc(void *user, size_t bytes, size_t alignment);
typedef void gpureduce_host_free(void *user, void *memory, size_t bytes);
typedef void *gpureduce_device_alloc(void *user, const char *device, size_t bytes);
typedef void gpureduce_device_free(void *user, const char *device, void *memory, size_t bytes);]],
  },
  {
    text = "A line of text without its end: what GPUREDUCE_TRACE asks for, which goes to stderr otherwise.",
    code = [[
typedef void gpureduce_log(void *user, const char *line);]],
  },
  {
    text = [[
How a context begins. All zeros but `size` is what the library does by itself. What is "of the process" holds for all
contexts. Allocators can be set only before the library has memory, thus with the first context.]],
    code = [[
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
} gpureduce_config;]],
  },
  {
    text = "What a context has, and what the process has (of all contexts).",
    code = [[
typedef struct gpureduce_counts {
  uint32_t size; /* sizeof(gpureduce_counts) */
  int64_t arrays;
  uint64_t live, limit; /* bytes of this context's arrays, and the most there may be (0: any) */
  uint64_t host, device, pooled; /* of the process: in use on either side, and kept for reuse */
  uint64_t bytes_up, bytes_down, launches, syncs; /* what this context's devices have done so far */
} gpureduce_counts;]],
  },
  {
    text = [[
Memory of the host's as an array: `length` elements, `stride` bytes apart (0: side by side). Without `device` it is host
memory, aligned to an element. With it, it is memory of that device (which must be the one in use), and ready once what
`stream` holds now is done. `release` is called once, when nothing needs the memory any more, from any thread; it is
not called when wrapping fails. Work on device memory that is still queued then precedes what `stream`, which has to be
there until then, is given afterwards.]],
    code = [[
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
} gpureduce_memory;]],
  },
  {
    text = "What an array is.",
    code = [[
typedef struct gpureduce_info {
  uint32_t size; /* sizeof(gpureduce_info) */
  gpureduce_dtype dtype;
  int64_t length;
  int64_t rows; /* 0: a vector */
  int64_t stride; /* bytes from one element to the next; of a reversed view below 0, of an expression 0 */
  int32_t item; /* bytes of an element */
  int32_t borrowed; /* it is a value of a Lua state, which alone may drop it */
  const char *device; /* where kernels read it */
} gpureduce_info;]],
  },
  {
    text = "What a pointer is for. WHOLE: to write every element, so that what is there need not be brought first.",
    code = [[
enum { GPUREDUCE_READ = 1, GPUREDUCE_WRITE = 2, GPUREDUCE_WHOLE = 4 };]],
  },
  {
    text = [[
Options of operations; all zeros but `size` is none. Those that an operation does not know must be 0. What came with a
later minor version stands at the end of a struct: the `size` of an earlier header is taken as it was.]],
    code = [[
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
} gpureduce_options;]],
  },
  {
    text = "An operand of an element operator: an array, or (array NULL) a number.",
    code = [[
typedef struct gpureduce_operand {
  const gpureduce_array *array;
  gpureduce_number number;
} gpureduce_operand;]],
  },
  {
    text = "The bins of a histogram: `bins` of them, even or (log) by equal factors, or between `edges`.",
    code = [[
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
} gpureduce_binning;]],
  },
  {
    text = "What a name of a formula stands for: an array or an expression, or (array NULL) a number.",
    code = [[
typedef struct gpureduce_input {
  const char *name;
  const gpureduce_array *array;
  gpureduce_number number;
} gpureduce_input;]],
  },
  {
    text = "One of several reductions to a number: op, a and b as reduce takes them.",
    code = [[
typedef struct gpureduce_item {
  const char *op;
  const gpureduce_array *a, *b;
  double ddof;
} gpureduce_item;]],
  },
  {
    text = [[
An operator by formulas, as gr.operator takes it (docs/reference.md): what an element `x` at position `i` makes of each
state, what two neighbours' states (of state s: `s1` and `s2`) make of it, and what it is of no element. Results are the
states, or what the texts of finish make of them and of `n`, how many elements there are.]],
    code = [[
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
} gpureduce_operator_states;]],
  },
  {
    text = "What to read of a file; all zeros but `size` and dtype is all of it.",
    code = [[
typedef struct gpureduce_file {
  uint32_t size; /* sizeof(gpureduce_file) */
  gpureduce_dtype dtype; /* of a raw file; an NPY file says its own */
  int64_t offset; /* of a raw file: bytes to skip */
  int64_t count; /* of a raw file: elements; 0: all that follow */
  int32_t map; /* 1: mapped, so that pages are read when they are used */
} gpureduce_file;]],
  },
  {
    text = [[
An exact sum that goes on over many calls; all zeros: nothing yet. It needs no end, and its bytes are those of
accumulator:bytes(), the same on every machine.]],
    code = [[
typedef struct gpureduce_accumulator {
  unsigned char bytes[568];
} gpureduce_accumulator;]],
  },
}
