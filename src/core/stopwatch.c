#include "src/core/stopwatch.h"

gr_status gr_stopwatch_start(gr_context *c, gr_queue *q, gr_stopwatch *w, const char *what) {
  *w = (gr_stopwatch){.queue = q};
  gr_status status = q->backend->mark(q, &w->from);
  if (status != GR_OK) gr_stopwatch_drop(w);
  return gr_fail_from(c, q, status, what, 0);
}

gr_status gr_stopwatch_stop(gr_context *c, gr_stopwatch *w, const char *what, double *seconds) {
  gr_queue *q = w->queue;
  gr_backend *b = q->backend;
  gr_status status = b->mark(q, &w->to);
  if (status == GR_OK && b->separate) q->stats.syncs++;
  if (status == GR_OK) status = b->poll(q, &w->to, -1);
  if (status == GR_OK) status = b->poll(q, &w->from, -1);
  if (status == GR_OK) status = b->elapsed(q, &w->from, &w->to, seconds);
  gr_stopwatch_drop(w);
  return gr_fail_from(c, q, status, what, 0);
}

void gr_stopwatch_drop(gr_stopwatch *w) {
  gr_queue *q = w->queue;
  w->queue = NULL;
  if (!q) return;
  q->backend->forget(q, &w->from);
  q->backend->forget(q, &w->to);
}
