/*
** The arithmetic that both backends share, to the bit: the shape of the tree, conversions, the order of
** floats, how two partial results merge and how the last one is finished. docs/numerics.md explains it.
** Compiled by the C compiler and by nvcc; both are told not to contract a*b+c.
*/
#ifndef GR_NUMERICS_H
#define GR_NUMERICS_H

#include <assert.h>
#include <math.h>
#include "kernels/jobs.h"
#include "kernels/numerics/math.h"

/*
** The tree, version 1. A row is 512 bytes: what a warp reads with one 16-byte load a lane. Slot l of every
** row belongs to lane l; a leaf is GR_LEAF_ROWS rows, and each lane adds its slots in order. A leaf's lanes
** are folded by halves (lane l takes lane l + L/2, then l + L/4, ...), and leaves pair up with their
** neighbours, then pairs with pairs, to the root. What lies past the end is the operation's identity.
*/
#define GR_TREE_VERSION 1
#define GR_ROW_BYTES 512
#define GR_LEAF_ROWS(size) ((size) == 2 ? 16 : 8)
#define GR_LANES(size) (GR_ROW_BYTES / (size))
#define GR_LEAF(size) (GR_LANES(size) * GR_LEAF_ROWS(size))

/* ---- conversions ---- */

/* All finite f16 and bf16 values, infinities and NaNs are exact in f32. */
GR_FN float gr_f16_to_f32(gr_f16 h) {
  uint32_t sign = (uint32_t)(h.bits & 0x8000u) << 16, rest = h.bits & 0x7fffu;
  if (rest >= 0x7c00u) return gr_from_bits32(sign | 0x7f800000u | (rest & 0x3ffu) << 13);
  /* Put the bits where f32 wants them, then repair the bias by an exact multiplication (subnormals too). */
  return gr_from_bits32(sign | gr_bits32(gr_from_bits32(rest << 13) * 5.192296858534828e33f)); /* 2^112 */
}
GR_FN float gr_bf16_to_f32(gr_bf16 h) { return gr_from_bits32((uint32_t)h.bits << 16); }

/*
** Round a double to a 16-bit float with `fraction` fraction bits and exponent bias `bias`, to nearest, ties
** to even, in one rounding. Overflow gives infinity; NaN gives the quiet NaN.
*/
GR_FN uint16_t gr_round16(double x, int fraction, int bias) {
  uint64_t u = gr_bits64(x);
  uint16_t sign = (uint16_t)(u >> 48 & 0x8000u);
  int top = 2 * bias + 1; /* the exponent field of infinity */
  int64_t magnitude = (int64_t)(u & INT64_MAX);
  int exponent, drop;
  uint64_t m, half, kept;
  if (x != x) return (uint16_t)(top << fraction | 1 << (fraction - 1));
  exponent = (int)(magnitude >> 52) - 1023 + bias; /* the field it would have here */
  if (exponent >= top) return (uint16_t)(sign | top << fraction);
  m = ((uint64_t)magnitude & ((UINT64_C(1) << 52) - 1)) | (magnitude >> 52 ? UINT64_C(1) << 52 : 0);
  drop = 52 - fraction + (exponent < 1 ? 1 - exponent : 0); /* bits below the last place kept */
  if (drop > 54) return sign;
  half = UINT64_C(1) << (drop - 1);
  kept = m >> drop;
  if ((m & (2 * half - 1)) > half || ((m & (2 * half - 1)) == half && (kept & 1))) kept++;
  /* A carry out of the fraction moves into the exponent by itself, up to infinity. */
  if (exponent >= 1) kept += (uint64_t)(exponent - 1) << fraction;
  return (uint16_t)(sign | kept);
}
/* CUDA converts a NaN to another NaN than x86 does. */
GR_FN float gr_f64_to_f32(double x) { return x == x ? (float)x : gr_from_bits32(0x7fc00000u); }
GR_FN gr_f16 gr_f64_to_f16(double x) {
  gr_f16 h;
  h.bits = gr_round16(x, 10, 15);
  return h;
}
GR_FN gr_bf16 gr_f64_to_bf16(double x) {
  gr_bf16 h;
  h.bits = gr_round16(x, 7, 127);
  return h;
}

/* gr_widen_<dtype>: an element as the number that goes into the tree. */
#define GR_WIDEN(s, type, expr) \
  GR_FN double gr_widen_##s(type x) { return expr; }
#define GR_X(id, s, l, type, kind) GR_WIDEN(s, type, (double)x)
GR_INTEGERS(GR_X)
#undef GR_X
GR_WIDEN(f16, gr_f16, (double)gr_f16_to_f32(x))
GR_WIDEN(bf16, gr_bf16, (double)gr_bf16_to_f32(x))
GR_WIDEN(f32, float, (double)x)
GR_WIDEN(f64, double, x)
#undef GR_WIDEN

/*
** gr_key_<dtype>: an integer in the order of the elements. Floats: -inf < ... < -0 < +0 < ... < +inf, positive
** NaNs above, negative NaNs below. gr_unkey_float is the way back, to a double.
*/
#define GR_KEY(s, type, expr) \
  GR_FN int64_t gr_key_##s(type x) { return expr; }
GR_FN int64_t gr_key_bits16(uint16_t u) {
  int16_t i = (int16_t)u;
  return (int16_t)(i ^ (int16_t)((i >> 15) & 0x7fff));
}
GR_FN int32_t gr_key_bits32(uint32_t u) {
  int32_t i = (int32_t)u;
  return i ^ ((i >> 31) & INT32_MAX);
}
GR_FN int64_t gr_key_bits64(uint64_t u) {
  int64_t i = (int64_t)u;
  return i ^ ((i >> 63) & INT64_MAX);
}
#define GR_X(id, s, l, type, kind) GR_KEY(s, type, x)
GR_INTEGERS(GR_X)
#undef GR_X
GR_KEY(f16, gr_f16, gr_key_bits16(x.bits))
GR_KEY(bf16, gr_bf16, gr_key_bits16(x.bits))
GR_KEY(f32, float, gr_key_bits32(gr_bits32(x)))
GR_KEY(f64, double, gr_key_bits64(gr_bits64(x)))
#undef GR_KEY

/* The key of +infinity; NaNs are the keys above it and below its bitwise complement. */
GR_FN int64_t gr_key_inf(gr_dtype t) {
  return t == GR_F16 ? 0x7c00 : t == GR_BF16 ? 0x7f80 : t == GR_F32 ? 0x7f800000 : INT64_C(0x7ff0000000000000);
}
GR_FN double gr_unkey_float(gr_dtype t, int64_t key) {
  if (t == GR_F64) return gr_from_bits64((uint64_t)gr_key_bits64((uint64_t)key));
  if (t == GR_F32) return (double)gr_from_bits32((uint32_t)gr_key_bits32((uint32_t)key));
  if (t == GR_F16) {
    gr_f16 h;
    h.bits = (uint16_t)gr_key_bits16((uint16_t)key);
    return (double)gr_f16_to_f32(h);
  }
  {
    gr_bf16 h;
    h.bits = (uint16_t)gr_key_bits16((uint16_t)key);
    return (double)gr_bf16_to_f32(h);
  }
}

/*
** The unsigned key of an element's bits, in its own width: key = bits ^ (negative and flips ? all : top). What is
** above nan without its top bit is NaN.
*/
typedef struct gr_selector {
  uint64_t top, flip, nan;
} gr_selector;
GR_FN gr_selector gr_selector_of(gr_dtype t) {
  gr_selector s = {0, 0, UINT64_MAX};
  switch (t) {
    case GR_U8:
    case GR_U16:
    case GR_U32: return s;
    case GR_I8: s.top = 0x80; return s;
    case GR_I16: s.top = 0x8000; return s;
    case GR_I32: s.top = 0x80000000u; return s;
    case GR_I64: s.top = UINT64_C(1) << 63; return s;
    case GR_F32: s.top = 0x80000000u; break;
    case GR_F64: s.top = UINT64_C(1) << 63; break;
    case GR_F16:
    case GR_BF16: s.top = 0x8000; break;
  }
  s.flip = s.top | (s.top - 1);
  s.nan = (uint64_t)gr_key_inf(t);
  return s;
}
/* The bits that have this key. */
GR_FN uint64_t gr_selected_bits(gr_selector s, uint64_t key) {
  return s.flip && !(key & s.top) ? key ^ s.flip : key ^ s.top;
}

/* ---- partial results ---- */

/* Floats are the last rows of the table of dtypes, from f16 on. */
GR_FN int gr_is_float(gr_dtype t) { return t >= GR_F16; }
static_assert(GR_F16 == GR_DTYPE_COUNT - GR_FLOAT_COUNT, "gr_is_float does not say what the table says");

/* The dtype that stands for all of its size where elements are taken as bits, so that a sign does not matter. */
GR_FN gr_dtype gr_bits_of_size(int size) {
  return size == 1 ? GR_U8 : size == 2 ? GR_U16 : size == 4 ? GR_U32 : GR_I64;
}

/* The identity of TREE sums is -0.0: x + -0.0 is x for every x, so padding never shows. */
GR_FN gr_acc gr_identity(gr_acc_kind kind, int multiplies) {
  gr_acc a;
  a.i[0] = a.i[1] = a.i[2] = 0;
  switch (kind) {
    case GR_ACC_TREE: a.f[0] = multiplies ? 1.0 : -0.0; break;
    case GR_ACC_TRIPLE: a.f[0] = a.f[1] = a.f[2] = -0.0; break;
    case GR_ACC_PAIRED: a.f[0] = -0.0; break;
    case GR_ACC_WRAP: a.i[0] = multiplies; break;
    case GR_ACC_ORDER:
      a.i[0] = INT64_MAX;
      a.i[1] = INT64_MIN;
      break;
    case GR_ACC_POSITION:
      a.i[0] = INT64_MIN;
      a.i[1] = INT64_MAX;
      break;
    case GR_ACC_SCALED: a.f[0] = -gr_from_bits64(UINT64_C(0x7ff0000000000000)); break;
    case GR_ACC_VARIANCE:
    case GR_ACC_WIDE:
    case GR_ACC_NONE: break;
  }
  return a;
}

/* The rounding error of s = x + y, exactly (Knuth's TwoSum). Symmetric in x and y. */
GR_FN double gr_two_sum_error(double x, double y, double s) {
  double b = s - x;
  return (x - (s - b)) + (y - b);
}

/* One more element for a compensated lane. Kahan keeps what was lost, negated; Neumaier sums the losses. */
GR_FN void gr_add_kahan(double *s, double *c, double x) {
  double y = x - *c, t = *s + y;
  *c = (t - *s) - y;
  *s = t;
}
GR_FN void gr_add_neumaier(double *s, double *c, double x) {
  double t = *s + x;
  *c += gr_two_sum_error(*s, x, t);
  *s = t;
}

/* Even edges, as NumPy's linspace makes them; and the integer limits of a bin: ceilings, at the end the floor. */
GR_FN double gr_even_edge(double first, double last, int64_t bins, int64_t k) {
  return k == bins ? last : (double)k * ((last - first) / (double)bins) + first;
}
GR_FN int64_t gr_edge_limit(double edge, int is_last) {
  int64_t i = (int64_t)edge;
  return is_last ? i - ((double)i > edge) : i + ((double)i < edge);
}

/*
** A leaf of 8- or 16-bit integers as a variance: its sum, sum of squares and count are exact integers (below 2^56
** together), so the squared deviations are count * squares - sum^2 over count, with two roundings and no order.
*/
GR_FN gr_acc gr_variance_of(int64_t sum, int64_t squares, int64_t count) {
  gr_acc r;
  r.f[0] = (double)sum;
  r.f[1] = (double)(count * squares - sum * sum) / (double)count;
  r.f[2] = (double)count;
  return r;
}

/*
** Variance of two neighbours from their sums, squared deviations and counts (Chan, Golub, LeVeque 1979):
** no difference of large squares. f = {sum, squared deviations, count}.
*/
GR_FN gr_acc gr_merge_variance(gr_acc a, gr_acc b) {
  gr_acc r;
  double d;
  if (b.f[2] == 0) return a;
  if (a.f[2] == 0) return b;
  d = b.f[0] / b.f[2] - a.f[0] / a.f[2];
  r.f[2] = a.f[2] + b.f[2];
  r.f[1] = (a.f[1] + b.f[1]) + (d * d) * ((a.f[2] * b.f[2]) / r.f[2]);
  r.f[0] = a.f[0] + b.f[0];
  return r;
}

/*
** Two parts of a sum of exponentials, {largest, sum of e^(x - largest)}: one exponential scales the part whose largest
** is smaller down to the other. An element is {x, 1}; a NaN makes the sum NaN. {-inf, 0} changes nothing; equal ones
** are not scaled, so that infinities count as 1 each.
*/
GR_FN_APART gr_acc gr_merge_scaled(gr_acc a, gr_acc b) {
  double d = a.f[0] == b.f[0] ? 0.0 : b.f[0] - a.f[0], scale = gr_exp_down(d > 0 ? -d : d);
  gr_acc r = a;
  r.f[0] = d > 0 ? b.f[0] : a.f[0];
  r.f[1] = (d > 0 ? a.f[1] : b.f[1]) * scale + (d > 0 ? b.f[1] : a.f[1]);
  return r;
}

/* Two partial results become one. Symmetric in a and b for every reducer, bit for bit. */
GR_FN gr_acc gr_merge(gr_reducer red, gr_acc_kind kind, gr_acc a, gr_acc b) {
  gr_acc r = a;
  int k;
  switch (kind) {
    case GR_ACC_TREE:
      if (red == GR_RED_SUM_F32 || red == GR_RED_DOT_F32) r.f[0] = (double)((float)a.f[0] + (float)b.f[0]);
      else r.f[0] = red == GR_RED_PROD ? a.f[0] * b.f[0] : a.f[0] + b.f[0];
      break;
    case GR_ACC_TRIPLE:
      for (k = 0; k < 3; k++) r.f[k] = a.f[k] + b.f[k];
      break;
    case GR_ACC_VARIANCE: r = gr_merge_variance(a, b); break;
    case GR_ACC_SCALED: r = gr_merge_scaled(a, b); break;
    case GR_ACC_PAIRED: {
      double s = a.f[0] + b.f[0], e = gr_two_sum_error(a.f[0], b.f[0], s);
      int kahan = red == GR_RED_SUM_KAHAN || red == GR_RED_DOT_KAHAN;
      r.f[0] = s;
      r.f[1] = kahan ? (a.f[1] + b.f[1]) - e : (a.f[1] + b.f[1]) + e;
      break;
    }
    case GR_ACC_WRAP:
      r.i[0] = red == GR_RED_PROD ? (int64_t)((uint64_t)a.i[0] * (uint64_t)b.i[0])
                                  : (int64_t)((uint64_t)a.i[0] + (uint64_t)b.i[0]);
      break;
    case GR_ACC_WIDE: /* i = {low 32 bits, the rest} */
      r.i[0] = a.i[0] + b.i[0];
      r.i[1] = a.i[1] + b.i[1] + (r.i[0] >> 32);
      r.i[0] &= UINT32_MAX;
      break;
    case GR_ACC_ORDER:
      if (b.i[0] < r.i[0]) r.i[0] = b.i[0];
      if (b.i[1] > r.i[1]) r.i[1] = b.i[1];
      break;
    case GR_ACC_POSITION:
      if (b.i[0] > a.i[0] || (b.i[0] == a.i[0] && b.i[1] < a.i[1])) r = b;
      break;
    case GR_ACC_NONE: break;
  }
  return r;
}

GR_FN gr_acc_kind gr_acc_kind_of(gr_reducer red, gr_dtype t) {
#define GR_X(id, inputs, f, i) \
  case GR_RED_##id: return gr_is_float(t) ? GR_ACC_##f : GR_ACC_##i;
  switch (red) { GR_REDUCERS(GR_X) }
#undef GR_X
  return GR_ACC_NONE;
}

/* The reducer of an operation. The mean of i64 takes a sum that cannot wrap. */
GR_FN gr_reducer gr_reducer_of(gr_op op, gr_dtype t) {
#define GR_X(name, red, f, i, e, by) \
  case GR_OP_##name: return GR_RED_##red;
  if (op == GR_OP_mean && t == GR_I64) return GR_RED_SUMWIDE;
  switch (op) { GR_OPS(GR_X) }
#undef GR_X
  return GR_RED_SUM; /* there is no other op */
}

/* Where segment s of a job lies: its first element, from 0; *n: how many it has. */
GR_FN int64_t gr_segment(const gr_reduce_job *job, int64_t s, int64_t *n) {
  int64_t from = job->offsets_are_i32 ? ((const int32_t *)job->offsets)[s] : ((const int64_t *)job->offsets)[s];
  int64_t end = job->offsets_are_i32 ? ((const int32_t *)job->offsets)[s + 1] : ((const int64_t *)job->offsets)[s + 1];
  *n = end - from;
  return from - 1;
}

/* ---- results ---- */

/* What an operation gives: one number, or two for minmax; is_float says which field of each. */
typedef struct gr_value {
  union {
    double f;
    int64_t i;
  } v[2];
  int is_float;
} gr_value;

GR_FN gr_value gr_value_f(double x) {
  gr_value r;
  r.v[0].f = r.v[1].f = gr_canonical(x);
  r.is_float = 1;
  return r;
}
GR_FN gr_value gr_value_i(int64_t x) {
  gr_value r;
  r.v[0].i = r.v[1].i = x;
  r.is_float = 0;
  return r;
}

/*
** Norms of f64 may overflow or lose small squares on the way. Outside this range the second value of the
** result is 0.0, and the caller repeats the reduction with elements scaled by a power of two.
*/
GR_FN int gr_safe_square(double s) { return s >= 0x1p-900 && s <= 0x1p+1000; }
GR_FN gr_value gr_with_safety(gr_value r, int safe) {
  r.v[1].f = safe ? 1.0 : 0.0;
  return r;
}

/* The smallest and the largest of an ORDER state; a NaN anywhere makes both NaN. */
GR_FN gr_value gr_finish_order(gr_op op, gr_dtype t, gr_acc a) {
  gr_value r = gr_value_i(0);
  if (!gr_is_float(t)) {
    r.v[0].i = op == GR_OP_max ? a.i[1] : a.i[0];
    r.v[1].i = a.i[1];
    if (op == GR_OP_norminf) {
      double lo = fabs((double)a.i[0]), hi = fabs((double)a.i[1]);
      return gr_value_f(lo > hi ? lo : hi);
    }
    return r;
  }
  if (a.i[0] < ~gr_key_inf(t) || a.i[1] > gr_key_inf(t)) return gr_value_f(gr_nan());
  r.is_float = 1;
  r.v[0].f = gr_unkey_float(t, op == GR_OP_max ? a.i[1] : a.i[0]);
  r.v[1].f = gr_unkey_float(t, a.i[1]);
  if (op == GR_OP_norminf) {
    double lo = fabs(r.v[0].f), hi = fabs(r.v[1].f);
    return gr_value_f(lo > hi ? lo : hi);
  }
  return r;
}

enum { GR_EMPTY_ZERO, GR_EMPTY_UNDEFINED, GR_EMPTY_START, GR_EMPTY_RAISE };

/* What op gives of no elements, where its accumulator is not of integers: those count and add from 0 anyway. */
GR_FN int gr_on_empty(gr_op op) {
#define GR_X(name, red, f, i, empty, by) \
  case GR_OP_##name: return GR_EMPTY_##empty;
  switch (op) { GR_OPS(GR_X) }
#undef GR_X
  return GR_EMPTY_ZERO;
}

/* As ddof: the sum of which mean, var, std or mse would be a part, not divided by anything. */
#define GR_UNDIVIDED gr_from_bits64(UINT64_C(0x7ff0000000000000))
GR_FN double gr_divisor(double n, double ddof) { return ddof == GR_UNDIVIDED ? 1.0 : n; }

/* The variance of the elements that its state counts, or its root: NaN of none, -1 where ddof leaves no divisor. */
GR_FN double gr_present_variance(gr_acc a, double ddof, int root) {
  if (a.f[2] == 0 && ddof <= 0) return gr_nan();
  if (a.f[2] <= ddof) return -1.0;
  return root ? sqrt(a.f[1] / (a.f[2] - ddof)) : a.f[1] / (a.f[2] - ddof);
}

/* The result of op over n elements from the state of the whole. */
GR_FN gr_value gr_finish(gr_op op, gr_dtype t, gr_acc a, int64_t n, double ddof) {
  gr_reducer red = gr_reducer_of(op, t);
  gr_acc_kind kind = gr_acc_kind_of(red, t);
  double less;
  if (n == 0 && kind != GR_ACC_WRAP && gr_on_empty(op) != GR_EMPTY_START)
    return gr_value_f(gr_on_empty(op) == GR_EMPTY_UNDEFINED ? gr_nan() : 0.0);
  switch (op) {
    case GR_OP_min:
    case GR_OP_max:
    case GR_OP_minmax:
    case GR_OP_norminf: return gr_finish_order(op, t, a);
    case GR_OP_argmin:
    case GR_OP_argmax: return gr_value_i(a.i[1] + 1);
    case GR_OP_any: return gr_value_i(a.i[0] > 0);
    case GR_OP_all: return gr_value_i(a.i[0] == n);
    case GR_OP_mean:
      less = gr_divisor((double)n, ddof);
      if (kind == GR_ACC_WIDE) return gr_value_f(((double)a.i[1] * 4294967296.0 + (double)a.i[0]) / less);
      return gr_value_f((kind == GR_ACC_WRAP ? (double)a.i[0] : a.f[0]) / less);
    case GR_OP_mse: return gr_value_f(a.f[0] / gr_divisor((double)n, ddof));
    case GR_OP_var: return gr_value_f(a.f[1] / gr_divisor((double)n - ddof, ddof));
    case GR_OP_std: return gr_value_f(sqrt(a.f[1] / gr_divisor((double)n - ddof, ddof)));
    case GR_OP_var_present: return gr_value_f(gr_present_variance(a, ddof, 0));
    case GR_OP_std_present: return gr_value_f(gr_present_variance(a, ddof, 1));
    case GR_OP_logsumexp: return gr_value_f(a.f[0] + gr_log(a.f[1]));
    case GR_OP_norm2: return gr_with_safety(gr_value_f(sqrt(a.f[0])), gr_safe_square(a.f[0]));
    case GR_OP_cosine:
      return gr_with_safety(gr_value_f(a.f[0] / (sqrt(a.f[1]) * sqrt(a.f[2]))),
                            gr_safe_square(a.f[1]) && gr_safe_square(a.f[2]));
    case GR_OP_sum:
    case GR_OP_prod:
    case GR_OP_count:
    case GR_OP_norm1:
    case GR_OP_sumsq:
    case GR_OP_dot:
    case GR_OP_differ:
    case GR_OP_sum_f32:
    case GR_OP_sum_kahan:
    case GR_OP_sum_neumaier:
    case GR_OP_dot_f32:
    case GR_OP_dot_kahan:
    case GR_OP_dot_neumaier: break; /* the accumulator itself */
  }
  if (kind == GR_ACC_PAIRED) { /* an infinite sum has a meaningless compensation */
    int kahan = red == GR_RED_SUM_KAHAN || red == GR_RED_DOT_KAHAN;
    return gr_value_f(a.f[0] - a.f[0] != 0 ? a.f[0] : kahan ? a.f[0] - a.f[1] : a.f[0] + a.f[1]);
  }
  return kind == GR_ACC_WRAP ? gr_value_i(a.i[0]) : gr_value_f(a.f[0]);
}

#endif
