#include "src/core/formula/operate.h"

/* A device that cannot do it gives the host its elements, and gets the results from there. */
static gr_side side_of(const gr_queue *q, const gr_array *a) {
  return q->backend->custom ? gr_kernel_side(a->storage) : GR_HOST;
}

static gr_status run(gr_context *c, gr_queue *q, const gr_operator_job *job) {
  const gr_backend *backend = q->backend->custom ? q->backend : c->host->cpu();
  return gr_fail_from(c, q, backend->custom(q, job), "operator", 0);
}

static gr_status claim(gr_operator_job *job, gr_side side, gr_array *const *out) {
  gr_status status = GR_OK;
  for (int k = 0; k < job->op->results && status == GR_OK; k++) status = gr_array_write(out[k], side, 1, &job->out[k]);
  return status;
}

static gr_status read_segments(const gr_segments *s, gr_side side, gr_operator_job *job) {
  gr_vec v;
  const gr_status status = gr_array_read(s->offsets, side, &v);
  job->offsets = v.data;
  job->offsets_are_i32 = s->offsets->dtype == GR_I32;
  job->longest = s->longest;
  return status;
}

int gr_custom_operates(const gr_custom *u, gr_shape s, const gr_array *a) {
  gr_backend *b = a->storage->queue->backend;
  return b->operate && a->n > 0 && !u->ordered && !s.rows && !s.segments && !(b->uncompiled && b->uncompiled(b));
}

/* The device has the states; the host makes results of them. */
static gr_status operate(gr_context *c, const gr_operator *op, const gr_array *a, uint64_t *words) {
  uint64_t states[GR_OPERATOR_STATES] = {0};
  const int64_t leaves = 1;
  gr_queue *q = a->storage->queue;
  gr_operator_job job = {.op = op, .n = a->n, .count = 1, .longest = a->n};
  gr_status status = gr_array_read(a, gr_kernel_side(a->storage), &job.a);
  if (status != GR_OK) return status;
  status = q->backend->operate(q, &job, states);
  if (status != GR_OK) return status == GR_NOT_FUSED ? status : gr_fail_from(c, q, status, "operator", 0);
  job.a = (gr_vec){states, 8, 0};
  job.part = GR_OPERATOR_NODES;
  job.longest = job.nodes = 1;
  job.leaves = &leaves;
  gr_words_out(job.out, words, op->results);
  return gr_fail_from(c, q, c->host->cpu()->custom(q, &job), "operator", 0);
}

gr_status gr_custom_reduce(gr_context *c, gr_custom *u, gr_shape s, gr_reduced *of, gr_array *const *out,
                           uint64_t *words) {
  gr_operator_job job = {.op = &u->op};
  gr_status status = gr_custom_make(c, u, of->a->dtype);
  if (status == GR_OK && c->trace) c->trace(&(gr_reduction){.custom = u, .shape = s, .a = of->a, .of = of->e});
  if (status == GR_OK) status = gr_reduced_eval(c, of);
  if (status != GR_OK) return status;
  if (gr_array_released(of->a)) return GR_RELEASED;
  if (!out && gr_custom_operates(u, s, of->a)) {
    status = operate(c, &u->op, of->a, words);
    if (status != GR_NOT_FUSED) return status;
  }
  gr_queue *q = of->a->storage->queue;
  const gr_side side = side_of(q, of->a);
  job.n = job.longest = gr_shape_length(s, of->a->n);
  job.count = gr_shape_results(s, of->a->n);
  if (job.count == 0) return GR_OK;
  status = gr_shape_read(s, side, of->a, NULL, &job.a, NULL);
  if (status == GR_OK && s.segments) status = read_segments(s.segments, side, &job);
  if (status == GR_OK && out) status = claim(&job, side, out);
  if (!out) gr_words_out(job.out, words, u->op.results);
  return status == GR_OK ? run(c, q, &job) : status;
}

/* ---- scans ---- */

gr_status gr_custom_scan(gr_context *c, gr_custom *u, const gr_array *a, gr_array *const *out, int exclusive,
                         int reverse) {
  gr_operator_job job = {.op = &u->op, .scans = 1, .exclusive = exclusive, .reverse = reverse};
  gr_status status = gr_custom_make(c, u, a->dtype);
  if (status == GR_OK && gr_array_released(a)) status = GR_RELEASED;
  if (status != GR_OK || a->n == 0) return status;
  gr_queue *q = a->storage->queue;
  job.n = job.longest = a->n;
  job.count = 1;
  status = gr_array_read(a, side_of(q, a), &job.a);
  if (status == GR_OK) status = claim(&job, side_of(q, a), out);
  return status == GR_OK ? run(c, q, &job) : status;
}
