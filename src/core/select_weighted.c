#include "src/core/select_weighted.h"

#include <stdlib.h>

#include "src/core/formula/bind.h"
#include "src/core/formula/run.h"
#include "src/core/select_few.h"

/*
** Bisection on the order keys: the weight up to a key is one reduction, of the weights where elements are not greater.
** Sums along the fixed tree grow with their terms, as rounding never turns two numbers round; so what is found is the
** same on every device.
*/
typedef struct search {
  gr_context *c;
  const gr_array *a, *weights;
  double total;
} search;

/* An expression of x in memory of its own; NULL: words say why. */
static gr_status combine(gr_context *c, const gr_combination *x, gr_expression **e) {
  *e = calloc(1, gr_combination_room(x));
  return *e ? gr_expression_combine(c, x, *e) : gr_fail(c, GR_NO_MEMORY, "out of memory");
}

static gr_value element_of(gr_dtype t, uint64_t key) {
  const uint64_t bits = gr_selected_bits(gr_selector_of(t), key);
  return gr_element_get(t, &bits); /* little-endian: the low bytes are the element */
}

static uint64_t key_of(gr_dtype t, const gr_value *x, int k) {
  uint64_t element = 0, key;
  gr_element_put(t, &element, x, k);
  gr_keys_of(t, (gr_vec){.data = &element, .stride = gr_size(t)}, 1, &key);
  return key;
}

/* The share of the weight that elements up to the key have. */
static gr_status share_up_to(const search *s, uint64_t key, double *share) {
  const gr_value x = element_of(s->a->dtype, key);
  const gr_combination below = {
      .op = GR_MAP_compare,
      .relation = GR_IS_le,
      .to = GR_U8,
      .count = 2,
      .given = {{.array = s->a}, {.number = x.is_float ? gr_number_f(x.v[0].f) : gr_number_i(x.v[0].i)}}};
  gr_expression *mask = NULL, *chosen = NULL;
  gr_array promise = {0};
  gr_value sum;
  gr_status status = combine(s->c, &below, &mask);
  const gr_combination of = {.op = GR_MAP_where,
                             .count = 3,
                             .given = {{.array = s->weights}, {.number = gr_number_i(0)}, {.expression = mask}}};
  if (status == GR_OK) status = combine(s->c, &of, &chosen);
  if (status == GR_OK) status = gr_expression_promise(s->c, chosen, &promise);
  if (status == GR_OK)
    status = gr_formula_reduce_all(s->c, GR_OP_sum, (gr_reduced){chosen, &promise}, GR_NONE, 0, &sum);
  if (status == GR_OK) *share = gr_value_double(&sum, 0) / s->total;
  gr_array_release(&promise);
  gr_expression_drop(chosen);
  gr_expression_drop(mask);
  return status;
}

/* The least key between the two, of which high is one, that has at least the share. */
static gr_status find(const search *s, double q, uint64_t low, uint64_t high, gr_value *out) {
  while (low < high) {
    const uint64_t middle = low + (high - low) / 2;
    double share = 0;
    gr_status status = gr_context_look(s->c);
    if (status == GR_OK) status = share_up_to(s, middle, &share);
    if (status != GR_OK) return status;
    if (share >= q && share > 0) high = middle;
    else low = middle + 1;
  }
  *out = element_of(s->a->dtype, high);
  if (out->is_float) out->v[0].f += 0.0; /* zeros of both signs compare alike, so the first of them was found */
  return GR_OK;
}

/* All of them are finite and not below 0, and one is above. */
static gr_status check_weights(search *s) {
  gr_value range, total;
  gr_status status = gr_reduce_all(s->c, GR_OP_minmax, s->weights, NULL, 0, &range);
  if (status == GR_OK) status = gr_reduce_all(s->c, GR_OP_sum, s->weights, NULL, 0, &total);
  if (status != GR_OK) return status;
  const double least = gr_value_double(&range, 0), most = gr_value_double(&range, 1);
  s->total = gr_value_double(&total, 0);
  if (!(least >= 0) || most - most != 0)
    return gr_fail(s->c, GR_BAD, "option 'weights': finite weights of 0 or more expected, got %g",
                   least >= 0 ? most : least);
  if (!(s->total > 0)) return gr_fail(s->c, GR_BAD, "option 'weights': some weight above 0 expected");
  return GR_OK;
}

gr_status gr_quantiles_weighted(gr_context *c, const gr_array *a, const gr_array *weights, const double *q,
                                int64_t count, gr_value *out) {
  search s = {.c = c, .a = a, .weights = weights};
  gr_value range;
  if (count == 0) return GR_OK;
  gr_stop_begin(&c->stop);
  gr_status status = check_weights(&s);
  if (status == GR_OK) status = gr_reduce_all(c, GR_OP_minmax, a, NULL, 0, &range);
  const int none = status == GR_OK && range.is_float && range.v[0].f != range.v[0].f;
  for (int64_t k = 0; k < count && status == GR_OK; k++) {
    if (none) out[k] = gr_value_f(gr_nan());
    else status = find(&s, q[k], key_of(a->dtype, &range, 0), key_of(a->dtype, &range, 1), &out[k]);
  }
  return status;
}
