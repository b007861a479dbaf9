#include "src/binding/lazy.h"
#include "src/binding/options.h"
#include "src/binding/rounding.h"
#include "src/binding/values.h"
#include "kernels/numerics/map.h"

gr_given gr_l_given(lua_State *L, int arg) {
  if (gr_l_test_transposed(L, arg)) gr_l_check_array(L, arg);
  gr_given g = {.expression = gr_l_test_array(L, arg) ? NULL : gr_l_test_expression(L, arg)};
  if (g.expression && !gr_expression_alive(g.expression)) gr_l_argerror(L, arg, "expression has been released");
  if (lua_type(L, arg) != LUA_TNUMBER && !g.expression && !gr_l_test_array(L, arg))
    gr_l_argerror(L, arg, "array, number or expression expected, got %s", gr_l_kind(L, arg));
  if (lua_type(L, arg) == LUA_TNUMBER) g.number = gr_l_to_number(L, arg);
  else if (!g.expression) g.array = gr_l_check_array(L, arg);
  return g;
}

/* The option 'out': f32 makes of f64 another expression, above e, whose elements are rounded once more. */
static gr_expression *round_results(lua_State *L, gr_context *c, int options, gr_expression *e) {
  const gr_dtype t = (gr_dtype)e->program.nodes[0].dtype;
  if (!gr_l_option_out(L, options, gr_l_name(L), t, gr_expression_dtype(e))) return e;
  const gr_combination x = {
      .does = GR_COMBINES_MAP, .op = GR_MAP_cast, .to = GR_F32, .count = 1, .given = {{.expression = e}}};
  gr_expression *rounded = gr_l_push_expression(L, gr_combination_room(&x));
  GR_TRY_WITH(L, c, 1, e, NULL, gr_expression_combine(c, &x, rounded));
  gr_expression_release(e);
  e->released = 1;
  return rounded;
}

int gr_l_lazy(lua_State *L, gr_combining does, gr_map op, gr_relation relation, gr_dtype to, const int *args, int count,
              int options) {
  const int computes = does == GR_COMBINES_MAP && op != GR_MAP_clamp && gr_map_rule(op, GR_F64) != GR_MAP_NONE;
  gr_context *c = gr_l_context(L);
  gr_combination x = {.does = does, .op = op, .relation = relation, .to = to, .count = count};
  const int given_options = options && options <= lua_gettop(L);
  int lazy = 0;
  for (int k = 0; k < count; k++) x.given[k] = gr_l_given(L, args[k]);
  for (int k = 0; k < count; k++) lazy |= x.given[k].expression && !gr_expression_line(x.given[k].expression);
  if (lazy && options && !lua_isnoneornil(L, options))
    gr_l_argerror(L, options, "nothing expected after an expression: e:eval{into=} stores its elements");
  gr_expression *e = gr_l_push_expression(L, gr_combination_room(&x));
  GR_TRY_WITH(L, c, count > 1 ? args[1] : 1, x.given[0].expression, x.given[1].expression,
              gr_expression_combine(c, &x, e));
  if (lazy) return 1;
  if (!given_options) options = lua_gettop(L) + 1;
  if (computes) gr_l_options(L, options, "into", "out");
  else gr_l_options(L, options, "into");
  if (computes) e = round_results(L, c, options, e);
  gr_l_evaluate(L, e, options);
  gr_expression_release(e);
  e->released = 1;
  return 1;
}

int gr_l_lazy_map(lua_State *L, gr_map op, int count) {
  static const int args[] = {1, 2, 3};
  return gr_l_lazy(L, GR_COMBINES_MAP, op, GR_IS_lt, GR_U8, args, count, count + 1);
}
