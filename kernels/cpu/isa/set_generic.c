/* The kernels in plain C, for any compiler and machine. */
#include "kernels/cpu/isa/vec_generic.h"
#define GR_SET "generic"
#define GR_TABLE gr_cpu_generic
#include "kernels/cpu/isa/kernels.inc"
