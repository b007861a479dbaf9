/*
** Skeletons: extremes and their positions (kernels/cuda/formula/skeletons.cuh). Extremes by the keys of elements, which
** are less to compile than what gr_order does by words: a formula's elements are in registers one by one anyway.
*/
#include "kernels/cuda/formula/skeletons.cuh"

template <gr_reducer RED, gr_dtype D>
struct gr_order_by_key : gr_common<RED, D> {
  using T = gr_type<D>;
  using K = gr_key_type<D>;
  struct Lane {
    K low, high;
  };
  static constexpr bool lanes = false, leaves = false;
  static __device__ __forceinline__ Lane start() { return Lane{gr_highest<K>(), gr_lowest<K>()}; }
  static __device__ __forceinline__ void add(Lane &l, T x, T, const gr_context &, int) {
    const K key = (K)gr_element<D>::key(x);
    l.low = min(l.low, key);
    l.high = max(l.high, key);
  }
  static __device__ __forceinline__ gr_acc state(const Lane &l, const gr_context &) {
    gr_acc a;
    a.i[0] = l.low;
    a.i[1] = l.high;
    a.i[2] = 0;
    return a;
  }
};

/* The least of one formula and the greatest of another: where elements are missing, they are filled differently. */
template <gr_dtype D>
struct gr_ends_by_key : gr_order_by_key<GR_RED_MINMAX, D> {
  using B = gr_order_by_key<GR_RED_MINMAX, D>;
  using T = typename B::T;
  using K = typename B::K;
  using Lane = typename B::Lane;
  static constexpr int inputs = 2;
  static __device__ __forceinline__ void add(Lane &l, T x, T y, const gr_context &, int) {
    l.low = min(l.low, (K)gr_element<D>::key(x));
    l.high = max(l.high, (K)gr_element<D>::key(y));
  }
};

#define GR_X(id, s, l, type, kind) GR_SKELETON_OF(gr_ends_by_key<GR_##id>, true)
GR_DTYPES(GR_X)
#undef GR_X
#define GR_X(id, s, l, type, kind)                                     \
  GR_SKELETON_OF(gr_order_by_key<GR_RED_MINMAX GR_COMMA GR_##id>, true) \
  GR_SKELETON_OF(gr_order_by_key<GR_RED_MINMAX GR_COMMA GR_##id>, false)
GR_DTYPES(GR_X)
#undef GR_X
/* integers as unsigned ones of their size */
GR_SKELETON(ARGMAX, U8) GR_SKELETON(ARGMAX, U16) GR_SKELETON(ARGMAX, U32) GR_SKELETON(ARGMAX, I64)
GR_SKELETON(ARGMAX, F16) GR_SKELETON(ARGMAX, BF16) GR_SKELETON(ARGMAX, F32) GR_SKELETON(ARGMAX, F64)
