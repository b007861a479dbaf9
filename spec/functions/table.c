#include "spec/functions/table.h"
#include "kernels/numerics/functions/functions.h"

#define CALL_1(name, x, y) name(x)
#define CALL_2(name, x, y) name(x, y)
#define X(name, operands, wide, single)                        \
  static double name##_f64(double x, double y) {               \
    (void)y;                                                   \
    return CALL_##operands(gr_##name##_f64, x, y);             \
  }                                                            \
  static float name##_f32(float x, float y) {                  \
    (void)y;                                                   \
    return CALL_##operands(gr_##name##_f32, x, y);             \
  }                                                            \
  static void name##_f64s(const double *a, double *r, int n) { \
    for (int k = 0; k < n; k++) {                              \
      const double x = a[k];                                   \
      r[k] = CALL_##operands(gr_##name##_f64, x, x);           \
    }                                                          \
  }                                                            \
  static void name##_f32s(const float *a, float *r, int n) {   \
    for (int k = 0; k < n; k++) {                              \
      const float x = a[k];                                    \
      r[k] = CALL_##operands(gr_##name##_f32, x, x);           \
    }                                                          \
  }
FUNCTIONS(X)
#undef X

#if FUSED
const function fused_functions[] = {
#else
const function plain_functions[] = {
#endif
#define X(name, operands, wide, single) \
  {#name, operands, {wide, single}, name##_f64, name##_f32, name##_f64s, name##_f32s},
    FUNCTIONS(X)
#undef X
};
