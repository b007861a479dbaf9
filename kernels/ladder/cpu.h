/* The teaching kernels' shapes on the CPU. */
#ifndef GR_LADDER_CPU_H
#define GR_LADDER_CPU_H

#include "kernels/cpu/kernels_cpu.h"
#include "kernels/ladder/ladder.h"

/* On one thread: the second argument is there because every operation has it. */
void gr_cpu_ladder(const gr_ladder_job *, gr_parallel);

#endif
