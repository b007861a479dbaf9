/* What blocks that share a row publish for each other, as one value: for softmax and rmsnorm. */
#ifndef GR_CUDA_NORM_BLOCKS_OF_ROW_CUH
#define GR_CUDA_NORM_BLOCKS_OF_ROW_CUH

#include "kernels/cuda/grid/publish.cuh"
#include "kernels/cuda/warp/fold.cuh"

/*
** The larger of two; of a NaN and a number the number. A NaN need not survive here: its own exponential is NaN, which
** reaches the whole row by the sum, and comparisons that keep it would cost more.
*/
static __device__ __forceinline__ float larger(float m, float x) { return fmaxf(m, x); }
static __device__ __forceinline__ double larger(double m, double x) { return x > m ? x : m; }

/* What up to 32 blocks publish as one, as soon as it is there: their sum by adjacency, or the largest. */
template <bool sum>
static __device__ __forceinline__ double gather_blocks(const gr_halves *of, int count, gr_tag tag, int lane) {
  using R = gr_in_f64<GR_RED_SUM, GR_F64>;
  const gr_halves *at[1] = {of + lane};
  bool wanted[1] = {lane < count};
  double v[1];
  gr_acc all = R::identity();
  gr_await(at, wanted, tag, sum ? all.f[0] : -(double)INFINITY, v);
  all.f[0] = v[0];
  if constexpr (sum) {
    return gr_fold_adjacent<R>(all, 32).f[0];
  } else {
#pragma unroll
    for (int h = 1; h < 32; h *= 2) v[0] = larger(v[0], __shfl_xor_sync(~0u, v[0], h));
    return v[0];
  }
}

#endif
