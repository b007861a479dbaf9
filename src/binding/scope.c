/* gr.scope(f, ...): arrays that are made while f runs are released at its end, but those that it returns. */
#include "src/binding/when.h"

#define SCOPE_NAME "gpureduce.scope"

/* Arrays made in open scopes, by number; weak, so that garbage among them is collected as ever. */
static void push_list(lua_State *L) {
  lua_getfield(L, LUA_REGISTRYINDEX, SCOPE_NAME);
  if (!lua_isnil(L, -1)) return;
  lua_pop(L, 1);
  lua_newtable(L);
  lua_newtable(L);
  lua_pushliteral(L, "v");
  lua_setfield(L, -2, "__mode");
  lua_setmetatable(L, -2);
  lua_pushvalue(L, -1);
  lua_setfield(L, LUA_REGISTRYINDEX, SCOPE_NAME);
}

void gr_l_note_array(lua_State *L, gr_context *c) {
  push_list(L);
  lua_pushvalue(L, -2);
  lua_rawseti(L, -2, ++c->scoped);
  lua_pop(L, 1);
}

/* Enter the arrays in the value at i into the table kept: itself, in tables (histograms are some) and in futures. */
static void keep(lua_State *L, int i, int kept) {
  luaL_checkstack(L, 6, "returned tables are too deep");
  if (gr_l_push_future_values(L, i)) {
    keep(L, lua_gettop(L), kept);
    lua_pop(L, 1);
    return;
  }
  int table = lua_istable(L, i);
  if (!table && !gr_l_test_array(L, i)) return;
  lua_pushvalue(L, i);
  lua_rawget(L, kept);
  int seen = !lua_isnil(L, -1);
  lua_pop(L, 1);
  if (seen) return;
  lua_pushvalue(L, i);
  lua_pushboolean(L, 1);
  lua_rawset(L, kept);
  if (!table) return;
  lua_pushnil(L);
  while (lua_next(L, i)) {
    keep(L, lua_gettop(L), kept);
    lua_pop(L, 1);
  }
}

/* Release what was noted after before and is not kept; the rest belongs to the scope around this one. */
static void release_noted(lua_State *L, gr_context *c, int before, int kept) {
  int last = c->scoped, list;
  push_list(L);
  list = lua_gettop(L);
  c->scoped = before;
  for (int k = before + 1; k <= last; k++) {
    gr_rawgeti(L, list, k);
    gr_array *a = gr_l_test_array(L, -1);
    lua_pushvalue(L, -1);
    lua_rawget(L, kept);
    int stays = lua_toboolean(L, -1);
    lua_pop(L, 1);
    lua_pushnil(L);
    lua_rawseti(L, list, k);
    if (a && stays && c->scopes > 0) lua_rawseti(L, list, ++c->scoped);
    else lua_pop(L, 1);
    if (a && !stays) gr_l_release(L, a);
  }
  lua_pop(L, 1);
}

/* gr.scope(f, ...): the results of f(...); when f raises, everything is released and the error goes on. */
static int l_scope(lua_State *L) {
  gr_context *c = gr_l_context(L);
  int before = c->scoped;
  if (!lua_isfunction(L, 1)) gr_l_argerror(L, 1, "function expected, got %s", gr_l_kind(L, 1));
  c->scopes++;
  int failed = lua_pcall(L, lua_gettop(L) - 1, LUA_MULTRET, 0), results = lua_gettop(L);
  c->scopes--;
  lua_newtable(L);
  for (int k = 1; k <= results && !failed; k++) keep(L, k, results + 1);
  release_noted(L, c, before, results + 1);
  lua_settop(L, results);
  return failed ? lua_error(L) : results;
}

const gr_function gr_scope_functions[] = {{"scope", l_scope, 0}, {NULL, NULL, 0}};
