/* NEON, which every 64-bit ARM has: 2 doubles or 4 floats, 32 registers. */
#include <arm_neon.h>
#include "kernels/cpu/isa/vec_two.h"

#define GR_GROUP 16

GR_INLINE vd vd_set(double x) { return (vd)vdupq_n_f64(x); }
GR_INLINE vf vf_set(float x) { return (vf)vdupq_n_f32(x); }
GR_INLINE vd vd_abs(vd x) { return (vd)vabsq_f64((float64x2_t)x); }
#define GR_FUSED 1    /* what functions/fused.h asks of the compiler */
#define GR_VD_FUSED 1 /* vd_fused is here: x * y + z rounded once, the same where the product is exact */
GR_INLINE vd vd_fused(vd x, vd y, vd z) { return (vd)vfmaq_f64((float64x2_t)z, (float64x2_t)x, (float64x2_t)y); }
GR_INLINE vd vd_first(int n, vd x, vd y) { /* n is 1: 0 and 2 do not come here */
  (void)n;
  return GR_LANES_OF(vi, x, y, 0, 3);
}
GR_INLINE vf vf_first(int n, vf x, vf y) {
  static const int32_t lane[4] = {0, 1, 2, 3};
  return (vf)vbslq_f32(vcltq_s32(vld1q_s32(lane), vdupq_n_s32(n)), (float32x4_t)x, (float32x4_t)y);
}

/* z where x and y are numbers, else `other`. */
GR_INLINE vd vd_numbers(vd x, vd y, vd z, vd other) {
  return (vd)vbslq_f64((uint64x2_t)((x == x) & (y == y)), (float64x2_t)z, (float64x2_t)other);
}
GR_INLINE vf vf_numbers(vf x, vf y, vf z, vf other) {
  return (vf)vbslq_f32((uint32x4_t)((x == x) & (y == y)), (float32x4_t)z, (float32x4_t)other);
}

/* x where a byte of the mask is not 0, else `other`. */
GR_INLINE vd vd_where(const uint8_t *mask, vd x, vd other) {
  const uint64x2_t m = {0 - (uint64_t)(mask[0] != 0), 0 - (uint64_t)(mask[1] != 0)};
  return (vd)vbslq_f64(m, (float64x2_t)x, (float64x2_t)other);
}
GR_INLINE vf vf_where(const uint8_t *mask, vf x, vf other) {
  uint32_t bytes;
  memcpy(&bytes, mask, 4);
  const uint32x4_t m = vmovl_u16(vget_low_u16(vmovl_u8(vcreate_u8(bytes))));
  return (vf)vbslq_f32(vtstq_u32(m, m), (float32x4_t)x, (float32x4_t)other);
}

/* Two elements in the low end of a vector. */
GR_INLINE int8x8_t gr_load2(const void *p) {
  uint16_t u;
  memcpy(&u, p, 2);
  return vcreate_s8(u);
}
GR_INLINE int16x4_t gr_load4(const void *p) {
  uint32_t u;
  memcpy(&u, p, 4);
  return vcreate_s16(u);
}
GR_INLINE int32x2_t gr_load8(const void *p) {
  uint64_t u;
  memcpy(&u, p, 8);
  return vcreate_s32(u);
}

#define GR_SIGNED(x) (vd) vcvtq_f64_s64(vmovl_s32(x))
#define GR_UNSIGNED(x) (vd) vcvtq_f64_u64(vmovl_u32(x))
GR_INLINE vd vd_load(gr_dtype t, const void *p) {
  switch (t) {
    case GR_U8: return GR_UNSIGNED(vget_low_u32(vmovl_u16(vget_low_u16(vmovl_u8(vreinterpret_u8_s8(gr_load2(p)))))));
    case GR_I8: return GR_SIGNED(vget_low_s32(vmovl_s16(vget_low_s16(vmovl_s8(gr_load2(p))))));
    case GR_U16: return GR_UNSIGNED(vget_low_u32(vmovl_u16(vreinterpret_u16_s16(gr_load4(p)))));
    case GR_I16: return GR_SIGNED(vget_low_s32(vmovl_s16(gr_load4(p))));
    case GR_U32: return GR_UNSIGNED(vreinterpret_u32_s32(gr_load8(p)));
    case GR_I32: return GR_SIGNED(gr_load8(p));
    case GR_I64: return (vd)vcvtq_f64_s64(vld1q_s64((const int64_t *)p));
    case GR_F16: return (vd)vcvt_f64_f32(vget_low_f32(vcvt_f32_f16(vreinterpret_f16_s16(gr_load4(p)))));
    case GR_BF16: return (vd)vcvt_f64_f32(vget_low_f32(vreinterpretq_f32_s32(vshlq_n_s32(vmovl_s16(gr_load4(p)), 16))));
    case GR_F32: return (vd)vcvt_f64_f32(vreinterpret_f32_s32(gr_load8(p)));
    case GR_F64: break;
  }
  return (vd)vld1q_f64((const double *)p);
}
#undef GR_SIGNED
#undef GR_UNSIGNED

/* n of them, n < GR_W, so 1; the other lane is 0. t is F32 or F64. */
GR_INLINE vd vd_load_first(gr_dtype t, const void *p, int n) {
  float f;
  double d;
  (void)n;
  if (t != GR_F32) return memcpy(&d, p, 8), (vd){d, 0};
  return memcpy(&f, p, 4), (vd){f, 0};
}

_Static_assert(GR_FLOAT_COUNT == 4, "f64 is the default");
GR_INLINE vf vf_load(gr_dtype t, const void *p) {
  switch (t) {
    case GR_F16: return (vf)vcvt_f32_f16(vreinterpret_f16_u16(vld1_u16((const uint16_t *)p)));
    case GR_BF16: return (vf)vreinterpretq_f32_u32(vshlq_n_u32(vmovl_u16(vld1_u16((const uint16_t *)p)), 16));
    case GR_F32: return (vf)vld1q_f32((const float *)p);
    default: return (vf)vcvt_high_f32_f64(vcvt_f32_f64(vld1q_f64((const double *)p)), vld1q_f64((const double *)p + 2));
  }
}

GR_INLINE void vd_store_number(gr_dtype t, void *p, vd x) {
  if (t == GR_F64) vst1q_f64((double *)p, (float64x2_t)x);
  else vst1_f32((float *)p, vcvt_f32_f64((float64x2_t)x));
}
#define vd_stream vd_store_number /* no store here goes past the caches by itself */
#define GR_FENCE() ((void)0)
GR_INLINE void vd_store(gr_dtype t, void *p, vd x) {
  const float64x2_t v = (float64x2_t)x;
  vd_store_number(t, p, (vd)vbslq_f64(vceqq_f64(v, v), v, vdupq_n_f64(gr_nan())));
}

/* For smallest and largest: -0 below +0; of a number and a NaN the number. */
#define GR_VECTOR_ORDER 1
#define GR_ZERO_ORDER 1
#define GR_GUESS_VECTORS 0
GR_INLINE vf vf_min(vf x, vf y) { return (vf)vminnmq_f32((float32x4_t)x, (float32x4_t)y); }
GR_INLINE vf vf_max(vf x, vf y) { return (vf)vmaxnmq_f32((float32x4_t)x, (float32x4_t)y); }
GR_INLINE vd vd_min(vd x, vd y) { return (vd)vminnmq_f64((float64x2_t)x, (float64x2_t)y); }
GR_INLINE vd vd_max(vd x, vd y) { return (vd)vmaxnmq_f64((float64x2_t)x, (float64x2_t)y); }
GR_INLINE float vf_least(vf x) { return vminnmvq_f32((float32x4_t)x); }
GR_INLINE float vf_most(vf x) { return vmaxnmvq_f32((float32x4_t)x); }
GR_INLINE double vd_least(vd x) { return vminnmvq_f64((float64x2_t)x); }
GR_INLINE double vd_most(vd x) { return vmaxnmvq_f64((float64x2_t)x); }
/* Lanes where no NaN has been. */
typedef uint32x4_t vf_mask;
typedef uint64x2_t vd_mask;
GR_INLINE vf_mask vf_no_mask(void) { return vdupq_n_u32(UINT32_MAX); }
GR_INLINE vd_mask vd_no_mask(void) { return vdupq_n_u64(UINT64_MAX); }
GR_INLINE vf_mask vf_nan(vf_mask m, vf x, vf y) { return m & (vf_mask)(x == x) & (vf_mask)(y == y); }
GR_INLINE vd_mask vd_nan(vd_mask m, vd x, vd y) { return m & (vd_mask)(x == x) & (vd_mask)(y == y); }
GR_INLINE int vf_any(vf_mask m) { return vminvq_u32(m) == 0; }
GR_INLINE int vd_any(vd_mask m) { return vf_any(vreinterpretq_u32_u64(m)); }

/* The sum of n bytes, each xor-ed with flip. */
GR_INLINE uint64_t gr_sum_bytes(const void *x, int64_t n, char flip) {
  const uint8_t *p = (const uint8_t *)x, change = (uint8_t)flip;
  uint64x2_t one = vdupq_n_u64(0), two = one;
  for (; n >= 2 * 16; n -= 2 * 16, p += 2 * 16) {
    const uint8x16_t u = veorq_u8(vld1q_u8(p), vdupq_n_u8(change)), v = veorq_u8(vld1q_u8(p + 16), vdupq_n_u8(change));
    GR_PREFETCH(p + GR_AHEAD);
    one = vpadalq_u32(one, vpaddlq_u16(vpaddlq_u8(u)));
    two = vpadalq_u32(two, vpaddlq_u16(vpaddlq_u8(v)));
  }
  uint64_t total = vaddvq_u64(vaddq_u64(one, two));
  for (; n > 0; n--, p++) total += *p ^ change;
  return total;
}

/* Which of a vector's elements have these bits: bit k for element k. */
GR_INLINE unsigned gr_match32(const void *p, uint32_t bits) {
  static const uint32_t bit[4] = {1, 2, 4, 8};
  return vaddvq_u32(vandq_u32(vceqq_u32(vld1q_u32((const uint32_t *)p), vdupq_n_u32(bits)), vld1q_u32(bit)));
}
GR_INLINE unsigned gr_match64(const void *p, uint64_t bits) {
  static const uint64_t bit[2] = {1, 2};
  return (unsigned)vaddvq_u64(vandq_u64(vceqq_u64(vld1q_u64((const uint64_t *)p), vdupq_n_u64(bits)), vld1q_u64(bit)));
}
