/*
** The stage of gr_reduce_rows_by_element (reduce/rows_by_element.cuh): what a warp has of its rows in shared memory,
** how it comes there and is read; and what a plan must know of it.
*/
#ifndef GR_CUDA_REDUCE_ROWS_BY_ELEMENT_STAGE_CUH
#define GR_CUDA_REDUCE_ROWS_BY_ELEMENT_STAGE_CUH

#include "kernels/cuda/reduce/leaves.cuh"
#include "kernels/cuda/reduce/tuning.h"

/* What may follow every 128 bytes of a stage, one element and at least 4 bytes, so that threads with rows of 2^k bytes
   meet different banks; and the bytes of a stage with room for so many from anywhere in a word. */
constexpr int gr_stage_gap_for(int size) { return size == 8 ? 8 : 4; }
constexpr int gr_stage_bytes_for(int size, int bytes) {
  return ((bytes + 32) / 128 * (128 + gr_stage_gap_for(size)) + 128 + 15) / 16 * 16;
}
template <gr_dtype D>
constexpr int gr_stage_gap = gr_stage_gap_for(gr_size<D>);
template <gr_dtype D>
constexpr int gr_stage_bytes = gr_stage_bytes_for(gr_size<D>, gr_by_element_bytes);

/* Whether 2^log threads share a row that has no more than one element in each of their lanes. More threads have all
   lanes of the tree. */
constexpr __host__ __device__ bool gr_by_element_is_single(int size, int log) {
  return gr_by_element_held << log <= GR_LANES(size);
}

/*
** A place in shared memory that a register holds from here on: by itself the compiler makes it again for each load, of
** four instructions. All lanes have the same place.
*/
static __device__ __forceinline__ char *gr_shared_once(char *p) {
  return (char *)__cvta_shared_to_generic(__shfl_sync(~0u, (unsigned)__cvta_generic_to_shared(p), 0));
}

/*
** Copies `bytes` bytes from p, where R leaves NaN out with 0 in its place; gives where in the stage they start. gone
** gets, unless it is NULL, a byte for each word, with a bit for each of its elements that was NaN. All words are in
** flight at once.
*/
template <class R>
static __device__ __forceinline__ int gr_stage_fill(char *stage, int gap, const char *p, int bytes, int lane,
                                                    uint8_t *gone) {
  const int shift = (int)((uintptr_t)p & 15), left = ((shift + bytes + 15) >> 4) - lane;
  uint4 w[gr_by_element_bytes / 512 + 1];
  p += lane * 16 - shift;
#pragma unroll
  for (int i = 0; i <= gr_by_element_bytes / 512; i++)
    if (i * 32 < left) w[i] = gr_load16(p + i * 512);
  stage += lane * 16 + (lane >> 3) * gap;
#pragma unroll
  for (int i = 0; i <= gr_by_element_bytes / 512; i++, stage += 512 + 4 * gap)
    if (i * 32 < left) {
      uint32_t *to = (uint32_t *)stage;
      if constexpr (R::present) {
        if constexpr (R::blanks) {
          const uint32_t nan = gr_blank_alone<R>(w[i]);
          if (R::counts && gone) gone[i * 32 + lane] = (uint8_t)nan;
        }
      }
      if (gap == 0) {
        *(uint4 *)to = w[i];
      } else {
        to[0] = w[i].x;
        to[1] = w[i].y;
        to[2] = w[i].z;
        to[3] = w[i].w;
      }
    }
  return shift;
}

/* Of n elements from number `from` of a stage on, how many are gone; 2^log threads look, of which this is number t. */
template <gr_dtype D>
static __device__ __forceinline__ int gr_count_gone(const uint8_t *gone, int from, int n, int t, int log) {
  constexpr int each = 16 / gr_size<D>;
  int count = 0;
#pragma unroll 1
  for (int w = from / each + t; w * each < from + n; w += 1 << log) {
    const int first = max(from - w * each, 0), behind = min(from + n - w * each, each);
    count += __popc(gone[w] >> first << first & ((1 << behind) - 1));
  }
#pragma unroll 1
  for (int h = 1 << log >> 1; h > 0; h /= 2) count += __shfl_xor_sync(~0u, count, h);
  return count;
}

template <gr_dtype D, bool gaps>
struct gr_stage {
  const char *base;
  __device__ __forceinline__ const char *place(int at) const {
    return base + at + (gaps ? (at >> 7) * gr_stage_gap<D> : 0);
  }
  __device__ __forceinline__ gr_type<D> get(int at) const { return *(const gr_type<D> *)place(at); }
  __device__ __forceinline__ uint32_t get4(int at) const { return *(const uint32_t *)place(at); }
};

#endif
