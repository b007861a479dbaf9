/* Operations that are no reduction and no operator: histograms, quantiles, rows, matrices, random numbers. */
#include <math.h>

#include "kernels/numerics/math.h"
#include "src/capi/operations.h"
#include "src/core/histogram.h"
#include "src/core/matrix.h"
#include "src/core/random.h"
#include "src/core/select.h"

/* ---- histograms ---- */

#define MOST_BINS ((int64_t)1 << 31)

static int read_binning(gr_capi *q, const gr_array *a, const gpureduce_binning *given, gr_binning *b) {
  if (!gr_capi_sized(q, given, sizeof *given, "gpureduce_binning")) return 0;
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
  if (!given->weights) return 1;
  if (!gr_capi_takes(q, given->weights, "weights")) return 0;
  b->weights.a = (gr_array *)(uintptr_t)&given->weights->array;
  if (b->weights.a->n == a->n && b->weights.a->storage->queue == a->storage->queue) return 1;
  return gr_capi_refuse(q, GPUREDUCE_BAD, "weights: as long as the array, and beside it, expected");
}

static gr_status histogram(gr_capi *q, const gr_array *a, const gr_binning *b, gr_array *counts, gr_array *edges) {
  gr_array_release(counts); /* of a first try that ran out of memory */
  gr_array_release(edges);
  return gr_histogram(q->c, (gr_reduced){NULL, (gr_array *)(uintptr_t)a}, b, counts, edges);
}

gpureduce_status gpureduce_histogram(const gpureduce_array *a, const gpureduce_binning *binning,
                                     gpureduce_array **counts, gpureduce_array **edges) {
  gr_capi q;
  gr_binning b;
  if (gr_capi_begin(&q, "histogram", a) && gr_capi_needs(&q, counts, "counts") && gr_capi_needs(&q, edges, "edges") &&
      read_binning(&q, &a->array, binning, &b)) {
    gpureduce_array *x = gr_capi_handle(&q), *y = gr_capi_handle(&q);
    if (counts == edges) gr_capi_refuse(&q, GPUREDUCE_BAD, "counts and edges are one");
    else if (x && y) GR_CAPI_TRY(&q, histogram(&q, &a->array, &b, &x->array, &y->array));
    if (q.status == GPUREDUCE_OK) {
      *counts = x;
      *edges = y;
    } else {
      if (x) gr_capi_forget(x);
      if (y) gr_capi_forget(y);
    }
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

/* A few at a time, so that results need no memory. */
#define TOGETHER 16

gpureduce_status gpureduce_quantiles(const gpureduce_array *a, const double *shares, int64_t count, const char *method,
                                     gpureduce_number *out) {
#define GR_X(id, name) #name,
  static const char *const names[] = {GR_METHODS(GR_X) NULL};
#undef GR_X
  gr_capi q;
  int k = 0;
  if (!gr_capi_begin(&q, "quantiles", a) || !read_shares(&q, shares, count) ||
      (count && !gr_capi_needs(&q, out, "out")) || (method && (k = gr_capi_named(&q, method, names, "method")) < 0))
    return gr_capi_end(&q);
  if (a->array.n == 0 && count) gr_capi_refuse(&q, GPUREDUCE_BAD, "the array is empty: a quantile needs an element");
  for (int64_t done = 0; done < count && q.status == GPUREDUCE_OK; done += TOGETHER) {
    gr_value r[TOGETHER];
    const int64_t some = count - done < TOGETHER ? count - done : TOGETHER;
    GR_CAPI_TRY(&q, gr_quantiles(q.c, &a->array, shares + done, some, (gr_quantile_method)k, r));
    for (int64_t i = 0; i < some && q.status == GPUREDUCE_OK; i++) out[done + i] = gr_capi_result(&r[i], 0);
  }
  return gr_capi_end(&q);
}

/* ---- rows ---- */

/* The rows that the options say, those of the matrix, or one. */
static int read_rows(gr_capi *q, const gpureduce_options *options, int takes, const gr_array *a, int64_t *rows,
                     double *eps) {
  gr_shape s;
  const gpureduce_options *o = gr_capi_options(q, options, takes);
  if (!o || !gr_capi_shape(q, o, a, &s)) return 0;
  if (s.axis != 2) return gr_capi_refuse(q, GPUREDUCE_BAD, "options: takes no axis");
  *rows = s.rows ? s.rows : a->rows ? a->rows : 1;
  *eps = o->eps;
  return *eps >= 0 && *eps - *eps == 0 ? 1 : gr_capi_refuse(q, GPUREDUCE_BAD, "options: eps of 0 or more expected");
}

gpureduce_status gpureduce_softmax(const gpureduce_array *a, const gpureduce_options *options, gpureduce_array **out) {
  gr_capi q;
  gr_capi_out o = {0};
  int64_t rows;
  double eps;
  if (gr_capi_begin(&q, "softmax", a) && gr_capi_float(&q, &a->array) &&
      read_rows(&q, options, GR_TAKES_SHAPE, &a->array, &rows, &eps)) {
    const gr_array *x = &a->array;
    gr_array *to = gr_capi_open_out(&q, &o, out, x, x->dtype, x->n, x->rows, 1);
    if (to) GR_CAPI_TRY(&q, gr_softmax(q.c, x, to, rows));
    gr_capi_close_out(&q, &o);
  }
  return gr_capi_end(&q);
}

gpureduce_status gpureduce_rmsnorm(const gpureduce_array *a, const gpureduce_array *weights,
                                   const gpureduce_options *options, gpureduce_array **out) {
  gr_capi q;
  gr_capi_out o = {0};
  int64_t rows;
  double eps;
  if (gr_capi_begin(&q, "rmsnorm", a) && gr_capi_float(&q, &a->array) &&
      read_rows(&q, options, GR_TAKES_SHAPE | GR_TAKES_EPS, &a->array, &rows, &eps) &&
      (!weights || (gr_capi_takes(&q, weights, "weights") &&
                    gr_capi_like(&q, &a->array, &weights->array, a->array.n / rows, "weights")))) {
    const gr_array *x = &a->array, *w = weights ? &weights->array : NULL;
    gr_array *to = gr_capi_open_out(&q, &o, out, x, x->dtype, x->n, x->rows, 1);
    if (to && w && gr_array_overlap(to, w)) gr_capi_refuse(&q, GPUREDUCE_BAD, "out overlaps the weights");
    else if (to) GR_CAPI_TRY(&q, gr_rmsnorm(q.c, x, w, to, rows, eps));
    gr_capi_close_out(&q, &o);
  }
  return gr_capi_end(&q);
}

/* ---- matrices ---- */

static int check_matrix(gr_capi *q, const gr_array *a) {
  return a->rows ? 1 : gr_capi_refuse(q, GPUREDUCE_BAD, "a matrix expected, got a vector");
}

gpureduce_status gpureduce_transpose(const gpureduce_array *a, gpureduce_array **out) {
  gr_capi q;
  gr_capi_out o = {0};
  if (gr_capi_begin(&q, "transpose", a) && check_matrix(&q, &a->array)) {
    const gr_array *x = &a->array;
    gr_array *to = gr_capi_open_out(&q, &o, out, x, x->dtype, x->n, gr_array_columns(x), 0);
    if (to) GR_CAPI_TRY(&q, gr_transpose(q.c, x, to));
    gr_capi_close_out(&q, &o);
  }
  return gr_capi_end(&q);
}

gpureduce_status gpureduce_covariance(const gpureduce_array *a, const gpureduce_options *options, int correlation,
                                      gpureduce_array **out) {
  gr_capi q;
  gr_capi_out u = {0};
  const gpureduce_options *o = NULL;
  gr_shape s;
  if (gr_capi_begin(&q, "covariance", a))
    o = gr_capi_options(&q, options, GR_TAKES_SHAPE | (correlation ? 0 : GR_TAKES_DDOF));
  if (!o || !gr_capi_shape(&q, o, &a->array, &s)) return gr_capi_end(&q);
  const int64_t rows = s.rows ? s.rows : a->array.rows, columns = rows ? a->array.n / rows : 0;
  if (!rows) check_matrix(&q, &a->array);
  else if (s.axis != 2) gr_capi_refuse(&q, GPUREDUCE_BAD, "options: takes no axis");
  else if (!(o->ddof < (double)rows)) gr_capi_refuse(&q, GPUREDUCE_BAD, "options: ddof less than the rows expected");
  else if (columns > INT32_MAX) gr_capi_refuse(&q, GPUREDUCE_BAD, "%lld columns are too many", (long long)columns);
  if (q.status == GPUREDUCE_OK) {
    gr_array *to = gr_capi_open_out(&q, &u, out, &a->array, GR_F64, columns * columns, columns, 0);
    if (to && !gr_array_dense(to)) gr_capi_refuse(&q, GPUREDUCE_BAD, "out: elements side by side expected");
    else if (to && columns) GR_CAPI_TRY(&q, gr_covariance(q.c, &a->array, rows, o->ddof, correlation != 0, to));
    gr_capi_close_out(&q, &u);
  }
  return gr_capi_end(&q);
}

/* ---- random numbers ---- */

gpureduce_status gpureduce_random(gpureduce_context *context, const char *kind, gpureduce_dtype dtype, int64_t length,
                                  uint64_t seed, uint64_t stream, gpureduce_array **out) {
  static const char *const names[] = {"rand", "randn", "exponential", NULL};
  static const int kinds[] = {GR_UNIFORM, GR_NORMAL, GR_EXPONENTIAL};
  gr_capi q;
  gr_capi_out o = {0};
  int k = -1;
  if (!gr_capi_begin_with(&q, "random", context) || (k = gr_capi_named(&q, kind, names, "kind")) < 0 ||
      !gr_capi_dtype(&q, dtype))
    return gr_capi_end(&q);
  if (!gr_is_float((gr_dtype)dtype))
    gr_capi_refuse(&q, GPUREDUCE_BAD, "float dtype expected, got %s", gr_dtypes[dtype].name);
  else if (length < 0) gr_capi_refuse(&q, GPUREDUCE_BAD, "length of 0 or more expected, got %lld", (long long)length);
  else if (stream >= GR_STREAMS) gr_capi_refuse(&q, GPUREDUCE_BAD, "stream below 2^62 expected");
  if (q.status == GPUREDUCE_OK) {
    gr_array *to = gr_capi_open_out(&q, &o, out, NULL, (gr_dtype)dtype, length, 0, 0);
    if (to) GR_CAPI_TRY(&q, gr_random(q.c, to, (gr_draw){seed, stream}, kinds[k]));
    gr_capi_close_out(&q, &o);
  }
  return gr_capi_end(&q);
}
