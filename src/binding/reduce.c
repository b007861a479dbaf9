/* Reductions: by name, by reduce(op), of one array or two, of the whole or of rows and columns. */
#include "src/binding/reduce.h"
#include "src/binding/expression.h"
#include "src/binding/keeper.h"
#include "src/binding/ladder.h"
#include "src/binding/matrix.h"
#include "src/binding/missing.h"
#include "src/binding/operator.h"
#include "src/binding/parts.h"
#include "src/binding/reduction.h"
#include "src/binding/results.h"
#include "src/binding/shape.h"
#include "src/binding/values.h"
#include "src/binding/when.h"
#include "src/core/missing.h"
#include "src/core/ops.h"

static int is_partial(const gr_call *q) { return gr_may_miss(&q->missing); }

/* What was stored for this call alone. Elements that a future reads are no expression any more. */
static void drop_elements(lua_State *L, const gr_call *q) {
  gr_l_drop_elements(L, q->of);
  gr_l_drop_elements(L, q->with);
  gr_l_drop_elements(L, q->missing.mask);
}

/* ---- checks ---- */

static void check_empty(lua_State *L, const gr_call *q) {
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

/* Names that gr.reduce takes include operations of floats alone. */
static void check_dtype(lua_State *L, const gr_call *q, int arg) {
  if (gr_acc_kind_of(gr_reducer_of(q->op, q->a->dtype), q->a->dtype) == GR_ACC_NONE)
    gr_l_argerror(L, arg, "float dtype expected for '%s', got %s", gr_ops[q->op].name, gr_dtypes[q->a->dtype].name);
}

/* ---- results ---- */

/* What is reduced, as the core takes it. */
static gr_partial_reduction partial(const gr_call *q) {
  const gr_reduced a = {q->of.e, q->a}, b = {q->with.e, q->b};
  const gr_partial of = {.a = a, .b = b, .tested = q->tested, .missing = q->missing};
  return (gr_partial_reduction){q->op, q->shape, of, q->ddof, q->exact, q->single, q->transposed, 0};
}

/*
** Positions of segments are checked here, right before they are used: whenever Lua allocates, a finalizer may write to
** them, and they could then point anywhere.
*/
static gr_status run_each(lua_State *L, gr_context *c, gr_call *q, gr_array *out, gr_array *out2) {
  if (q->shape.segments) {
    gr_status status = gr_segments_of(c, q->segments.offsets, q->a->n, &q->segments);
    if (status == GR_BAD) gr_l_raise(L, c, status, q->options);
    if (status != GR_OK) return status;
    check_empty(L, q);
  }
  const gr_partial_reduction p = partial(q);
  return GR_LATER(c, q->later, gr_partial_each(c, &p, out, out2));
}

static void check_apart(lua_State *L, const gr_call *q, const gr_array *out) {
  if (!out) return;
  gr_l_check_expression_apart(L, q->options, q->of.e, out);
  gr_l_check_expression_apart(L, q->options, q->with.e, out);
  gr_l_check_mask_apart(L, q->options, &q->missing, out);
  if (is_partial(q)) gr_l_check_disjoint(L, q->options, out, q->tested.a, "input");
}

/* Whose fault a failure is: of vectors without an element, the option's that leaves none. */
static int culprit(const gr_call *q) { return is_partial(q) ? q->options : 1; }

/* Pushes the result array; of minmax two, which take no 'into'. */
static int push_each(lua_State *L, gr_context *c, gr_call *q) {
  gr_dtype t = q->single ? GR_F32 : q->exact ? GR_F64 : gr_result_dtype(q->op, q->a->dtype);
  int64_t n = gr_shape_results(q->shape, q->a->n);
  int two = q->op == GR_OP_minmax, inside = 0;
  gr_array *out[2] = {NULL, NULL};
  if (q->keepdims && q->given & HAS_into)
    gr_l_argerror(L, q->options, "option 'keepdims': takes no 'into', which has a shape of its own");
  if (q->given & HAS_into) {
    if (two) gr_l_argerror(L, q->options, "option 'into': minmax gives two arrays, use min and max");
    out[0] = gr_l_option_into(L, q->options, t, n, q->a);
    inside = out[0] != NULL;
    gr_l_check_disjoint(L, q->options, out[0], q->b, "input");
    if (q->shape.segments) gr_l_check_disjoint(L, q->options, out[0], q->segments.offsets, "input");
  }
  check_apart(L, q, out[0]);
  gr_l_before_output(L, c, q->gather);
  if (!inside) out[0] = gr_l_new_beside(L, c, q->a, t, n);
  if (two) out[1] = gr_l_new_beside(L, c, q->a, t, n);
  for (int k = 0; k <= two && q->keepdims; k++)
    gr_l_keep_dimensions(out[k], q->transposed ? 3 - q->shape.axis : q->shape.axis);
  GR_TRY_WITH(L, c, culprit(q), q->of.e, q->with.e, run_each(L, c, q, out[0], out[1]));
  return two ? 2 : 1;
}

/*
** The number stays on the device, as one element of 'into': of the result's dtype, or f64 or f32 for floats. Gives the
** array.
*/
static gr_status run_at(lua_State *L, gr_context *c, gr_call *q, const gr_array *into, int64_t at) {
  gr_array one = gr_l_element(into, at);
  return run_each(L, c, q, &one, NULL);
}

static int put_at(lua_State *L, gr_context *c, gr_call *q) {
  gr_dtype t = q->single ? GR_F32 : gr_result_dtype(q->op, q->a->dtype);
  gr_array *into = gr_l_option_array(L, q->options, "into");
  if (!into) gr_l_argerror(L, q->options, "option 'at': only together with 'into'");
  if (q->op == GR_OP_minmax) gr_l_argerror(L, q->options, "option 'into': minmax gives two numbers, use min and max");
  if (into->dtype != t && !(gr_is_float(t) && !q->single && (into->dtype == GR_F64 || into->dtype == GR_F32)))
    gr_l_argerror(L, q->options, "option 'into': dtype %s expected, got %s", gr_dtypes[t].name,
                  gr_dtypes[into->dtype].name);
  gr_l_check_device(L, q->a, into, q->options);
  const int64_t at = gr_l_check_at(L, q->options, into, q->at);
  const gr_array one = gr_l_element(into, at);
  gr_l_check_disjoint(L, q->options, &one, q->a, "input");
  gr_l_check_disjoint(L, q->options, &one, q->b, "input");
  check_apart(L, q, &one);
  gr_l_before_output(L, c, q->gather);
  GR_TRY_WITH(L, c, culprit(q), q->of.e, q->with.e, run_at(L, c, q, into, at));
  return 1;
}

/* One number, computed now. */
static int push_number(lua_State *L, gr_context *c, gr_call *q) {
  const gr_partial_reduction p = partial(q);
  gr_value r = {.is_float = 1};
  GR_TRY_WITH(L, c, culprit(q), q->of.e, q->with.e, gr_partial_all(c, &p, &r));
  if (q->single) r.v[0].f = gr_single(r.v[0].f);
  return gr_l_push_result(L, q->op, &r);
}

/* Of which each rank has a part. */
static int push_ranks(lua_State *L, gr_context *c, gr_call *q) {
  if (q->transposed && q->shape.rows && q->shape.axis != 1) gr_l_refuse_with_comm(L, q->options, "axis");
  gr_l_make_operands(L, q);
  const gr_partial_reduction p = partial(q);
  const int kept = !q->keepdims ? 0 : q->transposed ? 3 - q->shape.axis : q->shape.axis;
  return gr_l_push_ranks(L, c, q->comm, &p, q->options, kept);
}

/* Into the future that gathers, or one of its own. What cannot be started as an expression has to be stored first. */
static int push_later(lua_State *L, gr_context *c, gr_call *q) {
  gr_future *f = q->gather ? q->gather : gr_l_push_later(L, c);
  const gr_wanted w = {q->op, q->of, q->with, q->ddof};
  int added = 0;
  if (w.a.e || w.b.e) GR_TRY_WITH(L, c, 1, w.a.e, w.b.e, gr_future_add_formula(f, &w, &added));
  if (!added) {
    gr_l_make_operands(L, q);
    if (!q->gather) gr_future_take_works(f);
    GR_TRY(L, c, 1, gr_future_add(f, q->op, q->a, q->b, q->ddof));
  }
  if (!q->gather) gr_l_start_later(L, c, f);
  return !q->gather;
}

static int finish(lua_State *L, gr_call *q) {
  gr_context *c = gr_l_context(L);
  gr_queue *where = q->a->storage->queue; /* a promise has none when its elements are dropped */
  check_dtype(L, q, 1);
  if (q->comm) {
    const int n = push_ranks(L, c, q);
    drop_elements(L, q);
    return q->later && !q->gather ? gr_l_later_values(L, c, n, where, gr_ops[q->op].name) : n;
  }
  if (!q->shape.segments) check_empty(L, q);
  if (q->later) gr_l_later_begins(c);
  const int later = q->gather || q->later;
  const int array = q->shape.rows || q->shape.segments || q->has_at;
  if (q->kernel.info || (later && (array || q->exact || q->single) && !is_partial(q))) gr_l_make_operands(L, q);
  if (q->kernel.info && (q->kernel.info->rule != GR_BLOCK_OWN || q->kernel.timed || q->shape.rows))
    return gr_l_push_taught(L, &q->kernel, q->op, q->shape, q->a, q->b, q->options);
  if (q->kernel.info) q->op = gr_ladder_own(q->kernel.info->rung, q->op); /* one number, by the usual way */
  if (array || q->exact || is_partial(q) || (q->single && later)) {
    int n = q->has_at                            ? put_at(L, c, q)
            : q->shape.rows || q->shape.segments ? push_each(L, c, q)
                                                 : push_number(L, c, q);
    drop_elements(L, q);
    return q->later && !q->gather ? gr_l_later_values(L, c, n, where, gr_ops[q->op].name) : n;
  }
  if (later) return push_later(L, c, q);
  const int n = push_number(L, c, q);
  drop_elements(L, q);
  return n;
}

/*
** With rows but without pairs, b is one row (axis 2) or column (axis 1), and is combined with each of a's. A rank
** without rows has nothing of either. arg: b's.
*/
static void check_second(lua_State *L, const gr_call *q, int arg) {
  if (q->shape.rows == 0 || q->shape.pairs || (q->comm && q->a->n == 0)) {
    gr_l_check_pair(L, q->a, q->b, arg);
    return;
  }
  int64_t n = gr_shape_length(q->shape, q->a->n);
  gr_l_check_like(L, q->a, q->b, n, q->shape.axis == 2 ? " (of a row)" : " (of a column)", "ab", arg);
}

/* The operands from argument `first` on; promises go to the top of the stack. */
static void take_operands(lua_State *L, gr_call *q, int first) {
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
  gr_call q = {.op = op, .options = options, .shape = {.axis = 2}, .gather = gr_l_gathering(L, c)};
  take_operands(L, &q, 1);
  gr_array *promises[2] = {q.of.e ? q.a : NULL, q.with.e ? q.b : NULL};
  gr_l_read_reduction(L, &q);
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
  gr_call q = {.op = op, .options = options, .shape = {.axis = 2}, .gather = gr_l_gathering(L, c)};
  q.transposed = gr_l_reduces_transposed(L, 1, options);
  if (!q.transposed) gr_l_check_ranked_axis(L, 1, options);
  q.a = q.transposed ? gr_l_test_any_array(L, 1) : gr_l_check_array(L, 1);
  gr_l_read_reduction(L, &q);
  if (q.transposed) gr_l_turn_shape(&q.shape, q.a);
  return finish(L, &q);
}

/* gr.sum(a, options) and its like. */
static int reduce_named(lua_State *L, gr_op op) {
  const int options = !lua_isnoneornil(L, 2);
  const gr_array *a = gr_l_test_array(L, 1);
  const int pushed = !a || gr_array_released(a) ? 0
                     : options                  ? gr_l_push_over_ranks(L, gr_l_context(L), op, a, NULL, 2)
                                                : plain(L, op, a, NULL);
  return pushed ? pushed : reduce_one(L, op, 2);
}

/* gr.reduce(a, op, options): a name, or an operator of the caller's own */
static int l_reduce(lua_State *L) {
  gr_custom *custom = gr_l_test_operator(L, 2);
  if (custom) return lua_settop(L, 3), gr_l_operator_reduce(L, custom, 1, 3);
  if (!gr_l_has_expression(L, 1)) gr_l_check_any_array(L, 1);
  gr_op op = gr_l_check_op(L, 2);
  if (gr_ops[op].inputs != 1) gr_l_argerror(L, 2, "operation of one array expected, '%s' takes two", gr_ops[op].name);
  return reduce_one(L, op, 3);
}

/* gr.norm(a, p, options), p = 1, 2 (default) or infinity */
static int l_norm(lua_State *L) {
  double p = 2;
  if (!gr_l_has_expression(L, 1)) gr_l_check_any_array(L, 1);
  const int options = gr_l_options_at(L, 2, 3), given = options > 2 && !lua_isnoneornil(L, 2);
  if (given && lua_type(L, 2) == LUA_TSTRING && !strcmp(lua_tostring(L, 2), "inf")) p = INFINITY;
  else if (given) p = gr_l_check_number(L, 2);
  if (p != 1 && p != 2 && p != INFINITY) gr_l_argerror(L, 2, "norm of order 1, 2 or math.huge expected, got %.14g", p);
  return reduce_one(L, p == 1 ? GR_OP_norm1 : p == 2 ? GR_OP_norm2 : GR_OP_norminf, options);
}

GR_APART static int pair_with_options(lua_State *L, gr_op op) {
  gr_context *c = gr_l_context(L);
  if (gr_l_has_expression(L, 2)) return reduce_expressions(L, op, 3);
  gr_call q = {.op = op, .options = 3, .shape = {.axis = 2}, .gather = gr_l_gathering(L, c)};
  for (int k = 1; k <= 2; k++) gr_l_check_ranked_axis(L, k, 3);
  q.a = gr_l_check_array(L, 1);
  q.b = gr_l_check_array(L, 2);
  gr_l_read_reduction(L, &q);
  check_second(L, &q, 2);
  return finish(L, &q);
}

/* gr.dot(a, b, options), mse, cosine */
static int reduce_pair(lua_State *L, gr_op op) {
  const gr_array *a = gr_l_test_array(L, 1), *b = gr_l_test_array(L, 2);
  if (a && b && !gr_array_released(a) && !gr_array_released(b)) {
    int pushed = 0;
    if (lua_isnoneornil(L, 3)) {
      gr_l_check_pair(L, a, b, 2);
      pushed = plain(L, op, a, b);
    } else {
      pushed = gr_l_push_over_ranks(L, gr_l_context(L), op, a, b, 3);
    }
    if (pushed) return pushed;
  }
  return pair_with_options(L, op);
}

gr_reduction gr_l_reduction(lua_State *L, gr_op op, int first) {
  gr_call q = {.op = op, .options = first + gr_ops[op].inputs, .shape = {.axis = 2}};
  lua_settop(L, q.options);
  take_operands(L, &q, first);
  const char *work = gr_l_first_given(L, q.options, "segments", "op", "value", "kernel", "async", "into", "at",
                                      "skipnan", "mask", "comm");
  if (work)
    gr_l_argerror(L, q.options, "option '%s': not explained, since it is work of its own or changes nothing", work);
  gr_l_read_reduction(L, &q);
  if (q.b) check_second(L, &q, first + 1);
  check_dtype(L, &q, first);
  if (gr_shape_length(q.shape, q.a->n) == 0 || gr_shape_results(q.shape, q.a->n) == 0)
    gr_l_argerror(L, first, "array is empty: there is nothing to do");
  gr_reduction r = {.op = q.op, .shape = q.shape, .a = q.a, .b = q.b, .of = q.of.e, .with = q.with.e};
  r.ddof = q.ddof;
  r.exact = q.exact;
  return r;
}

/* A function each: asking Lua for an upvalue that says which would be a twentieth of a small call. */
#define DEFINE_FUNCTION(name, red)                                                              \
  static int l_##name(lua_State *L) {                                                           \
    return GR_INPUTS_##red == 2 ? reduce_pair(L, GR_OP_##name) : reduce_named(L, GR_OP_##name); \
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
