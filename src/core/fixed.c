#include "src/core/fixed.h"

#include "kernels/numerics/fixed.h"
#include "src/core/ops.h"
#include "src/core/ranks/meet.h"

gr_status gr_unit_of(gr_context *c, const gr_array *x, const char *what, int32_t *unit) {
  gr_value largest = gr_value_f(0);
  const int64_t all = c->comm ? gr_ranks_all(c) : x->n;
  int exponent = 0;
  gr_status status = all ? gr_reduce_all(c, GR_OP_norminf, x, NULL, 0, &largest) : GR_OK;
  const double most = largest.v[0].f;
  if (status == GR_OK && most - most != 0)
    return gr_fail(c, GR_BAD, "%s expected, got %s", what, most == most ? "an infinity" : "a NaN");
  frexp(most, &exponent);
  *unit = gr_fixed_unit(exponent, all);
  return status;
}
