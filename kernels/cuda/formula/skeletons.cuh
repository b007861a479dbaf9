/*
** Skeletons of reductions: gr_reduce_leaves with holes (formula/hole.cuh) for each dtype, to a number and to arrays.
** Compiled to PTX only; mk/skeletons.lua tells them apart by reducer and dtype, which stand in the kernels' names.
*/
#ifndef GR_CUDA_FORMULA_SKELETONS_CUH
#define GR_CUDA_FORMULA_SKELETONS_CUH

#include "kernels/cuda/reduce/leaves.cuh"

#define GR_COMMA ,
#define GR_SKELETON_OF(R, number)                                \
  template __global__ void gr_reduce_leaves<gr_of_formula<R, number>>( \
      const __grid_constant__ gr_reduce_args);
#define GR_SKELETON(red, D)                                              \
  GR_SKELETON_OF(gr_reducer_for<GR_RED_##red GR_COMMA GR_##D>, true) \
  GR_SKELETON_OF(gr_reducer_for<GR_RED_##red GR_COMMA GR_##D>, false)
#define GR_SKELETONS(red)                                                                                     \
  GR_SKELETON(red, U8) GR_SKELETON(red, I8) GR_SKELETON(red, U16) GR_SKELETON(red, I16) GR_SKELETON(red, U32) \
  GR_SKELETON(red, I32) GR_SKELETON(red, I64) GR_SKELETON(red, F16) GR_SKELETON(red, BF16)                    \
  GR_SKELETON(red, F32) GR_SKELETON(red, F64)
static_assert(GR_DTYPE_COUNT == 11, "a dtype without skeletons");

#endif
