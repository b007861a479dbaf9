/* Random numbers, orders and choices: those that Lua gets for a seed and a stream. */
#include "kernels/numerics/math.h"
#include "src/capi/operations.h"
#include "src/core/random.h"

static int check_draw(gr_capi *q, int64_t length, uint64_t stream) {
  if (length < 0) return gr_capi_refuse(q, GPUREDUCE_BAD, "length of 0 or more expected, got %lld", (long long)length);
  return stream < GR_STREAMS ? 1 : gr_capi_refuse(q, GPUREDUCE_BAD, "stream below 2^62 expected");
}

static int check_integers(gr_capi *q, gpureduce_dtype t) {
  if (!gr_capi_dtype(q, t)) return 0;
  if (!gr_is_float((gr_dtype)t)) return 1;
  return gr_capi_refuse(q, GPUREDUCE_BAD, "integer dtype expected, got %s", gr_dtypes[t].name);
}

gpureduce_status gpureduce_random(gpureduce_context *context, const char *kind, gpureduce_dtype dtype, int64_t length,
                                  uint64_t seed, uint64_t stream, gpureduce_array **out) {
  static const char *const names[] = {"rand", "randn", "exponential", NULL};
  static const int kinds[] = {GR_UNIFORM, GR_NORMAL, GR_EXPONENTIAL};
  gr_capi q;
  int k = -1;
  if (!gr_capi_begin_with(&q, "random", context) || (k = gr_capi_named(&q, kind, names, "kind")) < 0 ||
      !gr_capi_dtype(&q, dtype))
    return gr_capi_end(&q);
  if (!gr_is_float((gr_dtype)dtype))
    gr_capi_refuse(&q, GPUREDUCE_BAD, "float dtype expected, got %s", gr_dtypes[dtype].name);
  else if (check_draw(&q, length, stream)) {
    gr_array *to = gr_capi_out(&q, out, NULL, (gr_dtype)dtype, length, 0, 0);
    if (to) GR_CAPI_TRY(&q, gr_random(q.c, to, (gr_draw){seed, stream}, kinds[k]));
  }
  return gr_capi_end(&q);
}

gpureduce_status gpureduce_randint(gpureduce_context *context, int64_t low, int64_t high, gpureduce_dtype dtype,
                                   int64_t length, uint64_t seed, uint64_t stream, gpureduce_array **out) {
  gr_capi q;
  if (!gr_capi_begin_with(&q, "randint", context) || !check_integers(&q, dtype) || !check_draw(&q, length, stream))
    return gr_capi_end(&q);
  const gr_dtype_info *t = &gr_dtypes[dtype];
  if (low < t->lowest || low > t->highest || high < t->lowest || high > t->highest || high < low) {
    gr_capi_refuse(&q, GPUREDUCE_BAD, "low and high: a range of %s expected, got %lld to %lld", t->name, (long long)low,
                   (long long)high);
  } else {
    gr_array *to = gr_capi_out(&q, out, NULL, (gr_dtype)dtype, length, 0, 0);
    const uint64_t range = (uint64_t)high - (uint64_t)low + 1;
    if (to) GR_CAPI_TRY(&q, gr_random_whole(q.c, to, (gr_draw){seed, stream}, low, range));
  }
  return gr_capi_end(&q);
}

gpureduce_status gpureduce_permutation(gpureduce_context *context, gpureduce_dtype dtype, int64_t length, uint64_t seed,
                                       uint64_t stream, gpureduce_array **out) {
  gr_capi q;
  if (!gr_capi_begin_with(&q, "permutation", context) || !check_integers(&q, dtype) || !check_draw(&q, length, stream))
    return gr_capi_end(&q);
  if (length > gr_dtypes[dtype].highest) {
    gr_capi_refuse(&q, GPUREDUCE_BAD, "length of at most %lld, the highest of %s, expected, got %lld",
                   (long long)gr_dtypes[dtype].highest, gr_dtypes[dtype].name, (long long)length);
  } else {
    gr_array *to = gr_capi_out(&q, out, NULL, (gr_dtype)dtype, length, 0, 0);
    if (to) GR_CAPI_TRY(&q, gr_random_order(q.c, to, (gr_draw){seed, stream}, length));
  }
  return gr_capi_end(&q);
}

static int check_choice(gr_capi *q, const gr_choice *choice, int64_t length) {
  const gr_array *a = choice->a, *w = choice->weights;
  if (!check_draw(q, length, choice->draw.stream)) return 0;
  if (length && !a->n) return gr_capi_refuse(q, GPUREDUCE_BAD, "the array is empty: a choice needs an element");
  if (!choice->replace && length > a->n)
    return gr_capi_refuse(q, GPUREDUCE_BAD, "%lld elements at most, each once, expected, got %lld", (long long)a->n,
                          (long long)length);
  if (!w || (w->n == a->n && w->storage->queue == a->storage->queue)) return 1;
  return gr_capi_refuse(q, GPUREDUCE_BAD, "weights: as long as the array, and beside it, expected");
}

gpureduce_status gpureduce_choice(const gpureduce_array *a, int64_t length, int replace, const gpureduce_array *weights,
                                  uint64_t seed, uint64_t stream, gpureduce_array **out) {
  gr_capi q;
  gr_choice choice = {.replace = replace != 0, .draw = {seed, stream}};
  if (!gr_capi_begin_lazy(&q, "choice", a) || (weights && !gr_capi_takes_lazy(&q, weights, "weights")))
    return gr_capi_end(&q);
  choice.a = gr_capi_elements(&q, a);
  if (choice.a && weights) choice.weights = gr_capi_elements(&q, weights);
  if (q.status == GPUREDUCE_OK && check_choice(&q, &choice, length)) {
    gr_array *to = gr_capi_out(&q, out, choice.a, choice.a->dtype, length, 0, 0);
    if (to) GR_CAPI_TRY(&q, gr_choose(q.c, &choice, to));
  }
  return gr_capi_end(&q);
}
