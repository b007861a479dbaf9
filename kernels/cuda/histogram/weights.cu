/*
** Weighted histograms: one kernel for all dtypes, which run-time switches tell apart. Each weight is an integer
** (fixed.h); few bins have sums of three 32-bit words in shared memory, whose additions carry by what the atomics
** return; many bins are added up in L2. A warp whose samples all fall into one bin adds them up first.
*/
#include <cuda_runtime.h>
#include "kernels/cuda/histogram/tuning.h"
#include "kernels/cuda/launch.h"
#include "kernels/cuda/thread/fixed.cuh"

constexpr int THREADS = gr_histogram_tuning::weights_threads, DEEP = gr_histogram_tuning::weights_loads,
              SHARED_SUMS = gr_histogram_tuning::weights_shared_sums;

typedef struct weigh_args {
  const char *a, *w;
  int64_t n, a_stride, w_stride;
  gr_dtype dtype, weights;
  const double *edges;
  const int64_t *limits;
  double first, per_bin;
  int32_t bins, guess, modulo, unit;
  int32_t shared, copies; /* whether sums lie in shared memory; log2 of the copies of each */
  unsigned long long *state;
  void *out;
} weigh_args;

/* ---- elements of a dtype known at run time ---- */

static __device__ __forceinline__ int size_of(gr_dtype t) {
  return t <= GR_I8 ? 1 : t <= GR_I16 || t == GR_F16 || t == GR_BF16 ? 2 : t == GR_I64 || t == GR_F64 ? 8 : 4;
}

static __device__ __forceinline__ void load(uint64_t (&raw)[DEEP], const char *p, int64_t step, int size, int count) {
#define LOAD(type)                                                    \
  _Pragma("unroll") for (int u = 0; u < DEEP; u++)                    \
    if (u < count) raw[u] = *(const type *)(p + u * step);            \
  break
  switch (size) {
    case 1: LOAD(uint8_t);
    case 2: LOAD(uint16_t);
    case 4: LOAD(uint32_t);
    default: LOAD(uint64_t);
  }
#undef LOAD
}

static_assert(GR_DTYPE_COUNT == 11, "what needs no sign of its own, and f64, are the defaults");

static __device__ __forceinline__ int64_t whole(gr_dtype t, uint64_t raw) {
  switch (t) {
    case GR_I8: return (int8_t)raw;
    case GR_I16: return (int16_t)raw;
    case GR_I32: return (int32_t)raw;
    default: return (int64_t)raw;
  }
}
static __device__ __forceinline__ double real(gr_dtype t, uint64_t raw) {
  switch (t) {
    case GR_F16: return gr_widen_f16(gr_f16{(uint16_t)raw});
    case GR_BF16: return gr_widen_bf16(gr_bf16{(uint16_t)raw});
    case GR_F32: return (double)gr_from_bits32((uint32_t)raw);
    default: return gr_from_bits64(raw);
  }
}

/* ---- bins ---- */

/* Exactly as the edges (of integers: the limits) say; bins, bins + 1 and bins + 2 are below, above and NaN. */
template <typename V>
static __device__ __forceinline__ int32_t bin_by_edges(const weigh_args &q, const V *at, V x, double estimate) {
  int32_t low = 0, top = q.bins - 1;
  if (x != x) return q.bins + 2;
  if (x < __ldg(at)) return q.bins;
  if (x > __ldg(at + q.bins)) return q.bins + 1;
  if (q.guess) {
    low = estimate > 0 ? estimate < (double)top ? (int32_t)estimate : top : 0;
    while (low > 0 && x < __ldg(at + low)) low--;
    while (low < top && x >= __ldg(at + low + 1)) low++;
    return low;
  }
  while (low < top) {
    int32_t middle = (int32_t)(((uint32_t)low + (uint32_t)top + 1) >> 1);
    if (__ldg(at + middle) <= x) low = middle;
    else top = middle - 1;
  }
  return low;
}

static __device__ __forceinline__ int32_t bin_of(const weigh_args &q, uint64_t raw) {
  if (gr_is_float(q.dtype)) {
    double x = real(q.dtype, raw);
    return bin_by_edges<double>(q, q.edges, x, (x - q.first) * q.per_bin);
  }
  int64_t x = whole(q.dtype, raw);
  if (q.modulo) {
    int64_t r = x % q.bins;
    return (int32_t)(r < 0 ? r + q.bins : r);
  }
  return bin_by_edges<int64_t>(q, (const int64_t *)q.limits, x, ((double)x - q.first) * q.per_bin);
}

/* ---- sums ---- */

extern __shared__ uint32_t words[]; /* the lowest of all sums, then the middle ones, then the highest */

static __device__ __forceinline__ void add_shared(uint32_t *at, uint32_t apart, gr_fixed x) {
  uint32_t low = (uint32_t)x.low, middle = (uint32_t)(x.low >> 32), high = (uint32_t)x.high, carry = 0;
  if (low) carry = atomicAdd(at, low) > ~low;
  middle += carry;
  carry = middle < carry;
  if (middle) carry |= atomicAdd(at + apart, middle) > ~middle;
  high += carry;
  if (high) atomicAdd(at + 2 * apart, high);
}

/* One sample of each lane; those without have none. */
static __device__ __forceinline__ void add(const weigh_args &q, int32_t bin, gr_fixed x, bool there) {
  int one;
  uint32_t slots = (uint32_t)q.bins + 3;
  __match_all_sync(~0u, there ? bin : -1, &one);
  if (one) {
    for (int h = 16; h > 0; h /= 2) {
      gr_fixed other = {__shfl_xor_sync(~0u, x.low, h), __shfl_xor_sync(~0u, x.high, h)};
      x = gr_fixed_add(x, other);
    }
    there = there && (threadIdx.x & 31) == 0;
  }
  if (!there) return;
  if (q.shared)
    add_shared(words + ((uint32_t)bin << q.copies) + (threadIdx.x & ((1u << q.copies) - 1)), slots << q.copies, x);
  else
    gr_fixed_add_global(q.state + 2 * (int64_t)bin, x);
}

static __global__ void __launch_bounds__(THREADS) weigh(const __grid_constant__ weigh_args q) {
  uint32_t sums = ((uint32_t)q.bins + 3) << q.copies, lane = threadIdx.x & 31;
  int64_t threads = gridDim.x * (int64_t)THREADS, warp = blockIdx.x * (int64_t)THREADS + threadIdx.x - lane;
  int a_size = size_of(q.dtype), w_size = size_of(q.weights);
  if (q.shared) {
    for (uint32_t i = threadIdx.x; i < 3 * sums; i += THREADS) words[i] = 0;
    __syncthreads();
  }
  for (int64_t first = warp; first < q.n; first += threads * DEEP) {
    uint64_t sample[DEEP] = {}, weight[DEEP] = {};
    int64_t k = first + lane;
    int count = k < q.n ? (int)min((int64_t)DEEP, (q.n - 1 - k) / threads + 1) : 0;
    load(sample, q.a + k * q.a_stride, threads * q.a_stride, a_size, count);
    load(weight, q.w + k * q.w_stride, threads * q.w_stride, w_size, count);
#pragma unroll 1
    for (int u = 0; u < DEEP; u++) {
      gr_fixed x = {0, 0};
      int32_t bin = 0;
      if (u < count) {
        bin = bin_of(q, sample[0]);
        x = gr_is_float(q.weights) ? gr_fixed_of(real(q.weights, weight[0]), q.unit)
                                   : gr_fixed_whole(whole(q.weights, weight[0]));
      }
      add(q, bin, x, u < count);
#pragma unroll
      for (int i = 0; i + 1 < DEEP; i++) sample[i] = sample[i + 1], weight[i] = weight[i + 1];
    }
  }
  if (!q.shared) return;
  __syncthreads();
  for (uint32_t slot = threadIdx.x; slot < (uint32_t)q.bins + 3; slot += THREADS) {
    gr_fixed sum = {0, 0};
    for (uint32_t c = 0; c < 1u << q.copies; c++) {
      const uint32_t *at = words + (slot << q.copies) + ((c + threadIdx.x) & ((1u << q.copies) - 1));
      gr_fixed x = {(uint64_t)at[sums] << 32 | at[0], (uint64_t)(int64_t)(int32_t)at[2 * sums]};
      sum = gr_fixed_add(sum, x);
    }
    gr_fixed_add_global(q.state + 2 * slot, sum);
  }
}

static __global__ void __launch_bounds__(THREADS) weigh_out(const __grid_constant__ weigh_args q) {
  int64_t step = gridDim.x * (int64_t)THREADS;
  for (int64_t k = blockIdx.x * (int64_t)THREADS + threadIdx.x; k < (int64_t)q.bins + 3; k += step) {
    gr_fixed sum = {q.state[2 * k], q.state[2 * k + 1]};
    if (gr_is_float(q.weights)) ((double *)q.out)[k] = gr_fixed_value(sum, q.unit);
    else ((int64_t *)q.out)[k] = (int64_t)sum.low;
  }
}

/* ---- launching ---- */

static unsigned grid_for(int64_t items, int64_t most) {
  int64_t blocks = (items + THREADS - 1) / THREADS;
  return (unsigned)(blocks < 1 ? 1 : blocks > most ? most : blocks);
}

int gr_cuda_weights(const gr_weights_job *job, const gr_cuda_run *run) {
  const gr_histogram_job *b = &job->bins;
  cudaStream_t stream = (cudaStream_t)run->stream;
  int64_t slots = b->bins + 3;
  weigh_args q;
  memset(&q, 0, sizeof q);
  if (b->bins < 1 || b->bins > INT32_MAX - 3) return cudaErrorInvalidValue;
  q.a = (const char *)b->a.data;
  q.w = (const char *)job->w.data;
  q.n = b->n;
  q.a_stride = b->a.stride;
  q.w_stride = job->w.stride;
  q.dtype = b->dtype;
  q.weights = job->dtype;
  q.edges = b->edges;
  q.limits = b->ilimits;
  q.first = b->first;
  q.per_bin = b->per_bin;
  q.bins = (int32_t)b->bins;
  q.guess = b->guess && b->per_bin > 0 && b->per_bin < 1e300;
  q.modulo = b->modulo;
  q.unit = job->unit;
  q.state = (unsigned long long *)job->state;
  q.out = job->out;
  q.shared = slots <= SHARED_SUMS;
  while (q.shared && q.copies < 5 && slots << (q.copies + 1) <= SHARED_SUMS) q.copies++;
  size_t bytes = q.shared ? (size_t)(slots << q.copies) * 12 : 0;
  void *args[] = {&q};
  int64_t most = (int64_t)run->chip->sms * gr_histogram_tuning::weights_blocks;
  cudaError_t e = cudaMemsetAsync(job->state, 0, (size_t)slots * 16, stream);
  if (e == cudaSuccess && q.n > 0)
    e = cudaLaunchKernel((const void *)weigh, grid_for((q.n + DEEP - 1) / DEEP, most), THREADS, args, bytes, stream);
  if (e == cudaSuccess) e = cudaLaunchKernel((const void *)weigh_out, grid_for(slots, most), THREADS, args, 0, stream);
  return e;
}
