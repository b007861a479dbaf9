/*
** Sums of columns of up to 8 rows, and their dots with one vector: a thread has all rows of a word of columns, in its
** registers; results change hands within the warp, so that neighbours write next to each other. Nothing is shared
** between warps.
*/
#ifndef GR_CUDA_REDUCE_COLS_FEW_ROWS_CUH
#define GR_CUDA_REDUCE_COLS_FEW_ROWS_CUH

#include "kernels/cuda/grid/combine.cuh"
#include "kernels/cuda/reduce/tuning.h"
#include "kernels/cuda/thread/load.cuh"

template <class R>
constexpr bool gr_has_cols_few_rows = R::lanes && (R::red == GR_RED_SUM || R::red == GR_RED_DOT);
template <class R>
constexpr int gr_few_blocks = gr_few_blocks_for(gr_traits_of<R>, gr_arch);
template <class R>
constexpr int gr_few_columns = 16 / gr_size<R::dtype>;

/* Column c of n rows, a lane for each, by halves. */
template <class R, int r = 0, int step = 1, class Word>
__device__ __forceinline__ double gr_sum_few(const Word (&x)[gr_few_rows], const gr_type<R::dtype> (&y)[gr_few_rows],
                                             int n, int c, const gr_context &k) {
  if constexpr (step == gr_few_rows) {
    typename R::Lane l = R::start();
    if (r < n) R::add(l, gr_column_word<R::dtype, gr_few_columns<R>>::pick(x[r], c), y[r], k, 0);
    return R::state(l, k).f[0];
  } else {
    double a = gr_sum_few<R, r, step * 2>(x, y, n, c, k);
    if (r + step < n) a += gr_sum_few<R, r + step, step * 2>(x, y, n, c, k);
    return a;
  }
}

/* Warps take strips of 32 words, one after the other. */
template <class R>
__global__ void __launch_bounds__(gr_few_warps * 32, gr_few_blocks<R>)
    gr_reduce_cols_few_rows(const __grid_constant__ gr_reduce_args q) {
  constexpr int C = gr_few_columns<R>, size = gr_size<R::dtype>;
  using F = gr_column_word<R::dtype, C>;
  __shared__ int64_t results[gr_few_warps][32 * (C + 1)]; /* one unused after every C, for the banks */
  int lane = threadIdx.x & 31, warp = gr_warp_index(), n = (int)q.job.n;
  int64_t strips = (q.job.count + 32 * C - 1) / (32 * C), *own = results[warp];
  gr_start_reading(q.inputs_stable);
#pragma unroll 1
  for (int64_t s = (int64_t)blockIdx.x * gr_few_warps + warp; s < strips; s += (int64_t)gridDim.x * gr_few_warps) {
    int64_t v = s * (32 * C);
    int columns = (int)min((int64_t)32 * C, q.job.count - v), bytes = min(16, (columns - lane * C) * size);
    typename F::Word x[gr_few_rows];
    const char *a = (const char *)q.job.a.data + (q.first + v) * size + lane * 16, *p = a;
#pragma unroll
    for (int r = 0; r < gr_few_rows; r++) {
      if (r < n && bytes > 0) x[r] = F::begin(p);
      p += q.job.a.stride;
      asm volatile("" : "+l"(p)); /* one address at a time */
    }
    gr_type<R::dtype> y[gr_few_rows] = {};
    if (R::inputs == 2)
#pragma unroll
      for (int r = 0; r < gr_few_rows; r++)
        if (r < n) y[r] = *(const gr_type<R::dtype> *)((const char *)q.job.b.data + r * q.job.b.stride);
    if (q.cols_few_rows.unaligned) {
      p = a;
#pragma unroll
      for (int r = 0; r < gr_few_rows; r++) {
        if (r < n && bytes > 0) x[r] = F::end(x[r], p, bytes);
        p += q.job.a.stride;
        asm volatile("" : "+l"(p));
      }
    }
    gr_value value;
#pragma unroll
    for (int c = 0; c < C; c++) {
      gr_acc acc = R::identity();
      acc.f[0] = gr_sum_few<R>(x, y, n, c, q.context);
      value = gr_finish_known<R>(q.job, (gr_op)q.op, acc, n);
      own[lane * (C + 1) + c] = value.v[0].i;
    }
    __syncwarp();
    if (q.inputs_stable) gr_await_earlier();
    /* Doubles go two by two. */
    double2 *pairs = (double2 *)((double *)q.out + q.first + v);
    int whole = q.out_dtype == GR_F64 && !q.done && ((uintptr_t)pairs & 15) == 0 ? columns / 2 : 0;
#pragma unroll 1
    for (int p = lane; p < whole; p += 32) {
      const double *two = (const double *)own + 2 * p + 2 * p / C;
      pairs[p] = make_double2(two[0], two[1]);
    }
#pragma unroll 1
    for (int p = 2 * whole + lane; p < columns; p += 32) {
      value.v[0].i = own[p + p / C];
      gr_write_value<R>(q, value, q.first + v + p);
    }
    __syncwarp();
  }
}

#endif
