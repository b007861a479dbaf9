/* Variances: two passes over a leaf, or exact moments; and those of what is present, whose leaves count. */
#ifndef GR_CUDA_THREAD_VARIANCE_CUH
#define GR_CUDA_THREAD_VARIANCE_CUH

#include "kernels/cuda/thread/numbers.cuh"
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

/*
** The passes of a variance that leaves NaN out: the sum of the other elements, and how many there are (of 16 bits as
** masks); the squares. Sums of a lane are doubles, or floats where they are so of all elements.
*/
template <gr_dtype D, class Sum = double>
struct gr_counted_sum : gr_common<GR_RED_PRESENT, D, GR_ACC_TREE> {
  using B = gr_common<GR_RED_PRESENT, D, GR_ACC_TREE>;
  using T = typename B::T;
  struct Lane {
    Sum sum;
    uint32_t count;
  };
  static constexpr int fields = 2;
  static constexpr bool lanes = true, leaves = true, by_pair = gr_size<D> == 2;
  static __device__ __forceinline__ Lane start() { return Lane{Sum(-0.0), 0}; }
  static __device__ __forceinline__ void add(Lane &l, T x, T, const gr_context &, int) {
    std::conditional_t<gr_size<D> == 8, double, float> number;
    if constexpr (gr_size<D> == 8) number = x;
    else number = gr_to_f32<D>(x);
    gr_count_number(number, l.count, by_pair ? 0xffff : 1);
    l.sum += (Sum)number;
  }
  static __device__ __forceinline__ void add_pair(Lane &low, Lane &high, uint32_t u, const gr_context &,
                                                  Lane &first) {
    const uint32_t mask = gr_number_mask<D>(u);
    const uint4 w = {u & mask, 0, 0, 0};
    first.count += mask;
    low.sum += (Sum)gr_to_f32<D>(gr_pick<D>(w, 0));
    high.sum += (Sum)gr_to_f32<D>(gr_pick<D>(w, 1));
  }
  static __device__ __forceinline__ uint32_t counted(uint32_t counts) {
    return by_pair ? gr_low_masks(counts) + gr_high_masks(counts) : counts;
  }
  static __device__ __forceinline__ gr_acc state(const Lane &l, const gr_context &) {
    gr_acc a = B::identity();
    a.f[0] = l.sum;
    a.i[1] = counted(l.count);
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
  static constexpr bool by_pair = gr_size<D> == 2;
  static __device__ __forceinline__ void add(Lane &l, T x, T, const gr_context &k, int) {
    double d;
    if constexpr (gr_size<D> == 2) d = gr_if_number(gr_from_mean<D>((uint32_t)x.bits << 16, k.a), gr_to_f32<D>(x));
    else d = gr_if_number(gr_to_f64<D>(x) - k.a, x);
    l.f[0] += d * d;
  }
  static __device__ __forceinline__ void add_pair(Lane &low, Lane &high, uint32_t u, const gr_context &k, Lane &) {
    const uint4 w = {u, 0, 0, 0};
    double x = gr_from_mean<D>(w, 0, k.a), y = gr_from_mean<D>(w, 1, k.a);
    gr_if_numbers<D>(x, y, u);
    low.f[0] += x * x;
    high.f[0] += y * y;
  }
};

/*
** The same of a whole leaf, of which a lane has up to 32 elements: its count is a word of bits, one for each element
** that is a number, and the second pass goes by them.
*/
template <gr_dtype D>
struct gr_marked_sum : gr_counted_sum<D> {
  using B = gr_counted_sum<D>;
  using T = typename B::T;
  using Lane = typename B::Lane;
  static __device__ __forceinline__ void add(Lane &l, T x, T, const gr_context &, int code) {
    gr_count_number(x, l.count, 1u << code);
    l.sum += gr_to_f64<D>(x);
  }
};
template <gr_dtype D>
struct gr_marked_squares : gr_in_f64<GR_RED_VARIANCE, D> {
  using B = gr_in_f64<GR_RED_VARIANCE, D>;
  using T = typename B::T;
  using Lane = typename B::Lane;
  static __device__ __forceinline__ void add(Lane &l, T x, T, const gr_context &k, int code) {
    const double d = gr_to_f64<D>(x) - k.a;
    const uint32_t bit = (uint32_t)k.numbers & 1u << code;
    if constexpr (D == GR_F64) {
      gr_add_marked(l.f[0], d * d, bit);
    } else {
      const double kept = gr_if_marked(d, bit);
      l.f[0] += kept * kept;
    }
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
