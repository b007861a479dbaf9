/* The kernels for SSE2. */
#include "kernels/cpu/isa/table.h"
#if GR_CPU_X86
#include <emmintrin.h>
GR_TARGET("sse2")
#include "kernels/cpu/isa/vec_sse2.h"
#define GR_SET "sse2"
#define GR_TABLE gr_cpu_sse2
#include "kernels/cpu/isa/kernels.inc"
GR_TARGET_END
#else
typedef int gr_cpu_no_sse2;
#endif
