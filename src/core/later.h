/*
** Work of the CPU that is done in the background (background.h), so that who asked for it can go on: for futures
** (future.h). The pool of threads helps, as it helps any caller. Work of one context is done in the order of its calls.
**
** Work holds the storages it uses until it has ended. What it reads is not written before (watched), and what it writes
** is neither read nor written (pending): gr_storage_read and gr_storage_write wait for it first. Where no thread can be
** started, work is done at once.
**
** Everything but the work itself happens on the thread of the context.
*/
#ifndef GR_LATER_H
#define GR_LATER_H

#include "src/core/storage.h"

/* Operations that can be left for later, each by its job: of reduce there may be words, too. */
#define GR_LATER_OPERATIONS(X) X(scan) X(histogram) X(weights) X(softmax) X(rmsnorm) X(fill) X(copy) X(map) X(formula)
typedef enum gr_later_operation {
  GR_LATER_reduce,
#define GR_X(name) GR_LATER_##name,
  GR_LATER_OPERATIONS(GR_X)
#undef GR_X
} gr_later_operation;

/* Elements: with fewer, handing over would take as long as the work. 65536, or GPUREDUCE_TEST_LATER. */
int64_t gr_later_least(void);

typedef struct gr_work gr_work;

/*
** Operations of the core that can be left for later say so: open, then claim the arrays (gr_array_read,
** gr_array_write), then do, which says what came of claiming if that failed. elements: how many there are, or 0:
** nothing is to be done. Unless the caller asked for it (context->later), the operation is run at once.
*/
void gr_later_claim(gr_context *);
static inline void gr_later_open(gr_context *c, const gr_queue *q) {
  if (c->later && !c->comm && !q->backend->separate) gr_later_claim(c); /* ranks meet in the call */
}
gr_status gr_later_do(gr_context *, gr_queue *, gr_status claimed, gr_later_operation, const void *job,
                      int64_t elements, const char *name);

/* Claiming has ended, and nothing comes of it. */
static inline void gr_later_shut(gr_context *c) { c->claims = NULL; }

/*
** A reduction to a number, of one or two storages that have been claimed: NULL if it cannot be left for later. Who gets
** it lets go of it.
*/
gr_work *gr_later_reduce(gr_context *, gr_queue *, const gr_reduce_job *, gr_storage *const uses[2]);

/* What operations have left since the last call of this: a list by gr_later_next, whose owner lets go of all. */
gr_work *gr_later_take(gr_context *);
gr_work *gr_later_next(const gr_work *);
void gr_later_drop_all(gr_work *);
static inline void gr_later_forget(gr_context *c) { gr_later_drop_all(gr_later_take(c)); }

/*
** Look at it, for so many nanoseconds (negative: until it has ended, or the caller is to stop); returns whether it has
** ended. Then: how, and the words of a reduction.
*/
int gr_later_wait(gr_work *, int64_t nanoseconds);
int gr_later_ended(const gr_work *);
gr_status gr_later_status(gr_work *); /* which also words the error in the context */
const uint64_t *gr_later_words(const gr_work *);

/* Nobody will look at it any more. If it writes nothing it need not go on. */
void gr_later_drop(gr_work *);

/* Work that has ended lets go of its storages at the next chance, which this is; or all work is waited for. */
void gr_later_sweep(gr_context *);
void gr_later_finish(gr_context *);

/* Waits for what writes the storage, or (write) for all that uses it. */
void gr_later_settle(gr_storage *, int write);

/*
** The context goes, while arrays of it may be kept: what is to be in these is made. Other work that has not begun is
** not done, and what runs ends between two pieces.
*/
void gr_later_end(gr_context *);

#endif
