#include "src/binding/rounding.h"
#include "src/binding/keeper.h"
#include "src/binding/ranks.h"
#include "src/binding/results.h"
#include "src/core/map.h"

int gr_l_option_single(lua_State *L, int arg) {
  char text[GR_OPTION_TEXT];
  const char *name = gr_l_option_string(L, arg, "out", text);
  int t = name ? gr_dtype_named(name) : GR_F64;
  if (t != GR_F32 && t != GR_F64) gr_l_argerror(L, arg, "option 'out': f32 or f64 expected, got '%.40s'", name);
  return t == GR_F32;
}

int gr_l_option_out(lua_State *L, int arg, const char *name, gr_dtype t, gr_dtype result) {
  if (!gr_l_has_option(L, arg, "out")) return 0;
  const int single = gr_l_option_single(L, arg);
  if (result != GR_F64)
    gr_l_argerror(L, arg, "option 'out': only for results of f64, '%s' of %s gives %s", name, gr_dtypes[t].name,
                  gr_dtypes[result].name);
  return single;
}

gr_status gr_l_round_into(gr_context *c, const gr_array *wide, gr_array *out) {
  const gr_map_call call = {.op = GR_MAP_cast, .dtype = GR_F64, .a = {wide, 0}};
  return gr_map_arrays(c, &call, out);
}

static gr_status round_new(gr_context *c, const gr_array *wide, gr_array *out) {
  gr_array_release(out); /* of a first try */
  const gr_status status = gr_array_make_beside(c, wide, out, GR_F32, wide->n);
  if (status != GR_OK) return status;
  out->rows = wide->rows;
  return gr_l_round_into(c, wide, out);
}

void gr_l_round_top(lua_State *L, gr_context *c, gr_comm *comm, int arg) {
  gr_array *wide = gr_l_test_array(L, -1);
  gr_l_reserve_array(L, c, GR_F32, wide->n);
  gr_array *out = gr_l_push_array(L);
  GR_TRY_AFTER(L, c, comm, arg, round_new(c, wide, out));
  gr_l_release(L, wide);
  lua_replace(L, -2);
}

gr_op gr_l_option_accumulate(lua_State *L, int arg, gr_op op, gr_dtype t) {
#define GR_X(mode) #mode,
  static const char *const modes[] = {GR_MODES(GR_X) "f64", NULL};
#undef GR_X
#define GR_X(mode) {GR_OP_sum_##mode, GR_OP_dot_##mode},
  static const gr_op siblings[][2] = {GR_MODES(GR_X)};
#undef GR_X
  const int k = gr_l_option_among(L, arg, "accumulate", modes, "unknown mode");
  if (k < 0) return op;
  if (!gr_is_float(t)) gr_l_argerror(L, arg, "option 'accumulate': float dtype expected, got %s", gr_dtypes[t].name);
  return modes[k + 1] ? siblings[k][op == GR_OP_dot] : op; /* the last, f64, is how it is */
}
