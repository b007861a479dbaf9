/* A queue: a stream, the pinned memory that copies and results go through, scratch memory. */
#include "src/backend/cuda/function.h"

#include <stdlib.h>
#include <string.h>

/* The mailbox of numbers that are waited for at once; a page for limbs. */
#define NOW_BYTES (sizeof(gr_cuda_mailbox) + 4096)

void gr_cuda_close(gr_queue *base) {
  gr_cuda_queue *q = (gr_cuda_queue *)base;
  int was = gr_cuda_enter_device(q->device);
  if (was >= 0) {
    if (q->stream) {
      (void)cudaStreamSynchronize(q->stream);
      if (!q->lent) (void)cudaStreamDestroy(q->stream);
    }
    gr_cuda_ring_close(&q->small);
    gr_cuda_ring_close(&q->large);
    if (q->work.memory) (void)cudaFree(q->work.memory);
    if (q->chain.memory) (void)cudaFree(q->chain.memory);
    if (q->even.memory) (void)cudaFree(q->even.memory);
    if (q->now.host) (void)cudaFreeHost(q->now.host);
    if (q->sent) (void)cudaFreeHost(q->sent);
    gr_cuda_tickets_close(q);
    gr_cuda_graphs_close(q);
    (void)cudaGetLastError();
    gr_cuda_leave_device(q->device, was);
  }
  free(q);
}

gr_queue *gr_cuda_open(gr_backend *b, gr_status *why) {
  gr_cuda_device *d = (gr_cuda_device *)b;
  gr_cuda_queue *q = calloc(1, sizeof *q);
  int was;
  *why = GR_NO_MEMORY;
  if (!q) return NULL;
  q->base.backend = b;
  q->device = d;
  q->ticket = q->now.ticket = 1;
  if ((was = gr_cuda_enter_device(d)) < 0) {
    free(q);
    *why = GR_DEVICE;
    return NULL;
  }
  cudaError_t e = cudaStreamCreateWithFlags(&q->stream, cudaStreamNonBlocking);
  if (e == cudaSuccess) e = gr_cuda_ring_open(&q->small, GR_COPY_SMALL);
  if (e == cudaSuccess) e = cudaHostAlloc((void **)&q->now.host, NOW_BYTES, cudaHostAllocMapped);
  if (e == cudaSuccess) {
    memset(q->now.host, 0, NOW_BYTES);
    e = cudaHostGetDevicePointer((void **)&q->now.mapped, q->now.host, 0);
  }
  q->base.pinned = GR_RING * GR_COPY_SMALL + NOW_BYTES;
  q->work.grow = q->chain.grow = q->even.grow = gr_cuda_grow;
  q->work.owner = q->chain.owner = q->even.owner = q;
  if (e == cudaSuccess) e = gr_cuda_grow(&q->work, GR_FIRST_SCRATCH);
  q->base.stats.allocations = 0;
  gr_cuda_leave_device(d, was);
  if (e == cudaSuccess) return &q->base;
  *why = e == cudaErrorMemoryAllocation ? GR_NO_MEMORY : GR_DEVICE;
  gr_cuda_close(&q->base);
  return NULL;
}

gr_status gr_cuda_zero(gr_queue *base, void *device, size_t bytes) {
  gr_cuda_queue *q = (gr_cuda_queue *)base;
  int was;
  if (bytes == 0) return GR_OK;
  if ((was = gr_cuda_enter(q)) < 0) return GR_DEVICE;
  q->written = gr_anything;
  gr_status status = gr_cuda_launched(q, (int)cudaMemsetAsync(device, 0, bytes, q->stream), "zeroing");
  gr_cuda_leave(q, was);
  return status;
}

static gr_status wait_for(gr_cuda_queue *q) {
  q->base.stats.syncs++;
  return gr_cuda_check(q, cudaStreamSynchronize(q->stream), "waiting");
}
GR_CUDA_FUNCTION(gr_cuda_wait, wait_for(q), gr_queue *base)
