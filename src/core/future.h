/*
** Results for later. A future has parts, each of which is one reduction to a number that the device has been or will be
** given; or it is a mark, which is done when all work queued before it is. Nothing here waits but gr_future_wait.
**
** A part holds its storages until it starts. What is queued later happens later, so from then on its arrays may be
** written, filled or released: its result is that of the data at the call. One case needs more: norm and cosine of f64
** may have to read their arrays again, with a scale. Such parts hold their storages until they end, and a write to one
** of those waits for them first.
**
** On the CPU parts are work in the background (later.h) if the future is for later; operations that were left there are
** works of the future, which has ended when they have.
*/
#ifndef GR_FUTURE_H
#define GR_FUTURE_H

#include "src/core/formula/run.h"
#include "src/core/later.h"

typedef struct gr_part {
  gr_queue *queue; /* NULL: not a reduction, but values that the owner of the future keeps */
  int values;
  gr_reduce_job job;
  gr_ticket ticket;
  gr_work *work; /* in the background, instead of the ticket until it has ended */
  gr_storage *uses[2];
  enum { GR_PLAIN, GR_PROBE_A, GR_PROBE_B, GR_SCALED } stage;
  int watched, started, ended; /* watched: it may read its arrays again */
  double largest;              /* magnitude in a, of a norm that is scaled */
  gr_value value;              /* once ended */
} gr_part;

typedef struct gr_future {
  gr_context *context; /* NULL: ended, holds nothing */
  enum { GR_RUNNING, GR_READY, GR_FAILED } state;
  gr_status status; /* of GR_FAILED, or of a failure while it is being filled; the words are in error */
  struct gr_future *next;
  int watching; /* it is in the context's list */
  int filling;  /* parts may still be added: it does not end */
  int later;    /* the CPU's parts go to the background, if they are long */
  int stopped;  /* the last wait ended since the caller is to stop */
  gr_work *works;
  int count;
  gr_part *parts;
  gr_queue *marked; /* NULL: no mark */
  gr_ticket mark;
  const char *name; /* of the operation, for errors of a mark; static */
  char error[400];
} gr_future;

/* room: parts that it can take. */
void gr_future_open(gr_future *, gr_context *, gr_part *parts);
/* Adds a part, which is not started yet. */
gr_status gr_future_add(gr_future *, gr_op, const gr_array *a, const gr_array *b, double ddof);
/* The same of an expression, where the device takes it as it is, at once: *added says whether it does. */
gr_status gr_future_add_formula(gr_future *, const gr_wanted *, int *added);
/* All parts have been added. A write to an array of one may have failed to wait for it: then the future fails here. */
void gr_future_filled(gr_future *);
/* Start the parts that are not; similar ones together. */
gr_status gr_future_start(gr_future *);
gr_status gr_future_mark(gr_future *, gr_queue *, const char *name);

/* It has what operations have left for later since the context's list was taken last. */
void gr_future_take_works(gr_future *);

/* It failed: context->error has the words. */
void gr_future_fail(gr_future *, gr_status);

/* Look at it for so long (negative: until it ends, or stopped); then state says. */
void gr_future_wait(gr_future *, int64_t nanoseconds);

/* Lets go of everything, at any time, also while it runs. Abandon: and who asks for its results later gets an error. */
void gr_future_close(gr_future *);
void gr_future_abandon(gr_future *);

#endif
