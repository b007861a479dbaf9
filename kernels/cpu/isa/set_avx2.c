/* The kernels for AVX2, FMA and F16C. */
#include "kernels/cpu/isa/table.h"
#if GR_CPU_X86
#include <immintrin.h>
GR_TARGET(GR_AVX2 ",f16c")
#include "kernels/cpu/isa/vec_avx2.h"
#include "kernels/cpu/isa/bounds.h"
#define GR_SET "avx2"
#define GR_TABLE gr_cpu_avx2
#include "kernels/cpu/isa/kernels.inc"
GR_TARGET_END
#else
typedef int gr_cpu_no_avx2;
#endif
