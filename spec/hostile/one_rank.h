/*
** A communicator of one rank for host.c: what src/mpi/mpi.c brings where there is MPI, so that calls over ranks can be
** made where every allocation may fail. With one rank everything that is sent is its own. Its handles are memory, so
** that LeakSanitizer knows of each that nobody has dropped.
*/
#include <lauxlib.h>
#include <lua.h>
#include <stdlib.h>
#include <string.h>

#include "src/binding/comm.h"

static int one_gather(void *handle, const void *mine, void *all, int64_t bytes) {
  (void)handle;
  memcpy(all, mine, (size_t)bytes);
  return 0;
}

static int one_gather_parts(void *handle, const void *mine, void *all, const int64_t *bytes) {
  return one_gather(handle, mine, all, bytes[0]);
}

/* Nobody is there to send anything to: any message is a fault. */
static int one_post(void *handle, const gr_message *sent, int64_t sends, const gr_message *expected, int64_t receipts) {
  (void)handle, (void)sent, (void)expected;
  return sends || receipts;
}

static int one_await(void *handle) { return (void)handle, 0; }

static int one_add(void *handle, uint64_t *values, int64_t count) { return (void)handle, (void)values, (void)count, 0; }

static int one_broadcast(void *handle, void *data, int64_t bytes, int root) {
  (void)handle, (void)data, (void)bytes;
  return root != 0;
}

static int one_barrier(void *handle) { return (void)handle, 0; }

static int one_split(void *handle, int colour, int key, void **part, int *rank, int *size) {
  (void)handle, (void)colour, (void)key;
  *part = malloc(1);
  if (!*part) return 1;
  *rank = 0;
  *size = 1;
  return 0;
}

static void one_drop(void *handle) { free(handle); }
static void one_words(int code, char *text, size_t room) { snprintf(text, room, "one rank: %d", code); }

static void *one_hold(void *unused, int *rank, int *size) {
  (void)unused;
  *rank = 0;
  *size = 1;
  return malloc(1);
}

/* one_rank(): the communicator. The module must be loaded. */
static int l_one_rank(lua_State *L) {
  /* Devices of one rank are joined with none. */
  static const gr_comm_table table = {.version = GR_COMM_VERSION,
                                      .gather = one_gather,
                                      .gather_parts = one_gather_parts,
                                      .post = one_post,
                                      .await = one_await,
                                      .add = one_add,
                                      .broadcast = one_broadcast,
                                      .barrier = one_barrier,
                                      .split = one_split,
                                      .drop = one_drop,
                                      .words = one_words};
  lua_getfield(L, LUA_REGISTRYINDEX, GR_COMM_EXPORTS);
  const gr_comm_exports *exports = lua_touserdata(L, -1);
  if (!exports) return luaL_error(L, "the module is not loaded");
  return exports->push(L, &table, one_hold, NULL);
}
