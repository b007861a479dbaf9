/* What keeps one source clean for Lua 5.1, LuaJIT, 5.2, 5.3, 5.4 and 5.5. */
#ifndef GR_COMPAT_H
#define GR_COMPAT_H

#include <lauxlib.h>
#include <lua.h>

#if LUA_VERSION_NUM < 502
#define lua_rawlen lua_objlen
#define luaL_setmetatable(L, name) (luaL_getmetatable(L, name), lua_setmetatable(L, -2))
#define gr_push_globals(L) lua_pushvalue(L, LUA_GLOBALSINDEX)
/* The table at the top, which is popped, has the globals of the chunk at f. */
#define gr_set_environment(L, f) lua_setfenv(L, f)
#else
#define gr_push_globals(L) lua_pushglobaltable(L)
#define gr_set_environment(L, f) lua_setupvalue(L, f, 1)
#endif

#if LUA_VERSION_NUM < 503
static inline int lua_isinteger(lua_State *L, int i) { return (void)L, (void)i, 0; }
/* From Lua 5.3 on rawgeti returns the type, and takes any integer. */
static inline int gr_rawgeti(lua_State *L, int t, lua_Integer k) { return lua_rawgeti(L, t, (int)k), lua_type(L, -1); }
static inline void gr_rawseti(lua_State *L, int t, lua_Integer k) { lua_rawseti(L, t, (int)k); }
#else
#define gr_rawgeti lua_rawgeti
#define gr_rawseti lua_rawseti
#endif

#if LUA_VERSION_NUM < 504
#define gr_newuserdata lua_newuserdata
#else
#define gr_newuserdata(L, bytes) lua_newuserdatauv(L, bytes, 0)
#endif

#endif
