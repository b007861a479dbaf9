/* Stretches of an array, one after the other, each with a length of its own: where reductions take them from. */
#ifndef GR_SEGMENTS_H
#define GR_SEGMENTS_H

#include "src/core/array.h"

typedef struct gr_segments {
  /* Dense, i64 or i32; segment k (from 0) is elements offsets[k] .. offsets[k + 1] - 1 (from 1). */
  const gr_array *offsets;
  int64_t count;
  int64_t shortest, longest; /* lengths; of no segments 0 */
} gr_segments;

/* Checks the positions, on the host: GR_BAD when they fall, or point outside of an array of n elements. */
gr_status gr_segments_of(gr_context *, const gr_array *offsets, int64_t n, gr_segments *);

/* Where segment k begins, and its length: on the host, which has read the positions for gr_segments_of. */
int64_t gr_segment_in(const gr_segments *, int64_t k, int64_t *n);

/* The first segment of the shortest, from 0. */
int64_t gr_segments_shortest(const gr_segments *);

/* Run a job whose a, b and results are set: one launch, and one more for all long segments if there are any. */
gr_status gr_segments_run(gr_context *, gr_queue *, const gr_reduce_job *, const gr_segments *);

#endif
