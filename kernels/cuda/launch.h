/*
** Launchers: what the CUDA backend calls. They check nothing, allocate nothing and never wait: they pick
** a kernel, a grid and a block from the tuning table (reduce/tuning.h) and launch on the given stream. Each returns
** a cudaError_t as int (0 is success).
*/
#ifndef GR_CUDA_LAUNCH_H
#define GR_CUDA_LAUNCH_H

#include <stddef.h>
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

/*
** Where a launch runs. scratch belongs to this stream alone: its first GR_COUNTER_BYTES are zero when
** a kernel starts and zero again when it ends (last blocks reset what they used), the rest is free for use.
** done: if not NULL, a mailbox of the host: the kernel's last act is to put ticket into four words of this mapped
** memory (grid/mailbox.cuh). A reduction puts the states that its results are made of there instead, and says in
** *mailbox how many (grid/mailbox.h).
** running: what those launches on this stream write that may still run when this one starts. A reduction, histogram,
** short scan or RMSNorm of other bytes reads meanwhile (grid/dependent_launch.cuh), and says in *written what is being
** written from then on; nothing else does, so that must be everything before. written may be NULL: it waits for them.
*/
/* Bytes from one address up to another. */
typedef struct gr_cuda_span {
  const char *from, *to;
} gr_cuda_span;
static const gr_cuda_span gr_anything = {NULL, (const char *)UINTPTR_MAX};

#define GR_MOST_LEAVES ((int64_t)1 << 25) /* of a vector in one launch: 128 GiB, of 16-bit types 256 */

#define GR_COUNTER_BYTES (4096 + GR_PARTIAL_BYTES)
#define GR_PARTIAL_BYTES 24576 /* after the counters: gr_publish_partial */
typedef struct gr_cuda_run {
  void *stream; /* cudaStream_t */
  const gr_cuda_chip *chip;
  void *scratch;
  uint64_t epoch; /* different at every launch on this scratch, never 0 */
  uint64_t *done;
  uint64_t ticket;
  gr_cuda_span running, *written;
  struct gr_mailbox_shape *mailbox; /* with done, of a reduction */
  struct gr_cuda_batch *batch; /* if not NULL, a reduction goes there (batch.h) */
} gr_cuda_run;

#define GR_ARRAYS 8 /* of one gr_cuda_reduce_arrays at most */

/* Bytes of scratch a job needs, GR_COUNTER_BYTES included. */
size_t gr_cuda_reduce_scratch(const gr_reduce_job *, const gr_cuda_chip *);
size_t gr_cuda_reduce_arrays_scratch(const gr_reduce_job *first, int count, const gr_cuda_chip *);
size_t gr_cuda_histogram_scratch(const gr_histogram_job *, const gr_cuda_chip *);
size_t gr_cuda_scan_scratch(const gr_scan_job *, const gr_cuda_chip *);
size_t gr_cuda_rmsnorm_scratch(const gr_rmsnorm_job *, const gr_cuda_chip *);
size_t gr_cuda_softmax_scratch(const gr_softmax_job *, const gr_cuda_chip *);
size_t gr_cuda_compact_scratch(const gr_compact_job *, const gr_cuda_chip *);

/* Whether this build has kernels for the current device: 0, or the cudaError_t that says why not. */
int gr_cuda_loadable(void);

int gr_cuda_reduce(const gr_reduce_job *, const gr_cuda_run *);
/* One launch for jobs of one vector each that differ in data and operation alone, not in reducer; needs run->done. */
int gr_cuda_reduce_arrays(const gr_reduce_job *const *, int count, const gr_cuda_run *);
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
int gr_cuda_edges(const gr_edges_job *, const gr_cuda_run *);
/*
** Up to 64 KiB, in whole words of 16 bytes, to mapped memory of the host. Block b puts its ticket into the four words
** from run->done + 4 * b on. The engine for copies and the wait for its stream take twice as long.
*/
static inline int gr_cuda_send_blocks(size_t bytes) { return bytes <= 16384 ? 1 : bytes <= 32768 ? 2 : 4; }
int gr_cuda_send(const void *from, void *mapped, size_t bytes, const gr_cuda_run *);
int gr_cuda_map(const gr_map_job *, const gr_cuda_run *);
int gr_cuda_compact(const gr_compact_job *, const gr_cuda_run *);

#ifdef __cplusplus
}

/* A reduction to one f64 for each of count vectors, part of a larger operation. */
static inline gr_reduce_job gr_f64_of_each(gr_op op, gr_dtype t, const gr_vec &a, int64_t n, int64_t count, void *out) {
  gr_reduce_job r = {};
  r.op = op;
  r.dtype = t;
  r.n = n;
  r.count = count;
  r.a = a;
  r.scale_a = r.scale_b = 1.0;
  r.out_dtype = GR_F64;
  r.out = out;
  return r;
}
#endif
#endif
