/* Columns of a matrix over ranks: their states, where it lies on a device, and the arrays of their results. */
#ifndef GR_RANKS_COLUMNS_H
#define GR_RANKS_COLUMNS_H

#include "src/core/array.h"

/* Whether one launch gives them: results of an operation from which the states follow. Else each takes one. */
int gr_ranks_at_once(gr_op, gr_dtype);

/* Of each of the job's vectors, in the host's memory. */
gr_status gr_ranks_columns(gr_queue *, const gr_reduce_job *, gr_acc *states);

/*
** After ranks have met: `count` new arrays of as many elements as there are columns, beside that array and to be
** written in the host's memory, if all ranks have room for theirs.
*/
gr_status gr_ranks_results(gr_context *, const gr_array *beside, gr_array *const *out, const gr_dtype *, int count,
                           gr_vec *to);

#endif
