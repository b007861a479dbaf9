/*
** A missing element is filled with what changes nothing: 0 in a sum, 1 in a product, infinity in a minimum. So an
** expression is reduced, in one pass where that is one. What that leaves open is settled by numbers of present
** elements: they divide means, and they tell results of no element from others.
*/
#include "src/core/missing.h"

#include <stdlib.h>

#include "src/core/exact.h"
#include "src/core/formula/known.h"

/* What is reduced on the way: of each vector, or of the whole. */
enum { MAIN, OTHER, COUNT, FIRST, PASSES };
#define ONLY(k) (1 << (k))
typedef struct pass {
  gr_op op;
  gr_reduced a, b;
  double ddof;
  gr_array many; /* of each vector, and where the host reads them */
  gr_vec at;
  gr_value one; /* of the whole */
} pass;

typedef struct call {
  gr_context *context;
  gr_partial_reduction q;
  gr_dtype dtype;
  int whole;
  int64_t results, all; /* all: elements of all ranks, if there are more than this one */
  gr_made first, second, present;
  const gr_known *known; /* serves the first run, for which no operands are made */
  int keep;              /* the first run is to be known from then on */
  gr_array centers;
  pass pass[PASSES];
} call;

/* What becomes of filled operands. FILLED: they have the result, as of all that are not named here. */
enum { FILLED, MEAN, VARIANCE, EXTREME, EXTREMES, POSITION };
static const unsigned char ways[GR_OP_COUNT] = {
    [GR_OP_mean] = MEAN,       [GR_OP_mse] = MEAN,        [GR_OP_var] = VARIANCE,
    [GR_OP_std] = VARIANCE,    [GR_OP_min] = EXTREME,     [GR_OP_max] = EXTREME,
    [GR_OP_minmax] = EXTREMES, [GR_OP_argmin] = POSITION, [GR_OP_argmax] = POSITION,
};
_Static_assert(GR_OP_COUNT == 30, "a new operation: does what it is filled with (gr_filling_for) suffice?");

static gr_status fill(call *s, int second) {
  if (s->known) return GR_OK;
  const int of_b = second && s->q.of.b.a, widen = s->q.op == GR_OP_logsumexp && !gr_is_float(s->dtype);
  gr_made *const to = second ? &s->second : &s->first;
  return gr_partial_fill(s->context, &s->q.of, of_b, widen, gr_filling_for(s->q.op, s->dtype, second), to);
}

/* The operands, filled. */
static gr_status fill_all(call *s) {
  const gr_status status = fill(s, 0);
  return status == GR_OK && s->q.of.b.a ? fill(s, 1) : status;
}

/* ---- passes ---- */

static void want(call *s, int k, gr_op op, gr_made *a, gr_made *b, double ddof) {
  const gr_reduced none = {NULL, NULL};
  s->pass[k] = (pass){.op = op, .a = gr_made_operand(a), .b = b && b->e ? gr_made_operand(b) : none, .ddof = ddof};
}

static gr_status want_counts(call *s) {
  const int truths = ways[s->q.op] == POSITION; /* of which the greatest is looked for */
  const gr_status status = s->known ? GR_OK : gr_partial_present(s->context, &s->q.of, truths, &s->present);
  want(s, COUNT, GR_OP_count, &s->present, NULL, 0);
  return status;
}

static gr_status run_whole(call *s, int set, gr_status before) {
  gr_wanted w[PASSES];
  gr_value r[PASSES];
  int count = 0;
  gr_status status = GR_OK;
  for (int k = 0; k < PASSES; k++) {
    const pass *p = &s->pass[k];
    if (set & ONLY(k)) w[count++] = (gr_wanted){p->op, p->a, p->b, p->ddof};
  }
  if (s->known) status = gr_known_run(s->context, s->known, s->q.of.a.a, s->q.of.b.a, r);
  else if (s->context->comm) status = gr_formula_reduce_ranked(s->context, w, count, before, r);
  else if (count > 1 && gr_formula_together(w, count)) status = gr_formula_reduce_together(s->context, w, count, r);
  else
    for (int k = 0; k < count && status == GR_OK; k++)
      status = gr_formula_reduce_all(s->context, w[k].op, w[k].a, w[k].b, w[k].ddof, &r[k]);
  for (int k = 0, at = 0; k < PASSES && status == GR_OK; k++)
    if (set & ONLY(k)) s->pass[k].one = r[at++];
  if (status != GR_OK) return status;
  if (s->keep) gr_known_keep(s->context, s->q.op, s->dtype, w, count, 1 + (s->q.of.b.a != NULL));
  s->known = NULL;
  s->keep = 0;
  return GR_OK;
}

/* Into arrays, in one pass where that can be. */
static gr_status run_each(call *s, int set) {
  gr_context *c = s->context;
  gr_wanted w[PASSES];
  gr_array *out[PASSES];
  int count = 0;
  gr_status status = GR_OK;
  for (int k = 0; k < PASSES && status == GR_OK; k++) {
    pass *p = &s->pass[k];
    if (!(set & ONLY(k))) continue;
    out[count] = &p->many;
    w[count++] = (gr_wanted){p->op, p->a, p->b, p->ddof};
    status = gr_array_make_beside(c, p->a.a, &p->many, gr_result_dtype(p->op, p->a.a->dtype), s->results);
  }
  if (status != GR_OK) return status;
  if (count > 1) status = gr_formula_reduce_each_together(c, s->q.shape, w, count, out);
  if (count == 1 || status == GR_NOT_FUSED) {
    status = GR_OK;
    for (int k = 0; k < count && status == GR_OK; k++)
      status = gr_formula_reduce_each(c, w[k].op, s->q.shape, w[k].a, w[k].b, w[k].ddof, out[k], NULL);
  }
  for (int k = 0; k < PASSES && status == GR_OK; k++)
    if (set & ONLY(k)) status = gr_array_read(&s->pass[k].many, GR_HOST, &s->pass[k].at);
  return status;
}

/* Those passes: together, where they can be. before: what came of making their operands; ranks fail together. */
static gr_status run(call *s, int set, gr_status before) {
  if (before != GR_OK && !s->context->comm) return before;
  return s->whole ? run_whole(s, set, before) : run_each(s, set);
}

static gr_value value(const call *s, int k, int64_t v) {
  const pass *p = &s->pass[k];
  return s->whole ? p->one : gr_element_get(p->many.dtype, (const char *)p->at.data + v * p->at.stride);
}

static double number(const call *s, int k, int64_t v) {
  const gr_value x = value(s, k, v);
  return x.is_float ? x.v[0].f : (double)x.v[0].i;
}

static int64_t count_of(const call *s, int64_t v) { return value(s, COUNT, v).v[0].i; }

/* ---- vectors ---- */

static int64_t length_of(const call *s, int64_t v) {
  int64_t n = gr_shape_length(s->q.shape, s->q.of.a.a->n);
  if (s->q.shape.segments) gr_segment_in(s->q.shape.segments, v, &n);
  if (s->context->comm) n = s->all;
  return n;
}

/* Whoever has counts asks for those that are 0. */
static gr_status refuse_none(const call *s, int64_t v) {
  if (count_of(s, v)) return GR_OK;
  return gr_partial_none(s->context, &s->q.of.missing, s->q.shape, s->q.turned, s->q.column, v, gr_ops[s->q.op].name);
}

static gr_status check_ddof(const call *s) {
  char text[GR_PLACE];
  if (s->q.op != GR_OP_var && s->q.op != GR_OP_std) return GR_OK;
  for (int64_t v = 0; v < s->results; v++) {
    const int64_t n = count_of(s, v);
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
  if (gr_is_float(t)) gr_element_put_f(t, at, x->is_float ? x->v[0].f : (double)x->v[0].i);
  else gr_element_put_i(t, at, x->v[0].i);
}

typedef gr_value (*finish)(const call *, int64_t v);

static gr_status give(const call *s, finish f, gr_array *out, gr_value *result) {
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

/* Nothing is left open: the filled operands have the result. */
static gr_status reduce_filled(call *s, gr_array *out, gr_value *result) {
  const gr_partial_reduction *q = &s->q;
  const pass *p = &s->pass[MAIN];
  gr_status status = fill_all(s);
  want(s, MAIN, q->op, &s->first, &s->second, 0);
  if (!s->whole) return status ? status : gr_formula_reduce_each(s->context, q->op, q->shape, p->a, p->b, 0, out, NULL);
  status = run(s, ONLY(MAIN), status);
  *result = p->one;
  return status;
}

/* ---- means ---- */

/* All vectors in one pass that counts as well, without the host; GR_NOT_FUSED: there is none. */
static gr_status reduce_counted(call *s, gr_array *out) {
  const gr_partial_reduction *q = &s->q;
  gr_reduced none = {NULL, NULL}, a = gr_made_operand(&s->first), b = s->second.e ? gr_made_operand(&s->second) : none;
  if (s->whole || !gr_formula_counts(q->shape, a)) return GR_NOT_FUSED;
  gr_status status = want_counts(s);
  if (status == GR_OK) status = gr_formula_reduce_present(s->context, q->op, q->shape, a, b, s->pass[COUNT].a, out);
  gr_made_drop(&s->present);
  return status;
}

/* The sum that mean divides: of i64 one that does not wrap. */
static void want_sum(call *s) {
  const int wide = s->dtype == GR_I64;
  want(s, MAIN, wide ? GR_OP_mean : GR_OP_sum, &s->first, NULL, wide ? GR_UNDIVIDED : 0);
}

static double mean(const call *s, int64_t v) {
  return count_of(s, v) ? number(s, MAIN, v) / (double)count_of(s, v) : gr_nan();
}

static gr_value finish_mean(const call *s, int64_t v) { return gr_value_f(mean(s, v)); }

static gr_status reduce_mean(call *s, gr_array *out, gr_value *result) {
  gr_status status = fill_all(s);
  const gr_status done = status == GR_OK ? reduce_counted(s, out) : GR_NOT_FUSED;
  if (done != GR_NOT_FUSED) return done;
  if (s->q.op == GR_OP_mean) want_sum(s);
  else want(s, MAIN, s->q.op, &s->first, &s->second, GR_UNDIVIDED);
  if (status == GR_OK) status = want_counts(s);
  status = run(s, ONLY(MAIN) | ONLY(COUNT), status);
  return status == GR_OK ? give(s, finish_mean, out, result) : status;
}

/* ---- variances of integers ----
**
** Missing elements are filled with the mean of the others, as a whole number: a center. With c present elements,
** m missing ones and a mean that is d off the center, the squared deviations of all c + m are those of the present ones
** and c * m / (c + m) * d^2. As d is at most 1/2, that is never much of the whole. Where nothing is missing, nothing is
** filled, and bits are those of the plain call.
*/

static gr_value center(const call *s, int64_t v) {
  const double x = mean(s, v), nearest = x - x == 0 ? rint(x) : 0;
  return gr_value_i(nearest >= 0x1p63 ? INT64_MAX : (int64_t)nearest);
}

/* One for each vector; of segments one for each element. */
static gr_status make_centers(call *s) {
  const int each = s->q.shape.segments != NULL;
  gr_vec to;
  gr_status status =
      gr_array_make_beside(s->context, s->q.of.a.a, &s->centers, s->dtype, each ? s->q.of.a.a->n : s->results);
  if (status == GR_OK) status = gr_array_write(&s->centers, GR_HOST, 1, &to);
  if (each && status == GR_OK) memset((void *)(uintptr_t)to.data, 0, (size_t)(s->centers.n * gr_size(s->dtype)));
  for (int64_t v = 0; v < s->results && status == GR_OK; v++) {
    if (v && v % GR_LONG == 0 && (status = gr_context_look(s->context)) != GR_OK) break;
    const gr_value x = center(s, v);
    int64_t n = 1, from = each ? gr_segment_in(s->q.shape.segments, v, &n) : v;
    for (; n > 0; n--) put(s->dtype, &to, from++, &x);
  }
  return status;
}

static gr_value finish_variance(const call *s, int64_t v) {
  const int64_t present = count_of(s, v), missing = length_of(s, v) - present;
  const double d = missing ? mean(s, v) - (double)center(s, v).v[0].i : 0;
  double squares = number(s, OTHER, v);
  if (present == 0) return gr_value_f(gr_nan());
  if (missing) squares -= (double)present * ((double)missing / ((double)present + (double)missing)) * (d * d);
  squares = (squares < 0 ? 0 : squares) / ((double)present - s->q.ddof);
  return gr_value_f(s->q.op == GR_OP_std ? sqrt(squares) : squares);
}

static gr_status reduce_centered(call *s, gr_array *out, gr_value *result) {
  const gr_shape *shape = &s->q.shape;
  gr_filling centers = {.array = &s->centers, .spread = GR_EACH};
  gr_status status = fill(s, 0);
  want_sum(s);
  if (status == GR_OK) status = want_counts(s);
  status = run(s, ONLY(MAIN) | ONLY(COUNT), status);
  if (status == GR_OK) status = check_ddof(s);
  if (status != GR_OK) return status;
  status = make_centers(s);
  if (shape->rows) centers.spread = shape->axis == 2 ? GR_COLUMN : GR_ROW;
  else if (!shape->segments) centers.spread = GR_ONE;
  if (status == GR_OK) status = gr_partial_fill(s->context, &s->q.of, 0, 0, centers, &s->second);
  want(s, OTHER, GR_OP_var, &s->second, NULL, GR_UNDIVIDED);
  status = run(s, ONLY(OTHER), status);
  return status == GR_OK ? give(s, finish_variance, out, result) : status;
}

/* ---- variances of floats: in one pass, by reducers that leave NaN out ---- */

static gr_value finish_main(const call *s, int64_t v) { return value(s, MAIN, v); }

static gr_status reduce_variance(call *s, gr_array *out, gr_value *result) {
  const gr_partial_reduction *q = &s->q;
  const gr_op op = q->op == GR_OP_std ? GR_OP_std_present : GR_OP_var_present;
  pass *p = &s->pass[MAIN];
  int few = 0; /* some vector has too few elements for ddof */
  if (!gr_is_float(s->dtype)) return reduce_centered(s, out, result);
  gr_status status = q->of.missing.mask.a ? gr_partial_numbers(s->context, &q->of, &s->first) : GR_OK;
  want(s, MAIN, op, &s->first, NULL, q->ddof);
  if (!q->of.missing.mask.a) p->a = q->of.a;
  if (!s->whole && q->ddof <= 0)
    return status ? status : gr_formula_reduce_each(s->context, op, q->shape, p->a, p->b, q->ddof, out, NULL);
  status = run(s, ONLY(MAIN), status);
  for (int64_t v = 0; v < s->results && status == GR_OK && !few; v++) few = number(s, MAIN, v) < 0;
  if (few) status = run(s, ONLY(COUNT), want_counts(s));
  if (few && status == GR_OK) status = check_ddof(s);
  return status == GR_OK ? give(s, finish_main, out, result) : status;
}

/* ---- extremes: of those that are what fills, some may be of no element ---- */

static int is_end(const call *s, int k, int64_t v, int greatest) {
  const gr_filling end = gr_filling_end(s->dtype, greatest);
  const gr_value x = value(s, k, v);
  return x.is_float ? x.v[0].f == end.number.f : x.v[0].i == end.number.i;
}

static gr_status count_ends(call *s, int k, int greatest) {
  int open = 0;
  for (int64_t v = 0; v < s->results && !open; v++) open = is_end(s, k, v, greatest);
  if (!open) return GR_OK;
  gr_status status = run(s, ONLY(COUNT), want_counts(s));
  for (int64_t v = 0; v < s->results && status == GR_OK; v++) status = refuse_none(s, v);
  return status;
}

static gr_value finish_other(const call *s, int64_t v) { return value(s, OTHER, v); }

static gr_status reduce_extreme(call *s, gr_array *out, gr_value *result) {
  gr_status status = fill(s, 0);
  want(s, MAIN, s->q.op, &s->first, NULL, 0);
  status = run(s, ONLY(MAIN), status);
  if (status == GR_OK) status = count_ends(s, MAIN, s->q.op == GR_OP_min);
  return status == GR_OK ? give(s, finish_main, out, result) : status;
}

static gr_status reduce_extremes(call *s, gr_array *out, gr_array *out2, gr_value *result) {
  gr_value high;
  gr_status status = fill(s, 0);
  if (status == GR_OK) status = fill(s, 1);
  want(s, MAIN, GR_OP_min, &s->first, NULL, 0);
  want(s, OTHER, GR_OP_max, &s->second, NULL, 0);
  status = run(s, ONLY(MAIN) | ONLY(OTHER), status);
  if (status == GR_OK) status = count_ends(s, MAIN, 1);
  if (status == GR_OK) status = give(s, finish_main, out, result);
  if (status == GR_OK) status = give(s, finish_other, out2, &high);
  if (status == GR_OK && s->whole) result->v[1] = high.v[0];
  return status;
}

/* ---- positions: where the best element is what fills, the first present one is it ---- */

static gr_value finish_position(const call *s, int64_t v) {
  const int open = s->pass[FIRST].a.a && is_end(s, OTHER, v, s->q.op == GR_OP_argmin);
  return value(s, open ? FIRST : MAIN, v);
}

static gr_status reduce_position(call *s, gr_array *out, gr_value *result) {
  const int least = s->q.op == GR_OP_argmin;
  gr_status status = fill(s, 0);
  want(s, MAIN, s->q.op, &s->first, NULL, 0);
  want(s, OTHER, least ? GR_OP_min : GR_OP_max, &s->first, NULL, 0);
  status = run(s, ONLY(MAIN) | ONLY(OTHER), status);
  if (status == GR_OK) status = count_ends(s, OTHER, least);
  if (status == GR_OK && s->present.e) {
    want(s, FIRST, GR_OP_argmax, &s->present, NULL, 0);
    status = run(s, ONLY(FIRST), GR_OK);
  }
  return status == GR_OK ? give(s, finish_position, out, result) : status;
}

/* ---- correctly rounded ---- */

static gr_status reduce_exact(call *s, gr_array *out, gr_value *result) {
  const gr_partial_reduction *q = &s->q;
  const gr_reduced none = {NULL, NULL};
  gr_context *c = s->context;
  double x = 0;
  int64_t *counts = malloc((size_t)s->results * sizeof *counts + 1);
  gr_status status = counts ? fill_all(s) : gr_fail(c, GR_NO_MEMORY, "out of memory");
  gr_reduced a = gr_made_operand(&s->first), b = s->second.e ? gr_made_operand(&s->second) : none;
  if (status == GR_OK) status = want_counts(s);
  status = run(s, ONLY(COUNT), status);
  if (status == GR_OK) status = check_ddof(s);
  for (int64_t v = 0; v < s->results && status == GR_OK; v++) counts[v] = count_of(s, v);
  if (status == GR_OK && !s->whole) {
    status = gr_reduced_eval(c, &a);
    if (status == GR_OK && b.a) status = gr_reduced_eval(c, &b);
    if (status == GR_OK) status = gr_exact_each(c, q->op, q->shape, a.a, b.a, (int64_t)q->ddof, counts, out);
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
static gr_status settle_shape(call *s) {
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

static gr_status reduce(call *s, gr_array *out, gr_array *out2, gr_value *result) {
  if (s->q.exact) return reduce_exact(s, out, result);
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
static int may_be_known(const call *s) {
  const gr_partial *of = &s->q.of;
  if (!s->whole || s->context->comm || s->context->trace || s->q.exact || ways[s->q.op] == VARIANCE) return 0;
  if (!of->missing.nan || of->missing.mask.a || of->tested.a || of->a.e || of->b.e || of->a.a->n == 0) return 0;
  const gr_queue *q = gr_array_released(of->a.a) ? NULL : of->a.a->storage->queue;
  return q && q->backend && q->backend->formula;
}

static gr_status reduce_known(call *s, gr_array *out, gr_array *out2, gr_value *result) {
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
  call s = {.context = c, .q = *q, .dtype = q->of.a.a->dtype, .whole = !out};
  s.results = s.whole ? 1 : gr_shape_results(q->shape, q->of.a.a->n);
  if (s.results > GR_LONG) gr_stop_begin(&c->stop);
  gr_status status = s.results ? settle_shape(&s) : GR_OK;
  if (c->comm) status = gr_partial_meet(c, &q->of.missing, q->op, s.dtype, q->ddof, q->exact, q->of.a.a->n, &s.all);
  if (status == GR_OK && s.results) status = reduce_known(&s, out, out2, result);
  for (int k = 0; k < PASSES; k++) gr_array_release(&s.pass[k].many);
  gr_made_drop(&s.first);
  gr_made_drop(&s.second);
  gr_made_drop(&s.present);
  gr_array_release(&s.centers);
  return status;
}

gr_status gr_partial_all(gr_context *c, const gr_partial_reduction *q, gr_value *result) {
  const gr_status status = begin(c, q, NULL, NULL, result);
  result->is_float = q->exact || gr_is_float(gr_result_dtype(q->op, q->of.a.a->dtype));
  return status;
}

gr_status gr_partial_each(gr_context *c, const gr_partial_reduction *q, gr_array *out, gr_array *out2) {
  return begin(c, q, out, out2, NULL);
}
