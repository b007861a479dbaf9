#include "src/binding/missing.h"

#include "src/binding/expression.h"
#include "src/binding/results.h"

gr_missing gr_l_option_missing_part(lua_State *L, int options, const gr_array *a) {
  gr_missing m = {.nan = gr_l_option_flag(L, options, "skipnan")};
  m.nan = m.nan && gr_is_float(a->dtype);
  m.mask = gr_l_option_operand(L, options, "mask");
  const gr_array *mask = m.mask.a;
  if (mask && !m.mask.e && mask->dtype != GR_U8)
    gr_l_argerror(L, options, "option 'mask': dtype u8 expected, got %s", gr_dtypes[mask->dtype].name);
  if (mask && mask->n != a->n)
    gr_l_argerror(L, options, "option 'mask': length %lld expected, got %lld", (long long)a->n, (long long)mask->n);
  if (mask) gr_l_check_device(L, a, mask, options);
  return m;
}

gr_missing gr_l_option_missing(lua_State *L, int options, const gr_array *a) {
  const gr_missing m = gr_l_option_missing_part(L, options, a);
  return a->n ? m : (gr_missing){0};
}

void gr_l_check_mask_apart(lua_State *L, int options, const gr_missing *m, const gr_array *out) {
  if (m->mask.e) gr_l_check_expression_apart(L, options, m->mask.e, out);
  else gr_l_check_disjoint(L, options, out, m->mask.a, "mask");
}

gr_reduced gr_l_push_present(lua_State *L, gr_context *c, gr_comm *comm, int arg, const gr_partial *p, gr_reduced x) {
  gr_array *kept = gr_l_push_array(L);
  GR_TRY_BEFORE(L, c, comm, arg, p->a.e, x.e, gr_partial_compact(c, p, x, kept));
  return (gr_reduced){NULL, kept};
}
