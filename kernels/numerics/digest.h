/*
** A 128-bit digest of a vector's bytes in logical order: two sums, modulo 2^64, of 8-byte words (little-endian, the
** last filled up with zeros) each mixed with its position. Sums make it the same for any split of the work; the
** position makes it depend on the order. It tells data apart that differ by accident, not by an adversary's intent.
*/
#ifndef GR_DIGEST_H
#define GR_DIGEST_H

#include "kernels/numerics/numerics.h"

/* first, raw: of a part of a vector, on the CPU alone: the number of its first word, and that sums are not finished. */
typedef struct gr_digest_job {
  gr_dtype dtype;
  int64_t n;
  gr_vec a;
  int64_t first;
  int32_t raw;
} gr_digest_job;

/* The finalisers of SplitMix64 (Steele, Lea and Flood 2014; Stafford's constants) and MurmurHash3 (Appleby). */
GR_FN uint64_t gr_digest_mix(uint64_t z) {
  z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
  return z ^ (z >> 31);
}
GR_FN uint64_t gr_digest_stir(uint64_t z) {
  z = (z ^ (z >> 33)) * UINT64_C(0xff51afd7ed558ccd);
  z = (z ^ (z >> 33)) * UINT64_C(0xc4ceb9fe1a85ec53);
  return z ^ (z >> 33);
}

/* Word k joins the sums. */
GR_FN void gr_digest_add(uint64_t sum[2], uint64_t word, uint64_t k) {
  sum[0] += gr_digest_mix(word ^ (k + 1) * UINT64_C(0x9e3779b97f4a7c15));
  sum[1] += gr_digest_stir(word + (k + 1) * UINT64_C(0xd1342543de82ef95));
}

/* Word k of a vector: 8 / size elements, fewer at the end. */
GR_FN uint64_t gr_digest_word(const gr_vec *a, int64_t n, int size, int64_t k) {
  int each = 8 / size, i;
  uint64_t word = 0;
  for (i = 0; i < each && k * each + i < n; i++) {
    const char *p = (const char *)a->data + (k * each + i) * a->stride;
    uint64_t e = 0;
    if (size == 8) e = *(const uint64_t *)p;
    else if (size == 4) e = *(const uint32_t *)p;
    else if (size == 2) e = *(const uint16_t *)p;
    else e = *(const uint8_t *)p;
    word |= e << 8 * size * i;
  }
  return word;
}

GR_FN void gr_digest_finish(uint64_t sum[2], uint64_t bytes) {
  sum[0] = gr_digest_mix(sum[0] + bytes);
  sum[1] = gr_digest_stir(sum[1] ^ bytes);
}

#endif
