/* SSE2, which every x86-64 has: 2 doubles or 4 floats, 16 registers. */
#include <emmintrin.h>
#include "kernels/cpu/isa/vec_two.h"

#define GR_GROUP 8

#define GR_MM(name) _mm_##name
#define GR_ORDERED(s, x, y) _mm_cmpord_##s(x, y)
#define GR_UNORDERED(s, x, y) _mm_cmpunord_##s(x, y)
typedef __m128d vd_mm;
typedef __m128 vf_mm;
typedef __m128i vi_mm;

/* x where the mask has all bits set, `other` where it has none. */
GR_INLINE vd vd_pick(__m128d mask, vd x, vd other) {
  return (vd)_mm_or_pd(_mm_and_pd(mask, (__m128d)x), _mm_andnot_pd(mask, (__m128d)other));
}
GR_INLINE vf vf_pick(__m128 mask, vf x, vf other) {
  return (vf)_mm_or_ps(_mm_and_ps(mask, (__m128)x), _mm_andnot_ps(mask, (__m128)other));
}

GR_INLINE vd vd_first(int n, vd x, vd y) { /* n is 1: 0 and 2 do not come here */
  (void)n;
  return (vd)_mm_move_sd((__m128d)y, (__m128d)x);
}
GR_INLINE vf vf_first(int n, vf x, vf y) {
  return vf_pick(_mm_castsi128_ps(_mm_cmpgt_epi32(_mm_set1_epi32(n), _mm_set_epi32(3, 2, 1, 0))), x, y);
}

/* x where a byte of the mask is not 0, else `other`. */
GR_INLINE vd vd_where(const uint8_t *mask, vd x, vd other) {
  return vd_pick(_mm_castsi128_pd(_mm_set_epi64x(-(mask[1] != 0), -(mask[0] != 0))), x, other);
}
GR_INLINE vf vf_where(const uint8_t *mask, vf x, vf other) {
  const __m128i zero = _mm_setzero_si128();
  int32_t bytes;
  memcpy(&bytes, mask, 4);
  __m128 none = _mm_castsi128_ps(
      _mm_cmpeq_epi32(_mm_unpacklo_epi16(_mm_unpacklo_epi8(_mm_cvtsi32_si128(bytes), zero), zero), zero));
  return vf_pick(none, other, x);
}

/* The bits of four f16 as f32: gr_f16_to_f32, four at a time. */
GR_INLINE __m128 gr_f16x4(__m128i h) {
  __m128i wide = _mm_unpacklo_epi16(h, _mm_setzero_si128());
  __m128i sign = _mm_slli_epi32(_mm_and_si128(wide, _mm_set1_epi32(0x8000)), 16);
  __m128i rest = _mm_and_si128(wide, _mm_set1_epi32(0x7fff));
  __m128i special = _mm_and_si128(_mm_cmpgt_epi32(rest, _mm_set1_epi32(0x7bff)), _mm_set1_epi32(0x7f800000));
  __m128 scaled = _mm_mul_ps(_mm_castsi128_ps(_mm_slli_epi32(rest, 13)), _mm_set1_ps(5.192296858534828e33f));
  return _mm_or_ps(_mm_or_ps(scaled, _mm_castsi128_ps(special)), _mm_castsi128_ps(sign));
}

#define GR_PAIR(s, type)                                           \
  {                                                                \
    type e[2];                                                     \
    memcpy(e, p, sizeof(e));                                       \
    return (vd)_mm_set_pd(gr_widen_##s(e[1]), gr_widen_##s(e[0])); \
  }

GR_INLINE vd vd_load(gr_dtype t, const void *p) {
  switch (t) {
    case GR_U8: GR_PAIR(u8, uint8_t)
    case GR_I8: GR_PAIR(i8, int8_t)
    case GR_U16: GR_PAIR(u16, uint16_t)
    case GR_I16: GR_PAIR(i16, int16_t)
    case GR_U32: GR_PAIR(u32, uint32_t)
    case GR_I32: return (vd)_mm_cvtepi32_pd(_mm_loadl_epi64((const __m128i *)p));
    case GR_I64: GR_PAIR(i64, int64_t)
    case GR_F16: {
      int32_t u;
      memcpy(&u, p, 4);
      return (vd)_mm_cvtps_pd(gr_f16x4(_mm_cvtsi32_si128(u)));
    }
    case GR_BF16: {
      int32_t u;
      memcpy(&u, p, 4);
      return (vd)_mm_cvtps_pd(_mm_castsi128_ps(_mm_unpacklo_epi16(_mm_setzero_si128(), _mm_cvtsi32_si128(u))));
    }
    case GR_F32: return (vd)_mm_cvtps_pd(_mm_castsi128_ps(_mm_loadl_epi64((const __m128i *)p)));
    case GR_F64: break;
  }
  return (vd)_mm_loadu_pd((const double *)p);
}
#undef GR_PAIR

/* n of them, n < GR_W, so 1; the other lane is 0. t is F32 or F64. */
GR_INLINE vd vd_load_first(gr_dtype t, const void *p, int n) {
  (void)n;
  return t == GR_F32 ? (vd)_mm_cvtps_pd(_mm_load_ss((const float *)p)) : (vd)_mm_load_sd((const double *)p);
}

_Static_assert(GR_FLOAT_COUNT == 4, "f64 is the default");
GR_INLINE vf vf_load(gr_dtype t, const void *p) {
  switch (t) {
    case GR_F16: return (vf)gr_f16x4(_mm_loadl_epi64((const __m128i *)p));
    case GR_BF16:
      return (vf)_mm_castsi128_ps(_mm_unpacklo_epi16(_mm_setzero_si128(), _mm_loadl_epi64((const __m128i *)p)));
    case GR_F32: return (vf)_mm_loadu_ps((const float *)p);
    default: {
      __m128d low = _mm_loadu_pd((const double *)p), high = _mm_loadu_pd((const double *)p + 2);
      return (vf)_mm_movelh_ps(_mm_cvtpd_ps(low), _mm_cvtpd_ps(high));
    }
  }
}

GR_INLINE void vd_store_number(gr_dtype t, void *p, vd x) {
  if (t == GR_F64) _mm_storeu_pd((double *)p, (__m128d)x);
  else _mm_storel_epi64((__m128i *)p, _mm_castps_si128(_mm_cvtpd_ps((__m128d)x)));
}
#define vd_stream vd_store_number /* two f32 are too few to stream */
#define GR_FENCE() ((void)0)
#define GR_HALVES(name, op)                                                                   \
  GR_INLINE float vf_##name(vf v) {                                                           \
    const __m128 x = _mm_##op##_ps((__m128)v, _mm_movehl_ps((__m128)v, (__m128)v));           \
    return _mm_cvtss_f32(_mm_##op##_ss(x, _mm_shuffle_ps(x, x, 1)));                          \
  }                                                                                           \
  GR_INLINE double vd_##name(vd v) {                                                          \
    return _mm_cvtsd_f64(_mm_##op##_sd((__m128d)v, _mm_unpackhi_pd((__m128d)v, (__m128d)v))); \
  }
GR_HALVES(least, min)
GR_HALVES(most, max)
#undef GR_HALVES
GR_SUM_BYTES_X86(_mm, 128, GR_PREFETCH(p + GR_AHEAD))

#include "kernels/cpu/isa/vec_x86.h"

GR_INLINE unsigned gr_match64(const void *p, uint64_t bits) {
  const __m128i x = _mm_cmpeq_epi32(_mm_loadu_si128((const __m128i *)p), _mm_set1_epi64x((long long)bits));
  const __m128i both = _mm_and_si128(x, _mm_shuffle_epi32(x, 0xb1));
  return (unsigned)_mm_movemask_pd(_mm_castsi128_pd(both));
}
