/* Angles of any size by 2/pi to as many digits as it takes (Payne and Hanek 1983). */
#ifndef GR_TURNS_H
#define GR_TURNS_H

#include "kernels/numerics/functions/fused.h"

/* Bits 32 (k - 2) + 1 .. 32 (k - 1) of 2/pi after its point. */
GR_WITHIN uint32_t gr_two_over_pi(int k) {
  static const uint32_t words[] = {
    0x00000000u, 0x00000000u, 0xa2f9836eu, 0x4e441529u, 0xfc2757d1u, 0xf534ddc0u, 0xdb629599u, 0x3c439041u,
    0xfe5163abu, 0xdebbc561u, 0xb7246e3au, 0x424dd2e0u, 0x06492eeau, 0x09d1921cu, 0xfe1deb1cu, 0xb129a73eu,
    0xe88235f5u, 0x2ebb4484u, 0xe99c7026u, 0xb45f7e41u, 0x3991d639u, 0x835339f4u, 0x9c845f8bu, 0xbdf9283bu,
    0x1ff897ffu, 0xde05980fu, 0xef2f118bu, 0x5a0a6d1fu, 0x6d367ecfu, 0x27cb09b7u, 0x4f463f66u, 0x9e5fea2du,
    0x7527bac7u, 0xebe5f17bu, 0x3d0739f7u, 0x8a5292eau, 0x6bfb5fb1u, 0x1f8d5d08u, 0x56033046u, 0xfc7b6babu,
  };
  return words[k];
}

/*
** a = n pi/2 + h + *low with |h| <= pi/4, for 2^17 <= a < infinity; *quarter is n modulo 4. a = m 2^e. Bits of 2/pi
** that m 2^e makes a multiple of 4 are left out; 192 behind them are more than enough: no double comes nearer to a
** multiple of pi/2 than 2^-61 or so.
*/
GR_WITHIN double gr_turn(double a, double *low, uint64_t *quarter) {
  const uint64_t u = gr_bits64(a), m = (u & ((UINT64_C(1) << 52) - 1)) | UINT64_C(1) << 52;
  const int first = (int)(u >> 52) - 1075 - 2 + 64, word = first >> 5, shift = first & 31; /* the first bit, from 0 */
  uint32_t w[6], p[6] = {0, 0, 0, 0, 0, 0};
  uint64_t carry;
  double h = 0, l = 0, unit = 0x1p-32, r, rest;
  int i, j, up;
  for (i = 0; i < 6; i++) {
    const uint64_t two = (uint64_t)gr_two_over_pi(word + i) << 32 | gr_two_over_pi(word + i + 1);
    w[i] = (uint32_t)(two << shift >> 32);
  }
  for (j = 0; j < 2; j++) { /* the lowest 192 bits of w m; w[5] is the lowest word */
    const uint64_t half = j ? m >> 32 : m & 0xffffffffu;
    carry = 0;
    for (i = 5 - j; i >= 0; i--) {
      carry += half * w[i + j] + p[i];
      p[i] = (uint32_t)carry;
      carry >>= 32;
    }
  }
  /* p[0] begins with n's last two bits; a fraction of half or more is one quarter more, less its complement. */
  up = (int)(p[0] >> 29 & 1);
  *quarter = (p[0] >> 30) + (uint32_t)up;
  for (i = 0; i < 6; i++) {
    uint32_t f = p[i] << 2 | (i < 5 ? p[i + 1] >> 30 : 0);
    if (up) f = ~f;
    r = h + (double)f * unit;
    l += (h - r) + (double)f * unit;
    h = r;
    unit *= 0x1p-32;
  }
  r = h * 1.5707963267948966;
  rest = gr_fma_f64(h, 1.5707963267948966, -r) + (h * 6.123233995736766e-17 + l * 1.5707963267948966);
  h = r + rest;
  l = (r - h) + rest;
  *low = up ? -l : l;
  return up ? -h : h;
}

#endif
