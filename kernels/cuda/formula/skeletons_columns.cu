/* Skeletons: sums of columns, gr_reduce_cols_sum with holes (formula/hole.cuh) where it loads rows of whole words. */
#include "kernels/cuda/formula/skeletons.cuh"
#include "kernels/cuda/reduce/cols_sum.cuh"

#define GR_COLUMNS(D)                                                                       \
  template __global__ void gr_reduce_cols_sum<gr_of_formula<gr_reducer_for<GR_RED_SUM, D>, false>>( \
      const __grid_constant__ gr_reduce_args);
GR_COLUMNS(GR_F16) GR_COLUMNS(GR_BF16) GR_COLUMNS(GR_F32) GR_COLUMNS(GR_F64)
