/* The kernels for AVX-512 (F, DQ, BW, VL). */
#include "kernels/cpu/isa/table.h"
#if GR_CPU_X86
#include <immintrin.h>
GR_TARGET(GR_AVX512 ",f16c")
#include "kernels/cpu/isa/vec_avx512.h"
#include "kernels/cpu/isa/pairs_avx512.h"
#include "kernels/cpu/isa/down_avx512.h"
#include "kernels/cpu/isa/halves_avx512.h"
#include "kernels/cpu/isa/bounds.h"
#define GR_SET "avx512"
#define GR_TABLE gr_cpu_avx512
#include "kernels/cpu/isa/kernels.inc"
GR_TARGET_END
#else
typedef int gr_cpu_no_avx512;
#endif
