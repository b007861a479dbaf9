/*
** Sums, variances and products by one vector of few columns without gaps, whose rows begin anywhere in a word. Element
** j + k * lanes * columns of a leaf is of the same lane of the tree and of the same column for each k, and a leaf is a
** multiple of 16 bytes long: so it is read as 8 or 16 stretches of 512 bytes a column, which add up place by place,
** whatever the width. A thread has one word of each stretch, so as many warps share a leaf as there are columns. Then
** places fold by halves, as lanes do, in shared memory: element p of a stretch is of lane p / columns, and meets
** element p + half.
*/
#ifndef GR_CUDA_REDUCE_COLS_FLAT_CUH
#define GR_CUDA_REDUCE_COLS_FLAT_CUH

#include "kernels/cuda/grid/combine.cuh"
#include "kernels/cuda/reduce/tuning.h"
#include "kernels/cuda/thread/load.cuh"

template <class R>
constexpr bool gr_has_cols_flat = R::lanes && gr_floating<R::dtype> &&
                                  (R::red == GR_RED_SUM || R::red == GR_RED_DOT || R::red == GR_RED_VARIANCE);
template <class R, bool = R::variance>
struct gr_flat_passes {
  using Sum = R;
  using Squares = R;
};
template <class R>
struct gr_flat_passes<R, true> {
  using Sum = typename R::Sum;
  using Squares = typename R::Squares;
};

/* at(0) to at(count - 1) by halves. */
template <int count, int i = 0, int step = 1, class P>
__device__ __forceinline__ double gr_flat_sum(const P &at) {
  if constexpr (step >= count) {
    return at(i);
  } else {
    double a = gr_flat_sum<count, i, step * 2>(at);
    return a + gr_flat_sum<count, i + step, step * 2>(at);
  }
}

template <class R>
struct gr_flat_work {
  static constexpr int size = gr_size<R::dtype>, E = 16 / size, stretches = GR_LEAF_ROWS(size), batch = gr_flat_words;
  using Sum = typename gr_flat_passes<R>::Sum;
  using Squares = typename gr_flat_passes<R>::Squares;
  const gr_reduce_args &q;
  int columns, threads, side, u; /* threads of a leaf; which leaf of those side by side, and which of its words */
  double *places, *lanes, *means;

  __device__ __forceinline__ gr_flat_work(const gr_reduce_args &q, char *shared) : q(q) {
    const gr_cols_flat_args &how = q.cols_flat;
    columns = (int)q.job.count;
    threads = 32 * columns;
    side = threadIdx.x / threads;
    u = threadIdx.x - side * threads;
    places = (double *)shared + side * threads * E;
    lanes = (double *)(shared + how.lanes_at) + side * threads;
    means = (double *)(shared + how.means_at) + side * columns;
  }
  /* Where this thread's first word of a leaf lies, and how many bytes of the matrix there are from there on. */
  __device__ __forceinline__ const char *word(int64_t leaf, int &left) const {
    int64_t at = leaf * (GR_LEAF(size) * size) * columns + u * 16;
    left = (int)min((int64_t)INT32_MAX, q.job.n * columns * size - at);
    return (const char *)q.job.a.data + at;
  }
  __device__ __forceinline__ void load(uint4 (&x)[batch], const char *p, int left, int first) const {
    const int apart = GR_ROW_BYTES * columns;
    p += first * apart;
    left -= first * apart;
#pragma unroll
    for (int k = 0; k < batch; k++, p += apart, left -= apart) {
      asm volatile("" : "+l"(p), "+r"(left)); /* one address at a time */
      if (left > 0) x[k] = gr_load16(p);
    }
  }
  /* What the vector has for element e of a stretch's word; b: where its part for the stretch begins. */
  __device__ __forceinline__ gr_type<R::dtype> factor(const char *b, int e) const {
    return *(const gr_type<R::dtype> *)(b + (u * E + e) / columns * (int)q.job.b.stride);
  }
  template <class Q, bool whole>
  __device__ __forceinline__ void add_words(typename Q::Lane (&l)[E], const uint4 (&x)[batch], const char *b, int left,
                                            int first, const double (&mean)[E]) const {
    gr_context c = q.context;
#pragma unroll
    for (int k = 0; k < batch; k++)
#pragma unroll
      for (int e = 0; e < E; e++)
        if (whole || (first + k) * (GR_ROW_BYTES * columns) + e * size < left) {
          gr_type<R::dtype> own = gr_pick<R::dtype>(x[k], e), other = own;
          if constexpr (Q::inputs == 2) other = factor(b + (first + k) * GR_LANES(size) * q.job.b.stride, e);
          c.a = mean[e];
          Q::add(l[e], own, other, c, 0);
        }
  }
  template <class Q>
  __device__ __forceinline__ void add(typename Q::Lane (&l)[E], const uint4 (&x)[batch], const char *b, int left,
                                      int first, const double (&mean)[E]) const {
    if (__all_sync(~0u, (first + batch - 1) * (GR_ROW_BYTES * columns) + 16 <= left))
      add_words<Q, true>(l, x, b, left, first, mean);
    else add_words<Q, false>(l, x, b, left, first, mean);
  }
  /* A leaf's places fold to a sum for each column, in the threads of the first words; all come to two barriers. */
  template <class Q>
  __device__ __forceinline__ double fold(const typename Q::Lane (&l)[E]) const {
    double2 *mine = (double2 *)(places + u * E);
#pragma unroll
    for (int e = 0; e < E; e += 2)
      mine[e / 2] = make_double2(Q::state(l[e], q.context).f[0], Q::state(l[e + 1], q.context).f[0]);
    __syncthreads();
    const double *from = places + u;
    lanes[u] = gr_flat_sum<E>([=](int i) { return from[i * threads]; });
    __syncthreads();
    if (u >= columns) return 0;
    from = lanes + u;
    return gr_flat_sum<32>([=](int i) { return from[i * columns]; });
  }
  /* All words of a leaf, the first ones of which are in x. */
  template <class Q>
  __device__ __forceinline__ void read(typename Q::Lane (&l)[E], uint4 (&x)[batch], int64_t leaf, const char *p,
                                       int left, const double (&mean)[E]) const {
    const char *b = (const char *)q.job.b.data + leaf * GR_LEAF(size) * q.job.b.stride;
#pragma unroll
    for (int e = 0; e < E; e++) l[e] = Q::start();
    add<Q>(l, x, b, left, 0, mean);
    if constexpr (stretches > batch) {
      load(x, p, left, batch);
      add<Q>(l, x, b, left, batch, mean);
    }
  }
};

template <class R>
__global__ void __launch_bounds__(gr_flat_warps * 32)
    gr_reduce_cols_flat(const __grid_constant__ gr_reduce_args q) {
  using Work = gr_flat_work<R>;
  constexpr int E = Work::E;
  const gr_cols_flat_args &how = q.cols_flat;
  extern __shared__ __align__(16) char gr_shared[];
  Work w(q, gr_shared);
  const int columns = w.columns, sides = 1 << how.sides_log2, leaves = sides << how.passes_log2;
  const int64_t first = (int64_t)blockIdx.x * leaves;
  /* states of leaves: column, then leaf, then field */
  int64_t *states = (int64_t *)(gr_shared + how.states_at);
  const int pitch = leaves * columns;
  double mean[E] = {};
  uint4 x[Work::batch];
  int left;
  gr_start_reading(q.inputs_stable);
  const char *p = w.word(first + w.side, left);
  w.load(x, p, left, 0);
#pragma unroll 1
  for (int i = w.side; i < leaves; i += sides) {
    if (first + i - w.side >= q.leaves) break; /* of all sides */
    const int64_t leaf = first + i;
    typename Work::Sum::Lane l[E];
    w.template read<typename Work::Sum>(l, x, leaf, p, left, mean);
    gr_acc acc = R::identity();
    if constexpr (R::variance) {
      const int rows = (int)max((int64_t)1, min(q.job.n - leaf * GR_LEAF(Work::size), (int64_t)GR_LEAF(Work::size)));
      acc.f[0] = w.template fold<typename Work::Sum>(l);
      acc.f[2] = rows;
      if (w.u < columns) w.means[w.u] = acc.f[0] / acc.f[2];
      __syncthreads();
#pragma unroll
      for (int e = 0, c = w.u * E % columns; e < E; e++, c = c + 1 == columns ? 0 : c + 1) mean[e] = w.means[c];
      typename Work::Squares::Lane d[E];
      if constexpr (Work::stretches > Work::batch) w.load(x, p, left, 0);
      w.template read<typename Work::Squares>(d, x, leaf, p, left, mean);
      if (i + sides < leaves) p = w.word(leaf + sides, left), w.load(x, p, left, 0);
      acc.f[1] = gr_deviations<R::dtype>(w.template fold<typename Work::Squares>(d), w.u < columns ? w.means[w.u] : 0);
    } else {
      if (i + sides < leaves) p = w.word(leaf + sides, left), w.load(x, p, left, 0);
      acc.f[0] = w.template fold<typename Work::Sum>(l);
    }
    if (w.u < columns) gr_put<R>(states + i * columns + w.u, pitch, acc);
  }
  /* Leaves fold by adjacency, then nodes. */
  const int there = (int)min((int64_t)leaves, q.leaves - first);
#pragma unroll 1
  for (int h = 1; h < there; h *= 2) {
    __syncthreads();
#pragma unroll 1
    for (int k = threadIdx.x; k < there * columns; k += blockDim.x) {
      int i = k / columns;
      if (i % (2 * h) == 0 && i + h < there)
        gr_put<R>(states + k, pitch, R::merge(gr_get<R>(states + k, pitch),
                                              gr_get<R>(states + k + h * columns, pitch)));
    }
  }
  __syncthreads();
  const int v = (int)threadIdx.x;
  if (v >= 32) return;
  if (q.inputs_stable) gr_await_earlier();
  if (q.nodes > 1) {
    if (v < columns)
      gr_put<R>(q.node + (int64_t)blockIdx.x * columns + v, (int64_t)columns * q.nodes, gr_get<R>(states + v, pitch));
    if (!gr_combine_nodes<R, gr_team_of_warp>(q, 0, columns, q.counter, blockIdx.x)) return;
  }
  if (v < columns)
    gr_write<R>(q, q.nodes > 1 ? gr_root<R>(q, v) : gr_get<R>(states + v, pitch), q.first + v, q.job.n);
}

#endif
