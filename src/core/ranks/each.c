#include "src/core/ranks/each.h"

#include <stdio.h>
#include "src/core/operation.h"
#include "src/core/ranks/columns.h"
#include "src/core/ranks/meet.h"

gr_status gr_ranks_each(gr_context *c, const char *what, gr_shape s, const gr_array *a, gr_status mine,
                        int64_t *columns) {
  char text[GR_CARD_TEXT];
  const int64_t n = a->n ? gr_shape_length(s, a->n) : 0;
  snprintf(text, sizeof text, "%s, column by column", what);
  const gr_status status = gr_ranks_meet(c, text, n, n ? gr_shape_results(s, a->n) : 0, mine);
  *columns = c->comm->width;
  return status;
}

/* Column k alone: a mask lies as the matrix does, the other operand of a pair may be one vector for all columns. */
static gr_status reduce_column(gr_context *c, const gr_partial_reduction *p, int64_t k, gr_value *r) {
  gr_array a = gr_shape_vector(p->shape, p->of.a.a, k), b, mask;
  gr_partial_reduction q = *p;
  q.shape = (gr_shape){.axis = 2};
  q.column = k + 1;
  q.of.a = (gr_reduced){NULL, &a};
  if (p->of.b.a) {
    b = p->shape.pairs ? gr_shape_vector(p->shape, p->of.b.a, k) : gr_array_part(p->of.b.a, 0, 1, p->of.b.a->n);
    q.of.b = (gr_reduced){NULL, &b};
  }
  q.of.missing = gr_missing_of(p->shape, &p->of.missing, k, &mask);
  return gr_partial_all(c, &q, r);
}

gr_status gr_partial_ranks(gr_context *c, const gr_partial_reduction *given, gr_dtype t, gr_array *out,
                           gr_array *out2) {
  gr_partial_reduction p = *given;
  gr_array *const outs[2] = {out, out2};
  const gr_dtype types[2] = {t, t};
  gr_vec to[2];
  int64_t columns = 0;
  if (!p.exact && !gr_may_miss(&p.of.missing))
    return gr_reduce_ranks(c, p.op, p.shape, p.of.a.a, p.of.b.a, p.ddof, t, out, out2);
  gr_status mine = gr_reduced_eval_both(c, &p.of.a, &p.of.b);
  if (mine == GR_OK) mine = gr_reduced_eval(c, &p.of.missing.mask);
  gr_status status = gr_ranks_each(c, gr_ops[p.op].name, p.shape, p.of.a.a, mine, &columns);
  if (status != GR_OK) return status;
  status = gr_ranks_results(c, p.of.a.a, outs, types, out2 ? 2 : 1, to);
  for (int64_t v = 0; v < columns && status == GR_OK; v++) {
    gr_value r = {.is_float = 1};
    status = reduce_column(c, &p, v, &r);
    for (int k = 0; k < 2 && outs[k] && status == GR_OK; k++)
      gr_element_put(t, (char *)(uintptr_t)to[k].data + v * to[k].stride, &r, k);
  }
  return status;
}
