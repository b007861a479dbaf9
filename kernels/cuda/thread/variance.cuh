/* Variances: two passes over a leaf, or exact moments; and those of what is present, whose leaves count. */
#ifndef GR_CUDA_THREAD_VARIANCE_CUH
#define GR_CUDA_THREAD_VARIANCE_CUH

#include "kernels/cuda/thread/sums.cuh"

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
  /* -0 changes no sum: a NaN of f32 becomes it before it is converted, while it is one word; in assembly, since the
     compiler knows that, too, and would select the sum instead. For a number, count takes `one` by `then`. */
#define GR_ADD_NUMBER(then)                                                                     \
  asm("{.reg .pred %%p;\n\tsetp.num.f32 %%p, %0, %0;\n\tselp.f32 %0, %0, 0f80000000, %%p;\n\t" \
      "@%%p " then " %1, %1, %2;}"                                                              \
      : "+f"(f), "+r"(l.count)                                                                  \
      : "r"(one))
  static __device__ __forceinline__ void add(Lane &l, T x, T, const gr_context &, int) {
    if constexpr (D == GR_F32) {
      float f = x;
      const uint32_t one = 1;
      GR_ADD_NUMBER("add.u32");
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

/*
** The same of a whole leaf, of which a lane has up to 32 elements. Of the first pass its count is a word of bits, one
** for each element that is a number; the second goes by them. There the distance d of a NaN becomes so small, by its
** upper half, that its square is 0; in assembly, as the compiler would put all that an element takes under a predicate,
** and then has no more than two elements under way.
*/
template <gr_dtype D>
struct gr_marked_sum : gr_counted_sum<D> {
  using B = gr_counted_sum<D>;
  using T = typename B::T;
  using Lane = typename B::Lane;
  static __device__ __forceinline__ void add(Lane &l, T x, T, const gr_context &, int code) {
    const uint32_t one = 1u << code;
    if constexpr (D == GR_F32) {
      float f = x;
      GR_ADD_NUMBER("or.b32");
      l.sum += (double)f;
    } else if (!gr_is_nan<D>(x)) {
      l.sum += gr_to_f64<D>(x);
      l.count |= one;
    }
  }
};
#undef GR_ADD_NUMBER
template <gr_dtype D>
struct gr_marked_squares : gr_in_f64<GR_RED_VARIANCE, D> {
  using B = gr_in_f64<GR_RED_VARIANCE, D>;
  using T = typename B::T;
  using Lane = typename B::Lane;
  static __device__ __forceinline__ void add(Lane &l, T x, T, const gr_context &k, int code) {
    double d = gr_to_f64<D>(x) - k.a;
    asm("{.reg .pred %%p;\n\t.reg .b32 low, high;\n\tsetp.ne.u32 %%p, %1, 0;\n\tmov.b64 {low, high}, %0;\n\t"
        "selp.b32 high, high, 0, %%p;\n\tmov.b64 %0, {low, high};}"
        : "+d"(d)
        : "r"((uint32_t)k.numbers & 1u << code));
    l.f[0] += d * d;
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
  static constexpr bool marks = skips && GR_LEAF(gr_size<D>) / 32 <= 32; /* of a lane, in a whole leaf */
  using WholeSum = std::conditional_t<marks, gr_marked_sum<D>, Sum>;
  using WholeSquares = std::conditional_t<marks, gr_marked_squares<D>, Squares>;
  /* After the first pass over so many elements: their sum and count. */
  static __device__ __forceinline__ gr_acc begun(gr_acc sum, int64_t all) {
    sum.f[2] = (double)(skips ? sum.i[1] : all);
    return sum;
  }
};

#endif
