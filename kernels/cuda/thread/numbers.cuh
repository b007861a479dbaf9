/*
** Numbers among floats, where NaN is left out: +0 stands for it. In assembly, as the compiler
** would put all that an element takes under a predicate, and then has few elements under way, or select among sums. A
** NaN of f32 becomes 0 before it is converted, while it is one word.
*/
#ifndef GR_CUDA_THREAD_NUMBERS_CUH
#define GR_CUDA_THREAD_NUMBERS_CUH

#include "kernels/cuda/thread/reducer.cuh"

/* An element becomes 0, unless it is a number: then a count grows by `one`. */
__device__ __forceinline__ void gr_count_number(float &x, uint32_t &count, uint32_t one) {
  asm("{.reg .pred %%p;\n\tsetp.num.f32 %%p, %0, %0;\n\tselp.f32 %0, %0, 0f00000000, %%p;\n\t@%%p add.u32 %1, %1, %2;}"
      : "+f"(x), "+r"(count)
      : "r"(one));
}
__device__ __forceinline__ void gr_count_number(double &x, uint32_t &count, uint32_t one) {
  asm("{.reg .pred %%p;\n\tsetp.num.f64 %%p, %0, %0;\n\tselp.f64 %0, %0, 0d0000000000000000, %%p;\n\t"
      "@%%p add.u32 %1, %1, %2;}"
      : "+d"(x), "+r"(count)
      : "r"(one));
}
/* A sum grows by `term` if a number has a bit. */
__device__ __forceinline__ void gr_add_marked(double &sum, double term, uint32_t bit) {
  asm("{.reg .pred %%p;\n\tsetp.ne.u32 %%p, %2, 0;\n\t@%%p add.rn.f64 %0, %0, %1;}" : "+d"(sum) : "d"(term), "r"(bit));
}
/* d, a distance from a mean, unless a bit is set, or x is NaN: then its upper half is 0, and so its square. */
__device__ __forceinline__ double gr_unless(double d, uint32_t bit) {
  asm("{.reg .pred %%p;\n\t.reg .b32 low, high;\n\tsetp.eq.u32 %%p, %1, 0;\n\tmov.b64 {low, high}, %0;\n\t"
      "selp.b32 high, high, 0, %%p;\n\tmov.b64 %0, {low, high};}"
      : "+d"(d)
      : "r"(bit));
  return d;
}
__device__ __forceinline__ double gr_unless_nan(double d, float x) {
  asm("{.reg .pred %%p;\n\t.reg .b32 low, high;\n\tsetp.num.f32 %%p, %1, %1;\n\tmov.b64 {low, high}, %0;\n\t"
      "selp.b32 high, high, 0, %%p;\n\tmov.b64 %0, {low, high};}"
      : "+d"(d)
      : "f"(x));
  return d;
}
__device__ __forceinline__ double gr_unless_nan(double d, double x) {
  asm("{.reg .pred %%p;\n\t.reg .b32 low, high;\n\tsetp.num.f64 %%p, %1, %1;\n\tmov.b64 {low, high}, %0;\n\t"
      "selp.b32 high, high, 0, %%p;\n\tmov.b64 %0, {low, high};}"
      : "+d"(d)
      : "d"(x));
  return d;
}

/*
** Two 16-bit floats: a mask of those that are numbers, by one instruction, of bf16 from Hopper on. Before, what lifts a
** NaN over the sign's bit is added, and that bit of both becomes whole halves. The sum of masks counts both, as each is
** -1 of 16 bits.
*/
template <gr_dtype D>
__device__ __forceinline__ uint32_t gr_number_mask(uint32_t u) {
  uint32_t mask;
  if constexpr (D == GR_F16) {
    asm("set.eq.u32.f16x2 %0, %1, %1;" : "=r"(mask) : "r"(u));
  } else if constexpr (!gr_before_hopper) {
    asm("set.eq.u32.bf16x2 %0, %1, %1;" : "=r"(mask) : "r"(u));
  } else {
    asm("prmt.b32 %0, %1, 0, 0xbb99;" : "=r"(mask) : "r"((u & 0x7fff7fffu) + 0x007f007fu));
    mask = ~mask;
  }
  return mask;
}
__device__ __forceinline__ uint32_t gr_low_masks(uint32_t masks) { return 0u - masks & 0xffffu; }
__device__ __forceinline__ uint32_t gr_high_masks(uint32_t masks) {
  const uint32_t low = gr_low_masks(masks);
  return low - (masks + low >> 16) & 0xffffu;
}
/* Distances of both from means. */
template <gr_dtype D>
__device__ __forceinline__ void gr_unless_nans(double &low, double &high, uint32_t u) {
#define GR_UNLESS(type)                                                                                           \
  asm("{.reg .pred %%p, %%q;\n\t.reg .b32 l, h;\n\tsetp.eq." type " %%p|%%q, %2, %2;\n\tmov.b64 {l, h}, %0;\n\t" \
      "selp.b32 h, h, 0, %%p;\n\tmov.b64 %0, {l, h};\n\tmov.b64 {l, h}, %1;\n\tselp.b32 h, h, 0, %%q;\n\t"         \
      "mov.b64 %1, {l, h};}"                                                                                      \
      : "+d"(low), "+d"(high)                                                                                     \
      : "r"(u))
  if constexpr (D == GR_F16) {
    GR_UNLESS("f16x2");
  } else if constexpr (!gr_before_hopper) {
    GR_UNLESS("bf16x2");
  } else {
    low = gr_unless_nan(low, __uint_as_float(u << 16));
    high = gr_unless_nan(high, __uint_as_float(u & 0xffff0000u));
  }
#undef GR_UNLESS
}

#endif
