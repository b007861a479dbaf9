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

/* Elements of 2 or 4 bytes that are NaN become +0: returns 1 for one of 4 bytes, of two the mask of those that were. */
template <gr_dtype D>
__device__ __forceinline__ uint32_t gr_blank_part(uint32_t &u) {
  if constexpr (gr_size<D> == 4) {
    const bool nan = isnan(__uint_as_float(u));
    u = nan ? 0 : u;
    return nan;
  } else {
    const uint32_t mask = gr_nan_mask<D>(u);
    u &= ~mask;
    return mask;
  }
}

/* Of squares and absolute values signs do not count: the larger one of a magnitude and 0, which is one instruction. */
template <class R>
constexpr bool gr_blanks_magnitudes = R::red == GR_RED_SUMSQ && gr_size<R::dtype> <= 4;
template <gr_dtype D>
__device__ __forceinline__ void gr_blank_magnitudes(uint32_t &u) {
  if constexpr (D == GR_F32) {
    u = __float_as_uint(fmaxf(fabsf(__uint_as_float(u)), 0));
  } else {
#define GR_MAGNITUDES(type)                                                                 \
  asm("{.reg .b32 %%x;\n\tabs." type " %%x, %0;\n\tmax." type " %0, %%x, %1;}" : "+r"(u) : "r"(0))
    if constexpr (D == GR_F16) GR_MAGNITUDES("f16x2");
    else GR_MAGNITUDES("bf16x2");
#undef GR_MAGNITUDES
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

/* How many elements of some words are there: count, and one for each -1 in the halves of masks (gr_number_mask). */
struct gr_there {
  int count;
  uint32_t masks;
  __device__ __forceinline__ int total() const {
    return count + (int)(gr_low_masks(masks) + gr_high_masks(masks));
  }
};

/* Blanks a word, or one of each input; of its elements `from` .. to - 1 those that are there are counted. */
template <class Q>
__device__ __forceinline__ void gr_blank_word(uint4 &a, uint4 &b, int from, int to, gr_there &there) {
  constexpr gr_dtype D = Q::dtype;
  constexpr int each = 16 / gr_size<D>;
  constexpr bool two = Q::inputs == 2;
  uint32_t *x = &a.x, *y = &b.x;
  if constexpr (gr_blanks_magnitudes<Q>) {
    static_assert(!two && !Q::counts, "elements are not counted");
#pragma unroll
    for (int i = 0; i < 4; i++) gr_blank_magnitudes<D>(x[i]);
  } else if constexpr (gr_size<D> == 2) {
    const bool whole = from == 0 && to == each;
#pragma unroll
    for (int i = 0; i < 4; i++) {
      uint32_t mask = gr_number_mask<D>(x[i]);
      if (two) mask &= gr_number_mask<D>(y[i]);
      x[i] &= mask;
      if (two) y[i] &= mask;
      if (whole) there.masks += mask;
#pragma unroll
      for (int c = 2 * i; c < 2 * i + 2; c++)
        if (!whole && c >= from && c < to) there.masks += mask & 0xffffu << c % 2 * 16;
    }
  } else {
    constexpr int words = gr_size<D> / 4;
#pragma unroll
    for (int c = 0; c < each; c++) {
      gr_type<D> u, v;
      memcpy(&u, x + c * words, sizeof u);
      memcpy(&v, (two ? y : x) + c * words, sizeof v);
      gr_blank_two(u, v, there.count, c >= from && c < to);
      memcpy(x + c * words, &u, sizeof u);
      if (two) memcpy(y + c * words, &v, sizeof v);
    }
  }
}

/*
** Leaves NaN out of a word, with +0 in its place; where R counts, missing grows by how many there were at each place,
** of 2-byte elements by masks of two.
*/
template <class R>
__device__ __forceinline__ void gr_blank_places(uint32_t (&u)[4], uint32_t (&missing)[4]) {
  if constexpr (gr_blanks_magnitudes<R>) {
    static_assert(!R::tallied, "elements are not counted");
#pragma unroll
    for (int i = 0; i < 4; i++) gr_blank_magnitudes<R::dtype>(u[i]);
  } else if constexpr (gr_size<R::dtype> == 8) {
#pragma unroll
    for (int i = 0; i < 4; i += 2) {
      const bool nan = isnan(__hiloint2double((int)u[i + 1], (int)u[i]));
      u[i] = nan ? 0 : u[i];
      u[i + 1] = nan ? 0 : u[i + 1];
      if (R::tallied) missing[i / 2] += nan;
    }
  } else {
#pragma unroll
    for (int i = 0; i < 4; i++) {
      const uint32_t nan = gr_blank_part<R::dtype>(u[i]);
      if (R::tallied) missing[i] += nan;
    }
  }
}
/* How many were missing at place e of a word. */
template <gr_dtype D>
__device__ __forceinline__ uint32_t gr_missing_at(const uint32_t (&missing)[4], int e) {
  if constexpr (gr_size<D> != 2) return missing[e & 3];
  else return e & 1 ? gr_high_masks(missing[e / 2]) : gr_low_masks(missing[e / 2]);
}

/*
** Blanks a word that waits among others; returns a bit for each of its elements that was NaN. Of f64 by halves:
** elements in pairs of registers would spill (rows of 64: 405 us, as many as stored elements take). Of squares, 0.
*/
template <class Q>
__device__ __forceinline__ uint32_t gr_blank_alone(uint4 &a) {
  uint32_t *x = &a.x, gone = 0;
  if constexpr (gr_blanks_magnitudes<Q>) {
#pragma unroll
    for (int i = 0; i < 4; i++) gr_blank_magnitudes<Q::dtype>(x[i]);
  } else if constexpr (gr_size<Q::dtype> == 8) {
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
      gone |= gr_size<Q::dtype> == 4 ? nan << i : nan & 0x20001u << 2 * i;
    }
    if constexpr (gr_size<Q::dtype> == 2) gone = (gone | gone >> 16) & 0xff;
  }
  return gone;
}

#endif
