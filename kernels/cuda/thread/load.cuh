/*
** Loads by 16-byte words whatever the alignment. A word that holds no byte of the vector is never read.
** Unaligned data is realigned in registers, never peeled: the tree follows logical positions.
*/
#ifndef GR_CUDA_THREAD_LOAD_CUH
#define GR_CUDA_THREAD_LOAD_CUH

#include "kernels/cuda/thread/element.cuh"

/* One vector as a kernel walks it: element k lies at p + k * stride. */
struct gr_walker {
  const char *p;
  int64_t stride;
};

__device__ __forceinline__ uint4 gr_load16(const void *p) { return __ldg((const uint4 *)p); }

/*
** From here on `count` words are others, as far as the compiler knows: else it would keep, in more registers than there
** are, what one pass has widened of them for the next. never is false, which it does not know. Assembly without an
** instruction does not do: the assembler looks through it (variances of f16 spill 688 bytes).
*/
template <int count, class U>
__device__ __forceinline__ void gr_renew(U *w, bool never) {
  if (never)
#pragma unroll
    for (int i = 0; i < count; i++) w[i] = ~w[i];
}

/* 16 bytes that start `shift` bytes into the words a, b. */
__device__ __forceinline__ uint4 gr_realign(uint4 a, uint4 b, int shift) {
  int bits = (shift & 3) * 8;
  if (shift & 8) {
    a.x = a.z;
    a.y = a.w;
    a.z = b.x;
    a.w = b.y;
    b.x = b.z;
    b.y = b.w;
  }
  if (shift & 4) {
    a.x = a.y;
    a.y = a.z;
    a.z = a.w;
    a.w = b.x;
    b.x = b.y;
  }
  return make_uint4(__funnelshift_r(a.x, a.y, bits), __funnelshift_r(a.y, a.z, bits), __funnelshift_r(a.z, a.w, bits),
                    __funnelshift_r(a.w, b.x, bits));
}

/*
** The first `bytes` (1 to 16) of the 16 bytes at p, in two steps, so that many first steps can be in flight while the
** code of the second exists once. The first loads the aligned word that p lies in; the second the next one, if it has
** some of the bytes (a neighbour has read it, so it is in L1), and shifts.
*/
__device__ __forceinline__ const char *gr_word_of(const char *p) {
  return (const char *)((uintptr_t)p & ~(uintptr_t)15);
}
__device__ __forceinline__ uint4 gr_load_begin(const char *p) { return gr_load16(gr_word_of(p)); }
__device__ __forceinline__ uint4 gr_load_end(uint4 a, const char *p, int bytes) {
  int shift = (int)((uintptr_t)p & 15);
  uint4 b = a;
  if (shift == 0) return a;
  if (shift + bytes > 16) b = gr_load16(p - shift + 16);
  return gr_realign(a, b, shift);
}

/* The element at p, repeated over 8 bytes. */
template <int size>
__device__ __forceinline__ uint2 gr_repeat(const char *p) {
  if constexpr (size == 8) return __ldg((const uint2 *)p);
  unsigned x = size == 4   ? __ldg((const unsigned *)p)
               : size == 2 ? __ldg((const unsigned short *)p) * 0x10001u
                           : __ldg((const unsigned char *)p) * 0x1010101u;
  return make_uint2(x, x);
}

/* Up to `valid` elements from p, `stride` bytes apart, packed into one word. */
template <gr_dtype D, int count = 16 / gr_size<D>>
__device__ __forceinline__ uint4 gr_gather(const char *p, int64_t stride, int valid) {
  constexpr int size = gr_size<D>;
  uint32_t u[4] = {0, 0, 0, 0};
#pragma unroll
  for (int c = 0; c < count; c++) {
    if (c >= valid) continue;
    const char *q = p + c * stride;
    if constexpr (size == 8) {
      uint2 x = __ldg((const uint2 *)q);
      u[2 * c] = x.x;
      u[2 * c + 1] = x.y;
    } else if constexpr (size == 4) {
      u[c] = __ldg((const unsigned *)q);
    } else if constexpr (size == 2) {
      u[c / 2] |= (uint32_t)__ldg((const unsigned short *)q) << 16 * (c & 1);
    } else {
      u[c / 4] |= (uint32_t)__ldg((const unsigned char *)q) << 8 * (c & 3);
    }
  }
  return make_uint4(u[0], u[1], u[2], u[3]);
}

/* The word at p + offset; the offset, known when compiled, is part of the instruction. */
template <int offset>
__device__ __forceinline__ uint4 gr_load16_at(const char *p) {
  uint4 w;
  asm("ld.global.nc.v4.u32 {%0, %1, %2, %3}, [%4 + %5];"
      : "=r"(w.x), "=r"(w.y), "=r"(w.z), "=r"(w.w)
      : "l"(p), "n"(offset));
  return w;
}

/* This lane's words of `rows` rows of 512 bytes; p: where its first one lies, at a multiple of 16. */
template <int rows, int r = 0>
__device__ __forceinline__ void gr_load_rows(uint4 (&w)[rows], const char *p) {
  if constexpr (r < rows) {
    w[r] = gr_load16_at<r * GR_ROW_BYTES>(p);
    gr_load_rows<rows, r + 1>(w, p);
  }
}

/*
** The same rows, of a vector that starts `shift` bytes into their first word: the word that a lane lacks is its
** neighbour's, or the next row's first.
*/
template <int rows>
__device__ __forceinline__ void gr_shift_rows(uint4 (&w)[rows], const char *p, int shift, int lane) {
  uint4 after = w[0];
  if (shift == 0) return;
  if (lane == 0) after = gr_load16_at<rows * GR_ROW_BYTES>(p);
#pragma unroll
  for (int r = 0; r < rows; r++) {
    uint4 give = lane == 0 ? (r + 1 < rows ? w[r + 1 < rows ? r + 1 : r] : after) : w[r], next;
    next.x = __shfl_sync(~0u, give.x, lane + 1 & 31);
    next.y = __shfl_sync(~0u, give.y, lane + 1 & 31);
    next.z = __shfl_sync(~0u, give.z, lane + 1 & 31);
    next.w = __shfl_sync(~0u, give.w, lane + 1 & 31);
    w[r] = gr_realign(w[r], next, shift);
  }
}

/* Word a with its first `bytes` bytes from b. */
__device__ __forceinline__ uint4 gr_blend(const uint4 &a, const uint4 &b, int bytes) {
  auto part = [bytes](uint32_t x, uint32_t y, int from) {
    int taken = min(max(bytes - from, 0), 4);
    uint32_t mask = taken == 4 ? ~0u : (1u << 8 * taken) - 1;
    return (x & ~mask) | (y & mask);
  };
  return make_uint4(part(a.x, b.x, 0), part(a.y, b.y, 4), part(a.z, b.z, 8), part(a.w, b.w, 12));
}

/* Ask L2 for `bytes` bytes from p on, of which `left` are there; nothing is read, so it may be done at any time. */
template <int bytes>
__device__ __forceinline__ void gr_ask_ahead(const char *p, int64_t left, int lane) {
#pragma unroll
  for (int k = 0; k < bytes; k += 32 * 128)
    if (k + lane * 128 < left) asm volatile("prefetch.global.L2 [%0];" ::"l"(p + k + lane * 128));
}

/* ---- words of 4 to 16 bytes ---- */

template <int W>
struct gr_words {
  uint32_t u[W];
};

/* A word that starts `shift` bytes into a, which b follows. */
template <int W>
__device__ __forceinline__ gr_words<W> gr_realign_words(const gr_words<W> &a, const gr_words<W> &b, int shift) {
  uint32_t x[2 * W];
  gr_words<W> r;
#pragma unroll
  for (int i = 0; i < 2 * W; i++) x[i] = i < W ? a.u[i % W] : b.u[i % W];
#pragma unroll
  for (int by = W / 2; by > 0; by /= 2)
    if (shift & 4 * by)
#pragma unroll
      for (int i = 0; i + by < 2 * W; i++) x[i] = x[i + by];
#pragma unroll
  for (int i = 0; i < W; i++) r.u[i] = __funnelshift_r(x[i], x[i + 1], (shift & 3) * 8);
  return r;
}

/* C neighbouring elements, one word of 4 to 16 bytes. */
template <gr_dtype D, int C>
struct gr_column_word {
  static constexpr int word = C * gr_size<D>, W = word / 4;
  using Word = gr_words<W>;
  static __device__ __forceinline__ Word load(const char *p) {
    using T = std::conditional_t<W == 4, uint4, std::conditional_t<W == 2, uint2, unsigned>>;
    Word x;
    T t = __ldg((const T *)p);
    memcpy(&x, &t, word);
    return x;
  }
  /* How far p is into a word, and that word. */
  static __device__ __forceinline__ int shift(const char *p) { return (int)((uintptr_t)p & (word - 1)); }
  static __device__ __forceinline__ Word begin(const char *p) { return load(p - shift(p)); }
  static __device__ __forceinline__ gr_type<D> pick(const Word &x, int i) {
    return gr_pick<D>(make_uint4(x.u[0], x.u[W > 1 ? 1 : 0], x.u[W > 2 ? 2 : 0], x.u[W > 2 ? 3 : 0]), i);
  }
};

#endif
