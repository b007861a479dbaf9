/*
** The warp layer: exchanging states between lanes, and folding the lanes of a leaf by halves.
*/
#ifndef GR_CUDA_WARP_FOLD_CUH
#define GR_CUDA_WARP_FOLD_CUH

#include "kernels/cuda/thread/reducers.cuh"

/* This thread's warp; the shuffle tells the compiler that it is one number for all threads of the warp. */
__device__ __forceinline__ int gr_warp_index() { return __shfl_sync(~0u, (int)threadIdx.x >> 5, 0); }

template <class R>
__device__ __forceinline__ gr_acc gr_shuffle_xor(gr_acc a, int mask) {
#pragma unroll
  for (int i = 0; i < R::fields; i++) a.i[i] = __shfl_xor_sync(~0u, (long long)a.i[i], mask);
  return a;
}

template <class R>
__device__ __forceinline__ gr_acc gr_shuffle_from(gr_acc a, int source) {
#pragma unroll
  for (int i = 0; i < R::fields; i++) a.i[i] = __shfl_sync(~0u, (long long)a.i[i], source);
  return a;
}

template <class R>
__device__ __forceinline__ gr_acc gr_select(bool c, gr_acc a, gr_acc b) {
#pragma unroll
  for (int i = 0; i < R::fields; i++) a.i[i] = c ? a.i[i] : b.i[i];
  return a;
}

/* Merge with the thread `mask` away; merging is symmetric, so both get the same. */
template <class R>
__device__ __forceinline__ gr_acc gr_merge_xor(gr_acc a, int mask) {
  return R::merge(a, gr_shuffle_xor<R>(a, mask));
}

/* The largest of a warp's numbers; of long ones, of the upper halves, then of the lower ones beside it. */
template <class T>
__device__ __forceinline__ T gr_warp_max(T x) {
#if __CUDA_ARCH__ >= 800
  if constexpr (sizeof(T) == 4) return __reduce_max_sync(~0u, x);
  else {
    int high = __reduce_max_sync(~0u, (int)(x >> 32));
    uint32_t low = __reduce_max_sync(~0u, (int)(x >> 32) == high ? (uint32_t)x : 0u);
    return (int64_t)high << 32 | low;
  }
#else
#pragma unroll
  for (int h = 16; h > 0; h /= 2) {
    T y = (T)__shfl_xor_sync(~0u, (std::conditional_t<sizeof(T) == 8, long long, T>)x, h);
    x = x > y ? x : y;
  }
  return x;
#endif
}
template <class T>
__device__ __forceinline__ T gr_warp_min(T x) {
  return ~gr_warp_max((T)~x);
}

/* The sum of a warp's numbers. */
__device__ __forceinline__ uint32_t gr_warp_sum(uint32_t x) {
#if __CUDA_ARCH__ >= 800
  return __reduce_add_sync(~0u, x);
#else
#pragma unroll
  for (int h = 16; h > 0; h /= 2) x += __shfl_xor_sync(~0u, x, h);
  return x;
#endif
}

/* `count` (a power of two up to 32) neighbours fold by adjacency; extremes of whole warps in any order. */
template <class R>
__device__ __forceinline__ gr_acc gr_fold_adjacent(gr_acc a, int count) {
  constexpr bool extreme = R::kind == GR_ACC_ORDER || R::kind == GR_ACC_POSITION;
  constexpr int copies = R::number ? 1 : 5; /* one is less to compile */
  if constexpr (extreme && !R::number)
    if (count == 32) {
      constexpr bool order = R::kind == GR_ACC_ORDER;
      int64_t most = gr_warp_max(a.i[order ? 1 : 0]);
      int64_t least = gr_warp_min(order || a.i[0] == most ? a.i[order ? 0 : 1] : INT64_MAX);
      a.i[order ? 1 : 0] = most;
      a.i[order ? 0 : 1] = least;
      return a;
    }
#pragma unroll copies
  for (int h = 1; h < 32; h *= 2)
    if (h < count) a = gr_merge_xor<R>(a, h);
  return a;
}

/*
** `threads` neighbours hold C lanes each: lane l is number l % C of thread l / C. Fold by halves: the upper
** half of the threads onto the lower, and so on, then the C within a thread. In the first `trades` steps two
** threads trade halves of what they hold, so that each merges half as much and nothing twice.
*/
template <class R, int C, int held, int trades>
__device__ __forceinline__ void gr_trade(gr_acc (&v)[C], int h, int lane) {
  if constexpr (trades > 0) {
    bool upper = lane & h;
#pragma unroll
    for (int c = 0; c < held / 2; c++) {
      gr_acc keep = gr_select<R>(upper, v[c + held / 2], v[c]), give = gr_select<R>(upper, v[c], v[c + held / 2]);
      v[c] = R::merge(keep, gr_shuffle_xor<R>(give, h));
    }
    gr_trade<R, C, held / 2, trades - 1>(v, h / 2, lane);
  }
}
template <class R, int C, int held>
__device__ __forceinline__ void gr_fold_own(gr_acc (&v)[C]) {
  if constexpr (held > 1) {
#pragma unroll
    for (int c = 0; c < held / 2; c++) v[c] = R::merge(v[c], v[c + held / 2]);
    gr_fold_own<R, C, held / 2>(v);
  }
}
template <class R, int C, int trades>
__device__ __forceinline__ gr_acc gr_fold_traded(gr_acc (&v)[C], int threads, int lane) {
  constexpr int held = C >> trades;
  gr_trade<R, C, C, trades>(v, threads / 2, lane);
  if constexpr (held == 1) {
#pragma unroll
    for (int i = trades + 1; i <= 5; i++)
      if (threads >> i > 0) v[0] = gr_merge_xor<R>(v[0], threads >> i);
  }
#pragma unroll
  for (int i = 1; i <= trades; i++)
#pragma unroll
    for (int c = 0; c < held; c++) v[c] = gr_merge_xor<R>(v[c], threads >> i);
  gr_fold_own<R, C, held>(v);
  return v[0];
}

template <class R, int C, int trades = 0>
__device__ __forceinline__ gr_acc gr_fold_halves(gr_acc (&v)[C], int threads, int lane) {
  if constexpr (C >> trades == 1) {
    return gr_fold_traded<R, C, trades>(v, threads, lane);
  } else {
    if (threads == 1 << trades) return gr_fold_traded<R, C, trades>(v, threads, lane);
    return gr_fold_halves<R, C, trades + 1>(v, threads, lane);
  }
}

/* How many lanes a thread keeps in one 16-byte word's worth of elements. */
template <class R>
constexpr int gr_lanes_of = R::lanes ? 16 / gr_size<R::dtype> : 1;

/* The lanes of `threads` neighbours become one state, the same in all of them. */
template <class R>
__device__ __forceinline__ gr_acc gr_fold_lanes(const typename R::Lane (&lane)[gr_lanes_of<R>], const gr_context &k,
                                                int threads, int me) {
  gr_acc v[gr_lanes_of<R>];
#pragma unroll
  for (int c = 0; c < gr_lanes_of<R>; c++) v[c] = R::state(lane[c], k);
  return gr_fold_halves<R, gr_lanes_of<R>>(v, threads, me);
}

/*
** Equally large parts that come one after the other fold by adjacency, up to 2^levels of them: number i (counted from
** 0) joins the ones before it that it completes, and v becomes what they are together. C side by side do so together.
** Lanes of the tree that come in bit-reversed order are folded by halves so. A flag, and no way out of the middle, is
** less code where pushes are unrolled, and fewer registers for states of several fields.
*/
template <class T, int levels, int C = 1>
struct gr_stack {
  T level[levels][C];
  template <class Merge>
  __device__ __forceinline__ void push(T (&v)[C], int i, const Merge &merge) {
    bool carried = true;
#pragma unroll
    for (int s = 0; s < levels; s++) {
      const bool odd = i >> s & 1;
      if (carried && odd) {
#pragma unroll
        for (int c = 0; c < C; c++) v[c] = merge(level[s][c], v[c]);
      } else if (carried) {
        carried = false;
#pragma unroll
        for (int c = 0; c < C; c++) level[s][c] = v[c];
      }
    }
  }
};

/* `count` (a power of two up to 16) states by halves; get(i) is number i. */
template <int i = 0, int step = 1, class Get, class Merge>
__device__ __forceinline__ auto gr_fold_rows(const Get &get, const Merge &merge, int count) {
  if constexpr (step >= 16) {
    return get(i);
  } else {
    if (step >= count) return get(i);
    const auto a = gr_fold_rows<i, step * 2>(get, merge, count);
    return merge(a, gr_fold_rows<i + step, step * 2>(get, merge, count));
  }
}
/* Doubles that are added up; number i lies at p(i). */
template <class P>
__device__ __forceinline__ double gr_sum_rows(const P &p, int count) {
  return gr_fold_rows([&](int i) -> double { return *p(i); }, [](double a, double b) { return a + b; }, count);
}

#endif
