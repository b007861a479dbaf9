/*
** Streams of the host program: the queue's work before or after theirs, by an event that nobody keeps, or in one of
** them; and work of others in the queue's own stream.
*/
#include "src/backend/cuda/function.h"

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

static gr_status follow(gr_cuda_queue *q, void *stream) {
  q->written = gr_anything; /* so that no launch begins before what it follows has ended */
  return gr_cuda_check(q, put_in_order(stream, q->stream), "waiting for a stream of the host");
}
GR_CUDA_FUNCTION(gr_cuda_follow, follow(q, stream), gr_queue *base, void *stream)

static gr_status lead(gr_cuda_queue *q, void *stream) {
  const gr_status status = gr_cuda_launch_batch(q, "work before that of the host");
  if (status != GR_OK) return status;
  return gr_cuda_check(q, put_in_order(q->stream, stream), "making a stream of the host wait");
}
GR_CUDA_FUNCTION(gr_cuda_lead, lead(q, stream), gr_queue *base, void *stream)

/* The queue has no work yet. */
static gr_status adopt(gr_cuda_queue *q, void *stream) {
  const gr_status status = gr_cuda_check(q, cudaStreamDestroy(q->stream), "giving up a stream");
  q->stream = stream;
  q->lent = 1;
  return status;
}
GR_CUDA_FUNCTION(gr_cuda_adopt, adopt(q, stream), gr_queue *base, void *stream)

static gr_status lend(gr_cuda_queue *q, int (*f)(void *with, void *stream), void *with, int *code) {
  const gr_status status = gr_cuda_launch_batch(q, "work before that of others");
  q->written = gr_anything; /* so that no launch begins before that work has ended */
  if (status == GR_OK) *code = f(with, q->stream);
  return status;
}
GR_CUDA_FUNCTION(gr_cuda_lend, lend(q, f, with, code), gr_queue *base, int (*f)(void *with, void *stream), void *with,
                 int *code)
