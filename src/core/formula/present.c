#include "src/core/formula/present.h"

#include <stdio.h>

#include "src/core/formula/fed.h"
#include "src/core/formula/typing.h"
#include "src/core/map.h"
#include "src/core/ranks/meet.h"

#define STEPS 16 /* what is added here: nodes, and the numbers in them */

gr_missing gr_missing_of(gr_shape s, const gr_missing *m, int64_t k, gr_array *mask) {
  gr_missing of = {.nan = m->nan};
  if (!m->mask.a) return of;
  *mask = gr_shape_vector(s, m->mask.a, k);
  of.mask.a = mask;
  return of;
}

void gr_made_drop(gr_made *m) {
  gr_expression_drop(m->e);
  gr_array_release(&m->a);
  *m = (gr_made){0};
}

/* ---- parts ---- */

/* What an expression with these operands may take; *height: how deep it may be. */
static gr_parts parts_of(const gr_partial *p, int *height) {
  const gr_reduced *all[] = {&p->a, &p->b, &p->tested, &p->missing.mask};
  gr_parts r = {STEPS, STEPS, 1};
  *height = STEPS;
  for (size_t k = 0; k < sizeof all / sizeof all[0]; k++) {
    const gr_expression *e = all[k]->e;
    if (all[k]->a) gr_parts_add(&r, e);
    if (e && e->program.nodes[e->result].height + STEPS > *height) *height = e->program.nodes[e->result].height + STEPS;
  }
  return r;
}

/* Operands that leave no room for more steps become arrays. */
static gr_status make_room(gr_context *c, gr_partial *p) {
  int height;
  if (gr_parts_fit(parts_of(p, &height)) && height <= GR_FORMULA_DEPTH) return GR_OK;
  const gr_status status = gr_reduced_eval_both(c, &p->a, &p->b);
  return status == GR_OK ? gr_reduced_eval_both(c, &p->tested, &p->missing.mask) : status;
}

static gr_status add_array(gr_builder *b, const gr_array *a, gr_spread spread, gr_meaning *out) {
  gr_array flat = *a;
  flat.rows = 0;
  *out = gr_means_node(-1);
  return gr_build_input(b, &flat, spread, &out->node);
}

static gr_status add_operand(gr_builder *b, const gr_reduced *r, gr_spread spread, gr_meaning *out) {
  if (!r->e) return add_array(b, r->a, spread, out);
  *out = gr_means_node(-1);
  return gr_build_merge(b, r->e, &out->node);
}

static gr_meaning whole(int64_t x) { return gr_means_number(gr_number_i(x)); }

static gr_status compare(gr_builder *b, gr_relation r, gr_meaning x, gr_meaning y, gr_meaning *out) {
  return gr_type_map(b, GR_MAP_compare, r, GR_U8, x, y, x, out);
}

/* Both of what is known so far (any: nothing yet) and another truth. */
static gr_status also(gr_builder *b, int *any, gr_meaning truth, gr_meaning *present) {
  const int first = !*any;
  *any = 1;
  if (!first) return gr_type_and(b, *present, truth, present);
  *present = truth;
  return GR_OK;
}

/* A NaN alone differs from itself. */
static gr_status also_number(gr_builder *b, int *any, gr_meaning x, gr_meaning *present) {
  gr_meaning truth = x;
  const gr_status status = compare(b, GR_IS_eq, x, x, &truth);
  return status == GR_OK ? also(b, any, truth, present) : status;
}

/* Of the operands, whose nodes are x and y. */
static gr_status find_present(gr_builder *b, const gr_partial *p, int truths, gr_meaning x, gr_meaning y,
                              gr_meaning *present) {
  gr_meaning other = x;
  int any = 0;
  gr_status status = GR_OK;
  if (p->missing.nan && p->tested.a) status = add_operand(b, &p->tested, GR_EACH, &other);
  if (p->missing.nan && status == GR_OK) status = also_number(b, &any, other, present);
  if (p->missing.nan && p->b.a && status == GR_OK) status = also_number(b, &any, y, present);
  if (!p->missing.mask.a || status != GR_OK) return status;
  status = add_operand(b, &p->missing.mask, GR_EACH, &other);
  if (status == GR_OK)
    status = truths ? compare(b, GR_IS_ne, other, whole(0), &other) : gr_type_mask(b, other, &other.node);
  return status == GR_OK ? also(b, &any, other, present) : status;
}

/* Operands and what is present of them. */
static gr_status begin(gr_context *c, const gr_partial *partial, int truths, gr_builder *b, gr_made *m,
                       gr_meaning of[2], gr_meaning *present) {
  gr_partial p = *partial;
  int height;
  gr_status status = make_room(c, &p);
  *m = (gr_made){0};
  if (status == GR_OK) status = gr_builder_start_new(b, c, &m->e, parts_of(&p, &height));
  if (status == GR_OK) status = add_operand(b, &p.a, GR_EACH, &of[0]);
  if (status == GR_OK && p.b.a) status = add_operand(b, &p.b, p.spread, &of[1]);
  return status == GR_OK ? find_present(b, &p, truths, of[0], of[1], present) : status;
}

static gr_status end(gr_context *c, gr_builder *b, gr_made *m, gr_meaning x) {
  gr_status status = gr_build_end(b, x.node);
  return status == GR_OK ? gr_expression_promise(c, m->e, &m->a) : status;
}

/* ---- expressions ---- */

gr_filling gr_filling_of(gr_number n) { return (gr_filling){.number = n}; }

gr_filling gr_filling_end(gr_dtype t, int greatest) {
  if (gr_is_float(t)) return gr_filling_of(gr_number_f(greatest ? INFINITY : -INFINITY));
  return gr_filling_of(gr_number_i(greatest ? gr_dtypes[t].highest : gr_dtypes[t].lowest));
}

/* -0 is what changes no sum of floats; the other factor of a product is +0 then. */
gr_filling gr_filling_for(gr_op op, gr_dtype t, int second) {
  switch (op) {
    case GR_OP_prod:
    case GR_OP_all: return gr_filling_of(gr_number_i(1));
    case GR_OP_min:
    case GR_OP_argmin: return gr_filling_end(t, 1);
    case GR_OP_max:
    case GR_OP_argmax: return gr_filling_end(t, 0);
    case GR_OP_minmax: return gr_filling_end(t, !second);
    case GR_OP_logsumexp: return gr_filling_end(GR_F64, 0);
    case GR_OP_var_present:
    case GR_OP_std_present: return gr_filling_of(gr_number_f(NAN));
    case GR_OP_sum:
    case GR_OP_mean:
    case GR_OP_var:
    case GR_OP_std:
    case GR_OP_any:
    case GR_OP_count:
    case GR_OP_norm1:
    case GR_OP_norm2:
    case GR_OP_norminf:
    case GR_OP_dot:
    case GR_OP_mse:
    case GR_OP_cosine:
    case GR_OP_differ:
    case GR_OP_sum_f32:
    case GR_OP_sum_kahan:
    case GR_OP_sum_neumaier:
    case GR_OP_dot_f32:
    case GR_OP_dot_kahan:
    case GR_OP_dot_neumaier:
    case GR_OP_sumsq: break;
  }
  return gr_filling_of(gr_number_i(0));
}

gr_status gr_partial_present(gr_context *c, const gr_partial *p, int truths, gr_made *m) {
  gr_builder b;
  gr_meaning of[2] = {{.node = -1}, {.node = -1}}, present = {.node = -1};
  const gr_status status = begin(c, p, truths, &b, m, of, &present);
  return status == GR_OK ? end(c, &b, m, present) : status;
}

gr_status gr_partial_fill(gr_context *c, const gr_partial *p, int second, int widen, gr_filling filling, gr_made *m) {
  gr_builder b;
  gr_meaning of[2] = {{.node = -1}, {.node = -1}}, present = {.node = -1}, other = gr_means_number(filling.number);
  gr_status status = begin(c, p, 0, &b, m, of, &present);
  gr_meaning x = of[second];
  if (status == GR_OK && widen) status = gr_type_map(&b, GR_MAP_cast, GR_IS_lt, GR_F64, x, x, x, &x);
  if (status == GR_OK && filling.array) status = add_array(&b, filling.array, filling.spread, &other);
  if (status == GR_OK) status = gr_type_map(&b, GR_MAP_where, GR_IS_lt, GR_U8, x, other, present, &x);
  return status == GR_OK ? end(c, &b, m, x) : status;
}

gr_status gr_partial_numbers(gr_context *c, const gr_partial *p, gr_made *m) {
  gr_builder b;
  gr_partial own = *p;
  gr_meaning of[2] = {{.node = -1}, {.node = -1}}, present = {.node = -1}, truth = present;
  own.missing.nan = 0; /* NaN stays NaN */
  gr_status status = begin(c, &own, 0, &b, m, of, &present);
  gr_meaning x = of[0];
  const gr_meaning infinite = gr_means_number(gr_number_f(INFINITY)), nan = gr_means_number(gr_number_f(NAN));
  if (status == GR_OK && !p->missing.nan) {
    status = compare(&b, GR_IS_eq, x, x, &truth);
    if (status == GR_OK) status = gr_type_map(&b, GR_MAP_where, GR_IS_lt, GR_U8, x, infinite, truth, &x);
  }
  if (status == GR_OK) status = gr_type_map(&b, GR_MAP_where, GR_IS_lt, GR_U8, x, nan, present, &x);
  return status == GR_OK ? end(c, &b, m, x) : status;
}

/* ---- ranks ---- */

gr_status gr_partial_meet(gr_context *c, const gr_missing *m, gr_op op, gr_dtype t, double ddof, int exact, int64_t n,
                          int64_t *all) {
  char text[GR_CARD_TEXT], number[40];
  snprintf(text, sizeof text, "%s%s of %s with ddof %s, %s%s", exact ? "exact " : "", gr_ops[op].name,
           gr_dtypes[t].name, gr_ranks_digits(ddof, 17, number), m->nan ? "skipnan" : "",
           m->mask.a ? m->nan ? " and mask" : "mask" : "");
  const gr_status status = gr_ranks_meet(c, text, n, 1, GR_OK);
  *all = gr_ranks_all(c);
  return status;
}

/* ---- words ---- */

const char *gr_partial_place(gr_shape shape, int turned, int64_t column, int64_t v, char text[GR_PLACE]) {
  if (column) shape = (gr_shape){.rows = 1, .axis = 1}, v = column - 1;
  const char *kind = shape.segments ? "segment" : (shape.axis == 2) != turned ? "row" : "column";
  text[0] = 0;
  if (shape.segments || shape.rows) snprintf(text, GR_PLACE, " of %s %lld", kind, (long long)v + 1);
  return text;
}

gr_status gr_partial_none(gr_context *c, const gr_missing *m, gr_shape shape, int turned, int64_t column, int64_t v,
                          const char *name) {
  char text[GR_PLACE];
  return gr_fail(c, GR_BAD, "option '%s': no element%s is present: '%s' needs one", m->mask.a ? "mask" : "skipnan",
                 gr_partial_place(shape, turned, column, v, text), name);
}

/* ---- copies ---- */

gr_status gr_partial_split(gr_context *c, const gr_partial *p, gr_reduced x, gr_made *present, gr_array *out) {
  gr_value n;
  gr_array_release(out); /* of a first try that ran out of memory */
  gr_status status = gr_reduced_eval(c, &x);
  if (status == GR_OK) status = gr_partial_present(c, p, 0, present);
  if (status == GR_OK) status = gr_expression_eval(c, present->e, &present->a);
  if (status == GR_OK) status = gr_formula_reduce_all(c, GR_OP_count, (gr_reduced){NULL, &present->a}, GR_NONE, 0, &n);
  if (status == GR_OK) status = gr_array_make_beside(c, x.a, out, x.a->dtype, n.v[0].i);
  return status == GR_OK ? gr_compact(c, x.a, &present->a, out) : status;
}

gr_status gr_partial_compact(gr_context *c, const gr_partial *p, gr_reduced x, gr_array *out) {
  gr_made made = {0};
  const gr_status status = gr_partial_split(c, p, x, &made, out);
  gr_made_drop(&made);
  return status;
}

/* ---- scans ---- */

static gr_filling scanned(gr_op op, gr_dtype t) {
  if (op == GR_OP_min || op == GR_OP_max) return gr_filling_end(t, op == GR_OP_min);
  return gr_filling_of(gr_number_i(op == GR_OP_prod));
}

gr_status gr_partial_filled(gr_context *c, gr_op op, const gr_partial *p, gr_array *out) {
  gr_made made = {0};
  gr_array_release(out); /* of a first try that ran out of memory */
  gr_status status = gr_partial_fill(c, p, 0, 0, scanned(op, p->a.a->dtype), &made);
  if (status == GR_OK) status = gr_expression_eval(c, made.e, &made.a);
  if (status == GR_OK) gr_array_view(&made.a, out, 0, 1, made.a.n);
  gr_made_drop(&made);
  return status;
}

gr_status gr_partial_scan(gr_context *c, gr_op op, gr_shape shape, const gr_partial *p, gr_array *out, int exclusive,
                          int reverse) {
  gr_made made = {0};
  gr_status status = GR_OK;
  gr_reduced a = p->a;
  if (gr_may_miss(&p->missing)) {
    status = gr_partial_fill(c, p, 0, 0, scanned(op, p->a.a->dtype), &made);
    a = gr_made_operand(&made);
  }
  if (status == GR_OK && shape.rows) status = gr_reduced_eval(c, &a);
  if (status == GR_OK)
    status = a.e ? gr_formula_scan(c, op, a, out, exclusive, reverse)
                 : gr_scan_each(c, op, shape, a.a, out, exclusive, reverse);
  gr_made_drop(&made);
  return status;
}
