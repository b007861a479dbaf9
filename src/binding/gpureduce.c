/* luaopen_gpureduce: the module table, the context in the registry, the parts. */
#include "src/binding/binding.h"

#include "src/binding/embedded.h"

#if defined(__GNUC__)
#define EXPORT __attribute__((visibility("default")))
#else
#define EXPORT
#endif

#define CONTEXT_NAME "gpureduce.context"
#define VERSION "gpureduce 0.1.0"

void gr_l_register(lua_State *L, gr_context *c, const gr_function *list) {
  for (; list->name; list++) {
    lua_pushlightuserdata(L, c);
    lua_pushstring(L, list->name);
    lua_pushinteger(L, list->number);
    lua_pushcclosure(L, list->f, 3);
    lua_setfield(L, -2, list->name);
  }
}

/*
** Run the module's Lua parts, each with the module and the table of all parts by name, and leave that table. A part
** uses another only when it is called, so their order does not matter.
*/
static void run_embedded(lua_State *L) {
  lua_newtable(L);
  for (const gr_embedded *e = gr_embedded_parts; e->name; e++) {
    if (luaL_loadbuffer(L, e->text, strlen(e->text), e->name) != 0) lua_error(L);
    lua_pushvalue(L, -3);
    lua_pushvalue(L, -3);
    lua_call(L, 2, 1);
    lua_setfield(L, -2, e->name);
  }
}

static int l_context_gc(lua_State *L) {
  gr_context **c = lua_touserdata(L, 1);
  if (*c) gr_context_drop(*c);
  *c = NULL;
  return 0;
}

/*
** The context is made before any array, so its finalizer runs after theirs; it also lives as long as a storage
** does. One per Lua state: a second require finds it in the registry.
*/
static gr_context *open_context(lua_State *L) {
  gr_context **c = gr_newuserdata(L, sizeof *c);
  *c = NULL;
  luaL_newmetatable(L, CONTEXT_NAME);
  lua_pushcfunction(L, l_context_gc);
  lua_setfield(L, -2, "__gc");
  lua_setmetatable(L, -2);
  lua_setfield(L, LUA_REGISTRYINDEX, CONTEXT_NAME ".instance");
  *c = gr_context_new();
  if (!*c) luaL_error(L, "gpureduce: out of memory");
  return *c;
}

EXPORT int luaopen_gpureduce(lua_State *L) {
  const gr_function *parts[] = {gr_array_functions, gr_make_functions, gr_reduce_functions, gr_histogram_functions,
                                gr_scan_functions, gr_file_functions, gr_device_functions};
  if (sizeof(lua_Number) != 8) return luaL_error(L, "gpureduce: needs a Lua whose numbers are doubles");
  gr_context *c = open_context(L);
  lua_newtable(L);
  for (size_t k = 0; k < sizeof parts / sizeof parts[0]; k++) gr_l_register(L, c, parts[k]);
  gr_l_array_metatable(L, c);
  lua_pushliteral(L, VERSION);
  lua_setfield(L, -2, "_VERSION");
  run_embedded(L);
  lua_getfield(L, -1, "histogram");
  lua_setfield(L, LUA_REGISTRYINDEX, GR_HISTOGRAM_NAME);
  lua_pop(L, 1);
  return 1;
}
