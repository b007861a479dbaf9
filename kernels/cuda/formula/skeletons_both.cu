/*
** Skeletons of sum and extremes in one pass, for sum, mean, min, max and minmax of one formula together: of one vector,
** to a number each. The state is that of the sum and the two keys of the extremes, which a thread keeps for all its
** leaves together: their order does not matter, and leaves are folded without them.
*/
#include "kernels/cuda/formula/skeletons.cuh"

/* What reads: the sum, and the extremes beside it. */
template <gr_dtype D>
struct gr_sum_beside_order : gr_of_formula<gr_reducer_for<GR_RED_SUM, D>, true> {
  using K = gr_key_type<D>;
  static constexpr bool beside = true;
  struct Beside {
    K low = gr_highest<K>(), high = gr_lowest<K>();
  };
  /* The first `valid` elements of a word. */
  static __device__ __forceinline__ void add_beside(Beside &s, const uint4 &word, int valid) {
#pragma unroll
    for (int c = 0; c < 16 / gr_size<D>; c++)
      if (c < valid) {
        const K key = (K)gr_element<D>::key(gr_pick<D>(word, c));
        s.low = min(s.low, key);
        s.high = max(s.high, key);
      }
  }
};

template <gr_dtype D>
struct gr_sum_and_order : gr_common<GR_RED_SUM, D> {
  using S = gr_reducer_for<GR_RED_SUM, D>;
  using Read = gr_sum_beside_order<D>;
  static_assert(S::fields == 1, "the keys follow the sum");
  static constexpr int fields = 3;
  static constexpr bool lanes = S::lanes, leaves = S::leaves, beside = true;
  static __device__ __forceinline__ gr_acc with_keys(gr_acc a, int64_t low, int64_t high) {
    a.i[1] = low;
    a.i[2] = high;
    return a;
  }
  static __device__ __forceinline__ gr_acc identity() { return with_keys(S::identity(), INT64_MAX, INT64_MIN); }
  static __device__ __forceinline__ gr_acc merge(gr_acc a, gr_acc b) {
    return with_keys(S::merge(a, b), min(a.i[1], b.i[1]), max(a.i[2], b.i[2]));
  }
  /* The first leaf of a warp has the keys of all. */
  static __device__ __forceinline__ gr_acc with(gr_acc a, const typename Read::Beside &s, int lane) {
    const int64_t low = gr_warp_min(s.low), high = gr_warp_max(s.high);
    return lane == 0 ? with_keys(a, low, high) : with_keys(a, INT64_MAX, INT64_MIN);
  }
};

#define GR_X(id, s, l, type, kind) GR_SKELETON_OF(gr_sum_and_order<GR_##id>, true)
GR_DTYPES(GR_X)
#undef GR_X
