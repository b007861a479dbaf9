/*
** Elements that a formula makes when a thread asks for them, a stretch at a time, in buffers of that thread: what
** operations read in the place of a vector that lies in memory.
*/
#ifndef GR_CPU_FEED_H
#define GR_CPU_FEED_H

#include <stdatomic.h>
#include "kernels/cpu/formula/block.h"

struct gr_feed {
  gr_block_plan blocks; /* first: room begins with it */
  int64_t stretch;      /* positions that buffers hold */
  int64_t set_bytes;    /* of the buffers of a thread */
  char *sets;
  atomic_int *taken; /* sets in use */
};

/* A plan at `room`, and the bytes that it takes to run, which gr_feed_ready gets; that gives what comes after. */
int64_t gr_feed_plan(gr_feed *, const gr_formula_job *, void *room, int threads, int64_t stretch);
char *gr_feed_ready(gr_feed *, char *memory);

/* What a thread works in until it gives it back. Without a feed (NULL) there is none. */
int gr_feed_take(gr_feed *);
void gr_feed_give(gr_feed *, int set);

/* Positions from .. from + n, at most a stretch, into the buffers; and where a node's are then: element 0 at `from`. */
void gr_feed_make(const gr_feed *, int set, int64_t from, int64_t n);
const char *gr_feed_at(const gr_feed *, int set, int node, int64_t from);

/* The same for the vectors of the job's operation; b may be NULL. */
void gr_feed_vectors(const gr_feed *, int set, int64_t from, int64_t n, gr_vec *a, gr_vec *b);

/* The same of a matrix, for columns: rows row .. row + rows of columns v .. v + width, stride bytes from row to row. */
void gr_feed_rows(const gr_feed *, int set, int64_t row, int64_t rows, int64_t v, int width, gr_vec *a, gr_vec *b);

/* Elements that a kernel may ask for at once of the n that it wants: all of what lies in memory (NULL). */
static inline int64_t gr_feed_most(const gr_feed *f, int64_t n) { return f && f->stretch < n ? f->stretch : n; }

#endif
