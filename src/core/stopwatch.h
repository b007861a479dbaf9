/* The device's time between two points of a queue. */
#ifndef GR_STOPWATCH_H
#define GR_STOPWATCH_H

#include "src/core/context.h"

typedef struct gr_stopwatch {
  gr_queue *queue; /* NULL: not running */
  gr_ticket from, to;
} gr_stopwatch;

/* what: for words of a failure. A watch that runs must be stopped or dropped. stop waits for the work in between. */
gr_status gr_stopwatch_start(gr_context *, gr_queue *, gr_stopwatch *, const char *what);
gr_status gr_stopwatch_stop(gr_context *, gr_stopwatch *, const char *what, double *seconds);
void gr_stopwatch_drop(gr_stopwatch *);

#endif
