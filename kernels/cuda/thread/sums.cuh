/* Reducers that add and multiply in f64, in f32, or exactly in integers: what most operations are made of. */
#ifndef GR_CUDA_THREAD_SUMS_CUH
#define GR_CUDA_THREAD_SUMS_CUH

#include "kernels/cuda/thread/reducer.cuh"

/*
** x - mean of a 16-bit float (in the upper half of a word) without the converter, which could not keep up with two
** passes: its bits, put where f64 has its own, are x times a power of two (subnormals too), so that one fma subtracts.
** Infinities and NaN come out wrong; then the mean is not finite either, and gr_deviations says NaN, which is what the
** sum would be. In assembly, since the compiler would clear the lower half first.
*/
template <gr_dtype D>
__device__ __forceinline__ double gr_from_mean(uint32_t upper, double mean) {
  constexpr int shift = D == GR_F16 ? 6 : 3, bias = D == GR_F16 ? 1008 : 896;
  constexpr uint32_t mask = D == GR_F16 ? 0x81fffc00u : 0x8fffe000u;
  int high;
  asm("{\n .reg .b32 t;\n shr.s32 t, %1, %2;\n and.b32 %0, t, %3;\n}" : "=r"(high) : "r"(upper), "n"(shift), "n"(mask));
  return __fma_rn(__hiloint2double(high, 0), __hiloint2double((1023 + bias) << 20, 0), -mean);
}
/* Of element c of a word: lower halves by the converter, which has time for half of them. */
template <gr_dtype D>
__device__ __forceinline__ double gr_from_mean(const uint4 &w, int c, double mean) {
  if (c % 2 == 0) return gr_to_f64<D>(gr_pick<D>(w, c)) - mean;
  return gr_from_mean<D>(c < 2 ? w.x : c < 4 ? w.y : c < 6 ? w.z : w.w, mean);
}
template <gr_dtype D>
__device__ __forceinline__ double gr_deviations(double squares, double mean) {
  return gr_size<D> > 2 || mean - mean == 0 ? squares : gr_nan();
}

/* s / n, n being a whole number and `part` 1 / n; sums of f64 may overflow or vanish. */
template <gr_dtype D>
__device__ __forceinline__ double gr_mean_of(double s, double n, double part) {
  return D == GR_F64 ? gr_quotient_of_any(s, n, part) : gr_quotient(s, n, part);
}
/* The same of what has been counted, as a double. */
template <gr_dtype D>
__device__ __forceinline__ double gr_mean_of(double s, double n) {
  return gr_mean_of<D>(s, n, gr_reciprocal(n));
}

/* The two passes of VARIANCE are plain sums of doubles, of integers too. */
template <gr_reducer RED, gr_dtype D>
constexpr gr_acc_kind gr_double_kind = RED == GR_RED_SUM || RED == GR_RED_VARIANCE ? GR_ACC_TREE : gr_kind_for<RED, D>;

/* Lanes of one to three doubles: floats, and integers whose terms need more than a leaf holds exactly. */
template <gr_reducer RED, gr_dtype D>
struct gr_in_f64 : gr_common<RED, D, gr_double_kind<RED, D>> {
  using B = gr_common<RED, D, gr_double_kind<RED, D>>;
  using T = typename B::T;
  struct Lane {
    double f[B::fields];
  };
  static constexpr bool lanes = true, leaves = true;
  /* Products of floats of up to 4 bytes are exact: one rounding is what two would give, and factors can wait for the
     end. */
  static constexpr bool exact_products = gr_floating<D> && gr_size<D> <= 4;
  /* Sums of a leaf of f16 are exact, multiples of 2^-24 below 2^28: nothing to gather. Kahan's make NaN of
     infinities. */
  static constexpr bool exact_lanes = D == GR_F16 && RED == GR_RED_SUM_NEUMAIER;
  static __device__ __forceinline__ Lane start() {
    Lane l;
    gr_acc a = B::identity();
#pragma unroll
    for (int i = 0; i < B::fields; i++) l.f[i] = a.f[i];
    return l;
  }
  static __device__ __forceinline__ void add(Lane &l, T ex, T ey, const gr_context &k, int) {
    double x = gr_to_f64<D>(ex), y = B::inputs == 2 ? gr_to_f64<D>(ey) : 0.0;
    if constexpr (RED == GR_RED_SUM) l.f[0] += x;
    else if constexpr (RED == GR_RED_PROD) l.f[0] *= x;
    else if constexpr (RED == GR_RED_SUMSQ) {
      x = fabs(exact_products ? x : x * k.a);
      if constexpr (exact_products) l.f[0] = __fma_rn(x, k.is_abs ? 1.0 : x, l.f[0]);
      else l.f[0] += x * (k.is_abs ? 1.0 : x);
    } else if constexpr (RED == GR_RED_SQDIFF) {
      x -= y;
      l.f[0] += x * x;
    } else if constexpr (RED == GR_RED_VARIANCE) { /* the second pass: a is the mean */
      if constexpr (gr_size<D> == 2 && gr_floating<D>) x = gr_from_mean<D>((uint32_t)ex.bits << 16, k.a);
      else x -= k.a;
      l.f[0] += x * x;
    }
    else if constexpr (RED == GR_RED_COSINE && exact_products) {
      l.f[0] = __fma_rn(x, y, l.f[0]);
      l.f[1] = __fma_rn(x, x, l.f[1]);
      l.f[2] = __fma_rn(y, y, l.f[2]);
    } else if constexpr (RED == GR_RED_COSINE) {
      x *= k.a;
      y *= k.b;
      l.f[0] += x * y;
      l.f[1] += x * x;
      l.f[2] += y * y;
    } else if constexpr (RED == GR_RED_DOT) {
      if constexpr (exact_products) l.f[0] = __fma_rn(x, y, l.f[0]);
      else l.f[0] += x * y;
    } else if constexpr (exact_lanes) l.f[0] += x;
    else if constexpr (RED == GR_RED_SUM_KAHAN) gr_add_kahan(&l.f[0], &l.f[1], x);
    else if constexpr (RED == GR_RED_SUM_NEUMAIER) gr_add_neumaier(&l.f[0], &l.f[1], x);
    else {
      static_assert(RED == GR_RED_DOT_KAHAN || RED == GR_RED_DOT_NEUMAIER, "no such reducer");
      double p = x * y;
      /* as exact, for one conversion less */
      if constexpr (D == GR_F16) p = (double)(gr_to_f32<D>(ex) * gr_to_f32<D>(ey));
      if constexpr (RED == GR_RED_DOT_KAHAN) gr_add_kahan(&l.f[0], &l.f[1], p);
      else gr_add_neumaier(&l.f[0], &l.f[1], p);
      if constexpr (gr_size<D> == 8) l.f[1] += RED == GR_RED_DOT_KAHAN ? -__fma_rn(x, y, -p) : __fma_rn(x, y, -p);
    }
  }
  static constexpr bool by_place = RED == GR_RED_VARIANCE && gr_floating<D> && gr_size<D> == 2;
  static __device__ __forceinline__ void add_place(Lane &l, const uint4 &w, int c, const gr_context &k) {
    double x = gr_from_mean<D>(w, c, k.a);
    l.f[0] += x * x;
  }
  static __device__ __forceinline__ gr_acc state(const Lane &l, const gr_context &k) {
    gr_acc a = B::identity();
#pragma unroll
    for (int i = 0; i < B::fields; i++) a.f[i] = l.f[i];
    if constexpr (exact_products && (RED == GR_RED_SUMSQ || RED == GR_RED_COSINE)) {
      a.f[0] *= k.a * (RED == GR_RED_COSINE ? k.b : k.a);
      if constexpr (RED == GR_RED_COSINE) a.f[1] *= k.a * k.a, a.f[2] *= k.b * k.b;
    }
    return a;
  }
};

/* Lanes of one float: sums and dots of 16-bit floats, and those that ask for f32. */
template <gr_reducer RED, gr_dtype D>
struct gr_in_f32 : gr_common<RED, D> {
  using B = gr_common<RED, D>;
  using T = typename B::T;
  struct Lane {
    float s;
  };
  static constexpr bool lanes = true, leaves = true, light = true;
  static __device__ __forceinline__ Lane start() { return Lane{-0.0f}; }
  static __device__ __forceinline__ void add(Lane &l, T x, T y, const gr_context &, int) {
    if constexpr (B::inputs == 1) l.s += gr_to_f32<D>(x);
    else if constexpr (D == GR_F16) l.s = __fmaf_rn(gr_to_f32<D>(x), gr_to_f32<D>(y), l.s); /* exact product */
    else l.s += gr_to_f32<D>(x) * gr_to_f32<D>(y);
  }
  static __device__ __forceinline__ gr_acc state(const Lane &l, const gr_context &) {
    gr_acc a = B::identity();
    a.f[0] = (double)l.s;
    return a;
  }
};

/*
** Integers whose sums over a leaf are exact in f64 and in integers alike: no order inside the leaf. The one
** thing integers forget is that a sum of nothing but -0 (0 times a negative) is -0: `plain` remembers.
*/
template <gr_reducer RED, gr_dtype D>
struct gr_exact : gr_common<RED, D, gr_double_kind<RED, D>> {
  using B = gr_common<RED, D, gr_double_kind<RED, D>>;
  using T = typename B::T;
  static constexpr int sums = RED == GR_RED_COSINE ? 3 : 1;
  static constexpr bool wide = gr_size<D> == 4 || (gr_size<D> == 2 && RED != GR_RED_SUM);
  using S = std::conditional_t<wide, int64_t, int32_t>;
  struct Lane {
    S s[sums];
    uint32_t plain;
  };
  static constexpr bool lanes = false, leaves = true;
  static __device__ __forceinline__ Lane start() { return Lane{}; }
  static __device__ __forceinline__ void add(Lane &l, T ex, T ey, const gr_context &k, int) {
    if constexpr (RED == GR_RED_SUM) l.s[0] += (S)ex;
    else {
      int32_t x = (int32_t)ex, y = (int32_t)ey;
      if constexpr (RED == GR_RED_SUMSQ) {
        if (x < 0) x = -x;
        l.s[0] += (S)((uint32_t)x * (k.is_abs ? 1u : (uint32_t)x));
      }
      else if constexpr (RED == GR_RED_SQDIFF) l.s[0] += (S)((uint32_t)(x - y) * (uint32_t)(x - y));
      else {
        static_assert(RED == GR_RED_COSINE, "no such reducer");
        l.s[0] += (S)x * (S)y;
        l.s[1] += (S)((uint32_t)x * (uint32_t)x);
        l.s[2] += (S)((uint32_t)y * (uint32_t)y);
        if constexpr (std::is_signed_v<T>) l.plain |= (x | y) >= 0 || (x != 0 && y != 0);
      }
    }
  }
  /*
  ** Bytes: four at once. Cosines need `plain` for a whole word as well: in the top bit of each element, "both are 0
  ** or more" or "neither is 0".
  */
  static constexpr bool bytes =
      gr_size<D> == 1 && (RED == GR_RED_SUMSQ || RED == GR_RED_SQDIFF || RED == GR_RED_COSINE);
  static constexpr bool by_part = bytes, by_word = bytes || (RED == GR_RED_COSINE && std::is_signed_v<T>);
  static __device__ __forceinline__ uint32_t plain_word(uint32_t x, uint32_t y) {
    constexpr uint32_t top = gr_size<D> == 1 ? 0x80808080u : 0x80008000u;
    uint32_t some_x = ((x & ~top) + ~top) | x, some_y = ((y & ~top) + ~top) | y;
    return ((some_x & some_y) | ~(x | y)) & top;
  }
  static __device__ __forceinline__ void add_part(Lane &l, uint32_t x, uint32_t y, const gr_context &k) {
    using W = std::conditional_t<std::is_signed_v<T>, int32_t, uint32_t>;
    if constexpr (RED == GR_RED_SQDIFF) {
      uint32_t d = std::is_signed_v<T> ? __vabsdiffs4(x, y) : __vabsdiffu4(x, y);
      l.s[0] = (S)__dp4a(d, d, (uint32_t)l.s[0]);
    } else if constexpr (RED == GR_RED_SUMSQ) {
      uint32_t u = std::is_signed_v<T> ? __vabs4(x) : x;
      l.s[0] = (S)__dp4a(u, k.is_abs ? 0x01010101u : u, (uint32_t)l.s[0]);
    } else {
      if constexpr (std::is_signed_v<T>) l.plain |= plain_word(x, y);
      l.s[0] = (S)__dp4a((W)x, (W)y, (W)l.s[0]);
      l.s[1] = (S)__dp4a((W)x, (W)x, (W)l.s[1]);
      l.s[2] = (S)__dp4a((W)y, (W)y, (W)l.s[2]);
    }
  }
  static __device__ __forceinline__ void add_word(Lane &l, const uint4 &a, const uint4 &b, const gr_context &k, int) {
    if constexpr (bytes) {
      gr_add_parts<gr_exact>(l, a, b, k);
    } else {
      l.plain |= plain_word(a.x, b.x) | plain_word(a.y, b.y) | plain_word(a.z, b.z) | plain_word(a.w, b.w);
#pragma unroll
      for (int c = 0; c < 16 / gr_size<D>; c++) {
        int32_t x = (int32_t)gr_pick<D>(a, c), y = (int32_t)gr_pick<D>(b, c);
        l.s[0] += (S)x * (S)y;
        l.s[1] += (S)((uint32_t)x * (uint32_t)x);
        l.s[2] += (S)((uint32_t)y * (uint32_t)y);
      }
    }
  }
  static __device__ __forceinline__ gr_acc state(const Lane &l, const gr_context &k) {
    gr_acc a = B::identity();
    if constexpr (RED == GR_RED_COSINE) {
      a.f[0] = (double)l.s[0] * (k.a * k.b);
      if (std::is_signed_v<T> && !l.plain) a.f[0] = -0.0;
      a.f[1] = (double)l.s[1] * (k.a * k.a);
      a.f[2] = (double)l.s[2] * (k.b * k.b);
    } else {
      a.f[0] = (double)l.s[0] * (RED == GR_RED_SUMSQ ? k.a * k.a : 1.0);
    }
    return a;
  }
};

#endif
