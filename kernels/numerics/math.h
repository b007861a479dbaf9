/*
** exp, log and the sine pair without a C library, and the counter-based random numbers built on them: both
** backends run this very code, so they agree to the bit. Polynomials were fitted at Chebyshev points; each
** function's error bound was measured against 300-bit arithmetic.
*/
#ifndef GR_MATH_H
#define GR_MATH_H

#include <math.h>
#include "kernels/tables.h"
#include "kernels/numerics/bits.h"

#define GR_LN2_HIGH 0.6931471804855391   /* ln 2 cut to 33 bits: exact times any exponent */
#define GR_LN2_LOW 7.440617110012397e-11 /* the rest of it */

/* x y + z where the product is exact: one operation where the hardware has it, with the bits of two. */
GR_FN double gr_exact_fma(double x, double y, double z) {
#if defined(__CUDA_ARCH__)
  return __fma_rn(x, y, z);
#elif defined(GR_FUSED)
  return __builtin_fma(x, y, z);
#else
  return x * y + z;
#endif
}

/* The logarithm of a positive, normal, finite number by its bits; a bias above 1023 divides it by 2^(bias - 1023). */
GR_FN double gr_log_of(uint64_t v, int bias) {
  /* x = 2^k * (1 + f) with 1 + f in [sqrt(1/2), sqrt(2)): adding sqrt(1/2)'s distance to 1 carries into k. */
  const uint64_t u = v + (UINT64_C(0x3ff0000000000000) - UINT64_C(0x3fe6a09e667f3bcd));
  const double f = gr_from_bits64((u & UINT64_C(0x000fffffffffffff)) + UINT64_C(0x3fe6a09e667f3bcd)) - 1.0;
  /* k, by the last bits of 2^52 + k */
  const double e = gr_from_bits64(UINT64_C(0x4330000000000000) + (u >> 52)) - (4503599627370496.0 + bias);
  /* log(1 + f) = 2 atanh(s) = 2s + s R(s^2) with s = f / (2 + f); as f - s (f - R), f itself is exact. */
  const double s = f / (2.0 + f), z = s * s;
  /* clang-format off */
  const double r =
    z * (0.6666666666666666 + z * (0.40000000000000885 + z * (0.28571428570799784 + z * (0.22222222392581045 +
    z * (0.18181795547521137 + z * (0.15386244737621665 + z * (0.13268638369266825 + z * 0.13088034850927555)))))));
  /* clang-format on */
  return e * GR_LN2_HIGH - ((s * (f - r) - e * GR_LN2_LOW) - f);
}

/* Natural logarithm, within 0.9 ulp. log(0) = -inf; of a negative number NaN. No branch, no conversion: see gr_exp. */
GR_FN double gr_log(double x) {
  const double least = gr_from_bits64(UINT64_C(0x0010000000000000));
  const double infinite = gr_from_bits64(UINT64_C(0x7ff0000000000000));
  double y =
      gr_log_of(gr_bits64(x < least ? x * 18014398509481984.0 : x), x < least ? 1077 : 1023); /* subnormals: 2^54 */
  y = x < infinite ? y : x;
  return x <= 0 ? (x == 0 ? -infinite : gr_nan()) : y;
}

/* 2^k for a normal result. */
GR_FN double gr_two_to(int k) { return gr_from_bits64((uint64_t)(k + 1023) << 52); }

/* e^x for x in [GR_EXP_LOW, GR_EXP_HIGH]: no branch, no conversion, so that loops vectorise and warps do not part. */
#define GR_EXP_LOW -745.2
#define GR_EXP_HIGH 709.8
/* (e^r - 1 - r) / r^2 by the powers of r: the factor of the highest one, then the others down to the constant. */
/* clang-format off */
#define GR_EXP_HIGHEST 2.510038549551032e-08
#define GR_EXP_POWERS(X)                                                                           \
  X(2.7620088445409746e-07) X(2.7557268459997064e-06) X(2.4801521295954376e-05)                    \
  X(0.00019841269863053618) X(0.0013888888917213717) X(0.008333333333330062) X(0.04166666666662413) \
  X(0.16666666666666669) X(0.5000000000000001)
/* clang-format on */
GR_FN double gr_exp_parts(double x, uint64_t *exponent) { /* as p 2^exponent, of which the lowest 12 bits count */
  /* x = k ln 2 + r, |r| <= ln 2 / 2; adding 1.5 * 2^52 rounds to a whole number, and leaves it in the lowest bits. */
  double n = x * 1.4426950408889634 + 6755399441055744.0, high, low, r, p;
  *exponent = gr_bits64(n);
  n = n - 6755399441055744.0;
  high = gr_exact_fma(-n, GR_LN2_HIGH, x);
  low = n * GR_LN2_LOW;
  r = high - low;
#define GR_X(c) p = c + r * p;
  p = GR_EXP_HIGHEST;
  GR_EXP_POWERS(GR_X)
#undef GR_X
  p = r * r * p;
  return 1.0 + (high + (p - low));
}
GR_FN double gr_exp_within(double x) {
  /* 2^k as two factors, so that neither leaves the normal range; the last one rounds. */
  uint64_t exponent, k, half;
  const double p = gr_exp_parts(x, &exponent);
  k = exponent + 2048, half = k / 2;
  return p * gr_from_bits64((half - 1) << 52) * gr_from_bits64((k - half - 1) << 52);
}

/* The same bits from GR_EXP_NORMAL on, where results are normal: 2^k as an addition to the exponent. */
#define GR_EXP_NORMAL -707.0
GR_FN double gr_exp_normal(double x) {
  uint64_t exponent;
  const double p = gr_exp_parts(x, &exponent);
  return gr_from_bits64(gr_bits64(p) + (exponent << 52));
}

/* e^x, within 1 ulp (of the subnormal step below 2^-1022). The ends give infinity and 0 by themselves; a NaN stays. */
GR_FN double gr_exp(double x) {
  const double t = x > GR_EXP_HIGH ? GR_EXP_HIGH : x;
  return gr_exp_within(t < GR_EXP_LOW ? GR_EXP_LOW : t);
}

/* The same of 0, less, or NaN. */
GR_FN double gr_exp_down(double x) {
  double y = gr_exp_within(x > GR_EXP_LOW ? x : GR_EXP_LOW);
  y = x < GR_EXP_LOW ? 0.0 : y;
  return x == x ? y : gr_nan();
}

/* sin(pi x) and cos(pi x), each within 1.3 ulp, for |x| < 2^51. Exact at multiples of a half. */
GR_FN void gr_sincospi(double x, double *sine, double *cosine) {
  /* x = n/2 + t, |t| <= 1/4: both steps are exact. */
  double n = (2.0 * x + 6755399441055744.0) - 6755399441055744.0, t = x - 0.5 * n, z = t * t, s, c;
  double top = gr_from_bits64(gr_bits64(t) >> 27 << 27); /* 26 bits, as has pi's first part: an exact product */
  int quarter = (int)((int64_t)n & 3);
  /* clang-format off */
  s = z * t * (-5.16771278004997 + z * (2.550164039877345 + z * (-0.5992645293206478 + z * (0.08214588659727676 +
      z * (-0.0073704303122948235 + z * (0.0004662879326147481 + z * -2.1742067342478005e-05))))));
  /* clang-format on */
  s = 3.1415926218032837 * top + (3.1415926218032837 * (t - top) + (s + 3.178650954705639e-08 * t));
  /* clang-format off */
  c = z * (4.0587121264167685 + z * (-1.3352627688545895 + z * (0.235330630358868 + z * (-0.02580689138759507 +
      z * (0.0019295741987885265 + z * (-0.00010463550775039603 + z * 4.272813871770334e-06))))));
  /* clang-format on */
  c = 1.0 - z * (4.934802200544679 - c);
  *sine = quarter & 1 ? c : s;
  *cosine = quarter & 1 ? s : c;
  if (quarter & 2) *sine = -*sine;
  if (quarter == 1 || quarter == 2) *cosine = -*cosine;
}

/* ---- random numbers ---- */

#define GR_PHILOX_ROUNDS 10
/* Two words of key for each round: of all blocks of a seed the same. */
typedef struct gr_philox_keys {
  uint32_t k[GR_PHILOX_ROUNDS][2];
} gr_philox_keys;
GR_FN gr_philox_keys gr_philox_keys_of(uint64_t seed) {
  gr_philox_keys keys;
  int round;
  for (round = 0; round < GR_PHILOX_ROUNDS; round++) { /* the golden ratio and sqrt(3) - 1 */
    keys.k[round][0] = (uint32_t)seed + 0x9E3779B9u * (uint32_t)round;
    keys.k[round][1] = (uint32_t)(seed >> 32) + 0xBB67AE85u * (uint32_t)round;
  }
  return keys;
}

/*
** Philox 4x32-10 (Salmon, Moraes, Dror, Shaw 2011): the four random words of a group, which is counted with the stream.
** mark: see gr_random_fill.
*/
GR_FN void gr_random_words_by(const gr_philox_keys *keys, uint64_t stream, uint64_t mark, uint64_t group,
                              uint32_t w[4]) {
  uint32_t c0 = (uint32_t)group, c1 = (uint32_t)((group | mark) >> 32), c2 = (uint32_t)stream;
  uint32_t c3 = (uint32_t)(stream >> 32);
  int round;
  for (round = 0; round < GR_PHILOX_ROUNDS; round++) {
    uint64_t p0 = (uint64_t)0xD2511F53u * c0, p1 = (uint64_t)0xCD9E8D57u * c2;
    c0 = (uint32_t)(p1 >> 32) ^ c1 ^ keys->k[round][0];
    c1 = (uint32_t)p1;
    c2 = (uint32_t)(p0 >> 32) ^ c3 ^ keys->k[round][1];
    c3 = (uint32_t)p0;
  }
  w[0] = c0;
  w[1] = c1;
  w[2] = c2;
  w[3] = c3;
}
GR_FN void gr_random_words(uint64_t seed, uint64_t stream, uint64_t mark, uint64_t group, uint32_t w[4]) {
  const gr_philox_keys keys = gr_philox_keys_of(seed);
  gr_random_words_by(&keys, stream, mark, group, w);
}

/* How many elements one Philox block gives. */
GR_FN int gr_random_group(gr_dtype t) { return t == GR_F64 ? 2 : 4; }

enum { GR_UNIFORM, GR_NORMAL, GR_EXPONENTIAL }; /* kinds of random numbers */

/*
** Elements group * g .. group * g + g - 1 (g = gr_random_group) of the stream, as doubles still to be rounded
** to the dtype (uniforms are exact in it). The counter is the group's number and the stream, the key the seed. mark:
** bits above any group's number, which tell purposes apart.
**   f64            two words make 53 bits: w[1] w[0], then w[3] w[2]
**   f32, f16, bf16 one word an element, its top 24, 11 or 8 bits
** A uniform is bits / 2^width. A pair of normals is r cos(2 pi v), r sin(2 pi v) with r = sqrt(-2 log u), where
** u = (bits + 1) / 2^width and v = bits / 2^width of the pair's two numbers (width 53, or all 32 of a word). An
** exponential is -log u.
*/
GR_FN void gr_random_of(gr_dtype t, const uint32_t w[4], int kind, double out[4]) { /* of a group's words */
  double u[4];
  int k, count = gr_random_group(t);
  if (t == GR_F64) {
    u[0] = (double)(((uint64_t)w[1] << 32 | w[0]) >> 11) * 1.1102230246251565e-16; /* 2^-53 */
    u[1] = (double)(((uint64_t)w[3] << 32 | w[2]) >> 11) * 1.1102230246251565e-16;
    u[2] = u[3] = 0;
  } else {
    int cut = kind ? 0 : t == GR_F32 ? 8 : t == GR_F16 ? 21 : 24;
    double unit = kind ? 2.3283064365386963e-10 : gr_two_to(cut - 32); /* 2^-32 */
    for (k = 0; k < 4; k++) u[k] = (double)(w[k] >> cut) * unit;
  }
  if (kind != GR_NORMAL) {
    const double one = t == GR_F64 ? 1.1102230246251565e-16 : 2.3283064365386963e-10;
    for (k = 0; k < 4; k++) out[k] = kind == GR_UNIFORM ? u[k] : 0.0 - gr_log(u[k] + one);
    return;
  }
  for (k = 0; k < count; k += 2) {
    double first = u[k] + (t == GR_F64 ? 1.1102230246251565e-16 : 2.3283064365386963e-10);
    double r = sqrt(-2.0 * gr_log(first)), s, c;
    gr_sincospi(2.0 * u[k + 1], &s, &c);
    out[k] = r * c;
    out[k + 1] = r * s;
  }
}
GR_FN void gr_random_fill(gr_dtype t, uint64_t seed, uint64_t stream, uint64_t mark, uint64_t group, int kind,
                          double out[4]) {
  uint32_t w[4];
  gr_random_words(seed, stream, mark, group, w);
  gr_random_of(t, w, kind, out);
}

#endif
