/* AVX2 with FMA and F16C: 4 doubles or 8 floats, 16 registers. */
#include <immintrin.h>
#include "kernels/cpu/isa/vec_common.h"

#define GR_W 4
#define GR_WF 8
#define GR_GROUP 8

typedef double vd __attribute__((vector_size(32)));
typedef float vf __attribute__((vector_size(32)));

#define GR_MM(name) _mm256_##name
#define GR_ORDERED(s, x, y) _mm256_cmp_##s(x, y, _CMP_ORD_Q)
#define GR_UNORDERED(s, x, y) _mm256_cmp_##s(x, y, _CMP_UNORD_Q)
typedef __m256d vd_mm;
typedef __m256 vf_mm;
typedef __m256i vi_mm;

/* x where the mask has all bits set, `other` where it has none. */
GR_INLINE vd vd_pick(__m256d mask, vd x, vd other) { return (vd)_mm256_blendv_pd((__m256d)other, (__m256d)x, mask); }
GR_INLINE vf vf_pick(__m256 mask, vf x, vf other) { return (vf)_mm256_blendv_ps((__m256)other, (__m256)x, mask); }

#define GR_FUSED 1    /* what functions/fused.h asks of the compiler */
#define GR_VD_FUSED 1 /* vd_fused is here: x * y + z rounded once, the same where the product is exact */
GR_INLINE vd vd_fused(vd x, vd y, vd z) { return (vd)_mm256_fmadd_pd((__m256d)x, (__m256d)y, (__m256d)z); }
GR_INLINE vd vd_first(int n, vd x, vd y) {
  __m256i mask = _mm256_cmpgt_epi64(_mm256_set1_epi64x(n), _mm256_set_epi64x(3, 2, 1, 0));
  return vd_pick(_mm256_castsi256_pd(mask), x, y);
}
GR_INLINE vf vf_first(int n, vf x, vf y) {
  __m256i mask = _mm256_cmpgt_epi32(_mm256_set1_epi32(n), _mm256_set_epi32(7, 6, 5, 4, 3, 2, 1, 0));
  return vf_pick(_mm256_castsi256_ps(mask), x, y);
}

GR_INLINE __m128i gr_load4(const void *p) {
  int32_t u;
  memcpy(&u, p, 4);
  return _mm_cvtsi32_si128(u);
}

/* x where a byte of the mask is not 0, else `other`. */
GR_INLINE vd vd_where(const uint8_t *mask, vd x, vd other) {
  const __m256i none = _mm256_cmpeq_epi64(_mm256_cvtepu8_epi64(gr_load4(mask)), _mm256_setzero_si256());
  return vd_pick(_mm256_castsi256_pd(none), other, x);
}
GR_INLINE vf vf_where(const uint8_t *mask, vf x, vf other) {
  const __m256i m = _mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)(const void *)mask));
  const __m256i none = _mm256_cmpeq_epi32(m, _mm256_setzero_si256());
  return vf_pick(_mm256_castsi256_ps(none), other, x);
}

GR_INLINE vd vd_load(gr_dtype t, const void *p) {
  const __m128i *q = (const __m128i *)p;
  switch (t) {
    case GR_U8: return (vd)_mm256_cvtepi32_pd(_mm_cvtepu8_epi32(gr_load4(p)));
    case GR_I8: return (vd)_mm256_cvtepi32_pd(_mm_cvtepi8_epi32(gr_load4(p)));
    case GR_U16: return (vd)_mm256_cvtepi32_pd(_mm_cvtepu16_epi32(_mm_loadl_epi64(q)));
    case GR_I16: return (vd)_mm256_cvtepi32_pd(_mm_cvtepi16_epi32(_mm_loadl_epi64(q)));
    case GR_U32: { /* 2^52 + u has u in its low bits */
      __m256i u = _mm256_or_si256(_mm256_cvtepu32_epi64(_mm_loadu_si128(q)), _mm256_set1_epi64x(0x4330000000000000));
      return (vd)_mm256_sub_pd(_mm256_castsi256_pd(u), _mm256_set1_pd(4503599627370496.0));
    }
    case GR_I32: return (vd)_mm256_cvtepi32_pd(_mm_loadu_si128(q));
    case GR_I64: {
      int64_t i[4];
      memcpy(i, p, 32);
      return (vd)_mm256_set_pd((double)i[3], (double)i[2], (double)i[1], (double)i[0]);
    }
    case GR_F16: return (vd)_mm256_cvtps_pd(_mm_cvtph_ps(_mm_loadl_epi64(q)));
    case GR_BF16:
      return (vd)_mm256_cvtps_pd(_mm_castsi128_ps(_mm_slli_epi32(_mm_cvtepu16_epi32(_mm_loadl_epi64(q)), 16)));
    case GR_F32: return (vd)_mm256_cvtps_pd(_mm_loadu_ps((const float *)p));
    case GR_F64: break;
  }
  return (vd)_mm256_loadu_pd((const double *)p);
}

/* n of them, n < GR_W; the other lanes are 0. t is F32 or F64. */
GR_INLINE vd vd_load_first(gr_dtype t, const void *p, int n) {
  const __m128i m = _mm_cmpgt_epi32(_mm_set1_epi32(n), _mm_set_epi32(3, 2, 1, 0));
  if (t == GR_F32) return (vd)_mm256_cvtps_pd(_mm_maskload_ps((const float *)p, m));
  return (vd)_mm256_maskload_pd((const double *)p, _mm256_cvtepi32_epi64(m));
}

_Static_assert(GR_FLOAT_COUNT == 4, "f64 is the default");
GR_INLINE vf vf_load(gr_dtype t, const void *p) {
  __m128i h = _mm_loadu_si128((const __m128i *)p);
  switch (t) {
    case GR_F16: return (vf)_mm256_cvtph_ps(h);
    case GR_BF16: return (vf)_mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(h), 16));
    case GR_F32: return (vf)_mm256_loadu_ps((const float *)p);
    default: {
      __m128 low = _mm256_cvtpd_ps(_mm256_loadu_pd((const double *)p));
      __m128 high = _mm256_cvtpd_ps(_mm256_loadu_pd((const double *)p + 4));
      return (vf)_mm256_insertf128_ps(_mm256_castps128_ps256(low), high, 1);
    }
  }
}

/* Numbers, rounded to f16. */
#define GR_ROUNDS_HALVES 1
GR_INLINE void vf_store_f16(void *p, vf x) {
  _mm_storeu_si128((__m128i *)p, _mm256_cvtps_ph((__m256)x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
}

/* Lane l becomes the sum (or product) of lanes 0 .. l, by doubling halves: the upper takes the lower's last. */
GR_INLINE vd vd_scan(int multiply, vd x) {
  vd t = (vd)_mm256_movedup_pd((__m256d)x);
  t = multiply ? x * t : x + t;
  x = (vd)_mm256_blend_pd((__m256d)x, (__m256d)t, 0xa);
  t = (vd)_mm256_permute4x64_pd((__m256d)x, 0x55);
  t = multiply ? x * t : x + t;
  return (vd)_mm256_blend_pd((__m256d)x, (__m256d)t, 0xc);
}
/* All lanes as one number, by halves. */
GR_INLINE double vd_fold(int multiply, vd x) {
  typedef double two __attribute__((vector_size(16)));
  const two a = (two)_mm256_castpd256_pd128((__m256d)x), b = (two)_mm256_extractf128_pd((__m256d)x, 1),
            c = multiply ? a * b : a + b;
  return multiply ? c[0] * c[1] : c[0] + c[1];
}
GR_INLINE vd vd_last(vd x) { return (vd)_mm256_permute4x64_pd((__m256d)x, 0xff); }
/* The last lanes of eight vectors side by side. */
GR_INLINE void vd_lasts(vd *to, const vd *x) {
  GR_UNROLL for (int j = 0; j < 2; j++, x += 4) {
    const __m256d low = _mm256_unpackhi_pd((__m256d)x[0], (__m256d)x[1]),
                  high = _mm256_unpackhi_pd((__m256d)x[2], (__m256d)x[3]);
    to[j] = (vd)_mm256_permute2f128_pd(low, high, 0x31);
  }
}
GR_INLINE vd vd_after(vd before, vd x) {
  return (vd)_mm256_shuffle_pd(_mm256_permute2f128_pd((__m256d)before, (__m256d)x, 0x21), (__m256d)x, 5);
}

typedef uint64_t vi __attribute__((vector_size(32)));
GR_INLINE vi vi_scan(vi x) {
  const vi zero = {0};
  x = x + GR_LANES_OF(vi, zero, x, 3, 4, 5, 6);
  return x + GR_LANES_OF(vi, zero, x, 2, 3, 4, 5);
}
GR_INLINE vi vi_last(vi x) { return GR_LANES_OF(vi, x, x, 3, 3, 3, 3); }
GR_INLINE vi vi_products(const void *x, const void *y) { /* of four pairs of i32 */
  return (vi)_mm256_mul_epi32(_mm256_cvtepi32_epi64(_mm_loadu_si128((const __m128i *)x)),
                              _mm256_cvtepi32_epi64(_mm_loadu_si128((const __m128i *)y)));
}
GR_INLINE vd vd_even(vd x, vd y) { return GR_LANES_OF(vi, x, y, 0, 2, 4, 6); }
GR_INLINE vd vd_odd(vd x, vd y) { return GR_LANES_OF(vi, x, y, 1, 3, 5, 7); }
/* The folded lanes of GR_W vectors, side by side: the sums that vd_fold makes of each. */
GR_INLINE vd vd_folds(const vd *x) {
  const vd a = GR_LANES_OF(vi, x[0], x[1], 0, 1, 4, 5) + GR_LANES_OF(vi, x[0], x[1], 2, 3, 6, 7),
           b = GR_LANES_OF(vi, x[2], x[3], 0, 1, 4, 5) + GR_LANES_OF(vi, x[2], x[3], 2, 3, 6, 7);
  return vd_even(a, b) + vd_odd(a, b);
}

GR_INLINE void vd_store_number(gr_dtype t, void *p, vd x) {
  if (t == GR_F64) _mm256_storeu_pd((double *)p, (__m256d)x);
  else _mm_storeu_ps((float *)p, _mm256_cvtpd_ps((__m256d)x));
}
GR_INLINE void vd_stream(gr_dtype t, void *p, vd x) { /* past the caches; p is aligned to a vector of t */
  if (t == GR_F64) _mm256_stream_pd((double *)p, (__m256d)x);
  else _mm_stream_ps((float *)p, _mm256_cvtpd_ps((__m256d)x));
}
#define GR_FENCE() _mm_sfence()
/*
** Stores for F16 and BF16, eight at a time: first rounded to odd in f32 (towards zero, and the last bit set where
** something was lost), which has bits enough for the second rounding to be the only one that counts (Boldo, Melquiond
** 2008). The bits that f32 lacks become one in the double itself: adding all ones to them carries into the last bit
** that f32 has unless they are 0. What is subnormal in f32 has fewer: to F16 that is 0 however it is rounded, of BF16
** gr_round16 does it.
*/
GR_INLINE __m128 gr_odd(vd x) {
  const __m256i u = _mm256_castpd_si256((__m256d)x), low = _mm256_set1_epi64x(0x1fffffff);
  const __m256i odd = _mm256_or_si256(_mm256_add_epi64(_mm256_and_si256(u, low), low), u);
  return _mm256_cvtpd_ps(_mm256_castsi256_pd(_mm256_andnot_si256(low, odd)));
}
#define GR_HALVES_STORED 8
GR_INLINE void vd_store_halves(gr_dtype t, void *p, const vd *x) {
  __m256 f = _mm256_insertf128_ps(_mm256_castps128_ps256(gr_odd(x[0])), gr_odd(x[1]), 1);
  f = _mm256_blendv_ps(f, _mm256_castsi256_ps(_mm256_set1_epi32(0x7fc00000)), _mm256_cmp_ps(f, f, _CMP_UNORD_Q));
  if (t == GR_F16) {
    _mm_storeu_si128((__m128i *)p, _mm256_cvtps_ph(f, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
  } else {
    const __m256i u = _mm256_castps_si256(f), one = _mm256_set1_epi32(1), most = _mm256_set1_epi32(0x7ffffe);
    const __m256i less = _mm256_sub_epi32(_mm256_and_si256(u, _mm256_set1_epi32(0x7fffffff)), one);
    const __m256i small = _mm256_cmpeq_epi32(_mm256_min_epu32(less, most), less); /* than the least normal, but not 0 */
    const __m256i even = _mm256_and_si256(_mm256_srli_epi32(u, 16), one);
    const __m256i up = _mm256_srli_epi32(_mm256_add_epi32(_mm256_add_epi32(u, _mm256_set1_epi32(0x7fff)), even), 16);
    _mm_storeu_si128((__m128i *)p, _mm_packus_epi32(_mm256_castsi256_si128(up), _mm256_extracti128_si256(up, 1)));
    if (__builtin_expect(!_mm256_testz_si256(small, small), 0)) {
      double each[GR_HALVES_STORED];
      memcpy(each, x, sizeof(each));
      for (int k = 0; k < GR_HALVES_STORED; k++) {
        const uint16_t half = gr_f64_to_bf16(each[k]).bits;
        memcpy((char *)p + 2 * k, &half, sizeof(half));
      }
    }
  }
}

#define GR_HALVES(name, op)                                                                              \
  GR_INLINE float vf_##name(vf v) {                                                                      \
    __m128 x = _mm_##op##_ps(_mm256_castps256_ps128((__m256)v), _mm256_extractf128_ps((__m256)v, 1));    \
    x = _mm_##op##_ps(x, _mm_movehl_ps(x, x));                                                           \
    return _mm_cvtss_f32(_mm_##op##_ss(x, _mm_shuffle_ps(x, x, 1)));                                     \
  }                                                                                                      \
  GR_INLINE double vd_##name(vd v) {                                                                     \
    __m128d x = _mm_##op##_pd(_mm256_castpd256_pd128((__m256d)v), _mm256_extractf128_pd((__m256d)v, 1)); \
    return _mm_cvtsd_f64(_mm_##op##_sd(x, _mm_unpackhi_pd(x, x)));                                       \
  }
GR_HALVES(least, min)
GR_HALVES(most, max)
#undef GR_HALVES
GR_SUM_BYTES_X86(_mm256, 256, GR_PREFETCH(p + GR_AHEAD))

#include "kernels/cpu/isa/vec_x86.h"

GR_INLINE unsigned gr_match64(const void *p, uint64_t bits) {
  const __m256i x = _mm256_loadu_si256((const __m256i *)p);
  return (unsigned)_mm256_movemask_pd(_mm256_castsi256_pd(_mm256_cmpeq_epi64(x, _mm256_set1_epi64x((long long)bits))));
}
