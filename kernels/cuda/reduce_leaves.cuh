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
  for (int r = 0; r < rows; r++)
#pragma unroll
    for (int c = 0; c < each; c++)
      Q::add(l[Q::lanes ? c : 0], gr_pick<Q::dtype>(a[r], c), gr_pick<Q::dtype>(b[r], c), k, r * each + c);
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

/* Reads leaves of one vector. */
template <class R> struct gr_leaf_reader {
  static constexpr int size = gr_size<R::dtype>, each = 16 / size, row = GR_LANES(size), rows = gr_batch<R>;
  const gr_walker a, b;
  const int64_t n;
  const int lane;

  /* Whether the whole leaf can be read row by row. */
  __device__ __forceinline__ bool whole(int64_t first) const {
    return n - first >= GR_LEAF(size) && a.walk != GR_STRIDED && (R::inputs == 1 || b.walk != GR_STRIDED);
  }
  template <class Q>
  __device__ __forceinline__ void read(typename Q::Lane (&l)[gr_lanes_of<Q>], int64_t leaf, const gr_context &c) const {
    int64_t first = leaf * GR_LEAF(size);
    bool all = whole(first);
#pragma unroll 1
    for (int64_t k = first; k < min(n, first + GR_LEAF(size)); k += rows * row) {
      uint4 wa[rows], wb[rows];
      if (all) {
        gr_load_rows<rows>(wa, a.p + k * size, a.walk, lane);
        if (R::inputs == 2) gr_load_rows<rows>(wb, b.p + k * size, b.walk, lane);
        gr_add_rows<Q, rows>(l, wa, wb, c);
      } else {
        int64_t mine = k + lane * each;
        gr_begin_loose<R::dtype, rows>(wa, a, mine, n - mine);
        if (R::inputs == 2) gr_begin_loose<R::dtype, rows>(wb, b, mine, n - mine);
        gr_add_loose<Q, rows>(l, wa, wb, a, b, mine, n - mine, (int)min((int64_t)rows, (n - k + row - 1) / row), c);
      }
      if constexpr (Q::kind == GR_ACC_PLACE) Q::mark(l[0], k + l[0].code / each * row + lane * each + l[0].code % each);
    }
  }
  template <class Q> __device__ __forceinline__ gr_acc fold(int64_t leaf, const gr_context &c) const {
    typename Q::Lane l[gr_lanes_of<Q>];
#pragma unroll
    for (int i = 0; i < gr_lanes_of<Q>; i++) l[i] = Q::start();
    read<Q>(l, leaf, c);
    return gr_fold_lanes<Q>(l, c, 32, lane);
  }
  /* The second pass finds the leaf in L1. */
  __device__ __forceinline__ gr_acc spread(int64_t leaf, gr_context c) const {
    gr_acc acc;
    acc.f[2] = (double)min((int64_t)GR_LEAF(size), n - leaf * GR_LEAF(size));
    acc.f[0] = fold<typename R::Sum>(leaf, c).f[0];
    c.a = acc.f[0] / acc.f[2];
    acc.f[1] = fold<typename R::Squares>(leaf, c).f[0];
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
    typename R::Lane l[1] = {R::start()};
#pragma unroll 1
    for (int i = 0; i < q.passes; i++) {
      int64_t leaf = (node * q.passes + i << q.warps) + sub;
      if (leaf >= q.leaves) break;
      reader.template read<R>(l, leaf, q.context);
    }
    mine = gr_fold_lanes<R>(l, q.context, 32, reader.lane);
  }
  return mine;
}

constexpr int gr_leaves_block = 512; /* threads at most */

/*
** 80 registers let three blocks of 256 threads reside, 96 KB in flight: enough to saturate memory. What has
** more state takes up to 128.
*/
#if CUDART_VERSION >= 12040
#define GR_LEAVES_BOUNDS(R) __maxnreg__(R::fields == 1 && R::inputs == 1 && gr_size<R::dtype> > 1 ? 80 : 128)
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
  int lane = threadIdx.x & 31, warp = threadIdx.x >> 5, sub = warp & ((1 << q.warps) - 1);
  unsigned v0 = blockIdx.x, node = 0;
  if (q.nodes > 1) {
    v0 = blockIdx.x / (unsigned)q.nodes;
    node = blockIdx.x - v0 * (unsigned)q.nodes;
  }
  int64_t v = (int64_t)v0 * (blockDim.x >> 5 >> q.warps) + (warp >> q.warps);
  bool live = v < q.job.count;
  gr_acc acc = R::identity();
  if (live) {
    gr_leaf_reader<R> reader = {gr_walk_of<R::dtype>(q.job.a, q.first + v), gr_walk_of<R::dtype>(q.job.b, q.first + v),
                                q.job.n, lane};
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
