/* Elements that go from rank to rank, where the parts of two end within a leaf. */
#ifndef GR_RANKS_BORDERS_H
#define GR_RANKS_BORDERS_H

#include "src/core/context.h"
#include "src/core/ranks/fold.h"

/*
** After gr_ranks_meet, where gr_has_borders: every rank sends and receives what it must (nodes.h says what, and what
** all means). *before: what this rank got, packed stretch by stretch, in a block that the caller frees. mine: whether
** this rank has made the room that it needs afterwards; if one has not, all fail.
*/
gr_status gr_ranks_borders(gr_context *, const gr_ranks_fold *, const gr_reduce_job *, int all, char **before,
                           gr_status mine);

/* The same of one vector in the host's memory, and leaves of so many elements. */
gr_status gr_ranks_borders_of(gr_context *, gr_dtype, gr_vec, int64_t leaf, int all, char **before, gr_status mine);

#endif
