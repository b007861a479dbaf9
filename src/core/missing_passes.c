#include "src/core/missing_passes.h"

gr_status gr_passes_fill(gr_passes *s, int second) {
  const int of_b = second && s->q.of.b.a, widen = s->q.op == GR_OP_logsumexp && !gr_is_float(s->dtype);
  gr_made *const to = second ? &s->second : &s->first;
  if (s->known || to->e) return GR_OK;
  return gr_partial_fill(s->context, &s->q.of, of_b, widen, gr_filling_for(s->q.op, s->dtype, second), to);
}

gr_status gr_passes_fill_all(gr_passes *s) {
  const gr_status status = gr_passes_fill(s, 0);
  return status == GR_OK && s->q.of.b.a ? gr_passes_fill(s, 1) : status;
}

void gr_passes_want(gr_passes *s, gr_pass_of k, gr_op op, gr_made *a, gr_made *b, double ddof) {
  s->pass[k] =
      (gr_pass){.op = op, .a = gr_made_operand(a), .b = b && b->e ? gr_made_operand(b) : GR_NONE, .ddof = ddof};
}

gr_status gr_passes_want_counts(gr_passes *s) {
  const int truths = s->q.op == GR_OP_argmin || s->q.op == GR_OP_argmax; /* of which the greatest is looked for */
  const gr_status status = s->known ? GR_OK : gr_partial_present(s->context, &s->q.of, truths, &s->present);
  gr_passes_want(s, GR_PASS_COUNT, GR_OP_count, &s->present, NULL, 0);
  return status;
}

static gr_status run_whole(gr_passes *s, int set, gr_status before) {
  gr_wanted w[GR_PASSES];
  gr_value r[GR_PASSES];
  int count = 0;
  gr_status status = GR_OK;
  for (int k = 0; k < GR_PASSES; k++) {
    const gr_pass *p = &s->pass[k];
    if (set >> k & 1) w[count++] = (gr_wanted){p->op, p->a, p->b, p->ddof};
  }
  if (s->known) status = gr_known_run(s->context, s->known, s->q.of.a.a, s->q.of.b.a, r);
  else if (s->context->comm) status = gr_formula_reduce_ranked(s->context, w, count, before, r);
  else if (count > 1 && gr_formula_together(w, count)) status = gr_formula_reduce_together(s->context, w, count, r);
  else
    for (int k = 0; k < count && status == GR_OK; k++)
      status = gr_formula_reduce_all(s->context, w[k].op, w[k].a, w[k].b, w[k].ddof, &r[k]);
  for (int k = 0, at = 0; k < GR_PASSES && status == GR_OK; k++)
    if (set >> k & 1) s->pass[k].one = r[at++];
  if (status != GR_OK) return status;
  if (s->keep) gr_known_keep(s->context, s->q.op, s->dtype, w, count, 1 + (s->q.of.b.a != NULL));
  s->known = NULL;
  s->keep = 0;
  return GR_OK;
}

/* Into arrays, in one pass where that can be. */
static gr_status run_each(gr_passes *s, int set) {
  gr_context *c = s->context;
  gr_wanted w[GR_PASSES];
  gr_array *out[GR_PASSES];
  int count = 0;
  gr_status status = GR_OK;
  for (int k = 0; k < GR_PASSES && status == GR_OK; k++) {
    gr_pass *p = &s->pass[k];
    if (!(set >> k & 1)) continue;
    out[count] = &p->many;
    w[count++] = (gr_wanted){p->op, p->a, p->b, p->ddof};
    status = gr_array_make_beside(c, p->a.a, &p->many, gr_result_dtype(p->op, p->a.a->dtype), s->results);
  }
  if (status != GR_OK) return status;
  if (count > 1) status = gr_formula_reduce_each_together(c, s->q.shape, w, count, out);
  if (count == 1 || status == GR_NOT_FUSED) {
    status = GR_OK;
    for (int k = 0; k < count && status == GR_OK; k++) {
      if (w[k].a.e && !gr_formula_fuses(w[k].op, s->q.shape, w[k].a, w[k].b))
        status = gr_formula_store(c, w + k, count - k, w[k].a);
      if (status == GR_OK)
        status = gr_formula_reduce_each(c, w[k].op, s->q.shape, w[k].a, w[k].b, w[k].ddof, out[k], NULL);
    }
  }
  return status;
}

gr_status gr_passes_run(gr_passes *s, int set, gr_status before) {
  if (before != GR_OK && !(s->whole && s->context->comm)) return before;
  return s->whole ? run_whole(s, set, before) : run_each(s, set);
}

gr_status gr_passes_read(gr_passes *s, int set) {
  gr_status status = GR_OK;
  for (int k = 0; k < GR_PASSES && status == GR_OK && !s->whole; k++)
    if (set >> k & 1) status = gr_array_read(&s->pass[k].many, GR_HOST, &s->pass[k].at);
  return status;
}

gr_value gr_passes_value(const gr_passes *s, gr_pass_of k, int64_t v) {
  const gr_pass *p = &s->pass[k];
  return s->whole ? p->one : gr_element_get(p->many.dtype, (const char *)p->at.data + v * p->at.stride);
}

double gr_passes_number(const gr_passes *s, gr_pass_of k, int64_t v) {
  const gr_value x = gr_passes_value(s, k, v);
  return gr_value_double(&x, 0);
}

int64_t gr_passes_count(const gr_passes *s, int64_t v) { return gr_passes_value(s, GR_PASS_COUNT, v).v[0].i; }

gr_status gr_passes_end(gr_passes *s, gr_pass_of k, int greatest, gr_value *result) {
  const gr_pass *p = &s->pass[k];
  if (s->whole) return *result = p->one, GR_OK;
  return gr_reduce_quietly(s->context, greatest ? GR_OP_max : GR_OP_min, &p->many, result);
}

void gr_passes_drop(gr_passes *s) {
  for (int k = 0; k < GR_PASSES; k++) gr_array_release(&s->pass[k].many);
  gr_made_drop(&s->first);
  gr_made_drop(&s->second);
  gr_made_drop(&s->present);
  gr_array_release(&s->centers);
}
