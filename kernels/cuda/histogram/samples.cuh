/*
** How a block of a histogram goes over its samples: 16 bytes a load, the next ones on their way while these are
** counted. Quick (histogram/binning.cuh) finds bins, a sink (histogram/histogram.cuh, histogram/global.cuh) counts
** them. Counting does not care for order, so samples are taken as the loads come.
*/
#ifndef GR_CUDA_HISTOGRAM_SAMPLES_CUH
#define GR_CUDA_HISTOGRAM_SAMPLES_CUH

#include <cuda_runtime.h>
#include "kernels/cuda/formula/hole.cuh"
#include "kernels/cuda/histogram/binning.cuh"
#include "kernels/cuda/launch.h"

#define GR_HIGH (1u << 24) /* one, in the high 8 bits of a word */

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
  int32_t skips_nan;        /* which are no tail then */
  int32_t inputs_stable;        /* no launch that may still run writes what this one reads */
  int32_t parts, part_bins; /* block b counts bins of part b % parts in the data of unit b / parts */
  int32_t words;            /* of a block's counters; wide: fewer than part_bins */
  int32_t shift;            /* log2 of the copies of each counter */
  uint32_t swizzle;          /* mask of gr_swizzle */
  uint32_t slots;            /* of the cache in front of counters in L2 */
  uint64_t *area;           /* the counter area; few bins: blocks hand over there */
  uint32_t *rows;           /* else every block writes a row (gr_row) */
  int64_t *counts, *tails;
} gr_hist;

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
  /* Element k as what tells whether it is NaN. */
  __device__ __forceinline__ auto value(int k) const {
    if constexpr (sizeof(T) == 8) return get(k);
    else return gr_as_f32(get(k));
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

/* One more if so. In assembly, as the compiler would add first and then choose. */
static __device__ __forceinline__ void gr_count_if(bool so, uint32_t &n) {
  asm("{.reg .pred %%p;\n\tsetp.ne.s32 %%p, %1, 0;\n\t@%%p add.u32 %0, %0, 1;}" : "+r"(n) : "r"((int)so));
}

/*
** The samples of one load: quick answers first, then the few that were not sure, so that their code exists once. later:
** those are left to the caller; bit k: sample k is one.
*/
template <typename T, class Quick, bool later = false, class Sink>
static __device__ __forceinline__ uint32_t gr_count_pack(const gr_hist &a, const uint32_t *table, const gr_pack<T> &p,
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
  if constexpr (Sink::spreads) {
    sink.hit_all(bin);
#pragma unroll
    for (int k = 0; k < count; k++) most = max(most, bin[k]);
  } else {
#pragma unroll
    for (int k = 0; k < count; k++) most = max(most, sink.template hit<Quick::sure>(bin[k]));
  }
  if constexpr (!Quick::sure || Sink::wide) {
    if (most < sink.limit) return 0;
    if constexpr (Sink::wide) gr_count_high<count>(a, sink, bin);
    bool open[count], any = false;
#pragma unroll
    for (int k = 0; k < count; k++) {
      open[k] = bin[k] >= (uint32_t)a.bins.bins;
      if constexpr (!gr_is_whole<T>::yes) { /* many may be NaN, which need no look at edges */
        const auto x = p.value(k);
        const bool nan = x != x;
        gr_count_if(nan, sink.tails[2]);
        open[k] = open[k] && !nan;
      }
      any = any || open[k];
    }
    if (!any) return 0;
#pragma unroll
    for (int k = 0; k < count; k++) left |= (uint32_t)open[k] << k;
    if constexpr (later) return left;
    else
      for (; left; left &= left - 1) gr_count_one<Quick>(a, table, p.get(__ffs((int)left) - 1), sink);
  }
  return 0;
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
** All samples of this block's unit that a formula gives, from `at` on as gr_count_all has them: what the next ones are
** made of is on its way while these are counted. What quick answers leave open of several loads is settled by one loop,
** which is most of what there is to compile.
*/
template <typename T, class Quick, int deep, class Sink>
static __device__ __forceinline__ void gr_count_formula(const gr_hist &a, const uint32_t *table, Sink &sink,
                                                        const char *at, int64_t left, int64_t step, uint32_t apart) {
  constexpr int count = gr_pack<T>::count;
  static_assert(deep * count <= 32, "a bit for each sample");
  const char *place[deep];
  uint32_t there;
  auto look = [&] {
    there = 0;
#pragma unroll
    for (int u = 0; u < deep; u++) {
      const bool is_there = left > (int64_t)u * apart;
      place[u] = is_there ? at + (int64_t)u * apart : nullptr;
      there |= (uint32_t)is_there << u;
    }
    gr_formula_ahead<deep>(place);
  };
  look();
#pragma unroll 1
  while (left > 0) {
    uint4 w[deep];
    uint32_t open = 0;
    const uint32_t here = there;
    gr_formula_apart<deep>(w, place);
    at += step;
    left -= step;
    look();
#pragma unroll
    for (int u = 0; u < deep; u++) {
      const gr_pack<T> p = {{w[u].x, w[u].y, w[u].z, w[u].w}};
      if (here >> u & 1) open |= gr_count_pack<T, Quick, true>(a, table, p, sink) << u * count;
    }
#pragma unroll 1
    for (; open; open &= open - 1) {
      const int k = __ffs((int)open) - 1;
      uint4 x = w[0];
#pragma unroll
      for (int u = 1; u < deep; u++)
        if (k >= u * count) x = w[u];
      gr_count_one<Quick>(a, table, gr_pack<T>{{x.x, x.y, x.z, x.w}}.get(k % count), sink);
    }
  }
}

/*
** All samples of this block's unit, `deep` loads at once. Counters are made ready while the first are on their way.
** Units take turns, or one piece each, which ends more evenly but reads more slowly: right where counting is what takes
** the time. A sink that spreads has the loads of a thread as far apart as all units reach, so that of few samples every
** unit has some.
*/
template <typename T, class Quick, int deep, bool formula = false, class Sink, class Ready>
static __device__ __forceinline__ void gr_count_all(const gr_hist &a, const uint32_t *table, Sink &sink, Ready ready) {
  constexpr bool pieces = gr_histogram_tuning::pieces<(int)sizeof(T)>;
  uint32_t threads = blockDim.x;
  uint32_t unit = blockIdx.x / (uint32_t)a.parts, units = gridDim.x / (uint32_t)a.parts;
  uint32_t apart = threads * (Sink::spreads && !pieces ? units : 1) * 16;
  int64_t turn = (int64_t)deep * threads, step = turn * (pieces ? 1 : units) * 16, end = a.vectors;
  if (pieces) {
    turn = ((a.vectors + units - 1) / units + 7) & ~(int64_t)7; /* whole lines */
    end = min((unit + 1) * turn, a.vectors);
  }
  int64_t first = (unit * (Sink::spreads && !pieces ? threads : turn) + threadIdx.x) * 16, left = end * 16 - first;
  const char *at = a.data + a.head * (int64_t)sizeof(T) + first;
  if constexpr (formula) {
    gr_formula_hold<deep>();
    ready();
    gr_count_formula<T, Quick, deep>(a, table, sink, at, left, step, apart);
    const int64_t tail = a.vectors * gr_pack<T>::count + threadIdx.x;
    if (unit == 0 && tail < a.n) {
      uint4 w, none;
      gr_formula_word<1>(w, none, (const char *)(tail * (int64_t)sizeof(T)), 1);
      gr_count_one<Quick>(a, table, gr_pack<T>{{w.x, w.y, w.z, w.w}}.get(0), sink);
    }
    return;
  }
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

#endif
