/* Where things run, what it cost, how much memory: backend, compiled, devices, use, stats, memory, trim, gc ... */
#include <stdio.h>
#include <string.h>

#include "src/backends.h"
#include "src/binding/options.h"
#include "src/binding/parts.h"
#include "src/binding/results.h"
#include "src/binding/safe.h"
#include "src/binding/values.h"
#include "src/core/clock.h"
#include "src/core/dlpack.h"
#include "src/core/formula/expression.h"
#include "src/core/later.h"
#include "src/core/pool.h"
#include "src/core/threads.h"
#include "kernels/cpu/kernels_cpu.h"

/* gr.backend(): the name of the device in use, why it is that one, and how formulas run there. */
static int l_backend(lua_State *L) {
  gr_context *c = gr_l_context(L);
  GR_TRY(L, c, 1, gr_context_ready(c));
  lua_pushstring(L, c->queue->backend->name);
  lua_pushstring(L, c->why);
  gr_backend *b = c->queue->backend;
  const char *uncompiled = b->uncompiled ? b->uncompiled(b) : "";
  if (!uncompiled) lua_pushliteral(L, "formulas are compiled by the driver");
  else if (*uncompiled) lua_pushfstring(L, "formulas run step by step: %s", uncompiled);
  else if (b->formula) lua_pushliteral(L, "formulas run in blocks that stay in the cache");
  else lua_pushliteral(L, "formulas run step by step");
  return 3;
}

/* ---- formulas that were compiled ---- */

#define FORMULA_TEXT 2048

typedef struct compiled {
  struct {
    char what[40], text[FORMULA_TEXT];
    double seconds;
    uint64_t uses;
  } all[GR_COMPILED_KEPT];
  int count;
} compiled;

/* With a lock held: nothing of Lua. */
static void note_compiled(const gr_compiled_formula *f, void *to) {
  compiled *list = to;
  if (list->count == GR_COMPILED_KEPT) return;
  const int k = list->count++;
  snprintf(list->all[k].what, sizeof list->all[k].what, "%s", f->what);
  gr_program_text(&f->program, list->all[k].text, FORMULA_TEXT);
  list->all[k].seconds = f->seconds;
  list->all[k].uses = f->uses;
}

/* gr.compiled(): {{what =, steps =, seconds =, uses =}, ...} of the device in use, the last used first. */
static int l_compiled(lua_State *L) {
  gr_context *c = gr_l_context(L);
  GR_TRY(L, c, 1, gr_context_ready(c));
  lua_newtable(L);
  if (!c->queue->backend->compiled) return 1;
  compiled *list = lua_newuserdata(L, sizeof *list);
  list->count = 0;
  c->queue->backend->compiled(c->queue->backend, note_compiled, list);
  for (int k = 0; k < list->count; k++) {
    lua_createtable(L, 0, 4);
    gr_l_set_text(L, "what", list->all[k].what);
    gr_l_set_text(L, "steps", list->all[k].text);
    lua_pushnumber(L, list->all[k].seconds);
    lua_setfield(L, -2, "seconds");
    gr_l_set_whole(L, "uses", (int64_t)list->all[k].uses);
    lua_rawseti(L, -3, k + 1);
  }
  lua_pop(L, 1);
  return 1;
}

/* gr.devices(): {{name =, description =}, ...} */
static int l_devices(lua_State *L) {
  gr_backend *list[GR_MAX_BACKENDS];
  const char *why;
  int n = gr_backends(list, &why);
  lua_createtable(L, n, 0);
  for (int k = 0; k < n; k++) {
    lua_createtable(L, 0, 2);
    gr_l_set_text(L, "name", list[k]->name);
    gr_l_set_text(L, "description", list[k]->description);
    lua_rawseti(L, -2, k + 1);
  }
  return 1;
}

/* gr.use(name): arrays made from now on live there. */
static int l_use(lua_State *L) {
  gr_context *c = gr_l_context(L);
  if (lua_type(L, 1) != LUA_TSTRING) gr_l_argerror(L, 1, "device name expected, got %s", gr_l_kind(L, 1));
  GR_TRY(L, c, 1, gr_context_use(c, lua_tostring(L, 1)));
  lua_pushstring(L, c->queue->backend->name);
  return 1;
}

/* gr.stats(): what this state's queues have done so far. */
static int l_stats(lua_State *L) {
  const gr_stats sum = gr_context_stats(gr_l_context(L));
  lua_createtable(L, 0, 6);
#define GR_X(name) gr_l_set_whole(L, #name, (int64_t)sum.name);
  GR_STATS(GR_X)
#undef GR_X
  return 1;
}

/*
** gr.memory(): bytes of this state (live, budget, pinned, scratch) and of the process (host, device, pooled, unused,
** peak). The pool counts this state's spare storages as in use, so they are subtracted; those of other states cannot be
** seen from here.
*/
static int l_memory(lua_State *L) {
  gr_context *c = gr_l_context(L);
  gr_later_sweep(c);
  gr_dlpack_settle(c);
  gr_pool_counts p = gr_pool_read();
  lua_createtable(L, 0, 11);
  gr_l_set_whole(L, "live", (int64_t)c->live);
  gr_l_set_whole(L, "budget", (int64_t)c->budget);
  gr_l_set_whole(L, "arrays", c->storages);
  gr_l_set_whole(L, "collections", (int64_t)c->collections);
  gr_l_set_whole(L, "host", (int64_t)(p.host - c->spared));
  gr_l_set_whole(L, "device", (int64_t)p.device);
  gr_l_set_whole(L, "pooled", (int64_t)(p.pooled + c->spared));
  gr_l_set_whole(L, "unused", (int64_t)p.unused);
  size_t pinned = 0, scratch = 0;
  for (int k = 0; k < c->queue_count; k++) {
    pinned += c->queues[k]->pinned;
    scratch += c->queues[k]->scratch;
  }
  gr_l_set_whole(L, "pinned", (int64_t)pinned);
  gr_l_set_whole(L, "scratch", (int64_t)scratch);
  gr_l_set_whole(L, "peak", (int64_t)p.peak);
  return 1;
}

static int l_trim(lua_State *L) {
  gr_l_needs_process(L, gr_l_context(L));
  gr_dlpack_settle(gr_l_context(L));
  gr_storage_trim(gr_l_context(L));
  lua_pushinteger(L, (lua_Integer)gr_pool_trim());
  return 1;
}

/* An option in bytes; whether it is there. */
static int option_bytes(lua_State *L, const char *name, size_t *out) {
  int64_t bytes;
  if (!gr_l_option_int(L, 1, name, &bytes)) return 0;
  if (bytes < 0) gr_l_argerror(L, 1, "option '%s': 0 or more bytes expected, got %lld", name, (long long)bytes);
  *out = (size_t)bytes;
  return 1;
}

/*
** gr.gc{budget = bytes, auto = boolean, limit = bytes, cache = bytes or "auto"}: the smallest budget, whether passing
** it collects by itself, the most that arrays may take, and how much the process keeps for reuse.
*/
static int l_gc(lua_State *L) {
  gr_context *c = gr_l_context(L);
  size_t budget = c->floor, limit = 0, cache = GR_POOL_AUTO;
  int automatic = c->automatic;
  if (!gr_l_options(L, 1, "budget", "auto", "limit", "cache"))
    gr_l_argerror(L, 1, "options table expected, got no value");
  const int sets_budget = option_bytes(L, "budget", &budget);
  if (gr_l_has_option(L, 1, "auto")) automatic = gr_l_option_flag(L, 1, "auto");
  const int sets_limit = option_bytes(L, "limit", &limit);
  if (sets_limit && (!limit || (c->limits.bytes && limit > c->limits.bytes)))
    gr_l_argerror(L, 1, "option 'limit': %s expected, got %llu", limit ? "no more than before" : "1 byte or more",
                  (unsigned long long)limit);
  const int sets_cache = gr_l_push_option(L, 1, "cache");
  if (sets_cache) gr_l_needs_process(L, c);
  if (sets_cache && lua_type(L, -1) != LUA_TSTRING) option_bytes(L, "cache", &cache);
  else if (sets_cache && strcmp(lua_tostring(L, -1), "auto") != 0)
    gr_l_argerror(L, 1, "option 'cache': bytes or 'auto' expected, got '%.40s'", lua_tostring(L, -1));
  if (sets_budget) c->floor = c->budget = budget;
  c->automatic = automatic;
  if (sets_limit) c->limits.bytes = limit, c->limits.lowered = 1;
  if (sets_cache) gr_pool_limit(cache);
  return 0;
}

/* gr.threads(n): how many threads large CPU work is spread over; sets it when n is given. */
static int l_threads(lua_State *L) {
  if (!lua_isnoneornil(L, 1)) {
    gr_l_needs_process(L, gr_l_context(L));
    int64_t n = gr_l_check_int(L, 1);
    if (n < 1 || n > GR_MOST_THREADS)
      gr_l_argerror(L, 1, "1 to %d threads expected, got %lld", GR_MOST_THREADS, (long long)n);
    gr_threads_set((int)n);
  }
  lua_pushinteger(L, gr_threads_count());
  return 1;
}

/* gr.instructions(): the instruction set that the CPU's kernels use. */
static int l_instructions(lua_State *L) {
  lua_pushstring(L, gr_cpu_in_use());
  return 1;
}

/* gr.clock(): seconds on a clock that only goes forward, for timing (os.clock counts the CPU's time of all threads). */
static int l_clock(lua_State *L) {
  lua_pushnumber(L, 1e-9 * (lua_Number)gr_nanoseconds());
  return 1;
}

const gr_function gr_device_functions[] = {
    {"clock", l_clock, 0},       {"backend", l_backend, 0},
    {"devices", l_devices, 0},   {"use", l_use, 0},
    {"stats", l_stats, 0},       {"memory", l_memory, 0},
    {"trim", l_trim, 0},         {"gc", l_gc, 0},
    {"threads", l_threads, 0},   {"instructions", l_instructions, 0},
    {"compiled", l_compiled, 0}, {NULL, NULL, 0},
};
