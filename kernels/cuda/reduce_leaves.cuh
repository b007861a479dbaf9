/*
** The main kernel: one warp reads a leaf. For flat arrays, long rows and any stride.
*/
#ifndef GR_REDUCE_LEAVES_CUH
#define GR_REDUCE_LEAVES_CUH

#include "kernels/cuda/grid.cuh"
#include "kernels/cuda/load.cuh"

/* Rows in flight at once. */
template <class R> constexpr int gr_batch = R::inputs == 2 ? 4 : 8;

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

template <int n> __device__ __forceinline__ void gr_rotate(uint4 (&w)[n]) {
  uint4 first = w[0];
#pragma unroll
  for (int i = 0; i + 1 < n; i++) w[i] = w[i + 1];
  w[n - 1] = first;
}

/* The word with elements k.. of a vector, whatever its walk; begun: what gr_begin_loose loaded for it. */
template <gr_dtype D> __device__ __forceinline__ uint4 gr_loose_word(uint4 begun, const gr_walker &v, int64_t k, int valid) {
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

template <class Q> struct gr_lane_set { typename Q::Lane l[gr_lanes_of<Q>]; };

/* A leaf that cannot be read row by row: the last one of a vector, or any of a strided one. Kept out of line. */
template <class Q, int rows>
__device__ __noinline__ gr_lane_set<Q> gr_read_loose(const gr_reduce_args &q, int64_t v, int64_t first, double mean, gr_lane_set<Q> s) {
  constexpr int size = gr_size<Q::dtype>, each = 16 / size, row = GR_LANES(size);
  int lane = threadIdx.x & 31;
  int64_t n = q.job.n;
  gr_walker a = gr_walk_of<Q::dtype>(q.job.a, v), b = gr_walk_of<Q::dtype>(q.job.b, v);
  gr_context c = q.context;
  if (Q::red == GR_RED_SPREAD) c.a = mean;
#pragma unroll 1
  for (int64_t k = first; k < min(n, first + GR_LEAF(size)); k += rows * row) {
    uint4 wa[rows], wb[rows];
    int64_t mine = k + lane * each;
    gr_begin_loose<Q::dtype, rows>(wa, a, mine, n - mine);
    if (Q::inputs == 2) gr_begin_loose<Q::dtype, rows>(wb, b, mine, n - mine);
    gr_add_loose<Q, rows>(s.l, wa, wb, a, b, mine, n - mine, (int)min((int64_t)rows, (n - k + row - 1) / row), c);
    if constexpr (Q::kind == GR_ACC_PLACE) Q::mark(s.l[0], k + s.l[0].code / each * row + lane * each + s.l[0].code % each);
  }
  return s;
}

/* Reads leaves of one vector. */
template <class R> struct gr_leaf_reader {
  static constexpr int size = gr_size<R::dtype>, each = 16 / size, row = GR_LANES(size), rows = gr_batch<R>;
  const gr_reduce_args &q;
  const int64_t v, n;
  const int lane;

  template <class Q> __device__ __forceinline__ void read(gr_lane_set<Q> &s, int64_t leaf, const gr_context &c) const {
    int64_t first = leaf * GR_LEAF(size);
    gr_walker a = gr_walk_of<R::dtype>(q.job.a, v), b = gr_walk_of<R::dtype>(q.job.b, v);
    if (n - first < GR_LEAF(size) || a.walk == GR_STRIDED || (R::inputs == 2 && b.walk == GR_STRIDED)) {
      s = gr_read_loose<Q, R::inputs == 2 ? 4 : 8>(q, v, first, c.a, s);
      return;
    }
#pragma unroll 1
    for (int r = 0; r < GR_LEAF_ROWS(size); r += rows) {
      uint4 wa[rows], wb[rows];
      int64_t k = first + r * row;
      gr_load_rows<rows>(wa, a.p + k * size, a.walk, lane);
      if (R::inputs == 2) gr_load_rows<rows>(wb, b.p + k * size, b.walk, lane);
      gr_add_rows<Q, rows>(s.l, wa, wb, c);
      if constexpr (Q::kind == GR_ACC_PLACE) Q::mark(s.l[0], k + s.l[0].code / each * row + lane * each + s.l[0].code % each);
    }
  }
  template <class Q> __device__ __forceinline__ gr_acc fold(int64_t leaf, const gr_context &c) const {
    gr_lane_set<Q> s;
#pragma unroll
    for (int i = 0; i < gr_lanes_of<Q>; i++) s.l[i] = Q::start();
    read<Q>(s, leaf, c);
    return gr_fold_lanes<Q>(s.l, c, 32, lane);
  }
  template <class Q> __device__ __forceinline__ double loose(int64_t leaf, const gr_context &c) const {
    gr_lane_set<Q> s;
#pragma unroll
    for (int i = 0; i < gr_lanes_of<Q>; i++) s.l[i] = Q::start();
    s = gr_read_loose<Q, 8>(q, v, leaf * GR_LEAF(size), c.a, s);
    return gr_fold_lanes<Q>(s.l, c, 32, lane).f[0];
  }
  /* A whole leaf stays in registers for its second pass; another one is read twice. */
  __device__ __forceinline__ gr_acc spread(int64_t leaf, gr_context c) const {
    gr_acc acc;
    gr_walker a = gr_walk_of<R::dtype>(q.job.a, v);
    acc.f[2] = (double)min((int64_t)GR_LEAF(size), n - leaf * GR_LEAF(size));
    if (n - leaf * GR_LEAF(size) >= GR_LEAF(size) && a.walk != GR_STRIDED) {
      using S = typename R::Sum;
      using M = typename R::Squares;
      uint4 w[GR_LEAF_ROWS(size)];
      gr_lane_set<S> sum;
      gr_lane_set<M> squares;
#pragma unroll
      for (int i = 0; i < gr_lanes_of<S>; i++) sum.l[i] = S::start();
#pragma unroll
      for (int i = 0; i < gr_lanes_of<M>; i++) squares.l[i] = M::start();
      gr_load_rows<GR_LEAF_ROWS(size)>(w, a.p + leaf * GR_LEAF(size) * size, a.walk, lane);
      gr_add_rows<S, GR_LEAF_ROWS(size)>(sum.l, w, w, c);
      acc.f[0] = gr_fold_lanes<S>(sum.l, c, 32, lane).f[0];
      c.a = acc.f[0] / acc.f[2];
      gr_add_rows<M, GR_LEAF_ROWS(size)>(squares.l, w, w, c);
      acc.f[1] = gr_fold_lanes<M>(squares.l, c, 32, lane).f[0];
      return acc;
    }
    acc.f[0] = loose<typename R::Sum>(leaf, c);
    c.a = acc.f[0] / acc.f[2];
    acc.f[1] = loose<typename R::Squares>(leaf, c);
    return acc;
  }
};

/* The leaves of one node that fall to this warp: its value in lane i is that of pass i (order-free: of all). */
template <class R>
__device__ __forceinline__ gr_acc gr_read_passes(const gr_reduce_args &q, const gr_leaf_reader<R> &reader, int64_t node, int sub) {
  gr_acc mine = R::identity();
  if constexpr (R::leaves) {
#pragma unroll 1
    for (int i = 0; i < q.passes; i++) {
      int64_t leaf = (node * q.passes + i << q.warps) + sub;
      gr_acc acc;
      if (leaf >= q.leaves) break;
      if constexpr (R::spread) acc = reader.spread(leaf, q.context);
      else acc = reader.template fold<R>(leaf, q.context);
      mine = gr_select<R>(reader.lane == i, acc, mine);
    }
  } else {
    gr_lane_set<R> s = {{R::start()}};
#pragma unroll 1
    for (int i = 0; i < q.passes; i++) {
      int64_t leaf = (node * q.passes + i << q.warps) + sub;
      if (leaf >= q.leaves) break;
      reader.template read<R>(s, leaf, q.context);
    }
    mine = gr_fold_lanes<R>(s.l, q.context, 32, reader.lane);
  }
  return mine;
}

constexpr int gr_leaves_block = 512; /* threads at most */

/*
** 64 registers let four blocks of 256 threads reside, 128 KB in flight: one wave of blocks covers 2^24
** elements. What has more state takes up to 128.
*/
#if CUDART_VERSION >= 12040
#define GR_LEAVES_BOUNDS(R) __maxnreg__(R::fields == 1 && R::inputs == 1 && gr_size<R::dtype> > 1 ? 64 : 128)
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
    v0 = blockIdx.x / (unsigned)q.nodes;
    node = blockIdx.x - v0 * (unsigned)q.nodes;
  }
  int64_t v = (int64_t)v0 * (blockDim.x >> 5 >> q.warps) + (warp >> q.warps);
  bool live = v < q.job.count;
  gr_acc acc = R::identity();
  if (live) {
    gr_leaf_reader<R> reader = {q, q.first + v, q.job.n, lane};
    acc = gr_read_passes<R>(q, reader, node, sub);
  }
  int passes = R::leaves ? q.passes : 1;
  if (q.warps == 0) {
    if (R::leaves) acc = gr_fold_adjacent<R>(acc, passes);
  } else {
    int64_t *mine = value + (warp - sub) * passes;
    if (lane < passes) gr_put<R>(mine + (lane << q.warps) + sub, 512, acc);
    __syncthreads();
    if (sub == 0) acc = gr_fold_256<R>(mine, 512, passes << q.warps, lane);
  }
  if (q.nodes == 1) {
    if (live && sub == 0 && lane == 0) gr_write<R>(q, acc, q.first + v);
    return;
  }
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
    if (warp == 0) acc = gr_fold_256<R>(value, 512, units, lane);
  }
  if (threadIdx.x == 0) gr_write<R>(q, acc, q.first + v);
}

#endif
