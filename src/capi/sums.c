/* Exact sums that go on over many calls, and digests. */
#include "src/capi/operations.h"
#include "src/core/exact.h"

_Static_assert(sizeof(((gpureduce_accumulator *)0)->bytes) == GR_EXACT_BYTES, "the struct has room for the bytes");

/* One whose bytes are all 0 is empty. */
static int unpack(gr_capi *q, const gpureduce_accumulator *a, const char *what, gr_exact *x) {
  char text[64];
  if (!gr_capi_needs(q, a, what)) return 0;
  int any = 0;
  for (size_t k = 0; k < sizeof a->bytes; k++) any |= a->bytes[k];
  gr_exact_clear(x);
  const char *why = any ? gr_exact_unpack(x, a->bytes, sizeof a->bytes, text) : NULL;
  return why ? gr_capi_refuse(q, GPUREDUCE_BAD, "%s: %s", what, why) : 1;
}

gpureduce_status gpureduce_accumulate(gpureduce_accumulator *to, const gpureduce_array *a, const gpureduce_array *b) {
  gr_capi q;
  gr_exact x;
  gr_reduced first = {NULL, NULL}, second = {NULL, NULL};
  if (gr_capi_begin_lazy(&q, "accumulate", a) && unpack(&q, to, "to", &x)) first = gr_capi_operand(&q, a);
  if (first.a && b && gr_capi_takes_lazy(&q, b, "b")) {
    second = gr_capi_operand(&q, b);
    if (second.a) gr_capi_like(&q, first.a, second.a, first.a->n, "b");
  }
  if (first.a && q.status == GPUREDUCE_OK) {
    const gr_exact before = x;
    gr_status status = gr_exact_add(q.c, &x, first, second);
    if (status != GR_OK && gr_capi_again(&q, status)) x = before, status = gr_exact_add(q.c, &x, first, second);
    gr_capi_said(&q, status);
  }
  if (first.a && q.status == GPUREDUCE_OK) gr_exact_pack(&x, to->bytes);
  return gr_capi_end(&q);
}

gpureduce_status gpureduce_accumulator_merge(gpureduce_accumulator *to, const gpureduce_accumulator *other) {
  gr_capi q = {.name = "accumulator_merge"};
  gr_exact x, y;
  if (!unpack(&q, to, "to", &x) || !unpack(&q, other, "other", &y)) return q.status;
  if (!gr_exact_join(&x, &y)) gr_capi_refuse(&q, GPUREDUCE_BAD, "the sum would be larger than any of 2^63 products");
  else gr_exact_pack(&x, to->bytes);
  return q.status;
}

gpureduce_status gpureduce_accumulator_value(const gpureduce_accumulator *accumulator, int single, double *out) {
  gr_capi q = {.name = "accumulator_value"};
  gr_exact x;
  if (unpack(&q, accumulator, "the accumulator", &x) && gr_capi_needs(&q, out, "out"))
    *out = gr_exact_value(&x, single != 0);
  return q.status;
}

gpureduce_status gpureduce_digest(const gpureduce_array *a, uint64_t *out) {
  gr_capi q;
  uint64_t sum[2] = {0, 0};
  if (!gr_capi_begin_lazy(&q, "digest", a) || !gr_capi_needs(&q, out, "out")) return gr_capi_end(&q);
  const gr_array *x = gr_capi_elements(&q, a);
  if (x) GR_CAPI_TRY(&q, gr_digest(q.c, x, sum));
  if (q.status == GPUREDUCE_OK) memcpy(out, sum, sizeof sum);
  return gr_capi_end(&q);
}
