/*
** Normals and exponentials of f32 with a third of the operations of numerics/math.h in f64, which limit these kernels:
** shorter polynomials, joined products and sums, and the reciprocals of f32 with one step of Newton's. Each number has
** an error below 2^-40 of it, so where it does not lie that near the middle between two floats it rounds to the float
** that the number of math.h rounds to. Where it does (one in 2^15), math.h decides.
*/
#ifndef GR_CUDA_MAP_QUICK_RANDOM_CUH
#define GR_CUDA_MAP_QUICK_RANDOM_CUH

#include <stdint.h>

/* Whether such a number may round to either of two floats: its last 29 bits are what a float does not have. */
static __device__ __forceinline__ bool gr_quick_unsure(double y) {
  const uint32_t reach = 1u << 13; /* 2^-40 of the least significand is 2^12 of its last bits, of the greatest 2^13 */
  return (((uint32_t)__double2loint(y) - 0x10000000u + reach) & 0x1fffffffu) < 2 * reach;
}

/* by * log((w + 1) / 2^32), by a power of two, within 2^-42 of it; of w = 2^32 - 1 anything. */
template <int by>
static __device__ __forceinline__ double gr_quick_log(uint32_t w) {
  /* (w + 1) / 2^32 = 2^k d, d in [sqrt(1/2), sqrt(2)) */
  const uint32_t zeros = (uint32_t)__clz((int)(w + 1)), m = w + 1 << zeros, half = m > 0xb504f333u;
  const double d = __hiloint2double((int)(0x3ff00000u + (m << 1 >> 12) - (half << 20)), (int)(m << 21));
  const double k = __hiloint2double(0x43300000, (int)(0x7fffffffu + half - zeros)) - 4503601774854144.0;
  const double f = d - 1.0, a = d + 1.0;
  float inverse;
  asm("rcp.approx.ftz.f32 %0, %1;"
      : "=f"(inverse)
      : "f"(__uint_as_float(0x3f800000u + (m << 1 >> 9) - (half << 23)) + 1.0f));
  /* log(d) = 2 atanh(s), s = f / a */
  const double r = (double)inverse, guess = f * r, s = __fma_rn(__fma_rn(-guess, a, f), r, guess), z = s * s;
  const double p = __fma_rn(z, by * 0.19362653714202008, by * 0.22191400830308503);
  const double q = __fma_rn(z, __fma_rn(z, p, by * 0.2857175453591449), by * 0.3999999879733759);
  const double t = __fma_rn(z, __fma_rn(z, q, by * 0.6666666666737509), by * 2.0);
  return __fma_rn(k, by * 0.6931471805599453, s * t);
}

/* The root of a normal number of f32's range, within 2^-43. */
static __device__ __forceinline__ double gr_quick_root(double x) {
  float inverse;
  asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(inverse) : "f"((float)x));
  const double g = (double)inverse, guess = x * g;
  return __fma_rn(__fma_rn(-guess, guess, x) * g, 0.5, guess);
}

/* sin and cos of 2 pi w / 2^32, each within 2^-41. */
static __device__ __forceinline__ void gr_quick_turn(uint32_t w, double *sine, double *cosine) {
  /* quarter turns, and what is left: an eighth of a turn at most, as a whole number of 2^-32 turns */
  const uint32_t u = w + 0x20000000u, quarter = u >> 30;
  const double t = __hiloint2double(0x43300000, (int)((u & 0x3fffffffu) + 0x60000000u)) - 4503601774854144.0;
  const double z = t * t;
  constexpr double unit = 4.656612873077393e-10; /* of half turns: 2^-31 */
  constexpr double by2 = unit * unit, by4 = by2 * by2, by6 = by4 * by2, by8 = by4 * by4, by10 = by6 * by4;
  double s = __fma_rn(z, unit * by10 * -0.007283479061923398, unit * by8 * 0.08213978370301755);
  double c = __fma_rn(z, by10 * -0.02550705018979102, by8 * 0.23531426158549898);
  s = __fma_rn(z, s, unit * by6 * -0.5992643317066507);
  c = __fma_rn(z, c, by6 * -1.3352624037680343);
  s = __fma_rn(z, s, unit * by4 * 2.550164036983873);
  c = __fma_rn(z, c, by4 * 4.058712123565546);
  s = __fma_rn(z, s, unit * by2 * -5.167712780034472);
  c = __fma_rn(z, c, by2 * -4.934802200541116);
  s = __fma_rn(z, s, unit * 3.14159265358978) * t;
  c = __fma_rn(z, c, 1.0);
  const double x = quarter & 1 ? c : s, y = quarter & 1 ? s : c;
  *sine = __hiloint2double(__double2hiint(x) ^ (int)(quarter >> 1 << 31), __double2loint(x));
  *cosine = __hiloint2double(__double2hiint(y) ^ (int)((quarter + 1) >> 1 << 31), __double2loint(y));
}

#endif
