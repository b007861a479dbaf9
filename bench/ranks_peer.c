/* What bench/ranks.lua compares with: MPI_Allreduce of one double, called from Lua. gpureduce.mpi has started MPI. */
#include <lauxlib.h>
#include <lua.h>
#include <mpi.h>

/* allreduce(x): the sum of all ranks' x. */
static int l_allreduce(lua_State *L) {
  const double mine = luaL_checknumber(L, 1);
  double all = 0;
  MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  lua_pushnumber(L, all);
  return 1;
}

__attribute__((visibility("default"))) int luaopen_ranks_peer(lua_State *L);
int luaopen_ranks_peer(lua_State *L) {
  lua_pushcfunction(L, l_allreduce);
  return 1;
}
