/* Operations on rows and on matrices. */
#include "src/capi/operations.h"
#include "src/core/matrix.h"

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
  int64_t rows;
  double eps;
  if (!gr_capi_begin_lazy(&q, "softmax", a)) return gr_capi_end(&q);
  const gr_array *x = gr_capi_elements(&q, a);
  if (x && gr_capi_float(&q, x) && read_rows(&q, options, GR_TAKES_SHAPE, x, &rows, &eps)) {
    gr_array *to = gr_capi_out(&q, out, x, x->dtype, x->n, x->rows, 1);
    if (to) GR_CAPI_TRY(&q, gr_softmax(q.c, x, to, rows));
  }
  return gr_capi_end(&q);
}

gpureduce_status gpureduce_rmsnorm(const gpureduce_array *a, const gpureduce_array *weights,
                                   const gpureduce_options *options, gpureduce_array **out) {
  gr_capi q;
  int64_t rows;
  double eps;
  if (!gr_capi_begin_lazy(&q, "rmsnorm", a)) return gr_capi_end(&q);
  const gr_array *x = gr_capi_elements(&q, a), *w = weights ? &weights->array : NULL;
  if (x && gr_capi_float(&q, x) && read_rows(&q, options, GR_TAKES_SHAPE | GR_TAKES_EPS, x, &rows, &eps) &&
      (!w || (gr_capi_takes(&q, weights, "weights") && gr_capi_like(&q, x, w, x->n / rows, "weights")))) {
    gr_array *to = gr_capi_out(&q, out, x, x->dtype, x->n, x->rows, 1);
    if (to && w && gr_array_overlap(to, w)) gr_capi_refuse(&q, GPUREDUCE_BAD, "out overlaps the weights");
    else if (to) GR_CAPI_TRY(&q, gr_rmsnorm(q.c, x, w, to, rows, eps));
  }
  return gr_capi_end(&q);
}

/* ---- matrices ---- */

static int check_matrix(gr_capi *q, const gr_array *a) {
  return a->rows ? 1 : gr_capi_refuse(q, GPUREDUCE_BAD, "a matrix expected, got a vector");
}

gpureduce_status gpureduce_transpose(const gpureduce_array *a, gpureduce_array **out) {
  gr_capi q;
  if (gr_capi_begin(&q, "transpose", a) && check_matrix(&q, &a->array)) {
    const gr_array *x = &a->array;
    gr_array *to = gr_capi_out(&q, out, x, x->dtype, x->n, gr_array_columns(x), 0);
    if (to) GR_CAPI_TRY(&q, gr_transpose(q.c, x, to));
  }
  return gr_capi_end(&q);
}

gpureduce_status gpureduce_covariance(const gpureduce_array *a, const gpureduce_options *options, int correlation,
                                      gpureduce_array **out) {
  gr_capi q;
  const gpureduce_options *o = NULL;
  const gr_array *x = NULL;
  gr_missing missing;
  gr_shape s;
  if (gr_capi_begin_lazy(&q, "covariance", a))
    o = gr_capi_options(&q, options, GR_TAKES_SHAPE | GR_TAKES_MISSING | (correlation ? 0 : GR_TAKES_DDOF));
  if (o) x = gr_capi_elements(&q, a);
  if (!x || !gr_capi_shape(&q, o, x, &s) || !gr_capi_missing(&q, o->mask, o->skipnan, x, &missing))
    return gr_capi_end(&q);
  const int64_t rows = s.rows ? s.rows : x->rows, columns = rows ? x->n / rows : 0;
  if (!rows) check_matrix(&q, x);
  else if (s.axis != 2) gr_capi_refuse(&q, GPUREDUCE_BAD, "options: takes no axis");
  else if (!(o->ddof < (double)rows)) gr_capi_refuse(&q, GPUREDUCE_BAD, "options: ddof less than the rows expected");
  else if (columns > INT32_MAX) gr_capi_refuse(&q, GPUREDUCE_BAD, "%lld columns are too many", (long long)columns);
  if (q.status == GPUREDUCE_OK) {
    gr_array *to = gr_capi_out(&q, out, x, GR_F64, columns * columns, columns, 0);
    if (to && !gr_array_dense(to)) gr_capi_refuse(&q, GPUREDUCE_BAD, "out: elements side by side expected");
    else if (to && columns)
      GR_CAPI_TRY(&q, gr_covariance_present(q.c, x, rows, &missing, o->ddof, correlation != 0, to));
  }
  return gr_capi_end(&q);
}
