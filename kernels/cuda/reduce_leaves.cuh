/*
** The main kernel: one warp reads a leaf. For flat arrays, long rows and any stride.
*/
#ifndef GR_REDUCE_LEAVES_CUH
#define GR_REDUCE_LEAVES_CUH

#include "kernels/cuda/grid.cuh"
#include "kernels/cuda/load.cuh"

/* Rows in flight at once. Two passes over a leaf keep all of it in registers. */
template <class R>
constexpr int gr_batch = R::spread ? GR_LEAF_ROWS(gr_size<R::dtype>) : R::inputs == 2 ? 4 : 8;

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

/* A batch of rows of a leaf's end, or of strided data: word by word, so that the code stays small. */
template <class Q, int rows>
__device__ __forceinline__ void gr_add_loose(typename Q::Lane (&l)[gr_lanes_of<Q>], uint4 (&a)[rows], uint4 (&b)[rows],
                                             const gr_walker &wa, const gr_walker &wb, int64_t k0, int64_t left,
                                             int used, const gr_context &k) {
  constexpr int each = 16 / gr_size<Q::dtype>, row = GR_LANES(gr_size<Q::dtype>);
#pragma unroll 1
  for (int r = 0; r < used; r++) {
    int64_t valid = left - r * row;
    if (wa.walk == GR_STRIDED) a[0] = gr_gather<Q::dtype>(wa.p + (k0 + r * row) * wa.stride, wa.stride, (int)min(valid, (int64_t)each));
    if (Q::inputs == 2 && wb.walk == GR_STRIDED)
      b[0] = gr_gather<Q::dtype>(wb.p + (k0 + r * row) * wb.stride, wb.stride, (int)min(valid, (int64_t)each));
    gr_add_some<Q>(l, a[0], b[0], (int)min(valid, (int64_t)each), k, r * each);
    gr_rotate(a);
    if (Q::inputs == 2) gr_rotate(b);
  }
}

template <gr_dtype D, int rows>
__device__ __forceinline__ void gr_load_loose(uint4 (&w)[rows], const gr_walker &v, int64_t k0, int64_t left) {
  constexpr int size = gr_size<D>, row = GR_LANES(size);
#pragma unroll
  for (int r = 0; r < rows; r++) {
    int64_t valid = left - r * row;
    w[r] = make_uint4(0, 0, 0, 0);
    if (v.walk != GR_STRIDED && valid > 0)
      w[r] = gr_load_any(v.p + (k0 + r * row) * size, (int)min(valid, (int64_t)(16 / size)) * size);
  }
}

/*
** Adds leaf number `leaf` of the vector to lane[]; for SPREAD, which needs two passes, gives the leaf's state.
*/
template <class R> struct gr_leaf_reader {
  static constexpr int size = gr_size<R::dtype>, each = 16 / size, row = GR_LANES(size), rows = gr_batch<R>;
  const gr_walker a, b;
  const int64_t n;
  const int lane;

  /* Whether the whole leaf can be read row by row. */
  __device__ __forceinline__ bool whole(int64_t first) const {
    return n - first >= GR_LEAF(size) && a.walk != GR_STRIDED && (R::inputs == 1 || b.walk != GR_STRIDED);
  }
  /* Rows of a batch that hold something; a second pass wants the words turned round to where they were. */
  __device__ __forceinline__ int used(int64_t k) const {
    return R::spread ? rows : (int)min((int64_t)rows, (n - k + row - 1) / row);
  }
  __device__ __forceinline__ void load(uint4 (&wa)[rows], uint4 (&wb)[rows], int64_t k, bool whole) const {
    if (whole) {
      gr_load_rows<rows>(wa, a.p + k * size, a.walk, lane);
      if (R::inputs == 2) gr_load_rows<rows>(wb, b.p + k * size, b.walk, lane);
    } else {
      gr_load_loose<R::dtype, rows>(wa, a, k + lane * each, n - k - lane * each);
      if (R::inputs == 2) gr_load_loose<R::dtype, rows>(wb, b, k + lane * each, n - k - lane * each);
    }
  }
  template <class Q>
  __device__ __forceinline__ void add(typename Q::Lane (&l)[gr_lanes_of<Q>], uint4 (&wa)[rows], uint4 (&wb)[rows],
                                      int64_t k, bool whole, const gr_context &c) const {
    if (whole) gr_add_rows<Q, rows>(l, wa, wb, c);
    else gr_add_loose<Q, rows>(l, wa, wb, a, b, k + lane * each, n - k - lane * each, used(k), c);
  }

  template <class L> __device__ __forceinline__ void read(L &l, int64_t leaf, const gr_context &c) const {
    int64_t first = leaf * GR_LEAF(size);
    bool all = whole(first);
#pragma unroll 1
    for (int r = 0; r < GR_LEAF_ROWS(size); r += rows) {
      uint4 wa[rows], wb[rows];
      int64_t k = first + r * row;
      if (k >= n) break;
      load(wa, wb, k, all);
      add<R>(l, wa, wb, k, all, c);
      if constexpr (R::kind == GR_ACC_PLACE) R::mark(l[0], k + l[0].code / each * row + lane * each + l[0].code % each);
    }
  }

  __device__ __forceinline__ gr_acc spread(int64_t leaf, gr_context c) const {
    using S = typename R::Sum;
    using M = typename R::Squares;
    int64_t first = leaf * GR_LEAF(size);
    bool all = whole(first);
    uint4 wa[rows], wb[rows];
    typename S::Lane sum[gr_lanes_of<S>];
    typename M::Lane squares[gr_lanes_of<M>];
#pragma unroll
    for (int i = 0; i < gr_lanes_of<S>; i++) sum[i] = S::start();
#pragma unroll
    for (int i = 0; i < gr_lanes_of<M>; i++) squares[i] = M::start();
    gr_acc acc;
    acc.f[2] = (double)min((int64_t)GR_LEAF(size), n - first);
    load(wa, wb, first, all);
    add<S>(sum, wa, wb, first, all, c);
    acc.f[0] = gr_fold_lanes<S>(sum, c, 32, lane).f[0];
    c.a = acc.f[0] / acc.f[2];
    add<M>(squares, wa, wb, first, all, c);
    acc.f[1] = gr_fold_lanes<M>(squares, c, 32, lane).f[0];
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
      int64_t leaf = (node * q.passes + i) * q.node_warps + sub;
      gr_acc acc;
      if (leaf >= q.leaves) break;
      if constexpr (R::spread) {
        acc = reader.spread(leaf, q.context);
      } else {
        typename R::Lane l[gr_lanes_of<R>];
#pragma unroll
        for (int c = 0; c < gr_lanes_of<R>; c++) l[c] = R::start();
        reader.read(l, leaf, q.context);
        acc = gr_fold_lanes<R>(l, q.context, 32, reader.lane);
      }
      mine = gr_select<R>(reader.lane == i, acc, mine);
    }
  } else {
    typename R::Lane l[1] = {R::start()};
#pragma unroll 1
    for (int i = 0; i < q.passes; i++) {
      int64_t leaf = (node * q.passes + i) * q.node_warps + sub;
      if (leaf >= q.leaves) break;
      reader.read(l, leaf, q.context);
    }
    mine = gr_fold_lanes<R>(l, q.context, 32, reader.lane);
  }
  return mine;
}

constexpr int gr_leaves_block = 512; /* threads at most */

/*
** A block holds blockDim / 32 / node_warps nodes; with more than one node a vector, exactly one. passes <= 32
** and node_warps * passes <= 256.
*/
template <class R>
__global__ void __launch_bounds__(gr_leaves_block) gr_reduce_leaves(const __grid_constant__ gr_reduce_args q) {
  __shared__ int64_t value[R::fields * 512];
  int lane = threadIdx.x & 31, warp = threadIdx.x >> 5, sub = warp & (q.node_warps - 1);
  int64_t item = ((int64_t)blockIdx.x * (blockDim.x >> 5) + warp) / q.node_warps;
  int64_t v = item / q.nodes, node = item % q.nodes;
  bool live = v < q.job.count;
  v += q.first;
  gr_acc acc = R::identity();
  if (live) {
    gr_leaf_reader<R> reader = {gr_walk_of<R::dtype>(q.job.a, v), gr_walk_of<R::dtype>(q.job.b, v), q.job.n, lane};
    acc = gr_read_passes<R>(q, reader, node, sub);
  }
  int passes = R::leaves ? q.passes : 1;
  if (q.node_warps == 1) {
    if (R::leaves) acc = gr_fold_adjacent<R>(acc, passes);
  } else {
    int64_t *mine = value + (warp - sub) * passes;
    if (lane < passes) gr_put<R>(mine + lane * q.node_warps + sub, 512, acc);
    __syncthreads();
    if (sub == 0) acc = gr_fold_256<R>(mine, 512, passes * q.node_warps, lane);
  }
  if (q.nodes == 1) {
    if (live && sub == 0 && lane == 0) gr_write<R>(q, acc, v);
    return;
  }
  int64_t *nodes = q.node + (v - q.first) * q.nodes * R::fields;
  if (threadIdx.x == 0) gr_put<R>(nodes + node, q.nodes, acc);
  if (!gr_last_block(q.counter + (v - q.first), (unsigned)q.nodes)) return;
  int units = (int)((q.nodes + 255) / 256);
  if (units > 1) {
    for (int u = warp; u < units; u += blockDim.x >> 5) {
      acc = gr_fold_256<R>(nodes + u * 256, q.nodes, (int)min((int64_t)256, q.nodes - u * 256), lane);
      if (lane == 0) gr_put<R>(value + u, 512, acc);
    }
    __syncthreads();
  }
  if (warp > 0) return;
  acc = units > 1 ? gr_fold_many<R>(value, 512, units, lane) : gr_fold_256<R>(nodes, q.nodes, (int)q.nodes, lane);
  if (lane == 0) gr_write<R>(q, acc, v);
}

#endif
