/* What reductions over ranks share: how much there is to send, and how this rank's message is made. */
#ifndef GR_RANKS_PLAN_H
#define GR_RANKS_PLAN_H

#include "src/core/context.h"
#include "src/core/ranks/comm.h"
#include "src/core/ranks/fold.h"
#include "src/core/storage.h"

/* What a call needs besides what comes over borders, in one block. */
typedef struct gr_ranks_plan {
  gr_ranks_fold fold;
  const int64_t *starts;
  int size, rank, borders;
  int64_t mine, all, leaf; /* bytes: of messages, of a leaf that is put together, */
  int64_t edge;            /* and of what a device has of a leaf, where the block has room for that */
  int64_t step;            /* short messages go as if all were of that length, which is quicker; 0: each has its own */
} gr_ranks_plan;

/* Lengths of all messages go to the communicator's. */
gr_ranks_plan gr_plan_ranks(const gr_comm *, const gr_ranks_fold *);
int64_t gr_plan_edge(const gr_ranks_plan *);

/* Where things lie in a block; sizes are rounded, so that all are aligned. */
int64_t gr_take_room(int64_t *at, int64_t bytes);

/* What ranks know alike of a job, and where this one's vectors are. */
gr_ranks_fold gr_fold_of(gr_queue *, gr_side, const gr_reduce_job *);

/* Makes states of nodes (gr_states_function), on the device or the host. */
typedef struct gr_ranks_maker {
  gr_context *c;
  gr_queue *q;
  int on_device;                 /* all but leaves that are put together */
  gr_brought wanted[GR_BROUGHT]; /* what comes from there with the first states */
  int count;
} gr_ranks_maker;
gr_status gr_make_states(void *maker, const gr_reduce_job *nodes, int count, int joined, gr_acc *);
/* States of so many nodes on the device, and what else is wanted of it. */
gr_status gr_ask_device(gr_ranks_maker *, const gr_reduce_job *nodes, int count, gr_acc *);

/* This rank's message. before: what came over borders; mine: whether all has gone well so far. */
gr_status gr_make_message(gr_context *, gr_queue *, const gr_ranks_plan *, const gr_reduce_job *, const char *before,
                          char *leaf, char *edge, gr_acc *states, gr_status mine, char *message);
/* Whether a rank says in its message that it has none. */
int gr_any_failed(const gr_ranks_plan *, const char *all, const int64_t *lengths);

/* All that ranks must agree on of a job, in words, but how many vectors there are. */
void gr_describe_reduction(const void *job, char *text, size_t room);
/* Whether n elements are enough for it: after the meeting, so the same on all ranks. */
gr_status gr_check_ranks_length(gr_context *, const gr_reduce_job *, int64_t n);

#endif
