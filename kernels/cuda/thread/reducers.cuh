/* Reducers of integers that wrap, counts, sums of exponentials; and the choice of one for an operation and a dtype. */
#ifndef GR_CUDA_THREAD_REDUCERS_CUH
#define GR_CUDA_THREAD_REDUCERS_CUH

#include "kernels/cuda/thread/extremes.cuh"
#include "kernels/cuda/thread/variance.cuh"

/* Integers that wrap, and counts: order does not matter at all. */
template <gr_reducer RED, gr_dtype D>
struct gr_wrapping : gr_common<RED, D> {
  using B = gr_common<RED, D>;
  using T = typename B::T;
  static constexpr bool counts = RED == GR_RED_COUNT || RED == GR_RED_DIFFER;
  /* A thread sees at most 2^12 elements: 32 bits hold their sum, or their products summed for bytes. */
  static constexpr bool narrow =
      counts || (RED == GR_RED_SUM && gr_size<D> <= 2) || (RED == GR_RED_DOT && gr_size<D> == 1);
  using S = std::conditional_t<narrow, uint32_t, uint64_t>;
  struct Lane {
    S s;
  };
  static constexpr bool lanes = false, leaves = false;
  static __device__ __forceinline__ Lane start() { return Lane{(S)(RED == GR_RED_PROD)}; }
  static __device__ __forceinline__ void add(Lane &l, T x, T y, const gr_context &k, int) {
    if constexpr (RED == GR_RED_COUNT) l.s += (T)((uint64_t)x << (k.skip_sign != 0)) != 0;
    else if constexpr (RED == GR_RED_DIFFER) l.s += gr_unequal<D>(x, y);
    else if constexpr (RED == GR_RED_SUM) l.s += (S)(int64_t)x;
    else if constexpr (RED == GR_RED_PROD) l.s *= (S)(int64_t)x;
    else if constexpr (gr_size<D> <= 2) l.s += (S)((int64_t)x * (int64_t)y);
    else l.s += (S)(int64_t)x * (S)(int64_t)y;
  }
  /*
  ** Narrow elements, 32 bits at a time: sums and dots by the instructions made for them, counts by the bits that
  ** a carry leaves at the top of what is not zero, products because those of four bytes or two shorts fit.
  */
  static constexpr bool by_part = gr_size<D> <= 2 && (RED == GR_RED_PROD || RED == GR_RED_SUM || RED == GR_RED_COUNT ||
                                                      (RED == GR_RED_DIFFER && !gr_floating<D>) ||
                                                      (RED == GR_RED_DOT && gr_size<D> == 1)),
                        by_word = by_part;
  static __device__ __forceinline__ void add_part(Lane &l, uint32_t x, uint32_t y, const gr_context &k) {
    using W = std::conditional_t<gr_element<D>::kind == GR_INT, int32_t, uint32_t>;
    if constexpr (counts) {
      constexpr uint32_t low = gr_size<D> == 1 ? 0x7f7f7f7fu : 0x7fff7fffu;
      uint32_t u = RED == GR_RED_DIFFER ? x ^ y : x;
      l.s += __popc((((u & low) + low) | (k.skip_sign ? 0u : u)) & ~low);
    } else if constexpr (RED == GR_RED_SUM) {
      if constexpr (gr_size<D> == 1) l.s = (S)__dp4a((W)x, (W)0x01010101, (W)l.s);
      else l.s = (S)__dp2a_lo((W)x, (W)0x0101, (W)l.s);
    } else if constexpr (RED == GR_RED_DOT) {
      l.s = (S)__dp4a((W)x, (W)y, (W)l.s);
    } else if constexpr (RED == GR_RED_PROD) {
      using P = std::conditional_t<std::is_signed_v<T>, int32_t, uint32_t>;
      const uint4 w = make_uint4(x, 0, 0, 0);
      P p = (P)gr_pick<D>(w, 0);
#pragma unroll
      for (int i = 1; i < 4 / gr_size<D>; i++) p *= (P)gr_pick<D>(w, i);
      l.s *= (S)(int64_t)p;
    }
  }
  static __device__ __forceinline__ void add_word(Lane &l, const uint4 &a, const uint4 &b, const gr_context &k, int) {
    gr_add_parts<gr_wrapping>(l, a, b, k);
  }
  static __device__ __forceinline__ gr_acc state(const Lane &l, const gr_context &) {
    gr_acc a = B::identity();
    a.i[0] = narrow && !counts ? (int64_t)(int32_t)l.s : (int64_t)l.s;
    return a;
  }
};

/* The sum of i64 in 128 bits. */
template <gr_reducer RED, gr_dtype D>
struct gr_wide : gr_common<RED, D> {
  using B = gr_common<RED, D>;
  using T = typename B::T;
  struct Lane {
    uint64_t low;
    int64_t high;
  };
  static constexpr bool lanes = false, leaves = false;
  static __device__ __forceinline__ Lane start() { return Lane{0, 0}; }
  static __device__ __forceinline__ void add(Lane &l, T x, T, const gr_context &, int) {
    uint64_t u = (uint64_t)(int64_t)x;
    l.low += u;
    l.high += (int64_t)(l.low < u) + ((int64_t)x >> 63);
  }
  static __device__ __forceinline__ gr_acc state(const Lane &l, const gr_context &) {
    gr_acc a = B::identity();
    a.i[0] = (int64_t)(l.low & UINT32_MAX);
    a.i[1] = (int64_t)((uint64_t)l.high << 32 | l.low >> 32);
    return a;
  }
};

/*
** Exponentials under their largest: each element costs one, of its distance to the largest so far, by which either it
** or the sum is scaled. In line where a thread has few at once, so that they overlap; the others call it.
*/
template <gr_reducer RED, gr_dtype D>
struct gr_scaled : gr_common<RED, D> {
  using B = gr_common<RED, D>;
  using T = typename B::T;
  struct Lane {
    double most, sum;
  };
  static constexpr bool lanes = true, leaves = true, in_line = gr_floating<D> && gr_size<D> >= 4;
  static __device__ __forceinline__ Lane start() {
    gr_acc a = B::identity();
    return Lane{a.f[0], a.f[1]};
  }
  static __device__ __forceinline__ void add(Lane &l, T ex, T, const gr_context &k, int) {
    gr_acc a = state(l, k), x = B::identity();
    x.f[0] = gr_to_f64<D>(ex);
    x.f[1] = 1.0;
    a = in_line ? gr_merge_scaled(a, x) : B::merge(a, x);
    l = Lane{a.f[0], a.f[1]};
  }
  static __device__ __forceinline__ gr_acc state(const Lane &l, const gr_context &) {
    gr_acc a = B::identity();
    a.f[0] = l.most;
    a.f[1] = l.sum;
    return a;
  }
};

/* The reducer for RED over elements of dtype D. */
template <gr_reducer RED, gr_dtype D>
struct gr_choose {
  static constexpr gr_acc_kind kind = gr_kind_for<RED, D>;
  static constexpr bool integer = !gr_floating<D>, sixteen = D == GR_F16 || D == GR_BF16;
  static constexpr bool single = RED == GR_RED_SUM_F32 || RED == GR_RED_DOT_F32;
  static constexpr bool small_terms = integer && gr_size<D> <= 2;
  static auto pick() {
    if constexpr (kind == GR_ACC_WRAP) return gr_wrapping<RED, D>{};
    else if constexpr (kind == GR_ACC_WIDE) return gr_wide<RED, D>{};
    else if constexpr (kind == GR_ACC_ORDER) return gr_order<RED, D>{};
    else if constexpr (kind == GR_ACC_POSITION) return gr_position<GR_RED_ARGMAX, D>{};
    else if constexpr (kind == GR_ACC_VARIANCE) return gr_two_pass<RED, D>{};
    else if constexpr (kind == GR_ACC_SCALED) return gr_scaled<RED, D>{};
    else if constexpr (single || (sixteen && (RED == GR_RED_SUM || RED == GR_RED_DOT))) return gr_in_f32<RED, D>{};
    else if constexpr (small_terms) return gr_exact<RED, D>{};
    else return gr_in_f64<RED, D>{};
  }
  using type = decltype(pick());
};
template <gr_reducer RED, gr_dtype D>
using gr_reducer_for = typename gr_choose<RED, D>::type;

#endif
