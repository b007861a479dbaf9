/* Histograms whose counters are in L2, behind a small cache in shared memory where samples are alike. */
#ifndef GR_CUDA_HISTOGRAM_GLOBAL_CUH
#define GR_CUDA_HISTOGRAM_GLOBAL_CUH

#include "kernels/cuda/histogram/histogram.cuh"

/*
** Where few lanes of a warp hit the same bin they add as they come. To find those that do takes a warp as long as ten
** shuffles, for each of a load's samples. So it is asked first whether there may be many: whether lanes that are 1, 2
** or 4 apart have the same bin, or all lanes few ones, as data of a short period have.
**
** Of such data the first bins that a block meets get counters in shared memory, as the frequent ones almost surely do;
** misses of a warp that hit the same bin are added at once. So neither constant nor sorted data collapse.
*/
struct gr_global_sink : gr_tails {
  static const bool packed = false, wide = false, spreads = true;
  unsigned long long *counts;
  uint32_t limit, slots;
  __device__ gr_global_sink(const gr_hist &a)
      : gr_tails{{0, 0, 0}}, counts((unsigned long long *)a.counts), limit((uint32_t)a.bins.bins), slots(a.slots) {}
  /* Whether bin k has a counter in shared memory, which then has one more. */
  __device__ __forceinline__ bool hit_slot(uint32_t k) {
    uint32_t *tag = gr_hist_shared + (k & (slots - 1)), mark = k + 1, seen = *(volatile uint32_t *)tag;
    if (seen == 0) seen = atomicCAS(tag, 0u, mark);
    if (seen != 0 && seen != mark) return false;
    atomicAdd(tag + slots, 1u);
    return true;
  }
  /* Whether lanes of a whole warp may often have the same bins. */
  template <int count> static __device__ __forceinline__ bool are_alike(const uint32_t (&k)[count]) {
#if __CUDA_ARCH__ >= 800
    bool alike = __popc(__reduce_or_sync(~0u, 1u << (k[0] & 31))) < gr_histogram_tuning::few_classes;
#pragma unroll
    for (int h = 1; h <= 4; h *= 2)
#pragma unroll
      for (int i = 0; i < count; i++) {
        const uint32_t other = __shfl_xor_sync(~0u, k[i], h); /* by all lanes, whatever was found before */
        alike |= other == k[i];
      }
    return __any_sync(~0u, alike);
#else
    return true;
#endif
  }
  /* The samples of a load, or one; what is no bin is not counted. */
  template <int count> __device__ __forceinline__ void hit_all(const uint32_t (&bin)[count]) {
    const uint32_t lane = threadIdx.x & 31;
    uint32_t k[count];
#pragma unroll
    for (int i = 0; i < count; i++) k[i] = bin[i] < limit ? bin[i] : ~lane; /* no bin, and no other lane's */
    const unsigned active = __activemask();
    if (active == ~0u && !are_alike(k)) {
#pragma unroll
      for (int i = 0; i < count; i++)
        if (k[i] < limit) atomicAdd(counts + k[i], 1ull);
    } else {
#pragma unroll
      for (int i = 0; i < count; i++) {
        if (k[i] >= limit || hit_slot(k[i])) k[i] = ~0u;
        const unsigned same = __match_any_sync(active, k[i]);
        if (k[i] < limit && lane == (uint32_t)__ffs((int)same) - 1)
          atomicAdd(counts + k[i], (unsigned long long)__popc(same));
      }
    }
  }
  template <bool> __device__ __forceinline__ uint32_t hit(uint32_t k) {
    hit_all<1>({k});
    return k;
  }
  __device__ __forceinline__ void look() {}
  __device__ __forceinline__ bool full() const { return false; }
  template <class Quick> __device__ __forceinline__ void drain(const gr_hist &, uint32_t) {}
};

template <typename T, class Quick, bool formula>
static __device__ __forceinline__ void gr_hist_in_global(const gr_hist &a) {
  gr_global_sink sink(a);
  gr_before_reading(a.inputs_stable);
  gr_count_all<T, Quick, gr_histogram_tuning::global_loads_ahead<(int)sizeof(T)>, formula>(a, NULL, sink, [&] {
    for (uint32_t k = threadIdx.x; k < a.slots / 2; k += blockDim.x)
      ((uint4 *)gr_hist_shared)[k] = make_uint4(0, 0, 0, 0);
    gr_after_reading(a.inputs_stable); /* until the counts are zero */
    __syncthreads();
  });
  __syncthreads();
  for (uint32_t k = threadIdx.x; k < a.slots; k += blockDim.x) {
    uint32_t count = gr_hist_shared[a.slots + k];
    if (count) atomicAdd(sink.counts + gr_hist_shared[k] - 1, (unsigned long long)count);
  }
  for (int t = 0; t < 3; t++)
    if (gr_tail(a, sink, t)) atomicAdd((unsigned long long *)a.tails + t, (unsigned long long)sink.tails[t]);
}

#endif
