/*
** A missing element is filled with what changes nothing: 0 in a sum, 1 in a product, infinity in a minimum. So an
** expression is reduced, in one pass where that is one. What that leaves open is settled by numbers of present
** elements: they divide means, and they tell results of no element from others.
*/
#include "src/core/missing.h"

#include <stdlib.h>

#include "src/core/exact.h"
#include "src/core/map.h"
#include "src/core/missing_passes.h"

/* What becomes of filled operands. FILLED: they have the result, as of all that are not named here. */
enum { FILLED, MEAN, VARIANCE, EXTREME, EXTREMES, POSITION };
static const unsigned char ways[GR_OP_COUNT] = {
    [GR_OP_mean] = MEAN,       [GR_OP_mse] = MEAN,        [GR_OP_var] = VARIANCE,
    [GR_OP_std] = VARIANCE,    [GR_OP_min] = EXTREME,     [GR_OP_max] = EXTREME,
    [GR_OP_minmax] = EXTREMES, [GR_OP_argmin] = POSITION, [GR_OP_argmax] = POSITION,
};
_Static_assert(GR_OP_COUNT == 30, "a new operation: does what it is filled with (gr_filling_for) suffice?");

/* ---- vectors ---- */

static int64_t length_of(const gr_passes *s, int64_t v) {
  int64_t n = gr_shape_length(s->q.shape, s->q.of.a.a->n);
  if (s->q.shape.segments) gr_segment_in(s->q.shape.segments, v, &n);
  if (s->context->comm) n = s->all;
  return n;
}

static gr_status run_to_host(gr_passes *s, int set, gr_status before) {
  const gr_status status = gr_passes_run(s, set, before);
  return status == GR_OK ? gr_passes_read(s, set) : status;
}

static gr_status count_present(gr_passes *s) { return run_to_host(s, GR_ONLY(COUNT), gr_passes_want_counts(s)); }

/* Whoever has counts asks for those that are 0. */
static gr_status refuse_none(const gr_passes *s, int64_t v) {
  if (gr_passes_count(s, v)) return GR_OK;
  return gr_partial_none(s->context, &s->q.of.missing, s->q.shape, s->q.turned, s->q.column, v, gr_ops[s->q.op].name);
}

static gr_status check_ddof(const gr_passes *s) {
  char text[GR_PLACE];
  if (s->q.op != GR_OP_var && s->q.op != GR_OP_std) return GR_OK;
  for (int64_t v = 0; v < s->results; v++) {
    const int64_t n = gr_passes_count(s, v);
    if (s->q.ddof >= (double)n && !(n == 0 && s->q.ddof == 0))
      return gr_fail(s->context, GR_BAD,
                     "option 'ddof': less than the %lld elements%s that are present expected, got %.14g", (long long)n,
                     gr_partial_place(s->q.shape, s->q.turned, s->q.column, v, text), s->q.ddof);
  }
  return GR_OK;
}

/* ---- results ---- */

static void put(gr_dtype t, const gr_vec *to, int64_t v, const gr_value *x) {
  char *at = (char *)(uintptr_t)to->data + v * to->stride;
  if (gr_is_float(t)) gr_element_put_f(t, at, gr_value_double(x, 0));
  else gr_element_put_i(t, at, x->v[0].i);
}

typedef gr_value (*finish)(const gr_passes *, int64_t v);

static gr_status give(const gr_passes *s, finish f, gr_array *out, gr_value *result) {
  gr_vec to;
  if (s->whole) return *result = f(s, 0), GR_OK;
  gr_status status = gr_array_write(out, GR_HOST, 1, &to);
  for (int64_t v = 0; v < s->results && status == GR_OK; v++) {
    if (v && v % GR_LONG == 0 && (status = gr_context_look(s->context)) != GR_OK) break;
    const gr_value x = f(s, v);
    put(out->dtype, &to, v, &x);
  }
  return status;
}

/* A copy, of whatever dtype that has. */
static gr_status cast(gr_context *c, const gr_array *a, gr_array *out) {
  return a->dtype == out->dtype ? gr_copy(c, a, out) : gr_cast(c, a, out);
}

/* Where kernels run: an array becomes one of f64. */
static gr_status widen(gr_context *c, gr_array *a) {
  gr_array wide = {0};
  if (a->dtype == GR_F64) return GR_OK;
  gr_status status = gr_array_make_beside(c, a, &wide, GR_F64, a->n);
  if (status == GR_OK) status = cast(c, a, &wide);
  gr_array_release(a);
  *a = wide;
  return status;
}

/* What a pass gave is what is asked for. */
static gr_status give_as_is(gr_passes *s, gr_pass_of k, gr_array *out, gr_value *result) {
  const gr_pass *p = &s->pass[k];
  if (s->whole) return *result = p->one, GR_OK;
  return cast(s->context, &p->many, out);
}

/*
** Whether some result of a pass leaves open what it is. Such a result is what fills, which for minima is the greatest
** value that there is: so the greatest of them tells, as for maxima the least. Of many vectors it is found where they
** lie, and the host looks at all results only if a NaN among them hides it.
*/
typedef int (*doubt)(const gr_passes *, int greatest, gr_value);
static gr_status find_open(gr_passes *s, gr_pass_of k, int greatest, doubt is_open, int *open) {
  gr_value end = {0};
  gr_status status = gr_passes_end(s, k, greatest, &end);
  *open = status == GR_OK && is_open(s, greatest, end);
  if (status != GR_OK || s->whole || !(end.is_float && isnan(end.v[0].f))) return status;
  status = gr_passes_read(s, 1 << k);
  for (int64_t v = 0; v < s->results && status == GR_OK && !*open; v++)
    *open = is_open(s, greatest, gr_passes_value(s, k, v));
  return status;
}

/* Nothing is left open: the filled operands have the result. */
static gr_status reduce_filled(gr_passes *s, gr_array *out, gr_value *result) {
  const gr_partial_reduction *q = &s->q;
  const gr_pass *p = &s->pass[GR_PASS_MAIN];
  gr_status status = gr_passes_fill_all(s);
  gr_passes_want(s, GR_PASS_MAIN, q->op, &s->first, &s->second, 0);
  if (!s->whole) return status ? status : gr_formula_reduce_each(s->context, q->op, q->shape, p->a, p->b, 0, out, NULL);
  status = gr_passes_run(s, GR_ONLY(MAIN), status);
  *result = p->one;
  return status;
}

/* ---- means ---- */

/* All vectors in one pass that counts as well, without the host; GR_NOT_FUSED: there is none. */
static gr_status reduce_counted(gr_passes *s, gr_array *out) {
  const gr_partial_reduction *q = &s->q;
  gr_reduced a = gr_made_operand(&s->first), b = s->second.e ? gr_made_operand(&s->second) : GR_NONE;
  if (s->whole || !gr_formula_counts(q->shape, a)) return GR_NOT_FUSED;
  gr_status status = gr_passes_want_counts(s);
  if (status == GR_OK)
    status = gr_formula_reduce_counted(s->context, q->op, q->shape, a, b, s->pass[GR_PASS_COUNT].a, out);
  gr_made_drop(&s->present);
  return status;
}

/* The sum that mean divides: of i64 one that does not wrap. */
static void want_sum(gr_passes *s) {
  const int wide = s->dtype == GR_I64;
  gr_passes_want(s, GR_PASS_MAIN, wide ? GR_OP_mean : GR_OP_sum, &s->first, NULL, wide ? GR_UNDIVIDED : 0);
}

static double mean(const gr_passes *s, int64_t v) {
  return gr_passes_count(s, v) ? gr_passes_number(s, GR_PASS_MAIN, v) / (double)gr_passes_count(s, v) : gr_nan();
}

/* The sum, divided by the number of elements. Of none that is 0 / 0. */
static gr_status give_means(gr_passes *s, gr_array *out, gr_value *result) {
  gr_array *sums = &s->pass[GR_PASS_MAIN].many, *counts = &s->pass[GR_PASS_COUNT].many;
  const gr_map_call call = {.op = GR_MAP_div, .dtype = GR_F64, .a = {sums, 0}, .b = {counts, 0}};
  if (s->whole) return *result = gr_value_f(mean(s, 0)), GR_OK;
  const int direct = out->dtype == GR_F64;
  gr_status status = widen(s->context, sums);
  if (status == GR_OK) status = widen(s->context, counts);
  if (status == GR_OK) status = gr_map_arrays(s->context, &call, direct ? out : sums);
  return status == GR_OK && !direct ? cast(s->context, sums, out) : status;
}

static gr_status reduce_mean(gr_passes *s, gr_array *out, gr_value *result) {
  gr_status status = gr_passes_fill_all(s);
  const gr_status done = status == GR_OK ? reduce_counted(s, out) : GR_NOT_FUSED;
  if (done != GR_NOT_FUSED) return done;
  if (s->q.op == GR_OP_mean) want_sum(s);
  else gr_passes_want(s, GR_PASS_MAIN, s->q.op, &s->first, &s->second, GR_UNDIVIDED);
  if (status == GR_OK) status = gr_passes_want_counts(s);
  status = gr_passes_run(s, GR_ONLY(MAIN) | GR_ONLY(COUNT), status);
  return status == GR_OK ? give_means(s, out, result) : status;
}

/* ---- variances of integers ----
**
** Missing elements are filled with the mean of the others, as a whole number: a center. With c present elements,
** m missing ones and a mean that is d off the center, the squared deviations of all c + m are those of the present ones
** and c * m / (c + m) * d^2. As d is at most 1/2, that is never much of the whole. Where nothing is missing, nothing is
** filled, and bits are those of the plain call.
*/

static gr_value center(const gr_passes *s, int64_t v) {
  const double x = mean(s, v), nearest = x - x == 0 ? rint(x) : 0;
  return gr_value_i(nearest >= 0x1p63 ? INT64_MAX : (int64_t)nearest);
}

/* One for each vector; of segments one for each element. */
static gr_status make_centers(gr_passes *s) {
  const int each = s->q.shape.segments != NULL;
  gr_vec to;
  const gr_array *a = s->q.of.a.a;
  gr_status status = gr_array_make_open(s->context, a, &s->centers, s->dtype, each ? a->n : s->results, GR_HOST, &to);
  if (each && status == GR_OK) memset((void *)(uintptr_t)to.data, 0, (size_t)(s->centers.n * gr_size(s->dtype)));
  for (int64_t v = 0; v < s->results && status == GR_OK; v++) {
    if (v && v % GR_LONG == 0 && (status = gr_context_look(s->context)) != GR_OK) break;
    const gr_value x = center(s, v);
    int64_t n = 1, from = each ? gr_segment_in(s->q.shape.segments, v, &n) : v;
    for (; n > 0; n--) put(s->dtype, &to, from++, &x);
  }
  return status;
}

static gr_value finish_variance(const gr_passes *s, int64_t v) {
  const int64_t present = gr_passes_count(s, v), missing = length_of(s, v) - present;
  const double d = missing ? mean(s, v) - (double)center(s, v).v[0].i : 0;
  double squares = gr_passes_number(s, GR_PASS_OTHER, v);
  if (present == 0) return gr_value_f(gr_nan());
  if (missing) squares -= (double)present * ((double)missing / ((double)present + (double)missing)) * (d * d);
  squares = (squares < 0 ? 0 : squares) / ((double)present - s->q.ddof);
  return gr_value_f(s->q.op == GR_OP_std ? sqrt(squares) : squares);
}

static gr_status reduce_centered(gr_passes *s, gr_array *out, gr_value *result) {
  const gr_shape *shape = &s->q.shape;
  gr_filling centers = {.array = &s->centers, .spread = GR_EACH};
  gr_status status = gr_passes_fill(s, 0);
  want_sum(s);
  if (status == GR_OK) status = gr_passes_want_counts(s);
  status = run_to_host(s, GR_ONLY(MAIN) | GR_ONLY(COUNT), status);
  if (status == GR_OK) status = check_ddof(s);
  if (status != GR_OK) return status;
  status = make_centers(s);
  if (shape->rows) centers.spread = shape->axis == 2 ? GR_COLUMN : GR_ROW;
  else if (!shape->segments) centers.spread = GR_ONE;
  if (status == GR_OK) status = gr_partial_fill(s->context, &s->q.of, 0, 0, centers, &s->second);
  gr_passes_want(s, GR_PASS_OTHER, GR_OP_var, &s->second, NULL, GR_UNDIVIDED);
  status = run_to_host(s, GR_ONLY(OTHER), status);
  return status == GR_OK ? give(s, finish_variance, out, result) : status;
}

/* ---- variances of floats: in one pass, by reducers that leave NaN out ---- */

/* Of too few elements for ddof. */
static int is_negative(const gr_passes *s, int greatest, gr_value x) {
  (void)s, (void)greatest;
  return x.v[0].f < 0;
}

static gr_status reduce_variance(gr_passes *s, gr_array *out, gr_value *result) {
  const gr_partial_reduction *q = &s->q;
  const gr_op op = q->op == GR_OP_std ? GR_OP_std_present : GR_OP_var_present;
  gr_pass *p = &s->pass[GR_PASS_MAIN];
  int few = 0;
  if (!gr_is_float(s->dtype)) return reduce_centered(s, out, result);
  gr_status status = q->of.missing.mask.a ? gr_partial_numbers(s->context, &q->of, &s->first) : GR_OK;
  gr_passes_want(s, GR_PASS_MAIN, op, &s->first, NULL, q->ddof);
  if (!q->of.missing.mask.a) p->a = q->of.a;
  if (!s->whole && q->ddof <= 0)
    return status ? status : gr_formula_reduce_each(s->context, op, q->shape, p->a, p->b, q->ddof, out, NULL);
  status = gr_passes_run(s, GR_ONLY(MAIN), status);
  if (status == GR_OK) status = find_open(s, GR_PASS_MAIN, 0, is_negative, &few);
  if (few && status == GR_OK) status = count_present(s);
  if (few && status == GR_OK) status = check_ddof(s);
  return status == GR_OK ? give_as_is(s, GR_PASS_MAIN, out, result) : status;
}

/*
** ---- extremes: of those that are what fills, some may be of no element ----
**
** A number of no element is refused, as is an integer, which cannot say so; in arrays, and of columns that are reduced
** one by one, floats are NaN, and positions 0.
*/

static int is_filling(const gr_passes *s, int greatest, gr_value x) {
  const gr_filling end = gr_filling_end(s->dtype, greatest);
  return x.is_float ? x.v[0].f == end.number.f : x.v[0].i == end.number.i;
}

static int can_say_none(const gr_passes *s) {
  return (!s->whole || s->q.column) && (gr_is_float(s->dtype) || ways[s->q.op] == POSITION);
}

/* counted: whether there was a doubt, and elements are counted. */
static gr_status check_present(gr_passes *s, gr_pass_of k, int greatest, int *counted) {
  gr_status status = find_open(s, k, greatest, is_filling, counted);
  if (status != GR_OK || !*counted) return status;
  status = count_present(s);
  for (int64_t v = 0; v < s->results && status == GR_OK && !can_say_none(s); v++) status = refuse_none(s, v);
  return status;
}

static gr_value finish_extreme(const gr_passes *s, int64_t v, gr_pass_of k) {
  return gr_passes_count(s, v) ? gr_passes_value(s, k, v) : gr_value_f(gr_nan());
}
static gr_value finish_main(const gr_passes *s, int64_t v) { return finish_extreme(s, v, GR_PASS_MAIN); }
static gr_value finish_other(const gr_passes *s, int64_t v) { return finish_extreme(s, v, GR_PASS_OTHER); }

/* One or both, of which some may be of no element, if elements were counted. */
static gr_status give_extremes(gr_passes *s, int counted, gr_array *out, gr_array *out2, gr_value *result) {
  const int both = ways[s->q.op] == EXTREMES, apart = counted && can_say_none(s);
  gr_value high;
  gr_status status = apart ? gr_passes_read(s, GR_ONLY(MAIN) | (both ? GR_ONLY(OTHER) : 0)) : GR_OK;
  if (status == GR_OK) status = apart ? give(s, finish_main, out, result) : give_as_is(s, GR_PASS_MAIN, out, result);
  if (status != GR_OK || !both) return status;
  status = apart ? give(s, finish_other, out2, &high) : give_as_is(s, GR_PASS_OTHER, out2, &high);
  if (status == GR_OK && s->whole) result->v[1] = high.v[0];
  return status;
}

static gr_status reduce_extreme(gr_passes *s, gr_array *out, gr_value *result) {
  int counted;
  gr_status status = gr_passes_fill(s, 0);
  gr_passes_want(s, GR_PASS_MAIN, s->q.op, &s->first, NULL, 0);
  status = gr_passes_run(s, GR_ONLY(MAIN), status);
  if (status == GR_OK) status = check_present(s, GR_PASS_MAIN, s->q.op == GR_OP_min, &counted);
  return status == GR_OK ? give_extremes(s, counted, out, NULL, result) : status;
}

static gr_status reduce_extremes(gr_passes *s, gr_array *out, gr_array *out2, gr_value *result) {
  int counted;
  gr_status status = gr_passes_fill(s, 0);
  if (status == GR_OK) status = gr_passes_fill(s, 1);
  gr_passes_want(s, GR_PASS_MAIN, GR_OP_min, &s->first, NULL, 0);
  gr_passes_want(s, GR_PASS_OTHER, GR_OP_max, &s->second, NULL, 0);
  status = gr_passes_run(s, GR_ONLY(MAIN) | GR_ONLY(OTHER), status);
  if (status == GR_OK) status = check_present(s, GR_PASS_MAIN, 1, &counted);
  return status == GR_OK ? give_extremes(s, counted, out, out2, result) : status;
}

/* ---- positions: where the best element is what fills, the first present one is it ---- */

static gr_value finish_position(const gr_passes *s, int64_t v) {
  const int least = s->q.op == GR_OP_argmin;
  const int open = is_filling(s, least, gr_passes_value(s, GR_PASS_OTHER, v));
  if (!gr_passes_count(s, v)) return gr_value_i(0);
  return gr_passes_value(s, open ? GR_PASS_FIRST : GR_PASS_MAIN, v);
}

static gr_status reduce_position(gr_passes *s, gr_array *out, gr_value *result) {
  const int least = s->q.op == GR_OP_argmin, both = GR_ONLY(MAIN) | GR_ONLY(OTHER);
  int counted;
  gr_status status = gr_passes_fill(s, 0);
  gr_passes_want(s, GR_PASS_MAIN, s->q.op, &s->first, NULL, 0);
  gr_passes_want(s, GR_PASS_OTHER, least ? GR_OP_min : GR_OP_max, &s->first, NULL, 0);
  status = gr_passes_run(s, both, status);
  if (status == GR_OK) status = check_present(s, GR_PASS_OTHER, least, &counted);
  if (status != GR_OK) return status;
  if (!counted) return give_as_is(s, GR_PASS_MAIN, out, result);
  gr_passes_want(s, GR_PASS_FIRST, GR_OP_argmax, &s->present, NULL, 0);
  status = run_to_host(s, GR_ONLY(FIRST), gr_passes_read(s, both));
  return status == GR_OK ? give(s, finish_position, out, result) : status;
}

/* ---- correctly rounded ---- */

static gr_status reduce_exact(gr_passes *s, gr_array *out, gr_value *result) {
  const gr_partial_reduction *q = &s->q;
  gr_context *c = s->context;
  double x = 0;
  int64_t *counts = malloc((size_t)s->results * sizeof *counts + 1);
  gr_status status = counts ? gr_passes_fill_all(s) : gr_fail(c, GR_NO_MEMORY, "out of memory");
  const gr_reduced a = gr_made_operand(&s->first), b = s->second.e ? gr_made_operand(&s->second) : GR_NONE;
  if (status == GR_OK) status = gr_passes_want_counts(s);
  status = run_to_host(s, GR_ONLY(COUNT), status);
  if (status == GR_OK) status = check_ddof(s);
  for (int64_t v = 0; v < s->results && status == GR_OK; v++) counts[v] = gr_passes_count(s, v);
  if (status == GR_OK && !s->whole) {
    status = gr_exact_each(c, q->op, q->shape, a, b, (int64_t)q->ddof, counts, out);
  } else if (status == GR_OK) {
    status = gr_exact_all(c, q->op, a, b, (int64_t)q->ddof, q->single, counts, &x);
    *result = gr_value_f(x);
  }
  free(counts);
  return status;
}

/* ---- a call ---- */

/* What knows of another matrix than the shape's becomes an array, which may be read as any. */
static gr_status agree(gr_context *c, gr_reduced *r, int64_t columns) {
  return r->e && r->e->columns && r->e->columns != columns ? gr_reduced_eval(c, r) : GR_OK;
}

/* One vector for all of a's is spread over them. */
static gr_status settle_shape(gr_passes *s) {
  gr_partial_reduction *q = &s->q;
  const int64_t columns = q->shape.rows ? q->of.a.a->n / q->shape.rows : 0;
  gr_status status = GR_OK;
  if (!q->shape.rows) return GR_OK;
  status = agree(s->context, &q->of.a, columns);
  if (status == GR_OK) status = agree(s->context, &q->of.tested, columns);
  if (status == GR_OK) status = agree(s->context, &q->of.missing.mask, columns);
  if (status == GR_OK && q->of.b.a && q->shape.pairs) return agree(s->context, &q->of.b, columns);
  if (status == GR_OK && q->of.b.a) status = gr_reduced_eval(s->context, &q->of.b);
  q->of.spread = q->of.b.a && !q->shape.pairs ? (q->shape.axis == 2 ? GR_ROW : GR_COLUMN) : GR_EACH;
  q->shape.pairs = 1;
  return status;
}

/* Kernels that leave NaN out settle themselves what is left open; GR_NOT_FUSED: there is none for this. */
static gr_status reduce_present(gr_passes *s, gr_array *out, gr_array *out2) {
  const gr_partial_reduction *q = &s->q;
  if (s->whole || ways[q->op] == FILLED || ways[q->op] == VARIANCE) return GR_NOT_FUSED;
  const gr_status status = gr_passes_fill_all(s);
  if (status != GR_OK) return status;
  const gr_reduced a = gr_made_operand(&s->first), b = s->second.e ? gr_made_operand(&s->second) : GR_NONE;
  return gr_formula_reduce_present(s->context, q->op, q->shape, a, b, out, out2);
}

static gr_status reduce(gr_passes *s, gr_array *out, gr_array *out2, gr_value *result) {
  if (s->q.exact) return reduce_exact(s, out, result);
  const gr_status done = reduce_present(s, out, out2);
  if (done != GR_NOT_FUSED) return done;
  switch (ways[s->q.op]) {
    case MEAN: return reduce_mean(s, out, result);
    case VARIANCE: return reduce_variance(s, out, result);
    case EXTREME: return reduce_extreme(s, out, result);
    case EXTREMES: return reduce_extremes(s, out, out2, result);
    case POSITION: return reduce_position(s, out, result);
    default: /* FILLED */ return reduce_filled(s, out, result);
  }
}

/*
** Whether what the first run takes depends on the operation and the dtype alone; and whether its backend runs it in one
** pass. A trace shows operands, which must be there then. Variances take the array as it is.
*/
static int may_be_known(const gr_passes *s) {
  const gr_partial *of = &s->q.of;
  if (!s->whole || s->context->comm || s->context->trace || s->q.exact || ways[s->q.op] == VARIANCE) return 0;
  if (!of->missing.nan || of->missing.mask.a || of->tested.a || of->a.e || of->b.e || of->a.a->n == 0) return 0;
  const gr_queue *q = gr_array_released(of->a.a) ? NULL : of->a.a->storage->queue;
  return q && q->backend && q->backend->formula;
}

static gr_status reduce_known(gr_passes *s, gr_array *out, gr_array *out2, gr_value *result) {
  gr_status status = GR_NOT_FUSED;
  const int may = may_be_known(s);
  const gr_array *a = s->q.of.a.a, *b = s->q.of.b.a;
  s->known = may ? gr_known_find(s->context, s->q.op, s->dtype) : NULL;
  if (s->known) status = reduce(s, out, out2, result);
  if (status != GR_NOT_FUSED) return status;
  s->keep = may && !s->known && !(b && a->storage == b->storage); /* one array twice would be one input */
  s->known = NULL;
  return reduce(s, out, out2, result);
}

static gr_status begin(gr_context *c, const gr_partial_reduction *q, gr_array *out, gr_array *out2, gr_value *result) {
  gr_passes s = {.context = c, .q = *q, .dtype = q->of.a.a->dtype, .whole = !out};
  s.results = s.whole ? 1 : gr_shape_results(q->shape, q->of.a.a->n);
  if (s.results > GR_LONG) gr_stop_begin(&c->stop);
  gr_status status = s.results ? settle_shape(&s) : GR_OK;
  if (c->comm) status = gr_partial_meet(c, &q->of.missing, q->op, s.dtype, q->ddof, q->exact, q->of.a.a->n, &s.all);
  if (status == GR_OK && s.results) status = reduce_known(&s, out, out2, result);
  gr_passes_drop(&s);
  return status;
}

gr_status gr_partial_all(gr_context *c, const gr_partial_reduction *q, gr_value *result) {
  const gr_reduced a = q->of.a, b = q->of.b;
  const int misses = gr_may_miss(&q->of.missing);
  const gr_status status = misses     ? begin(c, q, NULL, NULL, result)
                           : q->exact ? gr_exact_all(c, q->op, a, b, (int64_t)q->ddof, q->single, NULL, &result->v[0].f)
                                      : gr_formula_reduce_all(c, q->op, a, b, q->ddof, result);
  result->is_float = q->exact || gr_is_float(gr_result_dtype(q->op, a.a->dtype));
  return status;
}

gr_status gr_partial_each(gr_context *c, const gr_partial_reduction *q, gr_array *out, gr_array *out2) {
  const gr_reduced a = q->of.a, b = q->of.b;
  if (gr_may_miss(&q->of.missing)) return begin(c, q, out, out2, NULL);
  if (q->exact) return gr_exact_each(c, q->op, q->shape, a, b, (int64_t)q->ddof, NULL, out);
  return gr_formula_reduce_each(c, q->op, q->shape, a, b, q->ddof, out, out2);
}
