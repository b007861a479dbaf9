/*
** What the element operators of kernels/tables.h share on both sides: in which type each is computed, and conversions
** that round once. f16 and bf16 compute in f32: of two numbers of p bits a sum, product, quotient or root in 2p + 2
** bits or more, rounded again to p, is what one rounding gives (Figueroa 1995), and 24 >= 2 * 11 + 2.
*/
#ifndef GR_MAP_H
#define GR_MAP_H

#include "kernels/numerics/numerics.h"

enum { GR_MAP_SAME, GR_MAP_CALL, GR_MAP_F64, GR_MAP_MASK, GR_MAP_NOT, GR_MAP_NONE };

/* One of those above, by operator and kind of dtype. */
GR_FN int gr_map_rule(gr_map op, gr_dtype t) {
#define GR_X(name, operands, f, i, real, whole) \
  case GR_MAP_##name: return gr_is_float(t) ? GR_MAP_##f : GR_MAP_##i;
  switch (op) { GR_MAPS(GR_X) }
#undef GR_X
  return GR_MAP_NONE;
}

GR_FN int gr_map_operands(gr_map op) {
#define GR_X(name, operands, f, i, real, whole) \
  case GR_MAP_##name: return operands;
  switch (op) { GR_MAPS(GR_X) }
#undef GR_X
  return 0;
}

/* Whether elements become f64 before anything else. */
GR_FN int gr_map_widens(gr_map op, gr_dtype t) { return gr_map_rule(op, t) == GR_MAP_F64; }

/* Whether results are u8, 1 or 0. */
GR_FN int gr_map_masks(gr_map op, gr_dtype t) { return op == GR_MAP_compare || gr_map_rule(op, t) == GR_MAP_MASK; }

/* The dtype of the result (cast: whatever is asked). */
GR_FN gr_dtype gr_map_result(gr_map op, gr_dtype t) {
  return gr_map_masks(op, t) ? GR_U8 : gr_map_rule(op, t) == GR_MAP_F64 ? GR_F64 : t;
}

/* ---- conversions: branches that compilers can turn into selections, so that loops become vector code ---- */

GR_FN float gr_canonical32(float x) { return x == x ? x : gr_from_bits32(0x7fc00000u); }

/* To nearest, ties to even; what overflows becomes infinity, a NaN the quiet NaN. */
GR_FN gr_f16 gr_f32_to_f16(float x) {
  uint32_t u = gr_bits32(x), m = u & 0x7fffffffu, sign = u >> 16 & 0x8000u, r;
  uint32_t normal = (m - 0x38000000u + 0xfffu + (m >> 13 & 1)) >> 13; /* 112 exponents less */
  uint32_t small = gr_bits32(gr_from_bits32(m) + 0.5f) - 0x3f000000u; /* the addition rounds to steps of 2^-24 */
  gr_f16 h;
  r = m < 0x38800000u ? small : normal;
  r = m >= 0x477ff000u ? 0x7c00u : r;
  r = m > 0x7f800000u ? 0x7e00u : r | sign;
  h.bits = (uint16_t)r;
  return h;
}
GR_FN gr_bf16 gr_f32_to_bf16(float x) {
  uint32_t u = gr_bits32(x), r = (u + 0x7fffu + (u >> 16 & 1)) >> 16;
  gr_bf16 h;
  h.bits = (uint16_t)((u & 0x7fffffffu) > 0x7f800000u ? 0x7fc0u : r);
  return h;
}

/* A double that rounds to any narrower float as x itself does: past 53 bits, the last one stands for all that is
   cut. */
GR_FN double gr_sticky(int64_t x) {
  uint64_t m = x < 0 ? 0 - (uint64_t)x : (uint64_t)x;
  double d = m >> 53 ? (double)(int64_t)(m >> 11 | ((m & 2047) != 0)) * 2048.0 : (double)(int64_t)m;
  return x < 0 ? -d : d;
}

/*
** gr_f64_to_<dtype>, gr_i64_to_<dtype>: casts. Floats round to nearest even. Integers take the whole part and the
** nearest number that they have; 0 for NaN.
*/
#if defined(__CUDA_ARCH__) /* whose conversions to 32 bits saturate by themselves */
#define GR_SATURATE_F64(s, type, low, high)  \
  GR_FN type gr_f64_to_##s(double x) {       \
    int32_t y = __double2int_rz(x);          \
    y = low > INT32_MIN ? max(y, low) : y;   \
    y = high < INT32_MAX ? min(y, high) : y; \
    return x == x ? (type)y : (type)0;       \
  }
GR_FN uint32_t gr_f64_to_u32(double x) { return x == x ? __double2uint_rz(x) : 0; }
#else
#define GR_SATURATE_F64(s, type, low, high)       \
  GR_FN type gr_f64_to_##s(double x) {            \
    double y = x < (double)low ? (double)low : x; \
    y = y > (double)high ? (double)high : y;      \
    y = x == x ? y : 0.0;                         \
    return (type)y;                               \
  }
GR_SATURATE_F64(u32, uint32_t, 0, UINT32_MAX)
#endif
#define GR_SATURATE_I64(s, type, low, high)               \
  GR_FN type gr_i64_to_##s(int64_t x) {                   \
    int64_t y = x < (int64_t)low ? (int64_t)low : x;      \
    return (type)(y > (int64_t)high ? (int64_t)high : y); \
  }
#define GR_SATURATE(s, type, low, high) \
  GR_SATURATE_F64(s, type, low, high)   \
  GR_SATURATE_I64(s, type, low, high)
GR_SATURATE(u8, uint8_t, 0, UINT8_MAX)
GR_SATURATE(i8, int8_t, INT8_MIN, INT8_MAX)
GR_SATURATE(u16, uint16_t, 0, UINT16_MAX)
GR_SATURATE(i16, int16_t, INT16_MIN, INT16_MAX)
GR_SATURATE(i32, int32_t, INT32_MIN, INT32_MAX)
GR_SATURATE_I64(u32, uint32_t, 0, UINT32_MAX)
#undef GR_SATURATE
#undef GR_SATURATE_I64
#undef GR_SATURATE_F64
GR_FN int64_t gr_f64_to_i64(double x) {
  return x != x ? 0 : x >= 0x1p63 ? INT64_MAX : x < -0x1p63 ? INT64_MIN : (int64_t)x;
}
GR_FN double gr_f64_to_f64(double x) { return gr_canonical(x); }
GR_FN int64_t gr_i64_to_i64(int64_t x) { return x; }
GR_FN gr_f16 gr_i64_to_f16(int64_t x) { return gr_f64_to_f16(gr_sticky(x)); }
GR_FN gr_bf16 gr_i64_to_bf16(int64_t x) { return gr_f64_to_bf16(gr_sticky(x)); }
GR_FN float gr_i64_to_f32(int64_t x) { return (float)x; }
GR_FN double gr_i64_to_f64(int64_t x) { return (double)x; }

#endif
