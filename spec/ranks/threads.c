/*
** Ranks that are threads of this process, each with a Lua state of its own: the module's real code over ranks, without
** MPI. What they send one another is copied under a lock. Every rank says what it believes the others send, and all
** must believe the same. Usage: threads COUNT SCRIPT ARGUMENTS...; in each state require "gpureduce.mpi" gives a module
** with world(), and counts(): how many times this rank has sent something, and how many bytes. A rank that raises ends
** all of them.
*/
#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/binding/comm.h"

#define MOST 64

/* A message on its way; of two between the same ranks the older comes first. */
typedef struct mail {
  struct mail *next;
  int from, to;
  int64_t bytes;
  char data[];
} mail;

/* What ranks of one communicator share. */
typedef struct group {
  pthread_mutex_t lock;
  pthread_cond_t changed;
  int size, users, arrived;
  unsigned long round;
  void *slots[MOST];
  const void *beliefs[MOST];
  mail *mails;
} group;

typedef struct member {
  group *of;
  int rank;
  gr_message *expected; /* messages under way, which await takes */
  int64_t receipts;
} member;

static _Thread_local struct {
  long messages;
  int64_t bytes;
} sent;

static _Noreturn void fault(const char *what) {
  fprintf(stderr, "ranks as threads: %s\n", what);
  fflush(NULL);
  _Exit(3);
}

static void *room(size_t bytes) {
  void *p = calloc(1, bytes + 1);
  if (!p) fault("out of memory");
  return p;
}

static group *new_group(int size) {
  group *g = room(sizeof *g);
  pthread_mutex_init(&g->lock, NULL);
  pthread_cond_init(&g->changed, NULL);
  g->size = g->users = size;
  return g;
}

static void *new_member(group *g, int rank) {
  member *m = room(sizeof *m);
  *m = (member){.of = g, .rank = rank};
  return m;
}

static void wait_for_all(group *g) {
  pthread_mutex_lock(&g->lock);
  const unsigned long round = g->round;
  if (++g->arrived == g->size) {
    g->arrived = 0;
    g->round++;
    pthread_cond_broadcast(&g->changed);
  }
  while (g->round == round) pthread_cond_wait(&g->changed, &g->lock);
  pthread_mutex_unlock(&g->lock);
}

static void count(int64_t bytes) {
  sent.messages++;
  sent.bytes += bytes;
}

/* ---- the table ---- */

static int gather_parts(void *handle, const void *mine, void *all, const int64_t *bytes) {
  const member *m = handle;
  group *g = m->of;
  char *to = all;
  if (m->expected) fault("messages are under way");
  count(bytes[m->rank]);
  g->slots[m->rank] = (void *)(uintptr_t)mine;
  g->beliefs[m->rank] = bytes;
  wait_for_all(g);
  for (int r = 0; r < g->size; to += bytes[r++]) {
    if (memcmp(g->beliefs[r], bytes, (size_t)g->size * sizeof *bytes)) fault("ranks differ on what each sends");
    memcpy(to, g->slots[r], (size_t)bytes[r]);
  }
  wait_for_all(g);
  return 0;
}

static int gather(void *handle, const void *mine, void *all, int64_t bytes) {
  int64_t each[MOST];
  for (int r = 0; r < MOST; r++) each[r] = bytes;
  return gather_parts(handle, mine, all, each);
}

/* The oldest mail from one rank to another, taken out of the list; NULL: none is there. */
static mail *take_mail(group *g, int from, int to) {
  for (mail **at = &g->mails; *at; at = &(*at)->next) {
    mail *p = *at;
    if (p->from != from || p->to != to) continue;
    *at = p->next;
    return p;
  }
  return NULL;
}

static void put_mail(group *g, mail *p) {
  mail **at = &g->mails;
  while (*at) at = &(*at)->next;
  *at = p;
}

static int post(void *handle, const gr_message *out, int64_t sends, const gr_message *in, int64_t receipts) {
  member *m = handle;
  group *g = m->of;
  if (m->expected) fault("messages are under way already");
  m->expected = room((size_t)receipts * sizeof *in);
  memcpy(m->expected, in, (size_t)receipts * sizeof *in);
  m->receipts = receipts;
  pthread_mutex_lock(&g->lock);
  for (int64_t k = 0; k < sends; k++) {
    mail *p = room(sizeof *p + (size_t)out[k].bytes);
    p->from = m->rank;
    p->to = out[k].peer;
    p->bytes = out[k].bytes;
    memcpy(p->data, out[k].data, (size_t)p->bytes);
    put_mail(g, p);
    count(p->bytes);
  }
  pthread_cond_broadcast(&g->changed);
  pthread_mutex_unlock(&g->lock);
  return 0;
}

static int await(void *handle) {
  member *m = handle;
  group *g = m->of;
  if (!m->expected) fault("no messages are under way");
  pthread_mutex_lock(&g->lock);
  for (int64_t k = 0; k < m->receipts; k++) {
    const gr_message *in = &m->expected[k];
    mail *p;
    while (!(p = take_mail(g, in->peer, m->rank))) pthread_cond_wait(&g->changed, &g->lock);
    if (p->bytes != in->bytes) fault("a message is not as long as expected");
    memcpy(in->data, p->data, (size_t)p->bytes);
    free(p);
  }
  pthread_mutex_unlock(&g->lock);
  free(m->expected);
  m->expected = NULL;
  return 0;
}

static int add(void *handle, uint64_t *values, int64_t n) {
  const member *m = handle;
  group *g = m->of;
  uint64_t *sum = room((size_t)n * sizeof *sum);
  count(n * 8);
  g->slots[m->rank] = values;
  g->beliefs[m->rank] = &n;
  wait_for_all(g);
  for (int r = 0; r < g->size; r++) {
    if (*(const int64_t *)g->beliefs[r] != n) fault("ranks differ on how many integers are added");
    for (int64_t k = 0; k < n; k++) sum[k] += ((const uint64_t *)g->slots[r])[k];
  }
  wait_for_all(g);
  memcpy(values, sum, (size_t)n * sizeof *sum);
  free(sum);
  return 0;
}

static int broadcast(void *handle, void *data, int64_t bytes, int root) {
  const member *m = handle;
  group *g = m->of;
  count(m->rank == root ? bytes : 0);
  g->slots[m->rank] = data;
  wait_for_all(g);
  if (m->rank != root) memcpy(data, g->slots[root], (size_t)bytes);
  wait_for_all(g);
  return 0;
}

static int barrier(void *handle) {
  count(0);
  wait_for_all(((const member *)handle)->of);
  return 0;
}

/* The first rank of each colour makes what they share. */
static int split(void *handle, int colour, int key, void **part, int *rank, int *size) {
  const member *m = handle;
  group *g = m->of;
  const int mine[2] = {colour, key};
  int first = m->rank;
  *rank = *size = 0;
  g->slots[m->rank] = (void *)(uintptr_t)mine;
  wait_for_all(g);
  for (int r = 0; r < g->size; r++) {
    const int *other = g->slots[r];
    if (other[0] != colour) continue;
    ++*size;
    if (r < first) first = r;
    *rank += other[1] < key || (other[1] == key && r < m->rank);
  }
  wait_for_all(g);
  if (first == m->rank) g->slots[m->rank] = new_group(*size);
  wait_for_all(g);
  *part = new_member(g->slots[first], *rank);
  wait_for_all(g);
  return 0;
}

/* Devices that are this process's memory: joined unless THREADS_APART says that they are not. */
static int join(void *handle, const uint8_t identity[GR_COMM_IDENTITY]) {
  (void)identity;
  count(0);
  wait_for_all(((const member *)handle)->of);
  return getenv("THREADS_APART") ? GR_COMM_APART : 0;
}

static int add_there(void *handle, void *stream, uint64_t *values, int64_t n) {
  (void)stream;
  return add(handle, values, n);
}

static void leave(void *handle) { (void)handle; }

static void drop(void *handle) {
  member *m = handle;
  group *g = m->of;
  pthread_mutex_lock(&g->lock);
  const int left = --g->users;
  pthread_mutex_unlock(&g->lock);
  if (left == 0) {
    for (mail *p = g->mails, *next; p; p = next) {
      next = p->next;
      free(p);
    }
    pthread_cond_destroy(&g->changed);
    pthread_mutex_destroy(&g->lock);
    free(g);
  }
  free(m);
}

static void words(int code, char *text, size_t n) { snprintf(text, n, "threads: %d", code); }

/* ---- the states ---- */

typedef struct rank {
  group *world;
  int number, count;
  char **arguments; /* the script and what follows it */
} rank;

static void *hold(void *of, int *number, int *size) {
  const rank *r = of;
  pthread_mutex_lock(&r->world->lock);
  r->world->users++;
  pthread_mutex_unlock(&r->world->lock);
  *number = r->number;
  *size = r->world->size;
  return new_member(r->world, r->number);
}

/* world(): as gpureduce.mpi's; how many share the group is counted by those who ask. */
static int l_world(lua_State *L) {
  static const gr_comm_table table = {.version = GR_COMM_VERSION,
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
  lua_getfield(L, LUA_REGISTRYINDEX, GR_COMM_EXPORTS);
  const gr_comm_exports *exports = lua_touserdata(L, -1);
  if (!exports) return luaL_error(L, "the module gpureduce is not loaded");
  exports->allowed(L, "world");
  return exports->push(L, &table, hold, lua_touserdata(L, lua_upvalueindex(1)));
}

static int l_counts(lua_State *L) {
  lua_pushinteger(L, sent.messages);
  lua_pushinteger(L, (lua_Integer)sent.bytes);
  return 2;
}

static int open_mpi(lua_State *L) {
  lua_getglobal(L, "require");
  lua_pushliteral(L, "gpureduce");
  lua_call(L, 1, 0);
  lua_newtable(L);
  lua_pushvalue(L, lua_upvalueindex(1));
  lua_pushcclosure(L, l_world, 1);
  lua_setfield(L, -2, "world");
  lua_pushcfunction(L, l_counts);
  lua_setfield(L, -2, "counts");
  return 1;
}

static void *run(void *of) {
  rank *r = of;
  lua_State *L = luaL_newstate();
  if (!L) fault("no memory for a state");
  luaL_openlibs(L);
  lua_getglobal(L, "package");
  lua_getfield(L, -1, "preload");
  lua_pushlightuserdata(L, r);
  lua_pushcclosure(L, open_mpi, 1);
  lua_setfield(L, -2, "gpureduce.mpi");
  lua_newtable(L);
  for (int k = 0; k < r->count; k++) {
    lua_pushstring(L, r->arguments[k]);
    lua_rawseti(L, -2, k);
  }
  lua_setglobal(L, "arg");
  if (luaL_loadfile(L, r->arguments[0]) != 0 || lua_pcall(L, 0, 0, 0) != 0) {
    fprintf(stderr, "rank %d of %d: %s\n", r->number, r->world->size, lua_tostring(L, -1));
    fflush(NULL);
    _Exit(1);
  }
  lua_close(L);
  return NULL;
}

int main(int argc, char **argv) {
  pthread_t id[MOST];
  rank ranks[MOST];
  const int size = argc > 2 ? atoi(argv[1]) : 0;
  if (size < 1 || size > MOST) return fprintf(stderr, "usage: threads COUNT SCRIPT ARGUMENTS... (to %d)\n", MOST), 2;
  group *world = new_group(size);
  world->users = 1; /* this function's; world() adds those of scripts */
  for (int k = 0; k < size; k++) {
    ranks[k] = (rank){world, k, argc - 2, argv + 2};
    if (pthread_create(&id[k], NULL, run, &ranks[k]) != 0) fault("no thread");
  }
  for (int k = 0; k < size; k++) pthread_join(id[k], NULL);
  drop(new_member(world, 0));
  return 0;
}
