/* Skeletons that store the elements of a formula: a warp takes some rows of 512 bytes. By size: they are but bits. */
#include "kernels/cuda/formula/hole.cuh"
#include "kernels/cuda/formula/store.h"
#include "kernels/cuda/map/map.cuh"

template <int size>
static __device__ __forceinline__ void gr_store_word(const gr_store_args &q, const uint4 &w, int64_t k, int count) {
  using U = gr_map_unit<size>;
  constexpr int each = 16 / size;
  char *p = (char *)q.out + k * q.stride;
  U e[each];
  if (q.aligned && count == each) {
    *(uint4 *)p = w;
    return;
  }
  memcpy(e, &w, 16);
#pragma unroll
  for (int c = 0; c < each; c++)
    if (c < count) *(U *)(p + c * q.stride) = e[c];
}

template <int size>
static __device__ __forceinline__ void gr_formula_store(const gr_store_args &q) {
  constexpr int each = 16 / size, row = GR_LANES(size);
  const int warp = threadIdx.x >> 5, lane = threadIdx.x & 31;
  int64_t k = ((int64_t)blockIdx.x * (GR_STORE_THREADS / 32) + warp) * (GR_STORE_ROWS * row);
  uint4 w[GR_STORE_ROWS], none[GR_STORE_ROWS];
  if (k + GR_STORE_ROWS * row <= q.n) {
    k += lane * each;
    gr_formula_rows<1, GR_STORE_ROWS>(w, none, (const char *)(k * size));
#pragma unroll
    for (int r = 0; r < GR_STORE_ROWS; r++) gr_store_word<size>(q, w[r], k + r * row, each);
    return;
  }
#pragma unroll 1
  for (k += lane * each; k < q.n; k += row) {
    const int count = q.n - k < each ? (int)(q.n - k) : each;
    gr_formula_word<1>(w[0], none[0], (const char *)(k * size), count);
    gr_store_word<size>(q, w[0], k, count);
  }
}

#define GR_STORE(size)                                                        \
  extern "C" __global__ void __maxnreg__(gr_formula_tuning::store_registers)  \
      gr_formula_store_##size(const __grid_constant__ gr_store_args q) {      \
    gr_formula_store<size>(q);                                                \
  }
GR_STORE(1) GR_STORE(2) GR_STORE(4) GR_STORE(8)
