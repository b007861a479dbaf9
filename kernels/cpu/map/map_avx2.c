/* The loops of element operators for AVX2. */
#define GR_FUSED 1
#include "kernels/cpu/isa/table.h"
#if GR_CPU_X86
GR_TARGET(GR_AVX2 ",f16c")
#define GR_SIDE_BY_SIDE 1
#define GR_LOOPS gr_map_avx2
#include "kernels/cpu/map/map_loops.inc"
GR_TARGET_END
#else
typedef int gr_cpu_no_map_avx2;
#endif
