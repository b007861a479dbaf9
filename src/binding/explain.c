/* gr.explain: what a reduction, a scan or a histogram would do, as a table and as a line. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "src/binding/expression.h"
#include "src/binding/operator.h"
#include "src/binding/options.h"
#include "src/binding/parts.h"
#include "src/binding/reduce.h"
#include "src/binding/results.h"
#include "src/binding/matrix.h"
#include "src/binding/values.h"
#include "src/core/explain.h"

/* What is not known is not there. */
static void set_known(lua_State *L, const char *key, int64_t x) {
  if (x) gr_l_set_whole(L, key, x);
}

static int l_text(lua_State *L) {
  lua_settop(L, 1);
  if (lua_type(L, 1) != LUA_TTABLE) return 0;
  lua_pushliteral(L, "text");
  lua_rawget(L, 1);
  return 1;
}

static void push_metatable(lua_State *L) {
  if (!luaL_newmetatable(L, GR_OWN(explanation))) return;
  lua_pushcfunction(L, l_text);
  lua_setfield(L, -2, "__tostring");
  gr_l_hide_metatable(L, GR_OWN(explanation));
}

static int push(lua_State *L, const char *op, const gr_explanation *e, const char *text) {
  lua_createtable(L, 0, 16);
  gr_l_set_text(L, "op", op);
  gr_l_set_text(L, "device", e->device);
  gr_l_set_text(L, "kernel", e->how.kernel);
  gr_l_set_text(L, "why", e->how.why);
  gr_l_set_text(L, "instructions", e->how.set);
  gr_l_set_text(L, "combine", e->how.combine);
  gr_l_set_text(L, "text", text);
  set_known(L, "launches", e->how.launches);
  set_known(L, "blocks", e->how.blocks);
  set_known(L, "threads", e->how.threads);
  gr_l_set_whole(L, "shared", e->how.shared);
  gr_l_set_whole(L, "scratch", e->how.scratch);
  gr_l_set_whole(L, "reads", e->reads);
  gr_l_set_whole(L, "writes", e->writes);
  gr_l_set_whole(L, "uploads", e->uploads);
  push_metatable(L);
  lua_setmetatable(L, -2);
  return 1;
}

static const gr_array *check_some(lua_State *L) {
  const gr_array *a = gr_l_check_array(L, 2);
  if (a->n == 0) gr_l_argerror(L, 2, "array is empty: there is nothing to do");
  return a;
}

/* gr.explain("scan", a, op, {exclusive, reverse}), as gr.scan has them */
static int explain_scan(lua_State *L) {
  static const char *const names[] = {"exclusive", "reverse", NULL};
  char text[GR_EXPLAIN_TEXT], what[128];
  gr_explanation e;
  const gr_array *a = check_some(L);
  const int at = gr_l_options_at(L, 3, 4);
  const gr_op op = at == 3 || lua_isnoneornil(L, 3) ? GR_OP_sum : gr_l_check_scanned(L, 3);
  gr_l_options_of(L, at, names);
  for (int k = 0; names[k]; k++) gr_l_option_flag(L, at, names[k]); /* they change nothing here, but are checked */
  GR_TRY(L, gr_l_context(L), 2, gr_explain_scan(op, a, &e));
  snprintf(what, sizeof what, "scan (%s) of %" PRId64 " %s", gr_ops[op].name, a->n, gr_dtypes[a->dtype].name);
  gr_explain_line(what, &e, text);
  return push(L, "scan", &e, text);
}

/* gr.explain("histogram", a, {bins, min, max}), or {bins, modulo} */
static int explain_histogram(lua_State *L) {
  enum { MIN = 2, MAX = 4 };
  char text[GR_EXPLAIN_TEXT], what[128];
  gr_explanation e;
  gr_binning b = {.bins = 0};
  const gr_array *a = check_some(L);
  const int given = gr_l_options(L, 3, "bins", "min", "max", "modulo");
  if (!gr_l_option_int(L, 3, "bins", &b.bins)) gr_l_argerror(L, 3, "option 'bins' expected");
  if (b.bins < 1 || b.bins > INT32_MAX)
    gr_l_argerror(L, 3, "option 'bins': 1 to %d expected, got %lld", INT32_MAX, (long long)b.bins);
  b.modulo = gr_l_option_flag(L, 3, "modulo");
  if (b.modulo && gr_is_float(a->dtype))
    gr_l_argerror(L, 3, "option 'modulo': integer dtype expected, got %s", gr_dtypes[a->dtype].name);
  if (b.modulo && given & (MIN | MAX)) gr_l_argerror(L, 3, "option 'modulo': takes no 'min' and 'max'");
  b.has_min = gr_l_option_number(L, 3, "min", &b.min);
  b.has_max = gr_l_option_number(L, 3, "max", &b.max);
  if (!b.modulo && !(b.has_min && b.has_max))
    gr_l_argerror(L, 3, "options 'min' and 'max' expected: the range of the data is not looked for");
  if (!b.modulo && !(b.min < b.max && b.max - b.min <= 0x1.fffffffffffffp+1023))
    gr_l_argerror(L, 3, "option 'min': finite number below 'max' expected, got %.14g", b.min);
  GR_TRY(L, gr_l_context(L), 2, gr_explain_histogram(a, &b, &e));
  snprintf(what, sizeof what, "histogram of %" PRId64 " %s in %lld bins", a->n, gr_dtypes[a->dtype].name,
           (long long)b.bins);
  gr_explain_line(what, &e, text);
  return push(L, "histogram", &e, text);
}

static int explain_operator(lua_State *L, gr_custom *u) {
  gr_context *c = gr_l_context(L);
  char text[GR_EXPLAIN_TEXT];
  gr_explanation e;
  gr_shape shape = {.axis = 2};
  lua_settop(L, 3);
  const gr_reduced a = gr_l_check_reduced(L, 2);
  if (gr_l_options(L, 3, "rows", "axis")) shape = gr_l_option_shape(L, 3, a.a);
  if (!shape.rows) gr_l_refuse_without_rows(L, 3, a.a);
  GR_TRY(L, c, 2, gr_custom_make(c, u, a.a->dtype));
  GR_TRY(L, c, 2, gr_explain_custom(u, shape, a, &e, text));
  return push(L, "operator", &e, text);
}

static int is_called(lua_State *L, const char *name) {
  return lua_type(L, 1) == LUA_TSTRING && !strcmp(lua_tostring(L, 1), name);
}

/* gr.explain(op, a, options), gr.explain(op, a, b, options) */
static int l_explain(lua_State *L) {
  char text[GR_EXPLAIN_TEXT];
  gr_explanation e;
  gr_custom *custom = gr_l_test_operator(L, 1);
  if (custom) return explain_operator(L, custom);
  if (is_called(L, "scan")) return explain_scan(L);
  if (is_called(L, "histogram")) return explain_histogram(L);
  const gr_op op = gr_l_check_op(L, 1);
  const gr_reduction r = gr_l_reduction(L, op, 2);
  GR_TRY(L, gr_l_context(L), 2, gr_explain(&r, &e));
  gr_explain_text(&r, &e, text);
  return push(L, gr_ops[r.op].name, &e, text);
}

const gr_function gr_explain_functions[] = {{"explain", l_explain, 0}, {NULL, NULL, 0}};
