/*
** Covariances and correlations of what is present: of each two columns those rows in which both are. The formulas are
** texts: X has a row for each column of the matrix, P says where that is present; x and p are row k of them, for all
** rows. So each text gives what column k has with all others at once.
*/
#include "src/core/formula/bind.h"
#include "src/core/formula/present.h"
#include "src/core/map.h"
#include "src/core/matrix.h"

/* What is found of each other column: rows that both have, means of these, and sums of products and squares. */
enum { COUNT, MEAN, OTHER, PRODUCTS, SQUARES, OTHERS, FOUND };

typedef struct pairs {
  gr_context *c;
  const gr_array *a;
  const gr_missing *missing;
  gr_shape shape; /* of a: its columns */
  int64_t columns, rows;
  double ddof;
  gr_array values, present; /* X, f64, and P, u8 */
  gr_array x, p;
  int64_t k;
  gr_array found[FOUND]; /* f64 */
} pairs;

static gr_status make(pairs *s, const char *text, gr_made *m) {
  const gr_named names[] = {{"X", {.array = &s->values}},
                            {"P", {.array = &s->present}},
                            {"x", {.array = &s->x}},
                            {"p", {.array = &s->p}},
                            {"N", {.array = &s->found[COUNT]}},
                            {"m", {.array = &s->found[MEAN]}},
                            {"o", {.array = &s->found[OTHER]}},
                            {"C", {.array = &s->found[PRODUCTS]}},
                            {"V", {.array = &s->found[SQUARES]}},
                            {"W", {.array = &s->found[OTHERS]}},
                            {"k", {.number = gr_number_i(s->k + 1)}},
                            {"d", {.number = gr_number_f(s->ddof)}}};
  const gr_status status = gr_formula_express(s->c, text, names, sizeof names / sizeof names[0], &m->e);
  return status == GR_OK ? gr_expression_promise(s->c, m->e, &m->a) : status;
}

/* A sum for each row of X. */
static gr_status sum(pairs *s, const char *text, int to) {
  const gr_shape each = {.rows = s->columns, .axis = 2};
  gr_made m = {0};
  gr_status status = make(s, text, &m);
  if (status == GR_OK)
    status = gr_formula_reduce_each(s->c, GR_OP_sum, each, gr_made_operand(&m), GR_NONE, 0, &s->found[to], NULL);
  gr_made_drop(&m);
  return status;
}

/* A number for each row of X. */
static gr_status compute(pairs *s, const char *text, gr_array *to) {
  gr_made m = {0};
  gr_status status = make(s, text, &m);
  if (status == GR_OK) status = gr_expression_eval(s->c, m.e, to);
  gr_made_drop(&m);
  return status;
}

/* Column k of the matrix: rows of X and P. */
static gr_status read_column(pairs *s, int64_t k) {
  gr_array column = gr_shape_vector(s->shape, s->a, k), mask;
  gr_array to = gr_array_part(&s->values, k * s->rows, 1, s->rows);
  const gr_partial partial = {.a = {NULL, &column}, .missing = gr_missing_of(s->shape, s->missing, k, &mask)};
  gr_made m = {0};
  gr_status status = gr_cast(s->c, &column, &to);
  to = gr_array_part(&s->present, k * s->rows, 1, s->rows);
  if (status == GR_OK) status = gr_partial_present(s->c, &partial, 1, &m);
  if (status == GR_OK) status = gr_expression_eval(s->c, m.e, &to);
  gr_made_drop(&m);
  return status;
}

#define BOTH "where(P and row(p), "
static gr_status pair_column(pairs *s, int64_t k, int correlation, gr_array *out) {
  gr_array to = gr_array_part(out, k * s->columns, 1, s->columns);
  s->k = k;
  s->x = gr_array_part(&s->values, k * s->rows, 1, s->rows);
  s->p = gr_array_part(&s->present, k * s->rows, 1, s->rows);
  gr_status status = sum(s, BOTH "1.0, 0.0)", COUNT);
  if (status == GR_OK) status = sum(s, BOTH "X, -0.0)", MEAN);
  if (status == GR_OK) status = sum(s, BOTH "row(x), -0.0)", OTHER);
  if (status == GR_OK) status = compute(s, "m / N", &s->found[MEAN]);
  if (status == GR_OK) status = compute(s, "o / N", &s->found[OTHER]);
  if (status == GR_OK) status = sum(s, BOTH "(X - column(m)) * (row(x) - column(o)), -0.0)", PRODUCTS);
  if (status == GR_OK && !correlation) status = compute(s, "where(N > d and N > 0, C / (N - d), 0 / (N - N))", &to);
  if (correlation) {
    if (status == GR_OK) status = sum(s, BOTH "square(X - column(m)), -0.0)", SQUARES);
    if (status == GR_OK) status = sum(s, BOTH "square(row(x) - column(o)), -0.0)", OTHERS);
    if (status == GR_OK)
      status = compute(s, "where(i == k, V / V, clamp(C / N / (sqrt(V / N) * sqrt(W / N)), -1, 1))", &to);
  }
  return status;
}

gr_status gr_covariance_present(gr_context *c, const gr_array *a, int64_t rows, const gr_missing *missing, double ddof,
                                int correlation, gr_array *out) {
  if (!gr_may_miss(missing)) return gr_covariance(c, a, rows, ddof, correlation, out);
  gr_missing m = *missing;
  pairs s = {.c = c, .a = a, .missing = &m, .shape = {.rows = rows, .axis = 1}, .rows = rows, .ddof = ddof};
  gr_status status = m.mask.a ? gr_reduced_eval(c, &m.mask) : GR_OK;
  s.columns = a->n / rows;
  if (status == GR_OK && gr_array_released(a)) status = GR_RELEASED;
  if (status == GR_OK) status = gr_array_make_beside(c, a, &s.values, GR_F64, a->n);
  if (status == GR_OK) status = gr_array_make_beside(c, a, &s.present, GR_U8, a->n);
  s.values.rows = s.present.rows = s.columns;
  for (int k = 0; k < FOUND && status == GR_OK; k++)
    status = gr_array_make_beside(c, a, &s.found[k], GR_F64, s.columns);
  gr_stop_begin(&c->stop);
  for (int64_t k = 0; k < s.columns && status == GR_OK; k++) {
    if (k && k % 64 == 0 && (status = gr_context_look(c)) != GR_OK) break;
    status = read_column(&s, k);
  }
  for (int64_t k = 0; k < s.columns && status == GR_OK; k++) {
    if (k && (status = gr_context_look(c)) != GR_OK) break;
    status = pair_column(&s, k, correlation, out);
  }
  for (int k = 0; k < FOUND; k++) gr_array_release(&s.found[k]);
  gr_array_release(&s.values);
  gr_array_release(&s.present);
  return status;
}
