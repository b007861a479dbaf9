/* Sixteen doubles of AVX-512 rounded to F16 or BF16: as vd_store_halves does, in three quarters of the steps. */
#define GR_STORES_TWO 1
GR_INLINE __m256 gr_towards_zero(vd x, __mmask8 *lost) {
  const __m256 f = _mm512_cvt_roundpd_ps((__m512d)x, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC);
  *lost = _mm512_cmp_pd_mask(_mm512_cvtps_pd(f), (__m512d)x, _CMP_NEQ_OQ);
  return f;
}
GR_INLINE void vd_store_two(gr_dtype t, void *p, vd x, vd y) {
  const __m512i one = _mm512_set1_epi32(1);
  __mmask8 lost_low, lost_high;
  const __m256 low = gr_towards_zero(x, &lost_low), high = gr_towards_zero(y, &lost_high);
  const __m512 f = _mm512_insertf32x8(_mm512_castps256_ps512(low), high, 1);
  const __mmask16 nan = _mm512_cmp_ps_mask(f, f, _CMP_UNORD_Q), lost = _mm512_kunpackb(lost_high, lost_low);
  const __m512i u = _mm512_castps_si512(f), odd = _mm512_mask_or_epi32(u, lost, u, one);
  __m256i half;
  if (t == GR_F16) {
    half = _mm512_cvtps_ph(_mm512_castsi512_ps(odd), _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    half = _mm256_mask_mov_epi16(half, nan, _mm256_set1_epi16(0x7e00));
  } else {
    const __m512i upper = _mm512_set_epi32(0, 0, 0, 0, 0, 0, 0, 0, 0x1f001d, 0x1b0019, 0x170015, 0x130011, 0x0f000d,
                                           0x0b0009, 0x070005, 0x030001); /* words */
    const __m512i even = _mm512_and_si512(_mm512_srli_epi32(odd, 16), one);
    const __m512i up = _mm512_add_epi32(_mm512_add_epi32(odd, _mm512_set1_epi32(0x7fff)), even);
    half = _mm512_castsi512_si256(_mm512_permutexvar_epi16(upper, up));
    half = _mm256_mask_mov_epi16(half, nan, _mm256_set1_epi16(0x7fc0));
  }
  _mm256_storeu_si256((__m256i *)p, half);
}
