/* What the kernels of rmsnorm share: the job, and what is done with a word of a row. */
#ifndef GR_CUDA_NORM_RMSNORM_CUH
#define GR_CUDA_NORM_RMSNORM_CUH

#include <cuda_runtime.h>
#include "kernels/cuda/block/cp_async.cuh"
#include "kernels/cuda/block/ring.cuh"
#include "kernels/cuda/grid/combine.cuh"
#include "kernels/cuda/norm/tuning.h"
#include "kernels/cuda/reduce/rows_by_vector.cuh"

typedef struct rms_job {
  const char *x, *w;
  char *out;
  int64_t n, count, x_step, out_step;
  int64_t x_stride, w_stride, out_stride;
  double eps;
  const double *sums; /* of squares, when they were found before */
  bool inputs_stable;     /* launches that may still run write nothing that this one reads */
} rms_job;

template <gr_dtype D> constexpr int per_word = 16 / gr_size<D>;
template <gr_dtype D> constexpr int leaf_bytes = GR_LEAF_ROWS(gr_size<D>) * GR_ROW_BYTES;

/* A word of the row times the factor and the weights. */
template <gr_dtype D>
static __device__ __forceinline__ uint4 scale_word(const uint4 &x, double r, bool weighted,
                                                   const double (&w)[per_word<D>]) {
  struct __align__(16) { gr_type<D> e[per_word<D>]; } y;
  uint4 u;
#pragma unroll
  for (int c = 0; c < per_word<D>; c++) {
    double v = gr_to_f64<D>(gr_pick<D>(x, c)) * r;
    if (weighted) v *= w[c];
    y.e[c] = gr_from_f64<D>(v);
  }
  memcpy(&u, &y, 16);
  return u;
}
template <gr_dtype D>
static __device__ __forceinline__ void widen_word(double (&w)[per_word<D>], const uint4 &u) {
#pragma unroll
  for (int c = 0; c < per_word<D>; c++) w[c] = gr_to_f64<D>(gr_pick<D>(u, c));
}

/* Squares of a word onto its lanes. Those of up to 32 bits are exact in a double, so that fma rounds as an addition
   does. */
template <gr_dtype D>
static __device__ __forceinline__ void add_squares(double (&s)[per_word<D>], const uint4 &u) {
#pragma unroll
  for (int c = 0; c < per_word<D>; c++) {
    double x = gr_to_f64<D>(gr_pick<D>(u, c));
    s[c] = gr_size<D> <= 4 ? __fma_rn(x, x, s[c]) : s[c] + x * x;
  }
}
template <gr_dtype D>
static __device__ __forceinline__ double fold_squares(const double (&s)[per_word<D>], int threads, int lane) {
  gr_acc v[per_word<D>];
#pragma unroll
  for (int c = 0; c < per_word<D>; c++) v[c].f[0] = s[c];
  return gr_fold_halves<gr_in_f64<GR_RED_SUMSQ, D>, per_word<D>>(v, threads, lane).f[0];
}
template <gr_dtype D>
static __device__ __forceinline__ void start_squares(double (&s)[per_word<D>]) {
#pragma unroll
  for (int c = 0; c < per_word<D>; c++) s[c] = -0.0;
}

static __device__ __forceinline__ double factor_of(const rms_job &q, double sum) {
  return 1.0 / sqrt(sum / (double)q.n + q.eps);
}

/* The sum of up to 32 pieces of a row, as soon as all of them are published. */
static __device__ __forceinline__ double gather_sums(const gr_halves *partials, int pieces, gr_tag tag, int lane) {
  using R = gr_in_f64<GR_RED_SUMSQ, GR_F64>;
  const gr_halves *at[1] = {partials + lane};
  bool wanted[1] = {lane < pieces};
  double sum[1];
  gr_acc all = R::identity();
  gr_await(at, wanted, tag, all.f[0], sum);
  all.f[0] = sum[0];
  return gr_fold_adjacent<R>(all, 32).f[0];
}

#endif
