/* Scratch memory of a queue, which grows. */
#include "src/backend/cuda/cuda.h"

/* New memory is zeroed: counters must start at zero, and no stale bytes may look like the epoch of a scan. */
int gr_cuda_grow(gr_cuda_scratch *s, size_t bytes) {
  gr_cuda_queue *q = s->owner;
  size_t size = s->bytes ? s->bytes : GR_FIRST_SCRATCH;
  cudaError_t e;
  if (bytes <= s->bytes) return cudaSuccess;
  while (size < bytes) size *= 2;
  if (s->memory) {
    if (gr_cuda_launch_batch(q, "a batch") != GR_OK) return cudaErrorLaunchFailure;
    if ((e = cudaStreamSynchronize(q->stream)) != cudaSuccess) return e;
    (void)cudaFree(s->memory);
    q->base.scratch -= s->bytes;
    s->memory = NULL;
    s->bytes = 0;
  }
  q->base.stats.allocations++;
  if ((e = cudaMalloc(&s->memory, size)) != cudaSuccess) return e;
  s->bytes = size;
  q->base.scratch += size;
  return cudaMemsetAsync(s->memory, 0, size, q->stream);
}
