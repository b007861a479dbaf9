/*
** Variances of columns of 64 bits, where rows are aligned and most of a leaf or more: a leaf is read once and stays in
** the registers of a block. A thread has one lane of the tree of a 16-byte word of columns; words of columns and
** leaves lie side by side. Blocks stay and take one run of leaves after the other, which makes a node.
*/
#ifndef GR_CUDA_REDUCE_COLS_VARIANCE_LEAVES_CUH
#define GR_CUDA_REDUCE_COLS_VARIANCE_LEAVES_CUH

#include "kernels/cuda/grid/combine.cuh"
#include "kernels/cuda/thread/load.cuh"

/* Threads of a block: a leaf of 8 columns. Blocks of a multiprocessor. */
constexpr int gr_variance_threads = 256, gr_variance_blocks = 3;
/* Of 64 bits: narrower ones are converted twice, and are no faster so. */
template <class R>
constexpr bool gr_has_cols_variance_leaves = R::variance && !R::exact && gr_size<R::dtype> == 8;

/*
** What a thread has: asked for anew where it is needed, so that no registers hold it meanwhile. part: of the lanes of
** the tree; those of a part are in one warp and fold first.
*/
struct gr_variance_thread {
  int w, sub, lane, part;
  __device__ __forceinline__ explicit gr_variance_thread(const gr_reduce_args &q) {
    const gr_cols_variance_leaves_args &how = q.cols_variance_leaves;
    int t;
    asm volatile("mov.u32 %0, %%tid.x;" : "=r"(t));
    w = t & ((1 << how.words_log2) - 1);
    sub = t >> (how.words_log2 + how.tree_lanes_log2);
    lane = t >> how.words_log2 & ((1 << how.part_lanes_log2) - 1);
    part = t >> (how.words_log2 + how.part_lanes_log2) & ((1 << how.parts_log2) - 1);
  }
};

/* In shared memory: two stages, then states of leaves. */
template <class R>
struct gr_variance_work {
  using S = typename R::Sum;
  using M = typename R::Squares;
  static constexpr int size = gr_size<R::dtype>, C = 16 / size, words = GR_LEAF_ROWS(size), leaf_rows = GR_LEAF(size),
                       lanes = GR_LANES(size);
  const gr_reduce_args &q;
  char *shared;

  __device__ __forceinline__ int columns() const { return C << q.cols_variance_leaves.words_log2; }
  __device__ __forceinline__ double *stage(int i) const {
    return (double *)(shared + i * q.cols_variance_leaves.stage_bytes);
  }
  __device__ __forceinline__ int64_t *nodes() const { return (int64_t *)stage(2); }
  /* Where column p of leaf s lies that a part of the lanes left. */
  __device__ __forceinline__ int entry(int s, int part, int p) const {
    return ((s << q.cols_variance_leaves.parts_log2) + part) * ((C + 1) << q.cols_variance_leaves.words_log2) + p +
           p / C;
  }
  __device__ __forceinline__ int rows_of(int64_t leaf) const {
    return (int)max((int64_t)0, min(q.job.n - leaf * leaf_rows, (int64_t)leaf_rows));
  }
  /* This thread's words of a leaf, of which it gives the number. */
  __device__ __forceinline__ int find(const char *&p, int64_t leaf0, unsigned group) const {
    gr_variance_thread t(q);
    int64_t leaf = leaf0 + t.sub, column = (((int64_t)group << q.cols_variance_leaves.words_log2) + t.w) * 16;
    int first = t.part | t.lane << q.cols_variance_leaves.parts_log2;
    p = (const char *)q.job.a.data + q.first * size + column + (leaf * leaf_rows + first) * q.job.a.stride;
    return column < q.job.count * size ? (rows_of(leaf) - first + lanes - 1) / lanes : 0;
  }
  /* Over the lanes of this warp, then to a stage. */
  __device__ __forceinline__ void put(double (&v)[C], double *to) const {
#pragma unroll 1
    for (int h = 1 << (q.cols_variance_leaves.words_log2 + q.cols_variance_leaves.part_lanes_log2) >> 1;
         h >> q.cols_variance_leaves.words_log2 > 0; h /= 2)
#pragma unroll
      for (int c = 0; c < C; c++) v[c] += __shfl_xor_sync(~0u, v[c], h);
    gr_variance_thread t(q);
    if (t.lane == 0)
#pragma unroll
      for (int c = 0; c < C; c++) to[entry(t.sub, t.part, t.w * C + c)] = v[c];
  }
  /* f(leaf, column, what all parts left there). */
  template <class F>
  __device__ __forceinline__ void totals(const double *from, const F &f) const {
#pragma unroll 1
    for (int i = threadIdx.x; i < columns() << q.cols_variance_leaves.leaves_log2; i += blockDim.x) {
      int sub = i / columns(), p = i & (columns() - 1);
      const double *at = from + entry(sub, 0, p);
      const int apart = (C + 1) << q.cols_variance_leaves.words_log2;
      f(sub, p, gr_sum_rows([=](int part) { return at + part * apart; }, 1 << q.cols_variance_leaves.parts_log2));
    }
  }
  static __device__ __forceinline__ double mean(double sum, int rows) {
    return rows == leaf_rows ? sum * (1.0 / leaf_rows) : sum / (double)rows; /* the same: a power of two */
  }
  /* This thread's lane of a column. */
  template <class Q>
  static __device__ __forceinline__ double lane_of(const uint4 (&u)[words], int there, int c, const gr_context &k) {
    typename Q::Lane l = Q::start();
#pragma unroll
    for (int i = 0; i < words; i++)
      if (i < there) Q::add(l, gr_pick<R::dtype>(u[i], c), gr_pick<R::dtype>(u[i], c), k, 0);
    return Q::state(l, k).f[0];
  }
  /* States of the leaves from `leaf0` on, numbers `row` and on of the node. */
  __device__ __forceinline__ void leaf(int64_t leaf0, int row, unsigned group) const {
    uint4 u[words];
    const char *p;
    int there = find(p, leaf0, group);
    int64_t step = q.job.a.stride * lanes;
#pragma unroll
    for (int i = 0; i < words; i++, p += step)
      if (i < there) u[i] = gr_load16(p);
    double v[C];
#pragma unroll
    for (int c = 0; c < C; c++) v[c] = lane_of<S>(u, there, c, q.context);
    put(v, stage(0));
    __syncthreads();
    totals(stage(0), [&](int sub, int p, double x) { stage(0)[entry(sub, 0, p)] = x; });
    __syncthreads();
#pragma unroll
    for (int i = 0; i < words; i++) /* doubles made of them once and kept would spill */
      asm volatile("" : "+r"(u[i].x), "+r"(u[i].y), "+r"(u[i].z), "+r"(u[i].w));
    gr_variance_thread t(q);
    int rows = rows_of(leaf0 + t.sub);
#pragma unroll
    for (int c = 0; c < C; c++) {
      gr_context context = q.context;
      context.a = mean(stage(0)[entry(t.sub, 0, t.w * C + c)], rows);
      v[c] = lane_of<M>(u, there, c, context);
    }
    put(v, stage(1));
    __syncthreads();
    totals(stage(1), [&](int sub, int p, double x) {
      int n = rows_of(leaf0 + sub);
      gr_acc acc;
      acc.f[0] = stage(0)[entry(sub, 0, p)];
      acc.f[1] = gr_deviations<R::dtype>(x, mean(acc.f[0], n));
      acc.f[2] = (double)n;
      gr_put<R>(nodes() + (row + sub) * columns() * 3 + p, columns(), acc);
    });
    __syncthreads(); /* sums are where the next ones go */
  }
  /*
  ** The node: its leaves by adjacency. Then as in gr_combine_nodes: of 2^radix neighbours the block that arrives last
  ** gets the others' states, and so on.
  */
  __device__ __forceinline__ void node(int node, unsigned group, int states) const {
    int columns = this->columns(), count = q.nodes;
    int64_t v0 = (int64_t)group * columns, step = q.job.count, pitch = step * q.nodes;
    int here = (int)min((int64_t)columns, q.job.count - v0);
    unsigned *counter = q.counter + group * (unsigned)q.counters;
#pragma unroll 1
    while (true) {
      int pairs = (states + 1) / 2;
#pragma unroll 1
      for (int h = 1; h < states; h *= 2, pairs = (pairs + 1) / 2) {
#pragma unroll 1
        for (int i = threadIdx.x; i < columns * pairs; i += blockDim.x) {
          int row = i / columns * 2 * h, p = i % columns;
          int64_t *left = nodes() + row * columns * 3 + p;
          if (row + h < states)
            gr_put<R>(left, columns, R::merge(gr_get<R>(left, columns), gr_get<R>(left + h * columns * 3, columns)));
        }
        __syncthreads();
      }
      if (count == 1) break;
      int first = node >> q.radix << q.radix;
#pragma unroll 1
      for (int p = threadIdx.x; p < here; p += blockDim.x)
        gr_put<R>(q.node + node * step + v0 + p, pitch, gr_get<R>(nodes() + p, columns));
      states = min(1 << q.radix, count - first);
      node >>= q.radix;
      if (!gr_last_block(counter + node, (unsigned)states)) return;
#pragma unroll 1
      for (int i = threadIdx.x; i < here * states; i += blockDim.x) {
        int row = i / here, p = i - row * here;
#pragma unroll 1
        for (int f = 0; f < 3; f++)
          nodes()[(row * 3 + f) * columns + p] =
              *(volatile int64_t *)(q.node + f * pitch + (first + row) * step + v0 + p);
      }
      __syncthreads();
      count = (count - 1 >> q.radix) + 1;
      counter += count;
      step <<= q.radix;
    }
#pragma unroll 1
    for (int p = threadIdx.x; p < here; p += blockDim.x)
      gr_write<R>(q, gr_get<R>(nodes() + p, columns), q.first + v0 + p, q.job.n);
    __syncthreads();
  }
};

template <class R>
__global__ void __launch_bounds__(gr_variance_threads, gr_variance_blocks)
    gr_reduce_cols_variance_leaves(const __grid_constant__ gr_reduce_args q) {
  extern __shared__ __align__(16) char gr_shared[];
  gr_variance_work<R> work = {q, gr_shared};
  unsigned groups = (unsigned)((q.job.count * gr_size<R::dtype> + (16 << q.cols_variance_leaves.words_log2) - 1) >>
                               (4 + q.cols_variance_leaves.words_log2));
  gr_await_earlier();
#pragma unroll 1
  for (unsigned run = blockIdx.x; run < groups * (unsigned)q.nodes; run += gridDim.x) {
    unsigned node = run / groups, group = run - node * groups;
    int64_t leaf0 = (int64_t)node << q.cols_variance_leaves.node_leaves_log2;
    int leaves = (int)min((int64_t)1 << q.cols_variance_leaves.node_leaves_log2, q.leaves - leaf0);
#pragma unroll 1
    for (int k = 0; k < leaves; k += 1 << q.cols_variance_leaves.leaves_log2) work.leaf(leaf0 + k, k, group);
    work.node((int)node, group, leaves);
  }
}

#endif
