/*
** The functions of element operators against MPFR: how many units in the last place they are off, at most, and
** whether infinities, NaN and the signs of zeros are C's (Annex F). Usage: functions [samples [seed [name]]];
** functions all NAME [largest] looks at every f32, with the f64 function, which the first way has looked at, beside
** it. functions check reads what others have got, as spec/hostile/formulas.lua writes it.
*/
#include <inttypes.h>
#include <mpfr.h>
#include <stdio.h>
#include <stdlib.h>
#include "kernels/numerics/map.h"
#include "spec/chance.h"
#include "spec/functions/table.h"

static int single; /* f32 instead of f64 */
static mpfr_t exact, left, right, distance;
static int failures;

/* ---- what is asked ---- */

static const double odd[] = {0.0,
                             1,
                             0.5,
                             2,
                             3,
                             4,
                             1.5,
                             2.5,
                             0.25,
                             1.0 / 3,
                             10,
                             100,
                             1e10,
                             1e15,
                             4503599627370495.5,
                             9007199254740993,
                             7,
                             64,
                             0.70710678118654752,
                             1.4142135623730951,
                             0.41421356237309503,
                             2.414213562373095,
                             0.5000000000000001,
                             0.9999999999999999,
                             1.0000000000000002,
                             0.99999994,
                             1.0000001,
                             3.14159265358979312,
                             1.57079632679489656,
                             0.78539816339744828,
                             709.782712893384,
                             709.79,
                             710.4758600739439,
                             745.1332191019411,
                             745.2,
                             88.72283,
                             88.72284,
                             89.41598,
                             103.97207,
                             103.98,
                             1023.9999,
                             1024,
                             1074.9,
                             1075.1,
                             127.99999,
                             128,
                             149.5,
                             150.1,
                             20,
                             22,
                             32,
                             39.999,
                             5e-324,
                             2.2250738585072014e-308,
                             2.225073858507201e-308,
                             1e-45,
                             1.1754944e-38,
                             1.1754942e-38,
                             1e-20,
                             0x1p-27,
                             0x1p-28,
                             0x1p-54,
                             0x1p-13,
                             0x1p-24,
                             3.4028235e38,
                             1.7976931348623157e308,
                             131072.0,
                             131071.99,
                             0x1p28,
                             268435456.1,
                             6381956970095103.0 * 0x1p797,
                             16367173.0 * 0x1p72,
                             36.5,
                             17,
                             18446744073709551616.0,
                             INFINITY,
                             NAN};
#define ODD ((int)(sizeof(odd) / sizeof(odd[0])))

static double fit(double x) { return single ? (double)(float)x : x; }
static double any_bits(void) { return single ? (double)gr_from_bits32((uint32_t)next()) : gr_from_bits64(next()); }
static double unit(void) { return (double)(next() >> 11) * 0x1p-53; }
static double sign(double x) { return next() & 1 ? x : -x; }
static double nudged(double x) { /* a few units from x */
  return single ? (double)gr_from_bits32(gr_bits32((float)x) + (uint32_t)below(9) - 4)
                : gr_from_bits64(gr_bits64(x) + (uint64_t)below(9) - 4);
}
static double pick(void) {
  switch (below(9)) {
    case 0: return any_bits();
    case 1: return fit(sign(nudged(odd[below(ODD)])));
    case 2:
      return fit(
          sign(nudged((double)below(below(2) ? 200 : 200000) * 1.5707963267948966))); /* hard for sin, cos, tan */
    case 3: return fit(sign(1 + ldexp(unit() - 0.5, -(int)below(30))));               /* near 1 */
    case 4: return fit(sign(ldexp(1 + unit(), (int)below(40) - 20)));
    case 5: return fit(sign(unit()));
    case 6: return fit(sign(unit() * (single ? 110 : 760)));
    case 7: return fit(sign((0.5 + 0.05 * unit() + (double)below(8)) * 0.6931471805599453)); /* where e^x reduces far */
    default: return fit(sign(ldexp(1 + unit(), (int)below(11) - 5)));
  }
}
/* The other operand: any, or one that makes the result finite, near x, or small and whole. */
static double beside(int f, double x) {
  switch (below(5)) {
    case 0: return fit(sign((double)below(8) / 2));
    case 1: return f == IS_pow && x > 0 ? fit(sign(unit() * (single ? 150 : 1074)) / log2(x)) : nudged(x);
    case 2: return fit(x * ldexp(1 + unit(), (int)below(120) - 60));
    default: return pick();
  }
}

/* ---- what is right ---- */

static void reference(int f, double x, double y) {
  mpfr_set_d(left, x, MPFR_RNDN);
  mpfr_set_d(right, y, MPFR_RNDN);
  switch (f) {
#define SAME(name) \
  case IS_##name: mpfr_##name(exact, left, MPFR_RNDN); break;
    SAME(exp)
    SAME(exp2) SAME(expm1) SAME(sinh) SAME(cosh) SAME(tanh) SAME(log) SAME(log2) SAME(log10) SAME(log1p) SAME(sin)
        SAME(cos) SAME(tan) SAME(asin) SAME(acos) SAME(atan) SAME(cbrt) case IS_rsqrt
        : /* of -0: -inf, as 1 / sqrt(-0) */
          mpfr_rec_sqrt(exact, left, MPFR_RNDN);
    if (x == 0) mpfr_set_inf(exact, signbit(x) ? -1 : 1);
    break;
    case IS_floor: mpfr_rint_floor(exact, left, MPFR_RNDN); break;
    case IS_ceil: mpfr_rint_ceil(exact, left, MPFR_RNDN); break;
    case IS_trunc: mpfr_rint_trunc(exact, left, MPFR_RNDN); break;
    case IS_round: mpfr_rint_roundeven(exact, left, MPFR_RNDN); break;
    case IS_sign: mpfr_set_d(exact, x > 0 ? 1 : x < 0 ? -1 : x, MPFR_RNDN); break;
    case IS_pow: mpfr_pow(exact, left, right, MPFR_RNDN); break;
    case IS_atan2: mpfr_atan2(exact, left, right, MPFR_RNDN); break;
    case IS_hypot: mpfr_hypot(exact, left, right, MPFR_RNDN); break;
    case IS_fmod:
    case IS_mod:
      mpfr_fmod(exact, left, right, MPFR_RNDN);
      if (f == IS_mod && mpfr_sgn(exact) && !mpfr_nan_p(exact) && (mpfr_sgn(exact) < 0) != !!signbit(y))
        mpfr_add(exact, exact, right, MPFR_RNDN);
      break;
    case IS_minimum: /* NaN wins */
      if (x != x || y != y) mpfr_set_nan(exact);
      else mpfr_set_d(exact, x < y || (x == y && signbit(x)) ? x : y, MPFR_RNDN);
      break;
    case IS_maximum:
      if (x != x || y != y) mpfr_set_nan(exact);
      else mpfr_set_d(exact, x > y || (x == y && !signbit(x)) ? x : y, MPFR_RNDN);
      break;
  }
}

/* Units in the last place between got and what is exact; HUGE_VAL where they are of different kinds. */
static double off(double got) {
  const int digits = single ? 24 : 53, lowest = single ? -149 : -1074, highest = single ? 127 : 1023;
  mpfr_exp_t e;
  if (mpfr_nan_p(exact)) return got != got ? 0 : HUGE_VAL;
  if (got != got) return HUGE_VAL;
  if (mpfr_inf_p(exact)) return got == (mpfr_sgn(exact) > 0 ? INFINITY : -INFINITY) ? 0 : HUGE_VAL;
  if (!mpfr_signbit(exact) != !signbit(got)) return HUGE_VAL;
  if (mpfr_zero_p(exact)) return got == 0 ? 0 : HUGE_VAL;
  e = mpfr_get_exp(exact) - 1;
  if (got - got != 0) { /* infinity stands for the power of two that is out of range */
    if (e > highest) return 0;
    mpfr_set_si_2exp(distance, got > 0 ? 1 : -1, highest + 1, MPFR_RNDN);
  } else mpfr_set_d(distance, got, MPFR_RNDN);
  if (e > highest) e = highest;
  mpfr_sub(distance, distance, exact, MPFR_RNDN);
  mpfr_mul_2si(distance, distance, -(e - digits + 1 > lowest ? e - digits + 1 : lowest), MPFR_RNDN);
  return fabs(mpfr_get_d(distance, MPFR_RNDU));
}

/* ---- the two together ---- */

typedef struct worst {
  double off, x, y;
} worst;

static double value(const function *f, double x, double y) {
  return single ? (double)f->f32((float)x, (float)y) : f->f64(x, y);
}

static void measure(int f, double x, double y, double got, worst *w) {
  const function *plain = &plain_functions[f];
  double o;
  reference(f, x, y);
  o = off(got);
  if (o > w->off) *w = (worst){o, x, y};
  if (o > plain->most[single] && failures++ < 20)
    mpfr_printf("%s_%s(%a, %a): %a is off by %.4f, exact %.20Re\n", plain->name, single ? "f32" : "f64", x, y, got, o,
                exact);
}

static void look(int f, double x, double y, worst *w) {
  const function *plain = &plain_functions[f], *fused = &fused_functions[f];
  const double got = value(plain, x, y);
#if defined(__x86_64__)
  const int both = __builtin_cpu_supports("fma");
#else
  const int both = 1;
#endif
  if (both) {
    const double again = value(fused, x, y);
    if (gr_bits64(gr_canonical(got)) != gr_bits64(gr_canonical(again)) && failures++ < 20)
      printf("%s_%s(%a, %a): %a, with the processor's fma %a\n", plain->name, single ? "f32" : "f64", x, y, got, again);
  }
  measure(f, x, y, got, w);
}

static void sample(int f, int samples) {
  worst w = {0, 0, 0};
  const int pairs = plain_functions[f].operands == 2;
  for (int i = 0; i < 2 * ODD; i++)
    for (int j = 0; j < (pairs ? 2 * ODD : 1); j++)
      look(f, fit(i & 1 ? -odd[i / 2] : odd[i / 2]), fit(j & 1 ? -odd[j / 2] : odd[j / 2]), &w);
  for (int i = 0; i < samples; i++) {
    const double x = pick();
    look(f, x, pairs ? beside(f, x) : 0, &w);
  }
  printf("%-8s %s  %.4f at %a", plain_functions[f].name, single ? "f32" : "f64", w.off, w.x);
  printf(pairs ? ", %a\n" : "\n", w.y);
}

/* ---- every f32 ---- */

#define MANY 4096

/* Units in the last place, of an f32, between got and what an f64 says. */
static double off_single(float got, double right) {
  const double a = fabs(right);
  int e = (int)(gr_bits64(a) >> 52) - 1023;
  if (got != got || right != right) return got != got && right != right ? 0 : HUGE_VAL;
  if (!signbit(got) != !signbit(right)) return HUGE_VAL;
  if (a == INFINITY) return got - got != 0 ? 0 : HUGE_VAL;
  if (got - got != 0) return a > 0x1p128 ? 0 : (0x1p128 - a) * 0x1p-104;
  e = e < -126 ? -126 : e > 127 ? 127 : e;
  return fabs((double)got - right) * gr_from_bits64((uint64_t)(1023 + 23 - e) << 52);
}

static void every(int f, double largest) {
  const function *c = &fused_functions[f];
  static float x[MANY], got[MANY];
  static double wide[MANY], right[MANY];
  double most = 0, at = 0;
  for (uint64_t u = 0; u <= UINT32_MAX; u += MANY) {
    if (fabs((double)gr_from_bits32((uint32_t)u)) > largest) continue;
    for (int k = 0; k < MANY; k++) wide[k] = (double)(x[k] = gr_from_bits32((uint32_t)u + (uint32_t)k));
    c->f32s(x, got, MANY);
    c->f64s(wide, right, MANY);
    for (int k = 0; k < MANY; k++) {
      const double o = off_single(got[k], right[k]);
      if (o > most) most = o, at = (double)x[k];
    }
  }
  printf("%-8s f32  %.4f at %a, of all up to %g\n", c->name, most, at, largest);
  if (most > c->most[1]) failures++;
}

/* ---- what others have got ---- */

static int named(const char *name) {
  for (int f = 0; f < FUNCTION_COUNT; f++)
    if (!strcmp(name, plain_functions[f].name)) return f;
  return -1;
}

/* The next n numbers of the input, as doubles; NULL where it ends too soon. */
static double *take(int n) {
  const size_t size = single ? sizeof(float) : sizeof(double);
  double *t = malloc((size_t)n * sizeof *t);
  float *narrow = (float *)t; /* widened from the end on, each above those that still wait */
  if (!t || fread(t, size, (size_t)n, stdin) != (size_t)n) {
    free(t);
    return NULL;
  }
  for (int k = n; single && k-- > 0;) {
    float x;
    memcpy(&x, narrow + k, sizeof x);
    t[k] = (double)x;
  }
  return t;
}

/* A line "NAME f32|f64 OPERANDS COUNT", then the elements of x, of y where there are two operands, and the results. */
static void check(void) {
  char name[16], type[4];
  int operands, n, ended = 0;
  long long looked = 0;
  worst w[FUNCTION_COUNT][2] = {{{0, 0, 0}}};
  while (!ended && scanf("%15s %3s %d %d", name, type, &operands, &n) == 4 && getchar() == '\n') {
    const int f = named(name);
    double *x, *y, *got;
    single = !strcmp(type, "f32");
    x = take(n), y = operands > 1 ? take(n) : NULL, got = take(n);
    ended = f < 0 || n < 1 || !x || !got || (operands > 1 && !y) || operands != plain_functions[f].operands;
    for (int k = 0; k < n && !ended; k++) measure(f, x[k], y ? y[k] : 0, got[k], &w[f][single]);
    looked += ended ? 0 : n;
    free(x), free(y), free(got);
  }
  failures += ended || !feof(stdin);
  for (int f = 0; f < FUNCTION_COUNT; f++)
    for (int k = 0; k < 2; k++)
      if (w[f][k].off > 0)
        printf("%-8s %s  %.4f at %a, %a\n", plain_functions[f].name, k ? "f32" : "f64", w[f][k].off, w[f][k].x,
               w[f][k].y);
  printf("%lld results of functions against MPFR: %s\n", looked, failures ? "FAILED" : "ok");
}

int main(int argc, char **argv) {
  const char *name = argc > 3 ? argv[3] : NULL;
  int samples = argc > 1 ? atoi(argv[1]) : 2000;
  mpfr_inits2(400, exact, left, right, distance, (mpfr_ptr)0);
  if (argc > 2 && !strcmp(argv[1], "all")) {
    for (int f = 0; f < FUNCTION_COUNT; f++)
      if (!strcmp(argv[2], plain_functions[f].name)) every(f, argc > 3 ? atof(argv[3]) : INFINITY);
    return failures != 0;
  }
  if (argc > 1 && !strcmp(argv[1], "check")) {
    check();
    return failures != 0;
  }
  state = argc > 2 ? strtoull(argv[2], NULL, 0) : 1;
  for (single = 0; single < 2; single++)
    for (int f = 0; f < FUNCTION_COUNT; f++)
      if (!name || !strcmp(name, plain_functions[f].name)) sample(f, samples);
  printf("%d functions, %d samples each: %s\n", FUNCTION_COUNT, samples, failures ? "FAILED" : "ok");
  return failures != 0;
}
