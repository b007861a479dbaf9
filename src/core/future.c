#include "src/core/future.h"

#include <stdio.h>
#include "kernels/numerics/numerics.h"
#include "src/core/clock.h"

#define SMALL_WORK ((int64_t)1 << 18) /* bytes of an input: larger reductions gain nothing from a common launch */

/* ---- life ---- */

void gr_future_open(gr_future *f, gr_context *c, gr_part *parts) {
  *f = (gr_future){.context = c, .parts = parts, .filling = 1};
  c->refs++;
}

static void release_uses(gr_part *p) {
  for (int k = 0; k < 2; k++) {
    gr_storage *s = p->uses[k];
    p->uses[k] = NULL;
    if (!s) continue;
    if (p->watched) s->watched--;
    gr_storage_drop(s);
  }
}

static void unwatch(gr_future *f) {
  gr_future **at = &f->context->watching;
  if (!f->watching) return;
  while (*at != f) at = &(*at)->next;
  *at = f->next;
  f->watching = 0;
}

/* Makes the part one that has not been started, and who works on it forget it. */
static void take_back(gr_part *p) {
  if (p->work) gr_later_drop(p->work);
  else p->queue->backend->forget(p->queue, &p->ticket);
  p->work = NULL;
  memset(&p->ticket, 0, sizeof p->ticket);
  p->started = 0;
}

void gr_future_take_works(gr_future *f) {
  gr_later_drop_all(f->works);
  f->works = gr_later_take(f->context);
}

void gr_future_close(gr_future *f) {
  gr_context *c = f->context;
  if (!c) return;
  unwatch(f);
  /* Last to first, so that the next future like this one gets the same host slots, and its graph can stay as it is. */
  for (int k = f->count - 1; k >= 0; k--) {
    gr_part *p = &f->parts[k];
    if (p->queue && p->started) take_back(p);
    release_uses(p);
  }
  gr_later_drop_all(f->works);
  f->works = NULL;
  if (f->marked) f->marked->backend->forget(f->marked, &f->mark);
  f->context = NULL;
  gr_context_drop(c);
}

static void end(gr_future *f, gr_status status) {
  if (f->filling) { /* its context and its parts are still needed */
    f->status = status;
    snprintf(f->error, sizeof f->error, "%s", f->context->error);
    return;
  }
  f->state = status == GR_OK ? GR_READY : GR_FAILED;
  f->status = status;
  if (status != GR_OK) snprintf(f->error, sizeof f->error, "%s", f->context->error);
  gr_future_close(f);
}

void gr_future_filled(gr_future *f) {
  f->filling = 0;
  if (f->status == GR_OK) return;
  gr_fail(f->context, f->status, "%s", f->error);
  end(f, f->status);
}

void gr_future_fail(gr_future *f, gr_status status) { end(f, status); }

void gr_future_abandon(gr_future *f) {
  if (f->state == GR_RUNNING) {
    f->state = GR_FAILED;
    snprintf(f->error, sizeof f->error, "the future has been collected");
  }
  gr_future_close(f);
}

/* ---- starting ---- */

/* Whether a part of it that has not ended holds s. */
static int uses(const gr_future *f, const gr_storage *s) {
  for (int k = 0; k < f->count; k++)
    if (f->parts[k].uses[0] == s || f->parts[k].uses[1] == s) return 1;
  return 0;
}

/* Somebody is about to write to s, which running futures may have to read again. */
static void settle(gr_storage *s) {
  gr_context *c = s->context;
  for (gr_future *f = c->watching, *next; f && s->watched; f = next) {
    next = f->next;
    while (f->status == GR_OK && uses(f, s)) gr_future_wait(f, -1); /* even if the caller is to stop */
  }
}

/* Holds the storages until all parts have started, since jobs have bare pointers. Watched: until the part ends. */
static void hold(gr_part *p, int k, const gr_array *a) {
  gr_storage_keep(a->storage);
  if (p->watched) a->storage->watched++;
  p->uses[k] = a->storage;
}

gr_status gr_future_add(gr_future *f, gr_op op, const gr_array *a, const gr_array *b, double ddof) {
  gr_part *p = &f->parts[f->count];
  memset(p, 0, sizeof *p);
  if (f->later) gr_later_open(f->context, a->storage->queue);
  gr_status status = gr_reduce_job_of(op, a, b, ddof, &p->job);
  gr_later_shut(f->context);
  if (status != GR_OK) return status;
  p->queue = a->storage->queue;
  f->count++;
  p->watched = gr_may_overflow(op, a->dtype);
  hold(p, 0, a);
  if (b) hold(p, 1, b);
  if (!p->watched || f->watching) return GR_OK;
  f->watching = 1;
  f->next = f->context->watching;
  f->context->watching = f;
  f->context->write = settle;
  return GR_OK;
}

/* Nothing is held: what the device has been given reads inputs that are written or freed after it alone. */
gr_status gr_future_add_formula(gr_future *f, const gr_wanted *w, int *added) {
  gr_part *p = &f->parts[f->count];
  memset(p, 0, sizeof *p);
  const gr_status status = gr_formula_start(f->context, w, &p->job, &p->ticket);
  *added = status == GR_OK;
  if (status != GR_OK) return status == GR_NOT_FUSED ? GR_OK : status;
  p->queue = w->a.a->storage->queue;
  p->started = 1;
  f->count++;
  return GR_OK;
}

static int similar(const gr_part *a, const gr_part *b) {
  const gr_reduce_job *x = &a->job, *y = &b->job;
  return a->queue == b->queue && gr_reducer_of(x->op, x->dtype) == gr_reducer_of(y->op, y->dtype) &&
         x->dtype == y->dtype && x->n == y->n && x->ddof == y->ddof && x->a.stride == y->a.stride &&
         x->b.stride == y->b.stride && x->n * gr_size(x->dtype) <= SMALL_WORK;
}

/* Part k, and those after it that can go with it. All of them only read, so their order is free. */
static gr_status start_with(gr_future *f, int k) {
  const gr_reduce_job *jobs[GR_TOGETHER];
  gr_ticket *tickets[GR_TOGETHER];
  gr_part *first = &f->parts[k], *parts[GR_TOGETHER];
  int count = 0, more = 0;
  for (int j = k; j < f->count; j++) {
    gr_part *p = &f->parts[j];
    if (!p->queue || p->started) continue;
    if (count == GR_TOGETHER || (j > k && !similar(first, p))) {
      more |= p->queue == first->queue;
      continue;
    }
    parts[count] = p;
    jobs[count] = &p->job;
    tickets[count++] = &p->ticket;
  }
  gr_status status = first->queue->backend->start(first->queue, jobs, count, tickets, more);
  for (int j = 0; j < count; j++) {
    parts[j]->started = 1;
    if (status != GR_OK) take_back(parts[j]);
  }
  return gr_fail_from(f->context, first->queue, status, gr_ops[first->job.op].name, 0);
}

/* Whether the parts that are not started are worth a hand over, or wait for others that were. */
static int is_long(const gr_future *f) {
  int64_t elements = 0;
  for (int k = 0; k < f->count; k++) {
    const gr_part *p = &f->parts[k];
    if (!p->queue || p->started) continue;
    elements += p->job.n;
    for (int j = 0; j < 2; j++)
      if (p->uses[j] && p->uses[j]->pending) return 1;
  }
  return elements >= gr_later_least();
}

/* In the background, if it can be. */
static void start_later(gr_future *f, gr_part *p) {
  p->work = p->queue->backend->separate ? NULL : gr_later_reduce(f->context, p->queue, &p->job, p->uses);
  p->started = p->work != NULL;
  for (int j = 0; j < 2 && !p->started; j++)
    if (p->uses[j] && p->uses[j]->pending) gr_later_settle(p->uses[j], 0);
}

/*
** After a failure every part of this start that is not done counts as not started. Parts deferred to be launched with
** the failed one are lost with it; parts that run nevertheless only read, so starting them again does no harm.
*/
gr_status gr_future_start(gr_future *f) {
  gr_status status = GR_OK;
  if (f->state != GR_RUNNING) return GR_OK; /* it has failed while it was filled */
  const int goes_later = f->later && is_long(f);
  for (int k = 0; k < f->count && goes_later; k++)
    if (f->parts[k].queue && !f->parts[k].started) start_later(f, &f->parts[k]);
  for (int k = 0; k < f->count && status == GR_OK; k++)
    if (f->parts[k].queue && !f->parts[k].started) status = start_with(f, k);
  for (int k = 0; k < f->count; k++) {
    gr_part *p = &f->parts[k];
    if (!p->started || !p->uses[0]) continue; /* parts of an earlier start hold nothing any more */
    if (status != GR_OK && !p->ticket.done && !p->work) take_back(p);
    if (status == GR_OK && !p->watched) release_uses(p);
  }
  return status;
}

gr_status gr_future_mark(gr_future *f, gr_queue *q, const char *name) {
  gr_status status = q->backend->mark(q, &f->mark);
  f->name = name;
  if (status == GR_OK) f->marked = q;
  return gr_fail_from(f->context, q, status, name, 0);
}

/* ---- looking ---- */

static gr_status start_again(gr_future *f, gr_part *p, const gr_reduce_job *job, int stage) {
  gr_ticket *ticket = &p->ticket;
  take_back(p);
  p->stage = stage;
  if (f->later) {
    gr_reduce_job mine = p->job;
    p->job = *job;
    start_later(f, p);
    p->job = mine;
    if (p->started) return GR_OK;
  }
  gr_status status = p->queue->backend->start(p->queue, &job, 1, &ticket, 0);
  p->started = 1;
  if (status != GR_OK) take_back(p);
  return gr_fail_from(f->context, p->queue, status, gr_ops[p->job.op].name, 0);
}

static gr_status probe(gr_future *f, gr_part *p, gr_vec v, int stage) {
  gr_reduce_job job = p->job;
  job.op = GR_OP_norminf;
  job.a = v;
  return start_again(f, p, &job, stage);
}

static void finish(gr_part *p, gr_value value) {
  p->value = value;
  p->value.is_float = gr_is_float(gr_result_dtype(p->job.op, p->job.dtype));
  p->ended = 1;
  release_uses(p);
}

/* The ticket is done: that was the result, or (squares out of range) one step to it, as in gr_reduce_all. */
static gr_status advance(gr_future *f, gr_part *p) {
  gr_value r = {{{0}}, 0};
  int cosine = p->job.op == GR_OP_cosine;
  memcpy(r.v, p->ticket.words, sizeof p->ticket.words);
  switch (p->stage) {
    case GR_PLAIN:
      if (p->watched && r.v[1].f == 0 && p->job.n) return probe(f, p, p->job.a, GR_PROBE_A);
      break;
    case GR_PROBE_A:
      p->largest = r.v[0].f;
      p->job.scale_a = gr_scale_near_one(p->largest);
      if (p->job.scale_a == 0) r = gr_value_f(cosine ? gr_nan() : p->largest);
      else if (cosine) return probe(f, p, p->job.b, GR_PROBE_B);
      else return start_again(f, p, &p->job, GR_SCALED);
      break;
    case GR_PROBE_B:
      p->job.scale_b = gr_scale_near_one(r.v[0].f);
      if (p->job.scale_b != 0) return start_again(f, p, &p->job, GR_SCALED);
      r = gr_value_f(gr_nan());
      break;
    case GR_SCALED:
      if (!cosine) r.v[0].f /= p->job.scale_a;
      break;
  }
  finish(p, r);
  return GR_OK;
}

/* One look, of at most so long, at a part that is not done. */
static gr_status look(gr_future *f, gr_part *p, int64_t nanoseconds) {
  gr_status status;
  if (p->work) {
    f->stopped = !gr_later_wait(p->work, nanoseconds) && nanoseconds < 0;
    p->ticket.done = gr_later_ended(p->work);
    if (!p->ticket.done) return GR_OK;
    memcpy(p->ticket.words, gr_later_words(p->work), sizeof p->ticket.words);
    status = gr_later_status(p->work);
    return status == GR_OK ? advance(f, p) : status;
  }
  status = p->queue->backend->poll(p->queue, &p->ticket, nanoseconds);
  if (status != GR_OK) return gr_fail_from(f->context, p->queue, status, gr_ops[p->job.op].name, 0);
  return p->ticket.done ? advance(f, p) : GR_OK;
}

/*
** From the last part on: when it is done, those before it on the same queue are. A wait counts once for each queue,
** whether the results happen to be there or not, so that counts are the same in every run.
*/
static gr_status look_at_works(gr_future *f, int64_t until, int64_t nanoseconds, int *ended) {
  gr_status status = GR_OK;
  for (gr_work *w = f->works; w && status == GR_OK && *ended; w = gr_later_next(w)) {
    const int64_t left = nanoseconds > 0 ? until - gr_nanoseconds() : nanoseconds;
    *ended = gr_later_wait(w, nanoseconds > 0 && left < 0 ? 0 : left);
    f->stopped = !*ended && nanoseconds < 0;
    if (*ended) status = gr_later_status(w);
  }
  return status;
}

static gr_status look_at_all(gr_future *f, int64_t until, int64_t nanoseconds, int *ended) {
  gr_queue *waited = NULL;
  gr_status status = GR_OK;
  *ended = 1;
  if (f->works) status = look_at_works(f, until, nanoseconds, ended);
  if (status != GR_OK || !*ended) return status;
  if (f->marked) {
    if (nanoseconds != 0 && f->marked->backend->separate) f->marked->stats.syncs++;
    status = f->marked->backend->poll(f->marked, &f->mark, nanoseconds);
    *ended = f->mark.done;
    if (status != GR_OK) return gr_fail_from(f->context, f->marked, status, f->name, 0);
  }
  for (int k = f->count - 1; k >= 0; k--) {
    gr_part *p = &f->parts[k];
    if (!p->queue || p->ended) continue;
    if (nanoseconds != 0 && p->queue != waited && p->queue->backend->separate) p->queue->stats.syncs++;
    waited = p->queue;
    do {
      int64_t left = nanoseconds > 0 ? until - gr_nanoseconds() : nanoseconds;
      status = look(f, p, nanoseconds > 0 && left < 0 ? 0 : left);
    } while (status == GR_OK && !p->ended && !f->stopped &&
             (nanoseconds < 0 || (nanoseconds > 0 && gr_nanoseconds() < until)));
    *ended &= p->ended;
    if (status != GR_OK || f->stopped) return status;
  }
  return GR_OK;
}

void gr_future_wait(gr_future *f, int64_t nanoseconds) {
  int ended = 1;
  int64_t start = nanoseconds > 0 ? gr_nanoseconds() : 0;
  f->stopped = 0;
  if (f->state != GR_RUNNING) return;
  if (nanoseconds > INT64_MAX - start) nanoseconds = -1;
  gr_status status = gr_future_start(f); /* what an allocation's failure has left over */
  if (status == GR_OK) status = look_at_all(f, start + nanoseconds, nanoseconds, &ended);
  if (status != GR_OK || ended) end(f, status);
}
