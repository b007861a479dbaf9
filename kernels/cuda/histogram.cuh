/*
** Histograms: counters in shared memory, one set a block: of 32 bits, copied for each few lanes while bins are few, or
** of 24 and 8 when they are many; of 16 bits that spill when they fill up; or counters in L2 behind a small cache when
** none of that fits. Counting does not care for order, so samples are taken as the loads come. The launcher keeps a
** block's share below what a counter holds.
*/
#ifndef GR_HISTOGRAM_CUH
#define GR_HISTOGRAM_CUH

#include <cuda_runtime.h>
#include "kernels/cuda/binning.cuh"
#include "kernels/cuda/launch.h"
#include "kernels/cuda/overlap.cuh"

#define GR_HIST_FEW 500    /* bins that fit the counter area, tails beside them */
#define GR_HIGH (1u << 24) /* one, in the high 8 bits of a word */
#define GR_HIST_SLOTS 8192 /* of the cache in front of L2; a power of two */

typedef struct gr_hist {
  gr_bins bins;
  const char *data;
  int64_t n, stride;
  int64_t head, vectors; /* contiguous: elements before the first 16-byte boundary, whole vectors after it */
  int32_t contiguous;
  gr_dtype dtype;
  int32_t by_value;         /* counters are of values and not of bins */
  int32_t packed;           /* they have 16 bits, two a word; what spills goes to counts at once */
  int32_t cleared;          /* counts and tails are zero at the start */
  int32_t parts, part_bins; /* block b counts bins of part b % parts in the data of unit b / parts */
  int32_t words;            /* of a block's counters; wide: fewer than part_bins */
  int32_t shift;            /* log2 of the copies of each counter */
  uint32_t spread;          /* mask of gr_spread */
  uint64_t *area;           /* the counter area; few bins: blocks hand over there */
  uint32_t *rows;           /* else every block writes a row (gr_row) */
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
  int64_t x = a.dtype == GR_I8 ? (int8_t)bits : a.dtype == GR_I16 ? (int16_t)bits : (int64_t)bits;
  int32_t k = a.dtype == GR_F16    ? gr_bin_exact(a.bins, (double)gr_as_f32(gr_f16{(uint16_t)bits}))
              : a.dtype == GR_BF16 ? gr_bin_exact(a.bins, (double)gr_as_f32(gr_bf16{(uint16_t)bits}))
              : a.bins.modulo      ? gr_modulo(a.bins, x)
                                   : gr_bin_exact(a.bins, x);
  return k >= 0 ? (uint32_t)k : (uint32_t)(a.bins.bins - 1 - k);
}

/* One sample alone. */
template <class Quick, typename T, class Sink>
static __device__ __forceinline__ void gr_count_one(const gr_hist &a, const uint32_t *table, T x, Sink &sink) {
  int32_t k = Quick::settle(a.bins, table, x);
  if (k >= 0) sink.template hit<false>((uint32_t)k);
  else sink.miss(k);
  if constexpr (Sink::wide)
    if (k >= 0 && sink.is_high((uint32_t)k) && sink.hit_high((uint32_t)k, true, GR_HIGH) >= 0u - GR_HIGH)
      sink.wrapped(a, (uint32_t)k);
  if (Sink::packed && sink.full()) sink.template drain<Quick>(a, (uint32_t)k);
}

/* Those of a load's samples that the high counters count. */
template <int count, class Sink>
static __device__ __forceinline__ void gr_count_high(const gr_hist &a, Sink &sink, const uint32_t (&bin)[count]) {
  bool high[count], alike = true;
  uint32_t old[count], worst = 0, amount;
#pragma unroll
  for (int k = 0; k < count; k++) {
    high[k] = sink.is_high(bin[k]);
    alike = alike && bin[k] == bin[0];
  }
  amount = alike ? count * GR_HIGH : GR_HIGH;
#pragma unroll
  for (int k = 0; k < count; k++) {
    if (k) high[k] = high[k] && !alike;
    old[k] = sink.hit_high(bin[k], high[k], amount);
    worst = max(worst, old[k]);
  }
  if (worst < 0u - amount) return;
#pragma unroll
  for (int k = 0; k < count; k++)
    if (high[k] && old[k] >= 0u - amount) sink.wrapped(a, bin[k]);
}

/* The samples of one load: quick answers first, then the few that were not sure, so that their code exists once. */
template <typename T, class Quick, class Sink>
static __device__ __forceinline__ void gr_count_pack(const gr_hist &a, const uint32_t *table, const gr_pack<T> &p,
                                                     Sink &sink) {
  const int count = gr_pack<T>::count;
  uint32_t left = 0, bin[count], most = 0;
  bool exact = false;
  if constexpr (Quick::may_be_exact) {
    exact = a.bins.exact;
    if (exact)
#pragma unroll
      for (int k = 0; k < count; k++) bin[k] = Quick::exact_bin(a.bins, p.f32(k));
  }
  if (!exact)
#pragma unroll
    for (int k = 0; k < count; k++) bin[k] = Quick::bin(a.bins, table, p.get(k), p.f32(k));
#pragma unroll
  for (int k = 0; k < count; k++) most = max(most, sink.template hit<Quick::sure>(bin[k]));
  if constexpr (!Quick::sure || Sink::wide) {
    if (most < sink.limit) return;
    if constexpr (Sink::wide) gr_count_high<count>(a, sink, bin);
#pragma unroll
    for (int k = 0; k < count; k++) left |= (uint32_t)(bin[k] >= (uint32_t)a.bins.bins) << k;
    for (; left; left &= left - 1) gr_count_one<Quick>(a, table, p.get(__ffs((int)left) - 1), sink);
  }
}

/* The same in counters of 16 bits: where one is half full the bins of this load are looked at again. */
template <typename T, class Quick, class Sink>
static __device__ __forceinline__ void gr_count_packed(const gr_hist &a, const uint32_t *table, const gr_pack<T> &p,
                                                       Sink &sink) {
  const int count = gr_pack<T>::count;
  uint32_t bin[count];
#pragma unroll
  for (int k = 0; k < count; k++) bin[k] = Quick::bin(a.bins, table, p.get(k), p.f32(k));
  bool alike = bin[0] == bin[1];
#pragma unroll
  for (int k = 1; k < 4; k++) alike = alike && p.w[k] == p.w[0];
  if (alike) {
    sink.hit_hot(bin[0], count);
  } else if (sink.any_hot()) {
#pragma unroll
    for (int k = 0; k < count; k++) sink.hit_hot(bin[k], 1);
  } else {
#pragma unroll
    for (int k = 0; k < count; k++) sink.hit_packed(bin[k], 1);
  }
  if (!sink.full()) return;
  for (int k = 0; k < count; k++) sink.template drain<Quick>(a, (uint32_t)Quick::settle(a.bins, table, p.get(k)));
}

/* Up to `deep` vectors, `apart` bytes from one to the next; those that begin within `left` bytes are there. */
template <typename T, int deep>
static __device__ __forceinline__ void gr_load_packs(gr_pack<T> (&p)[deep], const char *at, int64_t left,
                                                     uint32_t apart) {
#pragma unroll
  for (int u = 0; u < deep; u++)
    if (left > (int64_t)u * apart) p[u] = gr_load_pack<T>(at + (int64_t)u * apart);
}

/*
** All samples of this block's unit, `deep` loads at once. Counters are made ready while the first are on their way.
** Units take turns, or one piece each, which ends more evenly but reads more slowly: right where counting is what takes
** the time.
*/
template <typename T, class Quick, int deep, class Sink, class Ready>
static __device__ __forceinline__ void gr_count_all(const gr_hist &a, const uint32_t *table, Sink &sink, Ready ready) {
  const bool pieces = sizeof(T) <= 2;
  uint32_t threads = blockDim.x, apart = threads * 16;
  uint32_t unit = blockIdx.x / (uint32_t)a.parts, units = gridDim.x / (uint32_t)a.parts;
  int64_t turn = (int64_t)deep * threads, step = turn * (pieces ? 1 : units) * 16, end = a.vectors;
  if (pieces) {
    turn = ((a.vectors + units - 1) / units + 7) & ~(int64_t)7; /* whole lines */
    end = min((unit + 1) * turn, a.vectors);
  }
  int64_t first = (unit * turn + threadIdx.x) * 16, left = end * 16 - first;
  const char *at = a.data + a.head * (int64_t)sizeof(T) + first;
  gr_pack<T> p[deep], next[deep];
  gr_load_packs<T>(p, at, left, apart);
  ready();
  if (!a.contiguous) { /* vectors is 0 */
    for (int64_t k = (int64_t)unit * threads + threadIdx.x; k < a.n; k += (int64_t)units * threads)
      gr_count_one<Quick>(a, table, *(const T *)(a.data + k * a.stride), sink);
    return;
  }
  for (; left > 0; left -= step) { /* the next loads are on their way while these are counted */
    at += step;
    sink.look();
    gr_load_packs<T>(next, at, left - step, apart);
#pragma unroll
    for (int u = 0; u < deep; u++)
      if (left > (int64_t)u * apart) {
        if constexpr (Sink::packed) gr_count_packed<T, Quick>(a, table, p[u], sink);
        else gr_count_pack<T, Quick>(a, table, p[u], sink);
      }
#pragma unroll
    for (int u = 0; u < deep; u++) p[u] = next[u];
  }
  if (unit == 0) { /* what lies before and after the whole vectors: fewer than 16 elements each */
    int64_t tail = a.head + a.vectors * gr_pack<T>::count;
    const T *x = (const T *)a.data + threadIdx.x;
    if (threadIdx.x < a.head) gr_count_one<Quick>(a, table, *x, sink);
    if (tail + threadIdx.x < a.n) gr_count_one<Quick>(a, table, x[tail], sink);
  }
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
static __device__ __forceinline__ uint32_t gr_spread(uint32_t offset, uint32_t mask) {
  return offset ^ ((offset >> 7) * 5 & mask);
}

/*
** Counts what Quick gives. What has no counter goes to one behind them, so that a hit needs no branch.
**
** Wide: more bins than words. Word w has the counter of bin w in its low 24 bits and that of bin words + w in its high
** 8 ones. These may wrap: the one thread that sees it from the old value adds 256 to the block's row in memory. Threads
** that add to one word with a result wait for each other, so samples of a load that are all alike are added at once.
*/
template <bool is_wide, bool spread> struct gr_shared_sink : gr_tails {
  static const bool packed = false, wide = is_wide;
  uint32_t first, limit, high; /* of this block's part: its first bin, its counters, its high counters */
  uint32_t zero, step, mask;   /* shared address of this thread's copy of counter 0, bytes from bin to bin */
  uint32_t spare;
  __device__ gr_shared_sink(const gr_hist &a, uint32_t from, uint32_t have)
      : gr_tails{{0, 0, 0}}, first(from), limit(wide ? (uint32_t)a.words : have), high(have > limit ? have - limit : 0),
        step(4u << a.shift), mask(a.spread) {
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
    return zero + (spread ? gr_spread(i * step, mask) : i * step);
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
#define GR_HIST_HOT 4
#define GR_HIST_NONE 0xffffffffu
template <bool parts> struct gr_packed_sink : gr_tails {
  static const bool packed = true, wide = false;
  uint32_t first, bins, seen, hot[GR_HIST_HOT], times[GR_HIST_HOT];
  static __device__ __forceinline__ uint32_t *list() { /* the hot values; each is there once */
    __shared__ uint32_t all[GR_HIST_HOT];
    return all;
  }
  static __device__ __forceinline__ uint32_t *word(uint32_t k) {
    return gr_hist_shared + GR_HIST_SPARE + gr_spread(k << 1 & ~3u, 0x7c) / 4;
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
  const uint32_t *all = gr_hist_shared + GR_HIST_SPARE + gr_spread(4 * k << a.shift, a.spread) / 4;
  for (uint32_t r = 0; r < copies; r++) sum += all[(r + threadIdx.x) & (copies - 1)];
  return sum;
}

/*
** A block's share of slot k goes to the area, which also counts in its upper bits who has been there: the last one
** gets the total back at once, writes it and leaves zero.
*/
static __device__ __forceinline__ void gr_hand_over(const gr_hist &a, uint32_t k, uint32_t sum) {
  const unsigned long long one = 1ull << 48;
  unsigned long long *area = (unsigned long long *)a.area + k, old = atomicAdd(area, one | sum);
  if (old >> 48 != gridDim.x - 1) return;
  *gr_slot(a, k) = (old & (one - 1)) + sum;
  *area = 0;
}

/* The tails of all threads of a block in shared memory; it must be clear, and a barrier must follow. */
static __device__ __forceinline__ void gr_sum_tails(const gr_tails &sink, uint32_t *sums) {
#pragma unroll
  for (int t = 0; t < 3; t++)
    if (sink.tails[t]) atomicAdd(sums + t, sink.tails[t]);
}

/* Few bins. */
template <class Sink> static __device__ void gr_hist_finish_few(const gr_hist &a, const Sink &sink) {
  __shared__ uint32_t tails[3];
  if (threadIdx.x < 3) tails[threadIdx.x] = 0;
  __syncthreads();
  gr_sum_tails(sink, tails);
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
  gr_sum_tails(sink, tails);
  if constexpr (Sink::packed) {
    for (uint32_t q = from; q < (uint32_t)a.part_bins / 2; q += blockDim.x)
      row[q] = all[gr_spread(4 * q, a.spread) / 4];
  } else if (a.shift > 0) {
    for (uint32_t q = from; q < pairs; q += blockDim.x)
      gr_write_pair(row, whole, q, 2 * q < sink.limit ? gr_copies(a, 2 * q) : 0,
                    2 * q + 1 < sink.limit ? gr_copies(a, 2 * q + 1) : 0);
  } else {
    uint32_t own = sink.limit / 2;
#pragma unroll 4
    for (uint32_t q = from; q < own; q += blockDim.x) {
      uint32_t at = gr_spread(8 * q, a.spread) / 4, low = all[at], high = all[at ^ 1];
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

template <typename T, class Quick, class Sink, bool has_table>
static __global__ void __launch_bounds__(1024, 1) gr_hist_blocks(const __grid_constant__ gr_hist a) {
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
  gr_await_earlier();
  /* What registers allow; in wide counters 2 are faster than 3. */
  const int deep = Sink::wide ? 2 : sizeof(T) == 2 || has_table ? 3 : 4;
  if constexpr (has_table) { /* wants them, too */
    ready();
    gr_count_all<T, Quick, deep>(a, table, sink, [] {});
  } else {
    gr_count_all<T, Quick, deep>(a, table, sink, ready);
  }
  gr_let_next_start();
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

/* ---- counters in L2 ---- */

/*
** The first bins that a block meets get counters in shared memory, as the frequent ones almost surely do;
** misses of a warp that hit the same bin are added at once. So neither constant nor sorted data collapse.
*/
struct gr_global_sink : gr_tails {
  static const bool packed = false, wide = false;
  unsigned long long *counts;
  uint32_t limit;
  __device__ gr_global_sink(const gr_hist &a)
      : gr_tails{{0, 0, 0}}, counts((unsigned long long *)a.counts), limit((uint32_t)a.bins.bins) {}
  template <bool> __device__ __forceinline__ uint32_t hit(uint32_t k) {
    if (k < limit) count(k);
    return k;
  }
  __device__ __forceinline__ void count(uint32_t k) {
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
  __device__ __forceinline__ void look() {}
  __device__ __forceinline__ bool full() const { return false; }
  template <class Quick> __device__ __forceinline__ void drain(const gr_hist &, uint32_t) {}
};

template <typename T, class Quick>
static __global__ void __launch_bounds__(512, 2) gr_hist_global(const __grid_constant__ gr_hist a) {
  gr_global_sink sink(a);
  gr_await_earlier();
  gr_count_all<T, Quick, sizeof(T) == 4 ? 4 : 3>(a, NULL, sink, [] {
    for (uint32_t k = threadIdx.x; k < 2 * GR_HIST_SLOTS; k += blockDim.x) gr_hist_shared[k] = 0;
    __syncthreads();
  });
  gr_let_next_start();
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
  int32_t early; /* may begin while the launch before it ends */
  size_t shared;
} gr_hist_plan;

template <class Kernel> static cudaError_t gr_hist_start(Kernel kernel, const gr_hist_plan *p, cudaStream_t stream) {
  if (p->shared > 40 * 1024) { /* 48, less what kernels have besides */
    cudaError_t e =
        cudaFuncSetAttribute((const void *)kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)p->shared);
    if (e != cudaSuccess) return e;
  }
  void *args[] = {(void *)&p->args};
  return gr_start_early((const void *)kernel, args, p->blocks, p->threads, p->shared, p->early, stream);
}

template <typename T, class Quick, bool has_table = false, bool spread = false>
static cudaError_t gr_hist_start_blocks(const gr_hist_plan *p, cudaStream_t stream) {
  if constexpr (sizeof(T) > 2 && !has_table)
    if (p->args.words < p->args.part_bins)
      return gr_hist_start(gr_hist_blocks<T, Quick, gr_shared_sink<true, false>, false>, p, stream);
  return gr_hist_start(gr_hist_blocks<T, Quick, gr_shared_sink<false, spread>, has_table>, p, stream);
}

template <typename T> static cudaError_t gr_hist_launch(const gr_hist_plan *p, cudaStream_t stream) {
  if constexpr (gr_is_whole<T>::yes)
    if (p->way == GR_HIST_MODULO)
      return p->global ? gr_hist_start(gr_hist_global<T, gr_quick_modulo>, p, stream)
                       : gr_hist_start_blocks<T, gr_quick_modulo>(p, stream);
  if (p->way == GR_HIST_TABLE)
    return p->global ? gr_hist_start(gr_hist_global<T, gr_quick_none>, p, stream)
                     : gr_hist_start_blocks<T, gr_quick_table, true>(p, stream);
  if (p->global) return gr_hist_start(gr_hist_global<T, gr_quick_even<false>>, p, stream);
  if constexpr (sizeof(T) == 4)
    if (p->way == GR_HIST_F32) return gr_hist_start_blocks<T, gr_quick_even<true>, false, true>(p, stream);
  return gr_hist_start_blocks<T, gr_quick_even<false>>(p, stream);
}

/* 16-bit types: all the rest goes by value. */
template <typename T> static cudaError_t gr_hist_launch_narrow(const gr_hist_plan *p, cudaStream_t stream) {
  if (p->global) return gr_hist_start(gr_hist_global<T, gr_quick_none>, p, stream);
  if constexpr (gr_is_whole<T>::yes)
    if (p->way == GR_HIST_MODULO) return gr_hist_start_blocks<T, gr_quick_modulo>(p, stream);
  return gr_hist_start_blocks<T, gr_quick_even<true>>(p, stream);
}

cudaError_t gr_hist_integers(gr_dtype, const gr_hist_plan *, cudaStream_t);
cudaError_t gr_hist_floats(gr_dtype, const gr_hist_plan *, cudaStream_t);
cudaError_t gr_hist_values(const gr_hist_plan *, cudaStream_t);

#endif
