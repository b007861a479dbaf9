/*
** A host in C with ranks of its own: it has called MPI_Init, owns a communicator and a part of the particles on each
** rank, and a script of it asks about all of them. Any number of ranks prints the same digits: make mpi, then
** mpirun -n 3 build/lua5.4/host_mpi.
*/
#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "gpureduce.h"
#include "gpureduce_mpi.h"

#define ALL 100003 /* particles */

static const char script[] =
    "local gr, ranks = require 'gpureduce', ...\n"
    "local n = gr.full(1, #heights, 'i64'):sum { comm = ranks }\n"
    "local mean, exact = heights:mean { comm = ranks }, heights:sum { comm = ranks, exact = true }\n"
    "local middle = heights:median { comm = ranks }\n"
    "local line = ('%d particles: mean %.17g, sum %.17g, median %.9g'):format(n, mean, exact, middle)\n"
    "if ranks.rank == 0 then print(line) end";

static void must(const char *why) {
  if (!why) return;
  fprintf(stderr, "host: %s\n", why);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static const char *failed(lua_State *L, int status) { return status ? lua_tostring(L, -1) : NULL; }

int main(int argc, char **argv) {
  MPI_Comm mine; /* of the simulation: never freed, and its messages never seen, by the library */
  int rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_split(MPI_COMM_WORLD, 0, 0, &mine);
  MPI_Comm_rank(mine, &rank);
  MPI_Comm_size(mine, &size);
  const int first = (int)((long)ALL * rank / size), end = (int)((long)ALL * (rank + 1) / size);
  float *heights = malloc((size_t)(end - first) * sizeof *heights);
  for (int k = first; k < end; k++) heights[k - first] = 1.0f / (float)(k + 1);

  const gpureduce_memory memory = {sizeof memory, GPUREDUCE_F32, .data = heights, .length = end - first};
  lua_State *L = luaL_newstate();
  luaL_openlibs(L);
  must(failed(L, luaL_dostring(L, "require 'gpureduce.mpi'")));
  const gpureduce_api *api = gpureduce_table(L, NULL);
  must(api ? NULL : "no table");
  must(api->push_memory(L, &memory, 0) == GPUREDUCE_OK ? NULL : api->error());
  lua_setglobal(L, "heights");
  must(failed(L, luaL_loadstring(L, script)));
  must(gpureduce_mpi_push(L, mine));
  must(failed(L, lua_pcall(L, 1, 0, 0)));
  lua_close(L);
  free(heights);
  MPI_Comm_free(&mine);
  MPI_Finalize();
  return 0;
}
