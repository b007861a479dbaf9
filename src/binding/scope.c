/* gr.scope(f, ...): arrays that are made while f runs are released at its end, but those that it returns. */
#include "src/binding/args.h"
#include "src/binding/keeper.h"
#include "src/binding/noted.h"
#include "src/binding/parts.h"
#include "src/binding/when.h"

/* ---- what the function returned ---- */

/* Whether the value on top was in the table kept; now it is. */
static int seen(lua_State *L, int kept) {
  lua_pushvalue(L, -1);
  lua_rawget(L, kept);
  const int was = !lua_isnil(L, -1);
  lua_pop(L, 1);
  if (was) return 1;
  lua_pushvalue(L, -1);
  lua_pushboolean(L, 1);
  lua_rawset(L, kept);
  return 0;
}

/*
** Enters the arrays among the top n values into the table kept, also those in tables (such as histograms) and futures.
** Tables still to be searched are in a list, so that no depth of nesting exhausts the stack.
*/
static void keep(lua_State *L, int n, int kept) {
  int list = lua_gettop(L) + 1;
  lua_createtable(L, n, 0);
  for (int k = 1; k <= n; k++) {
    lua_pushvalue(L, list - k);
    lua_rawseti(L, list, k);
  }
  while (n > 0) {
    lua_settop(L, list);
    lua_rawgeti(L, list, n);
    lua_pushnil(L);
    lua_rawseti(L, list, n--);
    if (gr_l_push_future_values(L, list + 1)) lua_replace(L, list + 1);
    const int table = lua_istable(L, -1);
    if ((!table && !gr_l_test_any_array(L, -1)) || seen(L, kept) || !table) continue;
    lua_pushnil(L);
    while (lua_next(L, list + 1)) {
      if (lua_istable(L, -1) || lua_isuserdata(L, -1)) lua_rawseti(L, list, ++n);
      else lua_pop(L, 1);
    }
  }
  lua_settop(L, list - 1);
}

/*
** Releases arrays that were noted after number `before` and are not kept. The kept ones belong to the enclosing scope,
** if there is one.
*/
static void release_noted(lua_State *L, gr_l_state *s, int before, int kept, int around) {
  int last = s->scoped, list;
  gr_l_push_noted(L);
  list = lua_gettop(L);
  s->scoped = before;
  for (int k = before + 1; k <= last; k++) {
    gr_rawgeti(L, list, k);
    gr_array *a = gr_l_test_any_array(L, -1);
    lua_pushvalue(L, -1);
    lua_rawget(L, kept);
    int stays = lua_toboolean(L, -1);
    lua_pop(L, 1);
    lua_pushnil(L);
    lua_rawseti(L, list, k);
    if (a && stays && around) lua_rawseti(L, list, ++s->scoped);
    else lua_pop(L, 1);
    if (!a || stays) continue;
    gr_array_settle(a, 1);
    gr_l_release(L, a);
  }
  lua_pop(L, 1);
}

/* gr.scope(f, ...): the results of f(...); when f raises, everything is released and the error goes on. */
static int l_scope(lua_State *L) {
  gr_l_state *s = gr_l_state_of(gr_l_context(L));
  const int before = s->scoped, outer = s->finalizing, now = gr_l_finalizing(L);
  if (!lua_isfunction(L, 1)) gr_l_argerror(L, 1, "function expected, got %s", gr_l_kind(L, 1));
  s->scopes++;
  s->finalizing = now;
  int failed = lua_pcall(L, lua_gettop(L) - 1, LUA_MULTRET, 0), results = lua_gettop(L);
  s->scopes--;
  s->finalizing = outer;
  luaL_checkstack(L, 10, "too many results");
  lua_newtable(L);
  lua_insert(L, 1);
  if (!failed) keep(L, results, 1);
  release_noted(L, s, before, 1, s->scopes > 0 && outer == now);
  lua_remove(L, 1);
  return failed ? lua_error(L) : results;
}

const gr_function gr_scope_functions[] = {{"scope", l_scope, 0}, {NULL, NULL, 0}};
