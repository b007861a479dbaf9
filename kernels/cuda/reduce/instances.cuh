/*
** What every instances_*.cu includes: all kernels, and from them the entries of reducers and dtypes (reduce/entry.cuh).
*/
#ifndef GR_CUDA_REDUCE_INSTANCES_CUH
#define GR_CUDA_REDUCE_INSTANCES_CUH

#include "kernels/cuda/reduce/entry.cuh"
#include "kernels/cuda/reduce/cols_by_lane.cuh"
#include "kernels/cuda/reduce/cols_few_rows.cuh"
#include "kernels/cuda/reduce/cols_flat.cuh"
#include "kernels/cuda/reduce/rows_staged.cuh"
#include "kernels/cuda/reduce/leaves.cuh"
#include "kernels/cuda/reduce/cols_variance_ring.cuh"
#include "kernels/cuda/reduce/rows_by_element.cuh"
#include "kernels/cuda/reduce/rows_of_integers.cuh"
#include "kernels/cuda/reduce/cols_sum.cuh"
#include "kernels/cuda/reduce/cols_unordered.cuh"
#include "kernels/cuda/reduce/rows_by_vector.cuh"

template <class R>
constexpr bool gr_has_leaves = true;
template <class R>
constexpr bool gr_has_rows_by_element = true;
template <class R>
constexpr bool gr_has_cols_unordered = !R::lanes;

#define GR_X(name, scope)                                                                          \
  template <class R, gr_scope has>                                                                 \
  static const void *gr_##name##_kernel() {                                                        \
    if constexpr (has >= scope && gr_has_##name<R>) return (const void *)gr_reduce_##name<R>; \
    else return NULL;                                                                              \
  }
GR_REDUCE_KERNELS(GR_X)
#undef GR_X

/* Every field is set, since to clear the entry first would take longer than all else of a plan. */
template <class R, gr_scope has>
static gr_reduce_entry gr_entry_within() {
  gr_reduce_entry e;
#define GR_X(name, scope) e.kernel[GR_KERNEL_##name] = gr_##name##_kernel<R, has>();
  GR_REDUCE_KERNELS(GR_X)
#undef GR_X
  e.fields = R::fields;
  e.resident = gr_leaves_resident<R>;
  e.stages_unaligned = gr_by_words_alone<R>;
  e.stage_words = gr_staged_words<R>;
  e.alone = gr_by_element_alone<R>;
  e.by_lanes = R::lanes;
  e.columns = e.leaf = e.warps = e.cols_sum_levels = 0;
  e.ring_bytes = 0;
  if constexpr (has > GR_FLAT && gr_has_cols_unordered<R>) {
    e.columns = gr_strip_columns<R>;
    e.leaf = R::leaves ? GR_LEAF(gr_size<R::dtype>) : 0;
    e.warps = gr_strip_warps;
  }
  if constexpr (gr_has_cols_sum<R>) e.cols_sum_levels = gr_cols_sum_levels<R>;
  if constexpr (gr_has_cols_variance_ring<R>) e.ring_bytes = gr_variance_bytes<gr_size<R::dtype>, R::fields, R::skips>;
  return e;
}
template <class R>
static gr_reduce_entry gr_entry() { return gr_entry_within<R, GR_ALL>(); }
template <class R>
static gr_reduce_entry gr_entry_long() { return gr_entry_within<R, GR_LONG>(); }
template <class R>
static gr_reduce_entry gr_entry_flat() { return gr_entry_within<R, GR_FLAT>(); }

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
#define GR_WIDE_INTS_AS(red, entry)                                                             \
  GR_AS(red, U16, entry, U16)                                                                   \
  GR_AS(red, I16, entry, I16) GR_AS(red, U32, entry, U32) GR_AS(red, I32, entry, I32) GR_AS(red, I64, entry, I64)
#define GR_INTS_AS(red, entry) GR_AS(red, U8, entry, U8) GR_AS(red, I8, entry, I8) GR_WIDE_INTS_AS(red, entry)
#define GR_INTS(red) GR_INTS_AS(red, gr_entry)

#endif
