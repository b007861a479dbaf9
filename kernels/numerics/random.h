/*
** Random whole numbers and random orders. Like all random numbers here they are functions of a counter, so that any
** part of them can be computed alone, in any order, on any device.
*/
#ifndef GR_RANDOM_H
#define GR_RANDOM_H

#include "kernels/jobs.h"
#include "kernels/numerics/math.h"

/* ---- whole numbers ---- */

/* The high half of a product of 128 bits. */
GR_FN uint64_t gr_high_product(uint64_t a, uint64_t b) {
#if defined(__CUDA_ARCH__)
  return __umul64hi(a, b);
#else
  const uint64_t a0 = (uint32_t)a, a1 = a >> 32, b0 = (uint32_t)b, b1 = b >> 32;
  const uint64_t first = a1 * b0 + (a0 * b0 >> 32), second = a0 * b1 + (uint32_t)first;
  return a1 * b1 + (first >> 32) + (second >> 32);
#endif
}

/* The same, b at most 2^32: two products of 32 bits. */
GR_FN uint64_t gr_whole_below(uint64_t a, uint64_t b) {
  const uint64_t b0 = (uint32_t)b, high = (a >> 32) * b0 + ((uint32_t)a * b0 >> 32);
  return (b >> 32 ? a : high) >> 32;
}

/* How many numbers one group of Philox gives: of at most 2^32 two of 64 bits each, else one of 128 bits. */
GR_FN int gr_whole_group(uint64_t range) { return range - 1 <= UINT32_MAX ? 2 : 1; }

/*
** Numbers 0 .. range - 1: random bits as a fraction, times range, rounded down. Their chances differ by less than one
** part in 2^32, or, beyond 2^32 numbers, in 2^64.
*/
GR_FN void gr_whole_fill(const gr_whole_job *job, uint64_t group, uint64_t out[2]) {
  uint32_t w[4];
  uint64_t low, high, part;
  gr_random_words(job->seed, job->stream, job->mark, group, w);
  low = (uint64_t)w[1] << 32 | w[0];
  high = (uint64_t)w[3] << 32 | w[2];
  if (gr_whole_group(job->range) == 2) {
    out[0] = gr_whole_below(low, job->range);
    out[1] = gr_whole_below(high, job->range);
    return;
  }
  part = high * job->range + gr_high_product(low, job->range);
  out[0] = job->range ? gr_high_product(high, job->range) + (part < high * job->range) : high;
  out[1] = 0;
}

/* What the job makes of such a number. */
GR_FN int64_t gr_whole_number(const gr_whole_job *job, uint64_t x) {
  int64_t low = 0, high = job->count - 1;
  if (!job->sums) return (int64_t)((uint64_t)job->low + x);
  while (low < high) {
    const int64_t middle = low + (high - low) / 2;
    if (job->sums[middle] > (int64_t)x) high = middle;
    else low = middle + 1;
  }
  return job->low + low;
}

/* ---- orders ---- */

/*
** A random order of 0 .. length - 1 is a bijection with random keys (Mitchell, Stokes, Frank and Holmes 2021): a
** Feistel network on the least number of bits that holds length, again and again until the result is below length
** (cycle walking). Rounds change the upper bits by a function of the lower ones and the other way round; the function
** is the finalizer of MurmurHash3 (Appleby). With halves of two bits or more such rounds make even permutations of all
** 2^bits alone, so two numbers change places in half of the orders.
**
** Few numbers show what a network does not reach, and are put in the order of random keys of 64 bits instead.
*/
#define GR_ORDER_FEW 128
#define GR_ORDER_ROUNDS 16
typedef struct gr_order {
  int64_t length;
  uint64_t seed, stream, mark;
  int32_t upper, lower; /* bits of the two halves */
  uint32_t swap, key[GR_ORDER_ROUNDS];
} gr_order;

GR_FN gr_order gr_order_of(int64_t length, uint64_t seed, uint64_t stream, uint64_t mark) {
  gr_order o;
  uint32_t w[4];
  int bits = 2, k;
  while (bits < 62 && ((int64_t)1 << bits) < length) bits++;
  o.length = length;
  o.seed = seed;
  o.stream = stream;
  o.mark = mark;
  o.upper = bits / 2;
  o.lower = bits - o.upper;
  for (k = 0; k < GR_ORDER_ROUNDS; k++) {
    if (k % 4 == 0) gr_random_words(seed, stream, mark, (uint64_t)(k / 4), w);
    o.key[k] = w[k % 4];
  }
  gr_random_words(seed, stream, mark, GR_ORDER_ROUNDS / 4, w);
  o.swap = w[0] & 1;
  return o;
}

GR_FN uint32_t gr_order_mix(uint32_t x) {
  x = (x ^ x >> 16) * 0x85ebca6bu;
  x = (x ^ x >> 13) * 0xc2b2ae35u;
  return x ^ x >> 16;
}

/* Of few: key k of 64 bits, and whether the first of two comes before the other. */
GR_FN uint64_t gr_order_key(const gr_order *o, int k) {
  uint32_t w[4];
  gr_random_words(o->seed, o->stream, o->mark, (uint64_t)(k / 2), w);
  return k % 2 ? (uint64_t)w[3] << 32 | w[2] : (uint64_t)w[1] << 32 | w[0];
}
GR_FN int gr_order_before(uint64_t a, int i, uint64_t b, int k) { return a < b || (a == b && i < k); }

/* Which number is the k-th, both from 0: of few, of more, and of any. */
GR_FN int64_t gr_order_of_few(const gr_order *o, int64_t k) {
  const uint64_t key = gr_order_key(o, (int)k);
  int64_t before = 0;
  int i;
  for (i = 0; i < (int)o->length; i++) before += gr_order_before(gr_order_key(o, i), i, key, (int)k);
  return before;
}
GR_FN int64_t gr_order_of_more(const gr_order *o, int64_t k) {
  uint64_t x = (uint64_t)k;
  do {
    uint32_t lower = (uint32_t)(x & (((uint64_t)1 << o->lower) - 1)), upper = (uint32_t)(x >> o->lower);
    int i;
    for (i = 0; i < GR_ORDER_ROUNDS; i += 2) {
      upper ^= gr_order_mix(lower ^ o->key[i]) & (uint32_t)(((uint64_t)1 << o->upper) - 1);
      lower ^= gr_order_mix(upper ^ o->key[i + 1]) & (uint32_t)(((uint64_t)1 << o->lower) - 1);
    }
    x = (uint64_t)upper << o->lower | lower;
    x ^= x < 2 ? o->swap : 0;
  } while (x >= (uint64_t)o->length);
  return (int64_t)x;
}
GR_FN int64_t gr_order_at(const gr_order *o, int64_t k) {
  return o->length <= GR_ORDER_FEW ? gr_order_of_few(o, k) : gr_order_of_more(o, k);
}

#endif
