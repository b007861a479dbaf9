/*
** Numbers among floats, where NaN is left out: +0 stands for it. In assembly, as the compiler would put all that an
** element takes under a predicate, and then has few elements under way, or select among sums. A NaN of f32 becomes 0
** before it is converted, while it is one word.
*/
#ifndef GR_CUDA_THREAD_NUMBERS_CUH
#define GR_CUDA_THREAD_NUMBERS_CUH

#include "kernels/cuda/thread/reducer.cuh"

/* Of a double the upper half stays if a predicate holds: else its square is 0. */
#define GR_UPPER_IF(predicate, place) \
  "mov.b64 {low, high}, " place ";\n\tselp.b32 high, high, 0, " predicate ";\n\tmov.b64 " place ", {low, high};"
/* gr_count_number: an element becomes 0, unless it is a number: then a count grows by `one`. gr_if_number: d, a
   distance from a mean, if x is a number. */
#define GR_NUMBERS(type, name, letter, zero)                                                                        \
  __device__ __forceinline__ void gr_count_number(type &x, uint32_t &count, uint32_t one) {                         \
    asm("{.reg .pred %%p;\n\tsetp.num." name " %%p, %0, %0;\n\tselp." name " %0, %0, " zero ", %%p;\n\t"            \
        "@%%p add.u32 %1, %1, %2;}"                                                                                 \
        : "+" letter(x), "+r"(count)                                                                                \
        : "r"(one));                                                                                                \
  }                                                                                                                 \
  __device__ __forceinline__ double gr_if_number(double d, type x) {                                                \
    asm("{.reg .pred %%p;\n\t.reg .b32 low, high;\n\tsetp.num." name " %%p, %1, %1;\n\t" GR_UPPER_IF("%%p", "%0") "}" \
        : "+d"(d)                                                                                                   \
        : letter(x));                                                                                               \
    return d;                                                                                                       \
  }
GR_NUMBERS(float, "f32", "f", "0f00000000")
GR_NUMBERS(double, "f64", "d", "0d0000000000000000")
#undef GR_NUMBERS
/* d, if a number has a bit; and a sum that grows by `term` then. */
__device__ __forceinline__ double gr_if_marked(double d, uint32_t bit) {
  asm("{.reg .pred %%p;\n\t.reg .b32 low, high;\n\tsetp.ne.u32 %%p, %1, 0;\n\t" GR_UPPER_IF("%%p", "%0") "}"
      : "+d"(d)
      : "r"(bit));
  return d;
}
__device__ __forceinline__ void gr_add_marked(double &sum, double term, uint32_t bit) {
  asm("{.reg .pred %%p;\n\tsetp.ne.u32 %%p, %2, 0;\n\t@%%p add.rn.f64 %0, %0, %1;}" : "+d"(sum) : "d"(term), "r"(bit));
}

/*
** Two 16-bit floats: a mask of those that are NaN, and of those that are not, by one instruction, of bf16 from Hopper
** on. Before, what lifts a NaN over the sign's bit is added, and that bit of both becomes whole halves. The sum of
** masks counts both, as each is -1 of 16 bits.
*/
template <gr_dtype D>
__device__ __forceinline__ uint32_t gr_nan_mask(uint32_t u) {
  uint32_t mask;
  if constexpr (D == GR_F16) asm("set.nan.u32.f16x2 %0, %1, %1;" : "=r"(mask) : "r"(u));
  else if constexpr (!gr_before_hopper) asm("set.nan.u32.bf16x2 %0, %1, %1;" : "=r"(mask) : "r"(u));
  else asm("prmt.b32 %0, %1, 0, 0xbb99;" : "=r"(mask) : "r"((u & 0x7fff7fffu) + 0x007f007fu));
  return mask;
}
template <gr_dtype D>
__device__ __forceinline__ uint32_t gr_number_mask(uint32_t u) {
  uint32_t mask;
  if constexpr (D == GR_F16) asm("set.eq.u32.f16x2 %0, %1, %1;" : "=r"(mask) : "r"(u));
  else if constexpr (!gr_before_hopper) asm("set.eq.u32.bf16x2 %0, %1, %1;" : "=r"(mask) : "r"(u));
  else mask = ~gr_nan_mask<D>(u);
  return mask;
}
__device__ __forceinline__ uint32_t gr_low_masks(uint32_t masks) { return 0u - masks & 0xffffu; }
__device__ __forceinline__ uint32_t gr_high_masks(uint32_t masks) {
  const uint32_t low = gr_low_masks(masks);
  return low - (masks + low >> 16) & 0xffffu;
}
/* Distances of both from means. */
template <gr_dtype D>
__device__ __forceinline__ void gr_if_numbers(double &low, double &high, uint32_t u) {
#define GR_IF_NUMBERS(type)                                                                     \
  asm("{.reg .pred %%p, %%q;\n\t.reg .b32 low, high;\n\tsetp.eq." type " %%p|%%q, %2, %2;\n\t" \
      GR_UPPER_IF("%%p", "%0") "\n\t" GR_UPPER_IF("%%q", "%1") "}"                               \
      : "+d"(low), "+d"(high)                                                                   \
      : "r"(u))
  if constexpr (D == GR_F16) {
    GR_IF_NUMBERS("f16x2");
  } else if constexpr (!gr_before_hopper) {
    GR_IF_NUMBERS("bf16x2");
  } else {
    low = gr_if_number(low, __uint_as_float(u << 16));
    high = gr_if_number(high, __uint_as_float(u & 0xffff0000u));
  }
#undef GR_IF_NUMBERS
}
#undef GR_UPPER_IF

#endif
