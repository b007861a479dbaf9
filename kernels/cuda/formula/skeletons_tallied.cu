/*
** Skeletons of sums and of squared differences that count elements besides, for sums, means and mse of what is present:
** to a number, and of rows.
*/
#include "kernels/cuda/formula/skeletons.cuh"

#define GR_TALLIED_OF(red, D, number)                                                                   \
  template __global__ void gr_reduce_leaves<gr_tallied<gr_reducer_for<GR_RED_##red, D>, number>>( \
      const __grid_constant__ gr_reduce_args);
#define GR_TALLIED(red, D) GR_TALLIED_OF(red, D, true) GR_TALLIED_OF(red, D, false)
#define GR_X(id, s, l, type, kind) GR_TALLIED(SUM, GR_##id) GR_TALLIED(SQDIFF, GR_##id)
GR_DTYPES(GR_X)
#undef GR_X
