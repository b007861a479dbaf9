/* gr.explain: what a reduction would do, as a table and as a line. */
#include <string.h>

#include "src/binding/options.h"
#include "src/binding/parts.h"
#include "src/binding/reduce.h"
#include "src/binding/results.h"
#include "src/core/explain.h"

#define EXPLANATION_NAME "gpureduce.explanation"

static void set_text(lua_State *L, const char *key, const char *text) {
  if (!text) return;
  lua_pushstring(L, text);
  lua_setfield(L, -2, key);
}

/* What is not known is not there. */
static void set_known(lua_State *L, const char *key, int64_t x) {
  if (!x) return;
  lua_pushinteger(L, (lua_Integer)x);
  lua_setfield(L, -2, key);
}

static void set_number(lua_State *L, const char *key, int64_t x) {
  lua_pushinteger(L, (lua_Integer)x);
  lua_setfield(L, -2, key);
}

static int l_text(lua_State *L) {
  lua_settop(L, 1);
  if (lua_type(L, 1) != LUA_TTABLE) return 0;
  lua_pushliteral(L, "text");
  lua_rawget(L, 1);
  return 1;
}

static void push_metatable(lua_State *L) {
  if (!luaL_newmetatable(L, EXPLANATION_NAME)) return;
  lua_pushcfunction(L, l_text);
  lua_setfield(L, -2, "__tostring");
  gr_l_hide_metatable(L, EXPLANATION_NAME);
}

/* gr.explain(op, a, options), gr.explain(op, a, b, options) */
static int l_explain(lua_State *L) {
  char text[GR_EXPLAIN_TEXT];
  gr_explanation e;
  const gr_op op = gr_l_check_op(L, 1);
  const gr_reduction r = gr_l_reduction(L, op, 2);
  GR_TRY(L, gr_l_context(L), 2, gr_explain(&r, &e));
  gr_explain_text(&r, &e, text);
  lua_createtable(L, 0, 16);
  set_text(L, "op", gr_ops[r.op].name);
  set_text(L, "device", e.device);
  set_text(L, "kernel", e.how.kernel);
  set_text(L, "why", e.how.why);
  set_text(L, "instructions", e.how.set);
  set_text(L, "combine", e.how.combine);
  set_text(L, "text", text);
  set_known(L, "launches", e.how.launches);
  set_known(L, "blocks", e.how.blocks);
  set_known(L, "threads", e.how.threads);
  set_number(L, "shared", e.how.shared);
  set_number(L, "scratch", e.how.scratch);
  set_number(L, "reads", e.reads);
  set_number(L, "writes", e.writes);
  set_number(L, "uploads", e.uploads);
  push_metatable(L);
  lua_setmetatable(L, -2);
  return 1;
}

const gr_function gr_explain_functions[] = {{"explain", l_explain, 0}, {NULL, NULL, 0}};
