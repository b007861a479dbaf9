/* What instruction sets write alike whose vectors are 2 doubles or 4 floats: lanes by number. */
#ifndef GR_CPU_VEC_TWO_H
#define GR_CPU_VEC_TWO_H

#include "kernels/cpu/isa/vec_common.h"

#define GR_W 2
#define GR_WF 4

typedef double vd __attribute__((vector_size(16)));
typedef float vf __attribute__((vector_size(16)));
typedef uint64_t vi __attribute__((vector_size(16)));

GR_INLINE vd vd_even(vd x, vd y) { return GR_LANES_OF(vi, x, y, 0, 2); }
GR_INLINE vd vd_odd(vd x, vd y) { return GR_LANES_OF(vi, x, y, 1, 3); }
/* The folded lanes of GR_W vectors, side by side: the sums that vd_fold makes of each. */
GR_INLINE vd vd_folds(const vd *x) { return vd_even(x[0], x[1]) + vd_odd(x[0], x[1]); }
/* Lane l becomes the sum (or product) of lanes 0 .. l. */
GR_INLINE vd vd_scan(int multiply, vd x) {
  const vd t = vd_even(x, x);
  return GR_LANES_OF(vi, x, multiply ? x * t : x + t, 0, 3);
}
GR_INLINE double vd_fold(int multiply, vd x) { return multiply ? x[0] * x[1] : x[0] + x[1]; }
GR_INLINE vd vd_last(vd x) { return vd_odd(x, x); }
/* The last lanes of eight vectors side by side. */
GR_INLINE void vd_lasts(vd *to, const vd *x) {
  GR_UNROLL for (int j = 0; j < 4; j++) to[j] = vd_odd(x[2 * j], x[2 * j + 1]);
}
GR_INLINE vd vd_after(vd before, vd x) { return GR_LANES_OF(vi, before, x, 1, 2); }
GR_INLINE vi vi_scan(vi x) {
  const vi zero = {0};
  return x + GR_LANES_OF(vi, zero, x, 1, 2);
}
GR_INLINE vi vi_last(vi x) { return GR_LANES_OF(vi, x, x, 1, 1); }

#endif
