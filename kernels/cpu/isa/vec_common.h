/* What every instruction set's vec_*.h builds on. */
#ifndef GR_CPU_VEC_COMMON_H
#define GR_CPU_VEC_COMMON_H

#include <stddef.h>
#include "kernels/cpu/isa/table.h"

#if defined(__GNUC__)
#define GR_INLINE static inline __attribute__((always_inline, unused))
#define GR_MAYBE_UNUSED __attribute__((unused))
#else
#define GR_INLINE static inline
#define GR_MAYBE_UNUSED
#endif

/* Loops over registers must be unrolled whole, or the arrays they index stay in memory. */
#if defined(__clang__)
#define GR_UNROLL _Pragma("clang loop unroll(full)")
#define GR_TWICE _Pragma("clang loop unroll_count(2)")
#pragma clang diagnostic ignored "-Wpass-failed" /* builds that optimise less leave some loops rolled */
#elif defined(__GNUC__)
#define GR_UNROLL _Pragma("GCC unroll 64")
#define GR_TWICE _Pragma("GCC unroll 2")
#else
#define GR_UNROLL
#define GR_TWICE
#endif

/* What was stored in x is loaded again, where the compiler would shuffle registers instead: loads have ports to
   spare. */
#if defined(__GNUC__)
#define GR_IN_MEMORY(x) __asm__("" : "+m"(x))
/* Compilers keep all sums with what is constant in registers, which are too few: not with this pointer. */
#define GR_IN_REGISTER(p) __asm__("" : "+r"(p))
#else
#define GR_IN_MEMORY(x) ((void)0)
#define GR_IN_REGISTER(p) ((void)0)
#endif

#define GR_AHEAD 4096 /* bytes from a load to its prefetch: measured best on several Xeons */
/*
** For data read in order, `step` bytes at a time: prefetches one cache line of eight. The processor's own prefetchers,
** which stop at the end of a page, then fetch the other seven. It goes to the second-level cache, since a prefetch that
** waits for the first level holds up loads.
*/
#define GR_FETCH_EVERY 512 /* bytes */
GR_INLINE void fetch_ahead(const char *p, size_t step) {
  if (step >= GR_FETCH_EVERY || (uintptr_t)p % GR_FETCH_EVERY < step) GR_PREFETCH_SECOND(p + GR_AHEAD);
}

/*
** For floats that are widened to doubles. An Intel (Emerald Rapids) is 1.2 times slower with this than with a prefetch
** of each line into the first-level cache; an AMD (Zen 4) is 1.3 to 2.5 times slower with the latter.
*/
#if GR_CPU_X86
#define GR_IS_INTEL __builtin_cpu_is("intel")
#else
#define GR_IS_INTEL 0
#endif
#define GR_FETCH_LINES GR_IS_INTEL

/* Less than 128 bytes, without the call that memcpy of a variable length is. */
GR_INLINE void gr_copy_short(void *to, const void *from, size_t bytes) {
  char *d = (char *)to;
  const char *s = (const char *)from;
  /* clang-format off */
  if (bytes & 64) { memcpy(d, s, 64); d += 64; s += 64; }
  if (bytes & 32) { memcpy(d, s, 32); d += 32; s += 32; }
  if (bytes & 16) { memcpy(d, s, 16); d += 16; s += 16; }
  if (bytes & 8) { memcpy(d, s, 8); d += 8; s += 8; }
  if (bytes & 4) { memcpy(d, s, 4); d += 4; s += 4; }
  if (bytes & 2) { memcpy(d, s, 2); d += 2; s += 2; }
  /* clang-format on */
  if (bytes & 1) *d = *s;
}

/* Lanes of x and y by number, those of y after those of x: what compilers that know vectors call differently. */
#if defined(__clang__) || (defined(__GNUC__) && __GNUC__ >= 12)
#define GR_LANES_OF(type, x, y, ...) __builtin_shufflevector(x, y, __VA_ARGS__)
#else
#define GR_LANES_OF(type, x, y, ...) __builtin_shuffle(x, y, (type){__VA_ARGS__})
#endif

/* The sum of n bytes, each xor-ed with flip: mm the prefix of the instructions, size of a vector in bits. */
#define GR_SUM_BYTES_X86(mm, size, prefetch)                                                       \
  GR_INLINE uint64_t gr_sum_bytes(const void *x, int64_t n, char flip) {                           \
    enum { bytes = size / 8 };                                                                     \
    const char *p = (const char *)x;                                                               \
    const __m##size##i zero = mm##_setzero_si##size(), change = mm##_set1_epi8(flip);              \
    __m##size##i one = zero, two = zero;                                                           \
    uint64_t sums[bytes / 8], total = 0;                                                           \
    int k;                                                                                         \
    for (; n >= 2 * bytes; n -= 2 * bytes, p += 2 * bytes) {                                       \
      const __m##size##i u = mm##_loadu_si##size((const __m##size##i *)(const void *)p);           \
      const __m##size##i v = mm##_loadu_si##size((const __m##size##i *)(const void *)(p + bytes)); \
      prefetch;                                                                                    \
      one = mm##_add_epi64(one, mm##_sad_epu8(mm##_xor_si##size(u, change), zero));                \
      two = mm##_add_epi64(two, mm##_sad_epu8(mm##_xor_si##size(v, change), zero));                \
    }                                                                                              \
    one = mm##_add_epi64(one, two);                                                                \
    memcpy(sums, &one, sizeof(sums));                                                              \
    for (k = 0; k < bytes / 8; k++) total += sums[k];                                              \
    for (; n > 0; n--, p++) total += (uint8_t)(*p ^ flip);                                         \
    return total;                                                                                  \
  }

#endif
