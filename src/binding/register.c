#include "src/binding/register.h"

#include <string.h>

void gr_l_register(lua_State *L, const gr_function *list) {
  for (; list->name; list++) {
    lua_getfield(L, LUA_REGISTRYINDEX, GR_OWN(instance));
    lua_pushstring(L, list->name);
    lua_pushinteger(L, list->number);
    lua_pushcclosure(L, list->f, 3);
    lua_setfield(L, -2, list->name);
  }
}

void gr_l_hide_metatable(lua_State *L, const char *name) {
  lua_pushlstring(L, name, gr_own_length(name));
  lua_setfield(L, -2, "__name");
  lua_pushlstring(L, name, gr_own_length(name));
  lua_setfield(L, -2, "__metatable");
}

void gr_l_make_metatable(lua_State *L, const char *name, const gr_function *methods, const gr_function *meta) {
  luaL_newmetatable(L, name);
  gr_l_hide_metatable(L, name);
  gr_l_register(L, meta);
  lua_newtable(L);
  gr_l_register(L, methods);
  lua_setfield(L, -2, "__index");
  lua_pop(L, 1);
}

void gr_l_set_event(lua_State *L, const char *event, const char *name, lua_CFunction f, lua_Integer number) {
  const gr_function list[] = {{name, f, number}, {NULL, NULL, 0}};
  lua_newtable(L);
  gr_l_register(L, list);
  lua_getfield(L, -1, name);
  lua_setfield(L, -3, event);
  lua_pop(L, 1);
}

/* In the order of the alphabet: that of a table changes from one process to the next. */
void gr_l_list_functions(lua_State *L, int t, int count, const char *names[GR_NAMES]) {
  const int first = count;
  lua_pushnil(L);
  while (count < GR_NAMES - 1 && lua_next(L, t)) {
    const char *name = lua_type(L, -2) == LUA_TSTRING && lua_isfunction(L, -1) ? lua_tostring(L, -2) : NULL;
    int k = count;
    lua_pop(L, 1);
    if (!name) continue;
    for (; k > first && strcmp(name, names[k - 1]) < 0; k--) names[k] = names[k - 1];
    names[k] = name;
    count++;
  }
  names[count] = NULL;
}
