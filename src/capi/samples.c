/* Histograms and quantiles: what samples are like. */

#include "src/capi/operations.h"
#include "src/core/histogram2d.h"
#include "src/core/select.h"

/* ---- histograms ---- */

#define MOST_BINS ((int64_t)1 << 31)

/* Numbers and edges of one direction. */
static int read_bins(gr_capi *q, const gr_array *a, const gpureduce_binning *given, gr_binning *b) {
  *b = (gr_binning){.bins = given->bins, .log = given->log != 0, .min = given->min, .max = given->max};
  b->has_min = b->has_max = given->min != 0 || given->max != 0;
  if (!(given->min - given->min == 0 && given->max - given->max == 0))
    return gr_capi_refuse(q, GPUREDUCE_BAD, "min and max: finite numbers expected");
  if (given->edges) {
    if (!gr_capi_takes(q, given->edges, "edges")) return 0;
    const gr_array *edges = b->edges = &given->edges->array;
    if (b->bins || b->has_min || b->log) return gr_capi_refuse(q, GPUREDUCE_BAD, "edges take no bins, min, max or log");
    if (edges->dtype != GR_F64 || edges->n < 2 || edges->storage->queue != a->storage->queue)
      return gr_capi_refuse(q, GPUREDUCE_BAD,
                            "edges: f64 with 2 or more elements beside the array expected, got %s[%lld]",
                            gr_dtypes[edges->dtype].name, (long long)edges->n);
    b->bins = edges->n - 1;
  }
  if (b->bins < 1 || b->bins > MOST_BINS)
    return gr_capi_refuse(q, GPUREDUCE_BAD, "bins: 1 to %lld expected, got %lld", (long long)MOST_BINS,
                          (long long)b->bins);
  if (b->log && b->has_min && b->min <= 0) return gr_capi_refuse(q, GPUREDUCE_BAD, "min above 0 expected with log");
  return 1;
}

static int read_weights(gr_capi *q, const gpureduce_array *weights, const gr_array *a, gr_reduced *w) {
  *w = GR_NONE;
  if (!weights) return 1;
  if (!gr_capi_takes_lazy(q, weights, "weights")) return 0;
  *w = gr_capi_operand(q, weights);
  if (!w->a) return 0;
  if (w->a->n == a->n && w->a->storage->queue == a->storage->queue) return 1;
  return gr_capi_refuse(q, GPUREDUCE_BAD, "weights: as long as the array, and beside it, expected");
}

static int read_grown(gr_capi *q, const gpureduce_binning *given, gpureduce_binning *own) {
  return gr_capi_grown(q, given, GR_CAPI_FIRST(gpureduce_binning, weights), own, sizeof *own, "gpureduce_binning");
}

/* Where counts go, apart from all that is read. */
static int read_into(gr_capi *q, const gr_array *a, gpureduce_array *into, gr_binning *b) {
  if (!into) return 1;
  b->into = gr_capi_out(q, &into, a, gr_histogram_dtype(b->weights.a), b->bins + 3, 0, 0);
  if (!b->into || gr_array_dense(b->into)) return b->into != NULL;
  return gr_capi_refuse(q, GPUREDUCE_BAD, "into: elements side by side expected");
}

/* whole: one histogram of all samples, whose counts may go into an array. */
static int read_binning(gr_capi *q, const gr_array *a, const gpureduce_binning *binning, int whole, gr_binning *b) {
  gpureduce_binning given;
  if (!read_grown(q, binning, &given) || !read_bins(q, a, &given, b)) return 0;
  if (given.into && !whole) return gr_capi_refuse(q, GPUREDUCE_BAD, "binning: takes no into here");
  b->modulo = given.modulo != 0;
  if (b->modulo && (gr_is_float(a->dtype) || b->edges || b->has_min || b->log))
    return gr_capi_refuse(q, GPUREDUCE_BAD, "modulo: integers, and no edges, min, max or log, expected");
  return read_weights(q, given.weights, a, &b->weights) &&
         gr_capi_missing(q, given.mask, given.skipnan, a, &b->missing) && read_into(q, a, given.into, b);
}

/* New arrays of a call, all of them or none. */
typedef struct results {
  gpureduce_array **to[3], *made[3];
  int count, optional; /* bit k: nobody need want result k */
} results;

/* Where results go: places that differ. */
static int open_results(gr_capi *q, results *r) {
  static const char *const names[] = {"counts", "edges", "the third result"};
  for (int k = 0; k < r->count; k++) {
    if (!(r->optional >> k & 1) && !gr_capi_needs(q, r->to[k], names[k])) return 0;
    for (int j = 0; j < k; j++)
      if (r->to[k] && r->to[j] == r->to[k]) return gr_capi_refuse(q, GPUREDUCE_BAD, "counts and edges are one");
  }
  for (int k = 0; k < r->count; k++)
    if (!(r->made[k] = gr_capi_fresh(q, r->to[k]))) return 0;
  return 1;
}

/* Of a first try that ran out of memory. */
static void release_results(results *r) {
  for (int k = 0; k < r->count; k++) gr_array_release(&r->made[k]->array);
}

static gr_status histogram(gr_capi *q, gr_reduced a, const gr_binning *b, results *r) {
  release_results(r);
  return gr_histogram(q->c, a, b, &r->made[0]->array, &r->made[1]->array);
}

gpureduce_status gpureduce_histogram(const gpureduce_array *a, const gpureduce_binning *binning,
                                     gpureduce_array **counts, gpureduce_array **edges) {
  gr_capi q;
  gr_binning b;
  results r = {.to = {counts, edges}, .count = 2, .optional = 2};
  gr_reduced of = {NULL, NULL};
  if (gr_capi_begin_lazy(&q, "histogram", a)) of = gr_capi_operand(&q, a);
  if (of.a && read_binning(&q, of.a, binning, 1, &b)) {
    r.optional |= b.into != NULL;
    if (open_results(&q, &r)) GR_CAPI_TRY(&q, histogram(&q, of, &b, &r));
  }
  return gr_capi_end(&q);
}

static gr_status histogram_each(gr_capi *q, gr_shape s, const gr_array *a, gr_binning *b, results *r) {
  release_results(r);
  gr_status status = gr_reduced_eval(q->c, &b->weights);
  if (status != GR_OK) return status;
  return gr_histogram_each(q->c, s, a, b, &r->made[0]->array, &r->made[1]->array, &r->made[2]->array);
}

gpureduce_status gpureduce_histogram_each(const gpureduce_array *a, const gpureduce_binning *binning,
                                          const gpureduce_options *options, gpureduce_array **counts,
                                          gpureduce_array **tails, gpureduce_array **edges) {
  gr_capi q;
  gr_binning b;
  gr_shape s;
  results r = {.to = {counts, tails, edges}, .count = 3};
  const gpureduce_options *o = NULL;
  const gr_array *x = NULL;
  if (gr_capi_begin_lazy(&q, "histogram_each", a)) o = gr_capi_options(&q, options, GR_TAKES_SHAPE);
  if (o) x = gr_capi_elements(&q, a);
  if (x && gr_capi_shape(&q, o, x, &s) && read_binning(&q, x, binning, 0, &b)) {
    if (!s.rows) gr_capi_refuse(&q, GPUREDUCE_BAD, "options: rows expected");
    else if (open_results(&q, &r)) GR_CAPI_TRY(&q, histogram_each(&q, s, x, &b, &r));
  }
  return gr_capi_end(&q);
}

/* ---- of pairs ---- */

/* missing: of x, what its binning says of pairs that are not there; of y NULL. */
static int read_axis(gr_capi *q, const gr_array *a, const gpureduce_binning *given, gr_partial *missing,
                     gr_binning *b) {
  gpureduce_binning own;
  if (!read_grown(q, given, &own) || !read_bins(q, a, &own, b)) return 0;
  const gr_array *x = missing && !gr_is_float(a->dtype) ? missing->b.a : a; /* either's NaN make a pair missing */
  if (missing && !gr_capi_missing(q, own.mask, own.skipnan, x, &missing->missing)) return 0;
  if (!missing && (own.mask || own.skipnan))
    return gr_capi_refuse(q, GPUREDUCE_BAD, "of_y: takes no mask or skipnan: those of of_x are of pairs");
  if (!own.weights && !own.modulo && !own.into) return 1;
  return gr_capi_refuse(q, GPUREDUCE_BAD, "binning: takes no weights, modulo or into here");
}

/* What is present of the pairs and their weights, in arrays of its own. */
static gr_status keep_present(gr_context *c, const gr_partial *of, gr_pairs *p, gr_array kept[3]) {
  gr_reduced *const parts[] = {&p->weights, &p->samples[0], &p->samples[1]};
  gr_status status = GR_OK;
  if (!gr_may_miss(&of->missing)) return GR_OK;
  for (int k = 0; k < 3 && status == GR_OK; k++) {
    if (!parts[k]->a) continue;
    status = gr_partial_compact(c, of, *parts[k], &kept[k]);
    *parts[k] = (gr_reduced){NULL, &kept[k]};
  }
  return status;
}

static gr_status histogram2d(gr_capi *q, const gr_partial *of, gr_pairs p, results *r) {
  gr_array *const edges[2] = {&r->made[1]->array, &r->made[2]->array}, kept[3] = {{0}};
  release_results(r);
  gr_status status = gr_reduced_eval(q->c, &p.weights);
  if (status == GR_OK) status = keep_present(q->c, of, &p, kept);
  if (status == GR_OK) status = gr_histogram2d(q->c, &p, &r->made[0]->array, edges);
  for (int k = 0; k < 3; k++) gr_array_release(&kept[k]);
  return status;
}

gpureduce_status gpureduce_histogram2d(const gpureduce_array *x, const gpureduce_array *y,
                                       const gpureduce_binning *of_x, const gpureduce_binning *of_y,
                                       const gpureduce_array *weights, gpureduce_array **counts,
                                       gpureduce_array **x_edges, gpureduce_array **y_edges) {
  gr_capi q;
  gr_pairs p = {.samples = {{NULL, NULL}}};
  results r = {.to = {counts, x_edges, y_edges}, .count = 3};
  if (!gr_capi_begin_lazy(&q, "histogram2d", x) || !gr_capi_takes_lazy(&q, y, "y")) return gr_capi_end(&q);
  p.samples[0] = gr_capi_operand(&q, x);
  if (p.samples[0].a) p.samples[1] = gr_capi_operand(&q, y);
  if (!p.samples[1].a) return gr_capi_end(&q);
  const gr_array *a = p.samples[0].a, *b = p.samples[1].a;
  gr_partial pairs = {.a = p.samples[0], .b = p.samples[1]};
  if (a->n != b->n || a->storage->queue != b->storage->queue)
    gr_capi_refuse(&q, GPUREDUCE_BAD, "y: as long as x, and beside it, expected");
  else if (read_axis(&q, a, of_x, &pairs, &p.bins[0]) && read_axis(&q, b, of_y, NULL, &p.bins[1]) &&
           read_weights(&q, weights, a, &p.weights)) {
    if (p.bins[0].bins > GR_MOST_CELLS / p.bins[1].bins)
      gr_capi_refuse(&q, GPUREDUCE_BAD, "%lld x %lld bins are more than %lld", (long long)p.bins[0].bins,
                     (long long)p.bins[1].bins, (long long)GR_MOST_CELLS);
    else if (open_results(&q, &r)) GR_CAPI_TRY(&q, histogram2d(&q, &pairs, p, &r));
  }
  return gr_capi_end(&q);
}

/* ---- quantiles ---- */

static int read_shares(gr_capi *q, const double *shares, int64_t count) {
  if (count < 0 || count > MOST_BINS)
    return gr_capi_refuse(q, GPUREDUCE_BAD, "count: 0 or more expected, got %lld", (long long)count);
  if (count && !gr_capi_needs(q, shares, "shares")) return 0;
  for (int64_t k = 0; k < count; k++)
    if (!(shares[k] >= 0 && shares[k] <= 1))
      return gr_capi_refuse(q, GPUREDUCE_BAD, "shares from 0 to 1 expected, got %.14g", shares[k]);
  return 1;
}

static int read_method(gr_capi *q, const char *method) {
  return method ? gr_capi_named(q, method, gr_method_names, "method") : GR_LINEAR;
}

/* A few at a time, so that results need no memory. */
#define TOGETHER 16

gpureduce_status gpureduce_quantiles(const gpureduce_array *a, const double *shares, int64_t count, const char *method,
                                     gpureduce_number *out) {
  gr_capi q;
  int k;
  if (!gr_capi_begin_lazy(&q, "quantiles", a) || !read_shares(&q, shares, count) ||
      (count && !gr_capi_needs(&q, out, "out")) || (k = read_method(&q, method)) < 0)
    return gr_capi_end(&q);
  const gr_array *x = gr_capi_elements(&q, a);
  if (x && x->n == 0 && count) gr_capi_refuse(&q, GPUREDUCE_BAD, "the array is empty: a quantile needs an element");
  for (int64_t done = 0; done < count && q.status == GPUREDUCE_OK; done += TOGETHER) {
    gr_value r[TOGETHER];
    const int64_t some = count - done < TOGETHER ? count - done : TOGETHER;
    GR_CAPI_TRY(&q, gr_quantiles(q.c, x, shares + done, some, (gr_quantile_method)k, r));
    for (int64_t i = 0; i < some && q.status == GPUREDUCE_OK; i++) out[done + i] = gr_capi_result(&r[i], 0);
  }
  return gr_capi_end(&q);
}

/* With weights the method is inverted_cdf. */
static int read_sample(gr_capi *q, const gpureduce_options *o, const char *method, const gr_array *a, int *k,
                       gr_sample *s) {
  gr_reduced w;
  *s = (gr_sample){.a = a, .name = "quantiles_each"};
  if ((*k = read_method(q, method)) < 0 || !gr_capi_missing(q, o->mask, o->skipnan, a, &s->missing) ||
      !read_weights(q, o->weights, a, &w))
    return 0;
  if (!w.a) return 1;
  if (method && *k != GR_INVERTED)
    return gr_capi_refuse(q, GPUREDUCE_BAD, "options: weights only with method 'inverted_cdf'");
  *k = GR_INVERTED;
  s->weights = gr_capi_elements(q, o->weights);
  return s->weights != NULL;
}

gpureduce_status gpureduce_quantiles_each(const gpureduce_array *a, const double *shares, int64_t count,
                                          const char *method, const gpureduce_options *options, gpureduce_array **out) {
  gr_capi q;
  gr_shape s;
  gr_sample sample;
  const gpureduce_options *o = NULL;
  const gr_array *x = NULL;
  int k;
  if (gr_capi_begin_lazy(&q, "quantiles_each", a) && read_shares(&q, shares, count))
    o = gr_capi_options(&q, options, GR_TAKES_SHAPE | GR_TAKES_MISSING | GR_TAKES_SINGLE | GR_TAKES_WEIGHTS);
  if (o) x = gr_capi_elements(&q, a);
  if (!x || !gr_capi_shape(&q, o, x, &s) || !read_sample(&q, o, method, x, &k, &sample)) return gr_capi_end(&q);
  const gr_dtype own = gr_quantile_selects((gr_quantile_method)k) ? x->dtype : GR_F64;
  const int64_t vectors = s.rows ? gr_shape_results(s, x->n) : 1;
  if (o->single && own != GR_F64) gr_capi_refuse(&q, GPUREDUCE_BAD, "options: single is for results of f64");
  else if (vectors && gr_shape_length(s, x->n) == 0)
    gr_capi_refuse(&q, GPUREDUCE_BAD, "the array is empty: a quantile needs an element");
  else if (vectors && count > INT64_MAX / 8 / vectors) gr_capi_refuse(&q, GPUREDUCE_BAD, "too many results");
  if (q.status == GPUREDUCE_OK) {
    gr_array *to =
        gr_capi_out(&q, out, x, o->single ? GR_F32 : own, vectors * count, s.rows && count > 1 ? count : 0, 0);
    if (to && to->n) GR_CAPI_TRY(&q, gr_quantiles_each(q.c, s, &sample, shares, count, (gr_quantile_method)k, to));
  }
  return gr_capi_end(&q);
}
