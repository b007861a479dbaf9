/* What scan.c and the kernels of scan.inc and scan_keys.inc share. */
#ifndef GR_CPU_SCAN_H
#define GR_CPU_SCAN_H

#include "kernels/numerics/numerics.h"

#define GR_SCAN_BLOCK 131072 /* elements: 32 tiles of 16 rows of 32 groups of 8 */
/* What a thread takes at once, a quarter of a block: it reads it a second time from its second-level cache. */
#define GR_SCAN_PIECE 32768

/*
** Totals of neighbours, paired as the scan by doubling halves pairs them: scan_fold is the inclusive result
** at the last one pushed.
*/
typedef struct scan_counter {
  double node[8];
  int top, count;
} scan_counter;

/* x: the total of so many, a power of two of which there have been whole multiples before. */
static inline void scan_push_of(scan_counter *c, int multiply, double x, int many) {
  for (int k = c->count / many; k & 1; k >>= 1) {
    const double left = c->node[--c->top];
    x = multiply ? left * x : left + x;
  }
  c->node[c->top++] = x;
  c->count += many;
}
static inline void scan_push(scan_counter *c, int multiply, double x) { scan_push_of(c, multiply, x, 1); }

static inline double scan_fold(const scan_counter *c, int multiply) {
  int k = c->top - 1;
  double x = c->node[k];
  while (k-- > 0) x = multiply ? c->node[k] * x : c->node[k] + x;
  return x;
}

#endif
