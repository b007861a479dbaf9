/*
** A host in C: a simulation owns its particles' heights, and a script looks at them every step, without a copy. Linked
** with libgpureduce.a (make embed, build/lua5.4/host_c), or with -DLOADS_MODULE for a host whose Lua loads the module.
*/
#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>
#include <stdio.h>
#include <stdlib.h>

#include "gpureduce.h"

#ifdef LOADS_MODULE
static const gpureduce_api *api; /* the module's symbols are its own: the table has its functions */
#define GR(function) api->function
#else
int luaopen_gpureduce(lua_State *);
#define GR(function) gpureduce_##function
#endif

static const char script[] =
    "function step(k)\n"
    "  heights:touch() -- the host has written them\n"
    "  print(('step %d: mean %.2f, highest %.2f'):format(k, heights:mean(), heights:max()))\n"
    "  return gr.compare(heights, '>', 4)\n"
    "end\n";

static void must(lua_State *L, int fine) {
  if (fine) return;
  fprintf(stderr, "host: %s\n", lua_gettop(L) ? lua_tostring(L, -1) : "failed");
  exit(1);
}

int main(void) {
  static float heights[5] = {0, 1, 2, 3, 4};
  const gpureduce_config config = {.size = sizeof config, .device = "cpu", .threads = 1, .bytes = 1 << 20};
  const gpureduce_memory memory = {.size = sizeof memory, .dtype = GPUREDUCE_F32, .data = heights, .length = 5};
  lua_State *L = luaL_newstate();
  luaL_openlibs(L);
  lua_pushlightuserdata(L, (void *)&config); /* read when the module opens */
  lua_setfield(L, LUA_REGISTRYINDEX, GPUREDUCE_CONFIG);
#ifdef LOADS_MODULE
  must(L, luaL_dostring(L, "gr = require 'gpureduce'") == 0);
  api = gpureduce_table(L, NULL);
  must(L, api != NULL);
#else
  lua_pushcfunction(L, luaopen_gpureduce);
  must(L, lua_pcall(L, 0, 1, 0) == 0);
  lua_setglobal(L, "gr");
#endif
  must(L, GR(push_memory)(L, &memory, 0) == GPUREDUCE_OK);
  lua_setglobal(L, "heights");
  must(L, luaL_dostring(L, script) == 0);
  for (int k = 1; k <= 3; k++) {
    for (int i = 0; i < 5; i++) heights[i] += 0.5f * (float)i;
    lua_getglobal(L, "step");
    lua_pushinteger(L, k);
    must(L, lua_pcall(L, 1, 1, 0) == 0);
    gpureduce_array *mask = GR(test)(L, -1); /* borrowed: valid while the value is on the stack */
    gpureduce_number above = {0};
    if (GR(reduce)("count", mask, NULL, NULL, &above) != GPUREDUCE_OK) return fprintf(stderr, "%s\n", GR(error)()), 1;
    printf("host: %lld of 5 are above 4\n", (long long)above.i);
    lua_pop(L, 1);
  }
  lua_close(L);
  return 0;
}
