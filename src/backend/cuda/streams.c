/*
** Streams of the host program: the queue's work before or after theirs, by an event that nobody keeps, or in one of
** them; and work of others in the queue's own stream.
*/
#include "src/backend/cuda/cuda.h"

/* What `later` gets from now on waits for what `sooner` holds now. */
static cudaError_t put_in_order(cudaStream_t sooner, cudaStream_t later) {
  cudaEvent_t event;
  cudaError_t e = cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
  if (e != cudaSuccess) return e;
  e = cudaEventRecord(event, sooner);
  if (e == cudaSuccess) e = cudaStreamWaitEvent(later, event, 0);
  (void)cudaEventDestroy(event); /* the runtime keeps it until it has happened */
  return e;
}

gr_status gr_cuda_follow(gr_queue *base, void *stream) {
  gr_cuda_queue *q = (gr_cuda_queue *)base;
  const int was = gr_cuda_enter(q);
  if (was < 0) return GR_DEVICE;
  q->written = gr_anything; /* so that no launch begins before what it follows has ended */
  const gr_status status = gr_cuda_check(q, put_in_order(stream, q->stream), "waiting for a stream of the host");
  gr_cuda_leave(q, was);
  return status;
}

gr_status gr_cuda_lead(gr_queue *base, void *stream) {
  gr_cuda_queue *q = (gr_cuda_queue *)base;
  const int was = gr_cuda_enter(q);
  if (was < 0) return GR_DEVICE;
  gr_status status = gr_cuda_launch_batch(q, "work before that of the host");
  if (status == GR_OK) status = gr_cuda_check(q, put_in_order(q->stream, stream), "making a stream of the host wait");
  gr_cuda_leave(q, was);
  return status;
}

/* The queue has no work yet. */
gr_status gr_cuda_adopt(gr_queue *base, void *stream) {
  gr_cuda_queue *q = (gr_cuda_queue *)base;
  const int was = gr_cuda_enter(q);
  if (was < 0) return GR_DEVICE;
  const gr_status status = gr_cuda_check(q, cudaStreamDestroy(q->stream), "giving up a stream");
  q->stream = stream;
  q->lent = 1;
  gr_cuda_leave(q, was);
  return status;
}

gr_status gr_cuda_lend(gr_queue *base, int (*f)(void *with, void *stream), void *with, int *code) {
  gr_cuda_queue *q = (gr_cuda_queue *)base;
  const int was = gr_cuda_enter(q);
  if (was < 0) return GR_DEVICE;
  const gr_status status = gr_cuda_launch_batch(q, "work before that of others");
  q->written = gr_anything; /* so that no launch begins before that work has ended */
  if (status == GR_OK) *code = f(with, q->stream);
  gr_cuda_leave(q, was);
  return status;
}
