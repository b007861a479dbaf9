/* Operations from array to array: scan, rmsnorm and softmax. */
#include "src/binding/expression.h"
#include "src/binding/keeper.h"
#include "src/binding/ladder.h"
#include "src/binding/matrix.h"
#include "src/binding/missing.h"
#include "src/binding/operator.h"
#include "src/binding/parts.h"
#include "src/binding/ranks.h"
#include "src/binding/reduce.h"
#include "src/binding/results.h"
#include "src/core/ops.h"

gr_op gr_l_check_scanned(lua_State *L, int arg) {
  char hint[GR_HINT];
  if (lua_type(L, arg) != LUA_TSTRING) gr_l_argerror(L, arg, "operation name expected, got %s", gr_l_kind(L, arg));
  const char *name = lua_tostring(L, arg);
  for (int k = 0; gr_scanned_names[k]; k++)
    if (!strcmp(name, gr_scanned_names[k])) return (gr_op)gr_op_named(name);
  _Static_assert(GR_SCANNED_COUNT == 4, "the text names all");
  gr_l_argerror(L, arg, "scan of sum, prod, min or max expected, got '%.40s'%s", name,
                gr_op_named(name) < 0 ? gr_l_hint(name, gr_scanned_names, hint) : "");
}

/* gr.scan(a, op, {exclusive, reverse, into, rows, axis, skipnan, mask}) */
static int l_scan(lua_State *L) {
  enum {
    INTO = 1,
    EXCLUSIVE = 2,
    REVERSE = 4,
    KERNEL = 8 + 16 + 32,
    SHAPE = 64 + 128,
    MISSING = 256 + 512,
    COMM = 1024
  };
  static const char *const names[] = {"into", "exclusive", "reverse", "kernel", "block", "timed",
                                      "rows", "axis",      "skipnan", "mask",   "comm",  NULL};
  gr_context *c = gr_l_context(L);
  gr_custom *custom = gr_l_test_operator(L, 2);
  if (custom) return lua_settop(L, 3), gr_l_operator_scan(L, custom, 1, 3);
  gr_reduced of = gr_l_check_operand(L, 1, 3);
  gr_array *a = of.a;
  gr_kernel_choice k; /* large: what is asked of it without a kernel */
  k.info = NULL;
  k.timed = 0;
  const int at = gr_l_options_at(L, 2, 3);
  gr_op op = at == 2 || lua_isnoneornil(L, 2) ? GR_OP_sum : gr_l_check_scanned(L, 2);
  gr_array *into;
  const int given = gr_l_options_into(L, at, names, &into), place = lua_gettop(L);
  int exclusive = given & EXCLUSIVE && gr_l_option_flag(L, at, "exclusive");
  int reverse = given & REVERSE && gr_l_option_flag(L, at, "reverse");
  gr_shape shape = {.axis = 2};
  if (given & SHAPE) shape = gr_l_option_shape(L, at, a);
  if (given & SHAPE && !shape.rows) gr_l_refuse_without_rows(L, at, a);
  if (given & KERNEL) k = gr_l_option_kernel(L, at, GR_TAUGHT_scan, a);
  if (k.info && shape.rows) gr_l_argerror(L, at, "option 'kernel': takes no rows or columns");
  if (k.info && given & MISSING)
    gr_l_argerror(L, at, "option 'kernel': takes no '%s'", gr_l_has_option(L, at, "mask") ? "mask" : "skipnan");
  if (k.info && k.block && op != GR_OP_sum)
    gr_l_argerror(L, 2, "kernel '%s': scan of sum expected, got '%s'", k.info->name, gr_ops[op].name);
  if (k.info && k.block && reverse)
    gr_l_argerror(L, at, "option 'reverse': kernel '%s' scans forwards only", k.info->name);
  gr_comm *comm = given & COMM ? gr_l_option_comm(L, at) : NULL;
  if (comm && given & (KERNEL | SHAPE)) gr_l_refuse_with_comm(L, at, given & KERNEL ? "kernel" : "rows' or 'axis");
  gr_dtype t = gr_scan_dtype(op, a->dtype);
  gr_partial p = {.a = of};
  if (given & MISSING) p.missing = gr_l_option_missing(L, at, a);
  gr_array *out = NULL;
  if (into && into->storage && !(given & KERNEL)) { /* seen on the way */
    out = gr_l_check_into(L, at, into, t, a->n, a);
    if (given & MISSING) lua_pushvalue(L, place);
  } else if (given & INTO) out = gr_l_option_into(L, at, t, a->n, a);
  gr_l_check_timed_into(L, at, &k, a, out);
  if (out && given & MISSING) gr_l_check_mask_apart(L, at, &p.missing, out);
  const int64_t rows = a->rows;
  if (!out) out = gr_l_new_part(L, c, comm, a, t, a->n), out->rows = rows;
  if (comm && gr_may_miss(&p.missing)) {
    gr_array *filled = gr_l_push_array(L);
    GR_TRY_BEFORE(L, c, comm, 1, of.e, NULL, gr_partial_filled(c, op, &p, filled));
    gr_l_drop_elements(L, of);
    gr_l_drop_elements(L, p.missing.mask);
    GR_TRY_RANKS(L, c, comm, 1, gr_scan(c, op, filled, out, exclusive, reverse));
    gr_l_release(L, filled);
    return lua_pop(L, 1), 1;
  }
  if (of.e && (k.info || comm)) GR_TRY_BEFORE(L, c, comm, 1, of.e, NULL, gr_reduced_eval(c, &of));
  if (comm) {
    GR_TRY_RANKS(L, c, comm, 1, gr_scan(c, op, a, out, exclusive, reverse));
    gr_l_drop_elements(L, of);
    return 1;
  }
  GR_TRY_WITH(L, c, 1, of.e, NULL,
              k.info ? gr_ladder_scan(c, &k, op, a, out, exclusive, reverse)
                     : gr_partial_scan(c, op, shape, &p, out, exclusive, reverse));
  gr_l_drop_elements(L, of);
  gr_l_drop_elements(L, p.missing.mask);
  return 1 + gr_l_push_seconds(L, &k);
}

/* The option 'rows', or those of a matrix, or one. */
static int64_t rows_of(lua_State *L, int options, const gr_array *x) {
  const int64_t rows = gr_l_option_rows(L, options, x->n);
  return rows ? rows : x->rows ? x->rows : 1;
}

/* gr.rmsnorm(x, w, {rows, eps, into}): w may be nil */
static int l_rmsnorm(lua_State *L) {
  static const char *const names[] = {"rows", "eps", "into", "kernel", "block", "timed", NULL};
  gr_context *c = gr_l_context(L);
  gr_array *x = gr_l_check_elements(L, 1), *w = NULL;
  const int at = gr_l_options_at(L, 2, 3);
  if (at > 2 && !lua_isnoneornil(L, 2)) w = gr_l_check_array(L, 2);
  double eps = 1e-5;
  if (!gr_is_float(x->dtype)) gr_l_argerror(L, 1, "float dtype expected, got %s", gr_dtypes[x->dtype].name);
  gr_l_options_of(L, at, names);
  int64_t rows = rows_of(L, at, x);
  gr_l_option_number(L, at, "eps", &eps);
  if (!(eps >= 0 && eps - eps == 0)) gr_l_argerror(L, at, "option 'eps': 0 or more expected, got %.14g", eps);
  gr_kernel_choice k = gr_l_option_kernel(L, at, GR_TAUGHT_rmsnorm, x);
  if (w) gr_l_check_like(L, x, w, x->n / rows, " (of a row)", "xw", 2);
  gr_array *out = gr_l_option_into(L, at, x->dtype, x->n, x);
  gr_l_check_disjoint(L, at, out, w, "weights");
  gr_l_check_timed_into(L, at, &k, x, out);
  if (!out) out = gr_l_new_like(L, c, x, x->dtype);
  GR_TRY(L, c, 1, k.info ? gr_ladder_rmsnorm(c, &k, x, w, out, rows, eps) : gr_rmsnorm(c, x, w, out, rows, eps));
  return 1 + gr_l_push_seconds(L, &k);
}

/* gr.softmax(x, {rows, into}): each row exp(x - max) over the sum of these. */
static int l_softmax(lua_State *L) {
  gr_context *c = gr_l_context(L);
  gr_array *x = gr_l_check_elements(L, 1);
  if (!gr_is_float(x->dtype)) gr_l_argerror(L, 1, "float dtype expected, got %s", gr_dtypes[x->dtype].name);
  gr_l_options(L, 2, "rows", "into");
  int64_t rows = rows_of(L, 2, x);
  gr_array *out = gr_l_option_into(L, 2, x->dtype, x->n, x);
  if (!out) out = gr_l_new_like(L, c, x, x->dtype);
  GR_TRY(L, c, 1, gr_softmax(c, x, out, rows));
  return 1;
}

const gr_function gr_scan_functions[] = {
    {"scan", l_scan, 0}, {"rmsnorm", l_rmsnorm, 0}, {"softmax", l_softmax, 0}, {NULL, NULL, 0}};
