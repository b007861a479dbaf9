/*
** Two arrays beside each other: gr.allclose, gr.isclose and gr.differ, which are one formula and what becomes of it;
** and gr.isarray.
*/
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "src/binding/expression.h"
#include "src/binding/lazy.h"
#include "src/binding/options.h"
#include "src/binding/parts.h"
#include "src/binding/results.h"
#include "src/binding/shape.h"
#include "src/binding/values.h"

/*
** NumPy's rule, in f64 whatever the dtypes. Infinities are close to themselves alone. f64 does not hold all of i64, so
** integers are subtracted as such, unless they lie so far apart that this would wrap: then f64 is near enough.
*/
#define WITHIN " <= atol + rtol * abs(f64(b))"
#define FLOATS "(abs(f64(a) - f64(b))" WITHIN " and isfinite(f64(b))) or f64(a) == f64(b)"
#define FLOATS_OR_NAN FLOATS " or (isnan(f64(a)) and isnan(f64(b)))"
#define INTEGERS \
  "where(abs(f64(a) - f64(b)) < 4611686018427387904, f64(abs(i64(a) - i64(b))), abs(f64(a) - f64(b)))" WITHIN
/* The first position where that does not hold, as the least of these; n + 1 if there is none. */
#define POSITION(close) "where(" close ", n + 1, i)"
/*
** The element of x at position p, as the sum of these. y, which may be x too, is there for its shape: that says how x
** is repeated. none: what adds nothing to it, whatever it is; of floats -0.0.
*/
#define ELEMENT(cast, none) "where(i == p, " cast "(x), where(i < 0, " cast "(y), " none "))"

/* What is compared, and how. */
typedef struct comparison {
  gr_given a, b;
  double relative, absolute;
  int nan_equal;
} comparison;

static int is_number(const gr_given *g) { return !g->array && !g->expression; }

static int is_integer(const gr_given *g) {
  if (is_number(g)) return g->number.integer;
  return !gr_is_float(g->array ? g->array->dtype : gr_expression_dtype(g->expression));
}

/* ---- formulas ---- */

/* What binding says of a place in the text, which callers have never seen, without that place. */
static void forget_place(gr_context *c) {
  int skip = 0;
  char *end = strchr(c->error, '\n');
  if (end) *end = 0;
  if (sscanf(c->error, "column %*d: %n", &skip) >= 0 && skip)
    memmove(c->error, c->error + skip, strlen(c->error + skip) + 1);
}

/* The text with its names' meanings as an expression, on the stack. */
static gr_expression *push_bound(lua_State *L, const char *text, const gr_named *names) {
  gr_context *c = gr_l_context(L);
  gr_given given[GR_FORMULA_NAMES];
  gr_status status;
  gr_formula *f = gr_newuserdata(L, gr_formula_room(strlen(text)));
  GR_TRY(L, c, 1, gr_formula_read(c, f, text, strlen(text)));
  for (int k = 0; k < f->name_count; k++) {
    const gr_named *m = names;
    while (strcmp(m->name, f->names[k].text) != 0) m++;
    given[k] = m->given;
  }
  gr_expression *e = gr_l_push_expression(L, gr_formula_expression_room(f, given));
  GR_AGAIN(L, c, status, gr_formula_bind(c, f, given, -1, e));
  if (status == GR_BAD) forget_place(c);
  if (status != GR_OK) gr_l_raise(L, c, status, 2);
  lua_remove(L, -2); /* the formula, which a second try would have needed */
  return e;
}

static gr_expression *push_comparison(lua_State *L, const comparison *q, const char *floats, const char *floats_or_nan,
                                      const char *integers) {
  const gr_named names[] = {{"a", q->a},
                            {"b", q->b},
                            {"rtol", {.number = gr_number_f(q->relative)}},
                            {"atol", {.number = gr_number_f(q->absolute)}}};
  const int whole = is_integer(&q->a) && is_integer(&q->b);
  return push_bound(L, whole ? integers : q->nan_equal ? floats_or_nan : floats, names);
}

/* The whole expression, which is on top of the stack and goes, as one result. */
static gr_value reduce(lua_State *L, gr_op op, gr_expression *e) {
  gr_context *c = gr_l_context(L);
  gr_value r;
  const gr_reduced of = gr_l_check_reduced(L, lua_gettop(L));
  GR_TRY_WITH(L, c, 1, e, NULL, gr_formula_reduce_all(c, op, of, GR_NONE, 0, &r));
  gr_l_drop_elements(L, of);
  gr_expression_release(e);
  e->released = 1;
  lua_pop(L, 2);
  return r;
}

/* ---- arguments ---- */

static void read_tolerance(lua_State *L, const char *name, double *x) {
  if (gr_l_option_number(L, 3, name, x) && !(*x >= 0 && *x < INFINITY))
    gr_l_argerror(L, 3, "option '%s': finite number of 0 or more expected, got %.14g", name, *x);
}

/*
** (a, b, {rtol, atol, nan_equal}) with NumPy's defaults; strict: those without options are of no tolerance. The names
** of options end with those that the caller reads itself.
*/
static comparison read_arguments(lua_State *L, const char *const *names, int strict) {
  comparison q = {.relative = 1e-5, .absolute = 1e-8};
  lua_settop(L, 3);
  q.a = gr_l_given(L, 1);
  q.b = gr_l_given(L, 2);
  if (is_number(&q.a) && is_number(&q.b)) gr_l_argerror(L, 1, "array or expression expected, got number");
  if (!gr_l_options_of(L, 3, names)) {
    if (strict) q.relative = q.absolute = 0, q.nan_equal = 1;
    return q;
  }
  read_tolerance(L, "rtol", &q.relative);
  read_tolerance(L, "atol", &q.absolute);
  q.nan_equal = gr_l_option_flag(L, 3, "nan_equal");
  return q;
}

static const char *const names_of_options[] = {"rtol", "atol", "nan_equal", NULL};

/* ---- functions ---- */

/* gr.allclose(a, b, {rtol, atol, nan_equal}) */
static int l_allclose(lua_State *L) {
  const comparison q = read_arguments(L, names_of_options, 0);
  const gr_value r = reduce(L, GR_OP_all, push_comparison(L, &q, FLOATS, FLOATS_OR_NAN, INTEGERS));
  return gr_l_push_result(L, GR_OP_all, &r);
}

static int is_lazy(const gr_given *g) { return g->expression && !gr_expression_line(g->expression); }

/* gr.isclose(a, b, {rtol, atol, nan_equal, into}): a mask; an expression if there is one among the operands. */
static int l_isclose(lua_State *L) {
  static const char *const names[] = {"rtol", "atol", "nan_equal", "into", NULL};
  const comparison q = read_arguments(L, names, 0);
  const int lazy = is_lazy(&q.a) || is_lazy(&q.b);
  if (lazy && gr_l_has_option(L, 3, "into"))
    gr_l_argerror(L, 3, "option 'into': e:eval{into=} stores the elements of an expression");
  gr_expression *e = push_comparison(L, &q, FLOATS, FLOATS_OR_NAN, INTEGERS);
  if (lazy) return 1;
  gr_l_evaluate(L, e, 3);
  gr_expression_release(e);
  e->released = 1;
  return 1;
}

/* The element of one side, at arg, at position p (from 1) of what is compared; y: the other side. */
static void push_element(lua_State *L, int arg, const gr_given *x, const gr_given *y, int64_t n, int64_t p) {
  gr_context *c = gr_l_context(L);
  gr_vec v;
  if (is_number(x)) {
    lua_pushvalue(L, arg);
    return;
  }
  if (x->array && x->array->n == n) {
    const gr_array one = gr_l_element(x->array, p);
    GR_TRY(L, c, arg, gr_array_read(&one, GR_HOST, &v));
    gr_l_push_element(L, one.dtype, v.data);
    return;
  }
  const gr_named names[] = {{"x", *x}, {"y", is_number(y) ? *x : *y}, {"p", {.number = gr_number_i(p)}}};
  const char *const text = is_integer(x) ? ELEMENT("i64", "0") : ELEMENT("f64", "-0.0");
  const gr_value r = reduce(L, GR_OP_sum, push_bound(L, text, names));
  gr_l_push_value(L, &r, 0);
}

/* gr.differ(a, b, {rtol, atol, nan_equal}): the first position that differs and both elements there; nil: none does. */
static int l_differ(lua_State *L) {
  const comparison q = read_arguments(L, names_of_options, 1);
  gr_expression *e = push_comparison(L, &q, POSITION(FLOATS), POSITION(FLOATS_OR_NAN), POSITION(INTEGERS));
  const int64_t n = e->n;
  const int64_t p = n ? reduce(L, GR_OP_min, e).v[0].i : 1;
  if (p > n) return lua_pushnil(L), 1;
  lua_pushinteger(L, (lua_Integer)p);
  push_element(L, 1, &q.a, &q.b, n, p);
  push_element(L, 2, &q.b, &q.a, n, p);
  return 3;
}

/* gr.isarray(x): of any value, and of none, without asking it. */
static int l_isarray(lua_State *L) {
  lua_pushboolean(L, gr_l_test_any_array(L, 1) != NULL);
  return 1;
}

const gr_function gr_close_functions[] = {
    {"allclose", l_allclose, 0}, {"isclose", l_isclose, 0}, {"differ", l_differ, 0},
    {"isarray", l_isarray, 0},   {NULL, NULL, 0},
};
