/*
** Histograms: counters in shared memory, one set a block (copied for each few lanes while bins are few), or
** counters in L2 behind a small cache when they do not fit. Counting does not care for order, so samples are
** taken as the loads come. Block counters have 32 bits; the launcher keeps a block's share below 2^31.
*/
#ifndef GR_HISTOGRAM_CUH
#define GR_HISTOGRAM_CUH

#include <cuda_runtime.h>
#include "kernels/cuda/binning.cuh"
#include "kernels/cuda/launch.h"

/* The counter area while a histogram runs: finished blocks, tails, then bins. */
#define GR_HIST_TAILS 1
#define GR_HIST_COUNTS 4
#define GR_HIST_FEW 500 /* bins that fit there */
#define GR_HIST_SLOTS 8192 /* of the cache in front of L2; a power of two */

typedef struct gr_hist {
  gr_bins bins;
  const char *data;
  int64_t n, stride;
  int64_t head, vectors; /* contiguous: elements before the first 16-byte boundary, whole vectors after it */
  int32_t contiguous;
  int32_t parts, part_bins; /* block b counts bins of part b % parts in the data of unit b / parts */
  int32_t shift;            /* log2 of the copies of each counter */
  uint64_t *area;           /* the counter area; few bins: blocks add up there */
  uint32_t *rows;           /* else every block writes a row of part_bins + 3 */
  int64_t *counts, *tails;
} gr_hist;

enum gr_hist_way { GR_HIST_F32, GR_HIST_F64, GR_HIST_TABLE, GR_HIST_MODULO };

/* Samples of one 16-byte load; constant indices only, so that it stays in registers. */
template <typename T> struct gr_pack {
  static const int count = 16 / (int)sizeof(T);
  uint32_t w[4];
  __device__ __forceinline__ T get(int k) const {
    T x;
    if (sizeof(T) == 8) {
      uint64_t u = (uint64_t)(k ? w[3] : w[1]) << 32 | (k ? w[2] : w[0]);
      memcpy(&x, &u, sizeof x);
    } else {
      int word = k * (int)sizeof(T) / 4;
      uint32_t u = word == 0 ? w[0] : word == 1 ? w[1] : word == 2 ? w[2] : w[3];
      u >>= k * (int)sizeof(T) % 4 * 8;
      memcpy(&x, &u, sizeof x);
    }
    return x;
  }
  /* Element k in f32. A 16-bit integer goes into the low bits of 2^23: a permutation and an add. */
  __device__ __forceinline__ float f32(int k) const {
    if constexpr (sizeof(T) == 2 && gr_is_whole<T>::yes) {
      const bool is_signed = (T)-1 < (T)1;
      uint32_t u = __byte_perm(is_signed ? w[k / 2] ^ 0x80008000u : w[k / 2], 0x4b000000u, k & 1 ? 0x7632 : 0x7610);
      return __uint_as_float(u) - (is_signed ? 8421376.0f : 8388608.0f);
    } else {
      return gr_as_f32(get(k));
    }
  }
};

template <typename T> static __device__ __forceinline__ gr_pack<T> gr_load_pack(const char *at) {
  gr_pack<T> p;
  asm volatile("ld.global.nc.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(p.w[0]), "=r"(p.w[1]), "=r"(p.w[2]), "=r"(p.w[3]) : "l"(at));
  return p;
}

/* One sample alone. */
template <class Quick, typename T, class Sink>
static __device__ __forceinline__ void gr_count_one(const gr_hist &a, const uint32_t *table, T x, Sink &sink) {
  int32_t k = Quick::settle(a.bins, table, x);
  if (k >= 0) sink.hit((uint32_t)k + Quick::bias, true);
  else sink.miss(k);
}

/* The samples of one load: quick answers first, then the few that were not sure, so that their code exists once. */
template <typename T, class Quick, class Sink>
static __device__ __forceinline__ void gr_count_pack(const gr_hist &a, const uint32_t *table, const gr_pack<T> &p,
                                                     Sink &sink) {
  uint32_t unsure = 0;
#pragma unroll
  for (int k = 0; k < gr_pack<T>::count; k++) {
    bool sure;
    uint32_t bin = Quick::bin(a.bins, table, p.get(k), p.f32(k), sure);
    sink.hit(bin, sure);
    if (!sure) unsure |= 1u << k;
  }
  while (unsure) {
    int k = __ffs((int)unsure) - 1;
    unsure &= unsure - 1;
    gr_count_one<Quick>(a, table, p.get(k), sink);
  }
}

/* All samples of this block's unit. */
template <typename T, class Quick, class Sink>
static __device__ __forceinline__ void gr_count_all(const gr_hist &a, const uint32_t *table, Sink &sink) {
  const int deep = sizeof(T) > 2 ? 4 : Sink::several ? 2 : 3; /* loads at once: as many as registers allow */
  int64_t unit = blockIdx.x / (uint32_t)a.parts, units = gridDim.x / (uint32_t)a.parts;
  int64_t threads = blockDim.x, v = unit * deep * threads + threadIdx.x, step = units * deep * threads;
  if (!a.contiguous) {
    for (int64_t k = unit * threads + threadIdx.x; k < a.n; k += units * threads)
      gr_count_one<Quick>(a, table, *(const T *)(a.data + k * a.stride), sink);
    return;
  }
  const char *body = a.data + a.head * (int64_t)sizeof(T);
  gr_pack<T> p[deep], next[deep];
  bool more = v + (deep - 1) * threads < a.vectors;
  if (more)
#pragma unroll
    for (int u = 0; u < deep; u++) p[u] = gr_load_pack<T>(body + (v + u * threads) * 16);
  while (more) { /* the next loads are on their way while these are counted */
    v += step;
    more = v + (deep - 1) * threads < a.vectors;
    if (more)
#pragma unroll
      for (int u = 0; u < deep; u++) next[u] = gr_load_pack<T>(body + (v + u * threads) * 16);
#pragma unroll
    for (int u = 0; u < deep; u++) gr_count_pack<T, Quick>(a, table, p[u], sink);
#pragma unroll
    for (int u = 0; u < deep; u++) p[u] = next[u];
  }
  for (int u = 0; u < deep && v < a.vectors; u++, v += threads)
    gr_count_pack<T, Quick>(a, table, gr_load_pack<T>(body + v * 16), sink);
  if (unit == 0) { /* what lies before and after the whole vectors: fewer than 16 elements each */
    int64_t tail = a.head + a.vectors * gr_pack<T>::count;
    const T *x = (const T *)a.data + threadIdx.x;
    if (threadIdx.x < a.head) gr_count_one<Quick>(a, table, *x, sink);
    if (tail + threadIdx.x < a.n) gr_count_one<Quick>(a, table, x[tail], sink);
  }
}

/* ---- counters in shared memory ---- */

/* Counters lie behind 32 spare words. */
#define GR_HIST_SPARE 32
extern __shared__ uint32_t gr_hist_shared[];

/*
** Counts what Quick gives. With several parts a block has the bins of its own alone. What is not counted here
** goes to a spare word, so that a hit needs no branch.
*/
template <uint32_t bias, bool parts> struct gr_shared_sink {
  static const bool several = parts;
  uint32_t first, bins; /* of this block's part */
  uint32_t zero, step;  /* shared address of this thread's copy of bin -bias, bytes from bin to bin */
  uint32_t spare;
  int32_t shift;
  uint32_t tails[3];
  __device__ __forceinline__ void hit(uint32_t k, bool valid) {
    if (parts) valid = valid & (k - (first + bias) < bins);
    asm volatile("red.shared.add.u32 [%0], 1;" : : "r"(valid ? zero + k * step : spare));
  }
  __device__ __forceinline__ void miss(int32_t why) {
    tails[0] += why == GR_BELOW;
    tails[1] += why == GR_ABOVE;
    tails[2] += why == GR_IS_NAN;
  }
};

/* Sum of the copies of counter k; every thread starts at another copy, since copies lie in different banks. */
static __device__ __forceinline__ uint32_t gr_copies(uint32_t k, int32_t shift) {
  uint32_t sum = 0, copies = 1u << shift;
  const uint32_t *all = gr_hist_shared + GR_HIST_SPARE + (k << shift);
  for (uint32_t r = 0; r < copies; r++) sum += all[(r + threadIdx.x) & (copies - 1)];
  return sum;
}

/* True in the block that finishes last; what all blocks wrote before is visible to it then. */
static __device__ __forceinline__ bool gr_hist_last(uint64_t *area) {
  __shared__ bool last;
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) last = atomicAdd((unsigned int *)area, 1u) == gridDim.x - 1;
  __syncthreads();
  if (last) __threadfence();
  return last;
}

/* Takes a number out of the counter area and leaves zero. */
static __device__ __forceinline__ uint64_t gr_hist_drain(uint64_t *at) {
  uint64_t value = __ldcg((const unsigned long long *)at);
  *at = 0;
  return value;
}

/* Few bins: add to the area, and the last block moves the totals out. */
template <class Sink> static __device__ void gr_hist_finish_few(const gr_hist &a, const Sink &sink) {
  unsigned long long *area = (unsigned long long *)a.area;
  for (uint32_t k = threadIdx.x; k < sink.bins; k += blockDim.x) {
    uint32_t sum = gr_copies(k, sink.shift);
    if (sum) atomicAdd(&area[GR_HIST_COUNTS + k], (unsigned long long)sum);
  }
  for (int t = 0; t < 3; t++)
    if (sink.tails[t]) atomicAdd(&area[GR_HIST_TAILS + t], (unsigned long long)sink.tails[t]);
  if (!gr_hist_last(a.area)) return;
  for (uint32_t k = threadIdx.x; k < sink.bins; k += blockDim.x)
    a.counts[k] = (int64_t)gr_hist_drain(a.area + GR_HIST_COUNTS + k);
  if (threadIdx.x < 3) a.tails[threadIdx.x] = (int64_t)gr_hist_drain(a.area + GR_HIST_TAILS + threadIdx.x);
  if (threadIdx.x == 0) a.area[0] = 0;
}

/* Many bins: a row of its own for each block; gr_hist_merge adds them up. */
template <class Sink> static __device__ void gr_hist_finish_row(const gr_hist &a, const Sink &sink) {
  uint32_t parts = (uint32_t)a.parts, part = blockIdx.x % parts, unit = blockIdx.x / parts, units = gridDim.x / parts;
  uint32_t *row = a.rows + (int64_t)(part * units + unit) * (a.part_bins + 3);
  __shared__ uint32_t tails[3];
  if (threadIdx.x < 3) tails[threadIdx.x] = 0;
  __syncthreads();
  for (int t = 0; t < 3; t++)
    if (sink.tails[t]) atomicAdd(&tails[t], sink.tails[t]);
  for (uint32_t k = threadIdx.x; k < (uint32_t)a.part_bins; k += blockDim.x)
    row[k] = k < sink.bins ? gr_copies(k, sink.shift) : 0;
  __syncthreads();
  if (threadIdx.x < 3) row[a.part_bins + (int32_t)threadIdx.x] = tails[threadIdx.x];
}

template <typename T, class Quick, bool has_table, bool parts>
static __global__ void __launch_bounds__(1024, 1) gr_hist_blocks(const __grid_constant__ gr_hist a) {
  uint32_t part = blockIdx.x % (uint32_t)a.parts, first = part * (uint32_t)a.part_bins;
  uint32_t bins = min((uint32_t)a.part_bins, (uint32_t)a.bins.bins - first), words = GR_HIST_SPARE + (bins << a.shift);
  uint32_t step = 4u << a.shift, copy = threadIdx.x & ((1u << a.shift) - 1);
  uint32_t *table = gr_hist_shared + GR_HIST_SPARE + ((((uint32_t)a.part_bins << a.shift) + 1) & ~1u);
  uint32_t base = (uint32_t)__cvta_generic_to_shared(gr_hist_shared), spare = base + (threadIdx.x & 31) * 4;
  uint32_t zero = base + (GR_HIST_SPARE + copy) * 4 - (first + Quick::bias) * step;
  gr_shared_sink<Quick::bias, parts> sink = {first, bins, zero, step, spare, a.shift, {0, 0, 0}};
  for (uint32_t k = threadIdx.x; k < words; k += blockDim.x) gr_hist_shared[k] = 0;
  if constexpr (has_table) gr_fill_table<T>(a.bins, table);
  __syncthreads();
  gr_count_all<T, Quick>(a, table, sink);
  __syncthreads();
  if (a.rows) gr_hist_finish_row(a, sink);
  else gr_hist_finish_few(a, sink);
}

/* ---- counters in L2 ---- */

/*
** The first bins that a block meets get counters in shared memory, as the frequent ones almost surely do;
** misses of a warp that hit the same bin are added at once. So neither constant nor sorted data collapse.
*/
template <uint32_t bias> struct gr_global_sink {
  static const bool several = true;
  unsigned long long *counts;
  uint32_t tails[3];
  __device__ __forceinline__ void hit(uint32_t k, bool valid) {
    if (!valid) return;
    k -= bias;
    uint32_t *tag = gr_hist_shared + (k & (GR_HIST_SLOTS - 1)), mark = k + 1, seen = *(volatile uint32_t *)tag;
    if (seen == 0) seen = atomicCAS(tag, 0u, mark);
    if (seen == 0 || seen == mark) {
      atomicAdd(tag + GR_HIST_SLOTS, 1u);
      return;
    }
    unsigned active = __activemask(), same = __match_any_sync(active, k);
    if ((int)(threadIdx.x & 31) == __ffs((int)same) - 1)
      atomicAdd(counts + k, (unsigned long long)__popc(same));
  }
  __device__ __forceinline__ void miss(int32_t why) {
    tails[0] += why == GR_BELOW;
    tails[1] += why == GR_ABOVE;
    tails[2] += why == GR_IS_NAN;
  }
};

template <typename T, class Quick>
static __global__ void __launch_bounds__(512, 2) gr_hist_global(const __grid_constant__ gr_hist a) {
  gr_global_sink<Quick::bias> sink = {(unsigned long long *)a.counts, {0, 0, 0}};
  for (uint32_t k = threadIdx.x; k < 2 * GR_HIST_SLOTS; k += blockDim.x) gr_hist_shared[k] = 0;
  __syncthreads();
  gr_count_all<T, Quick>(a, NULL, sink);
  __syncthreads();
  for (uint32_t k = threadIdx.x; k < GR_HIST_SLOTS; k += blockDim.x) {
    uint32_t count = gr_hist_shared[GR_HIST_SLOTS + k];
    if (count) atomicAdd(sink.counts + gr_hist_shared[k] - 1, (unsigned long long)count);
  }
  for (int t = 0; t < 3; t++)
    if (sink.tails[t]) atomicAdd((unsigned long long *)a.tails + t, (unsigned long long)sink.tails[t]);
}

/* ---- launching one dtype's kernels ---- */

typedef struct gr_hist_plan {
  gr_hist args;
  enum gr_hist_way way;
  int32_t global; /* counters in L2 */
  int32_t blocks, threads;
  size_t shared;
} gr_hist_plan;

template <class Kernel> static cudaError_t gr_hist_start(Kernel kernel, const gr_hist_plan *p, cudaStream_t stream) {
  void *args[] = {(void *)&p->args};
  if (p->shared > 40 * 1024) { /* 48, less what kernels have besides */
    cudaError_t e =
        cudaFuncSetAttribute((const void *)kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)p->shared);
    if (e != cudaSuccess) return e;
  }
  dim3 grid((unsigned)p->blocks), block((unsigned)p->threads);
  return cudaLaunchKernel((const void *)kernel, grid, block, args, p->shared, stream);
}

template <typename T> static cudaError_t gr_hist_launch(const gr_hist_plan *p, cudaStream_t stream) {
  const bool whole = gr_is_whole<T>::yes, narrow = sizeof(T) <= 4;
  bool parts = p->args.parts > 1;
  if constexpr (whole)
    if (p->way == GR_HIST_MODULO)
      return p->global ? gr_hist_start(gr_hist_global<T, gr_quick_modulo>, p, stream)
             : parts   ? gr_hist_start(gr_hist_blocks<T, gr_quick_modulo, false, true>, p, stream)
                       : gr_hist_start(gr_hist_blocks<T, gr_quick_modulo, false, false>, p, stream);
  if (p->way == GR_HIST_TABLE)
    return p->global ? gr_hist_start(gr_hist_global<T, gr_quick_none>, p, stream)
                     : gr_hist_start(gr_hist_blocks<T, gr_quick_table, true, false>, p, stream);
  if (p->global) return gr_hist_start(gr_hist_global<T, gr_quick_even<false>>, p, stream);
  if (parts) return gr_hist_start(gr_hist_blocks<T, gr_quick_even<false>, false, true>, p, stream);
  if constexpr (narrow)
    if (p->way == GR_HIST_F32) return gr_hist_start(gr_hist_blocks<T, gr_quick_even<true>, false, false>, p, stream);
  return gr_hist_start(gr_hist_blocks<T, gr_quick_even<false>, false, false>, p, stream);
}

cudaError_t gr_hist_integers(gr_dtype, const gr_hist_plan *, cudaStream_t);
cudaError_t gr_hist_floats(gr_dtype, const gr_hist_plan *, cudaStream_t);
cudaError_t gr_hist_bytes(const gr_hist_plan *, int is_signed, cudaStream_t);

#endif
