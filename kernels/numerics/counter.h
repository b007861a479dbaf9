/* Partial results of neighbouring subtrees, folded as soon as two of a size have met: a binary counter. */
#ifndef GR_COUNTER_H
#define GR_COUNTER_H

#include "kernels/numerics/numerics.h"

typedef struct gr_counter {
  gr_acc node[64];
  int top;
  uint64_t count;
} gr_counter;

static inline void gr_counter_begin(gr_counter *c) {
  c->top = 0;
  c->count = 0;
}

/* acc: the state of so many leaves, a power of two of which there have been whole multiples before. */
static inline void gr_counter_push_of(gr_counter *c, gr_reducer red, gr_acc_kind kind, gr_acc acc, uint64_t many) {
  uint64_t bit; /* many is one, a power of two */
  for (bit = many; c->count & bit; bit <<= 1) acc = gr_merge(red, kind, c->node[--c->top], acc);
  c->node[c->top++] = acc;
  c->count += many;
}
static inline void gr_counter_push(gr_counter *c, gr_reducer red, gr_acc_kind kind, gr_acc acc) {
  gr_counter_push_of(c, red, kind, acc, 1);
}

static inline gr_acc gr_counter_fold(gr_counter *c, gr_reducer red, gr_acc_kind kind) {
  gr_acc acc = c->node[--c->top];
  while (c->top > 0) acc = gr_merge(red, kind, c->node[--c->top], acc);
  return acc;
}

#endif
