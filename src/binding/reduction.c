/* The options of reductions: which go together, and what they come to. */
#include "src/binding/reduction.h"

#include "src/binding/expression.h"
#include "src/binding/map.h"
#include "src/binding/matrix.h"
#include "src/binding/rounding.h"
#include "src/binding/shape.h"
#include "src/core/exact.h"

#define GR_X(name) #name,
static const char *const option_names[] = {OF_ALL(GR_X) OF_SOME(GR_X) NULL};
#undef GR_X

void gr_l_make_operands(lua_State *L, gr_call *q) {
  gr_context *c = gr_l_context(L);
  const gr_expression *e = q->of.e, *f = q->with.e;
  if (e) GR_TRY_BEFORE(L, c, q->comm, 1, e, f, GR_LATER(c, q->later, gr_reduced_eval(c, &q->of)));
  if (f) GR_TRY_BEFORE(L, c, q->comm, 2, f, e, GR_LATER(c, q->later, gr_reduced_eval(c, &q->with)));
}

/*
** exact = true, or the state's switch, rounds correctly. What has no exact form (min), or is exact by itself (sums of
** integers), stays as it is.
*/
static void pick_rounding(lua_State *L, gr_call *q) {
  const int said = q->given & HAS_exact;
  q->exact = said ? gr_l_option_flag(L, q->options, "exact") : gr_l_context(L)->exact;
  q->exact = q->exact && gr_exact_has(q->op, q->a->dtype);
  if (q->given & HAS_accumulate) {
    if (said && q->exact) gr_l_argerror(L, q->options, "options 'exact' and 'accumulate' exclude each other");
    q->exact = 0;
  }
  if (q->exact && !(q->ddof == floor(q->ddof) && fabs(q->ddof) <= 0x1p53))
    gr_l_argerror(L, q->options, "option 'ddof': whole number expected with 'exact', got %.14g", q->ddof);
}

/* The first of those options that is given, or NULL. */
static const char *given(const gr_call *q, int options) {
  int k = 0;
  options &= q->given;
  if (!options) return NULL;
  while (!(options >> k & 1)) k++;
  return option_names[k];
}

/* Options that say how to read a matrix, where none is read, are a mistake. */
static void refuse_without_rows(lua_State *L, const gr_call *q) {
  const char *name = given(q, HAS_axis | HAS_pairs | HAS_keepdims);
  if (name) gr_l_argerror(L, q->options, "option '%s': only together with '%s'", name, q->a->rows ? "axis" : "rows");
}

static void read_at(lua_State *L, gr_call *q) {
  q->has_at = (q->given & HAS_at) && gr_l_option_int(L, q->options, "at", &q->at);
  gr_l_check_places(L, q->options, &q->shape, q->has_at, q->given & HAS_into);
}

static void read_segments(lua_State *L, gr_call *q) {
  const char *matrix = given(q, HAS_rows | HAS_axis | HAS_pairs | HAS_keepdims);
  if (matrix) gr_l_argerror(L, q->options, "option 'segments': takes no '%s'", matrix);
  if (gr_l_option_segments(L, q->options, q->a, &q->segments)) q->shape.segments = &q->segments;
}

/* {kernel = "..."}: the whole or its rows, by the kernel of that name; no other option goes with it. */
static int read_kernel(lua_State *L, gr_call *q, int64_t n) {
  const int others = HAS_axis | HAS_segments | HAS_accumulate | HAS_exact | HAS_out | HAS_at | HAS_async |
                     HAS_keepdims | HAS_skipnan | HAS_mask | HAS_comm;
  const int takes = HAS_kernel | HAS_block | HAS_timed | HAS_rows | HAS_pairs | HAS_into;
  if (!gr_l_has_option(L, q->options, "kernel")) return 0;
  gr_taught operation = (gr_taught)gr_taught_named(gr_ops[q->op].name);
  if (!operation) return 0;
  q->given = gr_l_options_among(L, q->options, option_names, takes | others);
  const char *other = given(q, others);
  if (other) gr_l_argerror(L, q->options, "option '%s': not together with 'kernel'", other);
  q->shape.rows = gr_l_option_rows(L, q->options, n);
  if (!q->shape.rows) refuse_without_rows(L, q);
  read_at(L, q);
  q->shape.pairs = gr_l_option_flag(L, q->options, "pairs");
  q->kernel = gr_l_option_kernel(L, q->options, operation, q->a);
  return 1;
}

/*
** {op = ">", value = x}: reduces the mask of that comparison; for a whole array a tally suffices, and no mask is made.
*/
static void read_predicate(lua_State *L, gr_call *q) {
  int whole = !q->shape.rows && !q->shape.segments && !gr_may_miss(&q->missing);
  gr_tally tally = !whole ? GR_TALLY_NONE : q->op == GR_OP_all ? GR_TALLY_ALL : GR_TALLY_COUNT;
  if (q->given & HAS_value) gr_l_make_operands(L, q);
  gr_array *a = gr_l_predicate(L, q->options, q->a, tally);
  if (!a) return;
  q->tested = (gr_reduced){q->of.e, q->a};
  q->a = q->of.a = a;
  if (whole && q->op == GR_OP_count) q->op = GR_OP_sum;
}

/* The options that an operation takes. */
static int options_of(gr_op op) {
#define GR_X(name) HAS_##name |
  const int all = OF_ALL(GR_X) 0, rounded = HAS_exact;
#undef GR_X
  if (op == GR_OP_sum) return all | rounded | HAS_accumulate;
  if (op == GR_OP_dot) return all | rounded | HAS_accumulate | HAS_pairs;
  if (op == GR_OP_var || op == GR_OP_std) return all | rounded | HAS_ddof;
  if (op == GR_OP_any || op == GR_OP_all || op == GR_OP_count) return all | HAS_op | HAS_value;
  if (gr_ops[op].inputs == 2) return all | rounded | HAS_pairs;
  return gr_exact_has(op, GR_F64) ? all | rounded : all;
}

/* {comm = comm}: the whole of what lies over its ranks, or the columns of a matrix of which each rank has some rows. */
static void read_comm(lua_State *L, gr_call *q) {
  const char *other = given(q, HAS_segments | HAS_into | HAS_at | HAS_op | HAS_value);
  q->comm = gr_l_option_comm(L, q->options);
  if (q->comm && other) gr_l_refuse_with_comm(L, q->options, other);
}

void gr_l_read_reduction(lua_State *L, gr_call *q) {
  const int takes = options_of(q->op);
  const int64_t n = q->a->n;
  if (lua_isnoneornil(L, q->options)) {
    q->exact = gr_l_context(L)->exact && gr_exact_has(q->op, q->a->dtype);
    return;
  }
  if (read_kernel(L, q, n) || !(q->given = gr_l_options_among(L, q->options, option_names, takes))) return;
  if (q->given & (HAS_rows | HAS_axis)) q->shape = gr_l_option_shape(L, q->options, q->a);
  if (q->given & HAS_comm) read_comm(L, q);
  if (q->given & HAS_segments) read_segments(L, q);
  if (!q->shape.rows && !q->shape.segments) refuse_without_rows(L, q);
  read_at(L, q);
  q->later = (q->given & HAS_async) && gr_l_option_flag(L, q->options, "async");
  q->shape.pairs = q->given & HAS_pairs ? gr_l_option_flag(L, q->options, "pairs")
                                        : q->b && q->b->rows && q->b->n == n && q->shape.rows;
  q->keepdims = (q->given & HAS_keepdims) && gr_l_option_flag(L, q->options, "keepdims");
  if (q->given & HAS_out)
    q->single = gr_l_option_out(L, q->options, gr_ops[q->op].name, q->a->dtype, gr_result_dtype(q->op, q->a->dtype));
  if (q->given & (HAS_skipnan | HAS_mask))
    q->missing = (q->comm ? gr_l_option_missing_part : gr_l_option_missing)(L, q->options, q->a);
  if (q->given & (HAS_op | HAS_value)) read_predicate(L, q);
  if (q->given & HAS_ddof) gr_l_option_number(L, q->options, "ddof", &q->ddof);
  if (takes & HAS_exact) pick_rounding(L, q);
  if (q->given & HAS_accumulate) q->op = gr_l_option_accumulate(L, q->options, q->op, q->a->dtype);
}
