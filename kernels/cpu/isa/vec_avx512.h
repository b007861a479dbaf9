/* AVX-512: 8 doubles or 16 floats, 32 registers. */
#include <immintrin.h>
#include "kernels/cpu/isa/vec_common.h"

#define GR_W 8
#define GR_WF 16
#define GR_GROUP 16 /* accumulators held at once */

typedef double vd __attribute__((vector_size(64)));
typedef float vf __attribute__((vector_size(64)));

GR_INLINE vd vd_set(double x) { return (vd)_mm512_set1_pd(x); }
GR_INLINE vf vf_set(float x) { return (vf)_mm512_set1_ps(x); }
GR_INLINE vd vd_abs(vd x) { return (vd)_mm512_abs_pd((__m512d)x); }
#define GR_FUSED 1    /* what functions/fused.h asks of the compiler */
#define GR_VD_FUSED 1 /* vd_fused is here: x * y + z rounded once, the same where the product is exact */
GR_INLINE vd vd_fused(vd x, vd y, vd z) { return (vd)_mm512_fmadd_pd((__m512d)x, (__m512d)y, (__m512d)z); }
/* The first n lanes of x, the others of y. */
GR_INLINE vd vd_first(int n, vd x, vd y) {
  return (vd)_mm512_mask_mov_pd((__m512d)y, (__mmask8)((1u << n) - 1), (__m512d)x);
}
GR_INLINE vf vf_first(int n, vf x, vf y) {
  return (vf)_mm512_mask_mov_ps((__m512)y, (__mmask16)((1u << n) - 1), (__m512)x);
}

/* Squares of differences, products or squares of f32, each step rounded to f32: what a reducer adds, as steps. */
#define GR_VD_STEPS 1
GR_INLINE vd vd_steps(int red, const void *p, const void *q) {
  const __m256 a = _mm256_loadu_ps((const float *)p),
               x = red == GR_RED_SQDIFF ? _mm256_sub_ps(a, _mm256_loadu_ps((const float *)q)) : a,
               y = red == GR_RED_DOT ? _mm256_loadu_ps((const float *)q) : x;
  return (vd)_mm512_cvtps_pd(_mm256_mul_ps(x, y));
}

/* z where x and y are numbers, else `other`. */
GR_INLINE vd vd_numbers(vd x, vd y, vd z, vd other) {
  return (vd)_mm512_mask_mov_pd((__m512d)other, _mm512_cmp_pd_mask((__m512d)x, (__m512d)y, _CMP_ORD_Q), (__m512d)z);
}
GR_INLINE vf vf_numbers(vf x, vf y, vf z, vf other) {
  return (vf)_mm512_mask_mov_ps((__m512)other, _mm512_cmp_ps_mask((__m512)x, (__m512)y, _CMP_ORD_Q), (__m512)z);
}
/* x where a byte of the mask is not 0, else `other`. */
GR_INLINE vd vd_where(const uint8_t *mask, vd x, vd other) {
  const __m128i m = _mm_loadl_epi64((const __m128i *)(const void *)mask);
  return (vd)_mm512_mask_mov_pd((__m512d)other, (__mmask8)_mm_test_epi8_mask(m, m), (__m512d)x);
}
GR_INLINE vf vf_where(const uint8_t *mask, vf x, vf other) {
  const __m128i m = _mm_loadu_si128((const __m128i *)(const void *)mask);
  return (vf)_mm512_mask_mov_ps((__m512)other, _mm_test_epi8_mask(m, m), (__m512)x);
}

GR_INLINE __m512i gr_bf16_bits(const void *p) {
  return _mm512_slli_epi32(_mm512_cvtepu16_epi32(_mm256_loadu_si256((const __m256i *)p)), 16);
}

GR_INLINE vd vd_load(gr_dtype t, const void *p) {
  const __m128i *q = (const __m128i *)p;
  const __m256i *h = (const __m256i *)p;
  switch (t) {
    case GR_U8: return (vd)_mm512_cvtepi32_pd(_mm256_cvtepu8_epi32(_mm_loadl_epi64(q)));
    case GR_I8: return (vd)_mm512_cvtepi32_pd(_mm256_cvtepi8_epi32(_mm_loadl_epi64(q)));
    case GR_U16: return (vd)_mm512_cvtepi32_pd(_mm256_cvtepu16_epi32(_mm_loadu_si128(q)));
    case GR_I16: return (vd)_mm512_cvtepi32_pd(_mm256_cvtepi16_epi32(_mm_loadu_si128(q)));
    case GR_U32: return (vd)_mm512_cvtepu32_pd(_mm256_loadu_si256(h));
    case GR_I32: return (vd)_mm512_cvtepi32_pd(_mm256_loadu_si256(h));
    case GR_I64: return (vd)_mm512_cvtepi64_pd(_mm512_loadu_si512(p));
    case GR_F16: return (vd)_mm512_cvtps_pd(_mm256_cvtph_ps(_mm_loadu_si128(q)));
    case GR_BF16:
      return (vd)_mm512_cvtps_pd(_mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(_mm_loadu_si128(q)), 16)));
    case GR_F32: return (vd)_mm512_cvtps_pd(_mm256_loadu_ps((const float *)p));
    case GR_F64: break;
  }
  return (vd)_mm512_loadu_pd(p);
}

/* n of them, n < GR_W; the other lanes are 0. t is a float. */
GR_INLINE vd vd_load_first(gr_dtype t, const void *p, int n) {
  const __mmask8 m = (__mmask8)((1u << n) - 1);
  if (t == GR_F64) return (vd)_mm512_maskz_loadu_pd(m, p);
  if (t == GR_F32) return (vd)_mm512_cvtps_pd(_mm256_maskz_loadu_ps(m, p));
  __m128i halves = _mm_maskz_loadu_epi16(m, p);
  if (t == GR_F16) return (vd)_mm512_cvtps_pd(_mm256_cvtph_ps(halves));
  return (vd)_mm512_cvtps_pd(_mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(halves), 16)));
}

_Static_assert(GR_FLOAT_COUNT == 4, "f64 is the default");
GR_INLINE vf vf_load(gr_dtype t, const void *p) {
  switch (t) {
    case GR_F16: return (vf)_mm512_cvtph_ps(_mm256_loadu_si256((const __m256i *)p));
    case GR_BF16: return (vf)_mm512_castsi512_ps(gr_bf16_bits(p));
    case GR_F32: return (vf)_mm512_loadu_ps(p);
    default: {
      __m256 low = _mm512_cvtpd_ps(_mm512_loadu_pd(p)), high = _mm512_cvtpd_ps(_mm512_loadu_pd((const double *)p + 8));
      return (vf)_mm512_insertf32x8(_mm512_castps256_ps512(low), high, 1);
    }
  }
}

/* n of them, n < GR_WF; the other lanes are 0. */
#define GR_LOADS_FIRST 1
GR_INLINE vf vf_load_first(gr_dtype t, const void *p, int n) {
  const __mmask16 m = (__mmask16)((1u << n) - 1);
  if (t == GR_F32) return (vf)_mm512_maskz_loadu_ps(m, p);
  if (t == GR_F64) {
    const __m256 low = _mm512_cvtpd_ps(_mm512_maskz_loadu_pd((__mmask8)m, p)),
                 high = _mm512_cvtpd_ps(_mm512_maskz_loadu_pd((__mmask8)(m >> 8), (const double *)p + 8));
    return (vf)_mm512_insertf32x8(_mm512_castps256_ps512(low), high, 1);
  }
  __m256i halves = _mm256_maskz_loadu_epi16(m, p);
  return t == GR_F16 ? (vf)_mm512_cvtph_ps(halves) : (vf)_mm512_slli_epi32(_mm512_cvtepu16_epi32(halves), 16);
}

/* The lower half of a vector, or the upper. */
#define GR_ROW_HALVES 1
GR_INLINE vd vf_doubles(vf x, int upper) {
  return (vd)_mm512_cvtps_pd(upper ? _mm512_extractf32x8_ps((__m512)x, 1) : _mm512_castps512_ps256((__m512)x));
}

/* Numbers, rounded to f16. */
#define GR_ROUNDS_HALVES 1
GR_INLINE void vf_store_f16(void *p, vf x) {
  _mm256_storeu_si256((__m256i *)p, _mm512_cvtps_ph((__m512)x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
}

/* Lane l becomes the sum (or product) of lanes 0 .. l, by doubling halves: the upper takes the lower's last. */
#define GR_STEP(mask) v = multiply ? _mm512_mask_mul_pd(v, mask, v, t) : _mm512_mask_add_pd(v, mask, v, t)
GR_INLINE vd vd_scan(int multiply, vd x) {
  __m512d v = (__m512d)x, t = _mm512_movedup_pd(v);
  GR_STEP(0xaa);
  t = _mm512_permutex_pd(v, 0x55);
  GR_STEP(0xcc);
  t = _mm512_permutexvar_pd(_mm512_set1_epi64(3), v);
  GR_STEP(0xf0);
  return (vd)v;
}
#undef GR_STEP
/* All lanes as one number, by halves: each half is narrower than what it was. */
GR_INLINE double vd_fold(int multiply, vd x) {
  typedef double four __attribute__((vector_size(32)));
  typedef double two __attribute__((vector_size(16)));
  const four a = (four)_mm512_castpd512_pd256((__m512d)x), b = (four)_mm512_extractf64x4_pd((__m512d)x, 1),
             c = multiply ? a * b : a + b;
  const two d = (two)_mm256_castpd256_pd128((__m256d)c), e = (two)_mm256_extractf128_pd((__m256d)c, 1),
            f = multiply ? d * e : d + e;
  return multiply ? f[0] * f[1] : f[0] + f[1];
}
GR_INLINE vd vd_last(vd x) { return (vd)_mm512_permutexvar_pd(_mm512_set1_epi64(7), (__m512d)x); }
/* The last lanes of eight vectors side by side. */
GR_INLINE void vd_lasts(vd *to, const vd *x) {
  __m512d p[4], q[2];
  GR_UNROLL for (int j = 0; j < 4; j++) p[j] = _mm512_unpackhi_pd((__m512d)x[2 * j], (__m512d)x[2 * j + 1]);
  GR_UNROLL for (int j = 0; j < 2; j++) q[j] = _mm512_shuffle_f64x2(p[2 * j], p[2 * j + 1], 0xff);
  to[0] = (vd)_mm512_shuffle_f64x2(q[0], q[1], 0x88);
}
/* Each lane moves up by one; lane 0 gets the last lane of `before`. */
GR_INLINE vd vd_after(vd before, vd x) { return (vd)_mm512_alignr_epi64((__m512i)x, (__m512i)before, 7); }

/*
** Four groups of eight woven together, so that most additions of their scans are of whole vectors. Floats: element j of
** the groups' first quads and, above, of their second ones in q[j]; so shuffles move floats, not doubles. Doubles: the
** even elements of two groups in turn in q[0], the odd ones in q[1]; the other two groups in q[2] and q[3].
*/
#define GR_SCAN_WOVEN 1
GR_INLINE void vd_woven_load(gr_dtype t, const void *p, vd *q) {
  if (t == GR_F32) {
    const __m512i first = _mm512_set_epi32(29, 21, 13, 5, 25, 17, 9, 1, 28, 20, 12, 4, 24, 16, 8, 0),
                  third = _mm512_set1_epi32(2);
    const __m512 a = _mm512_loadu_ps(p), b = _mm512_loadu_ps((const float *)p + 16);
    const __m512 x = _mm512_permutex2var_ps(a, first, b),
                 y = _mm512_permutex2var_ps(a, _mm512_add_epi32(first, third), b);
    q[0] = (vd)_mm512_cvtps_pd(_mm512_castps512_ps256(x));
    q[1] = (vd)_mm512_cvtps_pd(_mm512_extractf32x8_ps(x, 1));
    q[2] = (vd)_mm512_cvtps_pd(_mm512_castps512_ps256(y));
    q[3] = (vd)_mm512_cvtps_pd(_mm512_extractf32x8_ps(y, 1));
    return;
  }
  GR_UNROLL for (int j = 0; j < 4; j += 2) {
    const __m512d a = _mm512_loadu_pd((const double *)p + 8 * j), b = _mm512_loadu_pd((const double *)p + 8 * j + 8);
    q[j] = (vd)_mm512_unpacklo_pd(a, b);
    q[j + 1] = (vd)_mm512_unpackhi_pd(a, b);
  }
}
/* x + t in the lanes of mask. As a product with 1: Zen adds on two of its four units, and multiplies on the others. */
GR_INLINE vd vd_add_some(vd x, __mmask8 mask, __m512d t) {
  return (vd)_mm512_mask_fmadd_pd((__m512d)x, mask, _mm512_set1_pd(1), t);
}
/* The groups become their scans: pairs; quads; and all of the first quad added to the second. */
GR_INLINE void vd_woven_scan(gr_dtype t, vd *q) {
  __m512d x;
  if (t == GR_F32) {
    q[1] = q[0] + q[1];
    q[3] = q[2] + q[3];
    q[2] = q[1] + q[2];
    q[3] = q[1] + q[3];
    x = _mm512_shuffle_f64x2((__m512d)q[3], (__m512d)q[3], 0x44);
    GR_UNROLL for (int j = 0; j < 4; j++) q[j] = vd_add_some(q[j], 0xf0, x);
    return;
  }
  GR_UNROLL for (int j = 0; j < 4; j += 2) {
    q[j + 1] = q[j] + q[j + 1];
    x = _mm512_shuffle_f64x2((__m512d)q[j + 1], (__m512d)q[j + 1], 0xa0);
    q[j] = vd_add_some(q[j], 0xcc, x);
    q[j + 1] = vd_add_some(q[j + 1], 0xcc, x);
    x = _mm512_shuffle_f64x2((__m512d)q[j + 1], (__m512d)q[j + 1], 0x55);
    q[j] = vd_add_some(q[j], 0xf0, x);
    q[j + 1] = vd_add_some(q[j + 1], 0xf0, x);
  }
}
/* The totals of eight groups, woven by fours in q. */
GR_INLINE vd vd_woven_totals(gr_dtype t, const vd *q) {
  const __m512d *v = (const __m512d *)q;
  if (t == GR_F32) return (vd)_mm512_shuffle_f64x2(v[3], v[7], 0xee);
  return (vd)_mm512_shuffle_f64x2(_mm512_shuffle_f64x2(v[1], v[3], 0xff), _mm512_shuffle_f64x2(v[5], v[7], 0xff), 0x88);
}
/* The totals of eight groups that lie at p, in order. */
GR_INLINE vd vd_woven_sums(gr_dtype t, const char *p) {
  const int some = 32 * gr_size_of(t);
  __m512d x[4];
  vd q[8];
  vd_woven_load(t, p, q);
  vd_woven_load(t, p + some, q + 4);
  if (t == GR_F32) {
    x[0] = (__m512d)((q[0] + q[1]) + (q[2] + q[3]));
    x[1] = (__m512d)((q[4] + q[5]) + (q[6] + q[7]));
    return (vd)(_mm512_shuffle_f64x2(x[0], x[1], 0x44) + _mm512_shuffle_f64x2(x[0], x[1], 0xee));
  }
  x[0] = (__m512d)(q[0] + q[1]);
  x[1] = (__m512d)(q[2] + q[3]);
  x[2] = (__m512d)(q[4] + q[5]);
  x[3] = (__m512d)(q[6] + q[7]);
  x[0] = _mm512_shuffle_f64x2(x[0], x[1], 0x88) + _mm512_shuffle_f64x2(x[0], x[1], 0xdd);
  x[1] = _mm512_shuffle_f64x2(x[2], x[3], 0x88) + _mm512_shuffle_f64x2(x[2], x[3], 0xdd);
  return (vd)(_mm512_shuffle_f64x2(x[0], x[1], 0x88) + _mm512_shuffle_f64x2(x[0], x[1], 0xdd));
}
/* What q[j] has to be added to, 0 .. 7, from what lies before each of eight groups. */
GR_INLINE vd vd_woven_base(gr_dtype t, int j, vd before) {
  const __m512d x = (__m512d)before;
  if (t == GR_F32) return (vd)(j < 4 ? _mm512_shuffle_f64x2(x, x, 0x44) : _mm512_shuffle_f64x2(x, x, 0xee));
  return (vd)(j < 2   ? _mm512_shuffle_f64x2(x, x, 0x00)
              : j < 4 ? _mm512_shuffle_f64x2(x, x, 0x55)
              : j < 6 ? _mm512_shuffle_f64x2(x, x, 0xaa)
                      : _mm512_shuffle_f64x2(x, x, 0xff));
}
GR_INLINE void vd_woven_store(gr_dtype t, int past, void *p, const vd *q) {
  const __m512i pairs = _mm512_set_epi32(23, 7, 19, 3, 22, 6, 18, 2, 21, 5, 17, 1, 20, 4, 16, 0);
  const __m512i low = _mm512_set_epi64(11, 3, 10, 2, 9, 1, 8, 0), high = _mm512_set_epi64(15, 7, 14, 6, 13, 5, 12, 4);
  const int count = t == GR_F32 ? 2 : 4;
  __m512d x[4];
  if (t == GR_F32) {
    __m512 f[4];
    GR_UNROLL for (int j = 0; j < 4; j++) f[j] = _mm512_castps256_ps512(_mm512_cvtpd_ps((__m512d)q[j]));
    __m512d a = _mm512_castps_pd(_mm512_permutex2var_ps(f[0], pairs, f[1]));
    __m512d b = _mm512_castps_pd(_mm512_permutex2var_ps(f[2], pairs, f[3]));
    x[0] = _mm512_permutex2var_pd(a, low, b);
    x[1] = _mm512_permutex2var_pd(a, high, b);
  } else {
    GR_UNROLL for (int j = 0; j < 4; j += 2) {
      x[j] = _mm512_unpacklo_pd((__m512d)q[j], (__m512d)q[j + 1]);
      x[j + 1] = _mm512_unpackhi_pd((__m512d)q[j], (__m512d)q[j + 1]);
    }
  }
  if (past) GR_UNROLL for (int j = 0; j < count; j++) _mm512_stream_pd((double *)p + 8 * j, x[j]);
  else GR_UNROLL for (int j = 0; j < count; j++) _mm512_storeu_pd((double *)p + 8 * j, x[j]);
}

/* The same for integers that wrap: lane l becomes the sum of lanes 0 .. l. */
typedef uint64_t vi __attribute__((vector_size(64)));
GR_INLINE vi vi_scan(vi x) {
  const vi zero = {0};
  x = x + GR_LANES_OF(vi, zero, x, 7, 8, 9, 10, 11, 12, 13, 14);
  x = x + GR_LANES_OF(vi, zero, x, 6, 7, 8, 9, 10, 11, 12, 13);
  return x + GR_LANES_OF(vi, zero, x, 4, 5, 6, 7, 8, 9, 10, 11);
}
GR_INLINE vi vi_last(vi x) { return GR_LANES_OF(vi, x, x, 7, 7, 7, 7, 7, 7, 7, 7); }
/*
** The sums 0 .. k of sixteen integers in lane k of two vectors, each with `before` added; that becomes the last of
** them. Shuffles have one port, so: bytes by the instruction that adds eight, of as many as the lane wants; words as
** even and odd ones, whose sums are scanned.
*/
#define GR_SCAN_NARROW 1
GR_INLINE void vi_scan_bytes(int flip, const void *p, vi *before, vi *out) {
  const __m512i first = _mm512_set_epi64(-1, (1LL << 56) - 1, (1LL << 48) - 1, (1LL << 40) - 1, (1LL << 32) - 1,
                                         (1LL << 24) - 1, (1LL << 16) - 1, 255),
                zero = _mm512_setzero_si512();
  GR_UNROLL for (int j = 0; j < 2; j++) {
    long long eight;
    memcpy(&eight, (const char *)p + 8 * j, 8);
    __m512i all = _mm512_set1_epi64(eight);
    if (flip) all = _mm512_xor_si512(all, _mm512_set1_epi8(-128));
    out[j] = *before + (vi)_mm512_sad_epu8(_mm512_and_si512(all, first), zero);
    *before = *before + (vi)_mm512_sad_epu8(all, zero);
    if (flip) out[j] = out[j] - (vi)_mm512_set_epi64(1024, 896, 768, 640, 512, 384, 256, 128);
    if (flip) *before = *before - 1024;
  }
}
/* What vi_scan_words keeps between vectors: sums of one, two and four pairs, and the results at pairs' ends. */
typedef struct vi_words {
  vi one, two, four, all;
} vi_words;
/* Each lane becomes the one n lanes before it; the first n come from old. */
#define GR_BEFORE(x, old, n) ((vi)_mm512_alignr_epi64((__m512i)(x), (__m512i)(old), 8 - (n)))
GR_INLINE void vi_scan_words(int sign, const void *p, vi_words *w, vi *out) {
  const __m512i x = _mm512_loadu_si512(p);
  const vi even =
      sign ? (vi)_mm512_mul_epi32(x, _mm512_set1_epi64(1)) : (vi)_mm512_and_si512(x, _mm512_set1_epi64(UINT32_MAX));
  const vi odd = sign ? (vi)_mm512_srai_epi64(x, 32) : (vi)_mm512_srli_epi64(x, 32);
  const vi one = even + odd, two = one + GR_BEFORE(one, w->one, 1), four = two + GR_BEFORE(two, w->two, 2);
  const vi all = w->all + (four + GR_BEFORE(four, w->four, 4)), low = all - odd;
  *w = (vi_words){one, two, four, all};
  out[0] = GR_LANES_OF(vi, low, all, 0, 8, 1, 9, 2, 10, 3, 11);
  out[1] = GR_LANES_OF(vi, low, all, 4, 12, 5, 13, 6, 14, 7, 15);
}
#undef GR_BEFORE
/* Products of eight pairs of i32: vectorisers take the multiplication of 64 bits, which is three times the work. */
GR_INLINE vi vi_products(const void *x, const void *y) {
  return (vi)_mm512_mul_epi32(_mm512_cvtepi32_epi64(_mm256_loadu_si256((const __m256i *)x)),
                              _mm512_cvtepi32_epi64(_mm256_loadu_si256((const __m256i *)y)));
}
/* The even lanes of x, then those of y; the odd ones. */
GR_INLINE vd vd_even(vd x, vd y) { return GR_LANES_OF(vi, x, y, 0, 2, 4, 6, 8, 10, 12, 14); }
GR_INLINE vd vd_odd(vd x, vd y) { return GR_LANES_OF(vi, x, y, 1, 3, 5, 7, 9, 11, 13, 15); }
/* The folded lanes of GR_W vectors, side by side: the sums that vd_fold makes of each. */
#define GR_FOLDS(name, type)                                                       \
  GR_INLINE type name(const type *x) {                                             \
    type two[4], four[2];                                                          \
    int j;                                                                         \
    GR_UNROLL for (j = 0; j < 4; j++, x += 2) {                                    \
      two[j] = GR_LANES_OF(vi, x[0], x[1], 0, 1, 2, 3, 8, 9, 10, 11);              \
      two[j] = two[j] + GR_LANES_OF(vi, x[0], x[1], 4, 5, 6, 7, 12, 13, 14, 15);   \
    }                                                                              \
    GR_UNROLL for (j = 0, x = two; j < 2; j++, x += 2) {                           \
      four[j] = GR_LANES_OF(vi, x[0], x[1], 0, 1, 4, 5, 8, 9, 12, 13);             \
      four[j] = four[j] + GR_LANES_OF(vi, x[0], x[1], 2, 3, 6, 7, 10, 11, 14, 15); \
    }                                                                              \
    x = four;                                                                      \
    return GR_LANES_OF(vi, x[0], x[1], 0, 2, 4, 6, 8, 10, 12, 14) +                \
           GR_LANES_OF(vi, x[0], x[1], 1, 3, 5, 7, 9, 11, 13, 15);                 \
  }
GR_FOLDS(vd_folds, vd)
GR_FOLDS(vi_folds, vi)
#undef GR_FOLDS

/* Rounded to t, which is F32 or F64: numbers as they are; every NaN becomes the canonical one. */
GR_INLINE void vd_store_number(gr_dtype t, void *p, vd x) {
  if (t == GR_F64) _mm512_storeu_pd(p, (__m512d)x);
  else _mm256_storeu_ps((float *)p, _mm512_cvtpd_ps((__m512d)x));
}
/* Past the caches; p is aligned to a vector of t. */
GR_INLINE void vd_stream(gr_dtype t, void *p, vd x) {
  if (t == GR_F64) _mm512_stream_pd((double *)p, (__m512d)x);
  else _mm256_stream_ps((float *)p, _mm512_cvtpd_ps((__m512d)x));
}
#define GR_FENCE() _mm_sfence()
/* Every NaN becomes the canonical one. */
GR_INLINE vd vd_canonical(vd x) {
  const __m512d v = (__m512d)x;
  return (vd)_mm512_mask_mov_pd(v, _mm512_cmp_pd_mask(v, v, _CMP_UNORD_Q), _mm512_set1_pd(gr_nan()));
}
GR_INLINE void vd_store(gr_dtype t, void *p, vd x) { vd_store_number(t, p, vd_canonical(x)); }

/*
** The same for F16 and BF16: first rounded to odd in f32 (towards zero, and the last bit set where something was lost),
** which has bits enough for the second rounding to be the only one that counts (Boldo, Melquiond 2008).
*/
#define GR_HALVES_STORED 8
GR_INLINE void vd_store_halves(gr_dtype t, void *p, const vd *x) {
  const __m512d v = (__m512d)*x;
  const __m256 f = _mm512_cvt_roundpd_ps(v, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC);
  const __mmask8 nan = _mm512_cmp_pd_mask(v, v, _CMP_UNORD_Q),
                 lost = _mm512_cmp_pd_mask(_mm512_cvtps_pd(f), v, _CMP_NEQ_OQ);
  const __m256i u = _mm256_castps_si256(f), one = _mm256_set1_epi32(1), odd = _mm256_mask_or_epi32(u, lost, u, one);
  __m128i half;
  if (t == GR_F16) {
    half = _mm256_cvtps_ph(_mm256_castsi256_ps(odd), _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    half = _mm_mask_mov_epi16(half, nan, _mm_set1_epi16(0x7e00));
  } else {
    const __m256i even = _mm256_and_si256(_mm256_srli_epi32(odd, 16), one);
    const __m256i up = _mm256_add_epi32(_mm256_add_epi32(odd, _mm256_set1_epi32(0x7fff)), even);
    half = _mm256_cvtepi32_epi16(_mm256_srli_epi32(up, 16));
    half = _mm_mask_mov_epi16(half, nan, _mm_set1_epi16(0x7fc0));
  }
  _mm_storeu_si128((__m128i *)p, half);
}

/* For smallest and largest: -0 below +0; of a number and a NaN the number. */
#define GR_VECTOR_ORDER 1
#define GR_ZERO_ORDER 1
GR_INLINE vf vf_min(vf x, vf y) { return (vf)_mm512_range_ps((__m512)x, (__m512)y, 4); }
GR_INLINE vf vf_max(vf x, vf y) { return (vf)_mm512_range_ps((__m512)x, (__m512)y, 5); }
GR_INLINE vd vd_min(vd x, vd y) { return (vd)_mm512_range_pd((__m512d)x, (__m512d)y, 4); }
GR_INLINE vd vd_max(vd x, vd y) { return (vd)_mm512_range_pd((__m512d)x, (__m512d)y, 5); }
/* Lanes where no NaN has been: one instruction compares and remembers. */
typedef __mmask16 vf_mask;
typedef __mmask8 vd_mask;
GR_INLINE vf_mask vf_no_mask(void) { return 0xffff; }
GR_INLINE vd_mask vd_no_mask(void) { return 0xff; }
GR_INLINE vf_mask vf_nan(vf_mask m, vf x, vf y) { return _mm512_mask_cmp_ps_mask(m, (__m512)x, (__m512)y, _CMP_ORD_Q); }
GR_INLINE vd_mask vd_nan(vd_mask m, vd x, vd y) {
  return _mm512_mask_cmp_pd_mask(m, (__m512d)x, (__m512d)y, _CMP_ORD_Q);
}
/* x in those lanes, `other` in the rest. */
#define GR_LANE_MASKS 1 /* masks have a bit for each lane */
GR_INLINE vf vf_clean(vf_mask m, vf x, vf other) { return (vf)_mm512_mask_mov_ps((__m512)other, m, (__m512)x); }
GR_INLINE vd vd_clean(vd_mask m, vd x, vd other) { return (vd)_mm512_mask_mov_pd((__m512d)other, m, (__m512d)x); }
GR_INLINE int vf_any(vf_mask m) { return m != 0xffff; }
GR_INLINE int vd_any(vd_mask m) { return m != 0xff; }
/* The larger or smaller of numbers of 32 or 64 bits, of floats with -0 below +0; z where two differ, else w. */
GR_INLINE vi vi_better(gr_dtype t, int largest, vi x, vi y) {
  const __m512i a = (__m512i)x, b = (__m512i)y;
  if (t == GR_F32) return (vi)(largest ? vf_max((vf)x, (vf)y) : vf_min((vf)x, (vf)y));
  if (t == GR_F64) return (vi)(largest ? vd_max((vd)x, (vd)y) : vd_min((vd)x, (vd)y));
  if (t == GR_U32) return (vi)(largest ? _mm512_max_epu32(a, b) : _mm512_min_epu32(a, b));
  if (t == GR_I32) return (vi)(largest ? _mm512_max_epi32(a, b) : _mm512_min_epi32(a, b));
  return (vi)(largest ? _mm512_max_epi64(a, b) : _mm512_min_epi64(a, b));
}
GR_INLINE vi vi_where_not(int size, vi x, vi y, vi z, vi w) {
  const __m512i a = (__m512i)x, b = (__m512i)y;
  if (size == 4) return (vi)_mm512_mask_mov_epi32((__m512i)w, _mm512_cmpneq_epi32_mask(a, b), (__m512i)z);
  return (vi)_mm512_mask_mov_epi64((__m512i)w, _mm512_cmpneq_epi64_mask(a, b), (__m512i)z);
}
/* Kept in a register: compilers would rather read memory twice, which the first cache is too slow for. */
GR_INLINE vi vi_load_once(const void *p) {
  __m512i x = _mm512_loadu_si512(p);
  __asm__("" : "+v"(x));
  return (vi)x;
}
/* Lanes of so many bytes: all k; their sums. */
GR_INLINE vi vi_all(int size, int k) { return (vi)(size == 4 ? _mm512_set1_epi32(k) : _mm512_set1_epi64(k)); }
GR_INLINE vi vi_sum(int size, vi x, vi y) { return size == 4 ? (vi)_mm512_add_epi32((__m512i)x, (__m512i)y) : x + y; }
#define GR_HALVES(name, op)                                                 \
  GR_INLINE float vf_##name(vf x) {                                         \
    x = vf_##op(x, (vf)_mm512_shuffle_f32x4((__m512)x, (__m512)x, 0x4e));   \
    x = vf_##op(x, (vf)_mm512_shuffle_f32x4((__m512)x, (__m512)x, 0xb1));   \
    x = vf_##op(x, (vf)_mm512_permute_ps((__m512)x, 0x4e));                 \
    x = vf_##op(x, (vf)_mm512_permute_ps((__m512)x, 0xb1));                 \
    return x[0];                                                            \
  }                                                                         \
  GR_INLINE double vd_##name(vd x) {                                        \
    x = vd_##op(x, (vd)_mm512_shuffle_f64x2((__m512d)x, (__m512d)x, 0x4e)); \
    x = vd_##op(x, (vd)_mm512_shuffle_f64x2((__m512d)x, (__m512d)x, 0xb1)); \
    x = vd_##op(x, (vd)_mm512_permute_pd((__m512d)x, 0x55));                \
    return x[0];                                                            \
  }
GR_HALVES(least, min)
GR_HALVES(most, max)
#undef GR_HALVES

GR_SUM_BYTES_X86(_mm512, 512, fetch_ahead(p, 2 * bytes))

/* Which of a vector's elements have these bits: bit k for element k. */
GR_INLINE unsigned gr_match32(const void *p, uint32_t bits) {
  return _mm512_cmpeq_epi32_mask(_mm512_loadu_si512(p), _mm512_set1_epi32((int)bits));
}
GR_INLINE unsigned gr_match64(const void *p, uint64_t bits) {
  return _mm512_cmpeq_epi64_mask(_mm512_loadu_si512(p), _mm512_set1_epi64((long long)bits));
}

/*
** The bins of a vector of samples from their positions (gr_positions). Returns which lanes of `sure` are still certain:
** those not in doubt and within both ends, and NaN. What no int32_t holds becomes the least int32_t, which as an
** unsigned number is past the end.
*/
#define GR_GUESS_VECTORS 1
#define GR_GUESS_LANES(name, sample, mask, bits, s, type, scalar, size, fetch, always)                               \
  GR_INLINE mask name(gr_positions p, const sample *x, mask live, mask sure, int32_t *index) {                       \
    const type v = fetch;                                                                                            \
    const type at = _mm512_fmadd_##s(v, _mm512_set1_##s((scalar)p.scale), _mm512_set1_##s((scalar)p.start));         \
    const mask nan = _mm512_cmp_##s##_mask(v, v, _CMP_UNORD_Q);                                                      \
    const __m##size##i position = _mm512_cvt_round##s##_epi32(at, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC);        \
    const mask far = _mm##size##_test_epi32_mask(position, _mm##size##_set1_epi32((int)p.doubt));                    \
    const mask clear = _kor_mask##bits(far, always);                                                                 \
    const __m##size##i bin = _mm##size##_srl_epi32(position, _mm_cvtsi32_si128(p.shift));                            \
    const __m##size##i end = _mm##size##_set1_epi32((int)p.end);                                                     \
    const mask within = _mm##size##_mask_cmplt_epu32_mask(_kand_mask##bits(clear, sure), position, end);             \
    _mm##size##_storeu_si##size((void *)index, _mm##size##_mask_mov_epi32(bin, nan, _mm##size##_set1_epi32(p.nan))); \
    return _kor_mask##bits(within, _kand_mask##bits(nan, sure));                                                     \
  }
#define GR_FETCH(load, maskz, type) live == (type)-1 ? load(x) : maskz(live, x)
GR_GUESS_LANES(gr_guess_f64, double, __mmask8, 8, pd, __m512d, double, 256,
               GR_FETCH(_mm512_loadu_pd, _mm512_maskz_loadu_pd, __mmask8), 0)
GR_GUESS_LANES(gr_guess_f32, float, __mmask16, 16, ps, __m512, float, 512,
               GR_FETCH(_mm512_loadu_ps, _mm512_maskz_loadu_ps, __mmask16), (__mmask16)p.exact)
GR_GUESS_LANES(gr_guess_wide, float, __mmask8, 8, pd, __m512d, double, 256,
               _mm512_cvtps_pd(GR_FETCH(_mm256_loadu_ps, _mm256_maskz_loadu_ps, __mmask8)), 0)
#undef GR_FETCH
#undef GR_GUESS_LANES
