/* Plain C: a vector is one number, and the compiler may do better by itself. */
#include "kernels/cpu/isa/vec_common.h"

#define GR_W 1
#define GR_WF 1
#define GR_GROUP 16

typedef double vd;
typedef float vf;

GR_INLINE vd vd_set(double x) { return x; }
GR_INLINE vf vf_set(float x) { return x; }
GR_INLINE vd vd_abs(vd x) { return fabs(x); }
GR_INLINE vd vd_first(int n, vd x, vd y) {
  (void)n;
  (void)y;
  return x;
}
GR_INLINE vf vf_first(int n, vf x, vf y) {
  (void)n;
  (void)y;
  return x;
}

/* z where x and y are numbers, else `other`. */
GR_INLINE vd vd_numbers(vd x, vd y, vd z, vd other) { return x == x && y == y ? z : other; }
/* x where a byte of the mask is not 0, else `other`. */
GR_INLINE vd vd_where(const uint8_t *mask, vd x, vd other) { return *mask ? x : other; }

GR_INLINE vd vd_load(gr_dtype t, const void *p) { return gr_widened(t, p); }
/* Never called: n would be below 1. */
GR_INLINE vd vd_load_first(gr_dtype t, const void *p, int n) {
  (void)n;
  return vd_load(t, p);
}
GR_INLINE vf vf_load(gr_dtype t, const void *p) { return (float)vd_load(t, p); }

/* The larger of two; of a NaN and a number the number, which is y. */
GR_INLINE vf vf_max(vf x, vf y) { return x > y ? x : y; }
GR_INLINE vd vd_max(vd x, vd y) { return x > y ? x : y; }
GR_INLINE float vf_most(vf x) { return x; }
GR_INLINE double vd_most(vd x) { return x; }

GR_INLINE vd vd_scan(int multiply, vd x) {
  (void)multiply;
  return x;
}
GR_INLINE vd vd_even(vd x, vd y) {
  (void)y;
  return x;
}
GR_INLINE vd vd_odd(vd x, vd y) {
  (void)x;
  return y;
}
GR_INLINE double vd_fold(int multiply, vd x) {
  (void)multiply;
  return x;
}
GR_INLINE vd vd_folds(const vd *x) { return *x; }
GR_INLINE vd vd_last(vd x) { return x; }
GR_INLINE void vd_lasts(vd *to, const vd *x) { memcpy(to, x, 8 * sizeof(*x)); }
GR_INLINE vd vd_after(vd before, vd x) {
  (void)x;
  return before;
}

GR_INLINE void vd_store_number(gr_dtype t, void *p, vd x) {
  const float f = gr_f64_to_f32(x);
  if (t == GR_F64) memcpy(p, &x, 8);
  else memcpy(p, &f, 4);
}
GR_INLINE void vd_store(gr_dtype t, void *p, vd x) { vd_store_number(t, p, gr_canonical(x)); }
#define vd_stream vd_store_number
#define GR_FENCE() ((void)0)

#define GR_VECTOR_ORDER 0
#define GR_ZERO_ORDER 0
#define GR_GUESS_VECTORS 0
typedef int vd_mask;
GR_INLINE vd_mask vd_no_mask(void) { return 0; }
GR_INLINE vd_mask vd_nan(vd_mask m, vd x, vd y) { return m | (x != x) | (y != y); }
GR_INLINE int vd_any(vd_mask m) { return m; }
