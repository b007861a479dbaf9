/* Reductions over ranks as calls: the messages of fold.h go by the context's communicator. */
#ifndef GR_RANKS_REDUCE_H
#define GR_RANKS_REDUCE_H

#include "src/core/context.h"

/*
** Of a call, after gr_ranks_meet: the states of vectors that lie over all ranks of the context's communicator, as many
** as that says (width), of which the job's are this rank's parts, in the host's memory.
*/
gr_status gr_ranks_reduce(gr_context *, gr_queue *, const gr_reduce_job *, gr_acc *states);

/*
** The same with the ranks' meeting before it: the job's op, dtype and so on must be the same everywhere, and mine says
** whether this rank could make its job. *n: how long the vectors are together. Whether there is an element, and
** more than ddof, is looked at here, as only all ranks together know. The caller frees the states.
*/
gr_status gr_ranks_vectors(gr_context *, gr_queue *, const gr_reduce_job *, gr_status mine, gr_acc **states,
                           int64_t *n);
gr_status gr_ranks_number(gr_context *, gr_queue *, const gr_reduce_job *, gr_status mine, gr_value *result);

#endif
