/*
** Rows of up to 4 KB of reducers that let their elements come in any order. 2^threads lanes take a row and read it by
** the aligned words that hold it, eight words of a lane in flight: 2^each of them are of one row, the others of rows
** further on. What a word holds beside the row is made neutral.
*/
#ifndef GR_REDUCE_ROWS_CUH
#define GR_REDUCE_ROWS_CUH

#include "kernels/cuda/grid.cuh"

constexpr int gr_rows_warps = 4, gr_rows_words = 8;

/* Of what is asked of many rows: products are not. */
template <class R>
constexpr bool gr_has_rows = !R::lanes && R::inputs == 1 && R::kind != GR_ACC_PLACE && R::red != GR_RED_PROD;

/* What takes whole words: of exact spreads the sums that they are made of. */
template <class R>
static auto gr_word_adder() {
  if constexpr (R::exact) return typename R::Moments{};
  else if constexpr (R::kind == GR_ACC_ORDER) return gr_order_words<R::dtype>{};
  else return R{};
}

template <class Q>
__device__ __forceinline__ void gr_add_one_word(typename Q::Lane &l, const uint4 &a, const uint4 &b, const gr_context &k) {
  if constexpr (Q::by_word) {
    Q::add_word(l, a, b, k, 0);
  } else {
#pragma unroll
    for (int c = 0; c < 16 / gr_size<Q::dtype>; c++) Q::add(l, gr_pick<Q::dtype>(a, c), gr_pick<Q::dtype>(b, c), k, 0);
  }
}

/* Bytes from .. to - 1 of w (elements of `size`), the others from `rest`, which repeats every 8 bytes. */
template <int size>
__device__ __forceinline__ uint4 gr_keep_bytes(const uint4 &w, int from, int to, uint2 rest) {
  auto part = [=](uint32_t x, uint32_t r, int at) {
    if (size >= 4) return at >= from && at < to ? x : r;
    int low = min(max(from - at, 0), 4) * 8, high = min(max(to - at, 0), 4) * 8;
    uint32_t mask = __funnelshift_lc(0u, ~0u, low) & ~__funnelshift_lc(0u, ~0u, high);
    return (x & mask) | (r & ~mask);
  };
  return make_uint4(part(w.x, rest.x, 0), part(w.y, rest.y, 4), part(w.z, rest.x, 8), part(w.w, rest.y, 12));
}

/* q.rows: rows of a warp; q.loose: words may hold something else beside a row. */
template <class R>
__global__ void __launch_bounds__(gr_rows_warps * 32, 7) gr_reduce_rows(const __grid_constant__ gr_reduce_args q) {
  using Q = decltype(gr_word_adder<R>());
  __shared__ int64_t own[gr_rows_warps][Q::fields][gr_rows_words * 32]; /* states of a lane's rows, for itself */
  int lane = threadIdx.x & 31, warp = gr_warp_index(), t = lane & ((1 << q.threads) - 1), sub = lane >> q.threads;
  int per = 32 >> q.threads, last = (1 << q.each) - 1, bytes = (int)q.job.n * gr_size<R::dtype>;
  int64_t row0 = ((int64_t)blockIdx.x * gr_rows_warps + warp) * q.rows, step = q.job.a.step;
  int rows = (int)max((int64_t)0, min((int64_t)q.rows, q.job.count - row0));
  const char *from = (const char *)q.job.a.data + (q.first + row0 + sub) * step;
#pragma unroll 1
  for (int r = 0; r < rows; r += gr_rows_words >> q.each << (5 - q.threads)) {
    uint4 w[gr_rows_words];
    const char *p = from + r * step;
    typename Q::Lane l = Q::start();
#pragma unroll
    for (int i = 0; i < gr_rows_words; i++) {
      const char *row = p + (i >> q.each) * (per * step);
      int at = (((i & last) << q.threads) + t) * 16 - ((int)(uintptr_t)row & 15);
      if (at < bytes && r + sub + (i >> q.each) * per < rows) w[i] = gr_load16(row + at);
    }
#pragma unroll
    for (int i = 0; i < gr_rows_words; i++) {
      int at = (((i & last) << q.threads) + t) * 16 - ((int)(uintptr_t)p + (i >> q.each) * (per * (int)step) & 15);
      if (((i & last) << q.threads) * 16 < bytes + 16 && at < bytes) { /* the first of these for all lanes alike */
        uint4 other = w[i];
        if (q.loose && (at < 0 || at + 16 > bytes)) {
          if constexpr (Q::kind == GR_ACC_ORDER) other = gr_keep_bytes<gr_size<R::dtype>>(w[i], -at, bytes - at, Q::highest());
          w[i] = gr_keep_bytes<gr_size<R::dtype>>(w[i], -at, bytes - at, Q::neutral());
        }
        gr_add_one_word<Q>(l, w[i], other, q.context);
      }
      if ((i & last) == last) {
        gr_put<Q>(&own[warp][0][(i >> q.each) * 32 + lane], gr_rows_words * 32, Q::state(l, q.context));
        l = Q::start();
      }
    }
#pragma unroll 1
    for (int s = 0; s < gr_rows_words >> q.each && r + s * per < rows; s++) {
      gr_acc acc = gr_get<Q>(&own[warp][0][s * 32 + lane], gr_rows_words * 32);
#pragma unroll 1
      for (int h = 1; h >> q.threads == 0; h *= 2) acc = gr_merge_xor<Q>(acc, h);
      if constexpr (R::exact) acc = R::of(acc, q.job.n);
      if (t == 0 && r + s * per + sub < rows) gr_write<R>(q, acc, q.first + row0 + r + s * per + sub, q.job.n);
    }
  }
}

#endif
