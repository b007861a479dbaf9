/*
** luaopen_gpureduce_mpi: communicators of MPI for the module gpureduce, which knows nothing of MPI. This one knows
** nothing of arrays: it moves bytes and adds integers, as the table of src/core/ranks/comm.h says.
*/
#include <limits.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/binding/comm.h"
#include "src/mpi/nccl.h"
#include "src/mpi/shared.h"
#include "include/gpureduce_mpi.h"

#if defined(__GNUC__)
#define EXPORT __attribute__((visibility("default")))
#else
#define EXPORT
#endif

#define PIECE (1 << 30) /* bytes of one call of MPI, which counts by int */

/* The copy of a communicator of the host's, which is gone (MPI_COMM_NULL) when the host has freed that. */
typedef struct copy {
  MPI_Comm comm;
  int refs, local; /* local: this rank among those of its machine */
  gr_shared *shared;
} copy;

typedef struct communicator {
  MPI_Comm own; /* where there is no copy */
  int broken;   /* what MPI failed with in the midst of an exchange: messages of it may still come */
  copy *copy;
  gr_shared *shared; /* the copy's or the world's, else its own (owns); NULL: there is none */
  int rank, size, owns;
  int *counts, *places;          /* of each rank, for MPI_Allgatherv */
  MPI_Request few[8], *requests; /* of messages under way; NULL: there is none but perhaps the next */
  gr_message alone;              /* which MPI receives by itself, without a request; bytes 0: it does not */
  int received, under_way;       /* how many of them are received; how many there are */
  gr_nccl_card *cards;           /* of each rank */
  void *joined;                  /* NCCL's communicator of the ranks' devices, which stays as MPI's does */
} communicator;

static int at_most(int64_t left) { return left < PIECE ? (int)left : PIECE; }

/* Calling MPI with what is gone would end the process. */
enum { OVER = -1, FREED = -2 };
static int look(const communicator *h, MPI_Comm *comm) {
  int over = 0;
  *comm = h->copy ? h->copy->comm : h->own;
  if (MPI_Finalized(&over) != MPI_SUCCESS || over) return OVER;
  return *comm == MPI_COMM_NULL ? FREED : h->broken;
}

/* ---- the table ---- */

static int broadcast(void *handle, void *data, int64_t bytes, int root) {
  MPI_Comm comm;
  int code = look(handle, &comm);
  for (char *at = data; bytes > 0 && code == MPI_SUCCESS; bytes -= PIECE, at += PIECE)
    code = MPI_Bcast(at, at_most(bytes), MPI_BYTE, root, comm);
  return code;
}

static int gather_parts(void *handle, const void *mine, void *all, const int64_t *bytes) {
  const communicator *h = handle;
  int64_t total = 0;
  MPI_Comm comm;
  int code = look(h, &comm);
  if (code != MPI_SUCCESS) return code;
  for (int r = 0; r < h->size; r++) total += bytes[r];
  if (total < INT_MAX) {
    for (int r = 0, at = 0; r < h->size; at += (int)bytes[r++]) h->counts[r] = (int)bytes[r], h->places[r] = at;
    return MPI_Allgatherv(mine, h->counts[h->rank], MPI_BYTE, all, h->counts, h->places, MPI_BYTE, comm);
  }
  char *at = all;
  for (int r = 0; r < h->size && code == MPI_SUCCESS; at += bytes[r++]) {
    if (r == h->rank) memcpy(at, mine, (size_t)bytes[r]);
    code = broadcast(handle, at, bytes[r], r);
  }
  return code;
}

static int gather_by(gr_shared *shared, MPI_Comm comm, const void *mine, void *all, int64_t bytes) {
  if (shared && bytes <= GR_SHARED_GATHER) return gr_shared_gather(shared, comm, mine, all, bytes);
  return MPI_Allgather(mine, (int)bytes, MPI_BYTE, all, (int)bytes, MPI_BYTE, comm);
}

static int gather(void *handle, const void *mine, void *all, int64_t bytes) {
  MPI_Comm comm;
  const int code = look(handle, &comm);
  return code != MPI_SUCCESS ? code : gather_by(((communicator *)handle)->shared, comm, mine, all, bytes);
}

/*
** Ends what an exchange has begun before MPI failed in it: other ranks may have failed, too, and never send what is
** waited for. What is sent lies in memory that the caller takes back, and cannot be called back everywhere: a rank
** that gets none of it within a second ends all of them.
*/
static void give_up(MPI_Comm comm, MPI_Request *received, int receipts, MPI_Request *sent, int sends) {
  const double end = MPI_Wtime() + 1;
  int done = 0;
  for (int k = 0; k < receipts; k++)
    if (received[k] != MPI_REQUEST_NULL) MPI_Cancel(&received[k]);
  MPI_Waitall(receipts, received, MPI_STATUSES_IGNORE);
  while (MPI_Testall(sends, sent, &done, MPI_STATUSES_IGNORE) == MPI_SUCCESS && !done && MPI_Wtime() < end) usleep(100);
  if (done) return;
  fputs("gpureduce.mpi: MPI has failed between messages, which ends all ranks\n", stderr);
  fflush(stderr);
  MPI_Abort(comm, 1);
}

/* The messages under way have come to that. */
static int settle(communicator *h, MPI_Comm comm, int code) {
  if (code != MPI_SUCCESS)
    give_up(comm, h->requests, h->received, h->requests + h->received, h->under_way - h->received);
  if (h->requests != h->few) free(h->requests);
  h->requests = NULL;
  h->under_way = h->received = 0;
  return h->broken = code;
}

/* All messages at once; those that MPI has in pieces, if they are long, which arrive in their order. */
static int post(void *handle, const gr_message *sent, int64_t sends, const gr_message *expected, int64_t receipts) {
  communicator *h = handle;
  gr_shared *shared = h->shared;
  int64_t most = 0, own = 0;
  MPI_Comm comm;
  int code = look(handle, &comm);
  if (code != MPI_SUCCESS) return code;
  for (int64_t k = 0; k < sends; k++)
    if (!(shared && gr_shared_put(shared, &sent[k]))) most += sent[k].bytes / PIECE + 1;
  for (int64_t k = 0; k < receipts; k++)
    if (!(shared && gr_shared_expect(shared, &expected[k]))) own += expected[k].bytes / PIECE + 1;
  if (most == 0 && receipts == 1 && own == 1) return h->alone = *expected, code;
  most += own;
  if (most == 0) return MPI_SUCCESS;
  h->requests = most <= 8 ? h->few : malloc((size_t)most * sizeof *h->requests);
  if (!h->requests) return settle(h, comm, MPI_ERR_NO_MEM); /* letters are on their way */
  for (int64_t k = 0; k < receipts + sends && code == MPI_SUCCESS; k++) {
    const gr_message *p = k < receipts ? &expected[k] : &sent[k - receipts];
    if (shared && (k < receipts ? gr_shared_comes(shared, p) : gr_shared_went(shared, p))) continue;
    char *at = p->data;
    for (int64_t left = p->bytes; left > 0 && code == MPI_SUCCESS; left -= PIECE, at += PIECE) {
      MPI_Request *r = &h->requests[h->under_way];
      code = k < receipts ? MPI_Irecv(at, at_most(left), MPI_BYTE, p->peer, 0, comm, r)
                          : MPI_Isend(at, at_most(left), MPI_BYTE, p->peer, 0, comm, r);
      h->under_way += code == MPI_SUCCESS;
      h->received += code == MPI_SUCCESS && k < receipts;
    }
  }
  return code == MPI_SUCCESS ? code : settle(h, comm, code);
}

static int await(void *handle) {
  communicator *h = handle;
  MPI_Comm comm;
  const gr_message alone = h->alone;
  int code = look(handle, &comm);
  h->alone.bytes = 0;
  if (h->shared && code == MPI_SUCCESS) code = h->broken = gr_shared_take(h->shared, comm);
  if (alone.bytes && code == MPI_SUCCESS)
    return h->broken = MPI_Recv(alone.data, (int)alone.bytes, MPI_BYTE, alone.peer, 0, comm, MPI_STATUS_IGNORE);
  if (!h->requests) return code;
  if (code == MPI_SUCCESS) code = MPI_Waitall(h->under_way, h->requests, MPI_STATUSES_IGNORE);
  return settle(h, comm, code);
}

static int add(void *handle, uint64_t *values, int64_t count) {
  const int most = PIECE / 8;
  MPI_Comm comm;
  int code = look(handle, &comm);
  for (; count > 0 && code == MPI_SUCCESS; count -= most, values += most)
    code = MPI_Allreduce(MPI_IN_PLACE, values, count < most ? (int)count : most, MPI_UINT64_T, MPI_SUM, comm);
  return code;
}

static int join(void *handle, const uint8_t identity[GR_COMM_IDENTITY]) {
  communicator *h = handle;
  MPI_Comm comm;
  const int code = look(h, &comm);
  return code != MPI_SUCCESS ? code : gr_nccl_join(comm, identity, h->cards, &h->joined);
}

static int add_there(void *handle, void *stream, uint64_t *values, int64_t count) {
  return gr_nccl_add(((communicator *)handle)->joined, stream, values, count);
}

static void leave(void *handle) { gr_nccl_leave(&((communicator *)handle)->joined); }

static int barrier(void *handle) {
  MPI_Comm comm;
  const int code = look(handle, &comm);
  return code != MPI_SUCCESS ? code : MPI_Barrier(comm);
}

static void words(int code, char *text, size_t room) {
  char own[MPI_MAX_ERROR_STRING];
  int length = 0;
  if (code == OVER || code == FREED) {
    snprintf(text, room, "MPI: %s", code == OVER ? "it has been finalized" : "the program has freed the communicator");
    return;
  }
  if (gr_nccl_words(code)) {
    snprintf(text, room, "NCCL: %s", gr_nccl_words(code));
    return;
  }
  if (MPI_Error_string(code, own, &length) != MPI_SUCCESS) length = 0;
  snprintf(text, room, "MPI: %.*s", length, own);
}

static void let_go(copy *c) {
  if (!c || --c->refs) return;
  gr_shared_close(c->shared);
  free(c);
}

/* MPI's communicator stays: freeing one is collective, and a collector runs on each rank when it likes. */
static void forget(communicator *h) {
  let_go(h->copy);
  if (h->owns) gr_shared_close(h->shared);
  free(h->counts);
  free(h->cards);
  free(h);
}

static void drop(void *handle) { forget(handle); }

static communicator *hold(MPI_Comm comm) {
  communicator *h = calloc(1, sizeof *h);
  if (!h) return NULL;
  h->own = comm;
  MPI_Comm_rank(comm, &h->rank);
  MPI_Comm_size(comm, &h->size);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  h->counts = malloc((size_t)h->size * 2 * sizeof *h->counts);
  h->cards = malloc((size_t)h->size * sizeof *h->cards);
  if (!h->counts || !h->cards) return free(h->counts), free(h->cards), free(h), NULL;
  h->places = h->counts + h->size;
  return h;
}

/* Collective: this rank among those of comm that are on its machine, and what memory all of them share. */
static int look_beside(MPI_Comm comm, int *rank, gr_shared **shared) {
  MPI_Comm beside;
  int size, code = MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &beside);
  if (code != MPI_SUCCESS) return code;
  MPI_Comm_rank(beside, rank);
  MPI_Comm_size(beside, &size);
  code = MPI_Comm_free(&beside);
  return code != MPI_SUCCESS ? code : gr_shared_open(comm, size, shared);
}

static int split(void *handle, int colour, int key, void **part, int *rank, int *size) {
  MPI_Comm comm, part_comm;
  gr_shared *shared = NULL;
  int local, code = look(handle, &comm);
  if (code == MPI_SUCCESS) code = MPI_Comm_split(comm, colour, key, &part_comm);
  if (code == MPI_SUCCESS) code = look_beside(part_comm, &local, &shared);
  if (code != MPI_SUCCESS) return code;
  communicator *own = hold(part_comm);
  if (!own) return gr_shared_close(shared), MPI_ERR_NO_MEM;
  own->shared = shared;
  own->owns = 1;
  *part = own;
  *rank = own->rank;
  *size = own->size;
  return MPI_SUCCESS;
}

static const gr_comm_table by_mpi = {.version = GR_COMM_VERSION,
                                     .gather = gather,
                                     .gather_parts = gather_parts,
                                     .post = post,
                                     .await = await,
                                     .add = add,
                                     .broadcast = broadcast,
                                     .barrier = barrier,
                                     .split = split,
                                     .join = join,
                                     .add_there = add_there,
                                     .leave = leave,
                                     .drop = drop,
                                     .words = words};

/* ---- the process ---- */

/* A copy of MPI_COMM_WORLD, so that no message of the host's meets one of ours. */
static MPI_Comm world = MPI_COMM_NULL;
static gr_shared *shared_by_world;
static int local;   /* this rank among those of its host */
static pid_t began; /* the process that MPI was started in by this module; 0: the host has */

/*
** A rank whose program has ended answers those that still call: its card is like no other, so they fail, and their
** error says why. Returns when the programs of all have ended.
*/
static void answer_others(void) {
  const gr_card mine = {.what = UINT64_MAX, .all = -1};
  char text[GR_CARD_TEXT] = "nothing more: its program has ended";
  int size = 1, differ = world != MPI_COMM_NULL;
  if (differ) MPI_Comm_size(world, &size);
  gr_card *cards = malloc((size_t)size * sizeof *cards);
  char *texts = malloc((size_t)size * sizeof text);
  while (differ && cards && texts) {
    differ = 0;
    if (gather_by(shared_by_world, world, &mine, cards, sizeof mine) != MPI_SUCCESS) break;
    for (int r = 0; r < size; r++) differ |= cards[r].what != mine.what;
    if (differ && gather_by(shared_by_world, world, text, texts, sizeof text) != MPI_SUCCESS) break;
  }
  free(cards);
  free(texts);
}

/*
** As the process ends. One that fails (Lua's interpreter has written the error by now) ends all others, which would
** wait for it; else MPI ends in order.
*/
static void at_exit(int status, void *unused) {
  int over = 0;
  (void)unused;
  if (getpid() != began || MPI_Finalized(&over) != MPI_SUCCESS || over) return;
  if (status == 0) {
    answer_others();
    MPI_Finalize();
    return;
  }
  int rank = 0, size = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (size == 1) return;
  fflush(stdout);
  fprintf(stderr, "gpureduce.mpi: rank %d of %d has failed, which ends all of them\n", rank, size);
  fflush(stderr);
  MPI_Abort(MPI_COMM_WORLD, status);
}

static const char *start(void) {
  int there = 0, over = 0, level;
  MPI_Finalized(&over);
  if (over) return "MPI has been finalized in this process";
  MPI_Initialized(&there);
  if (!there) {
    if (MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &level) != MPI_SUCCESS) return "MPI did not start";
    began = getpid();
    on_exit(at_exit, NULL);
  }
  if (world != MPI_COMM_NULL) return NULL;
  const int made = MPI_Comm_dup(MPI_COMM_WORLD, &world) == MPI_SUCCESS &&
                   look_beside(world, &local, &shared_by_world) == MPI_SUCCESS;
  return made ? NULL : "MPI gave no communicator";
}

/* ---- for Lua ---- */

static const gr_comm_exports *exports_of(lua_State *L) {
  lua_getfield(L, LUA_REGISTRYINDEX, GR_COMM_EXPORTS);
  const gr_comm_exports *e = lua_touserdata(L, -1);
  lua_pop(L, 1);
  if (!e) luaL_error(L, "gpureduce.mpi: the module gpureduce is not loaded in this Lua state");
  if (e->version != GR_COMM_VERSION)
    luaL_error(L, "gpureduce.mpi: it is made for version %d of gpureduce's communicators, the module has %d",
               GR_COMM_VERSION, e->version);
  return e;
}

static void *hold_world(void *unused, int *rank, int *size) {
  communicator *h = hold(world);
  (void)unused;
  if (h) h->shared = shared_by_world, *rank = h->rank, *size = h->size;
  return h;
}

/* mpi.world(): the communicator of all ranks; without mpirun there is one. */
static int l_world(lua_State *L) {
  const gr_comm_exports *e = exports_of(L);
  e->allowed(L, "world");
  const char *why = start();
  if (why) return luaL_error(L, "gpureduce.mpi: %s", why);
  e->placed(L, local);
  return e->push(L, &by_mpi, hold_world, NULL);
}

/* mpi.nccl(): the version of NCCL that devices add by, as 22803; or nil, and why there is none. */
static int l_nccl(lua_State *L) {
  const char *why;
  const int version = gr_nccl_version(&why);
  if (version) return lua_pushinteger(L, version), 1;
  lua_pushnil(L);
  lua_pushstring(L, why);
  return 2;
}

/* ---- for hosts, of their own communicators ---- */

/* Where a communicator of the host's has its copy, as an attribute. */
static int place = MPI_KEYVAL_INVALID;

/* Called as the host frees the communicator, which all of its ranks do: so the copy can be freed. */
static int free_copy(MPI_Comm comm, int key, void *value, void *unused) {
  copy *c = value;
  (void)comm, (void)key, (void)unused;
  const int code = MPI_Comm_free(&c->comm);
  c->comm = MPI_COMM_NULL;
  let_go(c);
  return code;
}

/* The copy of comm, made by the first call; NULL, and in *why what is wrong. */
static copy *copy_of(MPI_Comm comm, const char **why) {
  int found = 0;
  copy *c = NULL;
  *why = "MPI gave no communicator";
  if (place == MPI_KEYVAL_INVALID &&
      MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, free_copy, &place, NULL) != MPI_SUCCESS)
    return NULL;
  if (MPI_Comm_get_attr(comm, place, &c, &found) == MPI_SUCCESS && found) return c;
  c = calloc(1, sizeof *c);
  if (!c) return *why = "out of memory", NULL;
  c->refs = 1;
  if (MPI_Comm_dup(comm, &c->comm) != MPI_SUCCESS) return free(c), NULL;
  MPI_Comm_set_errhandler(c->comm, MPI_ERRORS_RETURN);
  if (look_beside(c->comm, &c->local, &c->shared) == MPI_SUCCESS && MPI_Comm_set_attr(comm, place, c) == MPI_SUCCESS)
    return c;
  MPI_Comm_free(&c->comm);
  return let_go(c), NULL;
}

static void *hold_copy(void *with, int *rank, int *size) {
  copy *c = with;
  communicator *h = hold(c->comm);
  if (!h) return NULL;
  h->copy = c;
  h->shared = c->shared;
  c->refs++;
  *rank = h->rank;
  *size = h->size;
  return h;
}

/* Why there can be no communicator of the host's. */
static const char *check_host(MPI_Comm comm) {
  int there = 0, over = 0, between = 0;
  MPI_Finalized(&over);
  MPI_Initialized(&there);
  if (over) return "MPI has been finalized in this process";
  if (!there) return "MPI is not initialized: the program calls MPI_Init before it gives a communicator away";
  if (comm == MPI_COMM_NULL) return "the communicator is MPI_COMM_NULL";
  MPI_Comm_test_inter(comm, &between);
  return between ? "the communicator is one between two groups" : NULL;
}

static const char *push_host(lua_State *L, const void *given) {
  const gr_comm_exports *e = exports_of(L);
  MPI_Comm comm;
  int same = MPI_UNEQUAL;
  if (!given) return "the communicator is NULL";
  memcpy(&comm, given, sizeof comm);
  const char *why = check_host(comm);
  if (why) return why;
  /* The world's copy is there for scripts as well, and no attribute of it outlives MPI. */
  MPI_Comm_compare(comm, MPI_COMM_WORLD, &same);
  if (same == MPI_IDENT) {
    if ((why = start()) != NULL) return why;
    e->placed(L, local);
    e->push(L, &by_mpi, hold_world, NULL);
    return NULL;
  }
  copy *c = copy_of(comm, &why);
  if (!c) return why;
  e->placed(L, c->local);
  e->push(L, &by_mpi, hold_copy, c);
  return NULL;
}

static const gpureduce_mpi for_hosts = {sizeof(gpureduce_mpi), GPUREDUCE_MPI_MAJOR, 0, sizeof(MPI_Comm), push_host};

EXPORT int luaopen_gpureduce_mpi(lua_State *L);
int luaopen_gpureduce_mpi(lua_State *L) {
  static const luaL_Reg functions[] = {{"world", l_world}, {"nccl", l_nccl}, {NULL, NULL}};
  lua_getglobal(L, "require");
  lua_pushliteral(L, "gpureduce");
  lua_call(L, 1, 0);
  exports_of(L);
  lua_pushlightuserdata(L, (void *)(uintptr_t)&for_hosts);
  lua_setfield(L, LUA_REGISTRYINDEX, GPUREDUCE_MPI_TABLE);
  lua_newtable(L);
  for (const luaL_Reg *f = functions; f->name; f++) {
    lua_pushcfunction(L, f->func);
    lua_setfield(L, -2, f->name);
  }
  return 1;
}
