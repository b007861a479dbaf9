/*
** What exponentials ask of sets that multiply and add at once: that for floats (vf_fused), and whether all lanes of n
** vectors are `least` or more (vd_all_from, vf_all_from).
*/
#ifndef GR_CPU_BOUNDS_H
#define GR_CPU_BOUNDS_H

#if GR_W == 8
GR_INLINE vf vf_fused(vf x, vf y, vf z) { return (vf)_mm512_fmadd_ps((__m512)x, (__m512)y, (__m512)z); }
GR_INLINE int vd_all_from(int n, const vd *x, double least) {
  __mmask8 m = 0xff;
  GR_UNROLL for (int j = 0; j < n; j++) m =
      _mm512_mask_cmp_pd_mask(m, (__m512d)x[j], _mm512_set1_pd(least), _CMP_GE_OQ);
  return m == 0xff;
}
GR_INLINE int vf_all_from(int n, const vf *x, float least) {
  __mmask16 m = 0xffff;
  GR_UNROLL for (int j = 0; j < n; j++) m = _mm512_mask_cmp_ps_mask(m, (__m512)x[j], _mm512_set1_ps(least), _CMP_GE_OQ);
  return m == 0xffff;
}
#elif GR_CPU_X86
GR_INLINE vf vf_fused(vf x, vf y, vf z) { return (vf)_mm256_fmadd_ps((__m256)x, (__m256)y, (__m256)z); }
GR_INLINE int vd_all_from(int n, const vd *x, double least) {
  int all = 0xf;
  GR_UNROLL for (int j = 0; j < n; j++) {
    all &= _mm256_movemask_pd(_mm256_cmp_pd((__m256d)x[j], _mm256_set1_pd(least), _CMP_GE_OQ));
  }
  return all == 0xf;
}
GR_INLINE int vf_all_from(int n, const vf *x, float least) {
  int all = 0xff;
  GR_UNROLL for (int j = 0; j < n; j++) {
    all &= _mm256_movemask_ps(_mm256_cmp_ps((__m256)x[j], _mm256_set1_ps(least), _CMP_GE_OQ));
  }
  return all == 0xff;
}
#else
GR_INLINE vf vf_fused(vf x, vf y, vf z) { return (vf)vfmaq_f32((float32x4_t)z, (float32x4_t)x, (float32x4_t)y); }
GR_INLINE int vd_all_from(int n, const vd *x, double least) {
  uint64x2_t all = vdupq_n_u64(UINT64_MAX);
  GR_UNROLL for (int j = 0; j < n; j++) all = vandq_u64(all, vcgeq_f64((float64x2_t)x[j], vdupq_n_f64(least)));
  return vminvq_u32(vreinterpretq_u32_u64(all)) != 0;
}
GR_INLINE int vf_all_from(int n, const vf *x, float least) {
  uint32x4_t all = vdupq_n_u32(UINT32_MAX);
  GR_UNROLL for (int j = 0; j < n; j++) all = vandq_u32(all, vcgeq_f32((float32x4_t)x[j], vdupq_n_f32(least)));
  return vminvq_u32(all) != 0;
}
#endif

#endif
