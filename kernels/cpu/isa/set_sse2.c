/* The kernels for SSE2. */
#include "kernels/cpu/isa/table.h"
#if GR_CPU_X86
#include <emmintrin.h>
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("sse2"))), apply_to = function)
#else
#pragma GCC target("sse2")
#endif
#include "kernels/cpu/isa/vec_sse2.h"
#define GR_SET "sse2"
#define GR_TABLE gr_cpu_sse2
#include "kernels/cpu/isa/kernels.inc"
#if defined(__clang__)
#pragma clang attribute pop
#endif
#else
typedef int gr_cpu_no_sse2;
#endif
