/*
** How ranks come together for a call. Each says what it calls and how many elements it has; where they differ, or one
** cannot take part, all of them fail with the same words. The communicator is the context's, while the call lasts.
*/
#ifndef GR_RANKS_MEET_H
#define GR_RANKS_MEET_H

#include "src/core/context.h"
#include "src/core/ranks/comm.h"

/*
** what: all that must be the same, in words; mine: whether this rank is ready (else the context's error says why not).
** It has n elements of each of width vectors (0: it has none, and takes the others' width). On success the
** communicator's starts say where each rank's elements begin.
*/
gr_status gr_ranks_meet(gr_context *, const char *what, int64_t n, int64_t width, gr_status mine);

/* A number for such words, to so many digits, with a point whatever the locale of this rank's host says. */
const char *gr_ranks_digits(double x, int digits, char text[40]);

/*
** The same with a guess: the card's low, all and fields. Of what must be the same a digest is given, and who puts it
** into words, should ranks differ.
*/
typedef struct gr_ranks_call {
  uint64_t digest;
  void (*say)(const void *of, char *text, size_t room);
  const void *of;
} gr_ranks_call;
gr_status gr_ranks_meet_with(gr_context *, const gr_ranks_call *, int64_t n, int64_t width, const gr_card *guess,
                             gr_status mine);

/* Later in a call: whether all are still well. The failure of the first that is not becomes that of all. */
gr_status gr_ranks_agree(gr_context *, gr_status mine);
/* The same, and each says a number, which becomes n of its card. */
gr_status gr_ranks_agree_on(gr_context *, int64_t says, gr_status mine);

/* values become their sums over all ranks, if all are well. */
gr_status gr_ranks_add(gr_context *, uint64_t *values, int64_t count, gr_status mine);

/* What MPI or its like gave back: 0 is success. exchange: messages that are posted and awaited. */
gr_status gr_ranks_moved(gr_context *, int code);
gr_status gr_ranks_exchange(gr_context *, const gr_message *sent, int64_t sends, const gr_message *expected,
                            int64_t receipts);

/* All elements of the ranks before this one, and of all together, after gr_ranks_meet. */
int64_t gr_ranks_before(const gr_context *);
int64_t gr_ranks_all(const gr_context *);

/*
** From here on positions count from the other end, and with them the ranks: starts are turned round, and this rank is
** the one of that number among them. The next gr_ranks_meet ends that.
*/
void gr_ranks_mirror(gr_context *);
int gr_ranks_own(const gr_comm *);            /* this rank, as starts count */
int gr_ranks_peer(const gr_comm *, int rank); /* and the other way: a rank of starts, as messages go */

#endif
