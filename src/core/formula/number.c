#include "src/core/formula/number.h"

#include "kernels/numerics/map.h"

gr_number gr_number_i(int64_t x) { return (gr_number){.whole = 1, .integer = 1, .i = x, .f = (double)x}; }

gr_number gr_number_f(double x) {
  gr_number n = {.f = x};
  n.whole = gr_whole(x, &n.i);
  return n;
}

/*
** The CPU's loop for one element: which device the arrays are on does not matter to the bits. It counts as no launch.
** Operators that are there for integers alone take whole numbers of any kind.
*/
gr_status gr_number_map(gr_context *c, gr_map op, const gr_number in[3], gr_number *out) {
  const int operands = gr_map_operands(op);
  int integers = 1;
  for (int k = 0; k < operands; k++) integers &= in[k].integer;
  for (int k = 0; k < operands && gr_map_rule(op, GR_F64) == GR_MAP_NOT; k++) {
    integers = 1;
    if (!in[k].whole) return gr_fail(c, GR_BAD, "value %.14g is not a whole number", in[k].f);
  }
  const gr_dtype t = integers ? GR_I64 : GR_F64, result = gr_map_result(op, t);
  uint64_t elements[3] = {0}, made = 0;
  gr_map_job job = {.op = op, .dtype = t, .out_dtype = result, .n = 1, .out = {&made, gr_size(result), 0}};
  gr_operand *const places[3] = {&job.a, &job.b, &job.c};
  gr_queue *q = gr_context_cpu(c);
  if (!q) return gr_fail(c, GR_NO_MEMORY, "out of memory");
  for (int k = 0; k < operands; k++) {
    if (integers) gr_element_put_i(t, &elements[k], in[k].i);
    else gr_element_put_f(t, &elements[k], in[k].f);
    places[k]->vec = (gr_vec){&elements[k], 8, 0};
  }
  const gr_stats before = q->stats;
  const gr_status status = q->backend->map(q, &job);
  q->stats = before;
  const gr_value v = gr_element_get(result, &made);
  *out = v.is_float ? gr_number_f(v.v[0].f) : gr_number_i(v.v[0].i);
  return gr_fail_from(c, q, status, "fuse", 0);
}

int gr_number_compare(gr_relation r, const gr_number *x, const gr_number *y) {
  const int integers = x->integer && y->integer;
  const int less = integers ? x->i < y->i : x->f < y->f, equal = integers ? x->i == y->i : x->f == y->f;
  const int more = integers ? x->i > y->i : x->f > y->f;
  switch (r) {
    case GR_IS_lt: return less;
    case GR_IS_le: return less || equal;
    case GR_IS_eq: return equal;
    case GR_IS_ne: return !equal;
    case GR_IS_ge: return more || equal;
    case GR_IS_gt: break;
  }
  return more;
}

gr_number gr_number_cast(gr_dtype t, const gr_number *x) {
  switch (t) {
#define GR_X(id, s, l, type, kind)                                         \
  case GR_##id: {                                                          \
    const type e = x->integer ? gr_i64_to_##s(x->i) : gr_f64_to_##s(x->f); \
    const gr_value v = gr_element_get(t, &e);                              \
    return v.is_float ? gr_number_f(v.v[0].f) : gr_number_i(v.v[0].i);     \
  }
    GR_DTYPES(GR_X)
#undef GR_X
  }
  return *x;
}
