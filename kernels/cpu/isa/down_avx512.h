/* Vectors of integers of AVX-512, of which lanes are columns: for reduce/down_kept.inc. */
#define GR_DOWN_KEPT 1

/* n integers of t, at most as many as a vector has; the other lanes are 0. And the same stored. */
#define GR_FIRST(bits, n) ((__mmask##bits)((n) >= bits ? ~UINT64_C(0) : (UINT64_C(1) << (n)) - 1))
GR_INLINE vi vi_load_first(gr_dtype t, const void *p, int n) {
  switch (gr_size_of(t)) {
    case 1: return (vi)_mm512_maskz_loadu_epi8(GR_FIRST(64, n), p);
    case 2: return (vi)_mm512_maskz_loadu_epi16(GR_FIRST(32, n), p);
    case 4: return (vi)_mm512_maskz_loadu_epi32(GR_FIRST(16, n), p);
    default: return (vi)_mm512_maskz_loadu_epi64(GR_FIRST(8, n), p);
  }
}
GR_INLINE void vi_store_first(gr_dtype t, void *p, vi x, int n) {
  switch (gr_size_of(t)) {
    case 1: _mm512_mask_storeu_epi8(p, GR_FIRST(64, n), (__m512i)x); break;
    case 2: _mm512_mask_storeu_epi16(p, GR_FIRST(32, n), (__m512i)x); break;
    case 4: _mm512_mask_storeu_epi32(p, GR_FIRST(16, n), (__m512i)x); break;
    default: _mm512_mask_storeu_epi64(p, GR_FIRST(8, n), (__m512i)x);
  }
}
#undef GR_FIRST

_Static_assert(GR_DTYPE_COUNT == 11, "elements of 32 and 64 bits are the default");
/* The larger or smaller of each two integers of t. */
GR_INLINE vi vi_end(gr_dtype t, int largest, vi x, vi y) {
  const __m512i a = (__m512i)x, b = (__m512i)y;
  switch (t) {
    case GR_U8: return (vi)(largest ? _mm512_max_epu8(a, b) : _mm512_min_epu8(a, b));
    case GR_I8: return (vi)(largest ? _mm512_max_epi8(a, b) : _mm512_min_epi8(a, b));
    case GR_U16: return (vi)(largest ? _mm512_max_epu16(a, b) : _mm512_min_epu16(a, b));
    case GR_I16: return (vi)(largest ? _mm512_max_epi16(a, b) : _mm512_min_epi16(a, b));
    default: return vi_better(t, largest, x, y);
  }
}

_Static_assert(GR_DTYPE_COUNT == 11, "i64 is the default of the integers");
/* Eight integers of t as lanes of 64 bits; their products with others; one in all lanes. */
GR_INLINE vi vi_widened(gr_dtype t, const void *p) {
  const __m128i *q = (const __m128i *)p;
  switch (t) {
    case GR_U8: return (vi)_mm512_cvtepu8_epi64(_mm_loadl_epi64(q));
    case GR_I8: return (vi)_mm512_cvtepi8_epi64(_mm_loadl_epi64(q));
    case GR_U16: return (vi)_mm512_cvtepu16_epi64(_mm_loadu_si128(q));
    case GR_I16: return (vi)_mm512_cvtepi16_epi64(_mm_loadu_si128(q));
    case GR_U32: return (vi)_mm512_cvtepu32_epi64(_mm256_loadu_si256((const __m256i *)p));
    case GR_I32: return (vi)_mm512_cvtepi32_epi64(_mm256_loadu_si256((const __m256i *)p));
    default: return (vi)_mm512_loadu_si512(p);
  }
}
_Static_assert(GR_DTYPE_COUNT == 11, "i64 is the default of the integers that this is for");
/* Fewer, of 16 bits at least; the other lanes are 0. */
GR_INLINE vi vi_widened_first(gr_dtype t, const void *p, int n) {
  const __mmask8 m = (__mmask8)((1u << n) - 1);
  switch (t) {
    case GR_U16: return (vi)_mm512_cvtepu16_epi64(_mm_maskz_loadu_epi16(m, p));
    case GR_I16: return (vi)_mm512_cvtepi16_epi64(_mm_maskz_loadu_epi16(m, p));
    case GR_U32: return (vi)_mm512_cvtepu32_epi64(_mm256_maskz_loadu_epi32(m, p));
    case GR_I32: return (vi)_mm512_cvtepi32_epi64(_mm256_maskz_loadu_epi32(m, p));
    default: return (vi)_mm512_maskz_loadu_epi64(m, p);
  }
}
GR_INLINE vi vi_times(gr_dtype t, vi x, vi y) {
  const __m512i a = (__m512i)x, b = (__m512i)y;
  if (t == GR_I64) return (vi)_mm512_mullo_epi64(a, b);
  return (vi)(t == GR_U8 || t == GR_U16 || t == GR_U32 ? _mm512_mul_epu32(a, b) : _mm512_mul_epi32(a, b));
}
/* Products of sixteen bytes with others, which 32 bits hold thousands of: words, of which the second ones' upper halves
   are 0. */
GR_INLINE vi vi_byte_products(gr_dtype t, const void *p, const void *q) {
  const __m128i x = _mm_loadu_si128((const __m128i *)p), y = _mm_loadu_si128((const __m128i *)q);
  if (t == GR_U8) return (vi)_mm512_madd_epi16(_mm512_cvtepu8_epi32(x), _mm512_cvtepu8_epi32(y));
  return (vi)_mm512_madd_epi16(_mm512_cvtepi8_epi32(x),
                               _mm512_and_si512(_mm512_cvtepi8_epi32(y), _mm512_set1_epi32(0xffff)));
}
GR_INLINE vi vi_every(int64_t x) { return (vi)_mm512_set1_epi64(x); }

/* What elements of t are compared as, of 32 bits or 64, and a vector of them. */
GR_INLINE gr_dtype gr_compared_as(gr_dtype t) {
  if (gr_size_of(t) == 8 || t == GR_U32) return t;
  return gr_is_float(t) ? GR_F32 : GR_I32;
}
_Static_assert(GR_DTYPE_COUNT == 11, "elements of 32 and 64 bits are the default");
GR_INLINE vi vi_load_compared(gr_dtype t, const void *p) {
  const __m128i *q = (const __m128i *)p;
  const __m256i *h = (const __m256i *)p;
  switch (t) {
    case GR_U8: return (vi)_mm512_cvtepu8_epi32(_mm_loadu_si128(q));
    case GR_I8: return (vi)_mm512_cvtepi8_epi32(_mm_loadu_si128(q));
    case GR_U16: return (vi)_mm512_cvtepu16_epi32(_mm256_loadu_si256(h));
    case GR_I16: return (vi)_mm512_cvtepi16_epi32(_mm256_loadu_si256(h));
    case GR_F16:
    case GR_BF16: return (vi)vf_load(t, p);
    default: return vi_load_once(p);
  }
}
/* What turns the order of those around, if the smallest is wanted. */
GR_INLINE vi vi_order(gr_dtype t, int largest) {
  if (largest) return vi_every(0);
  if (t == GR_F64) return vi_every(INT64_MIN);
  return t == GR_F32 ? (vi)_mm512_set1_epi32(INT32_MIN) : vi_every(-1);
}
/* Positions of 32 or 64 bits, as words of 64. */
GR_INLINE void vi_store_places(int size, int64_t *to, vi x) {
  if (size == 8) {
    memcpy(to, &x, sizeof(x));
    return;
  }
  const vi low = (vi)_mm512_cvtepi32_epi64(_mm512_castsi512_si256((__m512i)x)),
           high = (vi)_mm512_cvtepi32_epi64(_mm512_extracti32x8_epi32((__m512i)x, 1));
  memcpy(to, &low, sizeof(low));
  memcpy(to + 8, &high, sizeof(high));
}
