/*
** The main kernel: one warp reads a leaf. For flat arrays, long rows and any stride.
*/
#ifndef GR_REDUCE_LEAVES_CUH
#define GR_REDUCE_LEAVES_CUH

#include "kernels/cuda/grid.cuh"
#include "kernels/cuda/load.cuh"

/* Rows in flight at once. */
template <class R>
constexpr int gr_batch = R::inputs == 2 ? 4 : 8;

template <class Q, int rows>
__device__ __forceinline__ void gr_add_rows(typename Q::Lane (&l)[gr_lanes_of<Q>], const uint4 (&a)[rows],
                                            const uint4 (&b)[rows], const gr_context &k) {
  constexpr int each = 16 / gr_size<Q::dtype>;
#pragma unroll
  for (int r = 0; r < rows; r++) {
    if constexpr (Q::by_word) {
      Q::add_word(l[0], a[r], b[r], k, r * each);
    } else {
#pragma unroll
      for (int c = 0; c < each; c++)
        Q::add(l[Q::lanes ? c : 0], gr_pick<Q::dtype>(a[r], c), gr_pick<Q::dtype>(b[r], c), k, r * each + c);
    }
  }
}

/* The first `valid` elements of one word. */
template <class Q>
__device__ __forceinline__ void gr_add_some(typename Q::Lane (&l)[gr_lanes_of<Q>], uint4 a, uint4 b, int valid,
                                            const gr_context &k, int code) {
#pragma unroll
  for (int c = 0; c < 16 / gr_size<Q::dtype>; c++)
    if (c < valid) Q::add(l[Q::lanes ? c : 0], gr_pick<Q::dtype>(a, c), gr_pick<Q::dtype>(b, c), k, code + c);
}

template <int n>
__device__ __forceinline__ void gr_rotate(uint4 (&w)[n]) {
  uint4 first = w[0];
#pragma unroll
  for (int i = 0; i + 1 < n; i++) w[i] = w[i + 1];
  w[n - 1] = first;
}

/* The word with elements k.. of a vector, whatever its walk; begun: what gr_begin_loose loaded for it. */
template <gr_dtype D>
__device__ __forceinline__ uint4 gr_loose_word(uint4 begun, const gr_walker &v, int64_t k, int valid) {
  const char *p = v.p + k * v.stride;
  if (v.walk == GR_STRIDED) return gr_gather<D>(p, v.stride, valid);
  return valid > 0 ? gr_load_end(begun, p, valid * gr_size<D>) : begun;
}

template <gr_dtype D, int rows>
__device__ __forceinline__ void gr_begin_loose(uint4 (&w)[rows], const gr_walker &v, int64_t k0, int64_t left) {
#pragma unroll
  for (int r = 0; r < rows; r++) {
    int k = r * GR_LANES(gr_size<D>);
    w[r] = make_uint4(0, 0, 0, 0);
    if (v.walk != GR_STRIDED && left > k) w[r] = gr_load_begin(v.p + (k0 + k) * gr_size<D>);
  }
}

/* A batch of rows of a leaf's end, or of strided data: word by word, so that the code stays small. */
template <class Q, int rows>
__device__ __forceinline__ void gr_add_loose(typename Q::Lane (&l)[gr_lanes_of<Q>], uint4 (&a)[rows], uint4 (&b)[rows],
                                             const gr_walker &wa, const gr_walker &wb, int64_t k0, int64_t left,
                                             int used, const gr_context &k) {
  constexpr int each = 16 / gr_size<Q::dtype>, row = GR_LANES(gr_size<Q::dtype>);
#pragma unroll 1
  for (int r = 0; r < used; r++) {
    int valid = (int)min(left - r * row, (int64_t)each);
    uint4 x = gr_loose_word<Q::dtype>(a[0], wa, k0 + r * row, valid), y = x;
    if (Q::inputs == 2) y = gr_loose_word<Q::dtype>(b[0], wb, k0 + r * row, valid);
    gr_add_some<Q>(l, x, y, valid, k, r * each);
    gr_rotate(a);
    if (Q::inputs == 2) gr_rotate(b);
  }
}

template <class Q>
struct gr_lane_set {
  typename Q::Lane l[gr_lanes_of<Q>];
};
template <class Q>
__device__ __forceinline__ gr_lane_set<Q> gr_start_lanes() {
  gr_lane_set<Q> s;
#pragma unroll
  for (int i = 0; i < gr_lanes_of<Q>; i++) s.l[i] = Q::start();
  return s;
}
/* The reducer itself; of one with two passes, the first. */
template <class R, bool = R::spread>
struct gr_plain {
  using type = R;
};
template <class R>
struct gr_plain<R, true> {
  using type = typename R::Sum;
};

/*
** A leaf that cannot be read row by row, from element `first`: the last one of a vector, or any of a strided
** one. Out of line, and with few rows in flight, to leave the main loop its registers.
*/
template <class Q, int rows>
__device__ __noinline__ gr_lane_set<Q> gr_read_loose(gr_walker a, gr_walker b, int64_t n, int64_t first, gr_context c) {
  constexpr int size = gr_size<Q::dtype>, each = 16 / size, row = GR_LANES(size);
  int lane = threadIdx.x & 31;
  gr_lane_set<Q> s = gr_start_lanes<Q>();
#pragma unroll 1
  for (int64_t k = first; k < min(n, first + GR_LEAF(size)); k += rows * row) {
    uint4 wa[rows], wb[rows];
    int64_t mine = k + lane * each;
    gr_begin_loose<Q::dtype, rows>(wa, a, mine, n - mine);
    if (Q::inputs == 2) gr_begin_loose<Q::dtype, rows>(wb, b, mine, n - mine);
    gr_add_loose<Q, rows>(s.l, wa, wb, a, b, mine, n - mine, (int)min((int64_t)rows, (n - k + row - 1) / row), c);
    if constexpr (Q::kind == GR_ACC_PLACE)
      Q::mark(s.l[0], k + s.l[0].code / each * row + lane * each + s.l[0].code % each);
  }
  return s;
}

/* A whole leaf at p (and b of the second input). k: its first position. */
template <class Q, int batch>
__device__ __forceinline__ void gr_read_whole(gr_lane_set<Q> &s, const gr_walker &a, const gr_walker &b, int64_t k,
                                              int lane, const gr_context &c) {
  constexpr int size = gr_size<Q::dtype>, each = 16 / size, row = GR_LANES(size);
#pragma unroll 1
  for (int r = 0; r < GR_LEAF_ROWS(size); r += batch) {
    uint4 wa[batch], wb[batch];
    gr_load_rows<batch>(wa, a.p + r * GR_ROW_BYTES, a.walk, lane);
    if (Q::inputs == 2) gr_load_rows<batch>(wb, b.p + r * GR_ROW_BYTES, b.walk, lane);
    gr_add_rows<Q, batch>(s.l, wa, wb, c);
    if constexpr (Q::kind == GR_ACC_PLACE)
      Q::mark(s.l[0], k + r * row + s.l[0].code / each * row + lane * each + s.l[0].code % each);
  }
}

/* The spread of a leaf. a.p: where a whole leaf starts; else the vector. */
template <class R>
__device__ __forceinline__ gr_acc gr_read_spread(const gr_walker &a, bool whole, int64_t n, int64_t first, int lane,
                                                 gr_context c) {
  int64_t count = min((int64_t)GR_LEAF(gr_size<R::dtype>), n - first);
  if constexpr (R::exact) {
    using M = typename R::Moments;
    gr_lane_set<M> moments = gr_start_lanes<M>();
    if (whole) gr_read_whole<M, 8>(moments, a, a, first, lane, c);
    else moments = gr_read_loose<M, 8>(a, a, n, first, c);
    return R::of(gr_fold_lanes<M>(moments.l, c, 32, lane), count);
  } else {
    using S = typename R::Sum;
    using M = typename R::Squares;
    gr_acc acc;
    acc.f[2] = (double)count;
    gr_lane_set<S> sum = gr_start_lanes<S>();
    gr_lane_set<M> squares = gr_start_lanes<M>();
    if (!whole) {
      sum = gr_read_loose<S, 8>(a, a, n, first, c);
      acc.f[0] = gr_fold_lanes<S>(sum.l, c, 32, lane).f[0];
      c.a = acc.f[0] / acc.f[2];
      squares = gr_read_loose<M, 8>(a, a, n, first, c);
    } else if constexpr (gr_size<R::dtype> <= 2) { /* too much for registers; the second pass finds it in L1 */
      gr_read_whole<S, 8>(sum, a, a, first, lane, c);
      acc.f[0] = gr_fold_lanes<S>(sum.l, c, 32, lane).f[0];
      c.a = acc.f[0] / acc.f[2];
      gr_read_whole<M, 8>(squares, a, a, first, lane, c);
    } else {
      uint4 w[8];
      gr_load_rows<8>(w, a.p, a.walk, lane);
      gr_add_rows<S, 8>(sum.l, w, w, c);
      acc.f[0] = gr_fold_lanes<S>(sum.l, c, 32, lane).f[0];
      c.a = acc.f[0] / acc.f[2];
      gr_add_rows<M, 8>(squares.l, w, w, c);
    }
    acc.f[1] = gr_fold_lanes<M>(squares.l, c, 32, lane).f[0];
    return acc;
  }
}

/*
** This warp's leaves of one node, 2^q.warps apart; lane i of the result holds the value of pass i (where order
** does not matter: every lane that of all passes).
*/
template <class R>
__device__ __forceinline__ gr_acc gr_read_passes(const gr_reduce_args &q, const gr_stretch &s, unsigned node, int sub,
                                                 int lane) {
  constexpr int size = gr_size<R::dtype>, leaf = GR_LEAF(size),
                log_leaf = size == 1 || size == 2 ? 12
                           : size == 4            ? 10
                                                  : 9;
  static_assert(1 << log_leaf == leaf, "leaves are powers of two");
  const gr_walker a = gr_walk_of<R::dtype>(q.job.a, s.from), b = gr_walk_of<R::dtype>(q.job.b, s.from);
  int shift = log_leaf + q.warps;
  int64_t n = s.n, k = ((int64_t)(node * (unsigned)q.passes) << shift) + sub * leaf, after = n - leaf - k;
  /* Passes with anything in them, and passes that read whole leaves. */
  int some = n > k ? (int)min((int64_t)q.passes, ((n - 1 - k) >> shift) + 1) : 0;
  int whole = after >= 0 ? (int)min((int64_t)q.passes, (after >> shift) + 1) : 0;
  if (a.walk == GR_STRIDED || (R::inputs == 2 && b.walk == GR_STRIDED)) whole = 0;
  gr_walker at = a, bt = b;
  at.p += k * size;
  bt.p += k * size;
  gr_acc mine = R::identity();
  gr_lane_set<typename gr_plain<R>::type> kept = gr_start_lanes<typename gr_plain<R>::type>();
#pragma unroll 1
  for (int i = 0; i < some;
       i++, k += (int64_t)1 << shift, at.p += (int64_t)size << shift, bt.p += (int64_t)size << shift) {
    gr_acc acc;
    if constexpr (R::spread) {
      acc = gr_read_spread<R>(i < whole ? at : a, i < whole, n, k, lane, q.context);
    } else {
      if (R::leaves) kept = gr_start_lanes<R>();
      if (i < whole) {
        gr_read_whole<R, gr_batch<R>>(kept, at, bt, k, lane, q.context);
      } else {
        gr_lane_set<R> loose = gr_read_loose < R, R::inputs == 2 ? 4 : 8 > (a, b, n, k, q.context);
        if constexpr (R::leaves) kept = loose;
        else mine = R::merge(mine, R::state(loose.l[0], q.context));
      }
      if constexpr (R::leaves) acc = gr_fold_lanes<R>(kept.l, q.context, 32, lane);
    }
    if constexpr (R::leaves) mine = gr_select<R>(lane == i, acc, mine);
  }
  if constexpr (!R::leaves) {
    mine = R::merge(mine, R::state(kept.l[0], q.context));
    gr_acc all[1] = {mine};
    mine = gr_fold_halves<R, 1>(all, 32, lane);
  }
  return mine;
}

constexpr int gr_leaves_block = 512; /* threads at most */

/*
** 64 registers let four blocks of 256 threads reside, 128 KB in flight: one wave of blocks covers 2^24
** elements; 16-bit floats have twice the lanes. What has more state takes up to 128.
*/
#if CUDART_VERSION >= 12040
#define GR_LEAVES_BOUNDS(R) \
  __maxnreg__(R::inputs == 1 && gr_size<R::dtype> <= 2 && ((R::lanes && !R::spread) || R::red == GR_RED_PROD) ? 80 \
              : R::fields > 1 || R::inputs > 1                                                 ? 128 \
                                                                                               : 64)
#else
#define GR_LEAVES_BOUNDS(R) __launch_bounds__(gr_leaves_block)
#endif

/*
** A block holds nodes of 2^q.warps warps, side by side; if a vector has several nodes, exactly one.
** passes <= 32 and 2^warps * passes <= 256.
*/
template <class R>
__global__ void GR_LEAVES_BOUNDS(R) gr_reduce_leaves(const __grid_constant__ gr_reduce_args q) {
  __shared__ int64_t value[R::fields * 512];
  int lane = threadIdx.x & 31, warp = gr_warp_index(), sub = warp & ((1 << q.warps) - 1);
  unsigned v0 = blockIdx.x, node = 0;
  if (q.nodes > 1) {
    v0 = q.job.count == 1 ? 0 : blockIdx.x / (unsigned)q.nodes;
    node = blockIdx.x - v0 * (unsigned)q.nodes;
  }
  int64_t v = (int64_t)v0 * (blockDim.x >> 5 >> q.warps) + (warp >> q.warps);
  bool live = v < q.job.count;
  gr_stretch s = {0, 0, 0};
  if (live) s = gr_stretch_of(q, q.first + v);
  live = live && s.n <= q.job.n;
  gr_acc acc = R::identity();
  if (live) acc = gr_read_passes<R>(q, s, node, sub, lane);
  int passes = R::leaves ? q.passes : 1;
  if (q.warps == 0) {
    if (R::leaves && passes > 1) acc = gr_fold_adjacent<R>(acc, 32);
  } else {
    int64_t *mine = value + (warp - sub) * passes;
    if (lane < passes) gr_put<R>(mine + (lane << q.warps) + sub, 512, acc);
    __syncthreads();
    if (sub == 0) acc = gr_fold_256<R>(mine, 512, passes << q.warps, lane);
  }
  bool writes = live && sub == 0 && lane == 0;
  if (q.nodes > 1) {
    int64_t *nodes = q.node + v * q.nodes * R::fields;
    if (threadIdx.x == 0) gr_put<R>(nodes + node, q.nodes, acc);
    if (!gr_last_block(q.counter + v, (unsigned)q.nodes)) return;
    int units = (int)((q.nodes + 255) >> 8);
    for (int u = warp; u < units; u += blockDim.x >> 5) {
      acc = gr_fold_256<R>(nodes + u * 256, q.nodes, (int)min((int64_t)256, q.nodes - u * 256), lane);
      if (units > 1 && lane == 0) gr_put<R>(value + u, 512, acc);
    }
    if (units > 1) {
      __syncthreads();
      if (warp == 0) acc = gr_fold_many<R>(value, 512, units, lane);
    }
    writes = threadIdx.x == 0;
  }
  if (writes) gr_write<R>(q, acc, s.place, s.n);
}

#endif
