/*
** Floats of which those are left out that are NaN, as they are added: in a word they become +0, which changes no sum;
** of two inputs both become it where either is NaN. Extremes need no such word, as their instructions leave NaN out.
** What is there is counted by the tally of formula/hole.cuh.
*/
#ifndef GR_CUDA_THREAD_PRESENT_CUH
#define GR_CUDA_THREAD_PRESENT_CUH

#include "kernels/cuda/thread/reducers.cuh"

/* Such a reducer, of one vector for the host. */
template <class R, bool counting>
struct gr_of_present : R {
  static constexpr bool present = true, number = true, counts = counting;
  static constexpr bool blanks = R::kind != GR_ACC_ORDER && R::kind != GR_ACC_POSITION;
};

/* Of 2-byte elements: the sign's bit of each place of a word that is NaN. */
template <gr_dtype D>
__device__ __forceinline__ uint32_t gr_nan_halves(uint32_t u) {
  constexpr uint32_t more = D == GR_F16 ? 0x03ff03ffu : 0x007f007fu; /* what lifts a NaN over that bit */
  return ((u & 0x7fff7fffu) + more) & 0x80008000u;
}
/* A bit at the top of each byte of two becomes both bytes. */
__device__ __forceinline__ uint32_t gr_whole_halves(uint32_t signs) {
  uint32_t whole;
  asm("prmt.b32 %0, %1, 0, 0xbb99;" : "=r"(whole) : "r"(signs));
  return whole;
}

/* Elements of a word that are there: first the word is blanked, then they can be counted. */
template <class Q>
struct gr_there {
  static constexpr gr_dtype D = Q::dtype;
  static constexpr int each = 16 / gr_size<D>;
  static constexpr bool two = Q::inputs == 2;
  uint32_t nan[4]; /* of 2 bytes: their signs; of others: of each element, whether */
  __device__ __forceinline__ gr_there(uint4 &a, uint4 &b) {
    uint32_t *x = &a.x, *y = &b.x;
    if constexpr (gr_size<D> == 2) {
#pragma unroll
      for (int i = 0; i < 4; i++) {
        nan[i] = gr_nan_halves<D>(x[i]);
        if (two) nan[i] |= gr_nan_halves<D>(y[i]);
        const uint32_t whole = gr_whole_halves(nan[i]);
        x[i] &= ~whole;
        if (two) y[i] &= ~whole;
      }
    } else {
      constexpr int words = gr_size<D> / 4;
#pragma unroll
      for (int c = 0; c < each; c++) {
        const bool gone = gr_is_nan<D>(gr_pick<D>(a, c)) || (two && gr_is_nan<D>(gr_pick<D>(b, c)));
        nan[c] = gone;
#pragma unroll
        for (int i = c * words; i < (c + 1) * words; i++) {
          x[i] = gone ? 0u : x[i];
          if (two) y[i] = gone ? 0u : y[i];
        }
      }
    }
  }
  __device__ __forceinline__ bool at(int c) const {
    if constexpr (gr_size<D> == 2) return !(nan[c / 2] & (c % 2 ? 0x80000000u : 0x8000u));
    else return !nan[c];
  }
  /* Those at places from .. to - 1. */
  __device__ __forceinline__ int count(int from, int to) const {
    int n = 0;
#pragma unroll
    for (int c = 0; c < each; c++) n += c >= from && c < to && at(c);
    return n;
  }
  __device__ __forceinline__ int count() const {
    if constexpr (gr_size<D> == 2)
      return each - (__popc(nan[0] | nan[1] >> 1) + __popc(nan[2] | nan[3] >> 1));
    return count(0, each);
  }
};

#endif
