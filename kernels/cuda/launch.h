/*
** Launchers: what the CUDA backend calls. They check nothing: they plan (a kernel, its grid, its scratch memory), ask
** for the scratch memory, and launch on the given stream, or, reductions with a batch, file the launch there (batch.h).
** Only growing scratch memory may wait. Each returns a cudaError_t as int (0 is success).
*/
#ifndef GR_CUDA_LAUNCH_H
#define GR_CUDA_LAUNCH_H

#include <stddef.h>
#include "kernels/cuda/map/tuning.h"
#include "kernels/jobs.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What a launcher needs to know of the device; read once (attribute queries are slow). */
typedef struct gr_cuda_chip {
  int device, major, minor; /* compute capability */
  int sms;                  /* multiprocessors */
  int shared_optin;         /* bytes of shared memory one block may ask for */
  int l2_bytes;
} gr_cuda_chip;

/* Scratch memory. grow makes it at least so large, with new memory that is zero; NULL: it cannot grow. */
typedef struct gr_cuda_scratch {
  void *memory;
  size_t bytes;
  int (*grow)(struct gr_cuda_scratch *, size_t bytes);
  void *owner; /* for grow */
} gr_cuda_scratch;

/* Bytes from one address up to another. */
typedef struct gr_cuda_span {
  const char *from, *to;
} gr_cuda_span;
static const gr_cuda_span gr_anything = {NULL, (const char *)UINTPTR_MAX};

/* Kernels that leave NaN out of the vectors that they read (formula/skeletons_present.cu), by the built ones' names. */
typedef enum gr_cuda_present {
  GR_PRESENT_NONE,
  GR_PRESENT_leaves,
  GR_PRESENT_rows_staged,
  GR_PRESENT_rows_by_element,
  GR_PRESENT_cols_unordered,
  GR_PRESENT_cols_flat,
  GR_PRESENT_cols_sum,
  GR_PRESENT_COUNT
} gr_cuda_present;

/* A kernel that was compiled for a formula, and what it is told beside the reduction's own arguments. */
typedef struct gr_cuda_formula {
  void *function, *compiled; /* the driver's function; whose it is */
  int resident;              /* blocks of 256 threads that a multiprocessor holds */
  int fields;                /* of its state, if that is not the job's reducer's; else 0 */
  int alone;                 /* states are merged by it alone, not by the host */
  gr_cuda_present present;   /* which of those it is, planned as the built one */
  int across;                /* it is a gr_reduce_cols_sum, of columns that gr_cuda_columns_fit */
  int count;
  const uint64_t *words;
  gr_cuda_span reads; /* where its inputs lie */
  int (*launch)(void *function, unsigned blocks, unsigned threads, unsigned shared, int early, void *stream,
                void *arguments);
} gr_cuda_formula;

#define GR_MOST_LEAVES ((int64_t)1 << 25) /* of a vector in one launch: 128 GiB, of 16-bit types 256 */

/* Of scratch memory: what is zero between launches, counters first, then partials that blocks publish. */
#define GR_COUNTER_BYTES (4096 + GR_PARTIAL_BYTES)
#define GR_PARTIAL_BYTES 24576

/*
** Where a launch runs.
**   scratch  belongs to this stream alone. Its first GR_COUNTER_BYTES are zero when a kernel starts and zero again when
**            it ends (last blocks reset what they used); the rest is free for use.
**   done     if not NULL, a mailbox of the host: the kernel's last act is to put ticket into four words of this mapped
**            memory (grid/mailbox.cuh). A reduction puts the states that its results are made of there instead, and
**            says in *mailbox how many (grid/mailbox.h).
**   running  what those launches on this stream write that may still run when this one starts. A reduction, histogram,
**            short scan or RMSNorm of other bytes reads meanwhile (grid/dependent_launch.cuh), and says in *written
**            what is being written from then on. No other launcher says so, and so the caller puts gr_anything there
**            before each. written may be NULL: then the launch waits for what runs.
*/
typedef struct gr_cuda_run {
  void *stream; /* cudaStream_t */
  const gr_cuda_chip *chip;
  gr_cuda_scratch *scratch;
  uint64_t epoch; /* different at every launch on this scratch, never 0 */
  uint64_t *done;
  uint64_t ticket;
  gr_cuda_span running, *written;
  struct gr_mailbox_shape *mailbox; /* with done, of a reduction */
  struct gr_cuda_batch *batch; /* if not NULL, a reduction or what is sent goes there (batch.h) */
  const gr_cuda_formula *formula; /* where elements of a reduction, histogram or scan come from; NULL: vectors */
} gr_cuda_run;

#define GR_ARRAYS 8 /* of one gr_cuda_reduce_arrays at most */

/* Before anything lies there: so many bytes of scratch, GR_COUNTER_BYTES included. */
static inline int gr_cuda_need(const gr_cuda_run *run, size_t bytes) {
  if (bytes <= run->scratch->bytes) return 0;
  return run->scratch->grow ? run->scratch->grow(run->scratch, bytes) : 2; /* cudaErrorMemoryAllocation */
}

/* Whether this build has kernels for the current device: 0, or the cudaError_t that says why not. */
int gr_cuda_loadable(void);

int gr_cuda_reduce(const gr_reduce_job *, const gr_cuda_run *);
/* What that would do on such a chip, if nothing else runs; no device is asked. to_host: the host waits for a number. */
void gr_cuda_explain(const gr_reduce_job *, const gr_cuda_chip *, int to_host, gr_explained *);
void gr_cuda_explain_scan(const gr_scan_job *, const gr_cuda_chip *, gr_explained *);
void gr_cuda_explain_histogram(const gr_histogram_job *, const gr_cuda_chip *, gr_explained *);
/* Row k of the table that kernels are chosen by, from 0: its kernel, and what that serves (why). 0: there is none. */
int gr_cuda_reduce_row(int k, gr_explained *);
/*
** One launch for jobs of one vector each that differ in data, length and operation alone, not in reducer; needs
** run->done.
*/
int gr_cuda_reduce_arrays(const gr_reduce_job *const *, int count, const gr_cuda_run *);
/*
** Of formulas (run->formula), whose elements lie from address 0 on: whether columns have a skeleton; and which one a
** histogram and a scan take: a gr_hist_skeleton, a gr_scan_skeleton, or -1, if there is none.
*/
int gr_cuda_columns_fit(const gr_reduce_job *, const gr_cuda_chip *);
/*
** Which kernel reduces what is present of a job's vectors, of rows gr_reduce_leaves if no other does; GR_PRESENT_NONE:
** the built one has no such likeness.
*/
gr_cuda_present gr_cuda_present_for(const gr_reduce_job *, const gr_cuda_chip *);
int gr_cuda_histogram_skeleton(const gr_histogram_job *, const gr_cuda_chip *);
int gr_cuda_scan_skeleton(const gr_scan_job *, const gr_cuda_chip *);
int gr_cuda_histogram(const gr_histogram_job *, const gr_cuda_run *);
int gr_cuda_scan(const gr_scan_job *, const gr_cuda_run *);
int gr_cuda_weights(const gr_weights_job *, const gr_cuda_run *);
int gr_cuda_softmax(const gr_softmax_job *, const gr_cuda_run *);
int gr_cuda_digits(const gr_digits_job *, const gr_cuda_run *);
int gr_cuda_pick(const gr_pick_job *, const gr_cuda_run *);
int gr_cuda_rmsnorm(const gr_rmsnorm_job *, const gr_cuda_run *);
int gr_cuda_fill(const gr_fill_job *, const gr_cuda_run *);
int gr_cuda_copy(const gr_copy_job *, const gr_cuda_run *);
int gr_cuda_random(const gr_random_job *, const gr_cuda_run *);
int gr_cuda_whole(const gr_whole_job *, const gr_cuda_run *);
int gr_cuda_order(const gr_order_job *, const gr_cuda_run *);
int gr_cuda_edges(const gr_edges_job *, const gr_cuda_run *);
/*
** Up to 64 KiB, in whole words of 16 bytes, to mapped memory of the host, by the batch if there is one with room. Block
** b puts its ticket into the four words from run->done + 4 * b on. The engine for copies and the wait for its stream
** take twice as long.
*/
static inline int gr_cuda_send_blocks(size_t bytes) { return bytes <= GR_SEND_ONE ? 1 : bytes <= GR_SEND_TWO ? 2 : 4; }
int gr_cuda_send(const void *from, void *mapped, size_t bytes, const gr_cuda_run *);
int gr_cuda_map(const gr_map_job *, const gr_cuda_run *);
int gr_cuda_compact(const gr_compact_job *, const gr_cuda_run *);
int gr_cuda_lookup(const gr_lookup_job *, const gr_cuda_run *);
int gr_cuda_put(const gr_put_job *, const gr_cuda_run *);

#ifdef __cplusplus
}

/*
** A reduction that is part of a larger operation: its results go to scratch memory, *out, where the caller has `bytes`
** for them and for what else it wants.
*/
int gr_reduce_to_scratch(const gr_reduce_job &, const gr_cuda_run &, size_t bytes, char **out);

/* Such a reduction to one f64 for each of count vectors. */
static inline gr_reduce_job gr_f64_of_each(gr_op op, gr_dtype t, const gr_vec &a, int64_t n, int64_t count) {
  gr_reduce_job r = {};
  r.op = op;
  r.dtype = t;
  r.n = n;
  r.count = count;
  r.a = a;
  r.scale_a = r.scale_b = 1.0;
  r.out_dtype = GR_F64;
  return r;
}
#endif
#endif
