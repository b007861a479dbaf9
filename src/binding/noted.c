/* Arrays made in open scopes, by number. */
#include "src/binding/noted.h"

/* Weak, so that garbage among them is collected as ever. */
void gr_l_push_noted(lua_State *L) {
  lua_getfield(L, LUA_REGISTRYINDEX, GR_OWN(scope));
  if (!lua_isnil(L, -1)) return;
  lua_pop(L, 1);
  lua_newtable(L);
  lua_newtable(L);
  lua_pushliteral(L, "v");
  lua_setfield(L, -2, "__mode");
  lua_setmetatable(L, -2);
  lua_pushvalue(L, -1);
  lua_setfield(L, LUA_REGISTRYINDEX, GR_OWN(scope));
}

/*
** Whether a finalizer runs. Lua 5.4.4 and later say so; before that the collector looks stopped meanwhile, as it does
** when a script has stopped it; Lua 5.1 does not tell.
*/
int gr_l_finalizing(lua_State *L) {
#if LUA_VERSION_NUM >= 504 && LUA_VERSION_RELEASE_NUM >= 50404
  return lua_gc(L, LUA_GCCOUNT, 0) < 0;
#elif defined LUA_GCISRUNNING
  return !lua_gc(L, LUA_GCISRUNNING, 0);
#else
  return (void)L, 0;
#endif
}

/* What a finalizer makes is its own: it only happens to run while the function does. */
void gr_l_note_array(lua_State *L, gr_l_state *s) {
  if (gr_l_finalizing(L) != s->finalizing) return;
  gr_l_push_noted(L);
  lua_pushvalue(L, -2);
  lua_rawseti(L, -2, ++s->scoped);
  lua_pop(L, 1);
}
