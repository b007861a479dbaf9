/* Reducers that add, multiply and count, and the choice of one for an operation and a dtype. */
#ifndef GR_CUDA_THREAD_REDUCERS_CUH
#define GR_CUDA_THREAD_REDUCERS_CUH

#include "kernels/cuda/thread/extremes.cuh"
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

/* Integers that wrap, and counts: order does not matter at all. */
template <gr_reducer RED, gr_dtype D>
struct gr_wrapping : gr_common<RED, D> {
  using B = gr_common<RED, D>;
  using T = typename B::T;
  static constexpr bool counts = RED == GR_RED_COUNT || RED == GR_RED_DIFFER;
  /* A thread sees at most 2^12 elements: 32 bits hold their sum, or their products summed for bytes. */
  static constexpr bool narrow =
      counts || (RED == GR_RED_SUM && gr_size<D> <= 2) || (RED == GR_RED_DOT && gr_size<D> == 1);
  using S = std::conditional_t<narrow, uint32_t, uint64_t>;
  struct Lane {
    S s;
  };
  static constexpr bool lanes = false, leaves = false;
  static __device__ __forceinline__ Lane start() { return Lane{(S)(RED == GR_RED_PROD)}; }
  static __device__ __forceinline__ void add(Lane &l, T x, T y, const gr_context &k, int) {
    if constexpr (RED == GR_RED_COUNT) l.s += (T)((uint64_t)x << (k.skip_sign != 0)) != 0;
    else if constexpr (RED == GR_RED_DIFFER) l.s += gr_unequal<D>(x, y);
    else if constexpr (RED == GR_RED_SUM) l.s += (S)(int64_t)x;
    else if constexpr (RED == GR_RED_PROD) l.s *= (S)(int64_t)x;
    else if constexpr (gr_size<D> <= 2) l.s += (S)((int64_t)x * (int64_t)y);
    else l.s += (S)(int64_t)x * (S)(int64_t)y;
  }
  /*
  ** Narrow elements, 32 bits at a time: sums and dots by the instructions made for them, counts by the bits that
  ** a carry leaves at the top of what is not zero, products because those of four bytes or two shorts fit.
  */
  static constexpr bool by_part = gr_size<D> <= 2 && (RED == GR_RED_PROD || RED == GR_RED_SUM || RED == GR_RED_COUNT ||
                                                      (RED == GR_RED_DIFFER && !gr_floating<D>) ||
                                                      (RED == GR_RED_DOT && gr_size<D> == 1)),
                        by_word = by_part;
  static __device__ __forceinline__ void add_part(Lane &l, uint32_t x, uint32_t y, const gr_context &k) {
    using W = std::conditional_t<gr_element<D>::kind == GR_INT, int32_t, uint32_t>;
    if constexpr (counts) {
      constexpr uint32_t low = gr_size<D> == 1 ? 0x7f7f7f7fu : 0x7fff7fffu;
      uint32_t u = RED == GR_RED_DIFFER ? x ^ y : x;
      l.s += __popc((((u & low) + low) | (k.skip_sign ? 0u : u)) & ~low);
    } else if constexpr (RED == GR_RED_SUM) {
      if constexpr (gr_size<D> == 1) l.s = (S)__dp4a((W)x, (W)0x01010101, (W)l.s);
      else l.s = (S)__dp2a_lo((W)x, (W)0x0101, (W)l.s);
    } else if constexpr (RED == GR_RED_DOT) {
      l.s = (S)__dp4a((W)x, (W)y, (W)l.s);
    } else if constexpr (RED == GR_RED_PROD) {
      using P = std::conditional_t<std::is_signed_v<T>, int32_t, uint32_t>;
      const uint4 w = make_uint4(x, 0, 0, 0);
      P p = (P)gr_pick<D>(w, 0);
#pragma unroll
      for (int i = 1; i < 4 / gr_size<D>; i++) p *= (P)gr_pick<D>(w, i);
      l.s *= (S)(int64_t)p;
    }
  }
  static __device__ __forceinline__ void add_word(Lane &l, const uint4 &a, const uint4 &b, const gr_context &k, int) {
    gr_add_parts<gr_wrapping>(l, a, b, k);
  }
  static __device__ __forceinline__ gr_acc state(const Lane &l, const gr_context &) {
    gr_acc a = B::identity();
    a.i[0] = narrow && !counts ? (int64_t)(int32_t)l.s : (int64_t)l.s;
    return a;
  }
};

/* The sum of i64 in 128 bits. */
template <gr_reducer RED, gr_dtype D>
struct gr_wide : gr_common<RED, D> {
  using B = gr_common<RED, D>;
  using T = typename B::T;
  struct Lane {
    uint64_t low;
    int64_t high;
  };
  static constexpr bool lanes = false, leaves = false;
  static __device__ __forceinline__ Lane start() { return Lane{0, 0}; }
  static __device__ __forceinline__ void add(Lane &l, T x, T, const gr_context &, int) {
    uint64_t u = (uint64_t)(int64_t)x;
    l.low += u;
    l.high += (int64_t)(l.low < u) + ((int64_t)x >> 63);
  }
  static __device__ __forceinline__ gr_acc state(const Lane &l, const gr_context &) {
    gr_acc a = B::identity();
    a.i[0] = (int64_t)(l.low & UINT32_MAX);
    a.i[1] = (int64_t)((uint64_t)l.high << 32 | l.low >> 32);
    return a;
  }
};

/*
** Exponentials under their largest: each element costs one, of its distance to the largest so far, by which either it
** or the sum is scaled. In line where a thread has few at once, so that they overlap; the others call it.
*/
template <gr_reducer RED, gr_dtype D>
struct gr_scaled : gr_common<RED, D> {
  using B = gr_common<RED, D>;
  using T = typename B::T;
  struct Lane {
    double most, sum;
  };
  static constexpr bool lanes = true, leaves = true, in_line = gr_floating<D> && gr_size<D> >= 4;
  static __device__ __forceinline__ Lane start() {
    gr_acc a = B::identity();
    return Lane{a.f[0], a.f[1]};
  }
  static __device__ __forceinline__ void add(Lane &l, T ex, T, const gr_context &k, int) {
    gr_acc a = state(l, k), x = B::identity();
    x.f[0] = gr_to_f64<D>(ex);
    x.f[1] = 1.0;
    a = in_line ? gr_merge_scaled(a, x) : B::merge(a, x);
    l = Lane{a.f[0], a.f[1]};
  }
  static __device__ __forceinline__ gr_acc state(const Lane &l, const gr_context &) {
    gr_acc a = B::identity();
    a.f[0] = l.most;
    a.f[1] = l.sum;
    return a;
  }
};

/* The exact sum and sum of squares of 8- and 16-bit integers: all that gr_variance_of needs of a leaf. */
template <gr_reducer RED, gr_dtype D>
struct gr_moments : gr_common<RED, D, GR_ACC_TRIPLE> {
  using B = gr_common<RED, D, GR_ACC_TRIPLE>;
  using T = typename B::T;
  using S = std::conditional_t<std::is_signed_v<T>, int32_t, uint32_t>;
  using Q = std::conditional_t<gr_size<D> == 1, uint32_t, uint64_t>;
  struct Lane {
    S sum;
    Q squares;
  };
  static constexpr int fields = 2; /* the third is known */
  static constexpr bool lanes = false, leaves = true, by_word = gr_size<D> == 1, by_part = by_word;
  static __device__ __forceinline__ Lane start() { return Lane{0, 0}; }
  static __device__ __forceinline__ void add(Lane &l, T x, T, const gr_context &, int) {
    l.sum += (S)x;
    l.squares += (uint32_t)((S)x * (S)x);
  }
  /* Four bytes an instruction. */
  static __device__ __forceinline__ void add_part(Lane &l, uint32_t x, uint32_t, const gr_context &) {
    l.sum = __dp4a((S)x, (S)0x01010101, l.sum);
    l.squares = (Q)__dp4a((S)x, (S)x, (S)l.squares);
  }
  static __device__ __forceinline__ void add_word(Lane &l, const uint4 &w, const uint4 &, const gr_context &k, int) {
    gr_add_parts<gr_moments>(l, w, w, k);
  }
  static __device__ __forceinline__ gr_acc state(const Lane &l, const gr_context &) {
    gr_acc a;
    a.f[0] = (double)l.sum;
    a.f[1] = (double)l.squares;
    a.f[2] = 0;
    return a;
  }
};

/* Whether 16-bit float c of a word is a number: two are asked by one instruction, of bf16 from Hopper on. */
#define GR_ARE_NUMBERS(type)                                                                                      \
  asm("{.reg .pred p, q;\n\tsetp.eq." type " p|q, %2, %2;\n\tselp.u32 %0, 1, 0, p;\n\tselp.u32 %1, 1, 0, q;}" \
      : "=r"(low), "=r"(high)                                                                                     \
      : "r"(u))
template <gr_dtype D>
__device__ __forceinline__ bool gr_is_number(const uint4 &w, int c) {
  const uint32_t u = c < 2 ? w.x : c < 4 ? w.y : c < 6 ? w.z : w.w;
  uint32_t low = 0, high = 0;
  if constexpr (D == GR_F16) GR_ARE_NUMBERS("f16x2");
  else if constexpr (!gr_before_hopper) GR_ARE_NUMBERS("bf16x2");
  else return !gr_is_nan<D>(gr_pick<D>(w, c));
  return (c % 2 ? high : low) != 0;
}
#undef GR_ARE_NUMBERS

/* The passes of a variance that leaves NaN out: the sum of the other elements, and how many there are; the squares. */
template <gr_dtype D>
struct gr_counted_sum : gr_common<GR_RED_PRESENT, D, GR_ACC_TREE> {
  using B = gr_common<GR_RED_PRESENT, D, GR_ACC_TREE>;
  using T = typename B::T;
  struct Lane {
    double sum;
    uint32_t count;
  };
  static constexpr int fields = 2;
  static constexpr bool lanes = true, leaves = true;
  static __device__ __forceinline__ Lane start() { return Lane{-0.0, 0}; }
  static __device__ __forceinline__ void add(Lane &l, T x, T, const gr_context &, int) {
    if constexpr (D == GR_F32) {
      /* -0 changes no sum: a NaN becomes it before it is converted, while it is one word; in assembly, since the
         compiler knows that, too, and would select the sum instead */
      float f = x;
      asm("{.reg .pred %%p;\n\tsetp.num.f32 %%p, %0, %0;\n\tselp.f32 %0, %0, 0f80000000, %%p;\n\t"
          "@%%p add.u32 %1, %1, 1;}"
          : "+f"(f), "+r"(l.count));
      l.sum += (double)f;
    } else if (!gr_is_nan<D>(x)) {
      l.sum += gr_to_f64<D>(x);
      l.count++;
    }
  }
  static constexpr bool by_place = gr_size<D> == 2;
  static __device__ __forceinline__ void add_place(Lane &l, const uint4 &w, int c, const gr_context &) {
    if (!gr_is_number<D>(w, c)) return;
    l.sum += gr_to_f64<D>(gr_pick<D>(w, c));
    l.count++;
  }
  static __device__ __forceinline__ gr_acc state(const Lane &l, const gr_context &) {
    gr_acc a = B::identity();
    a.f[0] = l.sum;
    a.i[1] = l.count;
    return a;
  }
  static __device__ __forceinline__ gr_acc merge(gr_acc a, gr_acc b) {
    a.f[0] += b.f[0];
    a.i[1] += b.i[1];
    return a;
  }
};
template <gr_dtype D>
struct gr_squares_of_numbers : gr_in_f64<GR_RED_VARIANCE, D> {
  using B = gr_in_f64<GR_RED_VARIANCE, D>;
  using T = typename B::T;
  using Lane = typename B::Lane;
  static __device__ __forceinline__ void add(Lane &l, T x, T y, const gr_context &k, int code) {
    if (!gr_is_nan<D>(x)) B::add(l, x, y, k, code);
  }
  static __device__ __forceinline__ void add_place(Lane &l, const uint4 &w, int c, const gr_context &k) {
    if (gr_is_number<D>(w, c)) B::add_place(l, w, c, k);
  }
};

/* Two passes over a leaf: its sum, then the squared distances to its mean; one where both sums are exact. */
template <gr_reducer RED, gr_dtype D>
struct gr_two_pass : gr_common<RED, D> {
  static constexpr bool variance = true, leaves = true, skips = RED == GR_RED_PRESENT;
  static constexpr bool exact = !gr_floating<D> && gr_size<D> <= 2, lanes = !exact;
  using Moments = gr_moments<RED, D>;
  static __device__ __forceinline__ gr_acc of(gr_acc moments, int64_t count) {
    return gr_variance_of((int64_t)moments.f[0], (int64_t)moments.f[1], count);
  }
  static constexpr bool wide = gr_floating<D> || gr_size<D> == 8;
  using Plain = std::conditional_t<wide, gr_in_f64<GR_RED_SUM, D>, gr_exact<GR_RED_SUM, D>>;
  using Sum = std::conditional_t<skips, gr_counted_sum<D>, Plain>;
  using Squares = std::conditional_t<skips, gr_squares_of_numbers<D>, gr_in_f64<GR_RED_VARIANCE, D>>;
  /* After the first pass over so many elements: their sum and count. */
  static __device__ __forceinline__ gr_acc begun(gr_acc sum, int64_t all) {
    sum.f[2] = (double)(skips ? sum.i[1] : all);
    return sum;
  }
};

/* The reducer for RED over elements of dtype D. */
template <gr_reducer RED, gr_dtype D>
struct gr_choose {
  static constexpr gr_acc_kind kind = gr_kind_for<RED, D>;
  static constexpr bool integer = !gr_floating<D>, sixteen = D == GR_F16 || D == GR_BF16;
  static constexpr bool single = RED == GR_RED_SUM_F32 || RED == GR_RED_DOT_F32;
  static constexpr bool small_terms = integer && gr_size<D> <= 2;
  static auto pick() {
    if constexpr (kind == GR_ACC_WRAP) return gr_wrapping<RED, D>{};
    else if constexpr (kind == GR_ACC_WIDE) return gr_wide<RED, D>{};
    else if constexpr (kind == GR_ACC_ORDER) return gr_order<RED, D>{};
    else if constexpr (kind == GR_ACC_POSITION) return gr_position<GR_RED_ARGMAX, D>{};
    else if constexpr (kind == GR_ACC_VARIANCE) return gr_two_pass<RED, D>{};
    else if constexpr (kind == GR_ACC_SCALED) return gr_scaled<RED, D>{};
    else if constexpr (single || (sixteen && (RED == GR_RED_SUM || RED == GR_RED_DOT))) return gr_in_f32<RED, D>{};
    else if constexpr (small_terms) return gr_exact<RED, D>{};
    else return gr_in_f64<RED, D>{};
  }
  using type = decltype(pick());
};
template <gr_reducer RED, gr_dtype D>
using gr_reducer_for = typename gr_choose<RED, D>::type;

#endif
