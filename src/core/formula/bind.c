#include "src/core/formula/bind.h"

#include <stdio.h>
#include <stdlib.h>

#include "src/core/formula/typing.h"

/* The matrix that operands make together; rows 0: there is none among them. */
typedef struct matrix_shape {
  int64_t rows, columns;
} matrix_shape;

typedef struct binding {
  gr_builder *b;
  matrix_shape shape;
  const gr_formula *f;
  const gr_given *given, *length;
  gr_meaning *meanings; /* of the phrases */
} binding;

/* ---- matrices ---- */

static gr_status check_side(gr_context *c, int64_t *side, int64_t n, int is_row) {
  if (*side == 1) *side = n;
  if (n == 1 || n == *side) return GR_OK;
  return gr_fail(c, GR_BAD, "matrix of %lld %s expected, got %lld", (long long)*side, is_row ? "rows" : "columns",
                 (long long)n);
}

/* Of all; with names: of those that the text does not call rows or columns. A side of length 1 goes with any. */
static gr_status shape_of(gr_context *c, const gr_given *given, const gr_name *names, int count, matrix_shape *shape) {
  gr_status status = GR_OK;
  *shape = (matrix_shape){0, 0};
  for (int k = 0; k < count && status == GR_OK; k++) {
    const gr_array *a = given[k].array;
    const gr_expression *e = given[k].expression;
    const int64_t rows = a ? a->rows : e && !gr_expression_line(e) ? gr_expression_rows(e) : 0;
    if (!rows || (names && !(names[k].spreads & 1 << GR_EACH))) continue;
    if (!shape->rows) *shape = (matrix_shape){1, 1};
    status = check_side(c, &shape->rows, rows, 1);
    if (status == GR_OK) status = check_side(c, &shape->columns, a ? gr_array_columns(a) : e->columns, 0);
  }
  return status;
}

/*
** What an array means in it: its elements one by one, if there are as many; else a row or a column for all, which a
** vector is too if it fits one way alone.
*/
static gr_status spread_in(gr_context *c, matrix_shape s, const gr_array *a, gr_spread *spread) {
  const int64_t rows = a->rows ? a->rows : 1, columns = a->rows ? gr_array_columns(a) : a->n;
  *spread = GR_EACH;
  if (!s.rows || a->n == s.rows * s.columns) return GR_OK;
  if (a->rows) return *spread = rows > 1 ? GR_COLUMN : columns > 1 ? GR_ROW : GR_ONE, GR_OK;
  if (a->n == s.rows && a->n == s.columns)
    return gr_fail(c, GR_BAD,
                   "length %lld fits the rows and the columns of a matrix of %lld x %lld: write gr.row(v) or "
                   "gr.column(v)",
                   (long long)a->n, (long long)s.rows, (long long)s.columns);
  if (a->n == s.rows || a->n == s.columns) return *spread = a->n == s.rows ? GR_COLUMN : GR_ROW, GR_OK;
  return gr_fail(c, GR_BAD, "length %lld (of a row), %lld (of a column) or %lld expected, got %lld%s",
                 (long long)s.columns, (long long)s.rows, (long long)(s.rows * s.columns), (long long)a->n,
                 a->n == 1 ? ": gr.scalar(v) goes with all" : "");
}

/* An array where operands meet element by element. */
static gr_status build_array(gr_builder *b, matrix_shape s, const gr_array *a, int *node) {
  gr_spread spread;
  const gr_status status = gr_array_released(a) ? GR_RELEASED : spread_in(b->context, s, a, &spread);
  if (status != GR_OK) return status;
  b->e->matrix |= s.rows != 0;
  return gr_build_input(b, a, spread, node);
}

/* ---- formulas ---- */

/* Each phrase becomes at most this many steps, and its numbers as many places. */
#define STEPS_A_PHRASE 4

int gr_formula_steps(const gr_formula *f) { return f->count * STEPS_A_PHRASE + 4; }

static gr_parts count(const gr_formula *f, const gr_given *given) {
  const int steps = gr_formula_steps(f);
  gr_parts p = {steps, steps, f->name_count};
  for (int k = 0; k < f->name_count; k++)
    if (given[k].expression) gr_parts_add(&p, given[k].expression);
  if (p.nodes > GR_FORMULA_NODES) p.nodes = GR_FORMULA_NODES;
  if (p.numbers > 2 * GR_FORMULA_NODES) p.numbers = 2 * GR_FORMULA_NODES;
  if (p.inputs > GR_FORMULA_INPUTS) p.inputs = GR_FORMULA_INPUTS;
  return p;
}

/* And room for what the phrases mean, behind it, while it is made. */
size_t gr_formula_expression_room(const gr_formula *f, const gr_given *given) {
  return gr_expression_room(count(f, given)) + 8 + (size_t)f->count * sizeof(gr_meaning);
}

/* The words of a failure, with the place in the text. */
static gr_status show(const binding *t, gr_status status, const gr_phrase *x) {
  char words[160];
  if (status != GR_BAD) return status;
  snprintf(words, sizeof words, "%.159s", t->b->context->error);
  return gr_formula_wrong(t->b->context, t->f->text, (size_t)t->f->length, (size_t)x->column, "%s", words);
}

/* An input in the role that the text gives it. Numbers are numbers in every role. */
static gr_status mean_given_as(binding *t, const gr_given *g, const gr_phrase *x, gr_meaning *out) {
  *out = gr_means_node(-1);
  if (g->comes) return gr_build_coming(t->b, g->dtype, g->input, &out->node);
  if (g->array && x->spread == GR_EACH) return build_array(t->b, t->shape, g->array, &out->node);
  if (g->array) return gr_build_input(t->b, g->array, (gr_spread)x->spread, &out->node);
  if (!g->expression) return *out = gr_means_number(g->number), GR_OK;
  if (x->spread == GR_EACH) return gr_build_merge(t->b, g->expression, &out->node);
  return gr_fail(t->b->context, GR_BAD, "%s takes an array, got an expression", gr_spread_names[x->spread]);
}

static gr_status mean(binding *t, const gr_phrase *x, gr_meaning *out) {
  const gr_meaning none = {-1, gr_number_i(0)}, *m = t->meanings;
  const gr_meaning a = x->kind != GR_SAYS_NAME && x->a >= 0 ? m[x->a] : none, b = x->b >= 0 ? m[x->b] : none;
  const gr_meaning c = x->c >= 0 ? m[x->c] : none;
  switch ((gr_phrase_kind)x->kind) {
    case GR_SAYS_NUMBER: return *out = gr_means_number(x->number), GR_OK;
    case GR_SAYS_LENGTH:
      if (t->length) return mean_given_as(t, t->length, x, out);
      return *out = gr_means_number(gr_number_i(t->b->e->n)), GR_OK;
    case GR_SAYS_NAME: return mean_given_as(t, &t->given[x->a], x, out);
    case GR_SAYS_AND: return gr_type_and(t->b, a, b, out);
    case GR_SAYS_OR: return gr_type_or(t->b, a, b, out);
    case GR_SAYS_NOT: return gr_type_not(t->b, a, out);
    case GR_SAYS_POWER: return gr_type_power(t->b, a, b, t->f->phrases[x->b].kind == GR_SAYS_NUMBER, out);
    case GR_SAYS_POSITION: *out = gr_means_node(-1); return gr_build_position(t->b, &out->node);
    case GR_SAYS_MAP: break;
  }
  return gr_type_map(t->b, (gr_map)x->op, (gr_relation)x->relation, (gr_dtype)x->dtype, a, b, c, out);
}

/* The length is needed where the text has n: what says it is looked for first. */
static int64_t find_length(const binding *t, int64_t n) {
  if (t->shape.rows) return t->shape.rows * t->shape.columns;
  for (int k = 0; k < t->f->name_count; k++) {
    const gr_given *g = &t->given[k];
    if (g->array && t->f->names[k].spreads & 1 << GR_EACH) return g->array->n;
    if (g->expression && !gr_expression_line(g->expression)) return g->expression->n;
  }
  return n;
}

/* n: a length that was given beside what says it already, or where nothing does. */
static gr_status check_given(gr_context *c, int64_t found, int64_t n) {
  if (n < 0 || found == n) return GR_OK;
  return gr_fail(c, GR_BAD, "input 'n': length %lld expected, got %lld", (long long)found, (long long)n);
}

static gr_status mean_all(binding *t, gr_meaning *out) {
  gr_status status = GR_OK;
  for (int k = 0; k < t->f->count && status == GR_OK; k++) {
    const gr_phrase *x = &t->f->phrases[k];
    if (x->needed) status = show(t, mean(t, x, &t->meanings[k]), x);
  }
  *out = t->meanings[t->f->root];
  return status;
}

gr_status gr_formula_mean(gr_builder *b, const gr_formula *f, const gr_given *given, const gr_given *length,
                          gr_meaning *meanings, gr_meaning *out) {
  binding t = {.b = b, .f = f, .given = given, .length = length, .meanings = meanings};
  return mean_all(&t, out);
}

static int uses_length(const gr_formula *f) {
  int uses = 0;
  for (int k = 0; k < f->count; k++) uses |= f->phrases[k].needed && f->phrases[k].kind == GR_SAYS_LENGTH;
  return uses;
}

gr_status gr_formula_bind(gr_context *c, const gr_formula *f, const gr_given *given, int64_t n, gr_expression *e) {
  gr_builder b;
  binding t = {.b = &b, .f = f, .given = given};
  gr_meaning whole = {-1, {0}};
  const gr_parts parts = count(f, given);
  gr_expression_release(e); /* of a first try that ran out of memory */
  gr_builder_start(&b, c, e, parts);
  t.meanings = (gr_meaning *)(((uintptr_t)e + gr_expression_room(parts) + 7) & ~(uintptr_t)7);
  gr_status status = gr_context_ready(c);
  if (status != GR_OK) return status;
  e->where = c->queue;
  status = shape_of(c, given, f->names, f->name_count, &t.shape);
  if (status != GR_OK) return status;
  e->n = find_length(&t, n);
  status = check_given(c, e->n, n);
  if (status == GR_OK) status = mean_all(&t, &whole);
  if (status != GR_OK) return status;
  const gr_phrase *root = &f->phrases[f->root];
  if (whole.node < 0) return show(&t, gr_fail(c, GR_BAD, "a number: no array and no i is in it"), root);
  const int64_t before = e->n;
  status = show(&t, gr_build_end(&b, whole.node), root);
  if (status == GR_OK && uses_length(f) && before < 0)
    status = gr_fail(c, GR_BAD, "give n beside rows and columns alone: the formula takes it");
  return status;
}

/* ---- operators on expressions ---- */

gr_status gr_expression_of(gr_context *c, const gr_array *a, gr_expression *e) {
  gr_builder b;
  int node = -1;
  gr_expression_release(e);
  gr_builder_start(&b, c, e, (gr_parts){1, 0, 1});
  const gr_status status = gr_build_input(&b, a, GR_EACH, &node);
  return status == GR_OK ? gr_build_end(&b, node) : status;
}

gr_status gr_expression_spread(gr_context *c, const gr_array *a, gr_spread spread, gr_expression *e) {
  gr_builder b;
  gr_expression_release(e);
  gr_builder_start(&b, c, e, (gr_parts){1, 0, 1});
  e->matrix = 1;
  return gr_build_input(&b, a, spread, &e->result);
}

static gr_parts count_combined(const gr_combination *x) {
  gr_parts p = {8, 8 + x->count, 0};
  for (int k = 0; k < x->count; k++) gr_parts_add(&p, x->given[k].expression);
  return p;
}

size_t gr_combination_room(const gr_combination *x) { return gr_expression_room(count_combined(x)); }

static gr_status mean_given(gr_builder *b, matrix_shape s, const gr_given *g, gr_meaning *out) {
  *out = gr_means_node(-1);
  if (g->expression) return gr_build_merge(b, g->expression, &out->node);
  if (g->array) return build_array(b, s, g->array, &out->node);
  *out = gr_means_number(g->number);
  return GR_OK;
}

static gr_status combine(gr_builder *b, const gr_combination *x, const gr_meaning m[3], gr_meaning *out) {
  switch (x->does) {
    case GR_COMBINES_POWER: return gr_type_power(b, m[0], m[1], m[1].node < 0, out);
    case GR_COMBINES_AND: return gr_type_and(b, m[0], m[1], out);
    case GR_COMBINES_OR: return gr_type_or(b, m[0], m[1], out);
    case GR_COMBINES_NOT: return gr_type_not(b, m[0], out);
    case GR_COMBINES_MASK: *out = gr_means_node(-1); return gr_type_mask(b, m[0], &out->node);
    case GR_COMBINES_MAP: break;
  }
  return gr_type_map(b, x->op, x->relation, x->to, m[0], m[1], m[2], out);
}

gr_status gr_expression_combine(gr_context *c, const gr_combination *x, gr_expression *e) {
  gr_meaning m[3] = {gr_means_number(gr_number_i(0)), gr_means_number(gr_number_i(0)), gr_means_number(gr_number_i(0))};
  gr_meaning out = gr_means_node(-1);
  matrix_shape shape;
  gr_builder b;
  gr_expression_release(e);
  gr_builder_start(&b, c, e, count_combined(x));
  gr_status status = gr_context_ready(c);
  e->where = c->queue;
  if (status == GR_OK) status = shape_of(c, x->given, NULL, x->count, &shape);
  for (int k = 0; k < x->count && status == GR_OK; k++) status = mean_given(&b, shape, &x->given[k], &m[k]);
  if (status == GR_OK) status = combine(&b, x, m, &out);
  return status == GR_OK ? gr_build_end(&b, out.node) : status;
}

gr_status gr_formula_express(gr_context *c, const char *text, const gr_named *names, int count, gr_expression **out) {
  gr_formula *f = malloc(gr_formula_room(strlen(text)));
  gr_given *given = malloc(GR_FORMULA_NAMES * sizeof *given); /* stacks may be short */
  gr_status status = f && given ? GR_OK : gr_fail(c, GR_NO_MEMORY, "out of memory");
  *out = NULL;
  if (status == GR_OK) memset(f, 0, sizeof *f);
  if (status == GR_OK) status = gr_formula_read(c, f, text, strlen(text));
  for (int k = 0; status == GR_OK && k < f->name_count; k++)
    for (int j = 0; j < count; j++)
      if (!strcmp(f->names[k].text, names[j].name)) given[k] = names[j].given;
  const size_t room = status == GR_OK ? gr_formula_expression_room(f, given) : 0;
  if (status == GR_OK && !(*out = malloc(room))) status = gr_fail(c, GR_NO_MEMORY, "out of memory");
  if (status == GR_OK) {
    memset(*out, 0, sizeof **out);
    status = gr_formula_bind(c, f, given, -1, *out);
  }
  free(given);
  free(f);
  return status;
}
