/* Reducers that compare: the smallest and the largest element, and where the first of the largest is. */
#ifndef GR_CUDA_THREAD_EXTREMES_CUH
#define GR_CUDA_THREAD_EXTREMES_CUH

#include "kernels/cuda/thread/reducer.cuh"

/* Keys in the smallest integer that holds them. */
template <gr_dtype D>
using gr_key_type = std::conditional_t<gr_size<D> == 8, int64_t, std::conditional_t<D == GR_U32, uint32_t, int32_t>>;
template <class K>
__device__ __forceinline__ constexpr K gr_lowest() {
  return std::is_signed_v<K> ? (K)((K)1 << (sizeof(K) * 8 - 1)) : (K)0;
}
template <class K>
__device__ __forceinline__ constexpr K gr_highest() {
  return (K)~gr_lowest<K>();
}

/*
** The larger or the smaller of the elements of two words, place by place: one of 4 bytes, two of 2 bytes, or two bytes
** in the upper halves of 16 bits. Floats are compared as floats: +0 is above -0, and a NaN gives the canonical one; or,
** without nan, it gives way to what is none. Devices that have no instruction for it compare keys.
*/
template <gr_dtype D, bool larger>
__device__ __forceinline__ uint32_t gr_better_by_key(uint32_t a, uint32_t b) {
  constexpr int bits = gr_size<D> * 8;
  constexpr uint32_t own = bits == 32 ? ~0u : 0xffffu, quiet = own >> 1;
  uint32_t r = 0;
#pragma unroll
  for (int shift = 0; shift < 32; shift += bits) {
    uint32_t u = a >> shift & own, v = b >> shift & own;
    gr_type<D> x, y;
    memcpy(&x, &u, sizeof x);
    memcpy(&y, &v, sizeof y);
    bool first = (gr_element<D>::key(x) > gr_element<D>::key(y)) == larger;
    r |= (gr_is_nan<D>(x) || gr_is_nan<D>(y) ? quiet : first ? u : v) << shift;
  }
  return r;
}
template <gr_dtype D, bool larger, bool nan = true>
__device__ __forceinline__ uint32_t gr_better(uint32_t a, uint32_t b) {
#if __CUDA_ARCH__ >= 800
#define GR_BETTER(type)                                                             \
  if constexpr (larger && nan) asm("max.NaN." type " %0, %0, %1;" : "+r"(a) : "r"(b)); \
  else if constexpr (larger) asm("max." type " %0, %0, %1;" : "+r"(a) : "r"(b));    \
  else if constexpr (nan) asm("min.NaN." type " %0, %0, %1;" : "+r"(a) : "r"(b));   \
  else asm("min." type " %0, %0, %1;" : "+r"(a) : "r"(b));                          \
  return a;
  if constexpr (D == GR_F16) {
    GR_BETTER("f16x2")
  } else if constexpr (D == GR_BF16) {
    GR_BETTER("bf16x2")
  } else if constexpr (D == GR_F32) {
    float x = __uint_as_float(a), y = __uint_as_float(b);
    if constexpr (larger && nan) asm("max.NaN.f32 %0, %0, %1;" : "+f"(x) : "f"(y));
    else if constexpr (larger) asm("max.f32 %0, %0, %1;" : "+f"(x) : "f"(y));
    else if constexpr (nan) asm("min.NaN.f32 %0, %0, %1;" : "+f"(x) : "f"(y));
    else asm("min.f32 %0, %0, %1;" : "+f"(x) : "f"(y));
    return __float_as_uint(x);
  } else
#undef GR_BETTER
#endif
  if constexpr (gr_floating<D>) return gr_better_by_key<D, larger>(a, b);
  else if constexpr (D == GR_I32) return (uint32_t)(larger ? max((int)a, (int)b) : min((int)a, (int)b));
  else if constexpr (D == GR_U32) return larger ? max(a, b) : min(a, b);
  else if constexpr (D == GR_I16) return larger ? __vmaxs2(a, b) : __vmins2(a, b);
  else return larger ? __vmaxu2(a, b) : __vminu2(a, b);
}
/* The better one of a word's two halves, in both of them; of 4 bytes the word as it is. */
template <gr_dtype D, bool larger, bool nan = true>
__device__ __forceinline__ uint32_t gr_better_half(uint32_t a) {
  return gr_size<D> == 4 ? a : gr_better<D, larger, nan>(a, __funnelshift_r(a, a, 16));
}
/* The key of the element in a word, or in its lower half. */
template <gr_dtype D>
__device__ __forceinline__ gr_key_type<D> gr_key_of(uint32_t a) {
  if constexpr (D == GR_F32) return gr_key_bits32(a);
  else if constexpr (gr_size<D> == 4) return (gr_key_type<D>)a;
  else if constexpr (gr_floating<D>) return (int32_t)gr_key_bits16((uint16_t)a);
  else return D == GR_I16 ? (int32_t)(int16_t)a : (int32_t)(a & 0xffffu);
}

/*
** The smallest and the largest element. Those of up to 4 bytes are compared as they are (signed bytes as unsigned ones,
** with the sign's bit changed), narrow ones two to a word: a byte is the upper half of 16 bits, and what lies below it
** decides nothing. Those of 8 bytes are compared by their keys. nan: a NaN is the result; else it is left out.
*/
template <gr_reducer RED, gr_dtype D, bool nan = true>
struct gr_order : gr_common<RED, D> {
  using B = gr_common<RED, D>;
  using T = typename B::T;
  static constexpr bool by_word = gr_size<D> <= 4, lanes = false, leaves = false;
  static constexpr uint32_t flip = D == GR_I8 ? 0x80808080u : 0;
  using K = std::conditional_t<by_word, uint32_t, int64_t>;
  struct Lane {
    K low, high;
  };
  static __device__ __forceinline__ Lane start() {
    /* Where none is present, the ends of what there may be. */
    if constexpr (!by_word && !nan) return Lane{gr_key_inf(D), ~gr_key_inf(D)};
    else if constexpr (!by_word) return Lane{INT64_MAX, INT64_MIN};
    else if constexpr (D == GR_F32) return Lane{0x7f800000u, 0xff800000u};
    else if constexpr (D == GR_F16) return Lane{0x7c007c00u, 0xfc00fc00u};
    else if constexpr (D == GR_BF16) return Lane{0x7f807f80u, 0xff80ff80u};
    else if constexpr (D == GR_I32) return Lane{0x7fffffffu, 0x80000000u};
    else if constexpr (D == GR_I16) return Lane{0x7fff7fffu, 0x80008000u};
    else return Lane{~0u, 0u};
  }
  /* Takes the largest of a and the smallest of b. */
  static __device__ __forceinline__ void take(Lane &l, uint32_t a, uint32_t b) {
    l.low = gr_better<D, false, nan>((uint32_t)l.low, b);
    l.high = gr_better<D, true, nan>((uint32_t)l.high, a);
  }
  static __device__ __forceinline__ void take(Lane &l, uint32_t u) { take(l, u, u); }
  static __device__ __forceinline__ void add(Lane &l, T x, T, const gr_context &, int) {
    if constexpr (by_word) {
      uint32_t u = 0;
      memcpy(&u, &x, sizeof x);
      u ^= flip & 0xffu;
      if (gr_size<D> == 1) u <<= 8;
      take(l, gr_size<D> < 4 ? u * 0x10001u : u);
    } else {
      const K k = (K)gr_element<D>::key(x);
      const bool there = nan || !gr_is_nan<D>(x);
      l.low = there && k < l.low ? k : l.low;
      l.high = there && k > l.high ? k : l.high;
    }
  }
  /* Adds neighbouring columns of narrow elements, 4 bytes of each row. The two halves of `two` are two columns, while
     both halves of a lane are of one. */
  template <int rows>
  static __device__ __forceinline__ void add_below(Lane *l, const uint32_t (&u)[rows]) {
    constexpr bool bytes = gr_size<D> == 1;
#pragma unroll
    for (int odd = 0; odd < (bytes ? 2 : 1); odd++) {
      Lane two = start();
#pragma unroll
      for (int r = 0; r < rows; r++) {
        uint32_t x = u[r] ^ flip;
        take(two, bytes && !odd ? x << 8 : x);
      }
#pragma unroll
      for (int half = 0; half < 2; half++) {
        Lane &to = l[bytes ? 2 * half + odd : half];
        unsigned both = half ? 0x3232 : 0x1010;
        to.low = gr_better<D, false>(to.low, __byte_perm(two.low, 0, both));
        to.high = gr_better<D, true>(to.high, __byte_perm(two.high, 0, both));
      }
    }
  }
  /* Adds a word, which is given twice: elements that are not to count are the lowest value in a (`neutral`) and the
     highest in b (`highest`). */
  static __device__ __forceinline__ void add_apart(Lane &l, const uint4 &a, const uint4 &b) {
    const uint32_t u[4] = {a.x, a.y, a.z, a.w}, v[4] = {b.x, b.y, b.z, b.w};
#pragma unroll
    for (int i = 0; i < 4; i++) {
      uint32_t x = u[i] ^ flip, y = v[i] ^ flip;
      take(l, x, y);
      if (gr_size<D> == 1) take(l, x << 8, y << 8);
    }
  }
  static __device__ __forceinline__ uint2 highest() { return make_uint2(start().low ^ flip, start().low ^ flip); }
  static __device__ __forceinline__ uint2 neutral() { return make_uint2(start().high ^ flip, start().high ^ flip); }
  static __device__ __forceinline__ void add_word(Lane &l, const uint4 &w, const uint4 &, const gr_context &, int) {
    add_apart(l, w, w);
  }
  static __device__ __forceinline__ gr_acc state(const Lane &l, const gr_context &) {
    gr_acc a;
    a.i[0] = l.low;
    a.i[1] = l.high;
    a.i[2] = 0;
    if constexpr (by_word) {
      constexpr int moved = D == GR_I8 ? 128 : 0, down = gr_size<D> == 1 ? 24 : 0;
      a.i[0] = (int64_t)gr_key_of<D>(gr_better_half<D, false>((uint32_t)l.low) >> down) - moved;
      a.i[1] = (int64_t)gr_key_of<D>(gr_better_half<D, true>((uint32_t)l.high) >> down) - moved;
    }
    return a;
  }
};

/*
** The first of the largest keys. Between two marks a lane keeps the best key and its code, in 32 bits; codes
** rise with position, so that "greater" keeps the first. mark turns the code into a position. by_nan: NaN is above all;
** else below all, with the lowest key, which no number has.
*/
template <gr_reducer RED, gr_dtype D, bool by_nan = true>
struct gr_position : gr_common<RED, D> {
  using B = gr_common<RED, D>;
  using T = typename B::T;
  using K = gr_key_type<D>;
  struct Lane {
    K best, recent;
    int code;
    int64_t position;
  };
  /* No narrow element has the lowest key of 32 bits, so their best key can stay the one to beat. */
  static constexpr bool narrow = gr_size<D> <= 2;
  static constexpr bool lanes = false, leaves = false;
  static __device__ __forceinline__ Lane start() { return Lane{gr_lowest<K>(), gr_lowest<K>(), -1, -1}; }
  static constexpr bool nan = by_nan;
  static __device__ __forceinline__ K of_nan() {
    if constexpr (by_nan) return gr_highest<K>();
    else return gr_lowest<K>();
  }
  static __device__ __forceinline__ K key(T x, int64_t key_xor) {
    return gr_is_nan<D>(x) ? of_nan() : (K)gr_element<D>::key(x) ^ (K)key_xor;
  }
  static __device__ __forceinline__ void add(Lane &l, T x, T, const gr_context &k, int code) {
    K one = key(x, k.key_xor);
    bool better = one > l.recent || (!narrow && l.code < 0);
    l.recent = better ? one : l.recent;
    l.code = better ? code : l.code;
  }
  static __device__ __forceinline__ void mark(Lane &l, int64_t position) {
    if (l.code >= 0 && (l.recent > l.best || (l.recent == l.best && (uint64_t)position < (uint64_t)l.position))) {
      l.best = l.recent;
      l.position = position;
    }
    if (!narrow) l.recent = gr_lowest<K>();
    l.code = -1;
  }
  /* The next adds may lie before this lane's best: compare with nothing. */
  static __device__ __forceinline__ void forget(Lane &l) { l.recent = gr_lowest<K>(); }
  static __device__ __forceinline__ gr_acc state(const Lane &l, const gr_context &) {
    gr_acc a = B::identity();
    if (l.position >= 0) {
      a.i[0] = l.best;
      a.i[1] = l.position;
    }
    return a;
  }
};

#endif
