/*
** Softmax of rows, read once: short rows lie side by side in warps; longer ones have a block each, whose warps share
** the lanes of its leaves out, or several blocks, which publish the largest element and the sum of what they have; all
** keep their exponentials in registers until the sum is known. Rows of more blocks than there are multiprocessors take
** the reduction's maximum and three launches: sums of leaves, their fold, and the scaling. Sums follow the tree of
** docs/numerics.md in f64; exponentials are f32, but for elements of f64.
*/
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

template <gr_dtype D> struct shape {
  static constexpr int size = gr_size<D>, own = GR_LANES(size) / 32, rows = GR_LEAF_ROWS(size), leaf = GR_LEAF(size);
};

/* In which elements are compared, which is exact, and their exponentials made: narrow ones without the f64 unit. */
template <gr_dtype D> using exact = std::conditional_t<D == GR_F64, double, float>;
/* The element at an address, and what is stored there, a NaN as its dtype's one. */
template <gr_dtype D> static __device__ __forceinline__ exact<D> get(const char *at) {
  gr_type<D> x = *(const gr_type<D> *)at;
  if constexpr (D == GR_F64) return x;
  else return gr_to_f32<D>(x);
}
template <gr_dtype D> static __device__ __forceinline__ void put(char *at, exact<D> y) {
  if constexpr (D == GR_F64) *(double *)at = gr_canonical(y);
  else *(gr_type<D> *)at = gr_from_f32<D>(y);
}

/* Not NaN, which reaches all of its row by way of the sum, unlike the comparisons that would keep it here. */
static __device__ __forceinline__ float larger(float m, float x) { return fmaxf(m, x); }
static __device__ __forceinline__ double larger(double m, double x) { return x > m ? x : m; }

/* e^x of a number that is not above 0, or NaN. In f64 it has one branch, which warps seldom part at. */
static __device__ __forceinline__ float exp_down(float x) { return gr_exp_down_f32(x); }
static __device__ __forceinline__ double exp_down(double x) {
  if (x >= GR_EXP_LOW) return gr_exp_within(x);
  return x == x ? 0.0 : gr_nan();
}

/*
** y = exp_down(v - most) of several, none above it. Without branches between them they overlap: each is a chain of
** twenty or thirty operations, and a multiprocessor has too few warps for one at a time. In f64 that unit is what limits,
** so whether all are normal is asked without it: of the upper halves of the differences, which are larger for NaN.
*/
template <int count>
static __device__ __forceinline__ void exponentials(const float *v, float most, float (&y)[count]) {
#pragma unroll
  for (int j = 0; j < count; j++) y[j] = exp_down(v[j] - most);
}
template <int count>
static __device__ __forceinline__ void exponentials(const double *v, double most, double (&y)[count]) {
  const uint32_t least = (uint32_t)(gr_bits64(-GR_EXP_NORMAL) >> 32);
  bool normal = true;
#pragma unroll
  for (int j = 0; j < count; j++) normal = normal & (((uint32_t)__double2hiint(v[j] - most) & 0x7fffffffu) < least);
  if (normal) {
#pragma unroll
    for (int j = 0; j < count; j++) y[j] = gr_exp_normal(v[j] - most);
  } else {
#pragma unroll
    for (int j = 0; j < count; j++) y[j] = exp_down(v[j] - most);
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
  for (int h = width / 2; h > 0; h /= 2) s[0] = s[0] + __shfl_xor_sync(~0u, s[0], h);
  return s[0];
}

/* Rows of a part of a leaf's first lanes: each has `width` threads, side by side in warps. */
template <gr_dtype D, int own>
static __global__ void __launch_bounds__(Tuning::softmax_few_threads) softmax_few(const __grid_constant__ soft_job q) {
  int64_t thread = blockIdx.x * (int64_t)Tuning::softmax_few_threads + threadIdx.x, row = thread / q.width;
  int first = (int)threadIdx.x & (q.width - 1), n = row < q.count ? (int)q.n : 0;
  const char *x = q.x + row * q.x_step + first * q.x_stride;
  char *out = q.out + row * q.out_step + first * q.out_stride;
  exact<D> v[own], most = (exact<D>)-INFINITY, y[own];
  double s[own];
  gr_start_reading(false);
#pragma unroll
  for (int j = 0; j < own; j++) {
    v[j] = (exact<D>)-INFINITY;
    if (first + j * q.width < n) v[j] = get<D>(x + j * q.width * q.x_stride);
  }
#pragma unroll
  for (int j = 0; j < own; j++) most = larger(most, v[j]);
  for (int h = q.width / 2; h > 0; h /= 2) most = larger(most, __shfl_xor_sync(~0u, most, h));
#pragma unroll
  for (int j = 0; j < own; j++) v[j] = first + j * q.width < n ? v[j] : most;
  exponentials(v, most, y);
#pragma unroll
  for (int j = 0; j < own; j++) s[j] = first + j * q.width < n ? (double)y[j] : -0.0;
  exact<D> factor = factor_of<D>(fold_lanes<own>(s, q.width));
#pragma unroll
  for (int j = 0; j < own; j++)
    if (first + j * q.width < n) put<D>(out + j * q.width * q.out_stride, y[j] * factor);
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
** A warp has 32 lanes of a leaf, the element of row r of it `apart` behind that of row r - 1: each becomes its
** exponential, several together, and their sum is what this returns. n: elements from this thread's first; v of others is
** -infinity, whose exponential adds nothing. No loop is left early: which rows are there are predicates, so that v and y
** stay in registers.
*/
template <gr_dtype D, int rows>
static __device__ __forceinline__ double sum_lane(const exact<D> (&v)[rows], exact<D> (&y)[rows], exact<D> most,
                                                  int n, int lane) {
  constexpr int at_once = Tuning::softmax_at_once, apart = shape<D>::own * 32;
  double sum = -0.0;
#pragma unroll
  for (int r = 0; r < rows; r += at_once) {
    exact<D> e[at_once];
#pragma unroll
    for (int i = 0; i < at_once; i++) e[i] = (exact<D>)0.0;
    if (D == GR_F64 ? (r + at_once - 1) * apart < n + lane : r * apart < n + lane) { /* the same for the whole warp */
      exponentials(v + r, most, e);
    } else if constexpr (D == GR_F64) { /* a row at a time: that unit is what limits */
#pragma unroll
      for (int i = 0; i < at_once - 1; i++)
        if ((r + i) * apart < n + lane) e[i] = exp_down(v[r + i] - most);
    }
#pragma unroll
    for (int i = 0; i < at_once; i++) {
      y[r + i] = e[i];
      sum = sum + (double)e[i];
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

/* Elements from a thread's first, as far as the end of a leaf goes; below 0 where blocks reach past their row. */
template <gr_dtype D> static __device__ __forceinline__ int of_leaf(int64_t n) {
  return (int)min(n, (int64_t)shape<D>::leaf);
}

/* This thread's lane of a leaf, whose first element is at x; n: elements from there. */
template <gr_dtype D, int rows>
static __device__ __forceinline__ void get_lane(exact<D> (&v)[rows], const char *x, int64_t stride, int n) {
  constexpr int apart = shape<D>::own * 32;
#pragma unroll
  for (int r = 0; r < rows; r++) {
    v[r] = (exact<D>)-INFINITY;
    if (r * apart < n) v[r] = get<D>(x + r * apart * stride);
  }
}

/* The values of up to 32 blocks, as soon as they are published, as one: the sum by adjacency, or the largest. */
template <bool sum>
static __device__ __forceinline__ double gather(const gr_halves *of, int count, gr_tag tag, int lane) {
  const gr_halves *at[1] = {of + lane};
  bool wanted[1] = {lane < count};
  double v[1];
  gr_await(at, wanted, tag, sum ? -0.0 : -(double)INFINITY, v);
#pragma unroll
  for (int h = 1; h < 32; h *= 2) {
    double other = __shfl_xor_sync(~0u, v[0], h);
    v[0] = sum ? v[0] + other : larger(v[0], other);
  }
  return v[0];
}

/*
** A block's value becomes that of all blocks of its row, who wait for each other. Blocks start in order and a row has
** fewer of them than fit the device at once, so those that wait do not keep out those that they wait for.
*/
template <bool sum>
static __device__ __forceinline__ double of_row(const soft_job &q, double v, double *shared) {
  int lane = (int)(threadIdx.x & 31), warps = (int)(blockDim.x >> 5), units = (q.pieces + 31) >> 5;
  gr_halves *of = q.partials + (sum ? q.count * q.pieces : 0), *row = of + blockIdx.x / q.pieces * (int64_t)q.pieces;
  if (threadIdx.x == 0) gr_publish(of + blockIdx.x, v, q.tag);
  for (int u = (int)(threadIdx.x >> 5); u < units; u += warps) {
    v = gather<sum>(row + u * 32, q.pieces - u * 32, q.tag, lane);
    if (lane == 0) shared[u] = v;
  }
  __syncthreads();
  return across<sum>(shared, units);
}

/*
** A block has a row, or one of q.pieces of it, of leaves_log2 leaves; each warp 32 lanes of one of its leaves, so that
** few registers keep what they have. rows: of a leaf, at most.
*/
template <gr_dtype D, int rows, int warps, bool alone>
static __global__ void __launch_bounds__(warps * 32, Tuning::softmax_warps / warps)
    softmax_rows(const __grid_constant__ soft_job q) {
  using S = shape<D>;
  __shared__ double part[warps][32], sum_of[warps], pieces[alone ? 1 : 2][32];
  __shared__ exact<D> most_of[warps];
  int lane = (int)(threadIdx.x & 31), warp = (int)(threadIdx.x >> 5), leaf = warp / S::own;
  int leaves = (int)(blockDim.x >> 5) / S::own;
  int64_t row = alone ? blockIdx.x : blockIdx.x / q.pieces, piece = alone ? 0 : blockIdx.x - row * q.pieces;
  int64_t first = (piece * leaves + leaf) * S::leaf + warp % S::own * 32 + lane;
  int n = of_leaf<D>(q.n - first);
  exact<D> v[rows], most = (exact<D>)-INFINITY, y[rows];
  gr_start_reading(false);
  get_lane<D>(v, q.x + row * q.x_step + first * q.x_stride, q.x_stride, n);
#pragma unroll
  for (int r = 0; r < rows; r++) most = larger(most, v[r]);
#pragma unroll
  for (int h = 16; h > 0; h /= 2) most = larger(most, __shfl_xor_sync(~0u, most, h));
  if (lane == 0) most_of[warp] = most;
  __syncthreads();
  most = across<false>(most_of, (int)(blockDim.x >> 5));
  if constexpr (!alone) most = (exact<D>)of_row<false>(q, (double)most, pieces[0]);
  double sum = fold_leaf<D>(sum_lane<D>(v, y, most, n, lane), part, warp, lane);
  if (leaves > 1) {
    if (lane == 0 && warp % S::own == 0) sum_of[leaf] = sum;
    __syncthreads();
    sum = across<true>(sum_of, leaves);
  }
  if constexpr (!alone) sum = of_row<true>(q, sum, pieces[1]);
  exact<D> factor = factor_of<D>(sum);
  char *out = q.out + row * q.out_step + first * q.out_stride;
#pragma unroll
  for (int r = 0; r < rows; r++)
    if (r * S::own * 32 < n) put<D>(out + r * S::own * 32 * q.out_stride, y[r] * factor);
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
  int64_t first = (at - row * q.leaves) * S::leaf + warp % S::own * 32 + lane;
  int n = there ? of_leaf<D>(q.n - first) : 0;
  exact<D> v[S::rows], y[S::rows];
  get_lane<D>(v, q.x + row * q.x_step + first * q.x_stride, q.x_stride, n);
  double sum = fold_leaf<D>(sum_lane<D>(v, y, (exact<D>)(there ? q.most[row] : 0.0), n, lane), part, warp, lane);
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
  exact<D> most = (exact<D>)q.most[row];
  exact<D> factor = factor_of<D>(q.up[row * q.pitch]);
#pragma unroll 1
  for (k += threadIdx.x; k < end; k += at_once * Tuning::scale_threads) {
    exact<D> v[at_once], y[at_once];
    const char *x = q.x + row * q.x_step + k * q.x_stride;
    char *out = q.out + row * q.out_step + k * q.out_stride;
#pragma unroll
    for (int i = 0; i < at_once; i++) {
      v[i] = most;
      if (k + i * Tuning::scale_threads < end) v[i] = get<D>(x + i * Tuning::scale_threads * q.x_stride);
    }
    exponentials(v, most, y);
#pragma unroll
    for (int i = 0; i < at_once; i++)
      if (k + i * Tuning::scale_threads < end) put<D>(out + i * Tuning::scale_threads * q.out_stride, y[i] * factor);
  }
}

/* ---- launching ---- */

static size_t rounded(size_t bytes) { return (bytes + 255) & ~(size_t)255; }

/* Rows whose elements all are in the first row of their leaf, of a warp or less. */
template <gr_dtype D, int own> static cudaError_t start_few(soft_job *q, const gr_cuda_run *run) {
  void *args[] = {q};
  q->width = 1;
  while (q->width * own < q->n) q->width *= 2;
  int64_t blocks = (q->count - 1) / (Tuning::softmax_few_threads / q->width) + 1;
  return gr_start_early((const void *)softmax_few<D, own>, args, (int32_t)blocks, Tuning::softmax_few_threads, 0,
                        run->chip->major >= 9, (cudaStream_t)run->stream);
}

/* Leaves of a row that a block has: all, or, of several blocks, as few as there are blocks for. 0: there are not. */
template <gr_dtype D> static int leaves_of_block(const soft_job &q, int sms) {
  constexpr int own = shape<D>::own;
  auto pieces = [&](int leaves) { return (q.leaves - 1) / leaves + 1; };
  if (q.leaves * own <= Tuning::softmax_warps && (q.leaves == 1 || 2 * q.count > sms)) return (int)q.leaves;
  int leaves = Tuning::softmax_pieces_warps / own;
  while (leaves > 1 && q.count * pieces(leaves / 2) <= sms) leaves /= 2;
  return pieces(leaves) <= sms && q.count * pieces(leaves) <= INT32_MAX ? leaves : 0;
}

/* Rows that are read once by a block, or by several. */
template <gr_dtype D> static cudaError_t start_rows(soft_job *q, int leaves, const gr_cuda_run *run) {
  using S = shape<D>;
  constexpr int all = Tuning::softmax_warps, some = Tuning::softmax_pieces_warps, few = Tuning::softmax_at_once;
  void *args[] = {q};
  const void *kernel = (const void *)softmax_rows<D, S::rows, all, true>;
  q->pieces = (int32_t)((q->leaves - 1) / leaves + 1);
  if (q->pieces > 1) {
    size_t halves = 2 * (size_t)(q->count * q->pieces) * sizeof(gr_halves);
    int e = gr_cuda_need(run, GR_COUNTER_BYTES + halves);
    if (e != cudaSuccess) return (cudaError_t)e;
    q->partials = (gr_halves *)((char *)run->scratch->memory + GR_COUNTER_BYTES);
    q->tag = gr_tag_of(run->epoch);
    kernel = (const void *)softmax_rows<D, S::rows, some, false>;
  } else if (q->n <= few * S::own * 32) {
    kernel = (const void *)softmax_rows<D, few, S::own, true>;
  }
  return gr_start_early(kernel, args, (int32_t)(q->count * q->pieces), leaves * S::own * 32, 0, run->chip->major >= 9,
                        (cudaStream_t)run->stream);
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
  constexpr int own = Tuning::softmax_few_own;
  if (q.n <= 32 * own && q.n <= GR_LANES(gr_size<D>)) return start_few<D, own>(&q, run);
  if constexpr (GR_LANES(gr_size<D>) > 32 * own)
    if (q.n <= GR_LANES(gr_size<D>)) return start_few<D, GR_LANES(gr_size<D>) / 32>(&q, run);
  int leaves = leaves_of_block<D>(q, run->chip->sms);
  if (leaves) return start_rows<D>(&q, leaves, run);
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
