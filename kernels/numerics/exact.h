/*
** The accumulator of correctly rounded sums: a fixed-point number wide enough for every product of two doubles
** (Kulisch and Miranker 1986), in limbs 32 bits apart with room above them, so that carries can wait ("small
** superaccumulator": Neal, arXiv 1505.05571). Every backend drains into it; src/core/exact_round.c rounds it.
** Integer additions alone: no order, partition or device can show in its value.
*/
#ifndef GR_EXACT_H
#define GR_EXACT_H

#include "kernels/numerics/numerics.h"

#define GR_EXACT_LIMBS 138
#define GR_EXACT_UNIT (-2176) /* limb k is worth 2^(32 k + GR_EXACT_UNIT); the lowest product bit is 2^-2148 */
/* Deposits, each below 2^32 a limb, that fit between two carries; twice as many after a merge. */
#define GR_EXACT_ROOM (UINT32_C(1) << 29)

/* What a limb cannot say. */
enum {
  GR_EXACT_NAN = 1,      /* an addend is NaN */
  GR_EXACT_INF = 2,      /* an addend is +infinity */
  GR_EXACT_MINUS = 4,    /* an addend is -infinity */
  GR_EXACT_SOME = 8,     /* there is an addend */
  GR_EXACT_NONZERO = 16, /* one that is not -0: an exact zero is then +0 */
  GR_EXACT_SPECIAL = GR_EXACT_NAN | GR_EXACT_INF | GR_EXACT_MINUS
};

/* Limbs outside low .. high - 1 are zero. After a carry all but limb high - 1, which has the sign, are in 0 .. 2^32
   - 1. */
typedef struct gr_exact {
  int64_t limb[GR_EXACT_LIMBS];
  int32_t low, high;
  uint32_t pending; /* deposits since the last carry */
  uint32_t flags;
} gr_exact;

/*
** The sums of count vectors of n elements (gr_vec in kernels/jobs.h): of the elements, of their magnitudes, or of the
** products of two vectors. Float and integer dtypes alike, each element with the exact value that it has.
*/
typedef enum gr_exact_kind { GR_EXACT_SUM, GR_EXACT_SUMABS, GR_EXACT_DOT } gr_exact_kind;
typedef struct gr_exact_job {
  gr_exact_kind kind;
  gr_dtype dtype;
  int64_t n, count;
  gr_vec a, b; /* b: GR_EXACT_DOT alone */
} gr_exact_job;

GR_FN void gr_exact_clear(gr_exact *s) {
  memset(s, 0, sizeof *s);
  s->low = GR_EXACT_LIMBS;
}

/* Bits from..to - 1 (exponents) may be written from now on. */
GR_FN void gr_exact_touch(gr_exact *s, int from, int to) {
  int low = (from - GR_EXACT_UNIT) >> 5, high = ((to - GR_EXACT_UNIT) >> 5) + 1;
  if (high > GR_EXACT_LIMBS) high = GR_EXACT_LIMBS;
  if (low < s->low) s->low = low;
  if (high > s->high) s->high = high;
}

/* Bring every limb but the highest into 0 .. 2^32 - 1; the highest takes the sign and moves up when it grows. */
GR_FN void gr_exact_carry(gr_exact *s) {
  int k;
  int64_t carry = 0;
  s->pending = 0;
  if (s->low >= s->high) return;
  for (k = s->low; k < s->high - 1; k++) {
    int64_t v = s->limb[k] + carry;
    carry = v >> 32;
    s->limb[k] = v & UINT32_MAX;
  }
  s->limb[k] += carry;
  while (s->high < GR_EXACT_LIMBS && (s->limb[k] > INT32_MAX || s->limb[k] < INT32_MIN)) {
    carry = s->limb[k] >> 32;
    s->limb[k] &= UINT32_MAX;
    s->limb[++k] = carry;
    s->high++;
  }
}

/* Call it before count deposits (count <= GR_EXACT_ROOM). */
GR_FN void gr_exact_expect(gr_exact *s, uint32_t count) {
  if (s->pending + count > GR_EXACT_ROOM) gr_exact_carry(s);
  s->pending += count;
}

/* ---- deposits: the bits have been touched and expected ---- */

/* Add v * 2^exponent, or subtract it where sign is -1 (sign: 0 or -1). */
GR_FN void gr_exact_put(gr_exact *s, uint64_t v, int exponent, int64_t sign) {
  int at = exponent - GR_EXACT_UNIT, shift = at & 31;
  int64_t *limb = s->limb + (at >> 5);
  uint64_t low = (v & UINT32_MAX) << shift, high = (v >> 32) << shift;
  int64_t middle = (int64_t)((low >> 32) + (high & UINT32_MAX)), top = (int64_t)(high >> 32);
  limb[0] += ((int64_t)(low & UINT32_MAX) ^ sign) - sign;
  limb[1] += (middle ^ sign) - sign;
  limb[2] += (top ^ sign) - sign;
}

/* Add a signed sum of many integers times 2^exponent. */
GR_FN void gr_exact_put_signed(gr_exact *s, int64_t v, int exponent) {
  int64_t sign = v >> 63;
  gr_exact_put(s, (uint64_t)((v ^ sign) - sign), exponent, sign);
}

/* A finite double is m * 2^exponent. */
GR_FN uint64_t gr_exact_split(uint64_t bits, int *exponent) {
  int field = (int)(bits >> 52 & 0x7ff);
  *exponent = (field ? field : 1) - 1075;
  return (bits & ((UINT64_C(1) << 52) - 1)) | (uint64_t)(field != 0) << 52;
}

GR_FN void gr_exact_put_f64(gr_exact *s, double x) {
  uint64_t bits = gr_bits64(x);
  int exponent;
  uint64_t m = gr_exact_split(bits, &exponent);
  gr_exact_put(s, m, exponent, (int64_t)bits >> 63);
}

/* The product of two finite doubles: 106 bits that neither overflow nor underflow here. Two deposits. */
GR_FN void gr_exact_put_product(gr_exact *s, double x, double y) {
  uint64_t bx = gr_bits64(x), by = gr_bits64(y);
  int ex, ey;
  uint64_t mx = gr_exact_split(bx, &ex), my = gr_exact_split(by, &ey);
  uint64_t xl = mx & UINT32_MAX, xh = mx >> 32, yl = my & UINT32_MAX, yh = my >> 32;
  uint64_t low = xl * yl, cross = xl * yh + xh * yl + (low >> 32); /* below 2^54 + 2^32 */
  uint64_t high = xh * yh + (cross >> 32);
  int64_t sign = (int64_t)(bx ^ by) >> 63;
  gr_exact_put(s, (low & UINT32_MAX) | cross << 32, ex + ey, sign);
  gr_exact_put(s, high, ex + ey + 64, sign);
}

/* ---- whole accumulators ---- */

GR_FN void gr_exact_merge(gr_exact *s, const gr_exact *o) {
  int k;
  s->flags |= o->flags;
  if (o->low >= o->high) return;
  if (s->pending + o->pending >= GR_EXACT_ROOM) gr_exact_carry(s);
  for (k = o->low; k < o->high; k++) s->limb[k] += o->limb[k];
  if (o->low < s->low) s->low = o->low;
  if (o->high > s->high) s->high = o->high;
  s->pending += o->pending + 1;
}

/* Carries first. */
GR_FN int gr_exact_is_zero(gr_exact *s) {
  int k;
  gr_exact_carry(s);
  for (k = s->low; k < s->high; k++)
    if (s->limb[k]) return 0;
  return 1;
}

#endif
