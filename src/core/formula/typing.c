#include "src/core/formula/typing.h"

#include "kernels/numerics/map.h"
#include "src/core/map.h"
#include "src/core/operation.h"

gr_meaning gr_means_number(gr_number n) { return (gr_meaning){-1, n}; }
gr_meaning gr_means_node(int node) { return (gr_meaning){.node = node}; }

static int is_number(gr_meaning x) { return x.node < 0; }
static gr_dtype dtype_of(const gr_builder *b, int node) { return (gr_dtype)b->e->program.nodes[node].dtype; }

/* ---- steps ---- */

static int is_truth(const gr_builder *b, int operand) {
  if (GR_IS_NUMBER(operand)) return b->e->program.numbers[GR_NUMBER_OF(operand)] <= 1;
  const gr_node *x = &b->e->program.nodes[operand];
  return x->kind == GR_NODE_STEP && x->spread == GR_TRUTH;
}

static gr_status step(gr_builder *b, gr_node x, gr_meaning *out) {
  *out = gr_means_node(-1);
  return gr_build_step(b, x, &out->node);
}

/* The dtype of a number in the place of an element of t. */
static gr_dtype number_dtype(gr_map op, gr_dtype t) { return gr_map_widens(op, t) && !gr_is_float(t) ? GR_F64 : t; }

/* x as an operand of op on t: a node of that dtype, or a number that fits. */
static gr_status operand(gr_builder *b, gr_map op, gr_dtype t, gr_meaning x, int16_t *out) {
  uint64_t bits = 0;
  char text[96];
  int place = x.node;
  if (!is_number(x)) {
    const gr_dtype u = dtype_of(b, x.node);
    *out = (int16_t)place;
    if (u == t) return GR_OK;
    return gr_fail(b->context, GR_BAD, "%s and %s do not mix: write %s(...) or %s(...)", gr_dtypes[t].name,
                   gr_dtypes[u].name, gr_dtypes[t].name, gr_dtypes[u].name);
  }
  const char *why = gr_element_store(number_dtype(op, t), &bits, &x.number, text);
  if (why) return gr_fail(b->context, GR_BAD, "%s", why);
  const gr_status status = gr_build_number(b, bits, 0, &place);
  *out = (int16_t)place;
  return status;
}

static gr_node node_of(gr_map op, gr_dtype from, gr_dtype result) {
  return (gr_node){.op = (uint8_t)op, .from = (uint8_t)from, .dtype = (uint8_t)result, .a = -1, .b = -1, .c = -1};
}

/* ---- comparisons ---- */

static gr_relation turned(gr_relation r) {
  static const gr_relation other[] = {[GR_IS_lt] = GR_IS_gt, [GR_IS_le] = GR_IS_ge, [GR_IS_eq] = GR_IS_eq,
                                      [GR_IS_ne] = GR_IS_ne, [GR_IS_ge] = GR_IS_le, [GR_IS_gt] = GR_IS_lt};
  return other[r];
}

static gr_status compare(gr_builder *b, gr_relation r, gr_meaning x, gr_meaning y, gr_meaning *out) {
  if (is_number(x) && is_number(y)) {
    *out = gr_means_number(gr_number_i(gr_number_compare(r, &x.number, &y.number)));
    return GR_OK;
  }
  if (is_number(x)) return compare(b, turned(r), y, x, out);
  gr_node s = node_of(GR_MAP_compare, dtype_of(b, x.node), GR_U8);
  gr_status status;
  s.a = (int16_t)x.node;
  s.spread = GR_TRUTH;
  if (is_number(y)) {
    uint64_t bits = 0;
    char text[96];
    int place;
    const char *why = gr_compare_number((gr_dtype)s.from, &r, &y.number, &bits, text);
    if (why) return gr_fail(b->context, GR_BAD, "%s", why);
    status = gr_build_number(b, bits, 0, &place);
    s.b = (int16_t)place;
  } else {
    status = operand(b, GR_MAP_compare, (gr_dtype)s.from, y, &s.b);
  }
  s.relation = (uint8_t)r;
  return status == GR_OK ? step(b, s, out) : status;
}

/* ---- masks ---- */

/* Of a number, at all positions: position < the greatest integer, or 0. So its value is not in the structure. */
static gr_status everywhere(gr_builder *b, int holds, gr_meaning *out) {
  gr_meaning position = {.node = -1};
  gr_status status = gr_build_position(b, &position.node);
  const gr_number bound = gr_number_i(holds ? INT64_MAX : 0);
  return status == GR_OK ? compare(b, GR_IS_lt, position, gr_means_number(bound), out) : status;
}

gr_status gr_type_mask(gr_builder *b, gr_meaning x, int *node) {
  gr_status status = GR_OK;
  if (is_number(x)) status = everywhere(b, gr_number_true(&x.number), &x);
  else if (dtype_of(b, x.node) != GR_U8) status = compare(b, GR_IS_ne, x, gr_means_number(gr_number_i(0)), &x);
  *node = x.node;
  return status;
}

/* The same, and of 0 and 1 alone. */
static gr_status truth(gr_builder *b, gr_meaning x, gr_meaning *out) {
  *out = x;
  if (is_number(x)) return everywhere(b, gr_number_true(&x.number), out);
  return is_truth(b, x.node) ? GR_OK : compare(b, GR_IS_ne, x, gr_means_number(gr_number_i(0)), out);
}

static gr_status both_truths(gr_builder *b, gr_meaning *x, gr_meaning *y) {
  const gr_status status = truth(b, *x, x);
  return status == GR_OK ? truth(b, *y, y) : status;
}

gr_status gr_type_and(gr_builder *b, gr_meaning x, gr_meaning y, gr_meaning *out) {
  if (is_number(x) && is_number(y)) {
    *out = gr_means_number(gr_number_i(gr_number_true(&x.number) && gr_number_true(&y.number)));
    return GR_OK;
  }
  const gr_status status = both_truths(b, &x, &y);
  return status == GR_OK ? gr_type_map(b, GR_MAP_mul, GR_IS_lt, GR_U8, x, y, x, out) : status;
}

gr_status gr_type_or(gr_builder *b, gr_meaning x, gr_meaning y, gr_meaning *out) {
  if (is_number(x) && is_number(y)) {
    *out = gr_means_number(gr_number_i(gr_number_true(&x.number) || gr_number_true(&y.number)));
    return GR_OK;
  }
  const gr_status status = both_truths(b, &x, &y);
  if (status != GR_OK) return status;
  return gr_type_map(b, GR_MAP_where, GR_IS_lt, GR_U8, gr_means_number(gr_number_i(1)), y, x, out);
}

gr_status gr_type_not(gr_builder *b, gr_meaning x, gr_meaning *out) {
  return compare(b, GR_IS_eq, x, gr_means_number(gr_number_i(0)), out);
}

/* where: x or y. Of two numbers f32, as elsewhere. */
static gr_status choose(gr_builder *b, gr_meaning x, gr_meaning y, gr_meaning mask, gr_meaning *out) {
  if (is_number(mask) && is_number(x) && is_number(y)) {
    *out = gr_number_true(&mask.number) ? x : y;
    return GR_OK;
  }
  const gr_dtype t = !is_number(x) ? dtype_of(b, x.node) : !is_number(y) ? dtype_of(b, y.node) : GR_F32;
  gr_node s = node_of(GR_MAP_where, t, t);
  int node = -1;
  gr_status status = operand(b, GR_MAP_where, t, x, &s.a);
  if (status == GR_OK) status = operand(b, GR_MAP_where, t, y, &s.b);
  if (status == GR_OK) status = gr_type_mask(b, mask, &node);
  s.c = (int16_t)node;
  s.spread = t == GR_U8 && status == GR_OK && is_truth(b, s.a) && is_truth(b, s.b) ? GR_TRUTH : 0;
  return status == GR_OK ? step(b, s, out) : status;
}

/* ---- the others ---- */

static gr_status cast(gr_builder *b, gr_dtype to, gr_meaning x, gr_meaning *out) {
  if (is_number(x)) {
    *out = gr_means_number(gr_number_cast(to, &x.number));
    return GR_OK;
  }
  gr_node s = node_of(GR_MAP_cast, dtype_of(b, x.node), to);
  s.a = (int16_t)x.node;
  return step(b, s, out);
}

static gr_status check_ends(gr_builder *b, gr_meaning low, gr_meaning high) {
  if (low.number.f <= high.number.f) return GR_OK;
  return gr_fail(b->context, GR_BAD, "upper end of %.14g or more expected, got %.14g", low.number.f, high.number.f);
}

/* clamp where an end is not the same everywhere: as the operator has it of numbers, also where the ends cross. */
static gr_status clamp_between(gr_builder *b, gr_meaning x, gr_meaning low, gr_meaning high, gr_meaning *out) {
  gr_meaning below = x, above = x, inner = x;
  gr_status status = compare(b, GR_IS_gt, x, high, &above);
  if (status == GR_OK) status = choose(b, high, x, above, &inner);
  if (status == GR_OK) status = compare(b, GR_IS_lt, x, low, &below);
  return status == GR_OK ? choose(b, low, inner, below, out) : status;
}

gr_status gr_type_map(gr_builder *b, gr_map op, gr_relation relation, gr_dtype to, gr_meaning x, gr_meaning y,
                      gr_meaning z, gr_meaning *out) {
  const int operands = gr_map_operands(op);
  gr_status status = GR_OK;
  if (op == GR_MAP_compare) return compare(b, relation, x, y, out);
  if (op == GR_MAP_where) return choose(b, x, y, z, out);
  if (op == GR_MAP_cast) return cast(b, to, x, out);
  if (op == GR_MAP_clamp && (!is_number(y) || !is_number(z))) return clamp_between(b, x, y, z, out);
  if (op == GR_MAP_clamp) status = check_ends(b, y, z);
  if (status != GR_OK) return status;
  const gr_meaning *first = !is_number(x)                   ? &x
                            : operands > 1 && !is_number(y) ? &y
                            : operands > 2 && !is_number(z) ? &z
                                                            : NULL;
  if (!first) {
    const gr_number in[3] = {x.number, y.number, z.number};
    *out = gr_means_node(-1);
    return gr_number_map(b->context, op, in, &out->number);
  }
  const gr_dtype t = dtype_of(b, first->node);
  if (gr_map_rule(op, t) == GR_MAP_NONE || gr_map_rule(op, t) == GR_MAP_NOT)
    return gr_fail(b->context, GR_BAD, "%s is not there for %s", gr_map_names[op], gr_dtypes[t].name);
  gr_node s = node_of(op, t, gr_map_result(op, t));
  status = operand(b, op, t, x, &s.a);
  if (status == GR_OK && operands > 1) status = operand(b, op, t, y, &s.b);
  if (status == GR_OK && operands > 2) status = operand(b, op, t, z, &s.c);
  if (status != GR_OK) return status;
  if (gr_map_masks(op, t) || (op == GR_MAP_mul && t == GR_U8 && is_truth(b, s.a) && is_truth(b, s.b)))
    s.spread = GR_TRUTH;
  return step(b, s, out);
}

/* ---- powers ---- */

static gr_status unary(gr_builder *b, gr_map op, gr_meaning x, gr_meaning *out) {
  return gr_type_map(b, op, GR_IS_lt, GR_U8, x, x, x, out);
}

static gr_status binary(gr_builder *b, gr_map op, gr_meaning x, gr_meaning y, gr_meaning *out) {
  return gr_type_map(b, op, GR_IS_lt, GR_U8, x, y, x, out);
}

/* 1 everywhere. */
static gr_status ones(gr_builder *b, gr_meaning x, gr_meaning *out) {
  const gr_dtype t = dtype_of(b, x.node);
  gr_node s = node_of(GR_MAP_where, t, t);
  gr_meaning all = {.node = -1};
  gr_status status = everywhere(b, 1, &all);
  if (status == GR_OK) status = operand(b, GR_MAP_where, t, gr_means_number(gr_number_i(1)), &s.a);
  s.b = s.a;
  s.c = (int16_t)all.node;
  return status == GR_OK ? step(b, s, out) : status;
}

/* Products for 0 to 4, a quotient for -1. */
static gr_status products(gr_builder *b, gr_meaning x, int k, gr_meaning *out) {
  const gr_meaning one = gr_means_number(gr_number_f(1));
  gr_status status = GR_OK;
  if (k == 0) return ones(b, x, out);
  if (k == 1) return binary(b, GR_MAP_mul, x, one, out);
  if (k < 0) return binary(b, GR_MAP_div, one, x, out);
  status = unary(b, GR_MAP_square, x, out);
  if (k == 3 && status == GR_OK) status = binary(b, GR_MAP_mul, *out, x, out);
  if (k == 4 && status == GR_OK) status = unary(b, GR_MAP_square, *out, out);
  return status;
}

/* x ^ 0.5: as the root, but of -0 it is 0, and of minus infinity infinity. */
static gr_status root(gr_builder *b, gr_meaning x, gr_meaning *out) {
  gr_meaning y = x, low = x;
  gr_status status = unary(b, GR_MAP_sqrt, x, &y);
  if (status == GR_OK) status = binary(b, GR_MAP_add, y, gr_means_number(gr_number_i(0)), &y);
  if (status == GR_OK) status = compare(b, GR_IS_eq, x, gr_means_number(gr_number_f(-INFINITY)), &low);
  return status == GR_OK ? choose(b, gr_means_number(gr_number_f(INFINITY)), y, low, out) : status;
}

/* Which whole literals are products or a quotient with the bits of `pow`: narrower dtypes are rounded once there. */
static int by_products(gr_dtype t, int64_t k) { return k >= -1 && k <= (t == GR_F32 || t == GR_F64 ? 4 : 2); }

/* Powers are floats: integers become f64 first. */
gr_status gr_type_power(gr_builder *b, gr_meaning x, gr_meaning y, int literal, gr_meaning *out) {
  gr_status status = GR_OK;
  if (is_number(x)) x.number = gr_number_f(x.number.f);
  if (is_number(y)) y.number = gr_number_f(y.number.f);
  if (is_number(x) || !is_number(y) || !literal) return binary(b, GR_MAP_pow, x, y, out);
  if (!gr_is_float(dtype_of(b, x.node))) status = cast(b, GR_F64, x, &x);
  if (status != GR_OK) return status;
  if (y.number.whole && by_products(dtype_of(b, x.node), y.number.i)) return products(b, x, (int)y.number.i, out);
  return y.number.f == 0.5 ? root(b, x, out) : binary(b, GR_MAP_pow, x, y, out);
}
