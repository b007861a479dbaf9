/*
** Kernels for vectors, rows and columns of floats without those that are NaN: as they are built, with no holes but
** those of the tally, for the driver to compile when somebody first asks. For chips from 8.0 on, which have
** instructions for extremes.
*/
#include "kernels/cuda/reduce/cols_flat.cuh"
#include "kernels/cuda/reduce/cols_sum.cuh"
#include "kernels/cuda/reduce/cols_unordered.cuh"
#include "kernels/cuda/reduce/leaves.cuh"
#include "kernels/cuda/reduce/rows_by_element.cuh"
#include "kernels/cuda/reduce/rows_staged.cuh"

#define GR_PRESENT_OF(kernel, ...) template __global__ void kernel<__VA_ARGS__>(const __grid_constant__ gr_reduce_args);
#define GR_OF_PRESENT(...) GR_PRESENT_OF(gr_reduce_leaves, __VA_ARGS__)
#ifdef GR_SKELETONS_HOPPER
#define GR_EACH_FLOAT(X) X(GR_BF16)
#else
#define GR_EACH_FLOAT(X) X(GR_F16) X(GR_BF16) X(GR_F32) X(GR_F64)
static_assert(GR_FLOAT_COUNT == 4, "a float is missing above");
#endif

/* Those that ask what is NaN, for Hopper of bf16 once more. Of rows and columns what counts is for sums, too. */
#define GR_X(D)                                                                               \
  GR_OF_PRESENT(gr_of_present<gr_reducer_for<GR_RED_SUM, D>, false>)                          \
  GR_OF_PRESENT(gr_of_present<gr_reducer_for<GR_RED_DOT, D>, false>)                          \
  GR_OF_PRESENT(gr_tallied_present<gr_reducer_for<GR_RED_SUM, D>>)                            \
  GR_OF_PRESENT(gr_tallied_present<gr_reducer_for<GR_RED_SQDIFF, D>>)                         \
  GR_PRESENT_OF(gr_reduce_rows_staged, gr_tallied_present<gr_reducer_for<GR_RED_SUM, D>>)     \
  GR_PRESENT_OF(gr_reduce_rows_by_element, gr_tallied_present<gr_reducer_for<GR_RED_SUM, D>>) \
  GR_PRESENT_OF(gr_reduce_cols_flat, gr_tallied_present<gr_reducer_for<GR_RED_SUM, D>>)       \
  GR_PRESENT_OF(gr_reduce_cols_sum, gr_tallied_present<gr_reducer_for<GR_RED_SUM, D>>)
GR_EACH_FLOAT(GR_X)
#undef GR_X

#ifndef GR_SKELETONS_HOPPER
/* Squares, extremes and positions, whose instructions leave NaN out. */
#define GR_X(D)                                                                                        \
  GR_OF_PRESENT(gr_of_present<gr_reducer_for<GR_RED_SUMSQ, D>, false>)                                 \
  GR_PRESENT_OF(gr_reduce_rows_by_element, gr_of_present<gr_reducer_for<GR_RED_SUMSQ, D>, false>)      \
  GR_PRESENT_OF(gr_reduce_cols_flat, gr_of_present<gr_reducer_for<GR_RED_SUMSQ, D>, false>)            \
  GR_PRESENT_OF(gr_reduce_cols_sum, gr_of_present<gr_reducer_for<GR_RED_SUMSQ, D>, false>)             \
  GR_OF_PRESENT(gr_of_present<gr_order<GR_RED_MINMAX, D, false>, false>)                               \
  GR_OF_PRESENT(gr_of_present<gr_position<GR_RED_ARGMAX, D, false>, false>)                            \
  GR_PRESENT_OF(gr_reduce_rows_staged, gr_of_present<gr_order<GR_RED_MINMAX, D, false>, false>)        \
  GR_PRESENT_OF(gr_reduce_rows_by_element, gr_of_present<gr_order<GR_RED_MINMAX, D, false>, false>)    \
  GR_PRESENT_OF(gr_reduce_rows_by_element, gr_of_present<gr_position<GR_RED_ARGMAX, D, false>, false>) \
  GR_PRESENT_OF(gr_reduce_cols_unordered, gr_of_present<gr_order<GR_RED_MINMAX, D, false>, false>)     \
  GR_PRESENT_OF(gr_reduce_cols_unordered, gr_of_present<gr_position<GR_RED_ARGMAX, D, false>, false>)
GR_EACH_FLOAT(GR_X)
#undef GR_X
#endif
