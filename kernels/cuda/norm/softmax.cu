/*
** Softmax of rows, read once up to 32 warps' worth: short rows lie side by side in warps, longer ones have a block
** each, whose warps share the lanes of its leaves out; all keep their exponentials in registers until the sum is known.
** Rows beyond that take the reduction's maximum and three launches: sums of leaves, their fold, and the scaling. Sums
** follow the tree of docs/numerics.md in f64.
*/
#include <cuda_runtime.h>
#include <type_traits>
#include "kernels/cuda/grid/combine.cuh"
#include "kernels/cuda/launch.h"
#include "kernels/cuda/norm/tuning.h"

using Tuning = gr_norm_tuning;

typedef struct soft_job {
  const char *x;
  char *out;
  int64_t n, count, x_step, out_step, x_stride, out_stride;
  int32_t width;            /* short rows: threads to a row, a power of two */
  int32_t dense;            /* rows follow each other without gaps, in both */
  int64_t leaves;           /* of a row */
  double *most, *leaf, *up; /* long rows: maxima; sums of leaves, row after row; the next level of them */
  int64_t pitch;            /* from a row's part of up to the next one's */
} soft_job;

template <gr_dtype D> struct shape {
  static constexpr int size = gr_size<D>, own = GR_LANES(size) / 32, rows = GR_LEAF_ROWS(size), leaf = GR_LEAF(size);
};

template <gr_dtype D> static __device__ __forceinline__ void put(const soft_job &q, int64_t row, int64_t k, double y) {
  *(gr_type<D> *)(q.out + row * q.out_step + k * q.out_stride) = gr_from_f64<D>(y);
}

/* In which elements are compared: exact, and narrow elements without the f64 unit. */
template <gr_dtype D> using exact = std::conditional_t<D == GR_F64, double, float>;
template <gr_dtype D> static __device__ __forceinline__ exact<D> exactly(gr_type<D> x) {
  if constexpr (D == GR_F64) return x;
  else return gr_to_f32<D>(x);
}

template <gr_dtype D> static __device__ __forceinline__ exact<D> get(const soft_job &q, int64_t row, int64_t k) {
  return exactly<D>(*(const gr_type<D> *)(q.x + row * q.x_step + k * q.x_stride));
}

/* NaN stays. */
template <typename T> static __device__ __forceinline__ T larger(T m, T x) { return x > m || x != x ? x : m; }

/* gr_exp of a number that is not above 0, or NaN: one branch, which warps seldom part at. */
static __device__ __forceinline__ double exp_down(double x) {
  if (x >= GR_EXP_LOW) return gr_exp_within(x);
  return x == x ? 0.0 : gr_nan();
}

/*
** y = exp_down(v - most), of numbers that are not above it: one branch for all, so that they are computed side by side
** where it is not taken.
*/
template <typename T, int own>
static __device__ __forceinline__ void exponentials(const T (&v)[own], T most, double (&y)[own]) {
  T low = most;
#pragma unroll
  for (int j = 0; j < own; j++) low = v[j] < low ? v[j] : low;
  if ((double)low - (double)most >= GR_EXP_LOW) { /* not where most is NaN */
#pragma unroll
    for (int j = 0; j < own; j++) y[j] = gr_exp_within((double)v[j] - (double)most);
  } else {
#pragma unroll
    for (int j = 0; j < own; j++) y[j] = exp_down((double)v[j] - (double)most);
  }
}

/* A thread's lanes t, t + width, ... of a leaf: folded by halves, its own first. */
template <int own> static __device__ __forceinline__ double fold_lanes(double (&s)[own], int width = 32) {
#pragma unroll
  for (int h = own / 2; h > 0; h /= 2)
#pragma unroll
    for (int j = 0; j < h; j++) s[j] = s[j] + s[j + h];
  for (int h = width / 2; h > 0; h /= 2) s[0] = s[0] + __shfl_xor_sync(~0u, s[0], h);
  return s[0];
}

/*
** Rows of a part of a leaf's first lanes: each has `width` threads, side by side in warps, of `own` elements at most.
** Rows that follow each other pass through shared memory, so that a block reads and writes whole words of memory.
*/
template <gr_dtype D, int own>
static __global__ void __launch_bounds__(Tuning::softmax_few_threads) softmax_few(const __grid_constant__ soft_job q) {
  using T = exact<D>;
  constexpr int threads = Tuning::softmax_few_threads, most_own = Tuning::softmax_few_own;
  __shared__ gr_type<D> part[threads * own];
  const int shift = __ffs(q.width) - 1, rows = threads >> shift, n = (int)q.n;
  const int mine = (int)threadIdx.x >> shift, first = (int)threadIdx.x & (q.width - 1);
  const int64_t from = blockIdx.x * (int64_t)rows;
  const int here = (int)min((int64_t)rows, q.count - from), last = mine < here ? n : 0;
  const int64_t row = from + mine;
  T v[own], most = (T)-INFINITY;
  double y[own], s[most_own];
  if (q.dense) {
    const gr_type<D> *x = (const gr_type<D> *)(q.x + from * q.x_step);
    for (int k = (int)threadIdx.x; k < here * n; k += threads) part[k] = x[k];
    __syncthreads();
  }
#pragma unroll
  for (int j = 0; j < own; j++) {
    int k = first + j * q.width;
    v[j] = (T)-INFINITY;
    if (k < last) v[j] = q.dense ? exactly<D>(part[mine * n + k]) : get<D>(q, row, k);
  }
#pragma unroll
  for (int j = 0; j < own; j++) most = larger(most, v[j]);
  for (int h = q.width / 2; h > 0; h /= 2) most = larger(most, __shfl_xor_sync(~0u, most, h));
#pragma unroll
  for (int j = 0; j < own; j++)
    if (first + j * q.width >= last) v[j] = most;
  exponentials(v, most, y);
#pragma unroll
  for (int j = 0; j < most_own; j++) s[j] = -0.0;
#pragma unroll
  for (int j = 0; j < own; j++)
    if (first + j * q.width < last) s[j] = y[j];
  double factor = 1.0 / fold_lanes<most_own>(s, q.width);
#pragma unroll
  for (int j = 0; j < own; j++) {
    int k = first + j * q.width;
    if (k >= last) continue;
    if (q.dense) part[mine * n + k] = gr_from_f64<D>(y[j] * factor);
    else put<D>(q, row, k, y[j] * factor);
  }
  if (!q.dense) return;
  __syncthreads();
  gr_type<D> *out = (gr_type<D> *)(q.out + from * q.out_step);
  for (int k = (int)threadIdx.x; k < here * n; k += threads) out[k] = part[k];
}

/* One value from each of `count` warps; all threads get them folded: the sum by adjacency, or the largest. */
template <bool sum, typename T> static __device__ __forceinline__ T across(const T *shared, int count) {
  int lane = (int)(threadIdx.x & 31);
  T v = lane < count ? shared[lane] : sum ? (T)-0.0 : (T)-INFINITY;
#pragma unroll
  for (int h = 1; h < 32; h *= 2) {
    T other = __shfl_xor_sync(~0u, v, h);
    v = sum ? v + other : larger(v, other);
  }
  return v;
}

/*
** A block has a row; each warp 32 lanes of one of its leaves, so that few registers keep what they have: lanes that are
** folded with those of other warps pass through shared memory.
*/
template <gr_dtype D>
static __global__ void __launch_bounds__(Tuning::softmax_warps * 32) softmax_rows(const __grid_constant__ soft_job q) {
  using S = shape<D>;
  using T = exact<D>;
  __shared__ double part[Tuning::softmax_warps][32], sum_of[Tuning::softmax_warps];
  __shared__ T most_of[Tuning::softmax_warps];
  int lane = (int)(threadIdx.x & 31), warp = (int)(threadIdx.x >> 5), leaf = warp / S::own;
  int64_t row = blockIdx.x;
  int first = leaf * S::leaf + warp % S::own * 32 + lane, n = (int)q.n;
  T v[S::rows], most = (T)-INFINITY;
  double y[S::rows], s[S::own], sum = -0.0;
#pragma unroll
  for (int r = 0; r < S::rows; r++) {
    int k = first + r * S::own * 32;
    v[r] = (T)-INFINITY;
    if (k < n) v[r] = get<D>(q, row, k);
  }
#pragma unroll
  for (int r = 0; r < S::rows; r++) most = larger(most, v[r]);
#pragma unroll
  for (int h = 16; h > 0; h /= 2) most = larger(most, __shfl_xor_sync(~0u, most, h));
  if (lane == 0) most_of[warp] = most;
  __syncthreads();
  most = across<false>(most_of, (int)(blockDim.x >> 5));
  if (first - lane < n) { /* the whole warp */
#pragma unroll
    for (int r = 0; r < S::rows; r++)
      if (first + r * S::own * 32 >= n) v[r] = most;
    exponentials(v, most, y);
#pragma unroll
    for (int r = 0; r < S::rows; r++) sum = sum + (first + r * S::own * 32 < n ? y[r] : -0.0);
  }
  part[warp][lane] = sum;
  __syncthreads();
#pragma unroll
  for (int j = 0; j < S::own; j++) s[j] = part[leaf * S::own + j][lane];
  sum = fold_lanes<S::own>(s); /* by each warp of the leaf */
  if (q.leaves > 1) {
    if (lane == 0 && warp % S::own == 0) sum_of[leaf] = sum;
    __syncthreads();
    sum = across<true>(sum_of, (int)q.leaves);
  }
  double factor = 1.0 / sum;
#pragma unroll
  for (int r = 0; r < S::rows; r++) {
    int k = first + r * S::own * 32;
    if (k < n) put<D>(q, row, k, y[r] * factor);
  }
}

/* Long rows: a warp sums the exponentials of one leaf. */
template <gr_dtype D>
static __global__ void __launch_bounds__(Tuning::softmax_leaves_warps * 32)
    softmax_leaves(const __grid_constant__ soft_job q) {
  using S = shape<D>;
  int64_t at = blockIdx.x * (int64_t)Tuning::softmax_leaves_warps + (threadIdx.x >> 5), row = at / q.leaves;
  int lane = (int)(threadIdx.x & 31);
  if (row >= q.count) return;
  int64_t base = (at - row * q.leaves) * S::leaf + lane;
  double s[S::own], y[S::own];
  exact<D> v[S::own], most = (exact<D>)q.most[row];
#pragma unroll
  for (int j = 0; j < S::own; j++) s[j] = -0.0;
#pragma unroll(S::own > 4 ? 1 : 2)
  for (int r = 0; r < S::rows; r++) {
#pragma unroll
    for (int j = 0; j < S::own; j++) {
      int64_t k = base + (r * S::own + j) * 32;
      v[j] = k < q.n ? get<D>(q, row, k) : most;
    }
    exponentials(v, most, y);
#pragma unroll
    for (int j = 0; j < S::own; j++)
      if (base + (r * S::own + j) * 32 < q.n) s[j] = s[j] + y[j];
  }
  double sum = fold_lanes<S::own>(s);
  if (lane == 0) q.leaf[at] = sum;
}

/* A block folds the leaves of its row, 256 at a time; what it leaves first in up is the sum. */
static __global__ void __launch_bounds__(Tuning::softmax_fold_warps * 32)
    softmax_fold(const __grid_constant__ soft_job q) {
  using R = gr_in_f64<GR_RED_SUM, GR_F64>;
  double *from = q.leaf + blockIdx.x * q.leaves, *to = q.up + blockIdx.x * q.pitch;
  int64_t left = q.leaves;
  int lane = (int)(threadIdx.x & 31);
  for (;;) {
    int64_t units = (left + 255) / 256;
    for (int64_t u = threadIdx.x >> 5; u < units; u += Tuning::softmax_fold_warps) {
      gr_acc acc = gr_fold_256<R>((const int64_t *)from + u * 256, 0, (int)min((int64_t)256, left - u * 256), lane);
      if (lane == 0) to[u] = acc.f[0];
    }
    __syncthreads();
    if (units == 1) break;
    double *swap = from;
    from = to;
    to = swap;
    left = units;
  }
  if (threadIdx.x == 0) q.up[blockIdx.x * q.pitch] = *(volatile double *)to;
}

template <gr_dtype D>
static __global__ void __launch_bounds__(Tuning::scale_threads)
    softmax_scale(const __grid_constant__ soft_job q, int64_t segments) {
  int64_t row = blockIdx.x / segments, k = blockIdx.x % segments * Tuning::scale_segment;
  int64_t end = min(k + Tuning::scale_segment, q.n);
  constexpr int threads = Tuning::scale_threads, each = 4;
  exact<D> v[each], most = (exact<D>)q.most[row];
  double y[each], factor = 1.0 / q.up[row * q.pitch];
  for (k += threadIdx.x; k < end; k += each * threads) {
#pragma unroll
    for (int j = 0; j < each; j++) v[j] = k + j * threads < end ? get<D>(q, row, k + j * threads) : most;
    exponentials(v, most, y);
#pragma unroll
    for (int j = 0; j < each; j++)
      if (k + j * threads < end) put<D>(q, row, k + j * threads, y[j] * factor);
  }
}

/* ---- launching ---- */

static size_t rounded(size_t bytes) { return (bytes + 255) & ~(size_t)255; }

/* Rows whose elements all are in the first row of their leaf, in so many lanes. */
template <gr_dtype D> static bool is_few(int64_t n) {
  return n <= 32 * Tuning::softmax_few_own && n <= GR_LANES(gr_size<D>);
}

/* By how many elements a thread of short rows has. */
template <gr_dtype D> static const void *few_of(int own) {
  static_assert(Tuning::softmax_few_own == 4, "a row for each number of elements");
  return own == 1   ? (const void *)softmax_few<D, 1>
         : own == 2 ? (const void *)softmax_few<D, 2>
         : own == 3 ? (const void *)softmax_few<D, 3>
                    : (const void *)softmax_few<D, 4>;
}

/* Rows that are read once. */
template <gr_dtype D> static cudaError_t start_short(soft_job *q, cudaStream_t stream) {
  const int size = gr_size<D>;
  void *args[] = {q};
  q->width = 1;
  while (q->width * Tuning::softmax_few_own < q->n) q->width *= 2;
  q->dense = q->x_stride == size && q->x_step == q->n * size && q->out_stride == size && q->out_step == q->n * size;
  if (is_few<D>(q->n))
    return cudaLaunchKernel(few_of<D>((int)((q->n - 1) / q->width) + 1),
                            (unsigned)((q->count - 1) / (Tuning::softmax_few_threads / q->width) + 1),
                            Tuning::softmax_few_threads, args, 0, stream);
  return cudaLaunchKernel((const void *)softmax_rows<D>, (unsigned)q->count,
                          (unsigned)q->leaves * shape<D>::own * 32, args, 0, stream);
}

template <gr_dtype D> static cudaError_t start(const gr_softmax_job *job, const gr_cuda_run *run) {
  cudaStream_t stream = (cudaStream_t)run->stream;
  soft_job q;
  memset(&q, 0, sizeof q);
  q.x = (const char *)job->x.data;
  q.out = (char *)job->out.data;
  q.n = job->n;
  q.count = job->count;
  q.x_step = job->x.step;
  q.out_step = job->out.step;
  q.x_stride = job->x.stride;
  q.out_stride = job->out.stride;
  q.leaves = (job->n - 1) / GR_LEAF(gr_size<D>) + 1;
  if (q.leaves * shape<D>::own <= Tuning::softmax_warps) return start_short<D>(&q, stream);
  int64_t segments = (job->n + Tuning::scale_segment - 1) / Tuning::scale_segment;
  q.pitch = (q.leaves + 255) / 256;
  size_t most = rounded((size_t)q.count * 8), leaf = rounded((size_t)(q.count * q.leaves) * 8),
         up = (size_t)(q.count * q.pitch) * 8;
  char *memory;
  gr_reduce_job maxima = gr_f64_of_each(GR_OP_max, D, job->x, job->n, job->count);
  cudaError_t e = (cudaError_t)gr_reduce_to_scratch(maxima, *run, most + leaf + up, &memory);
  if (e != cudaSuccess) return e;
  q.most = (double *)memory;
  q.leaf = (double *)(memory + most);
  q.up = (double *)(memory + most + leaf);
  void *args[] = {&q}, *more[] = {&q, &segments};
  e = cudaLaunchKernel((const void *)softmax_leaves<D>,
                       (unsigned)((q.count * q.leaves - 1) / Tuning::softmax_leaves_warps + 1),
                       Tuning::softmax_leaves_warps * 32, args, 0, stream);
  if (e == cudaSuccess)
    e = cudaLaunchKernel((const void *)softmax_fold, (unsigned)q.count, Tuning::softmax_fold_warps * 32, args, 0,
                         stream);
  if (e == cudaSuccess)
    e = cudaLaunchKernel((const void *)softmax_scale<D>, (unsigned)(segments * q.count), Tuning::scale_threads, more, 0,
                         stream);
  return e;
}

int gr_cuda_softmax(const gr_softmax_job *job, const gr_cuda_run *run) {
  if (job->n <= 0 || job->count <= 0) return cudaSuccess;
  return gr_for_float(job->dtype, [&](auto d) { return start<decltype(d)::value>(job, run); });
}
