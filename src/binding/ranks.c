/*
** Communicators as scripts see them: their ranks, what they send one another besides results, and parts of a length.
** How bytes travel is the table's affair, which the module gpureduce.mpi brings (comm.h).
*/
#include "src/binding/ranks.h"

#include <stdio.h>
#include <stdlib.h>
#include "src/binding/options.h"
#include "src/binding/packed.h"
#include "src/binding/parts.h"
#include "src/core/ranks/nodes.h"

static void let_go(gr_comm *comm) {
  if (comm->handle) comm->table->drop(comm->handle);
  free(comm->cards);
  free(comm->texts);
  free(comm->starts);
  *comm = (gr_comm){.rank = comm->rank, .size = comm->size};
}

/* A communicator that is closed until it has a handle. */
static gr_comm *push_closed(lua_State *L, const gr_comm_table *table) {
  gr_comm *comm = gr_newuserdata(L, sizeof *comm);
  *comm = (gr_comm){.table = table, .size = 1};
  luaL_setmetatable(L, GR_OWN(comm));
  return comm;
}

/* Room for as many ranks; 0: there is no memory. */
static int make_room_for(gr_comm *comm, int size) {
  comm->cards = calloc((size_t)size, sizeof *comm->cards);
  comm->texts = calloc((size_t)size, GR_CARD_TEXT);
  comm->starts = calloc(3 * (size_t)size + 2, sizeof *comm->starts);
  if (!comm->cards || !comm->texts || !comm->starts) return 0;
  comm->lengths = comm->starts + size + 1;
  comm->before = comm->lengths + size;
  comm->before[0] = -1;
  return 1;
}

static int push(lua_State *L, const gr_comm_table *table, void *(*hold)(void *with, int *rank, int *size), void *with) {
  gr_comm *comm = push_closed(L, table);
  comm->handle = hold(with, &comm->rank, &comm->size);
  if (comm->handle && make_room_for(comm, comm->size)) return 1;
  const int size = comm->size;
  let_go(comm);
  return luaL_error(L, "gpureduce: out of memory: a communicator of %d ranks", size);
}

static gr_comm *test_comm(lua_State *L, int i) { return gr_l_test_object(L, i, GR_OWN(comm)); }

gr_comm *gr_l_check_comm(lua_State *L, int arg) {
  gr_comm *comm = gr_l_check_object(L, arg, GR_OWN(comm));
  if (!comm->handle) gr_l_argerror(L, arg, "the communicator is closed");
  return comm;
}

gr_comm *gr_l_option_comm(lua_State *L, int arg) {
  if (!gr_l_push_option(L, arg, "comm")) return NULL;
  gr_comm *comm = test_comm(L, -1);
  if (!comm) gr_l_argerror(L, arg, "option 'comm': %s expected, got %s", GR_COMM_NAME, gr_l_kind(L, -1));
  if (!comm->handle) gr_l_argerror(L, arg, "option 'comm': the communicator is closed");
  return comm;
}

/* What to write for what does not go with 'comm'. */
static const struct {
  const char *option, *instead;
} refused[] = {
    {"rows", "rows lie whole on their ranks, so leave 'comm' out; with axis = 1 columns lie over all ranks"},
    {"axis",
     "columns of a transposed matrix lie whole on their ranks, so leave 'comm' out; with axis = 2 rows lie over all "
     "ranks"},
    {"rows' or 'axis", "rows lie whole on their ranks, so leave 'comm' out; columns go one by one, as m:column(k)"},
    {"segments", "segments lie whole on their ranks, so leave 'comm' out"},
    {"into", "every rank gets the result: put it there yourself, as in x:copy { into = y }"},
    {"at", "every rank gets the number: put it there yourself, as in y[k] = a:sum { comm = comm }"},
    {"op", "reduce the mask, as in a:compare('>', x):count { comm = comm }"},
    {"value", "reduce the mask, as in a:compare('>', x):count { comm = comm }"},
    {"kernel", "kernels by name are of one process"},
    {"weights", "weighted quantiles are of one process: comm:gather brings the arrays together"},
    {"shape", "the file's shape is that of all parts together"},
};

int gr_l_refuse_with_comm(lua_State *L, int arg, const char *other) {
  size_t k = 0;
  while (k < sizeof refused / sizeof refused[0] - 1 && strcmp(refused[k].option, other)) k++;
  return gr_l_argerror(L, arg, "option 'comm': is not served together with '%s': %s", other, refused[k].instead);
}

int gr_l_raise_alike(lua_State *L, gr_context *c, gr_status status) {
  gr_l_state_of(c)->alike = 1;
  if (status != GR_BAD) gr_l_raise(L, c, status, 1);
  return luaL_error(L, "gpureduce: %s", c->error);
}

int gr_l_stay_away(lua_State *L, gr_context *c, gr_comm *comm, int arg, gr_status status) {
  GR_TRY_RANKS(L, c, comm, arg, gr_ranks_meet(c, "", 0, 0, status));
  return gr_l_raise_alike(L, c, status); /* for the compiler: it has failed */
}

gr_array *gr_l_new_part(lua_State *L, gr_context *c, gr_comm *comm, const gr_array *beside, gr_dtype t, int64_t n) {
  if (!comm) return gr_l_new_beside(L, c, beside, t, n);
  gr_l_reserve_array(L, c, t, n);
  gr_array *a = gr_l_push_array(L);
  GR_TRY_BEFORE(L, c, comm, 1, NULL, NULL, gr_array_make_beside(c, beside, a, t, n));
  return a;
}

/* Before ranks meet: pushes f with the upvalues of the function at work, for push_alike. */
static int push_maker(lua_State *L, lua_CFunction f) {
  for (int k = 1; k <= 3; k++) lua_pushvalue(L, lua_upvalueindex(k));
  lua_pushcclosure(L, f, 3);
  return lua_gettop(L);
}

/* Pushes the value that the function at `maker` makes of `with`. Where it raises on one rank, all raise. */
static void push_alike(lua_State *L, gr_context *c, gr_comm *comm, int maker, void *with) {
  static const char own[] = "gpureduce: ";
  gr_status status = GR_OK;
  lua_pushvalue(L, maker);
  lua_pushlightuserdata(L, with);
  if (lua_pcall(L, 1, 1, 0) != 0) {
    const char *why = lua_type(L, -1) == LUA_TSTRING ? lua_tostring(L, -1) : "an error that is no text";
    status = gr_fail(c, GR_NO_MEMORY, "%s", why + (strncmp(why, own, sizeof own - 1) ? 0 : sizeof own - 1));
  }
  GR_TRY_RANKS(L, c, comm, 1, gr_ranks_agree(c, status));
}

/* ---- methods ---- */

/* comm:barrier(): returns when all ranks have called it. */
static int l_barrier(lua_State *L) {
  gr_context *c = gr_l_context(L);
  gr_comm *comm = gr_l_check_comm(L, 1);
  GR_TRY_RANKS(L, c, comm, 1, gr_ranks_meet(c, "comm:barrier", 0, 0, GR_OK));
  return 0;
}

/* comm:part(n, dtype): the first and the last position of this rank's part; all parts but the last end with leaves. */
static int l_part(lua_State *L) {
  const gr_comm *comm = gr_l_check_object(L, 1, GR_OWN(comm));
  const int64_t n = gr_l_check_length(L, 2);
  const gr_dtype t = gr_l_last_dtype(L, 3);
  const int64_t leaf = GR_LEAF(gr_size(t));
  lua_pushinteger(L, (lua_Integer)(gr_even_start(n, comm->size, comm->rank, leaf) + 1));
  lua_pushinteger(L, (lua_Integer)gr_even_start(n, comm->size, comm->rank + 1, leaf));
  return 2;
}

/* What becomes of a value that cannot be packed: all ranks hear of it. */
static gr_status unpacked(gr_context *c, const char *packed, const char *text) {
  return packed ? GR_OK : gr_fail(c, GR_BAD, "%s", text);
}

/*
** Room in the host's memory that is no value of Lua's: nothing that a finalizer could do happens between ranks' meeting
** and the end of what they send each other, and where memory is short, all ranks hear of it.
*/
static gr_status make_room(gr_context *c, gr_array *room, int64_t bytes, char **data) {
  gr_vec v = {0};
  gr_status status = gr_array_make(c, room, GR_U8, bytes);
  if (status == GR_OK) status = gr_array_write(room, GR_HOST, 1, &v);
  *data = (char *)(uintptr_t)v.data;
  return gr_ranks_agree(c, status);
}

/* The root's bytes to all: *to is where they are then, in room. */
static gr_status broadcast(gr_context *c, const char *from, size_t *bytes, int root, gr_status mine, gr_array *room,
                           char **to) {
  gr_comm *comm = c->comm;
  char what[64];
  snprintf(what, sizeof what, "comm:bcast from rank %d", root);
  gr_status status = gr_ranks_meet(c, what, (int64_t)*bytes, 0, mine);
  if (status != GR_OK) return status;
  *bytes = (size_t)gr_ranks_all(c);
  status = make_room(c, room, (int64_t)*bytes, to);
  if (status == GR_OK && comm->rank == root) memcpy(*to, from, *bytes);
  return status == GR_OK ? gr_ranks_moved(c, comm->table->broadcast(comm->handle, *to, (int64_t)*bytes, root)) : status;
}

/* Everybody's bytes, in room: *starts says where each rank's begin, counted from behind these numbers. */
static gr_status gather(gr_context *c, const char *packed, size_t bytes, gr_status mine, gr_array *room,
                        const int64_t **starts) {
  gr_comm *comm = c->comm;
  const int64_t head = (comm->size + 1) * (int64_t)sizeof *comm->starts;
  char *to;
  gr_status status = gr_ranks_meet(c, "comm:gather", (int64_t)bytes, 0, mine);
  if (status != GR_OK) return status;
  const int64_t all = gr_ranks_all(c);
  status = make_room(c, room, head + all, &to);
  if (status != GR_OK) return status;
  for (int r = 0; r < comm->size; r++) comm->lengths[r] = comm->starts[r + 1] - comm->starts[r];
  memcpy(to, comm->starts, (size_t)head);
  *starts = (const int64_t *)(void *)to;
  return gr_ranks_moved(c, comm->table->gather_parts(comm->handle, packed, to + head, comm->lengths));
}

/* What has come: the bytes of each rank's value, or of the root's. */
typedef struct arrived {
  const char *bytes;
  const int64_t *starts; /* count + 1 */
  int count;
} arrived;

/* A list of all values. */
static int push_values(lua_State *L) {
  const arrived *a = lua_touserdata(L, 1);
  lua_createtable(L, a->count, 0);
  for (int r = 0; r < a->count; r++) {
    gr_l_unpack(L, a->bytes + a->starts[r], (size_t)(a->starts[r + 1] - a->starts[r]));
    gr_rawseti(L, -2, r + 1);
  }
  return 1;
}

static int push_value(lua_State *L) {
  const arrived *a = lua_touserdata(L, 1);
  if (a->bytes) gr_l_unpack(L, a->bytes, (size_t)*a->starts);
  else lua_pushnil(L);
  return 1;
}

/* comm:bcast(value, root): the value of the rank root, 0 if it is not given, on all ranks. */
static int l_bcast(lua_State *L) {
  gr_context *c = gr_l_context(L);
  gr_comm *comm = gr_l_check_comm(L, 1);
  const int64_t root = lua_isnoneornil(L, 3) ? 0 : gr_l_check_int(L, 3);
  char text[128], *all = NULL;
  size_t bytes = 0;
  if (root < 0 || root >= comm->size)
    gr_l_argerror(L, 3, "rank 0 to %d expected, got %lld", comm->size - 1, (long long)root);
  lua_settop(L, 3);
  gr_array *room = gr_l_push_array(L);
  const int maker = push_maker(L, push_value);
  const char *packed = comm->rank == (int)root ? gr_l_pack(L, 2, &bytes, text) : "";
  const gr_status mine = unpacked(c, packed, text);
  GR_TRY_RANKS(L, c, comm, 2, broadcast(c, packed, &bytes, (int)root, mine, room, &all));
  const int64_t length = (int64_t)bytes;
  arrived a = {comm->rank == (int)root ? NULL : all, &length, 1};
  push_alike(L, c, comm, maker, &a);
  if (comm->rank == (int)root) lua_pushvalue(L, 2);
  return 1;
}

/* comm:gather(value): a list of all ranks' values, on each of them; [k] is of rank k - 1. */
static int l_gather(lua_State *L) {
  gr_context *c = gr_l_context(L);
  gr_comm *comm = gr_l_check_comm(L, 1);
  const int64_t *starts = NULL;
  char text[128];
  size_t bytes = 0;
  lua_settop(L, 2);
  gr_array *room = gr_l_push_array(L);
  const int maker = push_maker(L, push_values);
  const char *packed = gr_l_pack(L, 2, &bytes, text);
  const gr_status mine = unpacked(c, packed, text);
  GR_TRY_RANKS(L, c, comm, 2, gather(c, packed, bytes, mine, room, &starts));
  arrived a = {(const char *)(starts + comm->size + 1), starts, comm->size};
  push_alike(L, c, comm, maker, &a);
  return 1;
}

static gr_status split(gr_context *c, int colour, int key, gr_comm *part, gr_status mine) {
  const gr_comm *comm = c->comm;
  gr_status status = gr_ranks_meet(c, "comm:split", 0, 0, mine);
  if (status != GR_OK) return status;
  return gr_ranks_moved(c, comm->table->split(comm->handle, colour, key, &part->handle, &part->rank, &part->size));
}

/* comm:split(colour, key): a communicator of the ranks with this colour, in the order of their keys. */
static int l_split(lua_State *L) {
  gr_context *c = gr_l_context(L);
  gr_comm *comm = gr_l_check_comm(L, 1);
  const int64_t colour = gr_l_check_int(L, 2), key = lua_isnoneornil(L, 3) ? comm->rank : gr_l_check_int(L, 3);
  if (colour < 0 || colour > INT32_MAX)
    gr_l_argerror(L, 2, "colour of 0 to %d expected, got %lld", INT32_MAX, (long long)colour);
  if (key < INT32_MIN || key > INT32_MAX) gr_l_argerror(L, 3, "key of 32 bits expected, got %lld", (long long)key);
  gr_comm *part = push_closed(L, comm->table);
  /* It has no more ranks than this one. */
  const gr_status mine = make_room_for(part, comm->size)
                             ? GR_OK
                             : gr_fail(c, GR_NO_MEMORY, "out of memory: a communicator of up to %d ranks", comm->size);
  GR_TRY_RANKS(L, c, comm, 2, split(c, (int)colour, (int)key, part, mine));
  return 1;
}

static int l_gc(lua_State *L) {
  let_go(gr_l_check_object(L, 1, GR_OWN(comm)));
  return 0;
}

static int l_tostring(lua_State *L) {
  const gr_comm *comm = gr_l_check_object(L, 1, GR_OWN(comm));
  lua_pushfstring(L, GR_COMM_NAME " (rank %d of %d)", comm->rank, comm->size);
  return 1;
}

/* comm.rank, from 0, and comm.size; else a method, of those in the metatable. */
static int l_index(lua_State *L) {
  const gr_comm *comm = gr_l_check_object(L, 1, GR_OWN(comm));
  const char *key = lua_type(L, 2) == LUA_TSTRING ? lua_tostring(L, 2) : "";
  if (!strcmp(key, "rank")) return lua_pushinteger(L, comm->rank), 1;
  if (!strcmp(key, "size")) return lua_pushinteger(L, comm->size), 1;
  luaL_getmetatable(L, GR_OWN(comm));
  lua_pushliteral(L, "methods");
  lua_rawget(L, -2);
  lua_pushvalue(L, 2);
  lua_rawget(L, -2);
  return 1;
}

static const gr_function methods[] = {{"barrier", l_barrier, 0}, {"part", l_part, 0},   {"bcast", l_bcast, 0},
                                      {"gather", l_gather, 0},   {"split", l_split, 0}, {NULL, NULL, 0}};
static const gr_function metamethods[] = {{"__gc", l_gc, 0}, {"__tostring", l_tostring, 0}, {NULL, NULL, 0}};

static gr_context *instance(lua_State *L) {
  lua_getfield(L, LUA_REGISTRYINDEX, GR_OWN(instance));
  gr_context *c = *(gr_context **)lua_touserdata(L, -1);
  lua_pop(L, 1);
  return c;
}

static void placed(lua_State *L, int local) {
  gr_context *c = instance(L);
  if (c) c->local = local;
}

static void allowed(lua_State *L, const char *name) {
  const gr_context *c = instance(L);
  if (c && c->limits.safe) luaL_error(L, "gpureduce: '%s' is refused: gr.safe allows no ranks", name);
}

void gr_l_comm_metatable(lua_State *L) {
  static const gr_comm_exports exports = {GR_COMM_VERSION, push, allowed, placed};
  gr_l_make_metatable(L, GR_OWN(comm), methods, metamethods);
  luaL_getmetatable(L, GR_OWN(comm));
  lua_getfield(L, -1, "__index");
  lua_setfield(L, -2, "methods");
  gr_l_set_event(L, "__index", "comm", l_index, 0);
  lua_pop(L, 1);
  lua_pushlightuserdata(L, (void *)(uintptr_t)&exports);
  lua_setfield(L, LUA_REGISTRYINDEX, GR_COMM_EXPORTS);
}
