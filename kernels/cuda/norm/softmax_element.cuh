/*
** What the kernels of softmax share: a thread's elements, their exponentials, and which of them are there. Exponentials
** are f32, but for elements of f64.
*/
#ifndef GR_CUDA_NORM_SOFTMAX_ELEMENT_CUH
#define GR_CUDA_NORM_SOFTMAX_ELEMENT_CUH

#include <cuda_runtime.h>
#include <type_traits>
#include "kernels/cuda/grid/combine.cuh"
#include "kernels/cuda/launch.h"
#include "kernels/cuda/norm/tuning.h"
#include "kernels/numerics/functions/functions.h"

using Tuning = gr_norm_tuning;

typedef struct soft_job {
  const char *x;
  char *out;
  int64_t n, count, x_step, out_step, x_stride, out_stride;
  int32_t width;            /* short rows: threads to a row, a power of two */
  int64_t leaves;           /* of a row */
  double *most, *leaf, *up; /* long rows: maxima; sums of leaves, row after row; the next level of them */
  int64_t pitch;            /* from a row's part of up to the next one's */
  gr_halves *partials;      /* of several blocks to a row: their maxima, and behind those of all blocks their sums */
  gr_tag tag;
  int32_t pieces;           /* blocks of a row */
} soft_job;

/* In which elements are compared, which is exact, and their exponentials made: narrow ones without the f64 unit. */
template <gr_dtype D> using exact = std::conditional_t<D == GR_F64, double, float>;
template <gr_dtype D> static __device__ __forceinline__ exact<D> widened(gr_type<D> x) {
  if constexpr (D == GR_F64) return x;
  else return gr_to_f32<D>(x);
}
template <gr_dtype D> static __device__ __forceinline__ gr_type<D> rounded(exact<D> y) {
  if constexpr (D == GR_F64) return y;
  else return gr_rounded_f32<D>(y);
}

/* Not NaN, which reaches all of its row by way of the sum, unlike the comparisons that would keep it here. */
static __device__ __forceinline__ float larger(float m, float x) { return fmaxf(m, x); }
static __device__ __forceinline__ double larger(double m, double x) { return x > m ? x : m; }

/*
** Elements of a thread, `behind` its first one by ascending distances.
**   n          elements from the thread's first one
**   most_n     of the thread of its warp that has the most
**   least_n    of the one that has the least
** Several together: whether all, some or none are there is the same for the whole warp. No loop is left early: which
** are there are predicates, so that arrays stay in registers.
*/
struct present {
  int n, most_n, least_n;
};

/* use(i) of those that are there. */
template <int count, typename Behind, typename Use>
static __device__ __forceinline__ void each_present(present is, Behind behind, Use use) {
  constexpr int at_once = Tuning::softmax_at_once<count>;
#pragma unroll
  for (int i = 0; i < count; i += at_once) {
    if (behind(i + at_once - 1) < is.least_n) {
#pragma unroll
      for (int j = 0; j < at_once; j++) use(i + j);
    } else if (behind(i) < is.most_n) {
#pragma unroll
      for (int j = 0; j < at_once; j++)
        if (behind(i + j) < is.n) use(i + j);
    }
  }
}

/* Elements of a thread, -infinity where there are none; at(i): the address of element i. */
template <gr_dtype D, int count, typename Behind, typename At>
static __device__ __forceinline__ void load_present(exact<D> (&v)[count], present is, Behind behind, At at) {
  gr_type<D> x[count];
#pragma unroll
  for (int i = 0; i < count; i++) x[i] = gr_minus_infinity<D>();
  each_present<count>(is, behind, [&](int i) { x[i] = *(const gr_type<D> *)at(i); });
#pragma unroll
  for (int i = 0; i < count; i++) v[i] = widened<D>(x[i]);
}

/* y times factor, which is NaN if any y is. */
template <gr_dtype D, int count, typename Behind, typename At>
static __device__ __forceinline__ void store_present(const exact<D> (&y)[count], exact<D> factor, present is,
                                                     Behind behind, At at) {
  if (factor == factor) {
    each_present<count>(is, behind, [&](int i) { *(gr_type<D> *)at(i) = rounded<D>(y[i] * factor); });
  } else {
#pragma unroll
    for (int i = 0; i < count; i++)
      if (behind(i) < is.n) *(gr_type<D> *)at(i) = gr_from_f64<D>(gr_nan());
  }
}

/* e^x of a number that is not above 0, or NaN. In f64 it has one branch, which warps seldom part at. */
static __device__ __forceinline__ float exp_down(float x) { return gr_exp_down_f32(x); }
static __device__ __forceinline__ double exp_down(double x) {
  if (x >= GR_EXP_LOW) return gr_exp_within(x);
  return x == x ? 0.0 : gr_nan();
}

/* Whether exponentials of all x, none above 0, are normal: of f64 without that unit, of which there is little. */
template <int count> static __device__ __forceinline__ bool are_normal(const float (&x)[count]) {
  bool normal = true;
#pragma unroll
  for (int j = 0; j < count; j++) normal = normal & (x[j] >= -87.0f);
  return normal;
}
template <int count> static __device__ __forceinline__ bool are_normal(const double (&x)[count]) {
  const uint32_t least = (uint32_t)(gr_bits64(-GR_EXP_NORMAL) >> 32);
  bool normal = true;
#pragma unroll
  for (int j = 0; j < count; j++) normal = normal & (((uint32_t)__double2hiint(x[j]) & 0x7fffffffu) < least);
  return normal;
}
static __device__ __forceinline__ float exp_normal(float x) { return gr_exp_normal_f32(x); }
static __device__ __forceinline__ double exp_normal(double x) { return gr_exp_normal(x); }

/*
** y = exp_down(v - most) of a thread's elements; 0 of those that are not there, which are -infinity. Several together
** have no branches between them, so that they overlap: each is a chain of twenty or thirty operations, and a
** multiprocessor has too few warps for one at a time.
*/
template <int count, typename Behind>
static __device__ __forceinline__ void exponentials(const float (&v)[count], float most, float (&y)[count], present is,
                                                    Behind behind) {
  constexpr int at_once = Tuning::softmax_at_once<count>;
#pragma unroll
  for (int i = 0; i < count; i += at_once) {
    float x[at_once], e[at_once];
#pragma unroll
    for (int j = 0; j < at_once; j++) {
      x[j] = v[i + j] - most;
      e[j] = 0;
    }
    if (behind(i + at_once - 1) < is.least_n && are_normal(x)) {
#pragma unroll
      for (int j = 0; j < at_once; j++) e[j] = exp_normal(x[j]);
    } else if (behind(i) < is.most_n) {
#pragma unroll
      for (int j = 0; j < at_once; j++) e[j] = exp_down(x[j]);
    }
#pragma unroll
    for (int j = 0; j < at_once; j++) y[i + j] = e[j];
  }
}

/* In f64 that unit is what limits: no more than are there, and none that is not normal for one that is not there. */
template <int count, typename Behind>
static __device__ __forceinline__ void exponentials(const double (&v)[count], double most, double (&y)[count],
                                                    present is, Behind behind) {
  constexpr int at_once = Tuning::softmax_at_once<count>;
#pragma unroll
  for (int i = 0; i < count; i += at_once) {
    double x[at_once], e[at_once];
#pragma unroll
    for (int j = 0; j < at_once; j++) {
      x[j] = v[i + j] - most;
      e[j] = 0;
    }
    if (behind(i + at_once - 1) < is.most_n) {
#pragma unroll
      for (int j = 0; j < at_once; j++) x[j] = behind(i + j) < is.n ? x[j] : 0.0;
      if (are_normal(x)) {
#pragma unroll
        for (int j = 0; j < at_once; j++) e[j] = exp_normal(x[j]);
      } else {
#pragma unroll
        for (int j = 0; j < at_once; j++) e[j] = exp_down(x[j]);
      }
#pragma unroll
      for (int j = 0; j < at_once; j++) e[j] = behind(i + j) < is.n ? e[j] : 0.0;
    } else {
#pragma unroll
      for (int j = 0; j < at_once - 1; j++)
        if (behind(i + j) < is.most_n) e[j] = exp_down(x[j]);
    }
#pragma unroll
    for (int j = 0; j < at_once; j++) y[i + j] = e[j];
  }
}

/* What exponentials are multiplied by. */
template <gr_dtype D> static __device__ __forceinline__ exact<D> factor_of(double sum) { return (exact<D>)(1.0 / sum); }

/* A thread's lanes t, t + width, ... of a leaf: folded by halves, its own first. */
template <int own> static __device__ __forceinline__ double fold_lanes(double (&s)[own], int width = 32) {
#pragma unroll
  for (int h = own / 2; h > 0; h /= 2)
#pragma unroll
    for (int j = 0; j < h; j++) s[j] = s[j] + s[j + h];
#pragma unroll
  for (int h = width / 2; h > 0; h /= 2) s[0] = s[0] + __shfl_xor_sync(~0u, s[0], h);
  return s[0];
}

/* ---- launching ---- */

template <gr_dtype D> static bool is_dense(const soft_job &q) {
  return q.x_stride == gr_size<D> && q.out_stride == gr_size<D>;
}

static cudaError_t start_blocks(soft_job *q, const void *kernel, int64_t blocks, int warps, const gr_cuda_run *run) {
  void *args[] = {q};
  return gr_start_early(kernel, args, (int32_t)blocks, warps * 32, 0, run->chip->major >= 9, (cudaStream_t)run->stream);
}

#endif
