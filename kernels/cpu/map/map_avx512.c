/* The loops of element operators for AVX-512. */
#define GR_FUSED 1
#include "kernels/cpu/isa/table.h"
#if GR_CPU_X86
#include <immintrin.h>
#if defined(__clang__)
GR_TARGET(GR_AVX512 ",f16c")
#else
GR_TARGET(GR_AVX512 ",f16c,prefer-vector-width=512")
#endif
#define GR_SIDE_BY_SIDE 1
#define GR_OWN_LOOPS "kernels/cpu/map/tanh_avx512.h"
#define GR_LOOPS gr_map_avx512
#include "kernels/cpu/map/map_loops.inc"
GR_TARGET_END
#else
typedef int gr_cpu_no_map_avx512;
#endif
