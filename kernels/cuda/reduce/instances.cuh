/*
** What every instances_*.cu includes: it turns a reducer and a dtype into the launch of its kernels.
*/
#ifndef GR_CUDA_REDUCE_INSTANCES_CUH
#define GR_CUDA_REDUCE_INSTANCES_CUH

#include "kernels/cuda/reduce/entry.cuh"
#include "kernels/cuda/reduce/cols_ordered.cuh"
#include "kernels/cuda/reduce/cols_few_rows.cuh"
#include "kernels/cuda/reduce/rows_staged.cuh"
#include "kernels/cuda/reduce/leaves.cuh"
#include "kernels/cuda/reduce/cols_variance_ring.cuh"
#include "kernels/cuda/reduce/rows_by_element.cuh"
#include "kernels/cuda/reduce/cols_sum.cuh"
#include "kernels/cuda/reduce/cols_unordered.cuh"
#include "kernels/cuda/reduce/rows_by_vector.cuh"

template <class R>
static const void *gr_rows_by_vector_kernel() {
  if constexpr (gr_has_rows_by_vector<R>) return (const void *)gr_reduce_rows_by_vector<R>;
  else return NULL;
}

template <class R>
static const void *gr_rows_staged_kernel() {
  if constexpr (gr_has_rows_staged<R>) return (const void *)gr_reduce_rows_staged<R>;
  else return NULL;
}
template <class R>
static const void *gr_cols_kernel() {
  if constexpr (!R::lanes) return (const void *)gr_reduce_cols_unordered<R>;
  else return (const void *)gr_reduce_cols_ordered<R>;
}
template <class R>
static const void *gr_cols_few_rows_kernel() {
  if constexpr (gr_has_cols_few_rows<R>) return (const void *)gr_reduce_cols_few_rows<R>;
  else return NULL;
}
template <class R>
static const void *gr_cols_sum_kernel() {
  if constexpr (gr_has_cols_sum<R>) return (const void *)gr_reduce_cols_sum<R>;
  else return NULL;
}
template <class R>
static const void *gr_cols_variance_ring_kernel() {
  if constexpr (gr_has_cols_variance_ring<R>) return (const void *)gr_reduce_cols_variance_ring<R>;
  else return NULL;
}
/* What a plan must know of it. */
template <class R>
static gr_reduce_entry gr_with_columns(gr_reduce_entry e) {
  e.ordered = R::lanes;
  if constexpr (R::lanes) {
    e.columns = gr_ordered_each<R>;
    e.few_rows_columns = gr_has_cols_few_rows<R> ? gr_few_columns<R> : 0;
    if constexpr (gr_has_cols_variance_ring<R>) e.ring_bytes = gr_variance_bytes<gr_size<R::dtype>, R::fields>;
    e.cols_sum = gr_has_cols_sum<R>;
    e.cols_sum_levels = gr_cols_sum_levels<R>;
    e.lanes = gr_ordered_lanes<R>;
    e.leaf = gr_ordered_leaf<R>;
    e.warps = gr_ordered_warps<R>;
  } else {
    e.columns = gr_strip_columns<R>;
    e.leaf = R::leaves ? GR_LEAF(gr_size<R::dtype>) : 0;
    e.warps = gr_strip_warps;
  }
  return e;
}

template <class R>
static cudaError_t gr_launch_reduce(const gr_reduce_args &q, const gr_reduce_launch &l) {
  switch (l.shape) {
    case GR_ROWS_BY_VECTOR: return gr_launch_kernel(gr_rows_by_vector_kernel<R>(), q, l);
    case GR_LEAVES: return gr_launch_kernel((const void *)gr_reduce_leaves<R>, q, l);
    case GR_ROWS_BY_ELEMENT: return gr_launch_kernel((const void *)gr_reduce_rows_by_element<R>, q, l);
    case GR_ROWS_STAGED: return gr_launch_kernel(gr_rows_staged_kernel<R>(), q, l);
    case GR_COLS_FEW_ROWS: return gr_launch_kernel(gr_cols_few_rows_kernel<R>(), q, l);
    case GR_COLS_SUM: return gr_launch_kernel(gr_cols_sum_kernel<R>(), q, l);
    case GR_COLS_VARIANCE_RING: return gr_launch_ring(gr_cols_variance_ring_kernel<R>(), q, l);
    default: return gr_launch_kernel(gr_cols_kernel<R>(), q, l);
  }
}

template <class R>
static gr_reduce_entry gr_entry() {
  gr_rows_way way = gr_by_words_alone<R> ? GR_ROWS_WORDS : gr_has_rows_staged<R> ? GR_ROWS_LANES : GR_ROWS_ELEMENTS;
  return gr_with_columns<R>(
      {gr_launch_reduce<R>, R::fields, gr_leaves_resident<R>, way, gr_has_rows_by_vector<R>, gr_staged_words<R>});
}

/* Of what is never asked of rows or columns: one kernel, which would do for them too. */
template <class R>
static cudaError_t gr_launch_flat(const gr_reduce_args &q, const gr_reduce_launch &l) {
  return gr_launch_kernel((const void *)gr_reduce_leaves<R>, q, l);
}
template <class R>
static gr_reduce_entry gr_entry_flat() {
  return {gr_launch_flat<R>, R::fields, gr_leaves_resident<R>};
}

/* Without the kernel for short rows: of what is rarely asked of many. */
template <class R>
static cudaError_t gr_launch_long(const gr_reduce_args &q, const gr_reduce_launch &l) {
  if (l.shape == GR_LEAVES) return gr_launch_flat<R>(q, l);
  return gr_launch_kernel(gr_cols_kernel<R>(), q, l);
}
template <class R>
static gr_reduce_entry gr_entry_long() {
  return gr_with_columns<R>({gr_launch_long<R>, R::fields, gr_leaves_resident<R>});
}

/*
** GR_ENTRY(reducer, cases): its gr_entry_REDUCER, which entry.cuh declares for each row of GR_REDUCERS; one that no
** file defines is an error of the linker, a dtype that the cases lack one of the compiler. GR_ENTRY_LIKE: the kernels
** of another reducer do for it. The cases are kernels over all dtypes, or over the floats; GR_BITS: over integers by
** size alone, where their sign does not matter; GR_NONE: there are none.
*/
#define GR_ENTRY(red, cases)                       \
  gr_reduce_entry gr_entry_##red(gr_dtype t) {     \
    switch (t) { cases }                           \
    return {};                                     \
  }
#define GR_ENTRY_LIKE(red, other) \
  gr_reduce_entry gr_entry_##red(gr_dtype t) { return gr_entry_##other(t); }
#define GR_NONE(red, D) \
  case GR_##D: return {};
#define GR_NO_INTS(red)                                                                        \
  static_assert(gr_int_kinds[GR_RED_##red] == GR_ACC_NONE, "it is defined for integers");      \
  GR_NONE(red, U8)                                                                             \
  GR_NONE(red, I8) GR_NONE(red, U16) GR_NONE(red, I16) GR_NONE(red, U32) GR_NONE(red, I32) GR_NONE(red, I64)
#define GR_NO_FLOATS(red)                                                                      \
  static_assert(gr_float_kinds[GR_RED_##red] == GR_ACC_NONE, "it is defined for floats");      \
  GR_NONE(red, F16) GR_NONE(red, BF16) GR_NONE(red, F32) GR_NONE(red, F64)
#define GR_AS(red, D, entry, as) \
  case GR_##D:                   \
    return entry<gr_reducer_for<GR_RED_##red, GR_##as>>();
#define GR_CASE(red, D) GR_AS(red, D, gr_entry, D)
#define GR_BITS(red, entry)                                                                                     \
  GR_AS(red, U8, entry, U8)                                                                                     \
  GR_AS(red, I8, entry, U8) GR_AS(red, U16, entry, U16) GR_AS(red, I16, entry, U16) GR_AS(red, U32, entry, U32) \
      GR_AS(red, I32, entry, U32) GR_AS(red, I64, entry, I64)
#define GR_FLOATS_AS(red, entry) \
  GR_AS(red, F16, entry, F16) GR_AS(red, BF16, entry, BF16) GR_AS(red, F32, entry, F32) GR_AS(red, F64, entry, F64)
#define GR_FLOATS(red) GR_FLOATS_AS(red, gr_entry)
#define GR_INTS_AS(red, entry)                                                                                  \
  GR_AS(red, U8, entry, U8)                                                                                     \
  GR_AS(red, I8, entry, I8) GR_AS(red, U16, entry, U16) GR_AS(red, I16, entry, I16) GR_AS(red, U32, entry, U32) \
      GR_AS(red, I32, entry, I32) GR_AS(red, I64, entry, I64)
#define GR_INTS(red) GR_INTS_AS(red, gr_entry)

#endif
