/*
** Floats of which those are left out that are NaN, as they are added: in a word they become +0, which changes no sum;
** of two inputs both become it where either is NaN. Extremes need no such word, as their instructions leave NaN out.
** What is there is counted by the tally of formula/hole.cuh.
*/
#ifndef GR_CUDA_THREAD_PRESENT_CUH
#define GR_CUDA_THREAD_PRESENT_CUH

#include "kernels/cuda/thread/reducers.cuh"

/* Such a reducer. One kernel serves numbers for the host and rows, as built ones do: `number` is not set. */
template <class R, bool counting>
struct gr_of_present : R {
  static constexpr bool present = true, counts = counting;
  static constexpr bool blanks = R::kind != GR_ACC_ORDER && R::kind != GR_ACC_POSITION;
  using Blanked = std::conditional_t<blanks, R, gr_of_present>; /* reduces words in which NaN has been blanked */
};

/*
** Elements of 2 or 4 bytes that are NaN become +0: returns 1 for one of 4 bytes, of two the sign's bits of those that
** were.
*/
template <gr_dtype D>
__device__ __forceinline__ uint32_t gr_blank_part(uint32_t &u) {
  if constexpr (gr_size<D> == 4) {
    const bool nan = isnan(__uint_as_float(u));
    u = nan ? 0 : u;
    return nan;
  } else {
    const uint32_t mask = gr_number_mask<D>(u);
    u &= mask;
    return ~mask & 0x80008000u;
  }
}

/*
** Two elements become +0 where either is NaN, else n grows by `one`: four instructions of f32. In assembly, as the
** compiler would take two for the count, the second of which waits for the first.
*/
#define GR_BLANK(type, letter)                                                                                   \
  asm("{.reg .pred %%p;\n\tsetp.num." type " %%p, %0, %1;\n\tselp." type " %0, %0, %4, %%p;\n\t"                \
      "selp." type " %1, %1, %4, %%p;\n\t@%%p add.s32 %2, %2, %3;}"                                              \
      : "+" letter(x), "+" letter(y), "+r"(n)                                                                    \
      : "r"(one), letter(zero))
__device__ __forceinline__ void gr_blank_two(float &x, float &y, int &n, int one) {
  const float zero = 0;
  GR_BLANK("f32", "f");
}
__device__ __forceinline__ void gr_blank_two(double &x, double &y, int &n, int one) {
  const double zero = 0;
  GR_BLANK("f64", "d");
}
#undef GR_BLANK

/* Blanks a word, or one of each input; returns how many of its elements `from` .. to - 1 are there. */
template <class Q>
__device__ __forceinline__ int gr_blank_word(uint4 &a, uint4 &b, int from, int to) {
  constexpr gr_dtype D = Q::dtype;
  constexpr int each = 16 / gr_size<D>;
  constexpr bool two = Q::inputs == 2;
  uint32_t *x = &a.x, *y = &b.x;
  int n = 0;
  if constexpr (gr_size<D> == 2) {
    uint32_t mask[4];
#pragma unroll
    for (int i = 0; i < 4; i++) {
      mask[i] = gr_number_mask<D>(x[i]);
      if (two) mask[i] &= gr_number_mask<D>(y[i]);
      x[i] &= mask[i];
      if (two) y[i] &= mask[i];
    }
    if (from == 0 && to == each) /* a bit of each half */
      return __popc((mask[0] & 0x80008000u) | (mask[1] & 0x40004000u) | (mask[2] & 0x20002000u) |
                    (mask[3] & 0x10001000u));
#pragma unroll
    for (int c = 0; c < each; c++) n += c >= from && c < to && (mask[c / 2] & (c % 2 ? 0x80000000u : 0x8000u));
  } else {
    constexpr int words = gr_size<D> / 4;
#pragma unroll
    for (int c = 0; c < each; c++) {
      gr_type<D> u, v;
      memcpy(&u, x + c * words, sizeof u);
      memcpy(&v, (two ? y : x) + c * words, sizeof v);
      gr_blank_two(u, v, n, c >= from && c < to);
      memcpy(x + c * words, &u, sizeof u);
      if (two) memcpy(y + c * words, &v, sizeof v);
    }
  }
  return n;
}

/*
** Leaves NaN out of a word, with +0 in its place; counting: missing grows by how many there were at each place, of
** 2-byte elements two to a register.
*/
template <gr_dtype D, bool counting>
__device__ __forceinline__ void gr_blank_places(uint32_t (&u)[4], uint32_t (&missing)[4]) {
  if constexpr (gr_size<D> == 8) {
#pragma unroll
    for (int i = 0; i < 4; i += 2) {
      const bool nan = isnan(__hiloint2double((int)u[i + 1], (int)u[i]));
      u[i] = nan ? 0 : u[i];
      u[i + 1] = nan ? 0 : u[i + 1];
      if (counting) missing[i / 2] += nan;
    }
  } else {
#pragma unroll
    for (int i = 0; i < 4; i++) {
      const uint32_t nan = gr_blank_part<D>(u[i]);
      if (counting) missing[i] += gr_size<D> == 4 ? nan : nan >> 15;
    }
  }
}
/* How many were missing at place e of a word. */
template <gr_dtype D>
__device__ __forceinline__ uint32_t gr_missing_at(const uint32_t (&missing)[4], int e) {
  return gr_size<D> == 2 ? missing[e / 2] >> (e & 1) * 16 & 0xffff : missing[e & 3];
}

/*
** Blanks a word that waits among others; returns a bit for each of its elements that was NaN. Of f64 by halves:
** elements in pairs of registers would spill (rows of 64: 405 us, as many as stored elements take).
*/
template <class Q>
__device__ __forceinline__ uint32_t gr_blank_alone(uint4 &a) {
  uint32_t *x = &a.x, gone = 0;
  if constexpr (gr_size<Q::dtype> == 8) {
#pragma unroll
    for (int i = 0; i < 2; i++) {
      uint32_t nan;
      asm("{.reg .pred %%p;\n\t.reg .f64 %%x;\n\tmov.b64 %%x, {%0, %1};\n\t"
          "setp.nan.f64 %%p, %%x, %%x;\n\tselp.b32 %0, 0, %0, %%p;\n\t"
          "selp.b32 %1, 0, %1, %%p;\n\tselp.b32 %2, 1, 0, %%p;}"
          : "+r"(x[2 * i]), "+r"(x[2 * i + 1]), "=r"(nan));
      gone |= nan << i;
    }
  } else {
#pragma unroll
    for (int i = 0; i < 4; i++) {
      const uint32_t nan = gr_blank_part<Q::dtype>(x[i]);
      gone |= gr_size<Q::dtype> == 4 ? nan << i : ((nan >> 15 | nan >> 30) & 3) << 2 * i;
    }
  }
  return gone;
}

#endif
