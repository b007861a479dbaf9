#include "src/core/matrix.h"

#include "src/core/map.h"
#include "src/core/ops.h"

/* Row by row, or column by column if these are fewer: vectors that step through one of the two. */
gr_status gr_transpose(gr_context *c, const gr_array *a, gr_array *out) {
  const int64_t columns = gr_array_columns(a), rows = a->rows, by_rows = rows <= columns;
  gr_status status = GR_OK;
  gr_stop_begin(&c->stop);
  for (int64_t k = 0; k < (by_rows ? rows : columns) && status == GR_OK; k++) {
    if (k && k % 256 == 0 && (status = gr_context_look(c)) != GR_OK) break;
    const gr_array from = by_rows ? gr_array_part(a, k * columns, 1, columns) : gr_array_part(a, k, columns, rows);
    gr_array to = by_rows ? gr_array_part(out, k, rows, columns) : gr_array_part(out, k * rows, 1, rows);
    status = gr_copy(c, &from, &to);
  }
  return status;
}

/* ---- covariances ---- */

typedef struct spread {
  gr_context *c;
  const gr_array *a;
  int64_t rows, columns;
  gr_array centred; /* a row for each column of a */
  gr_array numbers; /* one for each column: means, then deviations */
  gr_array *out;
} spread;

/* x op number, or x op y (f64), into x. */
static gr_status change(gr_context *c, gr_map op, gr_array *x, const gr_array *y, double number) {
  gr_map_call call = {.op = op, .dtype = GR_F64, .a = {x, 0}, .b = {y, 0}};
  gr_element_put_f(GR_F64, &call.b.value, number);
  return gr_map_arrays(c, &call, x);
}

static gr_status number_at(const gr_array *numbers, int64_t k, double *x) {
  gr_vec v;
  const gr_status status = gr_array_read(numbers, GR_HOST, &v);
  if (status == GR_OK) *x = ((const double *)v.data)[k];
  return status;
}

/* Column k, less its mean. */
static gr_status centre(spread *s, int64_t k) {
  const gr_shape columns = {.rows = s->rows, .axis = 1};
  const gr_array column = gr_shape_vector(columns, s->a, k);
  gr_array to = gr_array_part(&s->centred, k * s->rows, 1, s->rows);
  double mean = 0;
  gr_status status = gr_cast(s->c, &column, &to);
  if (status == GR_OK) status = number_at(&s->numbers, k, &mean);
  if (status == GR_OK) status = change(s->c, GR_MAP_sub, &to, NULL, mean);
  return status;
}

/* Row k of the sums of products. */
static gr_status multiply(spread *s, int64_t k) {
  const gr_shape each = {.rows = s->columns, .axis = 2};
  const gr_array one = gr_array_part(&s->centred, k * s->rows, 1, s->rows);
  gr_array to = gr_array_part(s->out, k * s->columns, 1, s->columns);
  return gr_reduce_each(s->c, GR_OP_dot, each, &s->centred, &one, 0, &to, NULL);
}

/* Row k divided by the products of the deviations, which are the same from both sides. */
static gr_status normalise(spread *s, int64_t k, gr_array *products) {
  gr_array to = gr_array_part(s->out, k * s->columns, 1, s->columns);
  double deviation = 0;
  gr_status status = gr_copy(s->c, &s->numbers, products);
  if (status == GR_OK) status = number_at(&s->numbers, k, &deviation);
  if (status == GR_OK) status = change(s->c, GR_MAP_mul, products, NULL, deviation);
  return status == GR_OK ? change(s->c, GR_MAP_div, &to, products, 0) : status;
}

static gr_status correlate(spread *s) {
  gr_array products = {0}, ones = {0}, diagonal = gr_array_part(s->out, 0, s->columns + 1, s->columns);
  gr_map_call call = {.op = GR_MAP_sqrt, .dtype = GR_F64, .a = {&diagonal, 0}};
  gr_status status = gr_map_arrays(s->c, &call, &s->numbers);
  if (status == GR_OK) status = gr_array_make_beside(s->c, s->out, &products, GR_F64, s->columns);
  if (status == GR_OK) status = gr_array_make_beside(s->c, s->out, &ones, GR_F64, s->columns);
  if (status == GR_OK) status = gr_copy(s->c, &diagonal, &ones);
  if (status == GR_OK) status = change(s->c, GR_MAP_div, &ones, &diagonal, 0); /* NaN where nothing varies */
  for (int64_t k = 0; k < s->columns && status == GR_OK; k++) {
    if (k && k % 64 == 0 && (status = gr_context_look(s->c)) != GR_OK) break;
    status = normalise(s, k, &products);
  }
  if (status == GR_OK) status = gr_copy(s->c, &ones, &diagonal);
  call = (gr_map_call){.op = GR_MAP_clamp, .dtype = GR_F64, .a = {s->out, 0}};
  gr_element_put_f(GR_F64, &call.b.value, -1);
  gr_element_put_f(GR_F64, &call.c.value, 1);
  if (status == GR_OK) status = gr_map_arrays(s->c, &call, s->out);
  gr_array_release(&products);
  gr_array_release(&ones);
  return status;
}

/* By products of all columns at once, where the device has these; nothing waits. */
static int has_products(const spread *s) {
  return s->columns <= s->a->storage->queue->backend->products_most && gr_array_dense(s->out);
}
static gr_status multiply_all(spread *s) {
  gr_queue *q = s->a->storage->queue;
  const gr_side side = gr_kernel_side(s->a->storage);
  gr_products_job job = {.dtype = s->a->dtype, .columns = (int32_t)s->columns, .rows = s->rows};
  gr_vec means, out;
  gr_status status = gr_array_read(s->a, side, &job.a);
  if (status == GR_OK) status = gr_array_read(&s->numbers, side, &means);
  if (status == GR_OK) status = gr_array_write(s->out, side, 1, &out);
  if (status != GR_OK) return status;
  job.means = means.data;
  job.out = (double *)(uintptr_t)out.data;
  return gr_fail_from(s->c, q, q->backend->products(q, &job), "cov", 0);
}

static gr_status multiply_each(spread *s) {
  gr_status status = gr_array_make_beside(s->c, s->a, &s->centred, GR_F64, s->a->n);
  for (int64_t k = 0; k < s->columns && status == GR_OK; k++) {
    if (k && k % 64 == 0 && (status = gr_context_look(s->c)) != GR_OK) break;
    status = centre(s, k);
  }
  for (int64_t k = 0; k < s->columns && status == GR_OK; k++) {
    if (k && k % 64 == 0 && (status = gr_context_look(s->c)) != GR_OK) break;
    status = multiply(s, k);
  }
  return status;
}

gr_status gr_covariance(gr_context *c, const gr_array *a, int64_t rows, double ddof, int correlation, gr_array *out) {
  spread s = {.c = c, .a = a, .rows = rows, .columns = a->n / rows, .out = out};
  if (gr_array_released(a)) return GR_RELEASED;
  gr_status status = gr_array_make_beside(c, a, &s.numbers, GR_F64, s.columns);
  if (status == GR_OK)
    status = gr_reduce_each(c, GR_OP_mean, (gr_shape){.rows = rows, .axis = 1}, a, NULL, 0, &s.numbers, NULL);
  gr_stop_begin(&c->stop);
  if (status == GR_OK) status = has_products(&s) ? multiply_all(&s) : multiply_each(&s);
  if (status == GR_OK) status = change(c, GR_MAP_div, out, NULL, (double)rows - ddof);
  if (status == GR_OK && correlation) status = correlate(&s);
  gr_array_release(&s.centred);
  gr_array_release(&s.numbers);
  return status;
}
