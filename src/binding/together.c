#include "src/binding/together.h"
#include "src/binding/args.h"
#include "src/binding/expression.h"
#include "src/binding/options.h"
#include "src/binding/ranks.h"
#include "src/binding/values.h"

#define MOST 64 /* items */

typedef struct items {
  int n;
  gr_wanted of[MOST];
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
  gr_wanted w = {GR_OP_sum, {NULL, NULL}, {NULL, NULL}, 0};
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

/* Whether item k writes an array that an expression of a later one may read. */
static int writes(lua_State *L, int k) {
  gr_rawgeti(L, 1, k);
  const int item = lua_gettop(L);
  int found = 0;
  if (lua_istable(L, item)) {
    const lua_Integer last = (lua_Integer)lua_rawlen(L, item);
    found = gr_rawgeti(L, item, last) == LUA_TTABLE && gr_l_has_option(L, lua_gettop(L), "into");
  }
  lua_settop(L, item - 1);
  return found;
}

/* The value at the top; of an expression its elements as an array, made once: `made` has those of each. */
static void store_once(lua_State *L, int made, int later) {
  const gr_expression *e = gr_l_test_array(L, -1) ? NULL : gr_l_test_expression(L, -1);
  if (!e || !gr_expression_alive(e)) return;
  lua_pushvalue(L, -1);
  lua_rawget(L, made);
  if (lua_isnil(L, -1)) {
    lua_pop(L, 1);
    gr_l_push_elements_later(L, 1, e, later);
    lua_pushvalue(L, -2);
    lua_pushvalue(L, -2);
    lua_rawset(L, made);
  }
  lua_remove(L, -2);
}

/* The list at 1 with arrays for expressions. What has a metatable is for others to judge. */
static void replace_list(lua_State *L, int n, int later) {
  lua_settop(L, 1);
  luaL_checkstack(L, 80, "too many items");
  lua_createtable(L, n, 0);
  lua_newtable(L);
  for (int k = 1; k <= n; k++) {
    gr_rawgeti(L, 1, k);
    if (lua_istable(L, 4) && !gr_l_inherits(L, 4)) {
      const int length = (int)lua_rawlen(L, 4);
      lua_createtable(L, length, 0);
      for (int j = 1; j <= length; j++) {
        gr_rawgeti(L, 4, j);
        store_once(L, 3, later);
        lua_rawseti(L, 5, j);
      }
      lua_replace(L, 4);
    }
    lua_rawseti(L, 2, k);
  }
  lua_settop(L, 2);
  lua_replace(L, 1);
}

/* Whether an item at all has an expression. */
static int has_expressions(lua_State *L, int n) {
  int found = 0;
  for (int k = 1; k <= n && !found; k++) {
    gr_rawgeti(L, 1, k);
    const int item = lua_gettop(L), length = lua_istable(L, item) ? (int)lua_rawlen(L, item) : 0;
    for (int j = 2; j <= length && j <= 3 && !found; j++) {
      gr_rawgeti(L, item, j);
      found = !gr_l_test_array(L, -1) && gr_l_test_expression(L, -1);
    }
    lua_settop(L, item - 1);
  }
  return found;
}

int gr_l_many_expressions(lua_State *L, gr_context *c, int n, int now, int operations) {
  items s = {0};
  const int top = lua_gettop(L);
  if (!has_expressions(L, n)) return -1;
  int plain = now && !c->exact && n <= MOST && lua_checkstack(L, 8 * n + 40);
  for (int k = 1; k <= n && plain; k++) plain = read_item(L, &s, k, operations);
  if (plain) {
    const gr_queue *q = s.of[0].a.a->storage->queue;
    if (q->backend && q->backend->formula) return run_now(L, c, &s);
  }
  lua_settop(L, top);
  for (int k = 1; k <= n; k++)
    if (writes(L, k)) return -1;
  replace_list(L, n, !now);
  if (!now) return -1;
  lua_getfield(L, LUA_REGISTRYINDEX, GR_OWN(functions));
  lua_getfield(L, -1, "operations");
  return gr_l_many_ranks(L, c, n, lua_gettop(L)); /* of arrays it may be what it was not of expressions */
}
