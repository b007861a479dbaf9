/* The kernels for NEON, which every 64-bit ARM has, so the compiler needs no option. */
#include "kernels/cpu/isa/table.h"
#if GR_CPU_NEON
#include "kernels/cpu/isa/vec_neon.h"
#include "kernels/cpu/isa/bounds.h"
#define GR_SET "neon"
#define GR_TABLE gr_cpu_neon
#include "kernels/cpu/isa/kernels.inc"
#else
typedef int gr_cpu_no_neon;
#endif
