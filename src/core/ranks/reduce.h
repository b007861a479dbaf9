/* Reductions over ranks as calls: the messages of fold.h go by the context's communicator. */
#ifndef GR_RANKS_REDUCE_H
#define GR_RANKS_REDUCE_H

#include "src/core/context.h"

/*
** Of a call, after gr_ranks_meet: the states of vectors that lie over all ranks of the context's communicator, as many
** as that says (width), of which the job's are this rank's parts, in the host's memory.
*/
gr_status gr_ranks_reduce(gr_context *, gr_queue *, const gr_reduce_job *, gr_acc *states);

#endif
