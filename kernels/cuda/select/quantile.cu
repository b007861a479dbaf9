/*
** Selection: how many keys of each group have which next digit (counted in shared memory, lanes in copies of their
** own), and the elements of some groups. By size alone: the key's few numbers say the dtype.
*/
#include <cuda_runtime.h>
#include "kernels/cuda/launch.h"
#include "kernels/cuda/select/tuning.h"
#include "kernels/cuda/thread/element.cuh"
#include "kernels/numerics/numerics.h"

constexpr int THREADS = gr_select_tuning::quantile_threads, DEEP = gr_select_tuning::quantile_loads;

typedef struct key_args {
  const char *data;
  int64_t n, stride;
  int64_t head, words; /* contiguous: elements before the first 16-byte boundary, whole words after it; else words 0 */
  gr_selector s;
  int32_t shift, bits, groups, copies; /* copies: log2 of a counter's */
  int64_t *counts;
  void *out;
  unsigned long long *found;
  uint64_t prefixes[GR_SELECT_GROUPS];
} key_args;

/* What a thread knows of keys of type U. */
template <typename U> struct keys {
  U top, low, nan;
  __device__ __forceinline__ keys(const key_args &q) : top((U)q.s.top), low((U)(q.s.flip >> 1)), nan((U)q.s.nan) {}
  __device__ __forceinline__ bool is_nan(U x) const { return (U)(x & (U)~top) > nan; }
  __device__ __forceinline__ U of(U x) const {
    return (U)(x ^ top ^ (low & (U)(0 - (x >> (8 * (int)sizeof(U) - 1)))));
  }
};

/* Prefixes in shared memory; those of several groups whose highest bits are t begin at first[t]. */
template <typename U> struct groups {
  U prefixes[GR_SELECT_GROUPS];
  uint16_t first[(1 << GR_SELECT_TOP) + 1];

  __device__ __forceinline__ void begin(const key_args &q) {
    int above = 8 * (int)sizeof(U) - q.shift - q.bits - GR_SELECT_TOP;
    for (int i = (int)threadIdx.x; i < q.groups; i += THREADS) prefixes[i] = (U)q.prefixes[i];
    __syncthreads();
    if (q.groups > 1)
      for (int t = (int)threadIdx.x; t <= 1 << GR_SELECT_TOP; t += THREADS) {
        int low = 0, high = q.groups;
        while (low < high) {
          int middle = (low + high) / 2;
          if ((uint64_t)prefixes[middle] >> above < (uint64_t)t) low = middle + 1;
          else high = middle;
        }
        first[t] = (uint16_t)low;
      }
    __syncthreads();
  }
  /* The group of a key, or -1. */
  __device__ __forceinline__ int of(const key_args &q, U key, U prefix) const {
    constexpr int rest = sizeof(U) > 1 ? 8 * (int)sizeof(U) - GR_SELECT_TOP : 0; /* a byte never has several groups */
    if (q.groups == 1) return prefix == prefixes[0] ? 0 : -1;
    uint32_t t = (uint32_t)(key >> rest);
    int low = first[t], count = first[t + 1] - low;
    if (count == 0) return -1;
    while (count > 1) {
      int half = count / 2;
      low += prefixes[low + half] <= prefix ? half : 0;
      count -= half;
    }
    return prefixes[low] == prefix ? low : -1;
  }
};

/* Element c of a word; c is known when compiled. */
template <typename U> static __device__ __forceinline__ U element(const uint4 &w, int c) {
  if (sizeof(U) == 8) return (U)((uint64_t)(c ? w.w : w.y) << 32 | (c ? w.z : w.x));
  int part = c * (int)sizeof(U) / 4;
  uint32_t u = part == 0 ? w.x : part == 1 ? w.y : part == 2 ? w.z : w.w;
  return (U)(u >> (c * (int)sizeof(U) % 4 * 8));
}

/* Every element once, in any order; all threads of a warp call f together, with false where there is none. */
template <typename U, class F> static __device__ __forceinline__ void each(const key_args &q, F &f) {
  constexpr int per = 16 / (int)sizeof(U);
  int64_t thread = blockIdx.x * (int64_t)THREADS + threadIdx.x, threads = gridDim.x * (int64_t)THREADS;
  int64_t warp = thread - (threadIdx.x & 31);
  const uint4 *body = (const uint4 *)(q.data + q.head * (int64_t)sizeof(U));
  for (int64_t first = warp; first < q.words; first += threads * DEEP) {
    uint4 w[DEEP];
#pragma unroll
    for (int u = 0; u < DEEP; u++) {
      int64_t k = first + u * threads + (threadIdx.x & 31);
      w[u] = make_uint4(0, 0, 0, 0);
      if (k < q.words) w[u] = __ldcs(body + k);
    }
#pragma unroll
    for (int u = 0; u < DEEP; u++)
#pragma unroll
      for (int c = 0; c < per; c++)
        f(element<U>(w[u], c), first + u * threads + (threadIdx.x & 31) < q.words);
  }
  int64_t done = q.words ? q.words * per : 0, rest = q.n - done; /* the ends, or all */
  for (int64_t first = warp; first < rest; first += threads) {
    int64_t k = first + (threadIdx.x & 31);
    bool there = k < rest;
    U x = 0;
    if (there) x = *(const U *)(q.data + (k < q.head || !q.words ? k : k + done) * q.stride);
    f(x, there);
  }
}

template <typename U> struct counter {
  keys<U> k;
  const key_args &q;
  const groups<U> &all;
  uint32_t *table;
  uint32_t nans;
  U mask;
  __device__ __forceinline__ void operator()(U x, bool there) {
    if (!there) return;
    if (k.is_nan(x)) {
      nans++;
      return;
    }
    U key = k.of(x), digit = (U)(key >> q.shift);
    int g = all.of(q, key, (U)(digit >> q.bits));
    if (g < 0) return;
    atomicAdd(table + ((((uint32_t)g << q.bits) + (uint32_t)(digit & mask)) << q.copies), 1u);
  }
};

template <typename U>
static __global__ void __launch_bounds__(THREADS) count_digits(const __grid_constant__ key_args q) {
  __shared__ uint32_t table[GR_SELECT_COUNTERS];
  __shared__ groups<U> all;
  uint32_t slots = (uint32_t)q.groups << q.bits, copies = 1u << q.copies;
  for (uint32_t i = threadIdx.x; i < slots << q.copies; i += THREADS) table[i] = 0;
  all.begin(q);
  counter<U> f = {keys<U>(q), q, all, table + (threadIdx.x & (copies - 1)), 0, (U)(((uint64_t)1 << q.bits) - 1)};
  each<U>(q, f);
  if (f.nans) atomicAdd((unsigned long long *)q.counts + slots, (unsigned long long)f.nans);
  __syncthreads();
  for (uint32_t i = threadIdx.x; i < slots; i += THREADS) {
    uint32_t sum = 0;
    for (uint32_t c = 0; c < copies; c++) sum += table[(i << q.copies) + ((c + threadIdx.x) & (copies - 1))];
    if (sum) atomicAdd((unsigned long long *)q.counts + i, (unsigned long long)sum);
  }
}

/* Matches of a warp take neighbouring places. */
template <typename U> struct picker {
  keys<U> k;
  const key_args &q;
  const groups<U> &all;
  __device__ __forceinline__ void operator()(U x, bool there) {
    U key = k.of(x);
    bool mine = there && !k.is_nan(x) && all.of(q, key, (U)((U)(key >> q.shift) >> q.bits)) >= 0;
    unsigned matches = __ballot_sync(~0u, mine);
    unsigned long long at = 0;
    if (matches == 0) return;
    int lane = (int)(threadIdx.x & 31);
    if (lane == 0) at = atomicAdd(q.found, (unsigned long long)__popc(matches));
    at = __shfl_sync(~0u, at, 0);
    if (mine) ((U *)q.out)[at + __popc(matches & ((1u << lane) - 1))] = x;
  }
};

template <typename U>
static __global__ void __launch_bounds__(THREADS, gr_select_tuning::quantile_blocks)
    pick_keys(const __grid_constant__ key_args q) {
  __shared__ groups<U> all;
  all.begin(q);
  picker<U> f = {keys<U>(q), q, all};
  each<U>(q, f);
}

/* ---- launching ---- */

static key_args job_of(const gr_groups *of) {
  key_args q;
  int64_t size = gr_size_of(of->dtype), off = (int64_t)((uintptr_t)of->a.data & 15);
  memset(&q, 0, sizeof q);
  q.data = (const char *)of->a.data;
  q.n = of->n;
  q.stride = of->a.stride;
  if (q.stride == size) {
    q.head = (16 - off) % 16 / size;
    if (q.head > q.n) q.head = q.n;
    q.words = (q.n - q.head) * size / 16;
  }
  q.s = gr_selector_of(of->dtype);
  q.shift = of->shift;
  q.bits = of->bits;
  q.groups = of->groups;
  memcpy(q.prefixes, of->prefixes, (size_t)of->groups * sizeof *q.prefixes);
  return q;
}

static cudaError_t start(const void *kernel, key_args *q, const gr_cuda_run *run) {
  int64_t items = q->words ? q->words / DEEP : q->n, blocks = (items + THREADS - 1) / THREADS;
  int64_t most = (int64_t)run->chip->sms * gr_select_tuning::quantile_blocks;
  void *args[] = {q};
  if (blocks > most) blocks = most;
  if (blocks < 1) blocks = 1;
  return cudaLaunchKernel(kernel, (unsigned)blocks, THREADS, args, 0, (cudaStream_t)run->stream);
}

#define BY_SIZE(kernel, size) gr_for_size(size, [](auto u) { return (const void *)kernel<decltype(u)>; })

int gr_cuda_digits(const gr_digits_job *job, const gr_cuda_run *run) {
  key_args q = job_of(&job->of);
  int64_t slots = (int64_t)q.groups << q.bits;
  cudaError_t e = cudaMemsetAsync(job->counts, 0, (size_t)(slots + 1) * 8, (cudaStream_t)run->stream);
  q.counts = job->counts;
  while (q.copies < 5 && slots << (q.copies + 1) <= GR_SELECT_COUNTERS) q.copies++;
  if (e == cudaSuccess && q.n > 0) e = start(BY_SIZE(count_digits, gr_size_of(job->of.dtype)), &q, run);
  return e;
}

int gr_cuda_pick(const gr_pick_job *job, const gr_cuda_run *run) {
  key_args q = job_of(&job->of);
  cudaError_t e = cudaMemsetAsync(job->found, 0, 8, (cudaStream_t)run->stream);
  q.found = (unsigned long long *)job->found;
  q.out = job->out;
  if (e == cudaSuccess && q.n > 0) e = start(BY_SIZE(pick_keys, gr_size_of(job->of.dtype)), &q, run);
  return e;
}
