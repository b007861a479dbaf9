/* Columns of a matrix over ranks, one after the other, of what has no way of all columns at once. */
#ifndef GR_RANKS_EACH_H
#define GR_RANKS_EACH_H

#include "src/core/missing.h"

/*
** Meets the other ranks for a call that goes column by column; *columns: how many there are. what: as of gr_ranks_meet.
** Each column's own call meets again.
*/
gr_status gr_ranks_each(gr_context *, const char *what, gr_shape, const gr_array *a, gr_status mine, int64_t *columns);

/* As gr_reduce_ranks, which makes out and out2; exact reductions, and such of what is present, too. */
gr_status gr_partial_ranks(gr_context *, const gr_partial_reduction *, gr_dtype t, gr_array *out, gr_array *out2);

#endif
