/* New arrays, the byte budget, and what to do when the core says no. */
#include <stdlib.h>

#include "src/binding/results.h"
#include "src/binding/args.h"
#include "src/binding/noted.h"
#include "src/core/clock.h"
#include "src/core/dlpack.h"
#include "src/core/later.h"
#include "src/core/pool.h"

gr_array *gr_l_push_array(lua_State *L) { return gr_l_push_array_of(L, gr_l_state_of(gr_l_context(L))); }

gr_array *gr_l_push_array_of(lua_State *L, gr_l_state *s) {
  gr_array *a = gr_newuserdata(L, sizeof *a);
  *a = (gr_array){.stamp = gr_stamp(a), .storage = &gr_released};
  lua_rawgeti(L, LUA_REGISTRYINDEX, s->metatable);
  lua_setmetatable(L, -2);
  if (s->scopes) gr_l_note_array(L, s);
  return a;
}

gr_array *gr_l_hold(lua_State *L, const gr_array *a) {
  gr_array *view = gr_l_push_array(L);
  gr_array_view(a, view, 0, 1, a->n);
  return view;
}

/*
** Results come and go. A step of the collector after so many bytes of them brings their memory back while it is warm;
** by itself it would come when many megabytes have passed through, each page of them new. A step that took long
** (incremental mode, a large heap) makes the next one wait for more bytes; but not for what releasing the results took,
** which comes sooner or later.
*/
#define WARM ((size_t)32 << 20) /* what is longer would not come back warm */
#define FRESH ((size_t)64 << 10)
#define FRESH_A_NANOSECOND 16 /* bytes */
#define RELEASING 250         /* nanoseconds */

static void collect_warm(lua_State *L, gr_context *c, size_t bytes) {
#ifdef LUA_GCISRUNNING
  if (bytes > WARM || !c->automatic) return;
  gr_l_state *s = gr_l_state_of(c);
  s->fresh += bytes + 256;
  if (s->fresh < FRESH || s->fresh < s->gc_step_bytes) return;
  s->fresh = 0;
  if (!lua_gc(L, LUA_GCISRUNNING, 0)) return;
  const int64_t from = gr_nanoseconds(), live = c->storages;
  lua_gc(L, LUA_GCSTEP, 0);
  const int64_t took = gr_nanoseconds() - from - RELEASING * (live - c->storages);
  s->gc_step_bytes = took > 0 ? (size_t)took * FRESH_A_NANOSECOND : 0;
  if (s->gc_step_bytes > 32 * WARM) s->gc_step_bytes = 32 * WARM;
#else
  (void)L, (void)c, (void)bytes;
#endif
}

static int l_collect(lua_State *L) {
  lua_gc(L, LUA_GCCOLLECT, 0);
  return 0;
}

void gr_l_can_collect(lua_State *L, gr_context *c) {
  lua_pushcfunction(L, l_collect);
  gr_l_state_of(c)->collector = luaL_ref(L, LUA_REGISTRYINDEX);
}

/*
** A full collection, but not while one of these runs: finalizers that each make a new one and pass the budget would
** nest to the end of the stack. (Lua 5.4 collects nothing in finalizers anyway.) Before Lua 5.4 a finalizer's error
** comes out here.
*/
static void collect(lua_State *L, gr_context *c) {
  gr_l_state *s = gr_l_state_of(c);
  if (s->collecting || !lua_checkstack(L, 1)) return;
  lua_rawgeti(L, LUA_REGISTRYINDEX, s->collector);
  s->collecting = 1;
  const int failed = lua_pcall(L, 0, 0, 0);
  s->collecting = 0;
  gr_dlpack_settle(c);
  gr_context_collected(c);
  if (failed) lua_error(L);
}

/*
** Results that nobody keeps are young where the collector is generational, and a step of it, which looks at young
** objects alone, brings them back: in a few microseconds, where a full collection takes 40 of a heap of 300 KB, and 100
** times as long of one of 30 MB. What has grown old needs the full one, so a step that gives back little is not
** enough: each of either kind is paid for by an eighth of the budget.
*/
static int step_was_enough(lua_State *L, gr_context *c, size_t bytes) {
#if LUA_VERSION_NUM >= 504
  const size_t live = c->live;
  lua_gc(L, LUA_GCSTEP, 0);
  return c->live < live && live - c->live >= c->budget / 8 && !gr_context_over(c, bytes);
#else
  (void)L, (void)c, (void)bytes;
  return 0;
#endif
}

/*
** Lua does not see these bytes, so a budget stands in for its own accounting. Steps of the collector alone would not
** do: in generational mode they never find an array that has survived twice.
*/
void gr_l_reserve(lua_State *L, gr_context *c, size_t bytes) {
  collect_warm(L, c, bytes);
  if (!gr_context_over(c, bytes)) return;
#ifdef LUA_GCISRUNNING
  if (!lua_gc(L, LUA_GCISRUNNING, 0)) return; /* as collectgarbage "stop" wants */
#endif
  if (!step_was_enough(L, c, bytes)) collect(L, c);
}

void gr_l_reserve_array(lua_State *L, gr_context *c, gr_dtype dtype, int64_t n) {
  const size_t size = (size_t)gr_size(dtype);
  if ((uint64_t)n <= PTRDIFF_MAX / size / 2) gr_l_reserve(L, c, (size_t)n * size);
}

/* On the device of beside, or without it on the present one. */
gr_array *gr_l_new_beside(lua_State *L, gr_context *c, const gr_array *beside, gr_dtype dtype, int64_t n) {
  gr_l_reserve_array(L, c, dtype, n);
  gr_array *a = gr_l_push_array(L);
  if (beside && beside->storage->queue->lost) gr_l_leave_lost(L, c);
  GR_TRY(L, c, 1, gr_array_make_beside(c, beside, a, dtype, n));
  return a;
}

gr_array *gr_l_new_array(lua_State *L, gr_context *c, gr_dtype dtype, int64_t n) {
  return gr_l_new_beside(L, c, NULL, dtype, n);
}

gr_array *gr_l_new_like(lua_State *L, gr_context *c, const gr_array *a, gr_dtype dtype) {
  const int64_t rows = a->rows;
  gr_array *out = gr_l_new_beside(L, c, a, dtype, a->n);
  out->rows = rows;
  return out;
}

void gr_l_reclaim(lua_State *L, gr_context *c) {
  collect(L, c);
  gr_later_finish(c); /* it holds memory, too */
  gr_storage_trim(c);
  gr_pool_trim();
}

int gr_l_again(lua_State *L, gr_context *c, gr_status status) {
  if (status == GR_DEVICE) return gr_l_leave_lost(L, c);
  if (status != GR_NO_MEMORY) return 0;
  gr_l_reclaim(L, c);
  return 1;
}

int gr_l_raise(lua_State *L, gr_context *c, gr_status status, int arg) {
  if (status == GR_RELEASED) gr_l_argerror(L, arg, "array has been released");
  if (status == GR_BAD) gr_l_argerror(L, arg, "%s", c->error);
  luaL_error(L, "gpureduce: %s", c->error);
  abort(); /* luaL_error does not return */
}
