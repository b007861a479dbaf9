/* Quantiles and the median. */
#include <stdio.h>

#include "src/binding/expression.h"
#include "src/binding/matrix.h"
#include "src/binding/missing.h"
#include "src/binding/options.h"
#include "src/binding/parts.h"
#include "src/binding/ranks.h"
#include "src/binding/results.h"
#include "src/binding/rounding.h"
#include "src/binding/values.h"
#include "src/core/select.h"

static double check_share(lua_State *L, int i, int64_t which) {
  char text[32] = "";
  if (which) snprintf(text, sizeof text, "share %lld: ", (long long)which);
  if (lua_type(L, i) != LUA_TNUMBER) gr_l_argerror(L, 2, "%snumber expected, got %s", text, luaL_typename(L, i));
  const double q = lua_tonumber(L, i);
  if (!(q >= 0 && q <= 1)) gr_l_argerror(L, 2, "%sshare from 0 to 1 expected, got %.14g", text, q);
  return q;
}

static gr_quantile_method check_method(lua_State *L) {
  const int k = gr_l_option_among(L, 3, "method", gr_method_names, "unknown method");
  return k < 0 ? GR_LINEAR : (gr_quantile_method)k;
}

/* The shares of the table at 2, or the only one, in a block on the stack. */
static double *push_shares(lua_State *L, int64_t *count) {
  const int many = lua_istable(L, 2);
  *count = many ? gr_l_list_length(L, 2, 2) : 1;
  double *q = gr_newuserdata(L, (size_t)*count * sizeof *q + 1);
  if (!many) *q = check_share(L, 2, 0);
  for (int64_t k = 0; k < *count && many; k++) {
    gr_rawgeti(L, 2, (lua_Integer)(k + 1));
    q[k] = check_share(L, -1, k + 1);
    lua_pop(L, 1);
  }
  return q;
}

/* What a call asks for besides shares. */
typedef struct asked {
  gr_quantile_method method;
  gr_shape shape;
  gr_sample sample;
  gr_comm *comm; /* over whose ranks the array lies, or NULL */
  int options, keepdims, single;
} asked;

/* Whose fault a failure is. */
static int culprit(const asked *x) { return x->sample.weights || gr_may_miss(&x->sample.missing) ? x->options : 1; }

/*
** An array: a result for each share; of rows or columns one for each of them, and of several shares a matrix, a row for
** each share. f64, or the input's dtype where they are elements of it.
*/
static int push_each(lua_State *L, gr_context *c, const asked *x, const double *q, int64_t count, int matrix) {
  const gr_array *a = x->sample.a;
  const gr_dtype own = gr_quantile_selects(x->method) ? a->dtype : GR_F64, t = x->single ? GR_F32 : own;
  const int64_t n = gr_l_results(L, 2, x->shape.rows ? gr_shape_results(x->shape, a->n) : 1, count);
  gr_array *out = gr_l_option_into(L, x->options, t, n, a);
  if (out && x->keepdims)
    gr_l_argerror(L, x->options, "option 'keepdims': takes no 'into', which has a shape of its own");
  if (out) gr_l_check_mask_apart(L, x->options, &x->sample.missing, out);
  if (!out) {
    out = gr_l_new_part(L, c, x->comm, a, t, n);
    if (x->keepdims) gr_l_keep_dimensions(out, x->shape.axis);
    else if (matrix) out->rows = count;
  }
  GR_TRY_RANKS(L, c, x->comm, culprit(x), gr_quantiles_each(c, x->shape, &x->sample, q, count, x->method, out));
  return 1;
}

/* Each vector has an element. */
static void check_empty(lua_State *L, const gr_array *a, gr_shape s) {
  if (gr_shape_length(s, a->n) == 0 && gr_shape_results(s, a->n) > 0)
    gr_l_argerror(L, 1, "array is empty: '%s' needs an element", gr_l_name(L));
}

/* gr.quantile(a, q or {q1, q2, ...}, {method, into, rows, axis, keepdims, out}) and gr.median(a, the same): exact. */
static int l_quantile(lua_State *L) {
  static const char *const names[] = {"into", "rows", "axis",   "keepdims", "out", "skipnan",
                                      "mask", "comm", "method", "weights",  NULL};
  enum { OF_MEDIAN = 0xff }; /* all but the last two */
  gr_context *c = gr_l_context(L);
  const int median = (int)gr_l_number(L), many = !median && lua_istable(L, 2);
  /* Over ranks elements are stored where all hear of it, should there be no room. */
  gr_reduced of = gr_l_has_option(L, median ? 2 : 3, "comm") ? gr_l_check_operand(L, 1, median ? 2 : 3)
                                                             : (gr_reduced){NULL, gr_l_check_elements(L, 1)};
  gr_array *a = of.a;
  asked x = {
      .options = median ? 2 : 3, .method = GR_MIDDLE, .shape = {.axis = 2}, .sample = {.a = a, .name = gr_l_name(L)}};
  gr_value r;
  double middle = 0.5, *q = &middle;
  int64_t count = 1;
  if (!median && !many && lua_type(L, 2) != LUA_TNUMBER)
    gr_l_argerror(L, 2, "share from 0 to 1 or table of shares expected, got %s", gr_l_kind(L, 2));
  const int given = gr_l_options_among(L, x.options, names, median ? OF_MEDIAN : ~0);
  if (!median) x.method = check_method(L);
  if (!median && given) x.sample.weights = gr_l_option_weights(L, 3, a);
  if (x.sample.weights && gr_l_has_option(L, 3, "method") && x.method != GR_INVERTED)
    gr_l_argerror(L, 3, "option 'weights': only with method 'inverted_cdf'");
  if (x.sample.weights) x.method = GR_INVERTED;
  if (given) {
    x.sample.missing = gr_l_option_missing(L, x.options, a);
    x.shape = gr_l_option_shape(L, x.options, a);
    if (!x.shape.rows) gr_l_refuse_without_rows(L, x.options, a);
    x.keepdims = gr_l_option_flag(L, x.options, "keepdims");
    x.comm = gr_l_option_comm(L, x.options);
    if (x.comm && (x.shape.rows || x.sample.weights))
      gr_l_refuse_with_comm(L, x.options, x.shape.rows ? "rows' or 'axis" : "weights");
    if (of.e) GR_TRY_BEFORE(L, c, x.comm, 1, of.e, NULL, gr_reduced_eval(c, &of));
    if (x.comm && gr_may_miss(&x.sample.missing)) { /* what is present lies over the ranks, too */
      const gr_partial p = {.a = {NULL, a}, .missing = x.sample.missing};
      x.sample.a = gr_l_push_array(L);
      GR_TRY_BEFORE(L, c, x.comm, 1, NULL, NULL, gr_partial_compact(c, &p, p.a, (gr_array *)(uintptr_t)x.sample.a));
      gr_l_drop_elements(L, p.missing.mask);
      x.sample.missing = (gr_missing){0};
    }
    x.single = gr_l_option_out(L, x.options, gr_l_name(L), a->dtype, gr_quantile_selects(x.method) ? a->dtype : GR_F64);
  }
  if (!x.comm) check_empty(L, a, x.shape);
  if (!median) q = push_shares(L, &count);
  if (x.keepdims && many) gr_l_argerror(L, x.options, "option 'keepdims': only together with one share");
  if (many || x.shape.rows) return push_each(L, c, &x, q, count, many && x.shape.rows && count > 0);
  if (gr_l_option_array(L, x.options, "into"))
    gr_l_argerror(L, x.options,
                  median ? "option 'into': only together with 'rows' or 'axis'"
                         : "option 'into': only together with a table of shares");
  GR_TRY_RANKS(L, c, x.comm, culprit(&x), gr_quantiles_sampled(c, &x.sample, q, 1, x.method, &r));
  if (x.single) r.v[0].f = gr_single(r.v[0].f);
  gr_l_push_value(L, &r, 0);
  return 1;
}

const gr_function gr_select_functions[] = {{"quantile", l_quantile, 0}, {"median", l_quantile, 1}, {NULL, NULL, 0}};
