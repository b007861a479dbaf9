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

gr_status gr_custom_reduce(gr_context *c, gr_custom *u, gr_shape s, gr_reduced *of, gr_array *const *out,
                           uint64_t *words) {
  gr_operator_job job = {.op = &u->op};
  gr_status status = gr_custom_make(c, u, of->a->dtype);
  if (status == GR_OK && c->trace) c->trace(&(gr_reduction){.custom = u, .shape = s, .a = of->a, .of = of->e});
  if (status == GR_OK) status = gr_reduced_eval(c, of);
  if (status != GR_OK) return status;
  if (gr_array_released(of->a)) return GR_RELEASED;
  gr_queue *q = of->a->storage->queue;
  const gr_side side = side_of(q, of->a);
  job.n = job.longest = gr_shape_length(s, of->a->n);
  job.count = gr_shape_results(s, of->a->n);
  if (job.count == 0) return GR_OK;
  status = gr_shape_read(s, side, of->a, NULL, &job.a, NULL);
  if (status == GR_OK && s.segments) status = read_segments(s.segments, side, &job);
  if (status == GR_OK && out) status = claim(&job, side, out);
  for (int k = 0; !out && k < u->op.results; k++) {
    words[k] = 0;
    job.out[k] = (gr_vec){&words[k], 8, 0};
  }
  return status == GR_OK ? run(c, q, &job) : status;
}

/* ---- what is present ---- */

static void view_vector(gr_shape s, const gr_array *a, int64_t v, gr_array *out) {
  int64_t n = a->n, from = 0;
  if (s.rows) {
    gr_shape_vector(s, a, v, out);
    return;
  }
  if (s.segments) {
    const gr_array *offsets = s.segments->offsets; /* gr_segments_of has read them on the host */
    const gr_reduce_job where = {.offsets = offsets->storage->memory[GR_HOST] + offsets->offset,
                                 .offsets_are_i32 = offsets->dtype == GR_I32};
    from = gr_segment(&where, v, &n);
  }
  gr_array_view(a, out, from, 1, n);
}

/* Of vector v alone; operands are arrays. */
static gr_status reduce_one(gr_context *c, gr_custom *u, gr_shape s, const gr_partial *p, int64_t v, uint64_t *words) {
  gr_array a = {0}, mask = {0}, kept = {0};
  gr_partial one = {.a = {NULL, &a}, .missing = {.nan = p->missing.nan}};
  gr_status status = GR_OK;
  view_vector(s, p->a.a, v, &a);
  if (p->missing.mask.a) view_vector(s, p->missing.mask.a, v, &mask), one.missing.mask.a = &mask;
  if (a.n) status = gr_partial_compact(c, &one, one.a, &kept);
  gr_reduced of = {NULL, a.n ? &kept : &a};
  if (status == GR_OK) status = gr_custom_reduce(c, u, (gr_shape){.axis = 2}, &of, NULL, words);
  gr_array_release(&kept);
  gr_array_release(&mask);
  gr_array_release(&a);
  return status;
}

gr_status gr_custom_reduce_present(gr_context *c, gr_custom *u, gr_shape s, const gr_partial *partial,
                                   gr_array *const *out, uint64_t *words) {
  gr_partial p = *partial;
  uint64_t own[GR_OPERATOR_STATES];
  gr_vec to;
  gr_status status = gr_reduced_eval(c, &p.a);
  if (status == GR_OK) status = gr_reduced_eval(c, &p.missing.mask);
  if (status == GR_OK && gr_array_released(p.a.a)) status = GR_RELEASED;
  if (status != GR_OK) return status;
  if (!out) return reduce_one(c, u, s, &p, 0, words);
  const int64_t results = gr_shape_results(s, p.a.a->n);
  gr_stop_begin(&c->stop);
  for (int64_t v = 0; v < results && status == GR_OK; v++) {
    if (v && v % 64 == 0 && (status = gr_context_look(c)) != GR_OK) break;
    status = reduce_one(c, u, s, &p, v, own);
    for (int k = 0; k < u->op.results && status == GR_OK; k++) {
      status = gr_array_write(out[k], GR_HOST, v == 0, &to);
      if (status == GR_OK) memcpy((char *)(uintptr_t)to.data + v * to.stride, &own[k], (size_t)gr_size(out[k]->dtype));
    }
  }
  return status;
}

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
