/*
** Histograms on a device. Edges that follow from a formula are made here and kept: a call with the same bins saves a
** launch.
*/
#include "src/backend/cuda/function.h"

#include <string.h>

static gr_status make_even(gr_cuda_queue *q, const gr_edges_job *wanted) {
  size_t edges = (size_t)wanted->bins + 1;
  gr_status status = gr_cuda_check(q, gr_cuda_grow(&q->even, edges * 16), "memory for edges");
  if (status != GR_OK) return status;
  q->last_even = *wanted;
  q->last_even.edges = q->even.memory;
  q->last_even.limits = (int64_t *)q->even.memory + edges;
  gr_cuda_run run = gr_cuda_prepare(q, &q->work);
  status = gr_cuda_launched(q, gr_cuda_edges(&q->last_even, &run), "edges");
  if (status != GR_OK) q->last_even.bins = 0;
  return status;
}

/* The job with its edges, and with limits if the samples are integers. */
static gr_status with_edges(gr_cuda_queue *q, const gr_histogram_job *job, gr_histogram_job *out) {
  const gr_edges_job *last = &q->last_even, wanted = {.first = job->first, .last = job->last, .bins = job->bins};
  gr_status status = GR_OK;
  *out = *job;
  if (job->edges || job->modulo) return GR_OK;
  if (memcmp(&last->first, &wanted.first, 8) || memcmp(&last->last, &wanted.last, 8) || last->bins != wanted.bins)
    status = make_even(q, &wanted);
  out->edges = last->edges;
  out->ilimits = gr_is_float(job->dtype) ? NULL : last->limits;
  return status;
}

gr_status gr_cuda_launch_histogram(gr_cuda_queue *q, const gr_histogram_job *asked, const gr_cuda_formula *formula) {
  gr_histogram_job job;
  const gr_status status = with_edges(q, asked, &job);
  if (status != GR_OK) return status;
  gr_cuda_run run = gr_cuda_prepare(q, &q->work);
  run.formula = formula;
  return gr_cuda_launched(q, gr_cuda_histogram(&job, &run), "histogram");
}

GR_CUDA_FUNCTION(gr_cuda_do_histogram, gr_cuda_launch_histogram(q, job, NULL), gr_queue *base,
                 const gr_histogram_job *job)

static gr_status weigh(gr_cuda_queue *q, const gr_weights_job *asked) {
  gr_weights_job job = *asked;
  const gr_status status = with_edges(q, &asked->bins, &job.bins);
  if (status != GR_OK) return status;
  gr_cuda_run run = gr_cuda_prepare(q, &q->work);
  return gr_cuda_launched(q, gr_cuda_weights(&job, &run), "histogram");
}
GR_CUDA_FUNCTION(gr_cuda_do_weights, weigh(q, job), gr_queue *base, const gr_weights_job *job)
