/*
** Skeletons of sum and extremes in one pass, for sum, mean, min, max and minmax of one formula together: of one vector,
** to a number each. The state is that of the sum and the two keys of the extremes.
*/
#include "kernels/cuda/formula/skeletons.cuh"

template <gr_dtype D>
struct gr_sum_and_order : gr_common<GR_RED_SUM, D> {
  using S = gr_reducer_for<GR_RED_SUM, D>;
  using T = gr_type<D>;
  using K = gr_key_type<D>;
  struct Lane {
    typename S::Lane sum;
    K low, high;
  };
  static_assert(S::fields == 1, "the keys follow the sum");
  static constexpr int fields = 3;
  static constexpr bool lanes = S::lanes, leaves = S::leaves;
  static __device__ __forceinline__ gr_acc with_keys(gr_acc a, int64_t low, int64_t high) {
    a.i[1] = low;
    a.i[2] = high;
    return a;
  }
  static __device__ __forceinline__ gr_acc identity() { return with_keys(S::identity(), INT64_MAX, INT64_MIN); }
  static __device__ __forceinline__ gr_acc merge(gr_acc a, gr_acc b) {
    return with_keys(S::merge(a, b), min(a.i[1], b.i[1]), max(a.i[2], b.i[2]));
  }
  static __device__ __forceinline__ Lane start() { return Lane{S::start(), gr_highest<K>(), gr_lowest<K>()}; }
  static __device__ __forceinline__ void add(Lane &l, T x, T y, const gr_context &k, int code) {
    const K key = (K)gr_element<D>::key(x);
    S::add(l.sum, x, y, k, code);
    l.low = min(l.low, key);
    l.high = max(l.high, key);
  }
  static __device__ __forceinline__ gr_acc state(const Lane &l, const gr_context &k) {
    return with_keys(S::state(l.sum, k), l.low, l.high);
  }
};

#define GR_X(id, s, l, type, kind) GR_SKELETON_OF(gr_sum_and_order<GR_##id>, true)
GR_DTYPES(GR_X)
#undef GR_X
