/* gr.safe: what a host takes away from the scripts of strangers, and the limits that it sets them. */
#include "src/binding/safe.h"
#include "src/binding/capi.h"
#include "src/binding/options.h"
#include "src/binding/parts.h"
#include "src/core/threads.h"

static void refuse(lua_State *L, const char *name, const char *what) {
  luaL_error(L, "gpureduce: '%s' is refused: gr.safe allows no %s", name, what);
}

void gr_l_needs_files(lua_State *L, const gr_context *c, const char *name) {
  if (c->limits.safe && !c->limits.files) refuse(L, name, "files");
}

void gr_l_needs_pointers(lua_State *L, const gr_context *c) {
  if (c->limits.safe && !c->limits.wrap) refuse(L, gr_l_name(L), "pointers");
}

void gr_l_needs_process(lua_State *L, const gr_context *c) {
  if (c->limits.safe) refuse(L, gr_l_name(L), "settings of the whole process");
}

/* A limit above 0; 0 if it is not given. */
static int64_t limit(lua_State *L, const char *name) {
  int64_t x = 0;
  if (gr_l_option_int(L, 1, name, &x) && x < 1)
    gr_l_argerror(L, 1, "option '%s': 1 or more expected, got %lld", name, (long long)x);
  return x;
}

/* Limits that the host has set already stay where they are lower. */
static void keep_lower(gr_limits *asked, const gr_limits *set) {
  if (set->bytes && (!asked->bytes || asked->bytes > set->bytes)) {
    asked->bytes = set->bytes;
    asked->lowered = set->lowered;
  }
  if (set->elements && (!asked->elements || asked->elements > set->elements)) asked->elements = set->elements;
  if (set->seconds > 0 && (!(asked->seconds > 0) || asked->seconds > set->seconds)) asked->seconds = set->seconds;
}

/*
** gr.safe{files, wrap, bytes, elements, seconds, threads}: from here on, for good. Files and wrapped pointers are
** refused unless they are allowed by true, what concerns the whole process always.
*/
static int l_safe(lua_State *L) {
  gr_context *c = gr_l_context(L);
  gr_limits limits = {.safe = 1};
  gr_l_options(L, 1, "files", "wrap", "bytes", "elements", "seconds", "threads");
  limits.files = gr_l_option_flag(L, 1, "files");
  limits.wrap = gr_l_option_flag(L, 1, "wrap");
  limits.bytes = (size_t)limit(L, "bytes");
  limits.elements = limit(L, "elements");
  const int64_t threads = limit(L, "threads");
  if (threads > GR_MOST_THREADS)
    gr_l_argerror(L, 1, "option 'threads': 1 to %d expected, got %lld", GR_MOST_THREADS, (long long)threads);
  if (gr_l_option_number(L, 1, "seconds", &limits.seconds) && !(limits.seconds > 0))
    gr_l_argerror(L, 1, "option 'seconds': more than 0 expected, got %.14g", limits.seconds);
  if (c->limits.safe) return luaL_error(L, "gpureduce: gr.safe has been called in this state, and cannot be undone");
  if (threads) gr_threads_set((int)threads);
  keep_lower(&limits, &c->limits);
  c->limits = limits;
  gr_l_capi_hide(L);
  c->stop.most = limits.seconds < 9e9 ? (int64_t)ceil(limits.seconds * 1e9) : 0;
  return 0;
}

const gr_function gr_safe_functions[] = {{"safe", l_safe, 0}, {NULL, NULL, 0}};
