#include "src/binding/expression.h"

#include <stdio.h>

#include "src/binding/args.h"
#include "src/binding/keeper.h"
#include "src/binding/options.h"

/* Arrays, which most arguments are, are known sooner than objects by their names. */
gr_expression *gr_l_test_expression(lua_State *L, int i) {
  return gr_l_test_array(L, i) ? NULL : gr_l_test_object(L, i, GR_OWN(expression));
}

int gr_l_has_expression(lua_State *L, int count) {
  for (int k = 1; k <= count; k++)
    if (gr_l_test_expression(L, k)) return 1;
  return 0;
}

gr_expression *gr_l_push_expression(lua_State *L, size_t bytes) {
  gr_expression *e = gr_newuserdata(L, bytes);
  memset(e, 0, sizeof *e);
  luaL_setmetatable(L, GR_OWN(expression));
  return e;
}

/* A finalizer of the script's may have kept it beyond its own end: then it is a block of zeros. */
static void check_alive(lua_State *L, int arg, const gr_expression *e) {
  if (!gr_expression_alive(e)) gr_l_argerror(L, arg, "expression has been released");
}

/* The storages of its arrays on the stack, where those that a lost device leaves behind are looked for. */
static void hold_inputs(lua_State *L, const gr_expression *e) {
  if (!e) return;
  luaL_checkstack(L, e->program.input_count + 8, "too many arrays");
  for (int k = 0; k < e->program.input_count; k++)
    if (!gr_array_released(&e->inputs[k])) gr_l_hold(L, &e->inputs[k]);
}

int gr_l_again_with(lua_State *L, gr_context *c, gr_status status, const gr_expression *e, const gr_expression *f) {
  if (status != GR_DEVICE) return gr_l_again(L, c, status);
  char why[sizeof c->error];
  const int top = lua_gettop(L);
  memcpy(why, c->error, sizeof why);
  hold_inputs(L, e);
  hold_inputs(L, f);
  memcpy(c->error, why, sizeof why);
  const int again = gr_l_again(L, c, status);
  lua_settop(L, top);
  return again;
}

/* ---- elements ---- */

gr_array *gr_l_push_elements_later(lua_State *L, int arg, const gr_expression *e, int later) {
  gr_context *c = gr_l_context(L);
  check_alive(L, arg, e);
  gr_l_reserve_array(L, c, gr_expression_dtype(e), e->n);
  gr_array *out = gr_l_push_array(L);
  GR_TRY_WITH(L, c, arg, e, NULL, gr_expression_promise(c, e, out));
  GR_TRY_WITH(L, c, arg, e, NULL, GR_LATER(c, later, gr_expression_eval(c, e, out)));
  return out;
}

gr_array *gr_l_check_elements(lua_State *L, int arg) {
  const gr_expression *e = gr_l_test_expression(L, arg);
  if (!e) return gr_l_check_array(L, arg);
  gr_array *a = gr_l_push_elements_later(L, arg, e, 0);
  lua_replace(L, arg);
  return a;
}

/* What an option holds: an expression, which is then on the top of the stack, or an array; or nothing. */
static gr_reduced option_held(lua_State *L, int arg, const char *name) {
  gr_reduced r = {NULL, NULL};
  if (!gr_l_push_option(L, arg, name)) return r;
  const gr_array *turned = gr_l_test_transposed(L, -1);
  if (turned && gr_array_released(turned)) gr_l_argerror(L, arg, "option '%s': array has been released", name);
  r.e = gr_l_test_expression(L, -1);
  if (r.e && !gr_expression_alive(r.e)) gr_l_argerror(L, arg, "option '%s': expression has been released", name);
  if (r.e && gr_expression_line(r.e)) gr_l_argerror(L, arg, "option '%s': " GR_LINE_ALONE, name);
  if (turned) r.a = gr_l_check_array(L, lua_gettop(L));
  if (turned || r.e) return r;
  lua_pop(L, 1);
  r.a = gr_l_option_array(L, arg, name);
  return r;
}

gr_array *gr_l_option_elements(lua_State *L, int arg, const char *name) {
  const gr_reduced r = option_held(L, arg, name);
  return r.e ? gr_l_push_elements_later(L, arg, r.e, 0) : r.a; /* the expression stays below them */
}

void gr_l_check_weights(lua_State *L, int arg, const gr_array *a, const gr_array *w) {
  if (w->n != a->n)
    gr_l_argerror(L, arg, "option 'weights': length %lld expected, got %lld", (long long)a->n, (long long)w->n);
  gr_l_check_device(L, a, w, arg);
}

gr_array *gr_l_option_weights(lua_State *L, int arg, const gr_array *a) {
  gr_array *w = gr_l_option_elements(L, arg, "weights");
  if (w) gr_l_check_weights(L, arg, a, w);
  return w;
}

gr_array *gr_l_check_mask(lua_State *L, int arg) {
  gr_context *c = gr_l_context(L);
  gr_expression *e = gr_l_test_expression(L, arg);
  if (!e) return gr_l_check_array(L, arg);
  check_alive(L, arg, e);
  if (gr_expression_dtype(e) != GR_U8) {
    const gr_combination mask = {.does = GR_COMBINES_MASK, .count = 1, .given = {{.expression = e}}};
    gr_expression *m = gr_l_push_expression(L, gr_combination_room(&mask));
    GR_TRY_WITH(L, c, arg, e, NULL, gr_expression_combine(c, &mask, m));
    lua_replace(L, arg);
  }
  return gr_l_check_elements(L, arg);
}

static gr_reduced promise(lua_State *L, int arg, const gr_expression *e) {
  gr_context *c = gr_l_context(L);
  check_alive(L, arg, e);
  gr_array *a = gr_l_push_array(L);
  GR_TRY_WITH(L, c, arg, e, NULL, gr_expression_promise(c, e, a));
  return (gr_reduced){e, a};
}

gr_reduced gr_l_check_reduced(lua_State *L, int arg) {
  gr_reduced r = {NULL, gr_l_test_array(L, arg)};
  const gr_expression *e = r.a ? NULL : gr_l_test_expression(L, arg);
  if (e) return promise(L, arg, e);
  r.a = gr_l_check_array(L, arg);
  return r;
}

gr_reduced gr_l_check_operand(lua_State *L, int arg, int count) {
  if (!gr_l_test_array(L, arg) && gr_l_test_expression(L, arg)) lua_settop(L, count);
  return gr_l_check_reduced(L, arg);
}

gr_reduced gr_l_option_operand(lua_State *L, int arg, const char *name) {
  const gr_reduced r = option_held(L, arg, name);
  return r.e ? promise(L, arg, r.e) : r; /* as above */
}

void gr_l_drop_elements(lua_State *L, gr_reduced r) {
  if (r.e) gr_l_release(L, r.a);
}

static void check_into(lua_State *L, const gr_expression *e, const gr_array *into, int options) {
  for (int k = 0; k < e->program.count; k++) {
    const gr_node *x = &e->program.nodes[k];
    const gr_array *a = &e->inputs[x->input];
    if (x->kind != GR_NODE_INPUT) continue;
    if (x->spread == GR_EACH) gr_l_check_apart(L, options, into, a);
    else gr_l_check_disjoint(L, options, into, a, "input");
  }
}

gr_array *gr_l_evaluate(lua_State *L, gr_expression *e, int options) {
  gr_context *c = gr_l_context(L);
  gr_array *out = gr_expression_line(e) ? NULL : gr_l_option_into(L, options, gr_expression_dtype(e), e->n, NULL);
  if (!out) {
    gr_l_reserve_array(L, c, gr_expression_dtype(e), e->n);
    out = gr_l_push_array(L);
    GR_TRY_WITH(L, c, 1, e, NULL, gr_expression_promise(c, e, out));
  } else {
    if (e->program.input_count) gr_l_check_device(L, &e->inputs[0], out, options);
    check_into(L, e, out, options);
  }
  GR_TRY_WITH(L, c, 1, e, NULL, gr_expression_eval(c, e, out));
  return out;
}

void gr_l_check_expression_apart(lua_State *L, int arg, const gr_expression *e, const gr_array *out) {
  for (int k = 0; e && k < e->program.input_count; k++) gr_l_check_disjoint(L, arg, out, &e->inputs[k], "input");
}

/* ---- words ---- */

void gr_l_hint_function(gr_context *c) {
  const char *names[GR_CALLABLES];
  char name[64], hint[GR_HINT], rest[sizeof c->error];
  char *at = strstr(c->error, "no function '"), *end;
  if (!at || sscanf(at, "no function '%63[^']'", name) != 1 || !(end = strchr(at, '\n'))) return;
  snprintf(rest, sizeof rest, "%s", end);
  gr_formula_callables(names);
  if (gr_map_named(name) == GR_MAP_cast) snprintf(hint, sizeof hint, " (write the dtype: f32(x))");
  else if (gr_map_named(name) == GR_MAP_compare) snprintf(hint, sizeof hint, " (write x < y)");
  else if (gr_op_named(name) >= 0) snprintf(hint, sizeof hint, " (formulas are reduced from outside: e:%.30s())", name);
  else gr_l_hint_name(name, names, hint);
  snprintf(end, sizeof c->error - (size_t)(end - c->error), "%s%s", hint, rest);
}
