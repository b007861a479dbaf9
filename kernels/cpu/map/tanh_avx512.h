/*
** tanh of f32 by AVX-512: gr_tanh_f32, operation for operation, but for what changes no bit. Compilers make 32 of the
** C and a division, here there are 26: the magnitude and the limit are one, a choice comes with the last subtraction, r
** is halved (so x need not be doubled), 2^k is shifted out of n, whose last bits are k + 128, and NaN are looked for in
** two vectors at once.
*/
#ifndef GR_TANH_AVX512_H
#define GR_TANH_AVX512_H

#include "kernels/numerics/map.h"

static inline __m512 tanh_same(__m512 x) { return x; }
static inline __m512 tanh_spread(float x) { return _mm512_set1_ps(x); }
#define VECTOR(x) _Generic((x), float : tanh_spread, default : tanh_same)(x)
#define FMA(x, y, z) _mm512_fmadd_ps(VECTOR(x), VECTOR(y), VECTOR(z))
#include "kernels/numerics/functions/constants_f32.h"

static inline __m512 tanh_of(__m512 x) {
  const __m512i signs = _mm512_set1_epi32(INT32_MIN);
  const __m512 magic = VECTOR(12582912.0f + 128.0f);        /* an even number more: ties go where they went */
  const __m512 a = _mm512_range_ps(x, VECTOR(10.0f), 0x0a); /* the lesser magnitude, positive */
  const __m512 n = FMA(a, 2 * INV_LN2, magic), r = FMA(n - magic, LN2_HIGH / -2, a);   /* half of r */
  const __m512 e = _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_castps_si512(n), 23)); /* 2^(k + 1) */
  const __m512 d = FMA(e, FMA(r * r, EXP_SHORT(r, 2.0f), r), FMA(e, 0.5f, 1.0f)), q = VECTOR(2.0f) / d;
  const __m512 z = x * x, near = FMA(x * z, TANH_POLY(z), x);
  const __m512 y = _mm512_mask_sub_ps(near, _mm512_cmp_ps_mask(z, VECTOR(1.0f), _CMP_GT_OQ), VECTOR(1.0f), q);
  /* the sign of x, all else of y */
  return _mm512_castsi512_ps(_mm512_ternarylogic_epi32(_mm512_castps_si512(y), _mm512_castps_si512(x), signs, 0xd8));
}

static void tanh_f32(const void *pa, const void *pb, const void *pc, void *po, int64_t n) {
  const float *a = (const float *)pa;
  float *out = (float *)po;
  __mmask16 numbers = 0xffff;
  int64_t k = 0;
  (void)pb;
  (void)pc;
  for (; k + 32 <= n; k += 32) {
    const __m512 x = _mm512_loadu_ps(a + k), y = _mm512_loadu_ps(a + k + 16);
    GR_FETCH(a + k, 128, 0);
    GR_FETCH(out + k, 128, 1);
    numbers = _mm512_mask_cmp_ps_mask(numbers, x, y, _CMP_ORD_Q);
    _mm512_storeu_ps(out + k, tanh_of(x));
    _mm512_storeu_ps(out + k + 16, tanh_of(y));
  }
  for (; k < n; k += 16) {
    const __mmask16 some = (__mmask16)(0xffff >> (n - k < 16 ? 16 - (n - k) : 0));
    const __m512 x = _mm512_maskz_loadu_ps(some, a + k);
    numbers = _mm512_mask_cmp_ps_mask(numbers, x, x, _CMP_ORD_Q);
    _mm512_mask_storeu_ps(out + k, some, tanh_of(x));
  }
  for (k = 0; numbers != 0xffff && k < n; k++) out[k] = gr_canonical32(out[k]);
}

#define map_tanh_f32 tanh_f32

#undef VECTOR
#undef FMA
#include "kernels/numerics/functions/constants_end.h"

#endif
