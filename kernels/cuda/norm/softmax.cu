/*
** Softmax of rows, read once: short rows lie side by side in warps; longer ones have a warp, a block or several blocks
** each, which publish the largest element and the sum of what they have; all keep their exponentials in registers until
** the sum is known. Rows of more blocks than there are multiprocessors take the reduction's maximum and three launches:
** sums of leaves, their fold, and the scaling. Sums follow the tree of docs/numerics.md in f64; exponentials are f32,
** but for elements of f64.
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

/*
** How warps share a leaf out: each has `each` times 32 of its lanes, apart by what folds last, and as many rows of them
** as the leaf can have here. A thread has `count` elements. dense: the row's elements lie side by side.
*/
template <gr_dtype D, int most_rows, int lanes_each, bool is_dense> struct share {
  static constexpr gr_dtype dtype = D;
  static constexpr bool dense = is_dense;
  static constexpr int rows = most_rows, each = lanes_each, count = rows * each;
  static constexpr int lanes = GR_LANES(gr_size<D>), leaf = GR_LEAF(gr_size<D>), warps = lanes / 32 / each;
  /* How far behind a thread's first element its element i is: they ascend. */
  static __device__ __forceinline__ constexpr int at(int i) { return i / each * lanes + i % each * warps * 32; }
  static __device__ __forceinline__ int64_t bytes(int i, int64_t stride) {
    return dense ? at(i) * gr_size<D> : at(i) * stride;
  }
};
/* For few rows, and those of f64 or any stride; and for many. */
template <gr_dtype D> using thin = share<D, GR_LEAF_ROWS(gr_size<D>), 1, false>;
template <gr_dtype D, int most_rows> using wide = share<D, most_rows, Tuning::softmax_elements / most_rows, true>;

/* In which elements are compared, which is exact, and their exponentials made: narrow ones without the f64 unit. */
template <gr_dtype D> using exact = std::conditional_t<D == GR_F64, double, float>;
/* The element at an address, and what is stored at one, a NaN as its dtype's one. */
template <gr_dtype D> static __device__ __forceinline__ exact<D> get(const char *at) {
  gr_type<D> x = *(const gr_type<D> *)at;
  if constexpr (D == GR_F64) return x;
  else return gr_to_f32<D>(x);
}
template <gr_dtype D> static __device__ __forceinline__ gr_type<D> rounded(exact<D> y) {
  if constexpr (D == GR_F64) return gr_canonical(y);
  else return gr_from_f32<D>(y);
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

/*
** Exponentials e of some of a thread's elements v, of which j is behind(j) behind its first; n: elements from there, and
** of all: those of the thread that has the most. Elements that are not there are -infinity: they become 0.
*/
template <typename T, typename Behind>
static __device__ __forceinline__ void exponentials_there(const T *v, T most, T (&e)[Tuning::softmax_at_once], int n,
                                                          int of_all, Behind behind) {
  constexpr int count = Tuning::softmax_at_once;
#pragma unroll
  for (int j = 0; j < count; j++) e[j] = (T)0.0;
  if constexpr (sizeof(T) == 4) {
    if (behind(0) < of_all) exponentials(v, most, e);
  } else if (behind(count - 1) < of_all) { /* with numbers for those that are not there, so that all are normal */
    T u[count];
#pragma unroll
    for (int j = 0; j < count; j++) u[j] = behind(j) < n ? v[j] : most;
    exponentials(u, most, e);
#pragma unroll
    for (int j = 0; j < count; j++) e[j] = behind(j) < n ? e[j] : 0.0;
  } else { /* no more than are there */
#pragma unroll
    for (int j = 0; j < count - 1; j++)
      if (behind(j) < of_all) e[j] = exp_down(v[j] - most);
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

/*
** Rows of a part of a leaf's first lanes: each has `width` threads, side by side in warps, with `own` elements each.
** dense_width: of rows whose elements lie side by side, else 0.
*/
template <gr_dtype D, int dense_width>
static __global__ void __launch_bounds__(Tuning::softmax_few_threads) softmax_few(const __grid_constant__ soft_job q) {
  constexpr int own = Tuning::softmax_few_own<gr_size<D>>, at_once = Tuning::softmax_at_once;
  const int width = dense_width ? dense_width : q.width;
  const int64_t in = dense_width ? gr_size<D> : q.x_stride, out_of = dense_width ? gr_size<D> : q.out_stride;
  int64_t row = blockIdx.x * (int64_t)(Tuning::softmax_few_threads / width) + (int)threadIdx.x / width;
  int first = (int)threadIdx.x & (width - 1), n = row < q.count ? (int)q.n : 0;
  const char *x = q.x + row * q.x_step + first * in;
  char *out = q.out + row * q.out_step + first * out_of;
  exact<D> v[own], most = (exact<D>)-INFINITY, y[own];
  double s[own];
  gr_start_reading(false);
#pragma unroll
  for (int j = 0; j < own; j++) {
    v[j] = (exact<D>)-INFINITY;
    if (first + j * width < n) v[j] = get<D>(x + j * width * in);
  }
#pragma unroll
  for (int j = 0; j < own; j++) most = larger(most, v[j]);
#pragma unroll
  for (int h = width / 2; h > 0; h /= 2) most = larger(most, __shfl_xor_sync(~0u, most, h));
#pragma unroll
  for (int j = 0; j < own; j += at_once) {
    exact<D> e[at_once];
    exponentials_there(v + j, most, e, n - first, (int)q.n, [&](int i) { return (j + i) * width; });
#pragma unroll
    for (int i = 0; i < at_once; i++) {
      y[j + i] = e[i];
      s[j + i] = (double)e[i];
    }
  }
  exact<D> factor = factor_of<D>(fold_lanes<own>(s, width));
#pragma unroll
  for (int j = 0; j < own; j++) {
    gr_type<D> to = rounded<D>(y[j] * factor);
    if (first + j * width < n) *(gr_type<D> *)(out + j * width * out_of) = to;
  }
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
** v of a thread become their exponentials y, several together, and the sums of its lanes, folded as far as they are its
** own, are what this returns. n: elements from its first; v of others is -infinity, whose exponential adds nothing. No
** loop is left early: which elements are there are predicates, so that v and y stay in registers.
*/
template <typename S, typename T>
static __device__ __forceinline__ double sum_lanes(const T (&v)[S::count], T (&y)[S::count], T most, int n, int lane) {
  constexpr int at_once = Tuning::softmax_at_once;
  double sum[S::each];
#pragma unroll
  for (int g = 0; g < S::each; g++) sum[g] = -0.0;
#pragma unroll
  for (int i = 0; i < S::count; i += at_once) {
    T e[at_once];
    exponentials_there(v + i, most, e, n, n + lane, [&](int j) { return S::at(i + j); });
#pragma unroll
    for (int j = 0; j < at_once; j++) {
      y[i + j] = e[j];
      sum[(i + j) % S::each] += (double)e[j];
    }
  }
#pragma unroll
  for (int h = S::each / 2; h > 0; h /= 2)
#pragma unroll
    for (int g = 0; g < h; g++) sum[g] = sum[g] + sum[g + h];
  return sum[0];
}

/* A leaf's sum from those of its threads, which pass through shared memory if it has several warps: to each of them. */
template <typename S>
static __device__ __forceinline__ double fold_leaf(double sum, double (*part)[32], int warp, int lane) {
  double s[S::warps];
  s[0] = sum;
  if constexpr (S::warps > 1) {
    part[warp][lane] = sum;
    __syncthreads();
#pragma unroll
    for (int j = 0; j < S::warps; j++) s[j] = part[warp / S::warps * S::warps + j][lane];
  }
  return fold_lanes<S::warps>(s);
}

/* Elements from a thread's first, as far as the end of a leaf goes; below 0 where blocks reach past their row. */
template <typename S> static __device__ __forceinline__ int of_leaf(int64_t n) {
  return (int)min(n, (int64_t)S::leaf);
}

/* A thread's elements, whose first is at x; n: elements from there. */
template <typename S, typename T>
static __device__ __forceinline__ void get_lanes(T (&v)[S::count], const char *x, int64_t stride, int n) {
#pragma unroll
  for (int i = 0; i < S::count; i++) {
    v[i] = (T)-INFINITY;
    if (S::at(i) < n) v[i] = get<S::dtype>(x + S::bytes(i, stride));
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

/* What has a row. */
enum owner { OF_WARP, OF_BLOCK, OF_BLOCKS };

/* A warp has a row of one leaf; or a block has a row, or one of q.pieces of it, of a power of two of leaves. */
template <typename S, owner owns, int warps, int blocks>
static __global__ void __launch_bounds__(warps * 32, blocks) softmax_rows(const __grid_constant__ soft_job q) {
  using T = exact<S::dtype>;
  __shared__ double part[S::warps > 1 ? warps : 1][32], sum_of[warps], pieces[owns == OF_BLOCKS ? 2 : 1][32];
  __shared__ T most_of[warps];
  int lane = (int)(threadIdx.x & 31), warp = (int)(threadIdx.x >> 5);
  int leaf = owns == OF_WARP ? 0 : warp / S::warps, leaves = (int)(blockDim.x >> 5) / S::warps;
  int64_t row = blockIdx.x, piece = 0;
  if (owns == OF_WARP) row = row * warps + warp;
  if (owns == OF_BLOCKS) row /= q.pieces, piece = blockIdx.x - row * q.pieces;
  int64_t first = (piece * leaves + leaf) * S::leaf + warp % S::warps * 32 + lane;
  int n = owns == OF_WARP && row >= q.count ? 0 : of_leaf<S>(q.n - first);
  T v[S::count], y[S::count], most = (T)-INFINITY;
  gr_start_reading(false);
  get_lanes<S>(v, q.x + row * q.x_step + first * q.x_stride, q.x_stride, n);
#pragma unroll
  for (int i = 0; i < S::count; i++) most = larger(most, v[i]);
#pragma unroll
  for (int h = 16; h > 0; h /= 2) most = larger(most, __shfl_xor_sync(~0u, most, h));
  if constexpr (owns != OF_WARP) {
    if (lane == 0) most_of[warp] = most;
    __syncthreads();
    most = across<false>(most_of, (int)(blockDim.x >> 5));
  }
  if constexpr (owns == OF_BLOCKS) most = (T)of_row<false>(q, (double)most, pieces[0]);
  double sum = fold_leaf<S>(sum_lanes<S>(v, y, most, n, lane), part, warp, lane);
  if (owns != OF_WARP && leaves > 1) {
    if (lane == 0 && warp % S::warps == 0) sum_of[leaf] = sum;
    __syncthreads();
    sum = across<true>(sum_of, leaves);
  }
  if constexpr (owns == OF_BLOCKS) sum = of_row<true>(q, sum, pieces[1]);
  T factor = factor_of<S::dtype>(sum);
  char *out = q.out + row * q.out_step + first * q.out_stride;
#pragma unroll
  for (int i = 0; i < S::count; i++) {
    gr_type<S::dtype> to = rounded<S::dtype>(y[i] * factor);
    if (S::at(i) < n) *(gr_type<S::dtype> *)(out + S::bytes(i, q.out_stride)) = to;
  }
}

/* Long rows: the sums of leaves' exponentials, likewise. */
template <typename S>
static __global__ void __launch_bounds__(Tuning::softmax_leaves_warps * 32)
    softmax_leaves(const __grid_constant__ soft_job q) {
  using T = exact<S::dtype>;
  __shared__ double part[S::warps > 1 ? Tuning::softmax_leaves_warps : 1][32];
  int lane = (int)(threadIdx.x & 31), warp = (int)(threadIdx.x >> 5);
  int64_t at = blockIdx.x * (int64_t)(Tuning::softmax_leaves_warps / S::warps) + warp / S::warps, row = at / q.leaves;
  bool there = row < q.count;
  int64_t first = (at - row * q.leaves) * S::leaf + warp % S::warps * 32 + lane;
  int n = there ? of_leaf<S>(q.n - first) : 0;
  T v[S::count], y[S::count];
  get_lanes<S>(v, q.x + row * q.x_step + first * q.x_stride, q.x_stride, n);
  double sum = fold_leaf<S>(sum_lanes<S>(v, y, (T)(there ? q.most[row] : 0.0), n, lane), part, warp, lane);
  if (lane == 0 && warp % S::warps == 0 && there) q.leaf[at] = sum;
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
      if (k + i * Tuning::scale_threads < end)
        *(gr_type<D> *)(out + i * Tuning::scale_threads * q.out_stride) = rounded<D>(y[i] * factor);
  }
}

/* ---- launching ---- */

static size_t aligned(size_t bytes) { return (bytes + 255) & ~(size_t)255; }

static cudaError_t start_blocks(soft_job *q, const void *kernel, int64_t blocks, int warps, const gr_cuda_run *run) {
  void *args[] = {q};
  return gr_start_early(kernel, args, (int32_t)blocks, warps * 32, 0, run->chip->major >= 9, (cudaStream_t)run->stream);
}

template <gr_dtype D> static bool is_dense(const soft_job &q) {
  return q.x_stride == gr_size<D> && q.out_stride == gr_size<D>;
}

/* Rows whose elements all are in the first row of their leaf, of a warp or less. */
template <gr_dtype D> static cudaError_t start_few(soft_job *q, const gr_cuda_run *run) {
  static const void *const dense[] = {
      (const void *)softmax_few<D, 1>, (const void *)softmax_few<D, 2>,  (const void *)softmax_few<D, 4>,
      (const void *)softmax_few<D, 8>, (const void *)softmax_few<D, 16>, (const void *)softmax_few<D, 32>};
  constexpr int own = Tuning::softmax_few_own<gr_size<D>>, threads = Tuning::softmax_few_threads;
  int which = 0;
  while ((own << which) < q->n) which++;
  q->width = 1 << which;
  return start_blocks(q, is_dense<D>(*q) ? dense[which] : (const void *)softmax_few<D, 0>,
                      (q->count - 1) / (threads / q->width) + 1, threads / 32, run);
}

/*
** Leaves of a row that a block of so many warps has: all, or, of several blocks, as few as there are blocks for. 0: there
** are not.
*/
template <typename S> static int leaves_of_block(const soft_job &q, int warps, int sms) {
  auto pieces = [&](int leaves) { return (q.leaves - 1) / leaves + 1; };
  if (q.leaves * S::warps <= warps && (q.leaves == 1 || 2 * q.count > sms)) return (int)q.leaves;
  int leaves = Tuning::softmax_pieces_warps / S::warps;
  while (leaves > 1 && q.count * pieces(leaves / 2) <= sms) leaves /= 2;
  return pieces(leaves) <= sms && q.count * pieces(leaves) <= INT32_MAX ? leaves : 0;
}

/* Rows of a leaf at most, a warp each. */
template <typename S> static cudaError_t start_warps(soft_job *q, const gr_cuda_run *run) {
  constexpr int warps = Tuning::softmax_warp_rows, threads = Tuning::softmax_threads<S::count>;
  static_assert(S::warps == 1, "nobody shares the row");
  return start_blocks(q, (const void *)softmax_rows<S, OF_WARP, warps, threads / (warps * 32)>,
                      (q->count - 1) / warps + 1, warps, run);
}

/* Rows of so few leaves that a block of so many warps has one. */
template <typename S, int warps, int blocks> static cudaError_t start_rows(soft_job *q, const gr_cuda_run *run) {
  q->pieces = 1;
  return start_blocks(q, (const void *)softmax_rows<S, OF_BLOCK, warps, blocks>, q->count, (int)q->leaves * S::warps,
                      run);
}

/* Rows that several blocks have. */
template <typename S> static cudaError_t start_pieces(soft_job *q, int leaves, const gr_cuda_run *run) {
  constexpr int warps = Tuning::softmax_pieces_warps;
  q->pieces = (int32_t)((q->leaves - 1) / leaves + 1);
  size_t halves = 2 * (size_t)(q->count * q->pieces) * sizeof(gr_halves);
  int e = gr_cuda_need(run, GR_COUNTER_BYTES + halves);
  if (e != cudaSuccess) return (cudaError_t)e;
  q->partials = (gr_halves *)((char *)run->scratch->memory + GR_COUNTER_BYTES);
  q->tag = gr_tag_of(run->epoch);
  return start_blocks(q, (const void *)softmax_rows<S, OF_BLOCKS, warps, Tuning::softmax_warps / warps>,
                      q->count * q->pieces, leaves * S::warps, run);
}

/* Dense rows of more than a row of lanes, enough of them that all multiprocessors have warps of many elements. */
template <gr_dtype D> static cudaError_t start_wide(soft_job *q, int leaves, const gr_cuda_run *run) {
  constexpr int rows = GR_LEAF_ROWS(gr_size<D>), warps = Tuning::softmax_wide_warps;
  using Few = share<D, Tuning::softmax_few_rows, thin<D>::lanes / 32, true>;
  using Half = wide<D, rows / 2>;
  using Whole = wide<D, rows>;
  if (q->n <= Few::rows * Few::lanes) return start_warps<Few>(q, run);
  if constexpr (Whole::warps == 1) {
    if (q->leaves == 1) return start_warps<Whole>(q, run);
  } else {
    constexpr int blocks = Tuning::softmax_threads<Half::count> / (Half::warps * 32);
    if (q->n <= Half::rows * Half::lanes) return start_rows<Half, Half::warps, blocks>(q, run);
  }
  if (leaves < q->leaves) return start_pieces<Whole>(q, leaves, run);
  return start_rows<Whole, warps, Tuning::softmax_threads<Whole::count> / (warps * 32)>(q, run);
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
  using T = thin<D>;
  if (q.n <= T::lanes) return start_few<D>(&q, run);
  int sms = run->chip->sms, leaves;
  if constexpr (D != GR_F64) {
    using W = wide<D, T::rows>;
    leaves = leaves_of_block<W>(q, Tuning::softmax_wide_warps, sms);
    if (leaves && is_dense<D>(q) && q.count * q.leaves * W::warps >= sms * Tuning::softmax_full_warps)
      return start_wide<D>(&q, leaves, run);
  } else {
    using Few = share<D, Tuning::softmax_few_rows, 1, false>;
    if (q.n <= Few::rows * Few::lanes) return start_rows<Few, Few::warps, Tuning::softmax_warps / Few::warps>(&q, run);
  }
  leaves = leaves_of_block<T>(q, Tuning::softmax_warps, sms);
  if (leaves && leaves < q.leaves) return start_pieces<T>(&q, leaves, run);
  if (leaves) return start_rows<T, Tuning::softmax_warps, 1>(&q, run);
  int64_t segment = Tuning::softmax_at_once * Tuning::scale_threads;
  if (job->n * job->count > segment * run->chip->sms * Tuning::softmax_scale_waves) segment = Tuning::scale_segment;
  int64_t segments = (job->n + segment - 1) / segment, together = Tuning::softmax_leaves_warps / T::warps;
  q.pitch = (q.leaves + 255) / 256;
  size_t most = aligned((size_t)q.count * 8), leaf = aligned((size_t)(q.count * q.leaves) * 8),
         up = (size_t)(q.count * q.pitch) * 8;
  char *memory;
  gr_reduce_job maxima = gr_f64_of_each(GR_OP_max, D, job->x, job->n, job->count);
  cudaError_t e = (cudaError_t)gr_reduce_to_scratch(maxima, *run, most + leaf + up, &memory);
  if (e != cudaSuccess) return e;
  q.most = (double *)memory;
  q.leaf = (double *)(memory + most);
  q.up = (double *)(memory + most + leaf);
  void *args[] = {&q}, *more[] = {&q, &segments, &segment};
  e = cudaLaunchKernel((const void *)softmax_leaves<T>,
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
