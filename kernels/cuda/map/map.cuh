/*
** Element operators: how operands come in and results go out. A thread has one 16-byte word of results (compare:
** as many bytes as a word of inputs has elements); words are aligned as the results are, inputs are shifted into
** place or gathered. Loads are plain ones, since the results may go where an input was.
*/
#ifndef GR_CUDA_MAP_MAP_CUH
#define GR_CUDA_MAP_MAP_CUH

#include "kernels/cuda/launch.h"
#include "kernels/cuda/map/tuning.h"
#include "kernels/cuda/thread/load.cuh"
#include "kernels/numerics/map.h"

#define GR_MAP_THREADS gr_map_tuning::threads
#define GR_MAP_WORDS gr_map_tuning::words

struct gr_map_operand {
  const char *p; /* NULL: word holds the number, over and over */
  int64_t stride;
  uint4 word;
};

struct gr_map_args {
  gr_map_operand a, b, c;
  char *out;
  int64_t out_stride, n, lead; /* elements that the first word lacks */
  int op, relation, tally, in, to; /* as in the job; relation: relation_bits of map/map.cu */
};

/* The unsigned integer of a size: elements that are only moved. */
template <int size>
using gr_map_unit = std::conditional_t<size == 1, uint8_t, std::conditional_t<size == 2, uint16_t,
                                       std::conditional_t<size == 4, uint32_t, uint64_t>>>;

template <typename T>
__device__ __forceinline__ uint4 gr_map_bits(const T (&e)[16 / sizeof(T)]) {
  uint4 w;
  memcpy(&w, e, 16);
  return w;
}

/* Elements k + first .. k + last - 1 of a word that starts with element k (of size bytes). */
template <typename U>
__device__ __forceinline__ uint4 gr_map_load(const gr_map_operand &o, int64_t k, int first, int last) {
  constexpr int each = 16 / (int)sizeof(U);
  if (!o.p) return o.word;
  const char *p = o.p + k * o.stride;
  if (o.stride == (int64_t)sizeof(U) && last - first == each) {
    int shift = (int)((uintptr_t)p & 15);
    const uint4 *q = (const uint4 *)(p - shift);
    uint4 w = q[0];
    return shift ? gr_realign(w, q[1], shift) : w;
  }
  U e[each];
#pragma unroll
  for (int i = 0; i < each; i++) e[i] = i >= first && i < last ? *(const U *)(p + i * o.stride) : (U)0;
  return gr_map_bits(e);
}

template <typename U>
__device__ __forceinline__ void gr_map_store(const gr_map_args &q, int64_t k, int first, int last, const U *e,
                                             int each) {
  char *p = q.out + k * q.out_stride;
  if (q.out_stride == (int64_t)sizeof(U) && last - first == each) {
    if (each * sizeof(U) == 16) memcpy(__builtin_assume_aligned(p, 16), e, 16);
    else if (each * sizeof(U) == 8) memcpy(__builtin_assume_aligned(p, 8), e, 8);
    else if (each * sizeof(U) == 4) memcpy(__builtin_assume_aligned(p, 4), e, 4);
    else memcpy(__builtin_assume_aligned(p, 2), e, 2);
    return;
  }
#pragma unroll
  for (int i = 0; i < each; i++)
    if (i >= first && i < last) *(U *)(p + i * q.out_stride) = e[i];
}

#endif
