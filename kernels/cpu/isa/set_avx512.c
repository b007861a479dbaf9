/* The kernels for AVX-512 (F, DQ, BW, VL). */
#include "kernels/cpu/isa/table.h"
#if GR_CPU_X86
#include <immintrin.h>
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx512f,avx512dq,avx512bw,avx512vl,fma,f16c"))), \
                             apply_to = function)
#else
#pragma GCC target("avx512f,avx512dq,avx512bw,avx512vl,fma,f16c")
#endif
#include "kernels/cpu/isa/vec_avx512.h"
#include "kernels/cpu/isa/pairs_avx512.h"
#define GR_SET "avx512"
#define GR_TABLE gr_cpu_avx512
#include "kernels/cpu/isa/kernels.inc"
#if defined(__clang__)
#pragma clang attribute pop
#endif
#else
typedef int gr_cpu_no_avx512;
#endif
