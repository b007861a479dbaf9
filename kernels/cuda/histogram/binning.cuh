/*
** Which bin a sample belongs to, exactly as the edges say. Each way has a quick answer that says whether it is
** sure; near an edge it is not, and then the edges themselves decide.
*/
#ifndef GR_CUDA_HISTOGRAM_BINNING_CUH
#define GR_CUDA_HISTOGRAM_BINNING_CUH

#include <cuda_fp16.h>
#include "kernels/cuda/histogram/tuning.h"
#include "kernels/numerics/numerics.h"

enum { GR_BELOW = -1, GR_ABOVE = -2, GR_IS_NAN = -3 };

/* What a kernel knows of a job; everything here was checked and derived on the host (bins_of in
   histogram/histogram.cu). */
typedef struct gr_bins {
  const double *edges;
  const int64_t *limits; /* for integer samples; else NULL */
  int32_t bins, modulo, guess;
  int32_t exact; /* no sample's f32 estimate is nearer to an edge than its error */
  double first, per_bin;
  double quick_first, quick_half; /* the f64 estimate: where bin 0 starts, 0.5 - its error in bins */
  float quick_first_f, per_bin_f, quick_half_f; /* the f32 estimate, likewise */
  float quick_add_f;                            /* -quick_first * per_bin */
  float cell_first, per_width; /* the table over uneven edges: where it starts, 1 / its width */
  uint64_t magic; /* 2^64 / bins + 1 */
} gr_bins;

/* ---- samples as numbers ---- */

template <typename T> static __device__ __forceinline__ float gr_as_f32(T x) { return (float)x; }
template <> __device__ __forceinline__ float gr_as_f32<gr_bf16>(gr_bf16 x) { return gr_bf16_to_f32(x); }
template <> __device__ __forceinline__ float gr_as_f32<gr_f16>(gr_f16 x) {
  float y;
  asm("cvt.f32.f16 %0, %1;" : "=f"(y) : "h"(x.bits));
  return y;
}
template <typename T> static __device__ __forceinline__ double gr_as_f64(T x) { return (double)x; }
template <> __device__ __forceinline__ double gr_as_f64<gr_bf16>(gr_bf16 x) { return (double)gr_as_f32(x); }
template <> __device__ __forceinline__ double gr_as_f64<gr_f16>(gr_f16 x) { return (double)gr_as_f32(x); }

template <typename T> struct gr_is_whole { static const bool yes = true; };
template <> struct gr_is_whole<gr_f16> { static const bool yes = false; };
template <> struct gr_is_whole<gr_bf16> { static const bool yes = false; };
template <> struct gr_is_whole<float> { static const bool yes = false; };
template <> struct gr_is_whole<double> { static const bool yes = false; };

/* ---- the exact answer ---- */

/* The largest k in [low, high] with at[k] <= x, given at[low] <= x. */
template <typename V> static __device__ __forceinline__ int32_t gr_search(const V *at, V x, int32_t low, int32_t high) {
  while (low < high) {
    int32_t middle = (int32_t)(((uint32_t)low + (uint32_t)high + 1) >> 1);
    if (at[middle] <= x) low = middle;
    else high = middle - 1;
  }
  return low;
}

template <typename V>
static __device__ __forceinline__ int32_t gr_bin_by_edges(const gr_bins &b, const V *at, V x, double estimate) {
  int32_t k, top = b.bins - 1;
  if (x != x) return GR_IS_NAN;
  if (x < at[0]) return GR_BELOW;
  if (x > at[b.bins]) return GR_ABOVE;
  if (!b.guess) return gr_search(at, x, 0, top);
  k = estimate > 0 ? estimate < (double)top ? (int32_t)estimate : top : 0;
  while (k > 0 && x < at[k]) k--;
  while (k < top && x >= at[k + 1]) k++;
  return k;
}

template <typename T> static __device__ __forceinline__ int32_t gr_modulo(const gr_bins &b, T x) {
  if ((b.bins & (b.bins - 1)) == 0) return (int32_t)((uint32_t)x & (uint32_t)(b.bins - 1));
  if (sizeof(T) == 8) {
    int64_t r = (int64_t)x % b.bins;
    return (int32_t)(r < 0 ? r + b.bins : r);
  }
  /* Remainder of the absolute value by one reciprocal (Lemire, Kaser, Kurz 2019). */
  bool negative = (T)-1 < (T)0 && x < (T)0;
  uint32_t u = negative ? 0u - (uint32_t)x : (uint32_t)x;
  uint32_t r = (uint32_t)__umul64hi(b.magic * u, (uint64_t)b.bins);
  return (int32_t)(negative && r ? (uint32_t)b.bins - r : r);
}

template <bool Whole> struct gr_by_edges { /* integers */
  template <typename T> static __device__ __forceinline__ int32_t bin(const gr_bins &b, T x) {
    return gr_bin_by_edges<int64_t>(b, b.limits, (int64_t)x, ((double)x - b.first) * b.per_bin);
  }
  template <typename T> static __device__ __forceinline__ bool reaches(const gr_bins &b, T x, uint32_t edge) {
    return (int64_t)x >= b.limits[edge];
  }
  template <typename T> static __device__ __forceinline__ bool passes(const gr_bins &b, T x) {
    return (int64_t)x > b.limits[b.bins];
  }
};
template <> struct gr_by_edges<false> {
  template <typename T> static __device__ __forceinline__ int32_t bin(const gr_bins &b, T x) {
    double v = gr_as_f64(x);
    return gr_bin_by_edges<double>(b, b.edges, v, (v - b.first) * b.per_bin);
  }
  template <typename T> static __device__ __forceinline__ bool reaches(const gr_bins &b, T x, uint32_t edge) {
    return gr_as_f64(x) >= b.edges[edge];
  }
  template <typename T> static __device__ __forceinline__ bool passes(const gr_bins &b, T x) {
    return gr_as_f64(x) > b.edges[b.bins];
  }
};
template <typename T> static __device__ __forceinline__ int32_t gr_bin_exact(const gr_bins &b, T x) {
  return gr_by_edges<gr_is_whole<T>::yes>::bin(b, x);
}

/* The same for a sample nearer to this edge than to any other: one comparison. Below edge 0 lies GR_BELOW. */
template <typename T> static __device__ __forceinline__ int32_t gr_by_edge(const gr_bins &b, T x, uint32_t edge) {
  using E = gr_by_edges<gr_is_whole<T>::yes>;
  if (edge < (uint32_t)b.bins) return (int32_t)edge - !E::reaches(b, x, edge);
  if (edge == (uint32_t)b.bins) return E::passes(b, x) ? GR_ABOVE : b.bins - 1;
  return gr_bin_exact(b, x);
}

/* ---- quick answers ---- */

#define GR_UNSURE 0xffffffffu

/*
** quick::bin gives a bin, or what is none where it is not sure; it has no branches. Of the sample it gets
** what suits it, x or its value in f32. quick::settle answers when it was not sure, by the edges; quick::sure: never.
**
** Even bins, estimated in f32 or f64. In f32 the estimate and its sum with 1.5 * 2^23 are rounded down, which leaves
** the bin in the low bits: exactly, where the factor and the summand are exact, as rounding down does not pass a whole
** number. Else the fraction tells whether an edge may lie within the estimate's error; if so, that edge decides. In
** f64 the estimate less 1/2 is rounded to nearest by adding 1.5 * 2^52.
*/
template <bool in_f32> struct gr_quick_even;
template <> struct gr_quick_even<true> {
  static const bool by_value = false, sure = false, may_be_exact = true;
  template <typename T>
  static __device__ __forceinline__ uint32_t bin(const gr_bins &b, const uint32_t *, T, float x) {
    float t = __fmaf_rd(x, b.per_bin_f, b.quick_add_f), m = __fadd_rd(t, 12582912.0f);
    bool sure = fabsf((t - (m - 12582912.0f)) - 0.5f) < b.quick_half_f;
    return sure ? __float_as_uint(m) - 0x4b400000u : GR_UNSURE;
  }
  /* Where the estimate is never too near an edge (gr_bins.exact). */
  static __device__ __forceinline__ uint32_t exact_bin(const gr_bins &b, float x) {
    return __float_as_uint(__fadd_rd(__fmaf_rd(x, b.per_bin_f, b.quick_add_f), 12582912.0f)) - 0x4b400000u;
  }
  template <typename T> static __device__ __forceinline__ int32_t settle(const gr_bins &b, const uint32_t *, T x) {
    float t = (gr_as_f32(x) - b.quick_first_f) * b.per_bin_f;
    return gr_by_edge(b, x, __float_as_uint(t + 12582912.0f) - 0x4b400000u);
  }
};
template <> struct gr_quick_even<false> {
  static const bool by_value = false, sure = false, may_be_exact = false;
  template <typename T>
  static __device__ __forceinline__ uint32_t bin(const gr_bins &b, const uint32_t *, T x, float) {
    double t = __fma_rn(gr_as_f64(x) - b.quick_first, b.per_bin, -0.5), m = t + 6755399441055744.0;
    bool sure = (fabs(t - (m - 6755399441055744.0)) < b.quick_half) & (__double2hiint(m) == 0x43380000);
    return sure ? (uint32_t)__double2loint(m) : GR_UNSURE;
  }
  template <typename T> static __device__ __forceinline__ int32_t settle(const gr_bins &b, const uint32_t *, T x) {
    double m = (gr_as_f64(x) - b.quick_first) * b.per_bin + 6755399441055744.0;
    bool near = __double2hiint(m) == 0x43380000 && b.quick_half > 0.3;
    return near ? gr_by_edge(b, x, (uint32_t)__double2loint(m)) : gr_bin_exact(b, x);
  }
};
struct gr_quick_modulo {
  static const bool by_value = false, sure = true, may_be_exact = false;
  template <typename T>
  static __device__ __forceinline__ uint32_t bin(const gr_bins &b, const uint32_t *, T x, float) {
    return (uint32_t)gr_modulo(b, x);
  }
  template <typename T> static __device__ __forceinline__ int32_t settle(const gr_bins &b, const uint32_t *, T x) {
    return gr_modulo(b, x);
  }
};
struct gr_quick_value { /* values of 8 and 16 bits stand for themselves */
  static const bool by_value = true, sure = true, may_be_exact = false;
  template <typename T>
  static __device__ __forceinline__ uint32_t bin(const gr_bins &, const uint32_t *, T x, float) {
    return (uint32_t)x;
  }
  template <typename T> static __device__ __forceinline__ int32_t settle(const gr_bins &, const uint32_t *, T x) {
    return (int32_t)x;
  }
};
struct gr_quick_known : gr_quick_value { /* samples are bins (modulo 2 in jobs.h) */
  static const bool by_value = false;
};
struct gr_quick_none { /* always by the edges */
  static const bool by_value = false, sure = false, may_be_exact = false;
  template <typename T>
  static __device__ __forceinline__ uint32_t bin(const gr_bins &, const uint32_t *, T, float) {
    return GR_UNSURE;
  }
  template <typename T> static __device__ __forceinline__ int32_t settle(const gr_bins &b, const uint32_t *, T x) {
    if constexpr (gr_is_whole<T>::yes && sizeof(T) == 2)
      if (b.modulo) return gr_modulo(b, x);
    return gr_bin_exact(b, x);
  }
};

/*
** Uneven bins, through a table of equal cells over the range. A sample's cell never falls when the sample
** grows (f32 subtraction and multiplication round monotonically), so the bins of a cell are known from the
** cells of the edges: its first bin and its last one << 16; GR_EDGE_CELL: outside or at an end. For samples of
** 4 bytes the table then gets, beside the first bin, where the next one starts as a sample: a cut.
**   4 bytes  bin, cut; or 0xffff0000 | first bin, last bin
**   8 bytes  first bin | last bin << 16
*/
constexpr int GR_CELLS = gr_histogram_tuning::table_cells;
#define GR_EDGE_CELL 0xffff0000u
template <typename T> constexpr int gr_cell_words = sizeof(T) == 4 ? 2 : 1;

/* The cell plus 0x4b400000, by adding 1.5 * 2^23. NaN gives cell 0, which is an edge cell. */
static __device__ __forceinline__ uint32_t gr_cell_bits(const gr_bins &b, float x) {
  float t = __saturatef((x - b.cell_first) * b.per_width);
  return __float_as_uint(__fmaf_rd(t, (float)(GR_CELLS - 1), 12582912.0f));
}
template <typename T> static __device__ __forceinline__ uint32_t gr_cell(const gr_bins &b, T x) {
  return gr_cell_bits(b, gr_as_f32(x)) - 0x4b400000u;
}

/* How samples compare with cuts: floats reach them, integers pass them. `never`: what no sample does. */
template <typename T> struct gr_cuts { /* integers of 2 and 4 bytes */
  static constexpr int64_t lowest = (T)-1 < (T)0 ? -((int64_t)1 << (sizeof(T) * 8 - 1)) : 0;
  static constexpr int64_t highest = lowest + ((int64_t)1 << sizeof(T) * 8) - 1;
  static __device__ __forceinline__ uint32_t never() { return (uint32_t)(uint64_t)highest; }
  static __device__ __forceinline__ bool always(const gr_bins &b, uint32_t edge) {
    return b.limits[edge] <= lowest;
  }
  static __device__ __forceinline__ uint32_t at(const gr_bins &b, uint32_t edge) {
    return b.limits[edge] > highest ? never() : (uint32_t)(b.limits[edge] - 1);
  }
  static __device__ __forceinline__ bool over(T x, float, uint32_t cut) { return x > (T)cut; }
};
struct gr_cuts_of_floats {
  static __device__ __forceinline__ bool always(const gr_bins &, uint32_t) { return false; }
  /* The smallest f32 that is not below the edge. */
  static __device__ __forceinline__ float up(const gr_bins &b, uint32_t edge) {
    return __double2float_ru(b.edges[edge]);
  }
};
template <> struct gr_cuts<float> : gr_cuts_of_floats {
  static __device__ __forceinline__ uint32_t never() { return 0x7fc00000u; }
  static __device__ __forceinline__ uint32_t at(const gr_bins &b, uint32_t edge) {
    return __float_as_uint(up(b, edge));
  }
  static __device__ __forceinline__ bool over(float, float x, uint32_t cut) { return x >= __uint_as_float(cut); }
};
struct gr_quick_table {
  static const bool by_value = false, sure = false, may_be_exact = false;
  template <typename T>
  static __device__ __forceinline__ uint32_t bin(const gr_bins &b, const uint32_t *table, T x, float f) {
    uint32_t base = (uint32_t)__cvta_generic_to_shared(table) - 0x4b400000u * 4 * gr_cell_words<T>;
    uint32_t at = base + gr_cell_bits(b, f) * 4 * gr_cell_words<T>;
    if constexpr (sizeof(T) == 4) {
      uint2 cell;
      asm volatile("ld.shared.v2.u32 {%0, %1}, [%2];" : "=r"(cell.x), "=r"(cell.y) : "r"(at));
      return cell.x < 0x10000u ? cell.x + gr_cuts<T>::over(x, f, cell.y) : GR_UNSURE;
    } else {
      uint32_t cell;
      asm volatile("ld.shared.u32 %0, [%1];" : "=r"(cell) : "r"(at));
      return cell >> 16 == (cell & 0xffffu) ? cell & 0xffffu : GR_UNSURE;
    }
  }
  template <typename T>
  static __device__ __forceinline__ int32_t settle(const gr_bins &b, const uint32_t *table, T x) {
    uint32_t low = 0, high = 0xffffu;
    if constexpr (sizeof(T) == 4) {
      uint2 cell = ((const uint2 *)table)[gr_cell(b, x)];
      if (cell.x < 0x10000u) return (int32_t)(cell.x + gr_cuts<T>::over(x, gr_as_f32(x), cell.y));
      low = cell.x & 0xffffu;
      high = cell.y;
    } else if constexpr (sizeof(T) == 8) {
      uint32_t cell = table[gr_cell(b, x)];
      low = cell & 0xffffu;
      high = cell >> 16;
    }
    if (high == 0xffffu) return gr_bin_exact(b, x);
    while (low < high) {
      uint32_t middle = (low + high + 1) >> 1;
      if (gr_by_edges<gr_is_whole<T>::yes>::reaches(b, x, middle)) low = middle;
      else high = middle - 1;
    }
    return (int32_t)low;
  }
};

/* First and last bin of a cell become a bin and a cut. */
template <typename T> static __device__ __forceinline__ void gr_cut_cell(const gr_bins &b, uint32_t *cell) {
  uint32_t low = *cell & 0xffffu, high = *cell >> 16, cut = gr_cuts<T>::never();
  bool known = high - low <= 1u && high != 0xffffu;
  if (known && high != low) {
    if (gr_cuts<T>::always(b, high)) low = high;
    else cut = gr_cuts<T>::at(b, high);
  }
  cell[0] = known ? low : 0xffff0000u | low;
  cell[1] = known ? cut : high;
}

/* All threads of a block fill the table; a barrier must follow. */
template <typename T> static __device__ void gr_fill_table(const gr_bins &b, uint32_t *table) {
  const int words = gr_cell_words<T>;
  uint16_t *half = (uint16_t *)table;
  int32_t warp = (int32_t)(threadIdx.x >> 5), warps = (int32_t)(blockDim.x >> 5), lane = (int32_t)(threadIdx.x & 31);
  for (int32_t c = (int32_t)threadIdx.x; c < GR_CELLS; c += (int32_t)blockDim.x) table[c * words] = GR_EDGE_CELL;
  __syncthreads();
  for (int32_t k = warp; k < b.bins; k += warps) {
    int32_t from = (int32_t)gr_cell(b, b.edges[k]), to = (int32_t)gr_cell(b, b.edges[k + 1]);
    for (int32_t c = from + 1 + lane; c < to; c += 32) table[c * words] = (uint32_t)k | (uint32_t)k << 16;
    if (lane == 0 && k > 0) {
      if ((int32_t)gr_cell(b, b.edges[k - 1]) != from) half[2 * words * from] = (uint16_t)(k - 1);
      if (to != from) half[2 * words * from + 1] = (uint16_t)k;
    }
  }
  __syncthreads();
  if (threadIdx.x == 0)
    table[gr_cell(b, b.edges[0]) * words] = table[gr_cell(b, b.edges[b.bins]) * words] = GR_EDGE_CELL;
  if constexpr (sizeof(T) == 4) {
    __syncthreads();
    for (int32_t c = (int32_t)threadIdx.x; c < GR_CELLS; c += (int32_t)blockDim.x) gr_cut_cell<T>(b, table + c * words);
  }
}

#endif
