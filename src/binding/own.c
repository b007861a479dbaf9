#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1 /* dladdr */
#endif
#include "src/binding/own.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>

#define COPIES_NAME "gpureduce.copies" /* in the registry, for all copies: a list of their files */

char gr_own_names[GR_OWN_COUNT][GR_OWN_ROOM];

static void choose(void) {
  static const char *const names[] = {
#define GR_X(name) #name,
      GR_OWN_NAMES(GR_X)
#undef GR_X
  };
  const unsigned long long address = (uintptr_t)gr_own_names; /* no two copies have the same */
  for (int k = 0; k < GR_OWN_COUNT; k++) snprintf(gr_own_names[k], GR_OWN_ROOM, "gpureduce.%s@%llx", names[k], address);
}

void gr_l_choose_names(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, choose);
}

/* The list, made when it is wanted. */
static void push_list(lua_State *L) {
  lua_getfield(L, LUA_REGISTRYINDEX, COPIES_NAME);
  if (lua_istable(L, -1)) return;
  lua_pop(L, 1);
  lua_newtable(L);
  lua_pushvalue(L, -1);
  lua_setfield(L, LUA_REGISTRYINDEX, COPIES_NAME);
}

void gr_l_push_other_copies(lua_State *L) {
  Dl_info found;
  const char *file = dladdr(gr_own_names, &found) && found.dli_fname ? found.dli_fname : "an unknown file";
  push_list(L);
  const int list = lua_gettop(L), before = (int)lua_rawlen(L, list);
  lua_pushstring(L, file);
  lua_rawseti(L, list, before + 1);
  lua_pushnil(L);
  if (before) {
    lua_rawgeti(L, list, 1);
    lua_pushfstring(
        L, "copy %d of this module in this Lua state is %s, the first is %s: neither takes arrays of the other",
        before + 1, file, lua_tostring(L, -1));
  }
  lua_replace(L, list);
  lua_settop(L, list);
}

void gr_l_push_copies(lua_State *L) {
  lua_pushliteral(L, "");
  push_list(L);
  const int list = lua_gettop(L), count = (int)lua_rawlen(L, list);
  for (int k = 1; k <= count; k++) {
    lua_pushvalue(L, list - 1);
    if (k > 1) lua_pushliteral(L, ", ");
    lua_rawgeti(L, list, k);
    lua_concat(L, k > 1 ? 3 : 2);
    lua_replace(L, list - 1);
  }
  lua_settop(L, list - 1);
}

int gr_l_is_of_other_copy(lua_State *L, int i, const char *name) {
  const size_t length = strlen(name);
  int found = 0, same = 0;
  if (lua_type(L, i) != LUA_TUSERDATA || !lua_getmetatable(L, i)) return 0;
  for (int k = 0; k < GR_OWN_COUNT && !same; k++) {
    if (gr_own_length(gr_own_names[k]) != length || strncmp(gr_own_names[k], name, length) != 0) continue;
    found = 1;
    luaL_getmetatable(L, gr_own_names[k]);
    same = lua_rawequal(L, -1, -2);
    lua_pop(L, 1);
  }
  lua_pop(L, 1);
  return found && !same;
}
