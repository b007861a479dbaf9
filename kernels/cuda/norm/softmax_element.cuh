/*
** What the kernels of softmax share: how a thread loads its elements, makes exponentials of them and stores these, also
** where a row ends before the thread's last element. f64 is computed in f64, all other dtypes in f32; sums are f64.
*/
#ifndef GR_CUDA_NORM_SOFTMAX_ELEMENT_CUH
#define GR_CUDA_NORM_SOFTMAX_ELEMENT_CUH

#include <cuda_runtime.h>
#include <type_traits>
#include "kernels/cuda/grid/combine.cuh"
#include "kernels/cuda/launch.h"
#include "kernels/cuda/norm/blocks_of_row.cuh"
#include "kernels/cuda/norm/tuning.h"
#include "kernels/numerics/functions/functions.h"

using Tuning = gr_norm_tuning;

typedef struct softmax_args {
  const char *x;
  char *out;
  int64_t n, count, x_step, out_step, x_stride, out_stride;
  int32_t width;  /* softmax_few: threads of a row, a power of two */
  int64_t leaves; /* of a row */
  /* Four launches: of each row its largest element; of each leaf its sum, row after row; sums of 256 of those. */
  double *largest, *leaf_sums, *upper_sums;
  int64_t pitch;       /* upper_sums of one row */
  gr_halves *partials; /* several blocks to a row: the largest elements of all blocks, and behind them their sums */
  gr_tag tag;
  int32_t pieces; /* softmax_rows: blocks of a row */
  bool brain;     /* elements are bf16, served by f16's kernels (thread/element.cuh) */
} softmax_args;

/*
** The type in which elements are compared and exponentials made. Each element of D is a number of it; of narrow dtypes
** it is f32, so that the f64 unit, which limits, has the sums alone.
*/
template <gr_dtype D> using computed = std::conditional_t<D == GR_F64, double, float>;
template <gr_dtype D> static __device__ __forceinline__ computed<D> widened(gr_type<D> x) {
  if constexpr (D == GR_F64) return x;
  else return gr_to_f32<D>(x);
}
template <gr_dtype D> static __device__ __forceinline__ gr_type<D> rounded(computed<D> y) {
  if constexpr (D == GR_F64) return y;
  else return gr_rounded_f32<D>(y);
}

/*
** How many elements of its row are left from a thread's first one on: for this thread, and the most and the least for
** any thread of its warp. Element i of a thread is behind(i) elements after its first one, which rises with i, and so
** it is there if behind(i) < own. Elements are taken some at a time (at_once): whether all, some or none of these are
** there is then one question, with the same answer for the whole warp. No loop is left early, so that every index is
** known when compiled and arrays stay in registers.
*/
struct elements_left {
  int own, most, least;
};

/* Calls use(i) for each element that is there. */
template <gr_dtype D, int count, typename Behind, typename Use>
static __device__ __forceinline__ void each_present(elements_left left, Behind behind, Use use) {
  constexpr int at_once = Tuning::softmax_at_once<count, (int)sizeof(computed<D>)>;
#pragma unroll
  for (int i = 0; i < count; i += at_once) {
    if (behind(i + at_once - 1) < left.least) {
#pragma unroll
      for (int j = 0; j < at_once; j++) use(i + j);
    } else if (behind(i) < left.most) {
#pragma unroll
      for (int j = 0; j < at_once; j++)
        if (behind(i + j) < left.own) use(i + j);
    }
  }
}

/* Loads a thread's elements, with -infinity for those that are not there; at(i): the address of element i. */
template <gr_dtype D, int count, typename Behind, typename At>
static __device__ __forceinline__ void load_present(computed<D> (&v)[count], elements_left left, Behind behind, At at,
                                                    bool brain) {
  gr_type<D> x[count];
#pragma unroll
  for (int i = 0; i < count; i++) {
    x[i] = gr_minus_infinity<D>();
    if constexpr (D == GR_F16) x[i].bits = brain ? gr_minus_infinity<GR_BF16>().bits : x[i].bits;
  }
  each_present<D, count>(left, behind, [&](int i) { x[i] = *(const gr_type<D> *)at(i); });
  if constexpr (D == GR_F16) {
    gr_widen_16bit(v, x, brain);
  } else {
#pragma unroll
    for (int i = 0; i < count; i++) v[i] = widened<D>(x[i]);
  }
}

/* Stores y times factor, which is NaN if any element of the row is; then all results are the one NaN of their dtype. */
template <gr_dtype D, int count, typename Behind, typename At>
static __device__ __forceinline__ void store_present(const computed<D> (&y)[count], computed<D> factor,
                                                     elements_left left, Behind behind, At at, bool brain) {
  if (factor != factor) {
    gr_type<D> nan = gr_from_f64<D>(gr_nan());
    if constexpr (D == GR_F16) nan.bits = brain ? gr_from_f64<GR_BF16>(gr_nan()).bits : nan.bits;
#pragma unroll
    for (int i = 0; i < count; i++)
      if (behind(i) < left.own) *(gr_type<D> *)at(i) = nan;
  } else if (D == GR_F16 && brain) {
    each_present<D, count>(left, behind, [&](int i) { *(gr_bf16 *)at(i) = rounded<GR_BF16>(y[i] * factor); });
  } else {
    each_present<D, count>(left, behind, [&](int i) { *(gr_type<D> *)at(i) = rounded<D>(y[i] * factor); });
  }
}

/* e^x for x up to 0, or NaN. Of f64 it has one branch, where the threads of a warp seldom part. */
static __device__ __forceinline__ float exp_down(float x) { return gr_exp_down_f32(x); }
static __device__ __forceinline__ double exp_down(double x) {
  if (x >= GR_EXP_LOW) return gr_exp_within(x);
  return x == x ? 0.0 : gr_nan();
}

/*
** Whether e^x is a normal number for all x, none of which is above 0: then exp_normal will do, which needs fewer
** instructions. Of f64 by the upper halves' bits, since the f64 unit is what limits.
*/
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
static __device__ __forceinline__ float exp_normal(float x) { return gr_exp_within_f32(x); }
static __device__ __forceinline__ double exp_normal(double x) { return gr_exp_normal(x); }

/* The exponentials of one group, e, which are 0; x[0] is number `first` of the thread's elements. */
template <int count, typename Behind>
static __device__ __forceinline__ void exponentials_of_group(float (&x)[count], float (&e)[count], int first,
                                                             elements_left left, Behind behind) {
  if (behind(first + count - 1) < left.least && are_normal(x)) {
#pragma unroll
    for (int j = 0; j < count; j++) e[j] = exp_normal(x[j]);
  } else if (behind(first) < left.most) {
#pragma unroll
    for (int j = 0; j < count; j++) e[j] = exp_down(x[j]);
  }
}

/*
** The same in f64, whose unit limits: a group of which no thread of the warp has all elements is made one by one, and
** an element that is not there counts as 0, so that its -infinity does not send the whole group the slow way.
*/
template <int count, typename Behind>
static __device__ __forceinline__ void exponentials_of_group(double (&x)[count], double (&e)[count], int first,
                                                             elements_left left, Behind behind) {
  if (behind(first + count - 1) < left.most) {
#pragma unroll
    for (int j = 0; j < count; j++) x[j] = behind(first + j) < left.own ? x[j] : 0.0;
    if (are_normal(x)) {
#pragma unroll
      for (int j = 0; j < count; j++) e[j] = exp_normal(x[j]);
    } else {
#pragma unroll
      for (int j = 0; j < count; j++) e[j] = exp_down(x[j]);
    }
#pragma unroll
    for (int j = 0; j < count; j++) e[j] = behind(first + j) < left.own ? e[j] : 0.0;
  } else {
#pragma unroll
    for (int j = 0; j < count - 1; j++)
      if (behind(first + j) < left.most) e[j] = exp_down(x[j]);
  }
}

/*
** y = e^(v - most) for a thread's elements, and 0 for those that are not there, which are -infinity. Between those of
** one group (at_once) there is no branch, so that they overlap: each is a chain of twenty or thirty operations, and a
** multiprocessor has too few warps to hide one after the other.
*/
template <int count, typename V, typename Behind>
static __device__ __forceinline__ void exponentials(const V (&v)[count], V most, V (&y)[count], elements_left left,
                                                    Behind behind) {
  constexpr int at_once = Tuning::softmax_at_once<count, (int)sizeof(V)>;
  static_assert(count % at_once == 0, "groups are whole");
#pragma unroll
  for (int i = 0; i < count; i += at_once) {
    V x[at_once], e[at_once];
#pragma unroll
    for (int j = 0; j < at_once; j++) {
      x[j] = v[i + j] - most;
      e[j] = 0;
    }
    exponentials_of_group(x, e, i, left, behind);
#pragma unroll
    for (int j = 0; j < at_once; j++) y[i + j] = e[j];
  }
}

/* What the exponentials of a row are multiplied by. */
template <gr_dtype D> static __device__ __forceinline__ computed<D> factor_of(double sum) {
  return (computed<D>)(1.0 / sum);
}

/* Of one thread, by halves; by a template, as the compiler would leave loops over 16 of them in memory. */
template <int half, int own> static __device__ __forceinline__ void fold_own(double (&s)[own]) {
  if constexpr (half > 0) {
#pragma unroll
    for (int j = 0; j < half; j++) s[j] = s[j] + s[j + half];
    fold_own<half / 2>(s);
  }
}

/*
** The sum of a leaf's lanes by halves, where thread t of `width` neighbours has lanes t, t + width, ...: first those of
** one thread, then from thread to thread. All of them get it.
*/
template <int own> static __device__ __forceinline__ double fold_lanes(double (&s)[own], int width = 32) {
  fold_own<own / 2>(s);
#pragma unroll
  for (int h = width / 2; h > 0; h /= 2) s[0] = s[0] + __shfl_xor_sync(~0u, s[0], h);
  return s[0];
}

/* ---- launching ---- */

template <gr_dtype D> static bool is_dense(const softmax_args &q) {
  return q.x_stride == gr_size<D> && q.out_stride == gr_size<D>;
}

static cudaError_t start_blocks(softmax_args *q, const void *kernel, int64_t blocks, int warps,
                                const gr_cuda_run *run) {
  void *args[] = {q};
  return gr_start_early(kernel, args, (int32_t)blocks, warps * 32, 0, run->chip->major >= 9, (cudaStream_t)run->stream);
}

#endif
