/* {kernel=, block=, timed=}: one of the ladder's kernels by name; and gr.kernels, which lists them. */
#include <stdio.h>

#include "src/binding/ladder.h"
#include "src/binding/parts.h"
#include "src/binding/results.h"
#include "src/binding/values.h"
#include "src/core/ladder.h"

static int good_block(gr_block_rule rule, int64_t block) {
  if (block < 64 || block > 1024) return 0;
  return rule == GR_BLOCK_ANY || (rule == GR_BLOCK_WARPS ? block % 32 == 0 : (block & (block - 1)) == 0);
}

static const char *const block_words[] = {"none", "64 to 1024", "a multiple of 32 from 64 to 1024",
                                          "a power of two from 64 to 1024"};

static int block_option(lua_State *L, int arg, const gr_rung_info *k) {
  int64_t block = k->block;
  if (!gr_l_option_int(L, arg, "block", &block)) return k->block;
  if (k->rule == GR_BLOCK_OWN) gr_l_argerror(L, arg, "option 'block': kernel '%s' chooses its own", k->name);
  if (!good_block(k->rule, block))
    gr_l_argerror(L, arg, "option 'block': %s expected for kernel '%s', got %lld", block_words[k->rule], k->name,
                  (long long)block);
  return (int)block;
}

static void unknown_kernel(lua_State *L, int arg, gr_taught operation, const char *name) {
  char known[400];
  size_t at = 0;
  known[0] = 0;
  for (int k = 0; k < GR_RUNG_COUNT; k++)
    if (gr_rungs[k].operations & operation && at < sizeof known - 40)
      at += (size_t)snprintf(known + at, sizeof known - at, "%s%s", at ? ", " : "", gr_rungs[k].name);
  gr_l_argerror(L, arg, "option 'kernel': unknown kernel '%.40s' (there are: %s)", name, known);
}

static void check_kernel_dtype(lua_State *L, const gr_rung_info *k, gr_taught operation, gr_dtype t) {
  gr_dtype taught = operation == GR_TAUGHT_histogram ? GR_I32 : GR_F32;
  int adds =
      k->rung == GR_RUNG_F32 || k->rung == GR_RUNG_F64 || k->rung == GR_RUNG_KAHAN || k->rung == GR_RUNG_NEUMAIER;
  if (k->rule != GR_BLOCK_OWN && t != taught)
    gr_l_argerror(L, 1, "kernel '%s': dtype %s expected, got %s", k->name, gr_dtypes[taught].name, gr_dtypes[t].name);
  if (adds && !gr_is_float(t))
    gr_l_argerror(L, 1, "kernel '%s': float dtype expected, got %s", k->name, gr_dtypes[t].name);
  if ((k->rung == GR_RUNG_LARGE || k->rung == GR_RUNG_GLOBAL) && gr_size(t) == 1)
    gr_l_argerror(L, 1, "kernel '%s': dtype of 2 bytes or more expected, got %s", k->name, gr_dtypes[t].name);
}

/* true, or how many runs to take the mean of. */
static int timed_option(lua_State *L, int arg) {
  int64_t runs = 1;
  if (!gr_l_push_option(L, arg, "timed")) return 0;
  const int type = lua_type(L, -1), on = lua_toboolean(L, -1);
  lua_pop(L, 1);
  if (type == LUA_TNUMBER && gr_l_option_int(L, arg, "timed", &runs) && (runs < 1 || runs > 1000000))
    gr_l_argerror(L, arg, "option 'timed': true or 1 to 1000000 runs expected, got %lld", (long long)runs);
  return on ? (int)runs : 0;
}

gr_kernel_choice gr_l_option_kernel(lua_State *L, int arg, gr_taught operation, const gr_array *a) {
  gr_kernel_choice k = {0};
  char text[GR_OPTION_TEXT];
  const char *name = gr_l_option_string(L, arg, "kernel", text);
  const char *alone = name ? NULL : gr_l_first_given(L, arg, "block", "timed");
  if (alone) gr_l_argerror(L, arg, "option '%s': only together with 'kernel'", alone);
  if (!name) return k;
  k.info = gr_rung_named(operation, name);
  if (!k.info) unknown_kernel(L, arg, operation, name);
  check_kernel_dtype(L, k.info, operation, a->dtype);
  k.block = block_option(L, arg, k.info);
  k.timed = timed_option(L, arg);
  return k;
}

void gr_l_check_timed_into(lua_State *L, int arg, const gr_kernel_choice *k, const gr_array *a, const gr_array *into) {
  if (k->timed > 1 && into && gr_array_overlap(a, into))
    gr_l_argerror(L, arg, "option 'timed': 1 run expected where 'into' is the input, got %d", k->timed);
}

int gr_l_push_seconds(lua_State *L, const gr_kernel_choice *k) {
  if (!k->timed) return 0;
  lua_pushnumber(L, k->seconds);
  return 1;
}

/* ---- gr.kernels ---- */

static int is_default(gr_rung r) {
  return r == GR_RUNG_SINGLE_PASS || r == GR_RUNG_SCAN_SINGLE_PASS || r == GR_RUNG_FUSED || r == GR_RUNG_REPLICATED;
}

static void push_row(lua_State *L, const gr_rung_info *k, gr_taught operation) {
  int taught = k->rule != GR_BLOCK_OWN;
  gr_rounding_rule rounding = operation & (GR_TAUGHT_min | GR_TAUGHT_max) ? GR_ERR_EXACT : k->rounding;
  lua_createtable(L, 0, 9);
  gr_l_set_text(L, "name", k->name);
  gr_l_set_text(L, "description", k->text);
  gr_l_set_text(L, "source", k->source);
  gr_l_set_text(L, "dtypes", !taught ? "all" : operation == GR_TAUGHT_histogram ? "i32" : "f32");
  gr_l_set_text(L, "error", gr_rounding_text(rounding));
  if (taught) {
    gr_l_set_whole(L, "block", k->block);
    gr_l_set_text(L, "blocks", block_words[k->rule]);
  }
  lua_pushboolean(L, !k->on_cpu);
  lua_setfield(L, -2, "cuda_only");
  lua_pushboolean(L, is_default(k->rung));
  lua_setfield(L, -2, "default");
}

/* gr.kernels(operation): a list of tables, from the simplest kernel to the module's own. */
static int l_kernels(lua_State *L) {
  char known[120];
  size_t at = 0;
  const char *name = lua_type(L, 1) == LUA_TSTRING ? lua_tostring(L, 1) : NULL;
  for (int k = 0; gr_taught_names[k]; k++)
    at += (size_t)snprintf(known + at, sizeof known - at, "%s%s", k ? ", " : "", gr_taught_names[k]);
  if (!name) gr_l_argerror(L, 1, "operation name expected (%s), got %s", known, gr_l_kind(L, 1));
  gr_taught operation = (gr_taught)gr_taught_named(name);
  if (!operation) gr_l_argerror(L, 1, "no ladder for '%.40s' (there are: %s)", name, known);
  lua_newtable(L);
  for (int k = 0, n = 0; k < GR_RUNG_COUNT; k++) {
    if (!(gr_rungs[k].operations & operation)) continue;
    push_row(L, &gr_rungs[k], operation);
    lua_rawseti(L, -2, ++n);
  }
  return 1;
}

int gr_l_push_taught(lua_State *L, gr_kernel_choice *k, gr_op op, gr_shape shape, gr_array *a, gr_array *b,
                     int options) {
  gr_context *c = gr_l_context(L);
  const int64_t rows = shape.rows ? shape.rows : 1;
  const gr_shape s = {.rows = rows, .axis = 2, .pairs = shape.pairs || !shape.rows};
  const gr_dtype t = gr_result_dtype(op, a->dtype);
  gr_array *out = gr_l_option_into(L, options, t, rows, a);
  gr_vec v;
  gr_l_check_disjoint(L, options, out, b, "input");
  if (!out) out = gr_l_new_beside(L, c, a, t, rows);
  GR_TRY(L, c, 1, gr_ladder_fold(c, k, op, s, a, b, out));
  if (!shape.rows) {
    GR_TRY(L, c, 1, gr_array_read(out, GR_HOST, &v));
    gr_l_push_element(L, t, v.data);
  }
  return 1 + gr_l_push_seconds(L, k);
}

const gr_function gr_ladder_functions[] = {{"kernels", l_kernels, 0}, {NULL, NULL, 0}};
