/* Random numbers, orders and choices. As in ops.h: callers have checked, failures have words. */
#ifndef GR_CORE_RANDOM_H
#define GR_CORE_RANDOM_H

#include "src/core/array.h"

/*
** Random numbers of a seed and a stream. Callers choose streams below GR_STREAMS. The two bits above tell apart uniform
** and normal numbers of one stream, and those of the state's own generator, so that no two share a block of Philox;
** other purposes have marks in the counter (random.c).
*/
#define GR_STREAMS ((uint64_t)1 << 62)
typedef struct gr_draw {
  uint64_t seed, stream;
} gr_draw;

/* The state's generator: started with a seed, it gives each taker the stream after the last one. */
void gr_random_start(gr_context *, uint64_t seed);
gr_draw gr_random_take(gr_context *);

/* kind: GR_UNIFORM, GR_NORMAL, GR_EXPONENTIAL (kernels/numerics/math.h). */
gr_status gr_random(gr_context *, gr_array *out, gr_draw, int kind);

/* Whole numbers low, low + 1, ..., range of them (0: 2^64), which the dtype of out has. */
gr_status gr_random_whole(gr_context *, gr_array *out, gr_draw, int64_t low, uint64_t range);

/* The first #out positions of a random order of 1 .. length. */
gr_status gr_random_order(gr_context *, gr_array *out, gr_draw, int64_t length);

/*
** As many elements of a as out has, in random order: each as likely as the next, or as weights (any dtype, as long as
** a) say. replace: one may come again.
*/
typedef struct gr_choice {
  const gr_array *a, *weights; /* weights: NULL if all are alike */
  int replace;
  gr_draw draw;
} gr_choice;
gr_status gr_choose(gr_context *, const gr_choice *, gr_array *out);

#endif
