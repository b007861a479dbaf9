/* Reductions over ranks as calls: the messages of fold.h go by the context's communicator. */
#ifndef GR_RANKS_REDUCE_H
#define GR_RANKS_REDUCE_H

#include "src/core/context.h"
#include "src/core/storage.h"

/*
** Of a call: the states of vectors that lie over all ranks of the context's communicator, as many as that says (width),
** of which the job's are this rank's parts: in the memory of that side, of the device's dense. What a device has it
** reduces; of it the host gets states, and elements at borders.
**
** The ranks meet first: the job's op, dtype and so on must be the same everywhere, and mine says whether this rank
** could make its job. *n: how long the vectors are together. Whether there is an element, and more than ddof, is looked
** at here, as only all ranks together know. The caller frees the states.
*/
gr_status gr_ranks_vectors(gr_context *, gr_queue *, gr_side, const gr_reduce_job *, gr_status mine, gr_acc **states,
                           int64_t *n);
gr_status gr_ranks_number(gr_context *, gr_queue *, gr_side, const gr_reduce_job *, gr_status mine, gr_value *result);

/*
** Several numbers, with one meeting, one exchange of elements at borders and one of states for all. Each item's vectors
** may lie over the ranks in a way of their own. Squares that leave the safe range are left to the caller. rank: who has
** the position that is the result.
*/
typedef struct gr_ranks_item {
  gr_queue *queue;
  gr_side side;
  gr_reduce_job job;
  gr_value value;
  int64_t n; /* of all ranks */
  int rank;
} gr_ranks_item;
gr_status gr_ranks_numbers(gr_context *, gr_ranks_item *, int count, gr_status mine);

#endif
