/*
** Sums of columns of f64 straight from memory, where rows are aligned and half a leaf or more. A warp reads strips of
*32
** words: 2^wide words of columns side by side, of 32 >> wide rows. A thread takes 2^each lanes of the tree in the order
*in
** which halves fold, by a stack, with a lane's elements in flight; then rows side by side fold, then the 2^deep warps
*that
** share a leaf (whose rows lie closest), the leaves of the block; and the nodes of blocks as gr_climb
** does.
*/
#ifndef GR_REDUCE_STREAMS_CUH
#define GR_REDUCE_STREAMS_CUH

#include "kernels/cuda/reduce_columns.cuh"
#include "kernels/cuda/reduce_few.cuh"

constexpr int gr_stream_warps = 4, gr_stream_resident = 16, gr_stream_columns = 2; /* columns of a lane */
template <class R>
constexpr bool gr_has_streams = R::lanes &&R::red == GR_RED_SUM &&gr_size<R::dtype> == 8;

/*
** A block's sums, of column p and leaf u in slots[entry(u, 0, p)]: `there` leaves fold by adjacency, then nodes climb, and
** results of the columns from v0 on are written. rows: leaves that are looked through, there or more.
*/
template <class R, class E>
__device__ __forceinline__ void gr_fold_strip(const gr_reduce_args &q, double *slots, const E &entry, int rows, int there, int wide,
                                              int64_t v0, int64_t here, const gr_block_place &block) {
  gr_acc acc = R::identity();
#pragma unroll 1
  for (int h = 1; h < there; h *= 2) {
    __syncthreads();
#pragma unroll 1
    for (int i = threadIdx.x; i < wide * rows; i += blockDim.x) {
      int u = i / wide, p = i - u * wide;
      if (u % (2 * h) == 0 && u + h < there) slots[entry(u, 0, p)] += slots[entry(u + h, 0, p)];
    }
  }
  __syncthreads();
#pragma unroll 1
  for (int pass = q.nodes == 1 ? 1 : 0; pass < 2; pass++) {
#pragma unroll 1
    for (int p = threadIdx.x; p < here; p += blockDim.x) {
      acc.f[0] = slots[entry(0, 0, p)];
      if (pass == 1 && q.nodes > 1) acc.i[0] = ((volatile int64_t *)q.node)[v0 + p];
      if (pass == 0) gr_put<R>(q.node + block.node * q.job.count + v0 + p, q.job.count * q.nodes, acc);
      else gr_write<R>(q, acc, q.first + v0 + p, q.job.n);
    }
    if (pass == 0 && !gr_climb<R>(q, v0, (int)here, q.counter + block.group * (unsigned)q.counters, block.node)) return;
  }
}

template <class R>
__global__ void __launch_bounds__(gr_stream_warps * 32, gr_stream_resident / gr_stream_warps)
    gr_reduce_streams(const __grid_constant__ gr_reduce_args q) {
  constexpr int size = gr_size<R::dtype>, C = gr_stream_columns, word = C * size, flight = GR_LEAF_ROWS(size);
  using F = gr_column_word<R::dtype, C>;
  extern __shared__ __align__(16) char gr_shared[];
  double *slots =
      (double *)gr_shared; /* what a warp leaves of a unit: C + 1 doubles for each word, one of them unused */
  int lane = threadIdx.x & 31, warp = gr_warp_index(), z = warp & ((1 << q.deep) - 1), log_s = 5 - q.wide;
  int units = 1 << (q.together + q.passes), wide = C << q.wide, apart = (C + 1) << q.wide, lanes = GR_LANES(size);
  int64_t step = q.job.a.stride, row_bytes = q.job.count * size;
  gr_block_place block = gr_place_of_block(q);
  bool single = q.leaves == 1; /* then units are strips, else leaves */
  int64_t strip0 = single ? (int64_t)block.group * units : block.group,
          leaf0 = single ? 0 : (int64_t)block.node * units;
  auto entry = [=](int unit, int part, int p) { return ((unit << q.deep) + part) * apart + p + p / C; };
  gr_await_earlier();
#pragma unroll 1
  for (int u = warp >> q.deep; u < units; u += 1 << q.together) {
    int w = lane & ((1 << q.wide) - 1), s = lane >> q.wide;
    int64_t leaf = leaf0 + (single ? 0 : u), column = (strip0 + (single ? u : 0)) * wide * size + w * word; /* bytes */
    int first = (s << q.deep) + z,
        rows = (int)max((int64_t)0, min(q.job.n - leaf * GR_LEAF(size), (int64_t)GR_LEAF(size)));
    const char *a = (const char *)q.job.a.data + q.first * size + column + (leaf * GR_LEAF(size) + first) * step;
    bool whole = rows == GR_LEAF(size);
    rows -= first; /* from this thread's first one on */
    if (column >= row_bytes) rows = 0, whole = false;
    gr_acc v[C];
    gr_column_stack<R, C> stack;
#pragma unroll 1
    for (int g = 0; g < 1 << q.each; g++) {
      typename F::Word x[flight];
      typename R::Lane l[C];
      int row0 = (int)(__brev((unsigned)g) >> q.turn) << (q.deep + log_s); /* the same for all threads */
      const char *p = a + row0 * step;
#pragma unroll
      for (int k = 0; k < flight; k++, p += lanes * step)
        if (whole || row0 + k * lanes < rows) x[k] = F::load(p);
#pragma unroll
      for (int c = 0; c < C; c++) l[c] = R::start();
#pragma unroll
      for (int k = 0; k < flight; k++)
        if (whole || row0 + k * lanes < rows)
#pragma unroll
          for (int c = 0; c < C; c++) R::add(l[c], F::pick(x[k], c), F::pick(x[k], c), q.context, 0);
#pragma unroll
      for (int c = 0; c < C; c++) v[c] = R::state(l[c], q.context);
      stack.push(v, g);
    }
#pragma unroll 1
    for (int h = 16; h >> q.wide > 0; h /= 2)
#pragma unroll
      for (int c = 0; c < C; c++) v[c] = gr_merge_xor<R>(v[c], h);
    if (s == 0)
#pragma unroll
      for (int c = 0; c < C; c++) slots[entry(u, z, w * C + c)] = v[c].f[0];
  }
  gr_let_next_start();
  __syncthreads();
  int columns = wide, there = single ? 1 : (int)min((int64_t)units, q.leaves - leaf0);
  int64_t v0 = strip0 * wide, here = min((int64_t)columns * (single ? units : 1), q.job.count - v0);
  gr_acc acc = R::identity();
#pragma unroll 1
  for (int i = threadIdx.x; i < columns * units; i += blockDim.x) {
    int u = i / columns, p = i - u * columns;
    auto at = [=](int i) { return slots + entry(u, i, p); };
    acc.f[0] = gr_sum_rows(at, 1 << q.deep);
    if (!single) slots[entry(u, 0, p)] = acc.f[0];
    else if (i < here) gr_write<R>(q, acc, q.first + v0 + i, q.job.n);
  }
  if (single) return;
  gr_fold_strip<R>(q, slots, entry, units, there, wide, v0, here, block);
}

#endif
