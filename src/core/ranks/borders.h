/* Elements that go from rank to rank, where the parts of two end within a leaf. */
#ifndef GR_RANKS_BORDERS_H
#define GR_RANKS_BORDERS_H

#include "src/core/context.h"
#include "src/core/ranks/comm.h"
#include "src/core/ranks/fold.h"

/*
** After gr_ranks_meet, where gr_has_borders: every rank sends and receives what it must (nodes.h says what, and what
** all means). *before: what this rank got, packed stretch by stretch, in a block that the caller frees. mine: whether
** this rank has made the room that it needs afterwards; if one has not, all fail.
*/
gr_status gr_ranks_borders(gr_context *, const gr_ranks_fold *, const gr_reduce_job *, int all, char **before,
                           gr_status mine);

/*
** The same in parts, for who sends elements of several vectors at once: how much there is, and then the messages, whose
** elements are packed into `sent` (job NULL: they are there), and will be in `before`. s: room for as many stretches.
*/
typedef struct gr_border {
  int64_t sends, receipts, stretches; /* messages, and the more of both */
  int64_t sent, before;               /* bytes */
  gr_stretch tail;                    /* what is sent, to the first who gets it */
} gr_border;
gr_border gr_border_of(const gr_comm *, const gr_ranks_fold *, int all);
void gr_border_address(const gr_comm *, const gr_ranks_fold *, const gr_reduce_job *, int all, const gr_border *,
                       gr_stretch *s, gr_message *in, gr_message *out, char *before, char *sent);

/*
** Elements first .. end - 1 of this rank where a job of the host's can read them: a device's are brought into `room`,
** packed. The job of them by the same positions. wanted: what is to be brought (f->inputs pieces; 0: nothing), before
** it is. tail: the same of what is sent; nothing, if nothing is.
*/
int gr_border_wanted(const gr_context *, const gr_ranks_fold *, const gr_reduce_job *, int64_t first, int64_t end,
                     char *room, gr_brought *, gr_reduce_job *here);
gr_status gr_border_bring(gr_context *, const gr_ranks_fold *, const gr_reduce_job *, int64_t first, int64_t end,
                          char *room, gr_reduce_job *here);
gr_status gr_border_tail(gr_context *, const gr_ranks_fold *, const gr_reduce_job *, const gr_border *, char *room,
                         gr_reduce_job *here);

/* The same of one vector in the host's memory, and leaves of so many elements. */
gr_status gr_ranks_borders_of(gr_context *, gr_dtype, gr_vec, int64_t leaf, int all, char **before, gr_status mine);

/*
** Elements of one vector side by side: those before this rank's part, from position `from` on, which came over a
** border; then its own, from position low up to `end`.
*/
void gr_ranks_join(const gr_vec *own, int size, const char *before, int64_t from, int64_t low, int64_t end, char *to);

#endif
