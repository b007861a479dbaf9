/* The kernels for AVX2, FMA and F16C. */
#include "kernels/cpu/isa/table.h"
#if GR_CPU_X86
#include <immintrin.h>
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2,fma,f16c"))), apply_to = function)
#else
#pragma GCC target("avx2,fma,f16c")
#endif
#include "kernels/cpu/isa/vec_avx2.h"
#define GR_SET "avx2"
#define GR_TABLE gr_cpu_avx2
#include "kernels/cpu/isa/kernels.inc"
#if defined(__clang__)
#pragma clang attribute pop
#endif
#else
typedef int gr_cpu_no_avx2;
#endif
