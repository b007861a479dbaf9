/* Reductions: by name, by reduce(op), of one array or two, of the whole or of rows and columns. */
#include <stdio.h>

#include "src/binding/reduce.h"
#include "src/binding/exact.h"
#include "src/binding/expression.h"
#include "src/binding/keeper.h"
#include "src/binding/ladder.h"
#include "src/binding/make.h"
#include "src/binding/map.h"
#include "src/binding/parts.h"
#include "src/binding/results.h"
#include "src/binding/values.h"
#include "src/binding/when.h"
#include "src/core/exact.h"
#include "src/core/ops.h"

/* What a call asks for, gathered from its arguments. */
typedef struct call {
  gr_op op;
  gr_array *a, *b;
  gr_reduced of, with; /* the same; where they are expressions, a and b are promises of their elements */
  gr_shape shape;
  gr_segments segments; /* where shape points when there are any */
  gr_future *gather;    /* where the number goes instead of being computed now, or NULL */
  double ddof;
  gr_kernel_choice kernel; /* asked for by name, or info == NULL */
  int exact, single;       /* correctly rounded; to f32 */
  int options;             /* where the options table is */
  int later;               /* asks for a future */
  int has_at;
  int64_t at; /* the position in 'into' of the only result */
} call;

/* Of expressions: their elements are made, as what follows needs arrays. */
static void make_elements(lua_State *L, call *q) {
  gr_context *c = gr_l_context(L);
  const gr_expression *e = q->of.e, *f = q->with.e;
  if (e) GR_TRY_WITH(L, c, 1, e, f, gr_reduced_eval(c, &q->of));
  if (f) GR_TRY_WITH(L, c, 2, f, e, gr_reduced_eval(c, &q->with));
}

static int is_expression(const call *q) { return q->of.e || q->with.e; }

/* ---- checks ---- */

static void check_empty(lua_State *L, const call *q) {
  int64_t n = gr_shape_length(q->shape, q->a->n);
  if (q->shape.segments && q->segments.count == 0) return;
  if (n == 0 && gr_ops[q->op].raises_on_empty && q->shape.segments)
    gr_l_argerror(L, q->options, "option 'segments': segment %lld is empty: '%s' needs an element",
                  (long long)gr_segments_shortest(&q->segments) + 1, gr_ops[q->op].name);
  if (n == 0 && gr_ops[q->op].raises_on_empty)
    gr_l_argerror(L, 1, "array is empty: '%s' needs an element", gr_ops[q->op].name);
  if ((q->op == GR_OP_var || q->op == GR_OP_std) && q->ddof >= (double)n && !(n == 0 && q->ddof == 0))
    gr_l_argerror(L, q->options, "option 'ddof': less than the length %lld expected, got %.14g", (long long)n, q->ddof);
}

/*
** exact = true, or the state's switch, rounds correctly; out = "f32" rounds to f32. What has no exact form (min), or
** is exact by itself (sums of integers), stays as it is.
*/
static void pick_rounding(lua_State *L, call *q) {
  const int said = gr_l_has_option(L, q->options, "exact");
  q->exact = said ? gr_l_option_flag(L, q->options, "exact") : gr_l_context(L)->exact;
  q->exact = q->exact && gr_exact_has(q->op, q->a->dtype);
  if (!lua_istable(L, q->options)) return;
  if (gr_l_has_option(L, q->options, "accumulate")) {
    if (said && q->exact) gr_l_argerror(L, q->options, "options 'exact' and 'accumulate' exclude each other");
    q->exact = 0;
  }
  if (gr_l_has_option(L, q->options, "out") && !q->exact)
    gr_l_argerror(L, q->options, "option 'out': only for results that 'exact' rounds");
  q->single = gr_l_option_single(L, q->options);
  if (q->exact && !(q->ddof == floor(q->ddof) && fabs(q->ddof) <= 0x1p53))
    gr_l_argerror(L, q->options, "option 'ddof': whole number expected with 'exact', got %.14g", q->ddof);
}

/* accumulate = "f32", "kahan" or "neumaier" picks a sibling of sum and dot; "f64" is the default itself. */
static void pick_accumulator(lua_State *L, call *q) {
#define GR_X(mode) #mode,
  static const char *const modes[] = {GR_MODES(GR_X) "f64", NULL};
#undef GR_X
#define GR_X(mode) {GR_OP_sum_##mode, GR_OP_dot_##mode},
  static const gr_op siblings[][2] = {GR_MODES(GR_X)};
#undef GR_X
  char hint[GR_HINT], text[GR_OPTION_TEXT];
  const char *mode = gr_l_option_string(L, q->options, "accumulate", text);
  int k = 0;
  if (!mode) return;
  while (modes[k] && strcmp(mode, modes[k])) k++;
  if (!modes[k])
    gr_l_argerror(L, q->options, "option 'accumulate': unknown mode '%.40s'%s", mode, gr_l_hint(mode, modes, hint));
  if (!gr_is_float(q->a->dtype))
    gr_l_argerror(L, q->options, "option 'accumulate': float dtype expected, got %s", gr_dtypes[q->a->dtype].name);
  if (modes[k + 1]) q->op = siblings[k][q->op == GR_OP_dot]; /* the last, f64, is how it is */
}

/* Options that say how to read a matrix, where none is read, are a mistake. */
static void refuse_without_rows(lua_State *L, int options) {
  static const char *const need_rows[] = {"axis", "pairs", NULL};
  for (int k = 0; need_rows[k]; k++)
    if (gr_l_has_option(L, options, need_rows[k]))
      gr_l_argerror(L, options, "option '%s': only together with 'rows'", need_rows[k]);
}

/* {into = array, at = i}, which goes with neither rows nor segments; 'into' needs one of the three. */
static void read_at(lua_State *L, call *q) {
  int many = q->shape.rows || q->shape.segments;
  q->has_at = gr_l_option_int(L, q->options, "at", &q->at);
  if (q->has_at && many)
    gr_l_argerror(L, q->options, "option 'at': takes no '%s'", q->shape.rows ? "rows" : "segments");
  if (q->has_at || many) return;
  if (gr_l_has_option(L, q->options, "into"))
    gr_l_argerror(L, q->options, "option 'into': only together with 'at', 'rows' or 'segments'");
}

/* {segments = offsets}: m + 1 rising positions; segment k is a[offsets[k]] up to a[offsets[k + 1] - 1]. */
static void read_segments(lua_State *L, call *q) {
  static const char *const matrix[] = {"rows", "axis", "pairs", NULL};
  gr_context *c = gr_l_context(L);
  int arg = q->options;
  gr_array *offsets = gr_l_option_numbers(L, c, arg, "segments", q->a, GR_I64, "position");
  if (!offsets) return;
  for (int k = 0; matrix[k]; k++)
    if (gr_l_has_option(L, arg, matrix[k])) gr_l_argerror(L, arg, "option 'segments': takes no '%s'", matrix[k]);
  if (offsets->dtype != GR_I64 && offsets->dtype != GR_I32)
    gr_l_argerror(L, arg, "option 'segments': dtype i64 or i32 expected, got %s", gr_dtypes[offsets->dtype].name);
  if (offsets->n < 1) gr_l_argerror(L, arg, "option 'segments': 1 or more positions expected, got 0");
  gr_l_check_device(L, q->a, offsets, arg);
  if (!gr_array_dense(offsets)) {
    gr_array *dense = gr_l_new_beside(L, c, offsets, offsets->dtype, offsets->n);
    GR_TRY(L, c, arg, gr_copy(c, offsets, dense));
    offsets = dense;
  }
  q->segments = (gr_segments){.offsets = offsets, .count = offsets->n - 1};
  q->shape.segments = &q->segments;
}

/* {kernel = "..."}: the whole or its rows, by the kernel of that name; no other option goes with it. */
static int read_kernel(lua_State *L, call *q, int64_t n) {
  static const char *const names[] = {"kernel", "block", "timed", "rows", "pairs", "into", NULL};
  static const char *const others[] = {"axis", "segments", "accumulate", "exact", "out", "at", "async", NULL};
  gr_taught operation = (gr_taught)gr_taught_named(gr_ops[q->op].name);
  if (!operation || !gr_l_asks_kernel(L, q->options)) return 0;
  for (int k = 0; others[k]; k++)
    if (gr_l_has_option(L, q->options, others[k]))
      gr_l_argerror(L, q->options, "option '%s': not together with 'kernel'", others[k]);
  gr_l_options(L, q->options, names);
  q->shape.rows = gr_l_option_rows(L, q->options, n);
  if (!q->shape.rows) refuse_without_rows(L, q->options);
  read_at(L, q);
  q->shape.pairs = gr_l_option_flag(L, q->options, "pairs");
  q->kernel = gr_l_option_kernel(L, q->options, operation, q->a);
  return 1;
}

/*
** {op = ">", value = x}: reduces the mask of that comparison; for a whole array a tally suffices, and no mask is made.
*/
static void read_predicate(lua_State *L, call *q) {
  int whole = !q->shape.rows && !q->shape.segments;
  gr_tally tally = !whole ? GR_TALLY_NONE : q->op == GR_OP_all ? GR_TALLY_ALL : GR_TALLY_COUNT;
  if (gr_l_has_option(L, q->options, "value")) make_elements(L, q);
  gr_array *a = gr_l_predicate(L, q->options, q->a, tally);
  if (!a) return;
  q->a = q->of.a = a;
  if (whole && q->op == GR_OP_count) q->op = GR_OP_sum;
}

static void read_options(lua_State *L, call *q, int64_t n) {
  static const char *const plain[] = {"rows", "axis", "into", "at", "async", "segments", NULL};
  static const char *const testing[] = {"rows", "axis", "into", "at", "async", "segments", "op", "value", NULL};
  static const char *const rounded[] = {"rows", "axis", "into", "at", "async", "segments", "exact", "out", NULL};
  static const char *const summing[] = {"rows",     "axis",       "into",  "at",  "async",
                                        "segments", "accumulate", "exact", "out", NULL};
  static const char *const spread[] = {"rows", "axis", "into", "at", "async", "segments", "ddof", "exact", "out", NULL};
  static const char *const paired[] = {"rows",     "axis",  "into",  "at",  "async",
                                       "segments", "pairs", "exact", "out", NULL};
  static const char *const dots[] = {"rows",  "axis",       "into",  "at",  "async", "segments",
                                     "pairs", "accumulate", "exact", "out", NULL};
  const char *const *names = q->op == GR_OP_sum                                                 ? summing
                             : q->op == GR_OP_dot                                               ? dots
                             : q->op == GR_OP_var || q->op == GR_OP_std                         ? spread
                             : q->op == GR_OP_any || q->op == GR_OP_all || q->op == GR_OP_count ? testing
                             : gr_ops[q->op].inputs == 2                                        ? paired
                             : gr_exact_has(q->op, GR_F64)                                      ? rounded
                                                                                                : plain;
  int64_t axis = 2;
  if (read_kernel(L, q, n) || !gr_l_options(L, q->options, names)) return;
  q->shape.rows = gr_l_option_rows(L, q->options, n);
  read_segments(L, q);
  if (!q->shape.rows && !q->shape.segments) refuse_without_rows(L, q->options);
  read_at(L, q);
  q->later = gr_l_option_flag(L, q->options, "async");
  if (gr_l_option_int(L, q->options, "axis", &axis) && axis != 1 && axis != 2)
    gr_l_argerror(L, q->options, "option 'axis': 1 (down the columns) or 2 (along the rows) expected, got %lld",
                  (long long)axis);
  q->shape.axis = (int)axis;
  q->shape.pairs = gr_l_option_flag(L, q->options, "pairs");
  if (names == testing) read_predicate(L, q);
  if (names == spread) gr_l_option_number(L, q->options, "ddof", &q->ddof);
  if (names != plain && names != testing) pick_rounding(L, q);
  if (names == summing || names == dots) pick_accumulator(L, q);
}

/* ---- results ---- */

/*
** Positions of segments are checked here, right before they are used: whenever Lua allocates, a finalizer may write to
** them, and they could then point anywhere.
*/
static gr_status run_each(lua_State *L, gr_context *c, call *q, gr_array *out, gr_array *out2) {
  if (q->shape.segments) {
    gr_status status = gr_segments_of(c, q->segments.offsets, q->a->n, &q->segments);
    if (status == GR_BAD) gr_l_raise(L, c, status, q->options);
    if (status != GR_OK) return status;
    check_empty(L, q);
  }
  gr_status status = q->exact ? gr_reduced_eval(c, &q->of) : GR_OK;
  if (q->exact && status == GR_OK) status = gr_reduced_eval(c, &q->with);
  if (status != GR_OK) return status;
  if (q->exact) return gr_exact_each(c, q->op, q->shape, q->a, q->b, (int64_t)q->ddof, out);
  if (is_expression(q)) return gr_formula_reduce_each(c, q->op, q->shape, q->of, q->with, q->ddof, out, out2);
  return gr_reduce_each(c, q->op, q->shape, q->a, q->b, q->ddof, out, out2);
}

static void check_apart(lua_State *L, const call *q, const gr_array *out) {
  if (!out) return;
  gr_l_check_expression_apart(L, q->options, q->of.e, out);
  gr_l_check_expression_apart(L, q->options, q->with.e, out);
}

/* Pushes the result array; of minmax two, which take no 'into'. */
static int push_each(lua_State *L, gr_context *c, call *q) {
  gr_dtype t = q->single ? GR_F32 : q->exact ? GR_F64 : gr_result_dtype(q->op, q->a->dtype);
  int64_t n = gr_shape_results(q->shape, q->a->n);
  int two = q->op == GR_OP_minmax, inside = 0;
  gr_array *out[2] = {NULL, NULL};
  if (q->options && lua_istable(L, q->options)) {
    if (!two) out[0] = gr_l_option_into(L, q->options, t, n, q->a);
    else if (gr_l_has_option(L, q->options, "into"))
      gr_l_argerror(L, q->options, "option 'into': minmax gives two arrays, use min and max");
    inside = out[0] != NULL;
    if (inside && ((q->b && gr_array_overlap(out[0], q->b)) ||
                   (q->shape.segments && gr_array_overlap(out[0], q->segments.offsets))))
      gr_l_argerror(L, q->options, "option 'into': overlaps the input");
  }
  check_apart(L, q, out[0]);
  gr_l_before_output(L, c, q->gather);
  if (!inside) out[0] = gr_l_new_beside(L, c, q->a, t, n);
  if (two) out[1] = gr_l_new_beside(L, c, q->a, t, n);
  GR_TRY_WITH(L, c, 1, q->of.e, q->with.e, run_each(L, c, q, out[0], out[1]));
  return two ? 2 : 1;
}

/* By a kernel of the ladder: an array for rows, else one number; then the seconds when asked for. */
static int push_taught(lua_State *L, gr_context *c, call *q) {
  int64_t rows = q->shape.rows ? q->shape.rows : 1;
  gr_shape shape = {.rows = rows, .axis = 2, .pairs = q->shape.pairs || !q->shape.rows};
  gr_dtype t = gr_result_dtype(q->op, q->a->dtype);
  gr_array *out = gr_l_option_into(L, q->options, t, rows, q->a);
  gr_vec v;
  if (out && q->b && gr_array_overlap(out, q->b)) gr_l_argerror(L, q->options, "option 'into': overlaps the input");
  if (!out) out = gr_l_new_beside(L, c, q->a, t, rows);
  GR_TRY(L, c, 1, gr_ladder_fold(c, &q->kernel, q->op, shape, q->a, q->b, out));
  if (!q->shape.rows) {
    GR_TRY(L, c, 1, gr_array_read(out, GR_HOST, &v));
    gr_l_push_element(L, t, v.data);
  }
  return 1 + gr_l_push_seconds(L, &q->kernel);
}

/*
** The number stays on the device, as one element of 'into': of the result's dtype, or f64 or f32 for floats. Gives the
** array.
*/
static gr_status run_at(lua_State *L, gr_context *c, call *q, const gr_array *into, int64_t at) {
  gr_array one = *into; /* lives no longer than this call */
  one.offset += (at - 1) * into->stride;
  one.n = 1;
  return run_each(L, c, q, &one, NULL);
}

static int put_at(lua_State *L, gr_context *c, call *q) {
  gr_dtype t = gr_result_dtype(q->op, q->a->dtype);
  gr_array *into = gr_l_option_array(L, q->options, "into");
  if (!into) gr_l_argerror(L, q->options, "option 'at': only together with 'into'");
  if (q->op == GR_OP_minmax) gr_l_argerror(L, q->options, "option 'into': minmax gives two numbers, use min and max");
  if (into->dtype != t && !(gr_is_float(t) && (into->dtype == GR_F64 || into->dtype == GR_F32)))
    gr_l_argerror(L, q->options, "option 'into': dtype %s expected, got %s", gr_dtypes[t].name,
                  gr_dtypes[into->dtype].name);
  gr_l_check_device(L, q->a, into, q->options);
  int64_t at = q->at < 0 ? q->at + into->n + 1 : q->at;
  if (at < 1 || at > into->n)
    gr_l_argerror(L, q->options, "option 'at': position from 1 to %lld expected, got %lld", (long long)into->n,
                  (long long)q->at);
  gr_array one = *into;
  one.offset += (at - 1) * into->stride;
  one.n = 1;
  if (gr_array_overlap(&one, q->a) || (q->b && gr_array_overlap(&one, q->b)))
    gr_l_argerror(L, q->options, "option 'into': overlaps the input");
  check_apart(L, q, &one);
  gr_l_before_output(L, c, q->gather);
  GR_TRY_WITH(L, c, 1, q->of.e, q->with.e, run_at(L, c, q, into, at));
  return 1;
}

static int push_exact(lua_State *L, gr_context *c, call *q) {
  double x = 0;
  make_elements(L, q);
  GR_TRY(L, c, 1, gr_exact_all(c, q->op, q->a, q->b, (int64_t)q->ddof, q->single, &x));
  lua_pushnumber(L, x);
  return 1;
}

static int finish(lua_State *L, call *q) {
  gr_context *c = gr_l_context(L);
  gr_value r;
  if (!q->shape.segments) check_empty(L, q);
  if (q->kernel.info || q->gather || q->later) make_elements(L, q);
  if (q->kernel.info && (q->kernel.info->rule != GR_BLOCK_OWN || q->kernel.timed || q->shape.rows))
    return push_taught(L, c, q);
  if (q->kernel.info) q->op = gr_ladder_own(q->kernel.info->rung, q->op); /* one number, by the usual way */
  if (q->shape.rows || q->shape.segments || q->has_at || q->exact) {
    int n = q->has_at ? put_at(L, c, q) : q->shape.rows || q->shape.segments ? push_each(L, c, q) : push_exact(L, c, q);
    return q->later && !q->gather ? gr_l_later_values(L, c, n, q->a->storage->queue, gr_ops[q->op].name) : n;
  }
  if (q->gather) return gr_l_gather(L, c, q->gather, q->op, q->a, q->b, q->ddof);
  if (q->later) return gr_l_later(L, c, q->op, q->a, q->b, q->ddof);
  if (is_expression(q))
    GR_TRY_WITH(L, c, 1, q->of.e, q->with.e, gr_formula_reduce_all(c, q->op, q->of, q->with, q->ddof, &r));
  else GR_TRY(L, c, 1, gr_reduce_all(c, q->op, q->a, q->b, q->ddof, &r));
  return gr_l_push_result(L, q->op, &r);
}

/* With rows but without pairs, b is one row (axis 2) or column (axis 1), and is combined with each of a's. arg: b's. */
static void check_second(lua_State *L, const call *q, int arg) {
  if (q->shape.rows == 0 || q->shape.pairs) {
    gr_l_check_pair(L, q->a, q->b, arg);
    return;
  }
  int64_t n = gr_shape_length(q->shape, q->a->n);
  gr_l_check_like(L, q->a, q->b, n, q->shape.axis == 2 ? " (of a row)" : " (of a column)", "ab", arg);
}

/* The operands from argument `first` on; promises go to the top of the stack. */
static void take_operands(lua_State *L, call *q, int first) {
  q->of = gr_l_check_reduced(L, first);
  if (gr_ops[q->op].inputs == 2) q->with = gr_l_check_reduced(L, first + 1);
  q->a = q->of.a;
  q->b = q->with.a;
}

/*
** The operands, at arguments 1 and 2; promises lie on the stack, above all arguments. What they took is given back at
** once: futures hold on to it themselves.
*/
static int reduce_expressions(lua_State *L, gr_op op, int options) {
  gr_context *c = gr_l_context(L);
  const int inputs = gr_ops[op].inputs;
  lua_settop(L, options);
  call q = {.op = op, .options = options, .shape = {.axis = 2}, .gather = gr_l_gathering(L, c)};
  take_operands(L, &q, 1);
  gr_array *promises[2] = {q.of.e ? q.a : NULL, q.with.e ? q.b : NULL};
  if (!lua_isnil(L, options)) read_options(L, &q, q.a->n);
  else q.exact = c->exact && gr_exact_has(op, q.a->dtype);
  if (inputs == 2) check_second(L, &q, 2);
  const int results = finish(L, &q);
  for (int k = 0; k < 2; k++)
    if (promises[k]) gr_l_release(L, promises[k]);
  return results;
}

/* ---- functions ---- */

/*
** The quick way of most calls: one or two whole arrays, no options, the number at once. 0: the call is none of these.
*/
static int plain(lua_State *L, gr_op op, const gr_array *a, const gr_array *b) {
  gr_context *c = gr_l_context(L);
  gr_value r;
  if (c->exact || a->n == 0 || gr_l_gathering(L, c)) return 0;
  GR_TRY(L, c, 1, gr_reduce_all(c, op, a, b, 0, &r));
  return gr_l_push_result(L, op, &r);
}

static int reduce_one(lua_State *L, gr_op op, int options) {
  gr_context *c = gr_l_context(L);
  if (gr_l_has_expression(L, 1)) return reduce_expressions(L, op, options);
  call q = {
      .op = op, .a = gr_l_check_array(L, 1), .options = options, .shape = {.axis = 2}, .gather = gr_l_gathering(L, c)};
  if (!lua_isnoneornil(L, options)) read_options(L, &q, q.a->n);
  else q.exact = c->exact && gr_exact_has(op, q.a->dtype);
  return finish(L, &q);
}

/* gr.sum(a, options) and its like. */
static int reduce_named(lua_State *L, gr_op op) {
  const gr_array *a = lua_isnoneornil(L, 2) ? gr_l_test_array(L, 1) : NULL;
  const int pushed = a && !gr_array_released(a) ? plain(L, op, a, NULL) : 0;
  return pushed ? pushed : reduce_one(L, op, 2);
}

/* gr.reduce(a, op, options) */
static int l_reduce(lua_State *L) {
  if (!gr_l_has_expression(L, 1)) gr_l_check_array(L, 1);
  gr_op op = gr_l_check_op(L, 2);
  if (gr_ops[op].inputs != 1) gr_l_argerror(L, 2, "operation of one array expected, '%s' takes two", gr_ops[op].name);
  return reduce_one(L, op, 3);
}

/* gr.norm(a, p, options), p = 1, 2 (default) or infinity */
static int l_norm(lua_State *L) {
  double p = 2;
  if (!gr_l_has_expression(L, 1)) gr_l_check_array(L, 1);
  const int options = gr_l_options_at(L, 2, 3), given = options > 2 && !lua_isnoneornil(L, 2);
  if (given && lua_type(L, 2) == LUA_TSTRING && !strcmp(lua_tostring(L, 2), "inf")) p = INFINITY;
  else if (given) p = gr_l_check_number(L, 2);
  if (p != 1 && p != 2 && p != INFINITY) gr_l_argerror(L, 2, "norm of order 1, 2 or math.huge expected, got %.14g", p);
  return reduce_one(L, p == 1 ? GR_OP_norm1 : p == 2 ? GR_OP_norm2 : GR_OP_norminf, options);
}

/* gr.dot(a, b, options), mse, cosine */
static int reduce_pair(lua_State *L, gr_op op) {
  gr_array *a = gr_l_test_array(L, 1), *b = gr_l_test_array(L, 2);
  if ((!a || !b) && gr_l_has_expression(L, 2)) return reduce_expressions(L, op, 3);
  if (!a || gr_array_released(a)) gr_l_check_array(L, 1);
  if (!b || gr_array_released(b)) gr_l_check_array(L, 2);
  if (lua_isnoneornil(L, 3)) {
    gr_l_check_pair(L, a, b, 2);
    const int pushed = plain(L, op, a, b);
    if (pushed) return pushed;
  }
  gr_context *c = gr_l_context(L);
  call q = {.op = op, .a = a, .b = b, .options = 3, .shape = {.axis = 2}, .gather = gr_l_gathering(L, c)};
  if (!lua_isnoneornil(L, 3)) read_options(L, &q, q.a->n);
  else q.exact = c->exact && gr_exact_has(q.op, q.a->dtype);
  check_second(L, &q, 2);
  return finish(L, &q);
}

gr_reduction gr_l_reduction(lua_State *L, gr_op op, int first) {
  static const char *const work[] = {"segments", "op", "value", "kernel", "async", "into", "at"};
  gr_context *c = gr_l_context(L);
  call q = {.op = op, .options = first + gr_ops[op].inputs, .shape = {.axis = 2}};
  lua_settop(L, q.options);
  take_operands(L, &q, first);
  for (size_t k = 0; k < sizeof work / sizeof work[0]; k++)
    if (lua_istable(L, q.options) && gr_l_has_option(L, q.options, work[k]))
      gr_l_argerror(L, q.options, "option '%s': not explained, since it is work of its own or changes nothing",
                    work[k]);
  if (!lua_isnoneornil(L, q.options)) read_options(L, &q, q.a->n);
  else q.exact = c->exact && gr_exact_has(op, q.a->dtype);
  if (q.b) check_second(L, &q, first + 1);
  if (gr_shape_length(q.shape, q.a->n) == 0 || gr_shape_results(q.shape, q.a->n) == 0)
    gr_l_argerror(L, first, "array is empty: there is nothing to do");
  return (gr_reduction){.op = q.op,
                        .shape = q.shape,
                        .a = q.a,
                        .b = q.b,
                        .of = q.of.e,
                        .with = q.with.e,
                        .ddof = q.ddof,
                        .exact = q.exact};
}

/* A function each: asking Lua for an upvalue that says which would be a twentieth of a small call. */
#define GR_X(id, inputs, f, i) INPUTS_##id = inputs,
enum { GR_REDUCERS(GR_X) };
#undef GR_X
#define DEFINE_FUNCTION(name, red)                                                           \
  static int l_##name(lua_State *L) {                                                        \
    return INPUTS_##red == 2 ? reduce_pair(L, GR_OP_##name) : reduce_named(L, GR_OP_##name); \
  }
#define DEFINE_NAME(name, red)
#define GR_X(name, red, f, i, e, by) DEFINE_##by(name, red)
GR_OPS(GR_X)
#undef GR_X

#define ROW_FUNCTION(name) {#name, l_##name, 0},
#define ROW_NAME(name)
#define GR_X(name, red, f, i, e, by) ROW_##by(name)
const gr_function gr_reduce_functions[] = {{"reduce", l_reduce, 0}, {"norm", l_norm, 0}, GR_OPS(GR_X){NULL, NULL, 0}};
#undef GR_X
