/*
** Operations that take elements of a formula in place of a vector's: sums of columns, histograms and scans. Their own
** launchers plan them and launch the compiled kernel on the plan, with elements from address 0 on; what is not NaN of
** arrays is read where it lies.
*/
#include "src/backend/cuda/take.h"

#include "kernels/cuda/formula/tuning.h"
#include "kernels/numerics/numerics.h"

static gr_vec placed(gr_dtype t, int64_t apart) {
  const int64_t size = gr_size_of(t);
  return (gr_vec){.data = NULL, .stride = apart * size, .step = size};
}

static gr_reduce_job placed_columns(const gr_reduce_job *job) {
  gr_reduce_job own = *job;
  own.a = own.b = placed(job->dtype, job->count);
  return own;
}

/* A launch of one of the operations' own launchers. */
typedef struct launching {
  int skeleton, variant, tally;
  gr_dtype dtype; /* of the skeleton */
  const void *job;
  gr_status (*launch)(gr_cuda_queue *, const void *job, const gr_cuda_formula *);
  gr_cuda_present present;
} launching;

static gr_status launch_reduction(gr_cuda_queue *q, const void *job, const gr_cuda_formula *formula) {
  const gr_reduce_job *own = job;
  gr_cuda_run run = gr_cuda_prepare(q, &q->work);
  run.formula = formula;
  return gr_cuda_launched(q, gr_cuda_reduce(own, &run), gr_op_name(own->op));
}

static gr_status launch_histogram(gr_cuda_queue *q, const void *job, const gr_cuda_formula *formula) {
  return gr_cuda_launch_histogram(q, job, formula);
}

static gr_status launch_scan(gr_cuda_queue *q, const void *job, const gr_cuda_formula *formula) {
  gr_cuda_run run = gr_cuda_prepare(q, &q->chain);
  run.formula = formula;
  return gr_cuda_launched(q, gr_cuda_scan(job, &run), "scan");
}

/* The kernel of what is asked, launched by the operation's own launcher. */
static gr_status feed(gr_cuda_queue *q, const gr_formula_job *job, launching l) {
  const gr_jit_asked asked = {l.skeleton, job->a, l.present ? job->b : -1, l.tally, l.variant, l.present};
  gr_cuda_taken c;
  gr_status status = gr_cuda_take_formula(q, job, &asked, l.dtype, &c);
  if (status != GR_OK) return status;
  status = l.launch(q, l.job, &c.formula);
  gr_jit_let_go(c.formula.compiled);
  return status;
}

/* Vectors of an array, as a job says of one whose elements are 1 apart. */
static gr_vec of_input(const gr_formula_job *job, int node, const gr_vec *apart) {
  const gr_vec *v = &job->inputs[job->program->nodes[node].input];
  return (gr_vec){v->data, apart->stride * v->stride, apart->step * v->stride};
}

/* What is not NaN of vectors that lie in memory: which kernel reduces it, and what it counts besides (< 0: nothing). */
typedef struct present {
  gr_reduce_job job;
  gr_cuda_present kernel;
  int tally;
} present;

static int find_present(const gr_cuda_queue *q, const gr_formula_job *job, present *p) {
  gr_consumer asked = {.job = *(const gr_reduce_job *)job->operation, .a = job->a, .b = job->b};
  const gr_reducer red = gr_reducer_of(asked.job.op, asked.job.dtype);
  const int size = gr_size_of(asked.job.dtype), counts = asked.job.op == GR_OP_mean || red == GR_RED_SQDIFF;
  const gr_vec *const of_a = &asked.job.a, *const of_b = &asked.job.b;
  gr_filled f;
  if (asked.job.op == GR_OP_minmax) asked.job.op = GR_OP_min;
  if (q->device->chip.major < GR_PRESENT_LEAST || !gr_cuda_is_of_present(job, &asked, &f)) return 0;
  p->job = *(const gr_reduce_job *)job->operation;
  p->job.a = of_input(job, f.of[0], of_a);
  if (f.of[1] >= 0) p->job.b = of_input(job, f.of[1], of_b);
  p->kernel = gr_cuda_present_for(&p->job, &q->device->chip);
  p->tally = counts || (p->kernel != GR_PRESENT_leaves && red == GR_RED_SUM) ? f.test : -1;
  if (p->kernel != GR_PRESENT_leaves) return p->kernel != GR_PRESENT_NONE;
  return (p->job.count == 1 || p->job.n * size >= GR_LEAST_ROW) && p->job.n <= GR_MOST_LEAVES * GR_LEAF(size);
}

static gr_status feed_present(gr_cuda_queue *q, const gr_formula_job *job) {
  present p;
  gr_reducer red;
  gr_dtype t;
  if (!find_present(q, job, &p) || !gr_cuda_skeleton_for(&p.job, &red, &t)) return GR_NOT_FUSED;
  return feed(q, job, (launching){(int)red, 0, p.tally, t, &p.job, launch_reduction, p.kernel});
}

static gr_status feed_columns(gr_cuda_queue *q, const gr_formula_job *job) {
  const gr_reduce_job own = placed_columns(job->operation);
  if (job->b >= 0 || !gr_cuda_columns_fit(&own, &q->device->chip)) return GR_NOT_FUSED;
  return feed(q, job, (launching){GR_JIT_COLUMNS_SUM, 0, -1, own.dtype, &own, launch_reduction, GR_PRESENT_NONE});
}

static gr_status feed_histogram(gr_cuda_queue *q, const gr_formula_job *job) {
  gr_histogram_job own = *(const gr_histogram_job *)job->operation;
  own.a = placed(own.dtype, 1);
  const int skeleton = gr_cuda_histogram_skeleton(&own, &q->device->chip);
  if (skeleton < 0) return GR_NOT_FUSED;
  return feed(q, job, (launching){GR_JIT_HISTOGRAM, skeleton, -1, own.dtype, &own, launch_histogram, GR_PRESENT_NONE});
}

static gr_status feed_scan(gr_cuda_queue *q, const gr_formula_job *job) {
  gr_scan_job own = *(const gr_scan_job *)job->operation;
  own.a = placed(own.dtype, 1);
  const int skeleton = gr_cuda_scan_skeleton(&own, &q->device->chip);
  const gr_dtype serving = gr_is_float(own.dtype) ? own.dtype : gr_bits_of_size(gr_size_of(own.dtype));
  if (skeleton < 0) return GR_NOT_FUSED;
  return feed(q, job, (launching){GR_JIT_SCAN, skeleton, -1, serving, &own, launch_scan, GR_PRESENT_NONE});
}

gr_status gr_cuda_feed(gr_cuda_queue *q, const gr_formula_job *job) {
  switch (job->feeds) {
    case GR_FEEDS_COLUMNS: return feed_columns(q, job);
    case GR_FEEDS_PRESENT: return feed_present(q, job);
    case GR_FEEDS_HISTOGRAM: return feed_histogram(q, job);
    case GR_FEEDS_SCAN: return feed_scan(q, job);
    case GR_FEEDS_NOTHING:
    case GR_FEEDS_WEIGHTS:
    case GR_FEEDS_COMPACT:
    case GR_FEEDS_EXACT: return GR_NOT_FUSED;
  }
  return GR_NOT_FUSED;
}

int gr_cuda_fits(gr_queue *base, gr_feeding feeds, const void *operation) {
  const gr_cuda_queue *q = (const gr_cuda_queue *)base;
  if (gr_jit_missing(q->device->chip.device)) return 0;
  if (feeds != GR_FEEDS_COLUMNS) return 1;
  const gr_reduce_job own = placed_columns(operation);
  return gr_cuda_columns_fit(&own, &q->device->chip);
}
