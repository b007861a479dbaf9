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

/*
** The same of several at once. Without branches between them they overlap: each is a chain of thirty operations, and a
** multiprocessor has too few warps for one at a time.
*/
template <int count> static __device__ __forceinline__ void exp_down_all(double (&x)[count]) {
  bool ordinary = true;
#pragma unroll
  for (int j = 0; j < count; j++) ordinary = ordinary & (x[j] >= GR_EXP_LOW);
  if (ordinary) {
#pragma unroll
    for (int j = 0; j < count; j++) x[j] = gr_exp_within(x[j]);
  } else {
#pragma unroll
    for (int j = 0; j < count; j++) x[j] = exp_down(x[j]);
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
  for (int j = 0; j < own; j++) y[j] = first + j * q.width < n ? y[j] - most : 0.0;
  exp_down_all(y);
#pragma unroll
  for (int j = 0; j < own; j++) s[j] = first + j * q.width < n ? y[j] : -0.0;
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
** A warp has 32 lanes of a leaf, the element of row r of it `apart` behind that of row r - 1: each becomes its
** exponential, `at_once` of them together, and their sum is what this returns. n: elements from this thread's first.
*/
template <gr_dtype D>
static __device__ __forceinline__ double sum_lane(double (&y)[shape<D>::rows], double most, int64_t n, int lane) {
  using S = shape<D>;
  constexpr int at_once = Tuning::softmax_at_once, apart = S::own * 32;
  double sum = -0.0;
#pragma unroll
  for (int r = 0; r < S::rows; r += at_once) {
    double e[at_once];
    if (r * apart >= n + lane) break; /* the whole warp */
#pragma unroll
    for (int i = 0; i < at_once; i++) e[i] = (r + i) * apart < n ? y[r + i] - most : 0.0;
    exp_down_all(e);
#pragma unroll
    for (int i = 0; i < at_once; i++) {
      y[r + i] = e[i];
      sum = sum + ((r + i) * apart < n ? e[i] : -0.0);
    }
  }
  return sum;
}

/* A leaf's sum from those of its lanes, which pass through shared memory: by each of its warps. */
template <gr_dtype D>
static __device__ __forceinline__ double fold_leaf(double sum, double (*part)[32], int warp, int lane) {
  using S = shape<D>;
  double s[S::own];
  part[warp][lane] = sum;
  __syncthreads();
#pragma unroll
  for (int j = 0; j < S::own; j++) s[j] = part[warp / S::own * S::own + j][lane];
  return fold_lanes<S::own>(s);
}

/* This thread's lane of a leaf; n: elements from its first. */
template <gr_dtype D>
static __device__ __forceinline__ void get_lane(double (&y)[shape<D>::rows], const soft_job &q, int64_t row,
                                                int64_t first, int64_t n) {
#pragma unroll
  for (int r = 0; r < shape<D>::rows; r++) {
    constexpr int apart = shape<D>::own * 32;
    y[r] = -INFINITY;
    if (r * apart < n) y[r] = get<D>(q, row, first + r * apart);
  }
}

/* A block has a row; each warp 32 lanes of one of its leaves, so that few registers keep what they have. */
template <gr_dtype D>
static __global__ void __launch_bounds__(Tuning::softmax_warps * 32) softmax_rows(const __grid_constant__ soft_job q) {
  using S = shape<D>;
  __shared__ double part[Tuning::softmax_warps][32], most_of[Tuning::softmax_warps], sum_of[Tuning::softmax_warps];
  int lane = (int)(threadIdx.x & 31), warp = (int)(threadIdx.x >> 5), leaf = warp / S::own;
  int64_t row = blockIdx.x;
  int first = leaf * S::leaf + warp % S::own * 32 + lane, n = (int)q.n - first;
  double y[S::rows], most = -INFINITY;
  get_lane<D>(y, q, row, first, n);
#pragma unroll
  for (int r = 0; r < S::rows; r++) most = larger(most, y[r]);
#pragma unroll
  for (int h = 16; h > 0; h /= 2) most = larger(most, __shfl_xor_sync(~0u, most, h));
  if (lane == 0) most_of[warp] = most;
  __syncthreads();
  most = across<false>(most_of, (int)(blockDim.x >> 5));
  double sum = fold_leaf<D>(sum_lane<D>(y, most, n, lane), part, warp, lane);
  if (q.leaves > 1) {
    if (lane == 0 && warp % S::own == 0) sum_of[leaf] = sum;
    __syncthreads();
    sum = across<true>(sum_of, (int)q.leaves);
  }
  double factor = 1.0 / sum;
#pragma unroll
  for (int r = 0; r < S::rows; r++)
    if (r * S::own * 32 < n) put<D>(q, row, first + r * S::own * 32, y[r] * factor);
}

/* Long rows: the sums of leaves' exponentials, likewise. */
template <gr_dtype D>
static __global__ void __launch_bounds__(Tuning::softmax_leaves_warps * 32)
    softmax_leaves(const __grid_constant__ soft_job q) {
  using S = shape<D>;
  __shared__ double part[Tuning::softmax_leaves_warps][32];
  int lane = (int)(threadIdx.x & 31), warp = (int)(threadIdx.x >> 5);
  int64_t at = blockIdx.x * (int64_t)(Tuning::softmax_leaves_warps / S::own) + warp / S::own, row = at / q.leaves;
  bool there = row < q.count;
  int64_t first = (at - row * q.leaves) * S::leaf + warp % S::own * 32 + lane, n = there ? q.n - first : 0;
  double y[S::rows];
  get_lane<D>(y, q, row, first, n);
  double sum = fold_leaf<D>(sum_lane<D>(y, there ? q.most[row] : 0.0, n, lane), part, warp, lane);
  if (lane == 0 && warp % S::own == 0 && there) q.leaf[at] = sum;
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
    softmax_scale(const __grid_constant__ soft_job q, int64_t segments, int64_t segment) {
  constexpr int at_once = Tuning::softmax_at_once;
  int64_t row = blockIdx.x / segments, k = blockIdx.x % segments * segment, end = min(k + segment, q.n);
  double most = q.most[row], factor = 1.0 / q.up[row * q.pitch];
#pragma unroll 1
  for (k += threadIdx.x; k < end; k += at_once * Tuning::scale_threads) {
    double y[at_once];
#pragma unroll
    for (int i = 0; i < at_once; i++) {
      int64_t at = k + i * Tuning::scale_threads;
      y[i] = at < end ? get<D>(q, row, at) - most : 0.0;
    }
    exp_down_all(y);
#pragma unroll
    for (int i = 0; i < at_once; i++)
      if (k + i * Tuning::scale_threads < end) put<D>(q, row, k + i * Tuning::scale_threads, y[i] * factor);
  }
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
  int64_t segment = Tuning::softmax_at_once * Tuning::scale_threads;
  if (job->n * job->count > segment * run->chip->sms * Tuning::softmax_scale_waves) segment = Tuning::scale_segment;
  int64_t segments = (job->n + segment - 1) / segment, together = Tuning::softmax_leaves_warps / shape<D>::own;
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
  void *args[] = {&q}, *more[] = {&q, &segments, &segment};
  e = cudaLaunchKernel((const void *)softmax_leaves<D>,
                       (unsigned)((q.count * q.leaves - 1) / together + 1),
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
