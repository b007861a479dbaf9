/* What the driver of exact sums (exact.c) asks of one instruction set's kernels (exact.inc). */
#ifndef GR_CPU_EXACT_H
#define GR_CPU_EXACT_H

#include "kernels/cpu/kernels_cpu.h"
#include "kernels/numerics/exact.h"

/*
** Add n contiguous elements (magnitudes: their absolute values), or the products of n pairs: [0] of f32, [1] of
** f64. Any values; infinities and NaN go to the flags.
*/
typedef struct gr_exact_set {
  void (*sum[2])(gr_exact *, const void *x, int64_t n, int magnitudes);
  void (*dot[2])(gr_exact *, const void *x, const void *y, int64_t n);
} gr_exact_set;

const gr_exact_set *gr_exact_set_in_use(void);

#endif
