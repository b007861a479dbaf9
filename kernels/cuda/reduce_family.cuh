/*
** What every reduce_*.cu includes: it turns a reducer and a dtype into the launch of its kernels.
*/
#ifndef GR_REDUCE_FAMILY_CUH
#define GR_REDUCE_FAMILY_CUH

#include "kernels/cuda/reduce.cuh"
#include "kernels/cuda/reduce_columns.cuh"
#include "kernels/cuda/reduce_leaves.cuh"
#include "kernels/cuda/reduce_short.cuh"

template <class R>
static cudaError_t gr_launch_reduce(const gr_reduce_args &q, const gr_reduce_launch &l) {
  switch (l.shape) {
    case GR_LEAVES: gr_reduce_leaves<R><<<l.blocks, l.threads, 0, l.stream>>>(q); break;
    case GR_SHORT: gr_reduce_short<R><<<l.blocks, l.threads, 0, l.stream>>>(q); break;
    default: gr_reduce_columns<R><<<l.blocks, l.threads, 0, l.stream>>>(q); break;
  }
  return cudaGetLastError();
}

template <class R>
static gr_reduce_entry gr_entry() {
  return {gr_launch_reduce<R>, R::fields, gr_columns_each<R>, gr_columns_lanes<R>, gr_columns_leaf<R>};
}

/* The kernels of one reducer over all dtypes, or over the floats. */
#define GR_CASE(red, D) \
  case GR_##D:          \
    return gr_entry<gr_reducer_for<GR_RED_##red, GR_##D>>();
#define GR_FLOATS(red) GR_CASE(red, F16) GR_CASE(red, BF16) GR_CASE(red, F32) GR_CASE(red, F64)
#define GR_INTS(red) \
  GR_CASE(red, U8)   \
  GR_CASE(red, I8) GR_CASE(red, U16) GR_CASE(red, I16) GR_CASE(red, U32) GR_CASE(red, I32) GR_CASE(red, I64)

#endif
