/*
** Histograms whose counters are in shared memory, one set a block: of 32 bits, copied for each few lanes while bins are
** few, or of 24 and 8 when they are many; or of 16 bits that spill when they fill up. The launcher keeps a block's
** share below what a counter holds. Where none of that fits: histogram/global.cuh.
*/
#ifndef GR_CUDA_HISTOGRAM_HISTOGRAM_CUH
#define GR_CUDA_HISTOGRAM_HISTOGRAM_CUH

#include <cuda_runtime.h>
#include "kernels/cuda/histogram/samples.cuh"
#include "kernels/cuda/grid/dependent_launch.cuh"

constexpr int GR_HIST_FEW = gr_histogram_tuning::few_bins;
static_assert((GR_HIST_FEW + 3) * 8 <= GR_COUNTER_BYTES - GR_PARTIAL_BYTES, "the counter area has tails beside bins");

/* ---- where results go ---- */

/* Where slot k of bins + 3 is counted: a bin, below, above, NaN. */
static __device__ __forceinline__ unsigned long long *gr_slot(const gr_hist &a, uint32_t k) {
  uint32_t bins = (uint32_t)a.bins.bins;
  return (unsigned long long *)(k < bins ? a.counts + k : a.tails + (k - bins));
}

/*
** A block's row: its counters in 16 bits each, two a word; 0xffff: see the whole counters behind them; then 3 tails.
** So the rows of most data are half as long to write and to add up. Both parts are whole lines of 32 words.
*/
static __host__ __device__ inline uint32_t gr_row_pairs(const gr_hist &a) {
  return (((uint32_t)a.part_bins + 1) / 2 + 31) & ~31u;
}
static __host__ __device__ inline int64_t gr_row_words(const gr_hist &a) {
  return (int64_t)gr_row_pairs(a) + (((int64_t)a.part_bins + 3 + 31) & ~(int64_t)31);
}
static __device__ __forceinline__ uint32_t *gr_row(const gr_hist &a) { return a.rows + blockIdx.x * gr_row_words(a); }
static __device__ __forceinline__ uint32_t *gr_row_whole(const gr_hist &a) { return gr_row(a) + gr_row_pairs(a); }

/* The slot of a value of 8 or 16 bits. */
static __device__ __forceinline__ uint32_t gr_slot_of_value(const gr_hist &a, uint32_t bits) {
  int32_t x = a.dtype == GR_I8 ? (int8_t)bits : a.dtype == GR_I16 ? (int16_t)bits : (int32_t)bits, k;
  float f = a.dtype == GR_F16    ? gr_as_f32(gr_f16{(uint16_t)bits})
            : a.dtype == GR_BF16 ? gr_as_f32(gr_bf16{(uint16_t)bits})
                                 : (float)x;
  if (a.bins.exact) { /* then there are no edges to wait for */
    uint32_t sure = gr_quick_even<true>::exact_bin(a.bins, f);
    if (sure < (uint32_t)a.bins.bins) return sure;
  }
  if (a.bins.modulo) k = gr_modulo(a.bins, (int64_t)x);
  else if (a.dtype == GR_F16 || a.dtype == GR_BF16) k = gr_bin_exact(a.bins, (double)f);
  else k = gr_bin_exact(a.bins, (int64_t)x);
  return k >= 0 ? (uint32_t)k : (uint32_t)(a.bins.bins - 1 - k);
}

/* ---- counters in shared memory ---- */

/* Counters lie behind 32 spare words, in whole rows of 32; the last one is of what is not counted there. */
#define GR_HIST_SPARE 32
static __host__ __device__ inline uint32_t gr_hist_words(int32_t bins, int32_t packed, int32_t shift) {
  return GR_HIST_SPARE + ((((uint32_t)(bins + 1) >> packed << shift) + 31) & ~31u);
}
extern __shared__ __align__(16) uint32_t gr_hist_shared[];

struct gr_tails {
  uint32_t tails[3];
  __device__ __forceinline__ void miss(int32_t why) {
    tails[0] += why == GR_BELOW;
    tails[1] += why == GR_ABOVE;
    tails[2] += why == GR_IS_NAN;
  }
};

/*
** Rows of 32 words are permuted by their number, so that bins a power of two apart lie in different banks. Offsets are
** in bytes; mask: which bits may change. Only where there are instructions to spare: 4-byte samples estimated in f32.
*/
static __device__ __forceinline__ uint32_t gr_swizzle(uint32_t offset, uint32_t mask) {
  return offset ^ ((offset >> 7) * 5 & mask);
}

/*
** Counts what Quick gives. What has no counter goes to one behind them, so that a hit needs no branch.
**
** Wide: more bins than words. Word w has the counter of bin w in its low 24 bits and that of bin words + w in its high
** 8 ones. These may wrap: the one thread that sees it from the old value adds 256 to the block's row in memory. Threads
** that add to one word with a result wait for each other, so samples of a load that are all alike are added at once.
*/
template <bool is_wide, bool swizzled> struct gr_shared_sink : gr_tails {
  static const bool packed = false, wide = is_wide, spreads = false;
  uint32_t first, limit, high; /* of this block's part: its first bin, its counters, its high counters */
  uint32_t zero, step, mask;   /* shared address of this thread's copy of counter 0, bytes from bin to bin */
  uint32_t spare;
  __device__ gr_shared_sink(const gr_hist &a, uint32_t from, uint32_t have)
      : gr_tails{{0, 0, 0}}, first(from), limit(wide ? (uint32_t)a.words : have), high(have > limit ? have - limit : 0),
        step(4u << a.shift), mask(a.swizzle) {
    uint32_t base = (uint32_t)__cvta_generic_to_shared(gr_hist_shared), copy = threadIdx.x & ((1u << a.shift) - 1);
    spare = base + (threadIdx.x & 31) * 4;
    zero = base + (GR_HIST_SPARE + copy) * 4;
  }
  /* Which counter it was. sure: k is a bin. */
  template <bool sure> __device__ __forceinline__ uint32_t hit(uint32_t k) {
    uint32_t i = sure && !wide ? k : min(wide ? k - first : k, limit);
    asm volatile("red.shared.add.u32 [%0], 1;" : : "r"(at(i)));
    return i;
  }
  __device__ __forceinline__ uint32_t at(uint32_t i) const {
    return zero + (swizzled ? gr_swizzle(i * step, mask) : i * step);
  }
  __device__ __forceinline__ bool is_high(uint32_t k) const { return k - first - limit < high; }
  /* Adds to the high counter of k, if it has one; what its word was. */
  __device__ __forceinline__ uint32_t hit_high(uint32_t k, bool valid, uint32_t amount) {
    uint32_t old;
    asm volatile("atom.shared.add.u32 %0, [%1], %2;"
                 : "=r"(old) : "r"(valid ? at(k - first - limit) : spare), "r"(amount) : "memory");
    return old;
  }
  __device__ __forceinline__ void wrapped(const gr_hist &a, uint32_t k) {
    atomicAdd(gr_row_whole(a) + (k - first), 256u);
  }
  __device__ __forceinline__ void look() {}
  __device__ __forceinline__ bool full() const { return false; }
  template <class Quick> __device__ __forceinline__ void drain(const gr_hist &, uint32_t) {}
};

/*
** Two counters of 16 bits a word, for all values of 16 bits or those of this block's part. A thread that meets a
** counter of 2^15 or more takes 2^15 out of it, if no other has, before it counts on. Until then each thread adds a
** load's samples, 2^13 all together, so that no counter overflows. Lanes that add to one word wait for each other: the
** first values that fill up so are hot and counted in registers from then on.
*/
constexpr int GR_HIST_HOT = gr_histogram_tuning::hot_values;
#define GR_HIST_NONE 0xffffffffu
template <bool parts> struct gr_packed_sink : gr_tails {
  static const bool packed = true, wide = false, spreads = false;
  uint32_t first, bins, seen, hot[GR_HIST_HOT], times[GR_HIST_HOT];
  static __device__ __forceinline__ uint32_t *list() { /* the hot values; each is there once */
    __shared__ uint32_t all[GR_HIST_HOT];
    return all;
  }
  static __device__ __forceinline__ uint32_t *word(uint32_t k) {
    return gr_hist_shared + GR_HIST_SPARE + gr_swizzle(k << 1 & ~3u, 0x7c) / 4;
  }
  __device__ gr_packed_sink(const gr_hist &, uint32_t from, uint32_t have)
      : gr_tails{{0, 0, 0}}, first(from), bins(have), seen(0) {
    for (int h = 0; h < GR_HIST_HOT; h++) hot[h] = GR_HIST_NONE, times[h] = 0;
    if (threadIdx.x < GR_HIST_HOT) list()[threadIdx.x] = GR_HIST_NONE;
  }
  __device__ __forceinline__ void look() {
#pragma unroll
    for (int h = 0; h < GR_HIST_HOT; h++) hot[h] = *(volatile uint32_t *)(list() + h);
  }
  __device__ __forceinline__ bool any_hot() const { return hot[0] != GR_HIST_NONE; }
  template <bool> __device__ __forceinline__ void hit(uint32_t k) { hit_packed(k, 1); }
  __device__ __forceinline__ void hit_packed(uint32_t k, uint32_t count) {
    if (parts) k -= first;
    if (!parts || k < bins) seen |= atomicAdd(word(k), (k & 1) * (0xffffu * count) + count);
  }
  __device__ __forceinline__ void hit_hot(uint32_t k, uint32_t count) {
    bool cold = true;
#pragma unroll
    for (int h = 0; h < GR_HIST_HOT; h++) {
      if (k == hot[h]) times[h] += count;
      cold = cold & (k != hot[h]);
    }
    if (cold) hit_packed(k, count);
  }
  __device__ __forceinline__ bool full() const { return (seen & 0x80008000u) != 0; }
  template <class Quick> static __device__ __forceinline__ void spill(const gr_hist &a, uint32_t k, uint32_t count) {
    atomicAdd(gr_slot(a, gr_slot_of_value(a, k)), (unsigned long long)count);
  }
  template <class Quick> __device__ __forceinline__ void drain(const gr_hist &a, uint32_t k) {
    uint32_t bit = k & 1 ? 0x80000000u : 0x8000u;
    seen = 0;
    if (parts && k - first >= bins) return;
    if (!(atomicAnd(word(parts ? k - first : k), ~bit) & bit)) return;
    spill<Quick>(a, k, 32768);
    for (int h = 0; h < GR_HIST_HOT; h++) {
      uint32_t old = atomicCAS(list() + h, GR_HIST_NONE, k);
      if (old == GR_HIST_NONE || old == k) break;
    }
  }
  /* What the threads have counted of the hot values; all threads of the block call it, after a barrier. */
  template <class Quick> __device__ __forceinline__ void cool(const gr_hist &a) {
    look();
#pragma unroll
    for (int h = 0; h < GR_HIST_HOT; h++) {
      uint32_t sum = times[h];
#pragma unroll
      for (int i = 16; i > 0; i /= 2) sum += __shfl_xor_sync(~0u, sum, i);
      if (sum && (threadIdx.x & 31) == 0) spill<Quick>(a, hot[h], sum);
    }
  }
};

/* Sum of the copies of counter k; every thread starts at another copy, since copies lie in different banks. */
static __device__ __forceinline__ uint32_t gr_copies(const gr_hist &a, uint32_t k) {
  uint32_t sum = 0, copies = 1u << a.shift;
  const uint32_t *all = gr_hist_shared + GR_HIST_SPARE + gr_swizzle(4 * k << a.shift, a.swizzle) / 4;
  for (uint32_t r = 0; r < copies; r++) sum += all[(r + threadIdx.x) & (copies - 1)];
  return sum;
}

/*
** A block's share of slot k goes to the area, which also counts in its upper bits who has been there: the last one
** gets the total back at once, writes it and leaves zero. A block alone hands over to nobody.
*/
static __device__ __forceinline__ void gr_hand_over(const gr_hist &a, uint32_t k, uint32_t sum) {
  const unsigned long long one = 1ull << 48;
  unsigned long long *area = (unsigned long long *)a.area + k, old = 0;
  if (gridDim.x > 1) {
    old = atomicAdd(area, one | sum);
    if (old >> 48 != gridDim.x - 1) return;
    *area = 0;
  }
  *gr_slot(a, k) = (old & (one - 1)) + sum;
}

/* Tail t of a thread: below, above, NaN. */
static __device__ __forceinline__ uint32_t gr_tail(const gr_hist &a, const gr_tails &sink, int t) {
  return t == 2 && a.skips_nan ? 0 : sink.tails[t];
}
/* The tails of all threads of a block in shared memory; it must be clear, and a barrier must follow. */
static __device__ __forceinline__ void gr_sum_tails(const gr_hist &a, const gr_tails &sink, uint32_t *sums) {
#pragma unroll
  for (int t = 0; t < 3; t++)
    if (gr_tail(a, sink, t)) atomicAdd(sums + t, sink.tails[t]);
}

/* Few bins, or one block. */
template <class Sink> static __device__ void gr_hist_finish_few(const gr_hist &a, const Sink &sink) {
  __shared__ uint32_t tails[3];
  if (threadIdx.x < 3) tails[threadIdx.x] = 0;
  __syncthreads();
  gr_sum_tails(a, sink, tails);
  for (uint32_t k = threadIdx.x; k < sink.limit; k += blockDim.x) gr_hand_over(a, k, gr_copies(a, k));
  __syncthreads();
  if (threadIdx.x < 3) gr_hand_over(a, sink.limit + threadIdx.x, tails[threadIdx.x]);
}

/* Values of 8 bits: each goes to its slot (the thread's), here if there are few. */
static __device__ void gr_hist_finish_values(const gr_hist &a, uint32_t slot) {
  __shared__ uint32_t sums[GR_HIST_FEW + 3];
  bool few = !a.cleared;
  uint32_t slots = few ? (uint32_t)a.bins.bins + 3 : 0;
  for (uint32_t k = threadIdx.x; k < slots; k += blockDim.x) sums[k] = 0;
  __syncthreads();
  if (threadIdx.x < 256) {
    uint32_t sum = gr_copies(a, threadIdx.x);
    if (sum && few) atomicAdd(sums + slot, sum);
    if (sum && !few) atomicAdd(gr_slot(a, slot), (unsigned long long)sum);
  }
  __syncthreads();
  for (uint32_t k = threadIdx.x; k < slots; k += blockDim.x) gr_hand_over(a, k, sums[k]);
}

/* Many bins: a row of its own for each block; gr_hist_merge adds them up. */
static __device__ __forceinline__ void gr_write_pair(uint32_t *row, uint32_t *whole, uint32_t q, uint32_t low,
                                                     uint32_t high) {
  row[q] = min(low, 0xffffu) | min(high, 0xffffu) << 16;
  if (max(low, high) < 0xffff) return;
  whole[2 * q] = low;
  whole[2 * q + 1] = high;
}
template <class Sink> static __device__ void gr_hist_finish_row(const gr_hist &a, const Sink &sink) {
  const uint32_t *all = gr_hist_shared + GR_HIST_SPARE;
  uint32_t *row = gr_row(a), *whole = gr_row_whole(a), pairs = gr_row_pairs(a), from = threadIdx.x;
  __shared__ uint32_t tails[3];
  if (threadIdx.x < 3) tails[threadIdx.x] = 0;
  __syncthreads();
  gr_sum_tails(a, sink, tails);
  if constexpr (Sink::packed) {
    for (uint32_t q = from; q < (uint32_t)a.part_bins / 2; q += blockDim.x)
      row[q] = all[gr_swizzle(4 * q, a.swizzle) / 4];
  } else if (a.shift > 0) {
    for (uint32_t q = from; q < pairs; q += blockDim.x)
      gr_write_pair(row, whole, q, 2 * q < sink.limit ? gr_copies(a, 2 * q) : 0,
                    2 * q + 1 < sink.limit ? gr_copies(a, 2 * q + 1) : 0);
  } else {
    uint32_t own = sink.limit / 2;
#pragma unroll(gr_histogram_tuning::row_words)
    for (uint32_t q = from; q < own; q += blockDim.x) {
      uint32_t at = gr_swizzle(8 * q, a.swizzle) / 4, low = all[at], high = all[at ^ 1];
      gr_write_pair(row, whole, q, Sink::wide ? low % GR_HIGH : low, Sink::wide ? high % GR_HIGH : high);
    }
    for (uint32_t q = own + from; q < pairs; q += blockDim.x) { /* high counters, or what is no pair */
      uint32_t count[2] = {0, 0};
      for (uint32_t i = 0; i < 2; i++) {
        uint32_t k = 2 * q + i - sink.limit;
        if (!Sink::wide && 2 * q + i < sink.limit) count[i] = gr_copies(a, 2 * q + i);
        if (Sink::wide && k < sink.high) count[i] = gr_copies(a, k) / GR_HIGH + __ldcg(whole + 2 * q + i);
      }
      gr_write_pair(row, whole, q, count[0], count[1]);
    }
  }
  __syncthreads();
  if (threadIdx.x < 3) whole[a.part_bins + (int32_t)threadIdx.x] = tails[threadIdx.x];
}

/* formula: samples come from holes (kernels/cuda/formula). */
template <typename T, class Quick, class Sink, bool has_table, bool formula>
static __device__ __forceinline__ void gr_hist_in_blocks(const gr_hist &a) {
  uint32_t first = blockIdx.x % (uint32_t)a.parts * (uint32_t)a.part_bins;
  uint32_t words = gr_hist_words(Sink::wide ? a.words : a.part_bins, a.packed, a.shift);
  uint32_t *table = gr_hist_shared + words;
  Sink sink(a, first,
            Quick::by_value ? (uint32_t)a.part_bins : min((uint32_t)a.part_bins, (uint32_t)a.bins.bins - first));
  uint32_t slot = 0; /* of the value of this thread's number: the edges come while samples do */
  auto ready = [&] {
    if constexpr (Quick::by_value && !Sink::packed)
      if (threadIdx.x < 256) slot = gr_slot_of_value(a, threadIdx.x);
    for (uint32_t k = threadIdx.x; k < words / 4; k += blockDim.x)
      ((uint4 *)gr_hist_shared)[k] = make_uint4(0, 0, 0, 0);
    if constexpr (Sink::wide) /* where high counters say that they have wrapped */
      for (uint32_t k = (uint32_t)a.words + threadIdx.x; k < (uint32_t)a.part_bins; k += blockDim.x)
        gr_row_whole(a)[k] = 0;
    if constexpr (has_table) gr_fill_table<T>(a.bins, table);
    __syncthreads();
  };
  gr_before_reading(a.inputs_stable);
  constexpr int deep = gr_histogram_tuning::loads_ahead<Sink::wide, (int)sizeof(T), has_table>;
  if constexpr (has_table) { /* wants them, too */
    ready();
    gr_count_all<T, Quick, deep, formula>(a, table, sink, [] {});
  } else {
    gr_count_all<T, Quick, deep, formula>(a, table, sink, ready);
  }
  gr_after_reading(a.inputs_stable);
  __syncthreads();
  if constexpr (Sink::packed) {
    sink.template cool<Quick>(a);
    gr_hist_finish_row(a, sink);
  } else if constexpr (Quick::by_value) {
    gr_hist_finish_values(a, slot);
  } else {
    if (a.rows) gr_hist_finish_row(a, sink);
    else gr_hist_finish_few(a, sink);
  }
}

#endif
