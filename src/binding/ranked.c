/* Reductions over ranks: of what {comm = comm} says that each has a part. */
#include "src/binding/matrix.h"
#include "src/binding/ranks.h"
#include "src/binding/rounding.h"
#include "src/binding/values.h"
#include "src/core/exact.h"

static void check(lua_State *L, const gr_reduction *r, int options) {
  if (!r->shape.rows) return;
  if (r->shape.axis != 1)
    gr_l_argerror(L, options,
                  "option 'comm': is not served by rows, which lie whole on their ranks; by axis = 1 it is");
  if (r->exact) gr_l_argerror(L, options, "option 'comm': is not served by exact sums of columns");
}

/* The arrays are made by the core: a rank without rows does not know how many columns there are. */
static int push_columns(lua_State *L, gr_context *c, gr_comm *comm, const gr_reduction *r, int single, int kept) {
  const int two = r->op == GR_OP_minmax;
  const gr_dtype t = single ? GR_F32 : gr_result_dtype(r->op, r->a->dtype);
  gr_array *out[2] = {gr_l_push_array(L), two ? gr_l_push_array(L) : NULL};
  GR_TRY_RANKS(L, c, comm, 1, gr_reduce_ranks(c, r->op, r->shape, r->a, r->b, r->ddof, t, out[0], out[1]));
  for (int k = 0; k <= two && kept; k++) gr_l_keep_dimensions(out[k], kept);
  return 1 + two;
}

int gr_l_push_ranks(lua_State *L, gr_context *c, gr_comm *comm, const gr_reduction *r, int options, int single,
                    int kept) {
  gr_value x;
  double exact = 0;
  int rank = 0;
  check(L, r, options);
  if (r->shape.rows) return push_columns(L, c, comm, r, single, kept);
  if (r->exact) {
    /* The core takes operands that it may store the elements of; these are there. */
    gr_array a = *r->a, b = r->b ? *r->b : a;
    const gr_reduced of = {NULL, &a}, with = {NULL, r->b ? &b : NULL};
    GR_TRY_RANKS(L, c, comm, 1, gr_exact_all(c, r->op, of, with, (int64_t)r->ddof, single, NULL, &exact));
    lua_pushnumber(L, exact);
    return 1;
  }
  GR_TRY_RANKS(L, c, comm, 1, gr_reduce_all(c, r->op, r->a, r->b, r->ddof, &x));
  if (single) x.v[0].f = gr_l_single(x.v[0].f);
  const int count = gr_l_push_result(L, r->op, &x);
  if (r->op != GR_OP_argmin && r->op != GR_OP_argmax) return count;
  while (comm->starts[rank + 1] < x.v[0].i) rank++;
  lua_pushinteger(L, rank);
  return 2;
}
