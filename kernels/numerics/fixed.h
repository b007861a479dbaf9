/*
** Sums whose order does not matter: numbers become integers, multiples of 2^unit, and integers add up the same in any
** order. An integer here has 128 bits in two's complement; docs/numerics.md says how unit is chosen, so that no sum
** overflows and 94 bits of it are used.
*/
#ifndef GR_FIXED_H
#define GR_FIXED_H

#include "kernels/numerics/numerics.h"

typedef struct gr_fixed {
  uint64_t low, high;
} gr_fixed;

#define GR_FIXED_BITS 94

/* The unit for n numbers below 2^exponent: n of them stay below 2^(unit + GR_FIXED_BITS). */
GR_FN int32_t gr_fixed_unit(int exponent, int64_t n) {
  int log = 0;
  while (log < 62 && ((int64_t)1 << log) < n) log++;
  return exponent + log - GR_FIXED_BITS;
}

GR_FN gr_fixed gr_fixed_add(gr_fixed a, gr_fixed b) {
  gr_fixed r;
  r.low = a.low + b.low;
  r.high = a.high + b.high + (r.low < a.low);
  return r;
}
GR_FN gr_fixed gr_fixed_negate(gr_fixed a) {
  gr_fixed r;
  r.low = ~a.low + 1;
  r.high = ~a.high + (r.low == 0);
  return r;
}
GR_FN gr_fixed gr_fixed_whole(int64_t x) {
  gr_fixed r;
  r.low = (uint64_t)x;
  r.high = x < 0 ? UINT64_MAX : 0;
  return r;
}

/* A finite x to the nearest multiple of 2^unit, ties to the even one. */
GR_FN gr_fixed gr_fixed_of(double x, int32_t unit) {
  uint64_t u = gr_bits64(x), m = u & ((UINT64_C(1) << 52) - 1);
  int field = (int)(u >> 52 & 0x7ff), shift = (field ? field : 1) - 1075 - unit;
  gr_fixed r;
  if (field) m |= UINT64_C(1) << 52;
  r.low = r.high = 0;
  if (shift >= 64) {
    r.high = m << (shift - 64);
  } else if (shift > 0) {
    r.low = m << shift;
    r.high = m >> (64 - shift);
  } else if (shift == 0) {
    r.low = m;
  } else if (shift >= -54) {
    uint64_t half = UINT64_C(1) << (-shift - 1), rest = m & (2 * half - 1);
    r.low = m >> -shift;
    if (rest > half || (rest == half && (r.low & 1))) r.low++;
  }
  return u >> 63 ? gr_fixed_negate(r) : r;
}

/* 2^k as two normal factors' work: |k| up to 1400. */
GR_FN double gr_times_two_to(double x, int k) {
  int half = k / 2;
  return x * gr_from_bits64((uint64_t)(half + 1023) << 52) * gr_from_bits64((uint64_t)(k - half + 1023) << 52);
}

/* a * 2^unit, rounded once to nearest even; infinity where f64 ends. */
GR_FN double gr_fixed_value(gr_fixed a, int32_t unit) {
  int negative = (int)(a.high >> 63), top = 0, drop, step;
  double x;
  if (negative) a = gr_fixed_negate(a);
  if (a.low == 0 && a.high == 0) return 0.0;
  {
    uint64_t word = a.high ? a.high : a.low;
    for (step = 32; step > 0; step /= 2)
      if (word >> step) {
        word >>= step;
        top += step;
      }
    if (a.high) top += 64;
  }
  drop = top - 52; /* bits below the last place kept; no place lies below 2^-1074 */
  if (drop < -1074 - unit) drop = -1074 - unit;
  if (drop > top + 1) return negative ? -0.0 : 0.0;
  if (drop > 0) {
    gr_fixed half = {0, 0}, mask;
    uint64_t kept = drop < 64    ? (a.low >> drop) | (drop ? a.high << (64 - drop) : 0)
                    : drop < 128 ? a.high >> (drop - 64)
                                 : 0;
    int above, tie;
    if (drop - 1 < 64) half.low = UINT64_C(1) << (drop - 1);
    else half.high = UINT64_C(1) << (drop - 65);
    mask.low = half.high ? UINT64_MAX : half.low - 1;
    mask.high = half.high ? half.high - 1 : 0;
    above = (a.low & mask.low) != 0 || (a.high & mask.high) != 0;
    tie = (a.low & half.low) != 0 || (a.high & half.high) != 0;
    if (tie && (above || (kept & 1))) kept++;
    x = (double)kept;
  } else {
    x = (double)a.low; /* at most 53 bits */
    drop = 0;
  }
  x = gr_times_two_to(x, unit + drop);
  return negative ? -x : x;
}

#endif
