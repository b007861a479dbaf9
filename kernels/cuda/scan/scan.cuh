/*
** Running sums, products, minima and maxima in one launch. Tiles of 4096 elements are taken in order; each publishes
** what it adds up to as soon as it has been read, and learns what lies before it from the totals of the 31 tiles,
** 31 groups of tiles and one superblock before it: always the same ones, so that the order of additions depends on
** positions alone (docs/numerics.md: the scan). Kernels: up to a superblock each tile has a block (scan/short.cuh);
** beyond that blocks stay and pass tiles through a ring in shared memory (scan/ring.cuh). Of many vectors all tiles go
** in one launch, and those that have no more than one tile share blocks (scan/many.cuh), as columns do that lie side by
** side (scan/down.cuh); few columns go through a ring together (scan/woven.cuh).
*/
#ifndef GR_CUDA_SCAN_SCAN_CUH
#define GR_CUDA_SCAN_SCAN_CUH

#include <cuda_runtime.h>
#include "kernels/cuda/thread/element.cuh"
#include "kernels/cuda/launch.h"
#include "kernels/cuda/grid/dependent_launch.cuh"
#include "kernels/cuda/grid/publish.cuh"
#include "kernels/cuda/scan/tuning.h"

#define GR_SCAN_ROWS 16      /* a tile */
#define GR_SCAN_DOWN_ROW 256 /* elements of a row of a tile that a warp goes down: 32 lanes of 8 */
#define GR_SCAN_DOWN_BYTES(size) (GR_SCAN_DOWN_ROW * 32 * (size)) /* what a block has of 32 columns */
#define GR_SCAN_DOWN_BESIDE 5120 /* bytes of shared memory that it has besides, at most */

/* Rows of a column, by which totals of it lie in scratch memory. */
#define GR_SCAN_DOWN_ROWS(n) (((n) + GR_SCAN_DOWN_ROW - 1) / GR_SCAN_DOWN_ROW)

using Tuning = gr_scan_tuning;
static_assert(GR_SCAN_ROWS == 2 * Tuning::writers && GR_SCAN_ROWS == 4 * Tuning::ring_adders,
              "a writer has two rows, and rows are added up by fours");
static_assert(Tuning::short_tiles <= GR_SCAN_TILES, "a block adds up groups of its superblock alone");

typedef struct gr_scan {
  const char *a;
  char *out;
  int64_t a_stride, out_stride; /* in logical order: negative when the scan runs backwards */
  int64_t n;
  int64_t count, a_step, out_step; /* vectors, and from one to the next; several have up to short_tiles tiles each */
  int32_t exclusive, slots;
  int32_t lanes; /* of each of many vectors (scan/many.cuh): a power of two; or what a thread has several of: short
                    vectors; or rows of a piece (scan/woven.cuh) */
  int32_t words_in, words_out; /* words of 16 bytes of each of them; 0: they are not read, or written, so */
  int32_t down;  /* neighbouring columns, which a warp goes down (scan/down.cuh) */
  int32_t woven; /* few columns without gaps, whose pieces go through a ring (scan/woven.cuh): a and out are then all
                    elements in order of memory, and strides from one to the next */
  int32_t apart; /* of those, results that are longer than elements have a place of their own in a block */
  int32_t inputs_stable; /* no launch that may still run writes what this one reads */
  int64_t flip; /* of keys: complements them for max, where the smallest is looked for too; of signed integers; sums and
                   products of bf16: they are */
  unsigned *next; /* the next tile to take, and how many blocks have ended */
  /* published totals; of several vectors, one after the other, those of tiles alone; of columns that are woven or gone
     down those of pieces of tiles, of tiles and of groups (scan/carry.cuh), and all that lies before each group */
  gr_halves *tile, *group, *super, *before;
  gr_tag tag;
  uint32_t tiles; /* of a vector; of woven columns pieces of all of them */
} gr_scan;

/*
** ---- what is scanned: values of up to 8 bytes, how elements become values and values results ----
** A lane has `each` neighbours, 8 where they are part of the order of additions; of narrow keys 32 bytes, two to a
** value.
*/

/* Of a lane: values that follow one another. */
template <typename V> struct gr_scan_plain {
  static constexpr bool ordered = false; /* whether the order of joins matters */
  static constexpr bool formula = false; /* whether elements come from a formula */
  static constexpr int each = 8, count = each;
  static __device__ __forceinline__ V fold(V last) { return last; }
  static __device__ __forceinline__ V broadcast(V base, V) { return base; }
};

/* Elements of bf16 are scanned by f16's kernels, unless these are for one type alone: `flip` says that they are. */
template <gr_dtype D, bool multiplies, bool alone = false> struct gr_scan_float : gr_scan_plain<double> {
  static constexpr bool ordered = true;
  using Value = double;
  using In = gr_type<D>;
  using Out = std::conditional_t<D == GR_F64, double, float>;
  static __device__ __forceinline__ Value identity() { return multiplies ? 1.0 : -0.0; }
  static __device__ __forceinline__ Value join(Value x, Value y) { return multiplies ? x * y : x + y; }
  static __device__ __forceinline__ void values(const In (&x)[8], Value (&v)[8], int64_t flip) {
    if constexpr (D == GR_F16 && !alone) {
      float f[8];
      gr_widen_16bit(f, x, flip != 0);
#pragma unroll
      for (int k = 0; k < 8; k++) v[k] = (double)f[k];
    } else {
#pragma unroll
      for (int k = 0; k < 8; k++) v[k] = gr_to_f64<D>(x[k]);
    }
  }
  static __device__ __forceinline__ void results(const Value (&v)[8], Out (&x)[8], int64_t) {
    bool nan = false; /* as gr_f64_to_f32: NaN when v is; a test for two */
#pragma unroll
    for (int k = 0; k < 8; k++) x[k] = (Out)v[k];
#pragma unroll
    for (int k = 0; k < 8; k += 2) nan |= !(x[k] >= x[k + 1] || x[k] < x[k + 1]);
    if (!nan) return;
#pragma unroll
    for (int k = 0; k < 8; k++)
      if (x[k] != x[k]) x[k] = D == GR_F64 ? (Out)gr_nan() : (Out)gr_from_bits32(0x7fc00000u);
  }
};

/* Signed integers are scanned as unsigned ones of their size: `flip` is then their sign's bit, of 4 bytes all bits. */
template <gr_dtype D, bool multiplies> struct gr_scan_integer : gr_scan_plain<int64_t> {
  using Value = int64_t;
  using In = gr_type<D>;
  using Out = int64_t;
  static __device__ __forceinline__ Value identity() { return multiplies; }
  static __device__ __forceinline__ Value join(Value x, Value y) {
    return (int64_t)(multiplies ? (uint64_t)x * (uint64_t)y : (uint64_t)x + (uint64_t)y);
  }
  static __device__ __forceinline__ void values(const In (&x)[8], Value (&v)[8], int64_t flip) {
#pragma unroll
    for (int k = 0; k < 8; k++) {
      if constexpr (gr_size<D> < 4) v[k] = (int32_t)(x[k] ^ (uint32_t)flip) - (int32_t)flip;
      else if constexpr (gr_size<D> == 4)
        v[k] = (int64_t)((uint64_t)((uint32_t)((int32_t)x[k] >> 31) & (uint32_t)flip) << 32 | x[k]);
      else v[k] = x[k];
    }
  }
  static __device__ __forceinline__ void results(const Value (&v)[8], Out (&x)[8], int64_t) {
#pragma unroll
    for (int k = 0; k < 8; k++) x[k] = v[k];
  }
};

/* The smaller of two floats: NaN if there is one, and -0 before 0. */
static __device__ __forceinline__ float gr_scan_least(float x, float y) {
#if __CUDA_ARCH__ >= 800
  float z;
  asm("min.NaN.f32 %0, %1, %2;" : "=f"(z) : "f"(x), "f"(y));
  return z;
#else
  return x != x || (y == y && gr_key_f32(x) < gr_key_f32(y)) ? x : y;
#endif
}

/*
** The smallest of elements or, of `flip`ped ones, the largest; unsigned ones become signed by it too. f64 goes by keys,
** of which the smallest stands for NaN, which wins over everything.
*/
template <gr_dtype D>
using gr_scan_key = std::conditional_t<D == GR_F32, float, std::conditional_t<gr_size<D> == 8, int64_t, int32_t>>;
template <gr_dtype D> struct gr_scan_order : gr_scan_plain<gr_scan_key<D>> {
  using Value = gr_scan_key<D>;
  using In = gr_type<D>;
  using Out = In;
  static constexpr int64_t nan = INT64_MIN;
  static __device__ __forceinline__ Value identity() {
    if constexpr (D == GR_F32) return gr_from_bits32(0x7f800000u);
    else if constexpr (D == GR_F64) return 0x7ff0000000000000;
    else return sizeof(Value) == 8 ? INT64_MAX : INT32_MAX;
  }
  static __device__ __forceinline__ Value join(Value x, Value y) {
    if constexpr (D == GR_F32) return gr_scan_least(x, y);
    else return y < x ? y : x;
  }
  static __device__ __forceinline__ void values(const In (&x)[8], Value (&v)[8], int64_t flip) {
#pragma unroll
    for (int k = 0; k < 8; k++) {
      if constexpr (D == GR_F32) v[k] = gr_from_bits32(gr_bits32(x[k]) ^ (uint32_t)flip);
      else if constexpr (D == GR_F64) v[k] = x[k] == x[k] ? gr_key_f64(x[k]) ^ flip : nan;
      else v[k] = (Value)x[k] ^ (Value)flip;
    }
  }
  static __device__ __forceinline__ void results(const Value (&v)[8], Out (&x)[8], int64_t flip) {
#pragma unroll
    for (int k = 0; k < 8; k++) {
      if constexpr (D == GR_F32) x[k] = gr_from_bits32(v[k] == v[k] ? gr_bits32(v[k]) ^ (uint32_t)flip : 0x7fc00000u);
      else if constexpr (D == GR_F64)
        x[k] = v[k] == nan ? gr_nan() : gr_from_bits64((uint64_t)gr_key_bits64((uint64_t)(v[k] ^ flip)));
      else x[k] = (Out)(v[k] ^ (Value)flip);
    }
  }
};

/*
** The same of 1 and 2 bytes: a value has the k-th element of a lane's first half and that of its second, side by side,
** a byte twice. Totals stand in both places.
*/
template <gr_dtype D> struct gr_scan_pairs {
  static constexpr bool ordered = false, formula = false;
  using Value = uint32_t;
  using In = gr_type<D>;
  using Out = In;
  static constexpr int each = 32 / gr_size<D>, count = each / 2;
  static __device__ __forceinline__ Value identity() {
    return D == GR_F16 ? 0x7c007c00u : D == GR_BF16 ? 0x7f807f80u : ~0u;
  }
  static __device__ __forceinline__ Value join(Value x, Value y) {
    if constexpr (!gr_floating<D>) {
#if __CUDA_ARCH__ >= 900
      asm("min.u16x2 %0, %0, %1;" : "+r"(x) : "r"(y));
      return x;
#else
      return __vminu2(x, y);
#endif
    } else {
#if __CUDA_ARCH__ >= 800
      if constexpr (D == GR_F16) asm("min.NaN.f16x2 %0, %0, %1;" : "+r"(x) : "r"(y));
      else asm("min.NaN.bf16x2 %0, %0, %1;" : "+r"(x) : "r"(y));
      return x;
#else
      return least(x, y) | least(x >> 16, y >> 16) << 16;
#endif
    }
  }
  static __device__ __forceinline__ Value least(Value x, Value y) {
    In a, b;
    memcpy(&a, &x, 2), memcpy(&b, &y, 2);
    bool first = gr_is_nan<D>(a) || (!gr_is_nan<D>(b) && gr_element<D>::key(a) < gr_element<D>::key(b));
    return (first ? x : y) & 0xffffu;
  }
  static __device__ __forceinline__ Value fold(Value last) { return join(last, __byte_perm(last, 0, 0x1032)); }
  static __device__ __forceinline__ Value broadcast(Value base, Value last) {
    return join(base, __byte_perm(last, identity(), 0x1054)); /* the second half follows the first */
  }
  static __device__ __forceinline__ void values(const In (&x)[each], Value (&v)[count], int64_t flip) {
    uint32_t w[8];
    memcpy(w, x, 32);
#pragma unroll
    for (int k = 0; k < 4; k++) {
      uint32_t a = w[k] ^ (uint32_t)flip, b = w[k + 4] ^ (uint32_t)flip;
      if constexpr (gr_size<D> == 2) {
        v[2 * k] = __byte_perm(a, b, 0x5410);
        v[2 * k + 1] = __byte_perm(a, b, 0x7632);
      } else {
#pragma unroll
        for (int j = 0; j < 4; j++) v[4 * k + j] = __byte_perm(a, b, 0x4400 + 0x1111 * j);
      }
    }
  }
  static __device__ __forceinline__ void results(const Value (&v)[count], Out (&x)[each], int64_t flip) {
    uint32_t w[8];
#pragma unroll
    for (int k = 0; k < 4; k++) {
      uint32_t a = v[k * count / 4], b = v[k * count / 4 + 1];
      if constexpr (gr_size<D> == 1) {
        a = __byte_perm(a, b, 0x6240);
        b = __byte_perm(v[4 * k + 2], v[4 * k + 3], 0x6240);
      }
      w[k] = canonical(__byte_perm(a, b, 0x5410) ^ (uint32_t)flip);
      w[k + 4] = canonical(__byte_perm(a, b, 0x7632) ^ (uint32_t)flip);
    }
    memcpy(x, w, 32);
  }
  /* NaN among two floats is what numerics.h makes it. */
  static __device__ __forceinline__ uint32_t canonical(uint32_t w) {
    if constexpr (!gr_floating<D>) return w;
    constexpr uint32_t most = D == GR_F16 ? 0x03ff03ffu : 0x007f007fu, one = D == GR_F16 ? 0x7e00u : 0x7fc0u;
    uint32_t nans = ((w & 0x7fff7fffu) + most) & 0x80008000u;
    if (nans & 0x8000u) w = (w & 0xffff0000u) | one;
    if (nans >> 16) w = (w & 0xffffu) | one << 16;
    return w;
  }
};

/* ---- within a warp ---- */

/* Which warp this is, so that the compiler knows that all lanes agree. */
static __device__ __forceinline__ int gr_scan_warp() { return __shfl_sync(~0u, threadIdx.x >> 5, 0); }

/*
** Inclusive scans over `lanes` lanes, of `count` values side by side: in each step the upper half of a group adds the
** last of its lower half.
*/
template <class S, int lanes, int count>
static __device__ __forceinline__ void gr_scan_lanes(typename S::Value (&v)[count], int lane) {
#pragma unroll
  for (int h = 1; h < lanes; h *= 2)
#pragma unroll
    for (int r = 0; r < count; r++) {
      typename S::Value last = __shfl_sync(~0u, v[r], h - 1, 2 * h);
      if (lane & h) v[r] = S::join(last, v[r]);
    }
}

/* The same over every `width` lanes where `scanned` are scanned already: powers of two that are known when it runs. */
template <class S, int count>
static __device__ __forceinline__ void gr_scan_lanes_by(typename S::Value (&v)[count], int scanned, int width,
                                                        int lane) {
#pragma unroll 1
  for (int h = scanned; h < width; h *= 2)
#pragma unroll
    for (int r = 0; r < count; r++) {
      typename S::Value last = __shfl_sync(~0u, v[r], h - 1, 2 * h);
      if (lane & h) v[r] = S::join(last, v[r]);
    }
}

/* Of a lane's own values. Where the order does not matter it is the one with the fewest operations. */
template <class S, int each> static __device__ __forceinline__ void gr_scan_own(typename S::Value (&v)[each]) {
  if constexpr (!S::ordered) {
#pragma unroll
    for (int k = 1; k < each; k++) v[k] = S::join(v[k - 1], v[k]);
  } else {
#pragma unroll
    for (int h = 1; h < each; h *= 2)
#pragma unroll
      for (int k = 0; k < each; k++)
        if (k & h) v[k] = S::join(v[(k & ~(2 * h - 1)) + h - 1], v[k]);
  }
}

/* What that leaves in the last; v is used up. */
template <class S, int each>
static __device__ __forceinline__ typename S::Value gr_scan_total(typename S::Value (&v)[each]) {
#pragma unroll
  for (int h = 1; h < each; h *= 2)
#pragma unroll
    for (int k = 0; k < each; k += 2 * h) v[k] = S::join(v[k], v[k + h]);
  return S::fold(v[0]);
}

/*
** What scans over 32 lanes leave in the last one, of four values side by side: v[0] is one of the four results, and
** which is said. Neighbours share the values out first, then pairs of lanes; they join in the order of a scan.
*/
template <class S> static __device__ __forceinline__ int gr_scan_totals(typename S::Value (&v)[4], int lane) {
#pragma unroll
  for (int h = 1; h < 4; h *= 2)
#pragma unroll
    for (int r = 0; r < 2 / h; r++) {
      typename S::Value low = v[r], high = v[r + 2 / h];
      v[r] = S::join(lane & h ? high : low, __shfl_xor_sync(~0u, lane & h ? low : high, h));
    }
#pragma unroll
  for (int h = 4; h < 32; h *= 2) v[0] = S::join(v[0], __shfl_xor_sync(~0u, v[0], h));
  return (lane & 1) * 2 + (lane >> 1 & 1);
}

/* The value before this lane's. */
template <class S> static __device__ __forceinline__ typename S::Value gr_scan_before(typename S::Value v, int lane) {
  typename S::Value before = __shfl_up_sync(~0u, v, 1);
  return lane == 0 ? S::identity() : before;
}

/* The dtype whose kernels serve t: its own of floats, of integers one for each size. */
static inline gr_dtype gr_scan_serving(gr_dtype t) { return gr_is_float(t) ? t : gr_bits_of_size(gr_size_of(t)); }

/* Where a scan runs; asked: nothing is launched, this is told how it would be. */
struct gr_scan_place {
  const gr_cuda_chip *chip;
  cudaStream_t stream;
  gr_explained *asked;
  const gr_cuda_formula *formula; /* NULL: elements are in memory */
};
/* Of formulas: the skeletons in kernels/cuda/formula/skeletons_scan.cu, by what src/backend/jit calls them. */
enum gr_scan_skeleton { GR_SCAN_NO_SKELETON = -1, GR_SCAN_SUM, GR_SCAN_PROD, GR_SCAN_ORDER, GR_SCAN_LONG };
cudaError_t gr_scan_floats(gr_dtype, int multiplies, const gr_scan *, const gr_scan_place &);
cudaError_t gr_scan_integers(gr_dtype, int multiplies, const gr_scan *, const gr_scan_place &);
cudaError_t gr_scan_orders(gr_dtype, const gr_scan *, const gr_scan_place &);

#endif
