/* Operations that are one launch each, on scratch memory of the queue. */
#include "src/backend/cuda/function.h"

#include "kernels/cuda/products/products.h"

/* X(function of the backend, job, scratch memory, what to call it) */
#define LAUNCHES(X)                                \
  X(scan, gr_scan_job, chain, "scan")              \
  X(rmsnorm, gr_rmsnorm_job, work, "rmsnorm")      \
  X(softmax, gr_softmax_job, work, "softmax")      \
  X(digits, gr_digits_job, work, "quantile")       \
  X(pick, gr_pick_job, work, "quantile")           \
  X(fill, gr_fill_job, work, "fill")               \
  X(copy, gr_copy_job, work, "copy")               \
  X(random, gr_random_job, work, "random numbers") \
  X(whole, gr_whole_job, work, "random numbers")   \
  X(order, gr_order_job, work, "a permutation")    \
  X(edges, gr_edges_job, work, "edges")            \
  X(map, gr_map_job, work, "an element operator")  \
  X(compact, gr_compact_job, chain, "compact")     \
  X(lookup, gr_lookup_job, work, "take")           \
  X(put, gr_put_job, work, "put")                  \
  X(products, gr_products_job, work, "covariances")

#define QUEUE(name, job_type) \
  static GR_CUDA_FUNCTION(queue_##name, launch_##name(q, job), gr_queue *base, const job_type *job)

#define LAUNCH(name, job_type, where, what)                               \
  static gr_status launch_##name(gr_cuda_queue *q, const job_type *job) { \
    gr_cuda_run run = gr_cuda_prepare(q, &q->where);                      \
    return gr_cuda_launched(q, gr_cuda_##name(job, &run), what);          \
  }                                                                       \
  QUEUE(name, job_type)
LAUNCHES(LAUNCH)
#undef LAUNCH

#define EXPLAIN(name)                                                                       \
  static void explain_##name(gr_queue *base, const gr_##name##_job *job, gr_explained *e) { \
    gr_cuda_explain_##name(job, &((gr_cuda_queue *)base)->device->chip, e);                 \
  }
EXPLAIN(scan)
EXPLAIN(histogram)
#undef EXPLAIN

/* One call may issue several kernels and memsets: the launcher counts them. */
static gr_status launch_ladder(gr_cuda_queue *q, const gr_ladder_job *job) {
  int (*launch)(const gr_ladder_job *, const gr_cuda_run *, uint64_t *) = gr_cuda_ladder_sum;
  uint64_t *const launches = &q->base.stats.launches;
  switch (gr_ladder_family(job->rung)) {
    case GR_TAUGHT_histogram: launch = gr_cuda_ladder_histogram; break;
    case GR_TAUGHT_scan: launch = gr_cuda_ladder_scan; break;
    case GR_TAUGHT_rmsnorm: launch = gr_cuda_ladder_rows; break;
    default:
      if (job->op == GR_OP_dot) launch = gr_cuda_ladder_dot;
  }
  const gr_status status =
      gr_cuda_check(q, gr_cuda_grow(&q->work, gr_cuda_ladder_scratch(job, &q->device->chip)), "scratch memory");
  if (status != GR_OK) return status;
  gr_cuda_run run = gr_cuda_prepare(q, &q->work);
  --*launches; /* gr_cuda_launched() counts one of them */
  return gr_cuda_launched(q, launch(job, &run, launches), "teaching kernel");
}
QUEUE(ladder, gr_ladder_job)
#undef QUEUE

void gr_cuda_launches(gr_backend *b) {
#define SET(name, job_type, where, what) b->name = queue_##name;
  LAUNCHES(SET)
#undef SET
  b->ladder = queue_ladder;
  b->explain_scan = explain_scan;
  b->explain_histogram = explain_histogram;
}
