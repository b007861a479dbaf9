/*
** Quotients by whole numbers, rounded as a division rounds them. A division tests for what cannot be here, and begins
** when the dividend is there; a reciprocal does not wait for it.
*/
#ifndef GR_CUDA_THREAD_QUOTIENT_CUH
#define GR_CUDA_THREAD_QUOTIENT_CUH

#include <cuda_runtime.h>

/* 1 / d to the last bits: of a first guess 19 are right, and one cubic step triples them. */
__device__ __forceinline__ double gr_reciprocal(double d) {
  double r;
  asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(r) : "d"(d));
  const double e = __fma_rn(-d, r, 1.0);
  return __fma_rn(r, __fma_rn(e, e, e), r);
}

/*
** x / d, r being 1 / d. d: a whole number up to 2^40; x: 0 of either sign, for which this is +0, or far from the ends
** of f64; of what is infinite, or NaN, this is NaN. The remainder of a product is exact, and what it is multiplied by
** is off by parts in 2^52; no quotient by such d lies so near to the middle of two numbers that this rounds it
** otherwise (Markstein 1990).
*/
__device__ __forceinline__ double gr_quotient(double x, double d, double r) {
  const double q = x * r;
  return __fma_rn(__fma_rn(-q, d, x), r, q);
}
/* Whether x is far from the ends. */
__device__ __forceinline__ bool gr_is_usual(double x) {
  return ((unsigned)__double2hiint(x) >> 20 & 0x7ff) - 128 < 1856;
}
/* The same of any x. */
__device__ __forceinline__ double gr_quotient_of_any(double x, double d, double r) {
  return gr_is_usual(x) ? gr_quotient(x, d, r) : x / d;
}

#endif
