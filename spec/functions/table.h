/* The functions that functions.c looks at, compiled twice: with the processor's fma (table.c, FUSED=1), and without. */
#ifndef GR_SPEC_FUNCTIONS_H
#define GR_SPEC_FUNCTIONS_H

/* X(name, operands, most units in the last place of f64, of f32). */
#define FUNCTIONS(X)                                                                                                  \
  X(exp, 1, 1, 1)                                                                                                     \
  X(exp2, 1, 1, 1) X(expm1, 1, 1, 1) X(sinh, 1, 1, 1) X(cosh, 1, 1, 1) X(tanh, 1, 1, 1) X(log, 1, 1, 1)               \
      X(log2, 1, 1, 1) X(log10, 1, 1, 1) X(log1p, 1, 1, 1) X(sin, 1, 1, 1) X(cos, 1, 1, 1) X(tan, 1, 1, 1)            \
          X(asin, 1, 1, 1) X(acos, 1, 1, 1) X(atan, 1, 1, 1) X(rsqrt, 1, 1, 1) X(cbrt, 1, 1, 1) X(floor, 1, 0, 0)     \
              X(ceil, 1, 0, 0) X(round, 1, 0, 0) X(trunc, 1, 0, 0) X(sign, 1, 0, 0) X(pow, 2, 2, 2) X(atan2, 2, 1, 1) \
                  X(hypot, 2, 1, 1) X(fmod, 2, 0, 0) X(mod, 2, 0.5, 0.5) X(minimum, 2, 0, 0) X(maximum, 2, 0, 0)

typedef struct function {
  const char *name;
  int operands;
  double most[2];
  double (*f64)(double x, double y);
  float (*f32)(float x, float y);
  void (*f64s)(const double *x, double *r, int n); /* of one operand: many at once */
  void (*f32s)(const float *x, float *r, int n);
} function;

enum {
#define X(name, operands, wide, single) IS_##name,
  FUNCTIONS(X)
#undef X
      FUNCTION_COUNT
};
extern const function plain_functions[], fused_functions[];

#endif
