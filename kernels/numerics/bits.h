/* What all of this room stands on: how its functions are declared, and the bits of floats. */
#ifndef GR_BITS_H
#define GR_BITS_H

#include <stdint.h>
#include <string.h>

#ifdef __CUDACC__
#define GR_FN static __host__ __device__ __forceinline__
#else
#define GR_FN static inline
#endif

/* Never a part of its callers, whose every call would save registers for it. */
#if defined(__GNUC__)
#define GR_APART __attribute__((noinline))
#else
#define GR_APART
#endif

/* A function of both that in C is none of its callers' parts: large and seldom wanted, it would make them calls. */
#if defined(__GNUC__) && !defined(__CUDACC__)
#define GR_FN_APART static __attribute__((noinline, unused))
#else
#define GR_FN_APART GR_FN
#endif

GR_FN uint64_t gr_bits64(double x) {
  uint64_t u;
  memcpy(&u, &x, 8);
  return u;
}
GR_FN uint32_t gr_bits32(float x) {
  uint32_t u;
  memcpy(&u, &x, 4);
  return u;
}
GR_FN double gr_from_bits64(uint64_t u) {
  double x;
  memcpy(&x, &u, 8);
  return x;
}
GR_FN float gr_from_bits32(uint32_t u) {
  float x;
  memcpy(&x, &u, 4);
  return x;
}

GR_FN double gr_nan(void) { return gr_from_bits64(UINT64_C(0x7ff8000000000000)); }
/* NaNs of x86, Arm and CUDA differ in sign and payload: every result shows the same one. */
GR_FN double gr_canonical(double x) { return x == x ? x : gr_nan(); }

#endif
