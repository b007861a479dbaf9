/* Words of AVX-512, which are multiplied and added by twos: for reduce/pairs.inc. */
/* n of GR_PAIRS elements of 8 bits or I16 as words, n <= GR_PAIRS; the others are 0. */
#define GR_PAIRS 32
GR_INLINE __m512i gr_words(gr_dtype t, const void *p, int n) {
  const __mmask32 m = (__mmask32)((UINT64_C(1) << n) - 1);
  if (t == GR_I16) return n == GR_PAIRS ? _mm512_loadu_si512(p) : _mm512_maskz_loadu_epi16(m, p);
  __m256i bytes = n == GR_PAIRS ? _mm256_loadu_si256((const __m256i *)p) : _mm256_maskz_loadu_epi8(m, p);
  return t == GR_U8 ? _mm512_cvtepu8_epi16(bytes) : _mm512_cvtepi8_epi16(bytes);
}
GR_INLINE vi vi_as_words(gr_dtype t, const void *p, int n) { return (vi)gr_words(t, p, n); }
/* Products of words, added by twos: 32 bits each, which wrap. */
GR_INLINE vi vi_pairs(vi x, vi y) { return (vi)_mm512_madd_epi16((__m512i)x, (__m512i)y); }
GR_INLINE vi vi_set32(int32_t x) { return (vi)_mm512_set1_epi32(x); }
GR_INLINE vi vi_add32(vi x, vi y) { return (vi)_mm512_add_epi32((__m512i)x, (__m512i)y); }
GR_INLINE vi vi_add_halves(vi sum, vi x) { return sum + (x & UINT32_MAX) + (x >> 32); }
/* Signed halves, added to each other. */
GR_INLINE vi vi_both_halves(vi x) {
  return (vi)_mm512_add_epi64(_mm512_cvtepi32_epi64(_mm512_castsi512_si256((__m512i)x)),
                              _mm512_cvtepi32_epi64(_mm512_extracti32x8_epi32((__m512i)x, 1)));
}
GR_INLINE uint64_t vi_total(vi x) { return (uint64_t)_mm512_reduce_add_epi64((__m512i)x); }
/* Two rows of n columns times two words, added to sums of 32 bits: of quads of columns in turn. */
GR_INLINE void vi_two_rows(gr_dtype t, const void *x, const void *y, int n, uint32_t words, vi *lo, vi *hi) {
  const __m512i a = gr_words(t, x, n), b = gr_words(t, y, n), both = _mm512_set1_epi32((int)words);
  *lo = vi_add32(*lo, (vi)_mm512_madd_epi16(_mm512_unpacklo_epi16(a, b), both));
  *hi = vi_add32(*hi, (vi)_mm512_madd_epi16(_mm512_unpackhi_epi16(a, b), both));
}
/* These, in the order of columns and of 64 bits, stored, or added to what is there (more). */
GR_INLINE void vi_add_columns(int more, vi lo, vi hi, int n, int64_t *to) {
  const __m512i low = _mm512_set_epi32(23, 22, 21, 20, 7, 6, 5, 4, 19, 18, 17, 16, 3, 2, 1, 0);
  const __m512i high = _mm512_add_epi32(low, _mm512_set1_epi32(8));
  const __m512i first = _mm512_permutex2var_epi32((__m512i)lo, low, (__m512i)hi),
                second = _mm512_permutex2var_epi32((__m512i)lo, high, (__m512i)hi);
  GR_UNROLL for (int j = 0; j < 4; j++) {
    const __m512i both = j < 2 ? first : second;
    const __m256i half = j & 1 ? _mm512_extracti32x8_epi32(both, 1) : _mm512_castsi512_si256(both);
    const int left = n - 8 * j;
    const __mmask8 m = (__mmask8)(left >= 8 ? 0xff : left <= 0 ? 0 : (1u << left) - 1);
    const __m512i before = more ? _mm512_maskz_loadu_epi64(m, to + 8 * j) : _mm512_setzero_si512();
    _mm512_mask_storeu_epi64(to + 8 * j, m, _mm512_add_epi64(before, _mm512_cvtepi32_epi64(half)));
  }
}
