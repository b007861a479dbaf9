/*
** RMSNorm: x / sqrt(mean(x^2) + eps) * w, row by row. Rows of up to 16 leaves are read once and kept in
** registers while their sum of squares folds along the tree. What is longer, strided or unaligned takes two
** launches: the sums of squares by the reduction, then the scaling.
*/
#include <cuda_bf16.h>
#include <cuda_runtime.h>
#include "kernels/cuda/launch.h"
#include "kernels/cuda/warp.cuh"

#define SHORT_WARPS 8 /* of a block that has several rows */
#define LONG_WARPS 16  /* the most leaves of a row that stays in registers */
#define SEGMENT 4096  /* elements that a block scales */

typedef struct rms_job {
  const char *x, *w;
  char *out;
  int64_t n, count, x_step, out_step;
  int64_t x_stride, w_stride, out_stride;
  double eps;
  const double *sums; /* of squares, when they were found before */
} rms_job;

/* Words of 16 bytes that a lane has in one leaf. */
template <gr_dtype D> constexpr int leaf_words = GR_LEAF_ROWS(gr_size<D>);
template <gr_dtype D> constexpr int per_word = 16 / gr_size<D>;

template <gr_dtype D> static __device__ __forceinline__ gr_type<D> narrow(double y) {
  if constexpr (D == GR_F64) return gr_canonical(y);
  else if constexpr (D == GR_F32) return gr_f64_to_f32(y);
  else if constexpr (D == GR_F16) return gr_f16{y == y ? __half_as_ushort(__double2half(y)) : (uint16_t)0x7e00};
  else return gr_bf16{y == y ? __bfloat16_as_ushort(__double2bfloat16(y)) : (uint16_t)0x7fc0};
}

/* One word of the row, scaled. */
template <gr_dtype D>
static __device__ __forceinline__ uint4 scale_word(const uint4 &x, double r, bool weighted, const uint4 &w) {
  struct __align__(16) { gr_type<D> e[per_word<D>]; } y;
  uint4 u;
#pragma unroll
  for (int c = 0; c < per_word<D>; c++) {
    double v = gr_to_f64<D>(gr_pick<D>(x, c)) * r;
    if (weighted) v *= gr_to_f64<D>(gr_pick<D>(w, c));
    y.e[c] = narrow<D>(v);
  }
  memcpy(&u, &y, 16);
  return u;
}

/* The sum of squares of a leaf (or a part of it): word k of this lane is one of its row k. */
template <gr_dtype D, int words>
static __device__ __forceinline__ double squares(const uint4 (&x)[words], int present, int lane) {
  using R = gr_in_f64<GR_RED_SUMSQ, D>;
  const gr_context one = {1.0, 1.0, 0};
  typename R::Lane sums[per_word<D>];
  gr_acc v[per_word<D>];
#pragma unroll
  for (int c = 0; c < per_word<D>; c++) sums[c] = R::start();
#pragma unroll
  for (int k = 0; k < words; k++)
    if (k < present)
#pragma unroll
      for (int c = 0; c < per_word<D>; c++) R::add(sums[c], gr_pick<D>(x[k], c), gr_pick<D>(x[k], c), one, 0);
#pragma unroll
  for (int c = 0; c < per_word<D>; c++) v[c] = R::state(sums[c], one);
  return gr_fold_halves<R, per_word<D>>(v, 32, lane).f[0];
}

/* How many of a lane's words, 512 bytes apart, lie in the `bytes` from where its first one would be. */
static __device__ __forceinline__ int words_in(int64_t bytes, int lane, int most) {
  int64_t k = (bytes - lane * 16 + GR_ROW_BYTES - 1) / GR_ROW_BYTES;
  return k < 0 ? 0 : k > most ? most : (int)k;
}

static __device__ __forceinline__ double factor_of(const rms_job &q, double sum) {
  return 1.0 / sqrt(sum / (double)q.n + q.eps);
}

/* Rows of one leaf at most: each warp has as many as fill 8 words a lane. */
template <gr_dtype D, int words>
static __global__ void __launch_bounds__(SHORT_WARPS * 32) norm_short(const __grid_constant__ rms_job q) {
  constexpr int rows = words < 8 ? 8 / words : 1;
  int lane = threadIdx.x & 31, present = words_in(q.n * gr_size<D>, lane, words);
  int64_t first = (blockIdx.x * (int64_t)SHORT_WARPS + (threadIdx.x >> 5)) * rows;
  uint4 x[rows][words];
  double sum = 0, r;
#pragma unroll
  for (int i = 0; i < rows; i++)
#pragma unroll
    for (int k = 0; k < words; k++)
      if (k < present && first + i < q.count)
        x[i][k] = __ldcs((const uint4 *)(q.x + (first + i) * q.x_step) + k * 32 + lane);
#pragma unroll
  for (int i = 0; i < rows; i++) {
    double s = squares<D, words>(x[i], first + i < q.count ? present : 0, lane);
    if ((lane & (rows - 1)) == i) sum = s;
  }
  r = factor_of(q, sum); /* the divisions and roots of all rows at once, a lane each */
#pragma unroll
  for (int k = 0; k < words; k++) {
    uint4 w = make_uint4(0, 0, 0, 0);
    if (q.w && k < present) w = __ldg((const uint4 *)q.w + k * 32 + lane);
#pragma unroll
    for (int i = 0; i < rows; i++) {
      double mine = __shfl_sync(~0u, r, i);
      uint4 *to = (uint4 *)(q.out + (first + i) * q.out_step) + k * 32 + lane;
      if (k < present && first + i < q.count) __stcs(to, scale_word<D>(x[i][k], mine, q.w != NULL, w));
    }
  }
}

/* A block for a row, a warp for a leaf. */
template <gr_dtype D>
static __global__ void __launch_bounds__(LONG_WARPS * 32) norm_long(const __grid_constant__ rms_job q) {
  using R = gr_in_f64<GR_RED_SUMSQ, D>;
  constexpr int words = leaf_words<D>;
  __shared__ double leaf[32];
  int lane = threadIdx.x & 31, warp = threadIdx.x >> 5, leaves = blockDim.x >> 5;
  int64_t offset = (int64_t)warp * words * GR_ROW_BYTES;
  int present = words_in(q.n * gr_size<D> - offset, lane, words);
  const uint4 *from = (const uint4 *)(q.x + blockIdx.x * q.x_step + offset) + lane;
  uint4 x[words];
#pragma unroll
  for (int k = 0; k < words; k++)
    if (k < present) x[k] = __ldcs(from + k * 32);
  double s = squares<D, words>(x, present, lane);
  if (lane == 0) leaf[warp] = s;
  __syncthreads();
  gr_acc all = R::identity();
  if (lane < leaves) all.f[0] = leaf[lane];
  double r = factor_of(q, gr_fold_adjacent<R>(all, 32).f[0]);
  const uint4 *weights = (const uint4 *)(q.w + offset) + lane;
  uint4 *to = (uint4 *)(q.out + blockIdx.x * q.out_step + offset) + lane;
#pragma unroll
  for (int k = 0; k < words; k++) {
    if (k >= present) break;
    uint4 w = make_uint4(0, 0, 0, 0);
    if (q.w) w = __ldg(weights + k * 32);
    __stcs(to + k * 32, scale_word<D>(x[k], r, q.w != NULL, w));
  }
}

/* The second launch for rows of any kind: a block scales a segment of one. */
template <gr_dtype D>
static __global__ void __launch_bounds__(256) norm_scale(const __grid_constant__ rms_job q, int64_t segments) {
  int64_t row = blockIdx.x / segments, k = blockIdx.x % segments * SEGMENT, end = min(k + SEGMENT, q.n);
  double r = factor_of(q, q.sums[row]);
#pragma unroll 4
  for (k += threadIdx.x; k < end; k += 256) {
    double v = gr_to_f64<D>(*(const gr_type<D> *)(q.x + row * q.x_step + k * q.x_stride)) * r;
    if (q.w) v *= gr_to_f64<D>(*(const gr_type<D> *)(q.w + k * q.w_stride));
    *(gr_type<D> *)(q.out + row * q.out_step + k * q.out_stride) = narrow<D>(v);
  }
}

/* ---- launching ---- */

#define GR_X(id, s, l, type, kind) (int)sizeof(type),
static const int sizes[] = {GR_DTYPES(GR_X)};
#undef GR_X

/* Whether rows fit the kernels that read them once: contiguous, in whole aligned words, not too long. */
static int is_fused(const gr_rmsnorm_job *job) {
  int64_t size = sizes[job->dtype], most = LONG_WARPS * (int64_t)GR_LEAF(size);
  uintptr_t all = (uintptr_t)job->x.data | (uintptr_t)job->out.data | (uintptr_t)job->w.data |
                  (uintptr_t)(job->n * size) | (uintptr_t)job->x.step | (uintptr_t)job->out.step;
  return job->x.stride == size && job->out.stride == size && (!job->w.data || job->w.stride == size) && all % 16 == 0 &&
         job->n <= most && job->count <= INT32_MAX;
}

static gr_reduce_job sums_of(const gr_rmsnorm_job *job, void *out) {
  gr_reduce_job r;
  memset(&r, 0, sizeof r);
  r.op = GR_OP_sumsq;
  r.dtype = job->dtype;
  r.n = job->n;
  r.count = job->count;
  r.a = job->x;
  r.scale_a = r.scale_b = 1.0;
  r.out_dtype = GR_F64;
  r.out = out;
  return r;
}

size_t gr_cuda_rmsnorm_scratch(const gr_rmsnorm_job *job, const gr_cuda_chip *chip) {
  gr_reduce_job r = sums_of(job, NULL);
  if (job->n == 0 || job->count == 0 || is_fused(job)) return 0;
  return ((gr_cuda_reduce_scratch(&r, chip) + 255) & ~(size_t)255) + (size_t)job->count * 8;
}

template <gr_dtype D, int words> static cudaError_t start_short(const rms_job *q, cudaStream_t stream) {
  constexpr int rows = SHORT_WARPS * (words < 8 ? 8 / words : 1);
  void *args[] = {(void *)q};
  unsigned blocks = (unsigned)((q->count + rows - 1) / rows);
  return cudaLaunchKernel((const void *)norm_short<D, words>, blocks, SHORT_WARPS * 32, args, 0, stream);
}

template <gr_dtype D> static cudaError_t start_fused(const rms_job *q, cudaStream_t stream) {
  int64_t bytes = q->n * gr_size<D>, leaves = (q->n + GR_LEAF(gr_size<D>) - 1) / GR_LEAF(gr_size<D>);
  void *args[] = {(void *)q};
  if (bytes <= 1 * GR_ROW_BYTES) return start_short<D, 1>(q, stream);
  if (bytes <= 2 * GR_ROW_BYTES) return start_short<D, 2>(q, stream);
  if (bytes <= 4 * GR_ROW_BYTES) return start_short<D, 4>(q, stream);
  if (bytes <= 8 * GR_ROW_BYTES) return start_short<D, 8>(q, stream);
  return cudaLaunchKernel((const void *)norm_long<D>, (unsigned)q->count, (unsigned)leaves * 32, args, 0, stream);
}

template <gr_dtype D> static cudaError_t start(const gr_rmsnorm_job *job, const gr_cuda_run *run) {
  cudaStream_t stream = (cudaStream_t)run->stream;
  int64_t segments = (job->n + SEGMENT - 1) / SEGMENT;
  rms_job q = {(const char *)job->x.data, (const char *)job->w.data, (char *)job->out.data, job->n, job->count,
            job->x.step, job->out.step, job->x.stride, job->w.stride, job->out.stride, job->eps, NULL};
  if (is_fused(job)) return start_fused<D>(&q, stream);
  size_t before = (gr_cuda_rmsnorm_scratch(job, run->chip) - (size_t)job->count * 8);
  gr_reduce_job r = sums_of(job, (char *)run->scratch + before);
  gr_cuda_run part = *run;
  part.scratch_bytes = before;
  cudaError_t e = (cudaError_t)gr_cuda_reduce(&r, &part);
  q.sums = (const double *)r.out;
  void *args[] = {&q, &segments};
  if (e == cudaSuccess)
    e = cudaLaunchKernel((const void *)norm_scale<D>, (unsigned)(segments * job->count), 256, args, 0, stream);
  return e;
}

int gr_cuda_rmsnorm(const gr_rmsnorm_job *job, const gr_cuda_run *run) {
  if (job->n <= 0 || job->count <= 0) return cudaSuccess;
  switch (job->dtype) {
    case GR_F16: return start<GR_F16>(job, run);
    case GR_BF16: return start<GR_BF16>(job, run);
    case GR_F32: return start<GR_F32>(job, run);
    case GR_F64: return start<GR_F64>(job, run);
    default: return cudaErrorInvalidValue;
  }
}
