/*
** Reductions over ranks. A part is what one rank does: it reduces the nodes that lie whole in its elements, and the
** states of these are its message; everybody folds all messages along the tree that one process would have used. The
** steps are functions of their own, so that a program can be all ranks at once (spec/ranks.c).
*/
#ifndef GR_RANKS_FOLD_H
#define GR_RANKS_FOLD_H

#include "src/core/backend.h"
#include "src/core/ranks/nodes.h"

/* What ranks know alike of a reduction of job->count vectors, each of which lies over all of them. */
typedef struct gr_ranks_fold {
  gr_reducer reducer;
  gr_acc_kind kind;
  int fields;      /* of a state that are in use, 8 bytes each */
  int64_t leaf;    /* elements */
  int64_t count;   /* vectors */
  int64_t element; /* bytes of one element of every vector and every input: what lies at one position */
  int inputs;
  gr_queue *device; /* in whose memory this rank's vectors are, dense; NULL: in the host's */
} gr_ranks_fold;

gr_ranks_fold gr_ranks_fold_of(const gr_reduce_job *);

/* Bytes of the message of a rank. */
int64_t gr_ranks_message(const gr_ranks_fold *, const int64_t *starts, int size, int rank);

/*
** The elements first .. end - 1 of this rank (low: its first position) side by side in `to`, position by position, of
** the first input, then of the second; and where those of a stretch begin in a leaf that is put together so.
*/
void gr_ranks_pack(const gr_ranks_fold *, const gr_reduce_job *, int64_t low, int64_t first, int64_t end, char *to);
/* Where they lie so already; NULL: nowhere. */
char *gr_ranks_packed(const gr_ranks_fold *, const gr_reduce_job *, int64_t low, int64_t first);

/*
** The message of a rank. job: its elements, wherever `make` reads them, and first: the same job, of which the elements
** of the rank's first leaf are in the host's memory. before: its shared leaf up to where its own elements begin, packed
** by stretch, in the order of gr_border_receipts; NULL where none is shared. room: a leaf's elements, in the host's
** memory; of one input they may have come to its beginning (before is room). make: the states of so many nodes, those
** of node k from states + k * the job's count on; joined: they lie in the room. states: of as many vectors as
** gr_ranks_together says. A rank that is not well (mine) says so in its message.
*/
#define GR_RANKS_TOGETHER GR_STATES /* two nodes for each level of a tree are fewer */
typedef gr_status (*gr_states_function)(void *with, const gr_reduce_job *nodes, int count, int joined, gr_acc *);
typedef struct gr_ranks_part {
  const gr_reduce_job *job, *first;
  const char *before;
  char *room;
  gr_acc *states;
  gr_states_function make;
  void *with;
  gr_status mine;
} gr_ranks_part;
gr_status gr_ranks_states(const gr_ranks_fold *, const gr_ranks_part *, const int64_t *starts, int size, int rank,
                          char *message);
/*
** The same in two steps: the nodes that need nothing of other ranks; then the shared leaf, if there is one, for which
** before and first must be there, and the word that says how the rank is.
*/
gr_status gr_ranks_inner(const gr_ranks_fold *, const gr_ranks_part *, const int64_t *starts, int size, int rank,
                         char *message);
gr_status gr_ranks_joint(const gr_ranks_fold *, const gr_ranks_part *, const int64_t *starts, int size, int rank,
                         gr_status inner, char *message);
static inline int64_t gr_ranks_together(const gr_ranks_fold *f) { return f->count == 1 ? GR_RANKS_TOGETHER : f->count; }

/*
** The states of all vectors, from the messages of all ranks: one after the other, or (step > 0) each so many bytes from
** the one before.
*/
void gr_ranks_fold_all(const gr_ranks_fold *, const int64_t *starts, int size, const char *messages, int64_t step,
                       gr_acc *states);

#endif
