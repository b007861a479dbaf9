/*
** Short rows of integers of which products are added up: norms, squared differences, cosines. A thread has up to eight
** lanes of the tree, as far apart as lanes get, so that they fold at once by halves; up to 32 threads share a row. The
** kernel is one for all integers, which it widens as it is told: as kernels of each dtype they were 22, and 0.6 MB.
*/
#ifndef GR_CUDA_REDUCE_ROWS_OF_INTEGERS_CUH
#define GR_CUDA_REDUCE_ROWS_OF_INTEGERS_CUH

#include "kernels/cuda/grid/combine.cuh"
#include "kernels/cuda/reduce/tuning.h"
#include "kernels/cuda/thread/reducers.cuh"

template <class R>
constexpr bool gr_has_rows_of_integers =
    !gr_floating<R::dtype> && (R::red == GR_RED_SUMSQ || R::red == GR_RED_SQDIFF || R::red == GR_RED_COSINE);

/* Elements first, first + 2^log, ... at p: those for which `there` has a bit. By a type of their size, or by their size
   and their sign's bit. */
template <class U>
__device__ __forceinline__ void gr_load_integers(int64_t (&x)[gr_integer_lanes], const char *p, int first, int log,
                                                 unsigned there) {
#pragma unroll
  for (int i = 0; i < gr_integer_lanes; i++)
    if (there >> i & 1) x[i] = (int64_t)__ldg((const U *)p + first + (i << log));
}
__device__ __forceinline__ void gr_load_integers(int64_t (&x)[gr_integer_lanes], const char *p, int first, int log,
                                                 unsigned there, int size, int64_t sign) {
  if (size == 1) gr_load_integers<uint8_t>(x, p, first, log, there);
  else if (size == 2) gr_load_integers<uint16_t>(x, p, first, log, there);
  else if (size == 4) gr_load_integers<uint32_t>(x, p, first, log, there);
  else gr_load_integers<unsigned long long>(x, p, first, log, there);
#pragma unroll
  for (int i = 0; i < gr_integer_lanes; i++) x[i] -= (x[i] & sign) << 1;
}

template <gr_reducer RED>
__global__ void __launch_bounds__(gr_integer_threads) gr_rows_of_integers(const __grid_constant__ gr_reduce_args q) {
  using R = gr_in_f64<RED, GR_I64>;
  const gr_rows_of_integers_args &how = q.rows_of_integers;
  const int log = how.row_threads_log2, t = threadIdx.x & ((1 << log) - 1), n = (int)q.job.n;
  const int64_t v = ((int64_t)blockIdx.x * gr_integer_threads + threadIdx.x) >> log;
  const int64_t row = q.first + min(v, q.job.count - 1); /* who has none does the last one's work once more */
  const char *a = (const char *)q.job.a.data + row * q.job.a.step, *b = (const char *)q.job.b.data + row * q.job.b.step;
  typename R::Lane l[gr_integer_lanes];
#pragma unroll
  for (int i = 0; i < gr_integer_lanes; i++) l[i] = R::start();
  gr_start_reading(q.inputs_stable);
#pragma unroll 1
  for (int first = t; first < n; first += how.lanes) {
    int64_t x[gr_integer_lanes] = {}, y[gr_integer_lanes] = {};
    unsigned there = 0;
#pragma unroll
    for (int i = 0; i < gr_integer_lanes; i++)
      there |= (unsigned)(i << log < how.lanes && first + (i << log) < n) << i;
    gr_load_integers(x, a, first, log, there, how.size, how.sign);
    if (R::inputs == 2) gr_load_integers(y, b, first, log, there, how.size, how.sign);
#pragma unroll
    for (int i = 0; i < gr_integer_lanes; i++)
      if (there >> i & 1) R::add(l[i], x[i], R::inputs == 2 ? y[i] : x[i], q.context, 0);
  }
  gr_acc s[gr_integer_lanes];
#pragma unroll
  for (int i = 0; i < gr_integer_lanes; i++) s[i] = R::state(l[i], q.context);
  gr_fold_own<R, gr_integer_lanes, gr_integer_lanes>(s);
#pragma unroll 1
  for (int h = 1 << log >> 1; h > 0; h /= 2) s[0] = gr_merge_xor<R>(s[0], h);
  if (q.inputs_stable) gr_await_earlier();
  if (t == 0 && v < q.job.count) gr_write<R>(q, s[0], row, n);
}
template <class R>
constexpr auto gr_reduce_rows_of_integers = gr_rows_of_integers<R::red>;

#endif
