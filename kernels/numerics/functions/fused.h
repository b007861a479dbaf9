/*
** x * y + z rounded once: the hardware's where it has it (AVX2 and AVX-512 with FMA, NEON, GPUs), made from other
** operations elsewhere, with the same bits. f32: for all arguments. f64: where x, y and x * y are below 2^970, and x
** * y is 0, above 2^-900, or too small beside z to matter; the functions here see to it.
*/
#ifndef GR_FUSED_H
#define GR_FUSED_H

#include "kernels/numerics/numerics.h"

#if !defined(GR_FUSED) && (defined(__FMA__) || defined(__ARM_FEATURE_FMA)) && !defined(__CUDACC__)
#define GR_FUSED 1 /* a file that asks the compiler for an instruction set by other means says so itself */
#endif

/* Always a part of loops, however large, which would not become vector code without. */
#if defined(__GNUC__) && !defined(__CUDACC__)
#define GR_WITHIN static inline __attribute__((always_inline))
#else
#define GR_WITHIN GR_FN
#endif
/* What is seldom needed: never a part of loops, which would not become vector code. */
#ifdef __CUDACC__
#define GR_SELDOM static __host__ __device__ __noinline__
#elif defined(__GNUC__)
#define GR_SELDOM static __attribute__((noinline, unused, cold))
#else
#define GR_SELDOM static
#endif

/* s = x + y rounded, and what rounding took: exactly x + y = s + *low (Knuth 1969). */
GR_WITHIN double gr_two_sum_f64(double x, double y, double *low) {
  double s = x + y, t = s - x;
  *low = (x - (s - t)) + (y - t);
  return s;
}
GR_WITHIN float gr_two_sum_f32(float x, float y, float *low) {
  float s = x + y, t = s - x;
  *low = (x - (s - t)) + (y - t);
  return s;
}

/* x + y rounded to odd: a sum that is not exact gets an odd last bit, so that rounding it again comes to rounding
   once. */
GR_WITHIN double gr_odd_sum(double x, double y) {
  double low, s = gr_two_sum_f64(x, y, &low);
  uint64_t u = gr_bits64(s), away = (low > 0) == (s > 0) ? u + 1 : u - 1;
  return low != 0 && low == low && !(u & 1) ? gr_from_bits64(away) : s;
}

/* The product is exact in f64, and so is the sum but for its rounding. That matters only where it made a tie of f32,
   which has a 1 and 28 zeros behind its last place, or where f32 has fewer digits. */
GR_SELDOM float gr_odd_fma_f32(float x, float y, float z) {
  return (float)gr_odd_sum((double)x * (double)y, (double)z);
}
GR_WITHIN float gr_made_fma_f32(float x, float y, float z) {
  const double s = (double)x * (double)y + (double)z;
  const uint64_t u = gr_bits64(s);
  return (u & 0x1fffffff) == 0x10000000 || (u << 1 >> 53) < 1023 - 126 ? gr_odd_fma_f32(x, y, z) : (float)s;
}

/* The product in two parts (Dekker 1971), and a sum of three (Boldo and Melquiond 2008). */
GR_WITHIN double gr_made_fma_f64(double x, double y, double z) {
  double cx = x * 134217729.0, cy = y * 134217729.0, p = x * y, low, upper, t; /* 2^27 + 1 */
  double xh = cx - (cx - x), xl = x - xh, yh = cy - (cy - y), yl = y - yh;
  double e = ((xh * yh - p) + xh * yl + xl * yh) + xl * yl;
  upper = gr_two_sum_f64(z, e, &low);
  upper = gr_two_sum_f64(p, upper, &t);
  t = gr_odd_sum(t, low);
  return t == 0 ? upper : upper + t; /* the sign of a zero is that of the first sum */
}

GR_WITHIN float gr_fma_f32(float x, float y, float z) {
#if defined(__CUDA_ARCH__)
  return __fmaf_rn(x, y, z);
#elif defined(GR_FUSED)
  return __builtin_fmaf(x, y, z);
#else
  return gr_made_fma_f32(x, y, z);
#endif
}
GR_WITHIN double gr_fma_f64(double x, double y, double z) {
#if defined(__CUDA_ARCH__)
  return __fma_rn(x, y, z);
#elif defined(GR_FUSED)
  return __builtin_fma(x, y, z);
#else
  return gr_made_fma_f64(x, y, z);
#endif
}

#endif
