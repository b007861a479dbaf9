/*
** Exact sums against MPFR: generated vectors go through the CPU's kernels of every instruction set and the rounding
** code, and every result is compared with MPFR's, bit by bit. Usage: oracle [vectors [seed]].
** MPFR knows nothing of subnormals or limits by itself: mpfr_check_range and mpfr_subnormalize put them in.
*/
#include <inttypes.h>
#include <mpfr.h>
#include <stdio.h>
#include <stdlib.h>
#include "kernels/cpu/kernels_cpu.h"
#include "spec/chance.h"
#include "src/core/exact_round.h"

#define MOST 100100
#define WIDE 9600 /* bits: any sum of products exactly, and its square */

static double unit(void) { return (double)(next() >> 11) * 0x1p-53; }

/* ---- one vector pair ---- */

static int single, n; /* the dtype: f32 or f64 */
static double x[MOST], y[MOST]; /* values that the dtype holds */
static float fx[MOST], fy[MOST];

static double fit(double v) { return single ? (double)(float)v : v; }
static double random_bits(void) { /* any finite number */
  for (;;) {
    double v = single ? (double)gr_from_bits32((uint32_t)next()) : gr_from_bits64(next());
    if (v - v == 0) return v;
  }
}
static double at_exponent(int e) { /* random digits, exponent e, random sign */
  return fit(ldexp(1 + unit(), e)) * (next() & 1 ? 1 : -1);
}
static double normal(void) {
  double s = -6;
  for (int k = 0; k < 12; k++) s += unit();
  return fit(s);
}
static void shuffle(double *v, int m) {
  for (int k = m - 1; k > 0; k--) {
    int j = below(k + 1);
    double t = v[k];
    v[k] = v[j];
    v[j] = t;
  }
}

static int low_exponent(void) { return single ? -149 : -1074; }
static int high_exponent(void) { return single ? 127 : 1023; }
static double largest(void) { return single ? 0x1.fffffep127 : 0x1.fffffffffffffp1023; }
static int digits(void) { return single ? 24 : 53; }

/* ---- generators: fill v[0 .. n - 1] ---- */

static void uniform(double *v) { for (int k = 0; k < n; k++) v[k] = fit(unit()); }
static void signed_uniform(double *v) { for (int k = 0; k < n; k++) v[k] = fit(2 * unit() - 1); }
static void gauss(double *v) { for (int k = 0; k < n; k++) v[k] = normal(); }
static void spread(double *v) {
  int most = 1 + below(single ? 120 : 600);
  for (int k = 0; k < n; k++) v[k] = at_exponent(below(2 * most + 1) - most);
}
static void any_bits(double *v) { for (int k = 0; k < n; k++) v[k] = random_bits(); }
static void pairs(double *v) { /* the rest decides, or nothing is left */
  int rest = below(3), k;
  for (k = 0; k + 1 < n - rest; k += 2) v[k + 1] = -(v[k] = random_bits());
  for (; k < n; k++) v[k] = below(3) ? at_exponent(low_exponent() + below(60)) : 0;
  shuffle(v, n);
}
static void cancelling(double *v) { /* each takes away what the sum was */
  double s = 0;
  for (int k = 0; k < n; k++) {
    v[k] = k & 1 ? fit(-s) : at_exponent(below(100) - 50);
    s += v[k];
  }
}
static void ties(double *v) { /* m + half a unit, and perhaps the least there is, in scattered parts */
  int e = low_exponent() + digits() + below(high_exponent() - low_exponent() - 2 * digits() - 2), k = 0;
  double half = ldexp(1, e - digits());
  for (int j = 0; j < n; j++) v[j] = 0;
  if (n < 6) return;
  v[k++] = fit(ldexp(1 + unit() / 2, e));
  v[k++] = half;
  if (below(2)) v[k++] = ldexp(below(2) ? 1 : -1, low_exponent());
  if (below(2)) { v[k++] = half; v[k++] = -half; }
  if (below(2)) for (int j = 0; j < k; j++) v[j] = -v[j];
  for (; k + 1 < n; k += 2) v[k + 1] = -(v[k] = at_exponent(e - below(40)));
  shuffle(v, n);
}
static void threshold(double *v) { /* overflow in the middle, or just, or just not */
  double half_unit = ldexp(1, high_exponent() - digits());
  for (int k = 0; k < n; k++) v[k] = 0;
  if (n < 6) return;
  v[0] = largest();
  if (below(2)) v[1] = half_unit;
  if (below(2)) v[2] = ldexp(below(2) ? 1 : -1, low_exponent());
  if (below(2)) { v[3] = largest(); v[4] = -largest(); }
  if (below(4) == 0) v[5] = largest();
  if (below(2)) for (int k = 0; k < n; k++) v[k] = -v[k];
  shuffle(v, n);
}
static void tiny(double *v) {
  for (int k = 0; k < n; k++) v[k] = ldexp((double)(below(1 << 20) - (1 << 19)), low_exponent());
}
static void zeros(double *v) {
  int kind = below(3);
  for (int k = 0; k < n; k++) v[k] = kind == 0 ? -0.0 : kind == 1 && below(n) ? -0.0 : below(2) ? 0.0 : -0.0;
}
static void special(double *v) {
  static const double what[] = {INFINITY, -INFINITY, NAN};
  gauss(v);
  for (int k = below(3); k >= 0 && n; k--) v[below(n)] = below(4) ? what[below(3)] : 0;
}
static void constant(double *v) {
  double c = below(4) == 0 ? largest() : below(3) == 0 ? at_exponent(below(100) - 50) : random_bits();
  int both = below(2);
  for (int k = 0; k < n; k++) v[k] = both && below(2) ? -c : c;
}
static void clusters(double *v) {
  int up = high_exponent() - 3 - below(20), down = low_exponent() + below(40);
  for (int k = 0; k < n; k++) v[k] = at_exponent(below(2) ? up : down);
}
static void wholes(double *v) {
  for (int k = 0; k < n; k++) v[k] = below(3) ? (double)(below(2001) - 1000) : 0;
}
/* A range of exactly so many bits: where the number of levels changes. */
static void edges(double *v) {
  static const int range[] = {25, 26, 27, 28, 29, 49, 50, 51, 52, 53, 79, 80, 81, 102, 103, 104, 131, 155, 208, 260};
  int r = range[below(20)], e = low_exponent() + digits() + below(high_exponent() - low_exponent() - digits());
  if (e + r > high_exponent()) e = high_exponent() - r;
  if (e < low_exponent() + digits()) e = low_exponent() + digits();
  for (int k = 0; k < n; k++) {
    int high = e + r > high_exponent() ? high_exponent() : e + r;
    v[k] = at_exponent(below(2) ? e : high);
    if (below(2)) v[k] = gr_from_bits64(gr_bits64(v[k]) | (single ? UINT64_C(1) << 29 : 1)); /* the last digit */
  }
}
static void (*const generators[])(double *) = {
  uniform, signed_uniform, gauss, spread, any_bits, pairs, cancelling, ties, threshold, tiny, zeros, special,
  constant, clusters, wholes, edges};
#define GENERATORS ((int)(sizeof generators / sizeof *generators))

/* ---- generators of pairs ---- */

/* Ogita, Rump and Oishi's: half at random exponents, then each product takes the sum so far away. */
static void ill_conditioned(void) {
  int most = 1 + below(single ? 55 : 480);
  mpfr_t s, t;
  mpfr_inits2(WIDE, s, t, NULL);
  mpfr_set_zero(s, 1);
  for (int k = 0; k < n; k++) {
    int e = k < n / 2 ? below(2 * most + 1) - most : most - (int)(2.0 * most * (k - n / 2) / n);
    x[k] = at_exponent(e / 2);
    if (k < n / 2) {
      y[k] = at_exponent(e / 2);
    } else {
      mpfr_div_d(t, s, -x[k], MPFR_RNDN);
      y[k] = fit(mpfr_get_d(t, MPFR_RNDN));
      if (y[k] - y[k] != 0) y[k] = 1;
    }
    mpfr_set_d(t, x[k], MPFR_RNDN);
    mpfr_mul_d(t, t, y[k], MPFR_RNDN);
    mpfr_add(s, s, t, MPFR_RNDN);
  }
  mpfr_clears(s, t, NULL);
}
/* Products near the ends of the range of doubles, where rounded products and their errors stop being exact. */
static void product_ends(void) {
  static const int sums[] = {-969, -1000, -1022, -1074, -1100, -2000, 960, 1009, 1018, 1020, 1023};
  int e = single ? below(250) - 140 : sums[below(11)] + below(9) - 4, cancel = below(2);
  for (int k = 0; k < n; k++) {
    int ex = e / 2 + below(7) - 3;
    x[k] = at_exponent(ex > high_exponent() ? high_exponent() : ex);
    y[k] = at_exponent(e - ex > high_exponent() ? high_exponent() : e - ex);
    if (cancel && k & 1) x[k] = x[k - 1], y[k] = -y[k - 1];
  }
  if (cancel && n) x[below(n)] = at_exponent(single ? -60 : -500);
}
/* A tie of the dot that a product far below everything decides. */
static void dot_ties(void) {
  int e = single ? -60 : -600;
  for (int k = 0; k < n; k++) x[k] = y[k] = 0;
  if (n < 4) return;
  x[0] = fit(1 + unit() / 2), y[0] = 1;
  x[1] = ldexp(1, -digits()), y[1] = 1;
  if (below(2)) x[2] = ldexp(1, e), y[2] = ldexp(below(2) ? 1 : -1, e);
  for (int k = 3; k + 1 < n; k += 2)
    x[k + 1] = x[k] = at_exponent(below(20)), y[k + 1] = -(y[k] = at_exponent(below(20)));
}
/* Pythagorean triples whose hypotenuse lies half way between two f64: ties of the norm. */
static void norm_ties(void) {
  int64_t p = (1 << 26) + below(1 << 24), q = ((1 << 26) + below(1 << 24)) ^ (p & 1) ^ 1;
  for (int k = 0; k < n; k++) x[k] = y[k] = 0;
  if (n < 2 || single) return;
  if ((p ^ q) % 2 == 0) q++;
  x[0] = (double)(p * p - q * q);
  x[1] = (double)(2 * p * q);
  if (n > 2 && below(2)) x[2] = ldexp(1, -500);
  shuffle(x, n);
}
static void (*const pair_generators[])(void) = {ill_conditioned, product_ends, dot_ties, norm_ties};

static int length(void) {
  static const int edge[] = {0, 1, 2, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 129, 255, 256, 511, 512, 1023, 1024,
                             1025, 2047, 2048, 2049, 3000, 4096, 4099};
  int r = below(4000);
  if (r == 0) return 100003;
  if (r < 60) return edge[below(27)];
  if (r < 600) return edge[below(16)];
  return 4 + below(28);
}

static void generate(void) {
  static unsigned turn;
  unsigned kind = turn++ % (GENERATORS + 8);
  single = below(2);
  n = length();
  if (kind >= GENERATORS) {
    pair_generators[kind % 4]();
  } else {
    generators[kind](x);
    generators[below(3) ? kind : (unsigned)below(GENERATORS)](y);
  }
  for (int k = 0; k < n; k++) {
    fx[k] = (float)x[k];
    fy[k] = (float)y[k];
  }
}

/* ---- what MPFR says ---- */

static mpfr_t term[MOST];
static mpfr_ptr terms[MOST];
static mpfr_t s_x, s_abs, s_xx, s_xy, s_yy, t1, t2;

/* m with its ternary value, rounded to the format at once. */
static double finish(mpfr_t m, int ternary, int f32) {
  mpfr_exp_t emin = mpfr_get_emin(), emax = mpfr_get_emax();
  double r;
  mpfr_set_emin(f32 ? -148 : -1073);
  mpfr_set_emax(f32 ? 128 : 1024);
  ternary = mpfr_check_range(m, ternary, MPFR_RNDN);
  mpfr_subnormalize(m, ternary, MPFR_RNDN);
  r = mpfr_get_d(m, MPFR_RNDN);
  mpfr_set_emin(emin);
  mpfr_set_emax(emax);
  return r;
}
static double rounded(mpfr_t exact, int f32) {
  mpfr_t m;
  mpfr_init2(m, f32 ? 24 : 53);
  double r = finish(m, mpfr_set(m, exact, MPFR_RNDN), f32);
  mpfr_clear(m);
  return r;
}
static double rounded_root(mpfr_t exact, int f32) {
  mpfr_t m;
  mpfr_init2(m, f32 ? 24 : 53);
  double r = finish(m, mpfr_sqrt(m, exact, MPFR_RNDN), f32);
  mpfr_clear(m);
  return r;
}
static double rounded_ratio(mpfr_t a, mpfr_t b, int f32) {
  mpfr_t m;
  mpfr_init2(m, f32 ? 24 : 53);
  double r = finish(m, mpfr_div(m, a, b, MPFR_RNDN), f32);
  mpfr_clear(m);
  return r;
}

static void sum_of(mpfr_t s, const double *a, const double *b, int magnitudes) {
  for (int k = 0; k < n; k++) {
    mpfr_set_d(term[k], magnitudes ? fabs(a[k]) : a[k], MPFR_RNDN);
    if (b) mpfr_mul_d(term[k], term[k], b[k], MPFR_RNDN); /* 106 bits: exact */
  }
  if (mpfr_sum(s, terms, (unsigned long)n, MPFR_RNDN) != 0) abort();
}

/* ---- comparing ---- */

static long results, failures;
static const char *set;

static void compare_bits(const char *what, double expected, double got, int f32) {
  results++;
  if (expected != expected) expected = gr_nan();
  if (gr_bits64(expected) == gr_bits64(got)) return;
  if (failures++ < 10)
    printf("%s of %d %s (%s, out %s): expected %a, got %a\n", what, n, single ? "f32" : "f64", set, f32 ? "f32" : "f64",
           expected, got);
}

static void serial(int64_t pieces, void (*body)(void *, int64_t), void *arg) {
  for (int64_t k = 0; k < pieces; k++) body(arg, k);
}

/* Sums by the code under test, cut in parts that meet in another order, some of them by way of bytes. */
static void exact_of(gr_exact *s, gr_exact_kind kind, const double *a, const double *b, int parts) {
  const char *p = single ? (const char *)(a == x ? fx : fy) : (const char *)a;
  const char *q = !b ? NULL : single ? (const char *)(b == x ? fx : fy) : (const char *)b;
  int size = single ? 4 : 8, step = parts ? n / parts : n;
  static gr_exact room[8], part;
  gr_exact_clear(s);
  for (int from = parts ? (parts - 1) * step : 0, to = n; from >= 0; to = from, from -= step) {
    gr_exact_job job = {
      kind, single ? GR_F32 : GR_F64, to - from, 1, {p + from * size, size, 0}, {q ? q + from * size : NULL, size, 0},
    };
    gr_cpu_exact(&job, NULL, &part, room, 8, serial);
    if (parts > 1 && from % 3 == 0) {
      unsigned char bytes[GR_EXACT_BYTES];
      gr_exact_pack(&part, bytes);
      char why[64];
      if (gr_exact_unpack(&part, bytes, sizeof bytes, why)) failures++;
    }
    gr_exact_merge(s, &part);
    if (step == 0) break;
  }
  s->flags |= n ? GR_EXACT_SOME : 0;
}

/* NaN, infinities and the sign of zero, by their definition. The rest is MPFR's. */
static int by_definition(gr_exact_kind kind, const double *a, const double *b, gr_exact *s, double *expected) {
  int nan = 0, up = 0, down = 0, nonzero = 0;
  for (int k = 0; k < n; k++) {
    double v = kind == GR_EXACT_SUMABS ? fabs(a[k]) : a[k], w = kind == GR_EXACT_DOT ? b[k] : 1;
    int infinite = isinf(v) || isinf(w), negative = !!signbit(v) != !!signbit(w);
    if (isnan(v) || isnan(w) || (infinite && (v == 0 || w == 0))) nan = 1;
    else if (infinite) *(negative ? &down : &up) = 1;
    if (!((v == 0 || w == 0) && negative)) nonzero = 1;
  }
  if (nonzero) s->flags |= GR_EXACT_NONZERO;
  *expected = nan || (up && down) ? NAN : up ? INFINITY : down ? -INFINITY : n && !nonzero ? -0.0 : 0.0;
  return nan || up || down;
}

static void check_sum(const char *what, gr_exact_kind kind, const double *a, const double *b, mpfr_t oracle) {
  static const char *const sets[] = {"avx512", "avx2", "sse2"};
  double expected[2];
  gr_exact s = {0};
  int settled = by_definition(kind, a, b, &s, expected);
  expected[1] = expected[0];
  if (!settled) sum_of(oracle, a, b, kind == GR_EXACT_SUMABS);
  if (!settled && !mpfr_zero_p(oracle)) expected[0] = rounded(oracle, 0), expected[1] = rounded(oracle, 1);
  for (int k = 0; k < 3; k++) {
    unsigned flags = s.flags & GR_EXACT_NONZERO;
    gr_exact e;
    if (!gr_cpu_select(sets[k])) continue;
    set = sets[k];
    exact_of(&e, kind, a, b, k == 1 ? 1 + below(7) : 1);
    e.flags |= flags;
    compare_bits(what, expected[0], gr_exact_value(&e, 0), 0);
    compare_bits(what, expected[1], gr_exact_value(&e, 1), 1);
  }
}

/* What is made of several sums. Finite data alone. */
static void check_others(void) {
  gr_exact x1, a1, xx, xy, yy;
  gr_exact_sums q = {&x1, &xx, &xy, &yy}, magnitudes = {&a1, NULL, NULL, NULL};
  int64_t ddof = n > 1 ? below(2) : 0;
  for (int k = 0; k < n; k++)
    if (x[k] - x[k] != 0 || y[k] - y[k] != 0) return;
  if (n == 0) return;
  set = "best";
  gr_cpu_select(NULL);
  exact_of(&x1, GR_EXACT_SUM, x, NULL, 1);
  exact_of(&a1, GR_EXACT_SUMABS, x, NULL, 1);
  exact_of(&xx, GR_EXACT_DOT, x, x, 1);
  exact_of(&xy, GR_EXACT_DOT, x, y, 1);
  exact_of(&yy, GR_EXACT_DOT, y, y, 1);
  x1.flags |= GR_EXACT_NONZERO;
  xy.flags |= GR_EXACT_NONZERO;
  a1.flags |= GR_EXACT_NONZERO;
  xx.flags |= GR_EXACT_NONZERO;
  sum_of(s_x, x, NULL, 0);
  sum_of(s_abs, x, NULL, 1);
  sum_of(s_xx, x, x, 0);
  sum_of(s_xy, x, y, 0);
  sum_of(s_yy, y, y, 0);
  for (int f32 = 0; f32 < 2; f32++) {
    double zero = 0;
    mpfr_set_si(t2, n, MPFR_RNDN);
    compare_bits("mean", mpfr_zero_p(s_x) ? zero : rounded_ratio(s_x, t2, f32),
                 gr_exact_result(GR_OP_mean, &q, n, 0, f32), f32);
    compare_bits("norm1", rounded(s_abs, f32), gr_exact_result(GR_OP_norm1, &magnitudes, n, 0, f32), f32);
    compare_bits("norm2", rounded_root(s_xx, f32), gr_exact_result(GR_OP_norm2, &q, n, 0, f32), f32);
    mpfr_sub(t1, s_xx, s_xy, MPFR_RNDN);
    mpfr_sub(t1, t1, s_xy, MPFR_RNDN);
    mpfr_add(t1, t1, s_yy, MPFR_RNDN);
    compare_bits("mse", rounded_ratio(t1, t2, f32), gr_exact_result(GR_OP_mse, &q, n, 0, f32), f32);
    mpfr_mul_si(t1, s_xx, n, MPFR_RNDN);
    mpfr_sqr(t2, s_x, MPFR_RNDN);
    mpfr_sub(t1, t1, t2, MPFR_RNDN);
    mpfr_set_si(t2, n, MPFR_RNDN);
    mpfr_mul_si(t2, t2, n - (long)ddof, MPFR_RNDN);
    compare_bits("var", rounded_ratio(t1, t2, f32), gr_exact_result(GR_OP_var, &q, n, ddof, f32), f32);
    mpfr_div(t1, t1, t2, MPFR_RNDN); /* the root's ties are exact here; what is not exact is far from a tie */
    compare_bits("std", rounded_root(t1, f32), gr_exact_result(GR_OP_std, &q, n, ddof, f32), f32);
    mpfr_mul(t2, s_xx, s_yy, MPFR_RNDN);
    if (mpfr_zero_p(t2)) {
      compare_bits("cosine", NAN, gr_exact_result(GR_OP_cosine, &q, n, 0, f32), f32);
    } else {
      mpfr_sqr(t1, s_xy, MPFR_RNDN);
      mpfr_div(t1, t1, t2, MPFR_RNDN);
      double c = rounded_root(t1, f32);
      compare_bits("cosine", mpfr_sgn(s_xy) < 0 ? -c : c, gr_exact_result(GR_OP_cosine, &q, n, 0, f32), f32);
    }
  }
}

/* As many deposits as fit between two carries, and a merge of two such: made by multiplying one deposit. */
static void check_room(void) {
  gr_exact s, o;
  mpfr_t v;
  mpfr_init2(v, 200);
  for (int sign = 0; sign < 2; sign++) {
    gr_exact_clear(&s);
    s.flags = GR_EXACT_SOME | GR_EXACT_NONZERO;
    gr_exact_touch(&s, -33, 100);
    gr_exact_put(&s, UINT64_MAX, -33, -sign); /* shifted by 31 in its limb */
    for (int k = 0; k < GR_EXACT_LIMBS; k++) s.limb[k] *= GR_EXACT_ROOM;
    s.pending = GR_EXACT_ROOM;
    o = s;
    gr_exact_merge(&s, &o);
    for (int k = 0; k < 3; k++) {
      gr_exact_expect(&s, 1);
      gr_exact_put(&s, UINT64_MAX, -33, -sign);
    }
    mpfr_set_ui(v, 2 * (unsigned long)GR_EXACT_ROOM + 3, MPFR_RNDN);
    mpfr_mul_ui(v, v, UINT64_MAX, MPFR_RNDN);
    mpfr_mul_2si(v, v, -33, MPFR_RNDN);
    if (sign) mpfr_neg(v, v, MPFR_RNDN);
    compare_bits("room", rounded(v, 0), gr_exact_value(&s, 0), 0);
  }
  mpfr_clear(v);
  /* Sums that outgrow the limbs that a few deposits touch: the largest f32, 2^37 times. */
  gr_exact_clear(&s);
  s.flags = GR_EXACT_SOME | GR_EXACT_NONZERO;
  gr_exact_touch(&s, -149, 128);
  gr_exact_put_f64(&s, 0x1.fffffep127);
  for (int k = 0; k < GR_EXACT_LIMBS; k++) s.limb[k] *= GR_EXACT_ROOM;
  s.pending = GR_EXACT_ROOM;
  for (int k = 0; k < 8; k++) {
    o = s;
    gr_exact_merge(&s, &o);
  }
  compare_bits("growth", 0x1.fffffep164, gr_exact_value(&s, 0), 0);
}

/*
** A cosine barely above the middle between two f32: x = (1, 0, 0, 0, 0, e), y = (a, b, c, d, f, 2^k e), where
** a^2 + b^2 + c^2 + d^2 + f^2 = 4^k and a is odd with 25 bits.
*/
static void cosine_tie(void) {
  int64_t k = 26, a = (1 << 24) + 1 + 2 * below(1 << 23);
  int64_t rest = (INT64_C(1) << 2 * k) - a * a, b = (int64_t)sqrt((double)rest), c, d, f;
  for (;; b--) {
    int64_t left = rest - b * b;
    c = (int64_t)sqrt((double)left);
    left -= c * c;
    for (d = 0; d * d <= left; d++) {
      f = (int64_t)sqrt((double)(left - d * d));
      if (d * d + f * f == left) goto found;
    }
  }
found:
  single = 0;
  n = 6;
  for (int i = 0; i < n; i++) x[i] = 0;
  x[0] = 1;
  x[5] = below(2) ? 0x1p-70 : 0;
  y[0] = (double)a, y[1] = (double)b, y[2] = (double)c, y[3] = (double)d, y[4] = (double)f;
  y[5] = ldexp(x[5], (int)k);
  for (int i = 0; i < n; i++) fx[i] = (float)x[i], fy[i] = (float)y[i];
}

int main(int argc, char **argv) {
  long vectors = argc > 1 ? atol(argv[1]) : 100000;
  state = argc > 2 ? (uint64_t)atol(argv[2]) : 1;
  for (int k = 0; k < MOST; k++) {
    mpfr_init2(term[k], 106);
    terms[k] = term[k];
  }
  mpfr_inits2(WIDE, s_x, s_abs, s_xx, s_xy, s_yy, t1, t2, NULL);
  set = "state";
  check_room();
  for (int v = 0; v < 20; v++) {
    cosine_tie();
    check_others();
  }
  for (long v = 0; v < vectors; v++) {
    generate();
    check_sum("sum", GR_EXACT_SUM, x, NULL, s_x);
    check_sum("dot", GR_EXACT_DOT, x, y, s_xy);
    if (v % 8 == 0 && n < 5000) check_others();
  }
  printf("%s: %ld vectors, %ld results, %ld differ\n", failures ? "FAILED" : "ok", vectors, results, failures);
  return failures != 0;
}
