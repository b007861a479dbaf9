/*
** What this machine can do at best, for bench/cpu.lua: bare loops in the same run that do only what nobody can leave
** out (read the bytes, move them, multiply, count, scan groups of eight), without checks, hand-over or results. A call
** from Lua takes its arguments unchecked. Where such a loop is short of what is asked, no library reaches it here.
**
**   cc -O3 -march=native -ffp-contract=off -shared -fPIC -I. -I/usr/include/lua5.4 bench/peers_cpu/bounds.c \
**     -o build/bounds.so -lpthread
*/
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif
#include <fcntl.h>
#include <lauxlib.h>
#include <lua.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "bench/peers_cpu/ways.h"
#include "src/core/clock.h"

#define HUGE_PAGE ((size_t)2 << 20)

/* ---- the largest element and where it is ---- */

#define LARGEST(name, type, width, vector, least, max, reduce, load, same)                        \
  static int64_t name(const type *x, int64_t n) {                                                 \
    vector v[4], all;                                                                             \
    type top;                                                                                     \
    int64_t k;                                                                                    \
    int j;                                                                                        \
    for (j = 0; j < 4; j++) v[j] = least;                                                         \
    for (k = 0; k + 4 * (width) <= n; k += 4 * (width))                                           \
      GR_UNROLL for (j = 0; j < 4; j++) v[j] = max(v[j], load(x + k + j * (width)));              \
    for (; k + (width) <= n; k += (width)) v[0] = max(v[0], load(x + k));                         \
    if (k < n && n >= (width)) v[1] = max(v[1], load(x + n - (width)));                           \
    top = reduce(max(max(v[0], v[1]), max(v[2], v[3])));                                          \
    all = same##_set(top);                                                                        \
    for (k = 0; k < n; k += 4 * (width)) {                                                        \
      unsigned found[4];                                                                          \
      GR_UNROLL for (j = 0; j < 4; j++) found[j] = same(load(x + k + j * (width)), all);          \
      if (!(found[0] | found[1] | found[2] | found[3])) continue;                                 \
      for (j = 0; !found[j];) j++;                                                                \
      return k + j * (width) + __builtin_ctz(found[j]);                                           \
    }                                                                                             \
    return 0;                                                                                     \
  }
#define same32(x, y) _mm512_cmp_ps_mask(x, y, _CMP_EQ_OQ)
#define same32_set _mm512_set1_ps
#define same64(x, y) _mm512_cmp_pd_mask(x, y, _CMP_EQ_OQ)
#define same64_set _mm512_set1_pd
LARGEST(largest_f32, float, 16, __m512, _mm512_set1_ps(-INFINITY), _mm512_max_ps,
        _mm512_reduce_max_ps, _mm512_loadu_ps, same32)
LARGEST(largest_f64, double, 8, __m512d, _mm512_set1_pd(-INFINITY), _mm512_max_pd,
        _mm512_reduce_max_pd, _mm512_loadu_pd, same64)

/* ---- one thread or two; the second waits for its half without sleeping, as long as a sample lasts ---- */

static struct { loop f; work w; _Atomic int full, over; int home; } hand;

static void *helper(void *arg) { /* on another processor than the caller */
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0) {
    CPU_CLR(hand.home, &set);
    if (CPU_COUNT(&set)) sched_setaffinity(0, sizeof set, &set);
  }
  while (!atomic_load(&hand.over)) {
    if (!atomic_load(&hand.full)) {
      _mm_pause();
      continue;
    }
    hand.f(&hand.w);
    atomic_store(&hand.full, 0);
  }
  return arg;
}

static void by_two(loop f, const work *w) {
  const int64_t half = w->bytes / 2 / 4096 * 4096;
  work mine = *w;
  mine.bytes = half;
  hand.f = f;
  hand.w = *w;
  hand.w.x += half;
  if (w->y) hand.w.y += half;
  mine.written = w->written / 2 / 64 * 64;
  hand.w.written -= mine.written;
  if (w->written) hand.w.out += mine.written;
  else if (w->out) hand.w.out += w->bins ? RESULTS(w) * 8 : half / w->size * w->out_size;
  hand.w.bytes -= half;
  atomic_store(&hand.full, 1);
  f(&mine);
  while (atomic_load(&hand.full)) _mm_pause();
}

static double measure(loop f, const work *w, int calls, int threads) {
  pthread_t id;
  int64_t start = 0;
  atomic_store(&hand.over, 0);
  hand.home = sched_getcpu();
  if (threads > 1 && pthread_create(&id, NULL, helper, NULL) != 0) return -1;
  for (int k = -1; k < calls; k++) {
    if (k == 0) start = gr_nanoseconds();
    if (threads > 1) by_two(f, w);
    else f(w);
  }
  start = gr_nanoseconds() - start;
  atomic_store(&hand.over, 1);
  if (threads > 1) pthread_join(id, NULL);
  return (double)start / calls;
}

/* ---- for Lua ---- */

/*
** load(path, size): the file as an array of elements of so many bytes, and as much behind it as a vector may read; huge
** pages.
*/
typedef struct array { char *data; int64_t bytes, size; } array;

enum { SMALL, HUGE, AFTERWARDS }; /* pages: made huge before anything is there, or afterwards */

static array *new_array(lua_State *L, int64_t bytes, int64_t size, int pages) {
  const size_t room = ((size_t)bytes + 4096 + HUGE_PAGE) / HUGE_PAGE * HUGE_PAGE;
  array *a = lua_newuserdatauv(L, sizeof *a, 0);
  *a = (array){aligned_alloc(room > 2 * HUGE_PAGE ? HUGE_PAGE : 4096, room), bytes, size};
  if (!a->data) luaL_error(L, "no memory");
  if (room > 2 * HUGE_PAGE) madvise(a->data, room, pages == HUGE ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
  memset(a->data, 0, (size_t)bytes + 4096);
#ifdef MADV_COLLAPSE
  if (pages == AFTERWARDS && madvise(a->data, room, MADV_HUGEPAGE) == 0) madvise(a->data, room, MADV_COLLAPSE);
#endif
  return a;
}

static int l_load(lua_State *L) {
  FILE *f = fopen(luaL_checkstring(L, 1), "rb");
  if (!f) return luaL_error(L, "no such file");
  fseek(f, 0, SEEK_END);
  array *a = new_array(L, ftell(f), luaL_checkinteger(L, 2), HUGE);
  rewind(f);
  if (fread(a->data, 1, (size_t)a->bytes, f) != (size_t)a->bytes) luaL_error(L, "cannot read");
  fclose(f);
  return 1;
}
/* room(bytes): for a result of so many. */
static int l_room(lua_State *L) { return new_array(L, luaL_checkinteger(L, 1), 1, HUGE), 1; }
/* result(x, size, bins): as many elements of another size, and room for what two threads count into so many bins. */
static int l_result(lua_State *L) {
  const array *a = lua_touserdata(L, 1);
  const int64_t size = luaL_checkinteger(L, 2), bytes = a->bytes / a->size * size;
  const work counting = {.bins = luaL_optinteger(L, 3, 0)};
  const int64_t least = counting.bins ? 2 * 8 * RESULTS(&counting) : 0;
  return new_array(L, bytes > least ? bytes : least, size, HUGE), 1;
}
/* random(n, size, slots, pages): numbers from 0 to 1, or whole ones below slots. */
static int l_random(lua_State *L) {
  const int64_t n = luaL_checkinteger(L, 1), size = luaL_checkinteger(L, 2), slots = luaL_optinteger(L, 3, 0);
  char *p = new_array(L, n * size, size, (int)luaL_optinteger(L, 4, HUGE))->data;
  for (int64_t k = 0; k < n; k++, p += size) {
    const uint64_t random = (uint64_t)k * UINT64_C(0x9e3779b97f4a7c15) >> 29 & 0xffffffff;
    const int32_t whole = (int32_t)(random % (uint64_t)(slots ? slots : 1));
    const float f = (float)(random >> 8) * 0x1p-24f;
    const double d = (double)random * 0x1p-32;
    if (slots) memcpy(p, &whole, (size_t)size < sizeof whole ? (size_t)size : sizeof whole);
    else if (size == 4) memcpy(p, &f, sizeof f);
    else if (size == 8) memcpy(p, &d, sizeof d);
  }
  return 1;
}
static int l_free(lua_State *L) {
  array *a = lua_touserdata(L, 1);
  free(a->data);
  a->data = NULL;
  return 0;
}

/* Calls as cheap as Lua makes them: f(x), f(x, y), f(x, "sum", {into = out}). */
static work work_of(lua_State *L) {
  const array *x = lua_touserdata(L, 1);
  return (work){.x = x->data, .bytes = x->bytes, .size = x->size, .out_size = x->size};
}
static int l_dot(lua_State *L) {
  work w = work_of(L);
  w.y = ((const array *)lua_touserdata(L, 2))->data;
  multiply(&w);
  return lua_pushnumber(L, 0), 1;
}
static int l_argmax(lua_State *L) {
  const work w = work_of(L);
  const void *x = w.x;
  return lua_pushinteger(L, 1 + (w.size == 4 ? largest_f32(x, w.bytes / 4) : largest_f64(x, w.bytes / 8))), 1;
}
static int l_scan(lua_State *L) {
  work w = work_of(L);
  lua_getfield(L, 3, "into");
  w.out = ((const array *)lua_touserdata(L, -1))->data;
  groups(&w);
  return 1;
}
/* The range, a result that Lua itself frees, zeros, and one addition a sample. */
static int l_bincount(lua_State *L) {
  const work w = work_of(L);
  const int64_t n = w.bytes / w.size;
  const uint8_t *b = (const uint8_t *)w.x;
  const int32_t *i = (const int32_t *)(const void *)w.x;
  int32_t top = 0;
  int64_t k;
  if (w.size == 1)
    for (k = 0; k < n; k++) top = b[k] > top ? b[k] : top;
  else
    for (k = 0; k < n; k++) top = i[k] > top ? i[k] : top;
  int64_t *counts = lua_newuserdatauv(L, ((size_t)top + 1) * 8, 0);
  memset(counts, 0, ((size_t)top + 1) * 8);
  if (w.size == 1)
    for (k = 0; k < n; k++) counts[b[k]]++;
  else
    for (k = 0; k < n; k++) counts[i[k]]++;
  return 1;
}

/* from_table(t, a): the numbers of t into floats, as fast as the API of Lua gives them away. */
static int l_from_table(lua_State *L) {
  const array *a = lua_touserdata(L, 2);
  float *out = (float *)(void *)a->data;
  for (int64_t k = 0; k < a->bytes / 4; k++) {
    lua_rawgeti(L, 1, k + 1);
    out[k] = (float)lua_tonumber(L, -1);
    lua_pop(L, 1);
  }
  return 0;
}
/* read_file(path, a): a file of at least so many bytes into memory that is there. */
static int l_read_file(lua_State *L) {
  const array *a = lua_touserdata(L, 2);
  int file = open(luaL_checkstring(L, 1), O_RDONLY);
  int64_t got = 0, n = 1;
  for (; got < a->bytes && n > 0; got += n) n = read(file, a->data + got, (size_t)(a->bytes - got));
  close(file);
  return lua_pushinteger(L, got), 1;
}

/* time(way, x, y, out, calls, threads, bins, low, high): nanoseconds a call. */
static int l_time(lua_State *L) {
  const char *way = luaL_checkstring(L, 1);
  const array *x = lua_touserdata(L, 2), *y = lua_touserdata(L, 3), *out = lua_touserdata(L, 4);
  work w = {.x = x->data, .y = y ? y->data : NULL, .out = out ? out->data : NULL, .bytes = x->bytes, .size = x->size};
  w.out_size = out ? out->size : x->size;
  w.written = !strcmp(way, "moved") && out ? out->bytes : 0;
  w.bins = luaL_optinteger(L, 7, 0);
  w.low = luaL_optnumber(L, 8, 0);
  w.per_bin = (double)w.bins / (luaL_optnumber(L, 9, 1) - w.low);
  const int threads = (int)luaL_checkinteger(L, 6);
  if (w.bins && (!out || out->bytes < threads * 8 * RESULTS(&w)))
    return luaL_error(L, "the result has no room for %d times %d bins and one", threads, (int)w.bins);
  for (size_t k = 0; k < sizeof ways / sizeof *ways; k++)
    if (!strcmp(way, ways[k].name))
      return lua_pushnumber(L, measure(ways[k].f, &w, (int)luaL_checkinteger(L, 5), threads)), 1;
  return luaL_error(L, "no such way");
}

int luaopen_bounds(lua_State *L);
int luaopen_bounds(lua_State *L) {
  static const luaL_Reg list[] = {
    {"load", l_load}, {"result", l_result}, {"room", l_room}, {"random", l_random}, {"free", l_free}, {"time", l_time},
    {"dot", l_dot}, {"argmax", l_argmax}, {"scan", l_scan}, {"bincount", l_bincount}, {"from_table", l_from_table},
    {"read_file", l_read_file}, {NULL, NULL},
  };
  luaL_newlib(L, list);
  return 1;
}
