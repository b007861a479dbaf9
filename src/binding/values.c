/* Single elements between Lua and memory. */
#include <stdio.h>

#include "src/binding/values.h"

gr_number gr_l_to_number(lua_State *L, int i) {
  gr_number x = {.integer = lua_isinteger(L, i), .f = lua_tonumber(L, i)};
  x.whole = gr_l_to_int64(L, i, &x.i);
  return x;
}

const char *gr_l_put(lua_State *L, int i, gr_dtype t, void *p, char text[96]) {
  if (lua_type(L, i) != LUA_TNUMBER) return snprintf(text, 96, "number expected, got %s", luaL_typename(L, i)), text;
  const gr_number x = gr_l_to_number(L, i);
  return gr_element_store(t, p, &x, text);
}

void gr_l_push_value(lua_State *L, const gr_value *r, int k) {
  if (r->is_float) lua_pushnumber(L, r->v[k].f);
  else lua_pushinteger(L, (lua_Integer)r->v[k].i);
}

int gr_l_push_result(lua_State *L, gr_op op, const gr_value *r) {
  if (gr_ops[op].floats == GR_GIVES_BOOL) return lua_pushboolean(L, r->v[0].i != 0), 1;
  gr_l_push_value(L, r, 0);
  if (op != GR_OP_minmax) return 1;
  gr_l_push_value(L, r, 1);
  return 2;
}

void gr_l_push_element(lua_State *L, gr_dtype t, const void *p) {
  gr_value r = gr_element_get(t, p);
  gr_l_push_value(L, &r, 0);
}

gr_value gr_l_check_value(lua_State *L, int arg, gr_dtype t) {
  char element[8], text[96];
  const char *why = gr_l_put(L, arg, t, element, text);
  if (why && gr_l_is_dtype(L, arg)) why = "number expected, got string (a dtype comes after the numbers)";
  if (why) gr_l_argerror(L, arg, "%s", why);
  return gr_element_get(t, element);
}

void gr_l_set_text(lua_State *L, const char *key, const char *text) {
  if (!text) return;
  lua_pushstring(L, text);
  lua_setfield(L, -2, key);
}

void gr_l_set_whole(lua_State *L, const char *key, int64_t x) {
  lua_pushinteger(L, (lua_Integer)x);
  lua_setfield(L, -2, key);
}
