/* What the kernels of rmsnorm share: the job, and how leaves become the sum of a row. */
#ifndef GR_CUDA_NORM_RMSNORM_CUH
#define GR_CUDA_NORM_RMSNORM_CUH

#include <cuda_runtime.h>
#include "kernels/cuda/block/cp_async.cuh"
#include "kernels/cuda/block/ring.cuh"
#include "kernels/cuda/grid/combine.cuh"
#include "kernels/cuda/norm/blocks_of_row.cuh"
#include "kernels/cuda/norm/rmsnorm_word.cuh"
#include "kernels/cuda/norm/tuning.h"

using Tuning = gr_norm_tuning;

typedef struct rmsnorm_args {
  const char *x, *w;
  char *out;
  int64_t n, count, x_step, out_step;
  int64_t x_stride, w_stride, out_stride;
  double eps;
  const double *sums; /* of squares, when they were found before */
  bool inputs_stable;     /* launches that may still run write nothing that this one reads */
  bool brain;             /* elements of 16 bits are bf16: f16's kernels do both */
} rmsnorm_args;

static __device__ __forceinline__ double factor_of(const rmsnorm_args &q, double sum) {
  return 1.0 / sqrt(sum / (double)q.n + q.eps);
}

/*
** The sum of this block's row, whose leaves its warps have (folded), or, if it is not alone, those of `pieces` blocks
** side by side, all of which wait for the sums of all. Blocks start in order and a row has fewer of them than fit the
** device at once, so those that wait do not keep out those that they wait for.
*/
template <gr_dtype D, bool alone>
static __device__ __forceinline__ double sum_of_row(double folded, int lane, int warp, int pieces, gr_halves *partials,
                                                    gr_tag tag) {
  using R = gr_in_f64<GR_RED_SUMSQ, D>;
  __shared__ double leaf[Tuning::pieces_warps], unit[alone ? 1 : Tuning::most_pieces / 32];
  int leaves = blockDim.x >> 5;
  if (lane == 0) leaf[warp] = folded;
  __syncthreads();
  gr_acc all = R::identity();
  if (lane < leaves) all.f[0] = leaf[lane];
  all = gr_fold_adjacent<R>(all, 32);
  if constexpr (!alone) {
    gr_halves *of_row = partials + (int64_t)(blockIdx.x / (unsigned)pieces) * pieces;
    if (threadIdx.x == 0) gr_publish(partials + blockIdx.x, all.f[0], tag);
    int units = (pieces + 31) >> 5;
    for (int u = warp; u < units; u += leaves) {
      double sum = gather_blocks<true>(of_row + u * 32, pieces - u * 32, tag, lane);
      if (lane == 0) unit[u] = sum;
    }
    __syncthreads();
    all = R::identity();
    if (lane < units) all.f[0] = unit[lane];
    all = gr_fold_adjacent<R>(all, 32);
  }
  return all.f[0];
}

#endif
