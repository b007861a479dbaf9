/* Operations that are one launch each, on scratch memory of the queue. */
#include "src/backend/cuda/cuda.h"

/* X(function of the backend, job, scratch memory that it needs, which, what to call it) */
#define LAUNCHES(X) \
  X(scan, gr_scan_job, gr_cuda_scan_scratch(job, &q->device->chip), chain, "scan") \
  X(rmsnorm, gr_rmsnorm_job, gr_cuda_rmsnorm_scratch(job, &q->device->chip), work, "rmsnorm") \
  X(softmax, gr_softmax_job, gr_cuda_softmax_scratch(job, &q->device->chip), work, "softmax") \
  X(digits, gr_digits_job, 0, work, "quantile") \
  X(pick, gr_pick_job, 0, work, "quantile") \
  X(fill, gr_fill_job, 0, work, "fill") \
  X(copy, gr_copy_job, 0, work, "copy") \
  X(random, gr_random_job, 0, work, "random numbers") \
  X(edges, gr_edges_job, 0, work, "edges") \
  X(map, gr_map_job, 0, work, "an element operator") \
  X(compact, gr_compact_job, gr_cuda_compact_scratch(job, &q->device->chip), chain, "compact")

#define LAUNCH(name, job_type, scratch_of, where, what)                                            \
  static gr_status queue_##name(gr_queue *base, const job_type *job) {                             \
    gr_cuda_queue *q = (gr_cuda_queue *)base;                                                      \
    gr_status status;                                                                              \
    int was = gr_cuda_enter(q);                                                                    \
    if (was < 0) return GR_DEVICE;                                                                 \
    status = gr_cuda_check(q, gr_cuda_grow(q, &q->where, scratch_of), "scratch memory for " what); \
    if (status == GR_OK) {                                                                         \
      gr_cuda_run run;                                                                             \
      gr_cuda_prepare(q, &q->where, &run);                                                         \
      status = gr_cuda_launched(q, gr_cuda_##name(job, &run), what);                               \
    }                                                                                              \
    gr_cuda_leave(q, was);                                                                         \
    return status;                                                                                 \
  }
LAUNCHES(LAUNCH)
#undef LAUNCH

/* One call may issue several kernels and memsets: the launcher counts them. */
static gr_status queue_ladder(gr_queue *base, const gr_ladder_job *job) {
  gr_cuda_queue *q = (gr_cuda_queue *)base;
  int (*launch)(const gr_ladder_job *, const gr_cuda_run *, uint64_t *) = gr_cuda_ladder_sum;
  gr_status status;
  int was = gr_cuda_enter(q);
  if (was < 0) return GR_DEVICE;
  switch (gr_ladder_family(job->rung)) {
    case GR_TAUGHT_histogram: launch = gr_cuda_ladder_histogram; break;
    case GR_TAUGHT_scan: launch = gr_cuda_ladder_scan; break;
    case GR_TAUGHT_rmsnorm: launch = gr_cuda_ladder_rows; break;
    default:
      if (job->op == GR_OP_dot) launch = gr_cuda_ladder_dot;
  }
  status = gr_cuda_check(q, gr_cuda_grow(q, &q->work, gr_cuda_ladder_scratch(job, &q->device->chip)), "scratch memory");
  if (status == GR_OK) {
    gr_cuda_run run;
    gr_cuda_prepare(q, &q->work, &run);
    base->stats.launches--; /* gr_cuda_launched() counts one of them */
    status = gr_cuda_launched(q, launch(job, &run, &base->stats.launches), "teaching kernel");
  }
  gr_cuda_leave(q, was);
  return status;
}

void gr_cuda_launches(gr_backend *b) {
#define SET(name, job_type, scratch_of, where, what) b->name = queue_##name;
  LAUNCHES(SET)
#undef SET
  b->ladder = queue_ladder;
}
