#include "src/binding/together.h"
#include "src/binding/args.h"
#include "src/binding/expression.h"
#include "src/binding/values.h"

#define MOST 64 /* items */

typedef struct items {
  int n, expressions;
  gr_wanted of[MOST];
  const char *names[MOST];
} items;

/* The promise that an earlier operand of the same expression got, or a new one on the stack. */
static gr_reduced operand(lua_State *L, const items *s, int i) {
  gr_reduced r = {gr_l_test_array(L, i) ? NULL : gr_l_test_expression(L, i), NULL};
  for (int k = 0; r.e && k < s->n; k++) {
    if (s->of[k].a.e == r.e) return s->of[k].a;
    if (s->of[k].b.e == r.e) return s->of[k].b;
  }
  return gr_l_check_reduced(L, i);
}

/* Whether it can be an operand: neither released nor empty, on which reductions may have something to say. */
static int is_usable(lua_State *L, int i) {
  const gr_array *a = gr_l_test_array(L, i);
  const gr_expression *e = a ? NULL : gr_l_test_expression(L, i);
  return a ? !gr_array_released(a) && a->n > 0 : e && gr_expression_alive(e) && e->n > 0;
}

/* Item k, whose parts stay on the stack. 0: there is more to it than a name and operands. */
static int read_item(lua_State *L, items *s, int k, int operations) {
  gr_rawgeti(L, 1, k);
  const int item = lua_gettop(L);
  const size_t length = lua_istable(L, item) ? lua_rawlen(L, item) : 0;
  if (length != 2 && length != 3) return 0;
  gr_wanted w = {GR_OP_sum, {NULL, NULL}, {NULL, NULL}};
  if (gr_rawgeti(L, item, 1) != LUA_TSTRING) return 0;
  lua_pushvalue(L, -1);
  lua_rawget(L, operations);
  if (lua_isnil(L, -1)) return 0;
  w.op = (gr_op)lua_tointeger(L, -1);
  if (gr_ops[w.op].inputs != (int)length - 1) return 0;
  gr_rawgeti(L, item, 2);
  const int first = lua_gettop(L);
  if (!is_usable(L, first)) return 0;
  if (length == 3) gr_rawgeti(L, item, 3);
  if (length == 3 && !is_usable(L, first + 1)) return 0;
  w.a = operand(L, s, first);
  if (length == 3) w.b = operand(L, s, first + 1);
  if (w.b.a && (w.b.a->dtype != w.a.a->dtype || w.b.a->n != w.a.a->n)) return 0;
  s->expressions += w.a.e || w.b.e;
  s->names[k - 1] = lua_tostring(L, item + 1);
  s->of[s->n++] = w;
  return 1;
}

/* All of them at once, group by group of what one pass takes. Returns 0 if one is not that simple. */
static int run_now(lua_State *L, gr_context *c, items *s) {
  gr_value values[MOST];
  for (int k = 0, m; k < s->n; k += m) {
    gr_wanted *w = &s->of[k];
    for (m = s->n - k < GR_FORMULA_TOGETHER ? s->n - k : GR_FORMULA_TOGETHER; m > 1 && !gr_formula_together(w, m);) m--;
    if (m > 1) GR_TRY_WITH(L, c, 1, w->a.e, w->b.e, gr_formula_reduce_together(c, w, m, values + k));
    else GR_TRY_WITH(L, c, 1, w->a.e, w->b.e, gr_formula_reduce_all(c, w->op, w->a, w->b, 0, values + k));
  }
  luaL_checkstack(L, 2 * s->n + 4, "too many results");
  const int before = lua_gettop(L);
  for (int k = 0; k < s->n; k++) gr_l_push_result(L, s->of[k].op, &values[k]);
  return lua_gettop(L) - before;
}

/* The array of an operand, in a table; an expression's elements are made, once. */
static void put_array(lua_State *L, gr_context *c, int at, gr_reduced *r, int place) {
  const gr_expression *e = r->e;
  if (e) GR_TRY_WITH(L, c, 1, e, NULL, gr_reduced_eval(c, r));
  for (int i = 1; i < at; i++) /* the userdata of that array, which is on the stack */
    if (lua_touserdata(L, i) == r->a) {
      lua_pushvalue(L, i);
      lua_rawseti(L, -2, place);
      return;
    }
}

static void forget_expression(items *s, const gr_expression *e) {
  for (int k = 0; k < s->n; k++) {
    if (s->of[k].a.e == e) s->of[k].a.e = NULL;
    if (s->of[k].b.e == e) s->of[k].b.e = NULL;
  }
}

static void replace_list(lua_State *L, gr_context *c, items *s) {
  const int at = lua_gettop(L) + 1;
  lua_createtable(L, s->n, 0);
  for (int k = 0; k < s->n; k++) {
    gr_reduced *both[2] = {&s->of[k].a, &s->of[k].b};
    lua_createtable(L, 3, 0);
    lua_pushstring(L, s->names[k]);
    lua_rawseti(L, -2, 1);
    for (int j = 0; j < 2 && both[j]->a; j++) {
      const gr_expression *e = both[j]->e;
      put_array(L, c, at, both[j], j + 2);
      if (e) forget_expression(s, e);
    }
    lua_rawseti(L, -2, k + 1);
  }
  lua_replace(L, 1);
}

int gr_l_many_expressions(lua_State *L, gr_context *c, int n, int now, int operations) {
  items s = {0};
  const int top = lua_gettop(L);
  if (n > MOST || !lua_checkstack(L, 8 * n + 40)) return -1;
  int plain = 1;
  for (int k = 1; k <= n && plain; k++) plain = read_item(L, &s, k, operations);
  int results = -1;
  if (plain && s.expressions) {
    const gr_queue *q = s.of[0].a.a->storage->queue;
    if (now && !c->exact && q->backend && q->backend->formula) results = run_now(L, c, &s);
    else replace_list(L, c, &s);
  }
  if (results < 0) lua_settop(L, top);
  return results;
}
