/*
** Elements as kernels see them: the table of dtypes as a template, and the device's fast ways to widen them.
** Every function here gives the same value as its namesake in numerics.h.
*/
#ifndef GR_CUDA_THREAD_ELEMENT_CUH
#define GR_CUDA_THREAD_ELEMENT_CUH

#include <type_traits>
#include "kernels/numerics/map.h"
#include "kernels/numerics/numerics.h"

template <gr_dtype D>
struct gr_element;

#define GR_X(id, s, l, ctype, k)                                                        \
  template <>                                                                           \
  struct gr_element<GR_##id> {                                                          \
    using type = ctype;                                                                 \
    static constexpr gr_kind kind = GR_##k;                                             \
    static constexpr int size = (int)sizeof(ctype);                                     \
    static __device__ __forceinline__ int64_t key(ctype x) { return gr_key_##s(x); }    \
    static __device__ __forceinline__ double widen(ctype x) { return gr_widen_##s(x); } \
  };
GR_DTYPES(GR_X)
#undef GR_X

template <gr_dtype D>
using gr_type = typename gr_element<D>::type;
template <gr_dtype D>
constexpr bool gr_floating = gr_element<D>::kind == GR_FLOAT;
template <gr_dtype D>
constexpr int gr_size = gr_element<D>::size;

/* As f32: exact for 16-bit floats, rounded for f64. */
template <gr_dtype D>
__device__ __forceinline__ float gr_to_f32(gr_type<D> x) {
  float f;
  if constexpr (D == GR_F16) asm("cvt.f32.f16 %0, %1;" : "=f"(f) : "h"(x.bits)); /* cuda_fp16.h takes half a second */
  else if constexpr (D == GR_BF16) f = gr_bf16_to_f32(x);
  else f = (float)x;
  return f;
}

/*
** As f64. Narrow integers are put into the low bits of 2^52 and 2^52 is taken away again: one add at full
** rate instead of a conversion at a quarter of it.
*/
template <gr_dtype D>
__device__ __forceinline__ double gr_to_f64(gr_type<D> x) {
  if constexpr (D == GR_F16 || D == GR_BF16) return (double)gr_to_f32<D>(x);
  else if constexpr (gr_size<D> <= 2 && gr_element<D>::kind == GR_UINT) {
    return __hiloint2double(0x43300000, (int)x) - 4503599627370496.0;
  } else if constexpr (gr_size<D> <= 2) { /* and 2^31 with it, so that no bit borrows */
    return __hiloint2double(0x43300000, (int)((uint32_t)(int32_t)x ^ 0x80000000u)) - 4503601774854144.0;
  } else return gr_element<D>::widen(x);
}

/* From f64, rounded once; a NaN becomes the one NaN of its dtype. */
template <gr_dtype D>
__device__ __forceinline__ gr_type<D> gr_from_f64(double x) {
  if constexpr (D == GR_F64) return gr_canonical(x);
  else if constexpr (D == GR_F32) { /* the test here costs less than before the conversion */
    float f = (float)x;
    return f == f ? f : gr_from_bits32(0x7fc00000u);
  } else if constexpr (D == GR_F16) {
    gr_f16 h;
    asm("cvt.rn.f16.f64 %0, %1;" : "=h"(h.bits) : "d"(x));
    return x == x ? h : gr_f16{0x7e00};
  } else {
    static_assert(D == GR_BF16, "a float");
#if __CUDA_ARCH__ >= 900
    gr_bf16 h;
    asm("cvt.rn.bf16.f64 %0, %1;" : "=h"(h.bits) : "d"(x));
    return x == x ? h : gr_bf16{0x7fc0};
#else
    return gr_f64_to_bf16(x);
#endif
  }
}

/* From f32, rounded once; of a NaN some NaN. */
template <gr_dtype D>
__device__ __forceinline__ gr_type<D> gr_rounded_f32(float x) {
  if constexpr (D == GR_F32) return x;
  else if constexpr (D == GR_F16) {
    gr_f16 h;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(h.bits) : "f"(x));
    return h;
  } else {
    static_assert(D == GR_BF16, "a float of at most 32 bits");
#if __CUDA_ARCH__ >= 800
    gr_bf16 h;
    asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(h.bits) : "f"(x));
    return h;
#else
    return gr_f32_to_bf16(x);
#endif
  }
}

/*
** Kernels whose time goes to f32 serve both types of 2 bytes, as f16's; brain: elements are bf16. That is asked once
** for `count` of them, so that each costs no more than its conversion.
*/
template <int count>
__device__ __forceinline__ void gr_widen_16bit(float (&v)[count], const gr_f16 (&x)[count], bool brain) {
  if (brain) {
#pragma unroll
    for (int i = 0; i < count; i++) v[i] = gr_to_f32<GR_BF16>(gr_bf16{x[i].bits});
  } else {
#pragma unroll
    for (int i = 0; i < count; i++) v[i] = gr_to_f32<GR_F16>(x[i]);
  }
}
/* Rounded once; of a NaN some NaN. */
template <int count>
__device__ __forceinline__ void gr_round_16bit(gr_f16 (&x)[count], const float (&v)[count], bool brain) {
  if (brain) {
#pragma unroll
    for (int i = 0; i < count; i++) x[i].bits = gr_rounded_f32<GR_BF16>(v[i]).bits;
  } else {
#pragma unroll
    for (int i = 0; i < count; i++) x[i] = gr_rounded_f32<GR_F16>(v[i]);
  }
}

/* The same, in pairs; the first of each is its lower half. */
template <int pairs>
__device__ __forceinline__ void gr_round_pairs(uint32_t (&u)[pairs], const float (&v)[2 * pairs], bool brain) {
#if __CUDA_ARCH__ >= 800
  if (brain) {
#pragma unroll
    for (int i = 0; i < pairs; i++)
      asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(u[i]) : "f"(v[2 * i + 1]), "f"(v[2 * i]));
  } else {
#pragma unroll
    for (int i = 0; i < pairs; i++)
      asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(u[i]) : "f"(v[2 * i + 1]), "f"(v[2 * i]));
  }
#else
  gr_f16 x[2 * pairs];
  gr_round_16bit(x, v, brain);
#pragma unroll
  for (int i = 0; i < pairs; i++) u[i] = x[2 * i].bits | (uint32_t)x[2 * i + 1].bits << 16;
#endif
}

/* -infinity of a float. */
template <gr_dtype D>
__device__ __forceinline__ gr_type<D> gr_minus_infinity() {
  if constexpr (D == GR_F16) return gr_f16{0xfc00};
  else if constexpr (D == GR_BF16) return gr_bf16{0xff80};
  else return (gr_type<D>)-INFINITY;
}

template <gr_dtype D>
__device__ __forceinline__ bool gr_is_nan(gr_type<D> x) {
  if constexpr (D == GR_F16) return (x.bits & 0x7fffu) > 0x7c00u;
  else if constexpr (D == GR_BF16) return (x.bits & 0x7fffu) > 0x7f80u;
  else if constexpr (gr_floating<D>) return x != x;
  else return false;
}

/* As numbers: zeros of either sign are equal, and so are NaNs. */
template <gr_dtype D>
__device__ __forceinline__ bool gr_unequal(gr_type<D> x, gr_type<D> y) {
  if constexpr (D == GR_F16 || D == GR_BF16) {
    bool zeros = ((x.bits | y.bits) & 0x7fffu) == 0;
    return x.bits != y.bits && !zeros && !(gr_is_nan<D>(x) && gr_is_nan<D>(y));
  } else if constexpr (gr_floating<D>) {
    return x != y && !(x != x && y != y);
  } else {
    return x != y;
  }
}

/* Element c of a 16-byte word; c is known when compiled, so this is a register and at most a shift. */
template <gr_dtype D>
__device__ __forceinline__ gr_type<D> gr_pick(const uint4 &w, int c) {
  constexpr int size = gr_size<D>;
  gr_type<D> x;
  if constexpr (size == 8) {
    uint2 u = c == 0 ? make_uint2(w.x, w.y) : make_uint2(w.z, w.w);
    memcpy(&x, &u, 8);
  } else {
    int part = c * size / 4;
    uint32_t u = part == 0 ? w.x : part == 1 ? w.y : part == 2 ? w.z : w.w;
    if constexpr (size == 4) {
      memcpy(&x, &u, 4);
    } else if constexpr (size == 2) {
      uint16_t h = (uint16_t)(u >> 16 * (c & 1));
      memcpy(&x, &h, 2);
    } else {
      x = (gr_type<D>)(uint8_t)(u >> 8 * (c & 3));
    }
  }
  return x;
}

/* On the host: calls f with the dtype as a constant, where it is one of Ds. */
template <gr_dtype... Ds, class F>
static inline cudaError_t gr_for_dtype(gr_dtype t, const F &f) {
  cudaError_t e = cudaErrorInvalidValue;
  (void)((t == Ds && (e = f(std::integral_constant<gr_dtype, Ds>()), true)) || ...);
  return e;
}
template <class F>
static inline cudaError_t gr_for_float(gr_dtype t, const F &f) {
  static_assert(GR_FLOAT_COUNT == 4, "a float is missing below");
  return gr_for_dtype<GR_F16, GR_BF16, GR_F32, GR_F64>(t, f);
}
/* On the host: f of 0 as the unsigned integer that is as large as elements of that size. */
template <class F>
static inline auto gr_for_size(int size, const F &f) {
  switch (size) {
    case 1: return f((uint8_t)0);
    case 2: return f((uint16_t)0);
    case 4: return f((uint32_t)0);
    default: return f(0ull);
  }
}

#endif
