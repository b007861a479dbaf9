/* What every launch begins and ends with: its run, and what the launcher returned. */
#include "src/backend/cuda/cuda.h"

#include <stdlib.h>
#include <string.h>

static struct {
  int synchronous; /* GPUREDUCE_SYNC: wait after each launch, so that a fault is met where it was made */
  int64_t lose_at; /* GPUREDUCE_TEST_LOSE: launches until one writes where nothing is; 0: never */
} settings;

void gr_cuda_read_settings(void) {
  const char *sync = getenv("GPUREDUCE_SYNC");
  const char *lose_at = getenv("GPUREDUCE_TEST_LOSE");
  if (lose_at) settings.lose_at = strtoll(lose_at, NULL, 10);
  settings.synchronous = sync && *sync && strcmp(sync, "0") != 0;
}

gr_cuda_run gr_cuda_prepare(gr_cuda_queue *q, gr_cuda_scratch *s) {
  const gr_cuda_run run = {.stream = q->stream,
                           .chip = &q->device->chip,
                           .scratch = s,
                           .epoch = ++q->epoch,
                           .running = q->written,
                           .written = &q->written};
  q->written = gr_anything;
  return run;
}

/* For tests alone: an illegal address, which the device does not survive. */
static cudaError_t lose(gr_cuda_queue *q) {
  const gr_edges_job job = {.first = 0, .last = 1, .bins = 1000, .edges = (double *)(uintptr_t)4096};
  gr_cuda_run run = gr_cuda_prepare(q, &q->work);
  const cudaError_t e = (cudaError_t)gr_cuda_edges(&job, &run);
  return e == cudaSuccess ? cudaStreamSynchronize(q->stream) : e;
}

gr_status gr_cuda_launched(gr_cuda_queue *q, int error, const char *what) {
  cudaError_t e = (cudaError_t)error;
  q->base.stats.launches++;
  if (settings.lose_at > 0 && --settings.lose_at == 0) e = lose(q);
  if (e == cudaSuccess && settings.synchronous) e = cudaStreamSynchronize(q->stream);
  return gr_cuda_check(q, e, what);
}
