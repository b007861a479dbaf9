/*
** What the files that take a reduction apart share: reduce.c (flat, rows, any strides), columns.c, panels.c (columns of
** a formula), transpose.c, segments.c and results.c.
*/
#ifndef GR_CPU_REDUCE_H
#define GR_CPU_REDUCE_H

#include <string.h>

#include "kernels/cpu/isa/table.h"
#include "kernels/cpu/room.h"

#define GR_PIECE_BYTES (256 * 1024) /* what is worth handing to another thread */

/* What all vectors of a job have in common. */
typedef struct gr_plan {
  const gr_reduce_job *job;
  gr_span span;
  gr_down down; /* NULL: none, or too few vectors */
  gr_reducer red;
  gr_acc_kind kind;
  int size, inputs;
  int least; /* vectors side by side that `down` takes, at least */
} gr_plan;

gr_plan gr_plan_of(const gr_reduce_job *job);

/* What a state comes to. */
void gr_finish_state(const gr_reduce_job *job, const gr_acc *acc, gr_value *r);

/* Whether results are sums of doubles, or of int64_t, that kernels may write by themselves; of doubles' `count`, which
   are not the one NaN yet, means are then made. */
int gr_are_double_sums(const gr_plan *p);
int gr_are_whole_sums(const gr_plan *p);
void gr_finish_sums(const gr_plan *p, int count, double *sums);

/*
** A binary counter (gr_counter) of sums of `count` vectors that have as many leaves, level by level in node, `pitch`
** apart. push takes leaf number `leaf` of each, and changes them; fold leaves what they come to in the first level.
*/
static inline void gr_sums_push(double *node, int pitch, int *top, int64_t leaf, double *sums, int count) {
  for (; leaf & 1; leaf >>= 1) {
    const double *before = node + --*top * pitch;
    for (int i = 0; i < count; i++) sums[i] = before[i] + sums[i];
  }
  memcpy(node + (*top)++ * pitch, sums, (size_t)count * sizeof(*sums));
}
static inline void gr_sums_fold(double *node, int pitch, int top, int count) {
  for (top--; top > 0; top--) {
    double *before = node + (top - 1) * pitch;
    for (int i = 0; i < count; i++) before[i] = before[i] + before[pitch + i];
  }
}

/* The result of vector v, from its state. */
void gr_finish_vector(const gr_plan *p, int64_t v, gr_acc acc);

/* The same of vectors v .. v + count - 1. */
void gr_finish_vectors(const gr_plan *p, int64_t v, int count, const gr_acc *states);

/* Where kernels that go down vectors may write what their states would come to, of vector v on, or NULL; and what is
   left to do there: means are divided. A NaN that they write is the canonical one. */
void *gr_results_at(const gr_plan *p, int64_t v);
void gr_finish_results(const gr_plan *p, int count, void *results);

/* The columns of a row-major matrix (step == size): strip by strip, in the order of memory. */
void gr_reduce_columns(const gr_plan *p, gr_parallel parallel);

#define GR_STRIP_BYTES (64 * 1024) /* turned columns of a leaf, of one input */
#define GR_STRIP_MOST 16           /* columns in a strip */
#define GR_STRIP_PAD 64            /* keeps columns out of each other's cache sets */
#define GR_STRIP_ROOM (GR_STRIP_BYTES + GR_STRIP_MOST * GR_STRIP_PAD)
#define GR_MOST_STATES 2048 /* partial states kept when long columns are cut */

/* A strip of a row-major matrix, turned: to + c * pitch gets the strip's column c, contiguous. */
void gr_turn(int size, char *to, int64_t pitch, const char *from, int64_t stride, int64_t rows, int columns);

/* A job with offsets: every vector of a length of its own. */
void gr_reduce_segments(const gr_reduce_job *job, gr_parallel parallel);

#endif
