/* x^y: 2^(y log2 x), the logarithm in two parts. Powers that products, a quotient or a root give are those. */
#ifndef GR_POW_H
#define GR_POW_H

/* log2(a) = h + *low, to 2^-64 or so of it, for a positive and finite: the series of 2 atanh(f / (2 + f)), whose
   first terms are in two parts. */
GR_WITHIN double gr_log2_parts(double a, double *low) {
  double f, k = gr_log_reduced_f64(a, &f), dl, d = gr_two_sum_f64(2.0, f, &dl), inverse = 1.0 / d, s = f * inverse;
  double sl = (gr_fma_f64(-s, d, f) - s * dl) * inverse, z = s * s, zl = gr_fma_f64(s, s, -z) + 2.0 * s * sl;
  double p, t, tl, h, l;
  p = gr_fma_f64(z, gr_fma_f64(z, gr_fma_f64(z, gr_fma_f64(z, gr_fma_f64(z, gr_fma_f64(z, gr_fma_f64(z,
      0.059903505241375, 0.05837955462846729), 0.06668128978185932), 0.0769227929936643), 0.09090909420793705),
      0.11111111108903572), 0.14285714285721896), 0.1999999999999999);
  h = z * 0.3333333333333333; /* a third, in two parts */
  l = gr_fma_f64(z, 0.3333333333333333, -h) + (z * 1.850371707708594e-17 + zl * 0.3333333333333333) + z * z * p;
  t = h + l;
  tl = (h - t) + l;
  s *= 2.0;
  h = s * t;
  l = gr_fma_f64(s, t, -h) + (s * tl + 2.0 * sl * (1.0 + t));
  t = s + h;
  l = ((s - t) + h) + l;
  h = t * 1.4426950408889634; /* 1 / ln 2, in two parts */
  l = gr_fma_f64(t, 1.4426950408889634, -h) + (t * 2.0355273740931033e-17 + l * 1.4426950408889634);
  t = k + h;
  l = ((k - t) + h) + l;
  h = t + l;
  *low = (t - h) + l;
  return h;
}

/* 2^(h + l) for any h but NaN. */
GR_WITHIN double gr_exp2_parts(double h, double l) {
  double t = h > 1100.0 ? 1100.0 : h < -1100.0 ? -1100.0 : h, n = t + 6755399441055744.0;
  double r0 = t - (n - 6755399441055744.0), r;
  l = t == h ? l : 0.0;
  r = r0 + l;
  l = ((r0 - r) + l) * 0.6931471805599453;
  return gr_scaled_f64(1.0 + gr_fma_f64(r, gr_exp2_poly(r), l), gr_bits64(n) - gr_bits64(6755399441055744.0));
}

GR_WITHIN double gr_power_f64(double a, double y) {
  /* As good as 0 or infinity, with products that stay in range. */
  const double b = gr_magnitude_f64(y), c = b > 0x1p65 ? 0x1p65 : b < 0x1p-70 ? 0.0 : b, e = gr_with_sign_f64(c, y);
  double l, h = gr_log2_parts(a, &l), p = e * h;
  return gr_exp2_parts(p, gr_fma_f64(e, h, -p) + e * l);
}
GR_WITHIN float gr_power_f32(float a, float y) {
  const double p = (double)y * gr_log2_f64((double)a);
  return (float)gr_exp2_f64(p);
}

/* The rules of C's Annex F, and of Lua's ^ so far as its C library follows them. */
#define GR_POW(type, R)                                                                          \
  GR_WITHIN R gr_pow_##type(R x, R y) {                                                          \
    const R a = gr_magnitude_##type(x), whole = gr_round_##type(y), half = y * (R)0.5;           \
    const R infinite = gr_infinity_##type(), end = (a == 0) == (y > 0) ? (R)0 : infinite;        \
    const int odd = (whole == y) & (gr_round_##type(half) != half);                              \
    const R square = x * x, root = gr_root_##type(x) + (R)0;                                     \
    R r = gr_power_##type(a, y);                                                                 \
    r = (a == 0) | (a == infinite) ? end : r;                                                    \
    r = a == 1 ? (R)1 : r;                                                                       \
    r = odd ? gr_with_sign_##type(r, x) : r;                                                     \
    r = (x < 0) & (whole != y) & (a != infinite) ? gr_nan_##type() : r;                          \
    r = (x == x) & (y == y) ? r : gr_nan_##type();                                               \
    r = y == 1 ? x : r;                                                                          \
    r = y == 2 ? square : r;                                                                     \
    r = y == 3 ? square * x : r;                                                                 \
    r = y == 4 ? square * square : r;                                                            \
    r = y == (R)-1 ? (R)1 / x : r;                                                               \
    r = (y == (R)0.5) & (a != infinite) ? root : r;                                              \
    return (y == 0) | (x == 1) ? (R)1 : r;                                                       \
  }
GR_POW(f64, double)
GR_POW(f32, float)
#undef GR_POW

#endif
