/*
** What becomes of a host's communicator that scripts share, on any number of ranks: capi_mpi. The last line of rank 0
** says "ok". spec/ranks_spec.lua runs it.
*/
#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>
#include <mpi.h>
#include <stdio.h>
#include <string.h>

#include "gpureduce_mpi.h"

static int failures;

#define CHECK(what) \
  do { \
    if (!(what)) failures++, printf("%s:%d: %s\n", __FILE__, __LINE__, #what); \
  } while (0)
#define REFUSED(call, text) \
  do { \
    const char *why_ = (call); \
    if (!why_ || !strstr(why_, text)) failures++, printf("%s:%d: %s\n", __FILE__, __LINE__, why_ ? why_ : "pushed"); \
  } while (0)

/* What a script makes of the communicator on top, which it keeps under that name. */
static int says(lua_State *L, const char *text, const char *expected) {
  if (luaL_loadstring(L, text) != 0) return 0;
  lua_insert(L, -2);
  const int failed = lua_pcall(L, 1, 1, 0);
  const char *got = lua_tostring(L, -1);
  const int right = got && strstr(got, expected) != NULL && !failed;
  if (!right) printf("'%s' expected, got '%s'\n", expected, got ? got : "nothing");
  lua_settop(L, 0);
  return right;
}

static int handled; /* errors that went to the host's own handler */
static void handle(MPI_Comm *comm, int *code, ...) {
  (void)comm, (void)code;
  handled++;
}

int main(int argc, char **argv) {
  lua_State *L = luaL_newstate();
  MPI_Comm mine, odd, group;
  MPI_Errhandler handler, still;
  int rank, size;
  char text[64];
  luaL_openlibs(L);
  REFUSED(gpureduce_mpi_push(L, MPI_COMM_WORLD), "not loaded");
  if (luaL_dostring(L, "require 'gpureduce.mpi'") != 0) return printf("%s\n", lua_tostring(L, -1)), 1;
  lua_settop(L, 0);
  REFUSED(gpureduce_mpi_push(L, MPI_COMM_WORLD), "not initialized");
  CHECK(lua_gettop(L) == 0);
  MPI_Init(&argc, &argv);
  MPI_Comm_dup(MPI_COMM_WORLD, &mine);
  MPI_Comm_rank(mine, &rank);
  MPI_Comm_size(mine, &size);
  MPI_Comm_create_errhandler(handle, &handler);
  MPI_Comm_set_errhandler(mine, handler);
  REFUSED(gpureduce_mpi_push(L, MPI_COMM_NULL), "MPI_COMM_NULL");

  /* The same ranks, the same copy each time, and the host's handler stays its own. */
  snprintf(text, sizeof text, "%d %d %d", rank, size, size * (size + 1) / 2);
  for (int k = 0; k < 3; k++) {
    CHECK(gpureduce_mpi_push(L, mine) == NULL);
    CHECK(says(L, "local gr = require 'gpureduce' kept = ... local c = kept\n"
                  "return c.rank .. ' ' .. c.size .. ' ' .. gr.full(1, c.rank + 1, 'i64'):sum { comm = c }", text));
  }
  MPI_Comm_get_errhandler(mine, &still);
  CHECK(still == handler);

  /* Messages of the host's do not meet those of the library. */
  int sent = rank, got = -1;
  MPI_Request request;
  MPI_Irecv(&got, 1, MPI_INT, (rank + size - 1) % size, MPI_ANY_TAG, mine, &request);
  CHECK(gpureduce_mpi_push(L, mine) == NULL);
  CHECK(says(L, "local c = ... c:barrier() return #c:gather(c.rank) .. ''", ""));
  MPI_Send(&sent, 1, MPI_INT, (rank + 1) % size, 0, mine);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  CHECK(got == (rank + size - 1) % size);

  /* A long message of the host's moves on while a script waits for the rank that receives it first. */
  static char from[8 << 20], to[8 << 20];
  MPI_Isend(from, sizeof from, MPI_BYTE, (rank + 1) % size, 1, mine, &request);
  if (rank) MPI_Recv(to, sizeof to, MPI_BYTE, rank - 1, 1, mine, MPI_STATUS_IGNORE);
  CHECK(gpureduce_mpi_push(L, mine) == NULL);
  CHECK(says(L, "local gr, c = require 'gpureduce', ... return gr.ones(10):sum { comm = c } .. ''", ""));
  if (!rank) MPI_Recv(to, sizeof to, MPI_BYTE, size - 1, 1, mine, MPI_STATUS_IGNORE);
  MPI_Wait(&request, MPI_STATUS_IGNORE);

  /* The world is that of scripts, too. */
  CHECK(gpureduce_mpi_push(L, MPI_COMM_WORLD) == NULL);
  CHECK(says(L, "local c = ... return c.rank + require 'gpureduce.mpi'.world().rank .. ''", ""));

  /* Freed by the host while a script has it; another one takes its place. */
  MPI_Comm_split(mine, rank % 2, rank, &odd);
  CHECK(gpureduce_mpi_push(L, odd) == NULL);
  lua_setglobal(L, "part");
  MPI_Comm_free(&odd);
  lua_pushnil(L);
  CHECK(says(L, "local fine, why = pcall(part.barrier, part) return tostring(fine) .. why",
             "falsegpureduce: ranks: MPI: the program has freed the communicator"));
  lua_pushnil(L);
  CHECK(says(L, "local gr = require 'gpureduce' local fine, why = pcall(gr.sum, gr.ones(3), { comm = part })\n"
                "return tostring(fine) .. why", "the program has freed the communicator"));
  CHECK(gpureduce_mpi_push(L, mine) == NULL);
  CHECK(says(L, "part = ... part:barrier() return 'fine'", "fine"));
  if (size > 1) { /* one between two groups is none */
    MPI_Comm_split(mine, rank == 0, rank, &group);
    MPI_Intercomm_create(group, 0, mine, rank == 0 ? 1 : 0, 5, &odd);
    REFUSED(gpureduce_mpi_push(L, odd), "between two groups");
    MPI_Comm_free(&odd);
    MPI_Comm_free(&group);
  }
  CHECK(gpureduce_mpi_push(L, MPI_COMM_SELF) == NULL); /* which MPI_Finalize frees itself */
  CHECK(says(L, "self = ... return self.size .. ''", "1"));
  CHECK(handled == 0);
  int all = 0;
  MPI_Reduce(&failures, &all, 1, MPI_INT, MPI_SUM, 0, mine);
  MPI_Errhandler_free(&still);
  MPI_Errhandler_free(&handler);
  MPI_Comm_free(&mine); /* while scripts have it */
  MPI_Finalize();
  REFUSED(gpureduce_mpi_push(L, MPI_COMM_WORLD), "has been finalized");
  lua_pushnil(L);
  CHECK(says(L, "local fine, why = pcall(part.barrier, part) return tostring(fine) .. why", "it has been finalized"));
  lua_close(L);
  if (rank == 0) puts(all || failures ? "failed" : "ok");
  return failures != 0;
}
