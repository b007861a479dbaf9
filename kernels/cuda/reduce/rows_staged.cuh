/*
** Many rows of up to a leaf. A warp brings its rows to shared memory, all at once and by whole words; then some
** lanes fold one, a thread up to 8 words of each 512 bytes of it, since what one thread folds needs no exchange.
** All that is short of instructions rather than of memory (ncu): words that lie one after the other are copied so, and
** trade places within their row, so that threads which read different rows meet different banks.
*/
#ifndef GR_CUDA_REDUCE_ROWS_STAGED_CUH
#define GR_CUDA_REDUCE_ROWS_STAGED_CUH

#include "kernels/cuda/reduce/rows_staged_fold.cuh"

/* Rows of half a word, two to each of `words`. */
template <class R>
__device__ __forceinline__ void gr_halves_of_words(const gr_reduce_args &q, const uint4 *word, int words, int64_t row0,
                                                   bool quick, int lane) {
  constexpr int half = gr_lanes_of<R> / 2;
  double *out = (double *)q.out + q.first + row0;
  auto fold = [&](uint32_t low, uint32_t high) {
    const uint4 w = make_uint4(low, high, 0, 0);
    gr_lane_set<R> s = gr_start_lanes<R>();
    gr_acc v[half];
#pragma unroll
    for (int c = 0; c < half; c++) {
      R::add(s.l[c], gr_pick<R::dtype>(w, c), gr_pick<R::dtype>(w, c), q.context, 0);
      v[c] = R::state(s.l[c], q.context);
    }
    gr_fold_own<R, half, half>(v);
    return v[0];
  };
  int rows = (int)min((int64_t)words * 2, q.job.count - row0), pairs = quick && (uintptr_t)out % 16 == 0 ? rows / 2 : 0;
#pragma unroll(gr_staged_unrolled)
  for (int r = lane; r < pairs; r += 32) {
    uint4 w = word[r];
    ((double2 *)out)[r] = make_double2(gr_canonical(fold(w.x, w.y).f[0]), gr_canonical(fold(w.z, w.w).f[0]));
  }
#pragma unroll 1
  for (int r = 2 * pairs + lane; r < rows; r += 32) {
    uint2 w = ((const uint2 *)word)[r];
    gr_write<R>(q, fold(w.x, w.y), q.first + row0 + r, half);
  }
}

/*
** `rows` rows from `from` on: those that follow each other word by word, wherever they start in one, others row by row.
** Of the first kind, row r starts r * bytes behind the first; words of aligned ones trade places.
*/
__device__ __forceinline__ void gr_stage_rows(const gr_reduce_args &q, uint4 *stage, const char *from, int rows,
                                              int bytes, int lane) {
  const gr_rows_staged_args &how = q.rows_staged;
  if (how.contiguous) {
    int shift = (int)((uintptr_t)from & 15), all = rows > 0 ? shift + (rows * bytes << how.two_a_word) + 15 >> 4 : 0;
    uint4 *to = stage + (lane ^ ((lane >> how.swizzle_from & how.swizzle_mask) << how.swizzle_to));
    from += lane * 16 - shift;
#pragma unroll(gr_staged_unrolled)
    for (int i = lane; i < all; i += 32, to += 32, from += 512) gr_copy_async<16>(to, from);
    return;
  }
  int words = how.row_words, down = 32 / words, right = 32 - down * words, r = lane / words, j = lane - r * words;
  int64_t step = q.job.a.step;
  uint4 *to = stage + r * how.pitch + j;
  from += r * step;
#pragma unroll 1
  for (int i = lane; i < rows * words; i += 32) {
    int shift = (int)((uintptr_t)from & 15);
    if (j * 16 < shift + bytes) gr_copy_async<16>(to, from - shift + j * 16);
    bool wraps = j + right >= words;
    j += wraps ? right - words : right;
    to += down * how.pitch + right + (wraps ? how.pitch - words : 0);
    from += down * step + (wraps ? step : 0);
  }
}

template <class R>
__global__ void __launch_bounds__(gr_staged_warps * 32, gr_staged_blocks<R>)
    gr_reduce_rows_staged(const __grid_constant__ gr_reduce_args q) {
  const gr_rows_staged_args &how = q.rows_staged;
  constexpr bool loosable = gr_by_words_alone<R> && gr_size<R::dtype> <= 2;
  extern __shared__ uint4 stages[];
  int lane = threadIdx.x & 31, warp = gr_warp_index(), threads = 1 << how.row_threads_log2, n = (int)q.job.n;
  uint4 *stage = stages + warp * how.stage_words;
  int64_t row0 = ((int64_t)blockIdx.x * gr_staged_warps + warp) * how.rows;
  int rows = (int)max((int64_t)0, min((int64_t)how.rows, (q.job.count + how.two_a_word >> how.two_a_word) - row0));
  gr_staged_row row = {stage, (const uint4 *)q.job.b.data, how.row_words,           lane & (threads - 1), threads, 0,
                       0,     n * gr_size<R::dtype>,       loosable && how.unaligned};
  const char *from = (const char *)q.job.a.data + (q.first + (row0 << how.two_a_word)) * q.job.a.step;
  gr_start_reading(q.inputs_stable);
  gr_stage_rows(q, stage, from, rows, row.bytes, lane);
  gr_kept_vector<R> vector; /* or in L2 by the time that rows are here */
  if constexpr (R::inputs == 2) {
    vector = gr_keep_vector<R>(row, how.words_log2);
    if (blockIdx.x == 0 && !vector.kept)
      gr_ask_ahead<GR_LEAF_ROWS(gr_size<R::dtype>) * GR_ROW_BYTES>((const char *)row.vector, row.bytes, lane);
  }
  const bool quick = gr_is_quick<R>(q), counts = q.op == GR_OP_mean;
  double part = 1.0 / (double)n, less = 0, part_less = 0; /* while memory works */
  if (R::variance) less = (double)n - q.job.ddof, part_less = 1.0 / less;
  gr_copies_wait();
  gr_await_earlier();
  __syncwarp();
  if constexpr (R::red == GR_RED_SUM && R::lanes && !R::tallied && (gr_lanes_of<R>) > 2)
    if (how.two_a_word) {
      gr_halves_of_words<R>(q, stage, rows, row0 << 1, quick, lane);
      return;
    }
#pragma unroll 1
  for (int r = 0; r < rows; r += 32 >> how.row_threads_log2) {
    int own = r + (lane >> how.row_threads_log2), here = min(own, rows - 1); /* lanes without a row repeat the last */
    row.word = stage + here * how.pitch;
    if (how.contiguous) row.turn = (here * how.row_words >> how.swizzle_from & how.swizzle_mask) << how.swizzle_to;
    if (row.loose) {
      int at = (int)((uintptr_t)from & 15) + here * row.bytes;
      if (how.contiguous) row.word = stage + (at >> 4);
      else at = (int)(uintptr_t)(from + here * q.job.a.step);
      row.shift = at & 15;
      row.words = (row.shift + row.bytes + 15) >> 4;
    }
    gr_acc acc;
    int64_t there = n;
    if constexpr (R::tallied) acc.f[0] = gr_count_row<R>(row, how.words_log2, lane, q.context, there);
    else if constexpr (R::variance) acc = gr_variance_row<R>(row, how.words_log2, lane, q.context, (double)n, part);
    else if constexpr (R::inputs == 2) acc = gr_dot_row<R>(row, how.words_log2, lane, q.context, vector);
    else acc = gr_sum_row<R>(row, how.words_log2, lane, q.context);
    if (row.t != 0 || own >= rows) continue;
    if (quick) gr_write_quick<R>(q, acc, q.first + row0 + own, less, part_less);
    else if constexpr (R::tallied) gr_write_tallied<R>(q, R::with(acc, counts ? there : n), q.first + row0 + own);
    else gr_write<R>(q, acc, q.first + row0 + own, n);
  }
}

#endif
