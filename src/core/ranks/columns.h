/* States of the columns of a matrix that lies on a device. */
#ifndef GR_RANKS_COLUMNS_H
#define GR_RANKS_COLUMNS_H

#include "src/core/backend.h"

/* Whether one launch gives them: results of an operation from which the states follow. Else each takes one. */
int gr_ranks_at_once(gr_op, gr_dtype);

/* Of each of the job's vectors, in the host's memory. */
gr_status gr_ranks_columns(gr_queue *, const gr_reduce_job *, gr_acc *states);

#endif
