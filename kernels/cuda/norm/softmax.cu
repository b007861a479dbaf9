/*
** Softmax of rows, read once up to 32 warps' worth: short rows lie side by side in warps, longer ones have a block
** each, whose warps share the lanes of its leaves out; all keep their exponentials in registers until the sum is known.
** Rows beyond that take the reduction's maximum and three launches: sums of leaves, their fold, and the scaling. Sums
** follow the tree of docs/numerics.md in f64.
*/
#include <cuda_runtime.h>
#include "kernels/cuda/grid/combine.cuh"
#include "kernels/cuda/launch.h"
#include "kernels/cuda/norm/tuning.h"

using Tuning = gr_norm_tuning;

typedef struct soft_job {
  const char *x;
  char *out;
  int64_t n, count, x_step, out_step, x_stride, out_stride;
  int32_t width;            /* short rows: threads to a row, a power of two */
  int64_t leaves;           /* of a row */
  double *most, *leaf, *up; /* long rows: maxima; sums of leaves, row after row; the next level of them */
  int64_t pitch;            /* from a row's part of up to the next one's */
} soft_job;

template <gr_dtype D> struct shape {
  static constexpr int size = gr_size<D>, own = GR_LANES(size) / 32, rows = GR_LEAF_ROWS(size), leaf = GR_LEAF(size);
};

template <gr_dtype D> static __device__ __forceinline__ double get(const soft_job &q, int64_t row, int64_t k) {
  return gr_to_f64<D>(*(const gr_type<D> *)(q.x + row * q.x_step + k * q.x_stride));
}
template <gr_dtype D> static __device__ __forceinline__ void put(const soft_job &q, int64_t row, int64_t k, double y) {
  *(gr_type<D> *)(q.out + row * q.out_step + k * q.out_stride) = gr_from_f64<D>(y);
}

/* NaN stays. */
static __device__ __forceinline__ double larger(double m, double x) { return x > m || x != x ? x : m; }

/* gr_exp of a number that is not above 0, or NaN: one branch, which warps seldom part at. */
static __device__ __forceinline__ double exp_down(double x) {
  if (x >= GR_EXP_LOW) return gr_exp_within(x);
  return x == x ? 0.0 : gr_nan();
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

/* Rows of a part of a leaf's first lanes: each has `width` threads, side by side in warps. */
template <gr_dtype D>
static __global__ void __launch_bounds__(Tuning::softmax_few_threads) softmax_few(const __grid_constant__ soft_job q) {
  constexpr int own = Tuning::softmax_few_own;
  int64_t thread = blockIdx.x * (int64_t)Tuning::softmax_few_threads + threadIdx.x, row = thread / q.width;
  int first = (int)threadIdx.x & (q.width - 1), n = row < q.count ? (int)q.n : 0;
  double y[own], s[own], most = -INFINITY;
#pragma unroll
  for (int j = 0; j < own; j++) {
    int k = first + j * q.width;
    y[j] = -INFINITY;
    if (k < n) y[j] = get<D>(q, row, k);
  }
#pragma unroll
  for (int j = 0; j < own; j++) most = larger(most, y[j]);
  for (int h = q.width / 2; h > 0; h /= 2) most = larger(most, __shfl_xor_sync(~0u, most, h));
#pragma unroll
  for (int j = 0; j < own; j++) {
    y[j] = exp_down(y[j] - most);
    s[j] = first + j * q.width < n ? y[j] : -0.0;
  }
  double factor = 1.0 / fold_lanes<own>(s, q.width);
#pragma unroll
  for (int j = 0; j < own; j++) {
    int k = first + j * q.width;
    if (k < n) put<D>(q, row, k, y[j] * factor);
  }
}

/* One value from each of `count` warps; all threads get them folded: the sum by adjacency, or the largest. */
template <bool sum> static __device__ __forceinline__ double across(const double *shared, int count) {
  int lane = (int)(threadIdx.x & 31);
  double v = lane < count ? shared[lane] : sum ? -0.0 : -INFINITY;
#pragma unroll
  for (int h = 1; h < 32; h *= 2) {
    double other = __shfl_xor_sync(~0u, v, h);
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
  __shared__ double part[Tuning::softmax_warps][32], most_of[Tuning::softmax_warps], sum_of[Tuning::softmax_warps];
  int lane = (int)(threadIdx.x & 31), warp = (int)(threadIdx.x >> 5), leaf = warp / S::own;
  int64_t row = blockIdx.x;
  int first = leaf * S::leaf + warp % S::own * 32 + lane, n = (int)q.n;
  double y[S::rows], s[S::own], most = -INFINITY, sum = -0.0;
#pragma unroll
  for (int r = 0; r < S::rows; r++) {
    int k = first + r * S::own * 32;
    y[r] = -INFINITY;
    if (k < n) y[r] = get<D>(q, row, k);
  }
#pragma unroll
  for (int r = 0; r < S::rows; r++) most = larger(most, y[r]);
#pragma unroll
  for (int h = 16; h > 0; h /= 2) most = larger(most, __shfl_xor_sync(~0u, most, h));
  if (lane == 0) most_of[warp] = most;
  __syncthreads();
  most = across<false>(most_of, (int)(blockDim.x >> 5));
#pragma unroll
  for (int r = 0; r < S::rows; r++) {
    if (first - lane + r * S::own * 32 >= n) break; /* the whole warp */
    y[r] = exp_down(y[r] - most);
    sum = sum + (first + r * S::own * 32 < n ? y[r] : -0.0);
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
  double s[S::own], most = q.most[row];
#pragma unroll
  for (int j = 0; j < S::own; j++) s[j] = -0.0;
#pragma unroll(S::own > 4 ? 1 : 2)
  for (int r = 0; r < S::rows; r++)
#pragma unroll
    for (int j = 0; j < S::own; j++) {
      int64_t k = base + (r * S::own + j) * 32;
      if (k < q.n) s[j] = s[j] + exp_down(get<D>(q, row, k) - most);
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
  double most = q.most[row], factor = 1.0 / q.up[row * q.pitch];
#pragma unroll 2
  for (k += threadIdx.x; k < end; k += Tuning::scale_threads)
    put<D>(q, row, k, exp_down(get<D>(q, row, k) - most) * factor);
}

/* ---- launching ---- */

static size_t rounded(size_t bytes) { return (bytes + 255) & ~(size_t)255; }

/* Rows whose elements all are in the first row of their leaf, in so many lanes. */
template <gr_dtype D> static bool is_few(int64_t n) {
  return n <= 32 * Tuning::softmax_few_own && n <= GR_LANES(gr_size<D>);
}

/* Rows that are read once. */
template <gr_dtype D> static cudaError_t start_short(soft_job *q, cudaStream_t stream) {
  void *args[] = {q};
  q->width = 1;
  while (q->width * Tuning::softmax_few_own < q->n) q->width *= 2;
  if (is_few<D>(q->n))
    return cudaLaunchKernel((const void *)softmax_few<D>,
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
