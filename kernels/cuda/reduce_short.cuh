/*
** Rows shorter than a leaf: 2^threads neighbouring threads of a warp take a row, 2^rows words each, and a
** warp takes as many rows as fill its loads. A row's empty lanes are identities, so folding only the
** lanes in use gives the tree's bits.
*/
#ifndef GR_REDUCE_SHORT_CUH
#define GR_REDUCE_SHORT_CUH

#include "kernels/cuda/reduce_leaves.cuh"

constexpr int gr_short_warps = 4;
template <class R> constexpr int gr_short_batch = R::inputs == 2 ? 4 : 8;

/* Begins to load one input of the words that a thread takes: row by row, a word at a time. */
template <gr_dtype D, int words>
__device__ __forceinline__ void gr_begin_short(uint4 (&w)[words], const gr_vec &vec, const gr_reduce_args &q, int64_t row0, int place) {
  constexpr int size = gr_size<D>, each = 16 / size;
  int at = place & ((1 << q.threads) - 1), group = place >> q.threads, step = 32 >> q.threads;
#pragma unroll
  for (int i = 0; i < words; i++) {
    int64_t row = row0 + (i >> q.rows) * step + group;
    int k = (i & ((1 << q.rows) - 1)) * GR_LANES(size) + at * each, valid = row < q.job.count ? min((int)q.job.n - k, each) : 0;
    w[i] = make_uint4(0, 0, 0, 0);
    if (valid > 0) w[i] = gr_load_begin((const char *)vec.data + (q.first + row) * vec.step + (int64_t)k * size);
  }
}

template <class R> struct gr_short_reader {
  static constexpr int size = gr_size<R::dtype>, each = 16 / size, words = gr_short_batch<R>;

  /* Adds the next `rows` words; they move to the end, and are back in place after as many rounds. */
  template <class Q>
  static __device__ __forceinline__ void add(typename Q::Lane (&l)[gr_lanes_of<Q>], uint4 (&a)[words], uint4 (&b)[words],
                                             const gr_reduce_args &q, int64_t row, int at, const gr_context &c) {
    bool live = row < q.job.count;
    row += q.first;
#pragma unroll 1
    for (int r = 0; r < 1 << q.rows; r++) {
      int k = r * GR_LANES(size) + at * each, valid = live ? min((int)q.job.n - k, each) : 0;
      uint4 x = a[0], y = b[0];
      if (valid > 0) {
        x = gr_load_end(x, (const char *)q.job.a.data + row * q.job.a.step + k * size, valid * size);
        if (Q::inputs == 2) y = gr_load_end(y, (const char *)q.job.b.data + row * q.job.b.step + k * size, valid * size);
      }
      gr_add_some<Q>(l, x, y, valid, c, r * each);
      gr_rotate(a);
      if (R::inputs == 2) gr_rotate(b);
    }
  }
  template <class Q> static __device__ __forceinline__ void start(typename Q::Lane (&l)[gr_lanes_of<Q>]) {
#pragma unroll
    for (int i = 0; i < gr_lanes_of<Q>; i++) l[i] = Q::start();
  }
  template <int n> static __device__ __forceinline__ void back(uint4 (&w)[n], int turns) {
#pragma unroll 1
    for (int i = 0; i < turns; i++) gr_rotate(w);
  }

  static __device__ __forceinline__ gr_acc fold(uint4 (&a)[words], uint4 (&b)[words], const gr_reduce_args &q, int64_t row, int place) {
    gr_context c = q.context;
    int at = place & ((1 << q.threads) - 1), threads = 1 << q.threads;
    if constexpr (R::spread) {
      using S = typename R::Sum;
      using M = typename R::Squares;
      typename S::Lane sum[gr_lanes_of<S>];
      typename M::Lane squares[gr_lanes_of<M>];
      gr_acc acc;
      start<S>(sum);
      start<M>(squares);
      add<S>(sum, a, b, q, row, at, c);
      back(a, words - (1 << q.rows));
      acc.f[2] = (double)q.job.n;
      acc.f[0] = gr_fold_lanes<S>(sum, c, threads, place).f[0];
      c.a = acc.f[0] / acc.f[2];
      add<M>(squares, a, b, q, row, at, c);
      acc.f[1] = gr_fold_lanes<M>(squares, c, threads, place).f[0];
      return acc;
    } else {
      typename R::Lane l[gr_lanes_of<R>];
      start<R>(l);
      add<R>(l, a, b, q, row, at, c);
      if constexpr (R::kind == GR_ACC_PLACE)
        R::mark(l[0], (int64_t)(l[0].code / each) * GR_LANES(size) + at * each + l[0].code % each);
      return gr_fold_lanes<R>(l, c, threads, place);
    }
  }
};

template <class R>
__global__ void __launch_bounds__(gr_short_warps * 32) gr_reduce_short(const __grid_constant__ gr_reduce_args q) {
  using Reader = gr_short_reader<R>;
  constexpr int words = Reader::words, most = words * 32;
  __shared__ int64_t value[gr_short_warps * most * R::fields];
  int place = threadIdx.x & 31, warp = threadIdx.x >> 5, step = 32 >> q.threads, per_warp = (words >> q.rows) * step;
  int64_t row0 = ((int64_t)blockIdx.x * gr_short_warps + warp) * per_warp;
  int64_t *mine = value + warp * most * R::fields;
  uint4 a[words], b[words];
  if (row0 >= q.job.count) return;
  gr_begin_short<R::dtype, words>(a, q.job.a, q, row0, place);
  if (R::inputs == 2) gr_begin_short<R::dtype, words>(b, q.job.b, q, row0, place);
#pragma unroll 1
  for (int i = 0; i < words >> q.rows; i++) {
    int group = i * step + (place >> q.threads);
    gr_acc acc = Reader::fold(a, b, q, row0 + group, place);
    if ((place & ((1 << q.threads) - 1)) == 0) gr_put<R>(mine + group, most, acc);
  }
  __syncwarp();
  /* The results lie in order now: whole warps finish and store them. */
  for (int i = place; i < per_warp && row0 + i < q.job.count; i += 32)
    gr_write<R>(q, gr_get<R>(mine + i, most), q.first + row0 + i);
}

#endif
