#include "src/core/later.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/formula.h"
#include "src/core/operation.h"

#define MOST_USES (GR_FORMULA_INPUTS + 8)

#define MOST_WORKS 256 /* of a context: one more waits for the first of them */

typedef struct use {
  gr_storage *storage;
  int writes;
  gr_raw raw; /* where nothing is that may be read if the work is stopped */
} use;

typedef struct gr_claims {
  int count, too_many;
  use of[MOST_USES];
} gr_claims;

struct gr_work {
  gr_task task;  /* first, so that who has it has this */
  gr_work *next; /* of its context, as long as its storages are held */
  gr_work *with; /* in the list of who looks at it */
  gr_context *context;
  gr_queue queue, *counts; /* what it runs with, words of an error among that; where to count */
  gr_stop stop;
  atomic_int called_off;
  int by_caller; /* it runs on the context's thread, which may look for a sign to stop */
  int refs, held;
  gr_later_operation operation;
  const char *name;
  gr_status status;
  uint64_t words[2];
  int use_count;
  use *uses; /* behind the job */
  _Alignas(16) char job[];
};

/* ---- doing it ---- */

static uint64_t called_off(void *work, void *unused) {
  const gr_work *w = work;
  gr_context *c = w->context;
  (void)unused;
  if (atomic_load_explicit(&w->called_off, memory_order_relaxed)) return 1;
  if (gr_stop_raised(&c->stop)) return 1;
  return w->by_caller && gr_stop_sign(&c->stop) != c->stop.before;
}

static gr_status run_operation(gr_queue *q, gr_later_operation operation, const void *job, uint64_t *words) {
  switch (operation) {
    case GR_LATER_reduce: return q->backend->reduce(q, job, words);
#define GR_X(name) \
  case GR_LATER_##name: return q->backend->name(q, job);
      GR_LATER_OPERATIONS(GR_X)
#undef GR_X
  }
  return GR_BAD;
}

static void run(gr_task *task, int by_caller) {
  gr_work *w = (gr_work *)task;
  const gr_reduce_job *number = w->operation == GR_LATER_reduce ? (const void *)w->job : NULL;
  w->by_caller = by_caller;
  if (by_caller) gr_stop_begin(&w->context->stop);
  w->stop.began = w->stop.most ? gr_nanoseconds() : 0;
  w->status = GR_STOPPED;
  if (!called_off(w, NULL))
    w->status = run_operation(&w->queue, w->operation, w->job, number && !number->out ? w->words : NULL);
  if (w->status == GR_OK || atomic_load(&w->called_off)) return; /* called off: nobody is left who reads it */
  for (int k = 0; k < w->use_count; k++) gr_storage_blank(&w->uses[k].raw);
}

/* ---- letting go ---- */

static void free_unused(gr_work *w) {
  if (!w->refs && !w->held) free(w);
}

static void let_go(gr_work *w) {
  gr_context *c = w->context;
  c->works = w->next;
  if (!c->works) c->last_work = NULL;
  c->work_count--;
  c->refs++; /* a storage may be its last */
  w->counts->stats.allocations += w->queue.stats.allocations;
  for (int k = 0; k < w->use_count; k++) gr_storage_unuse(w->uses[k].storage, w->uses[k].writes);
  w->held = 0;
  free_unused(w);
  gr_context_drop(c);
}

/* Those that have ended, which are the first. */
void gr_later_sweep(gr_context *c) {
  while (c->works && gr_background_has_ended(&c->works->task)) let_go(c->works);
}

/* ---- waiting ---- */

static int asked(void *stop) { return gr_stop_sign(stop) != ((gr_stop *)stop)->before; }

int gr_later_wait(gr_work *w, int64_t nanoseconds) {
  gr_context *c = w->context;
  if (!w->held) return 1;
  if (nanoseconds < 0) gr_stop_begin(&c->stop);
  if (gr_background_wait(&c->line, &w->task, nanoseconds, asked, &c->stop)) gr_later_sweep(c);
  return !w->held;
}

int gr_later_ended(const gr_work *w) { return !w->held; }

gr_status gr_later_status(gr_work *w) { return gr_fail_from(w->context, &w->queue, w->status, w->name, 0); }

const uint64_t *gr_later_words(const gr_work *w) { return w->words; }

void gr_later_drop(gr_work *w) {
  int writes = 0;
  w->refs--;
  for (int k = 0; k < w->use_count; k++) writes |= w->uses[k].writes;
  if (!writes) atomic_store(&w->called_off, 1);
  free_unused(w);
}

void gr_later_drop_all(gr_work *w) {
  while (w) {
    gr_work *next = w->with;
    gr_later_drop(w);
    w = next;
  }
}

/* The last work that keeps the storage from being read or written: when it has ended, those before it have. */
void gr_later_settle(gr_storage *s, int write) {
  gr_context *c = s->context;
  gr_work *last = NULL;
  for (gr_work *w = c->works; w; w = w->next)
    for (int k = 0; k < w->use_count; k++)
      if (w->uses[k].storage == s && (write || w->uses[k].writes)) last = w;
  if (!last) return;
  gr_background_wait(&c->line, &last->task, -1, NULL, NULL);
  gr_later_sweep(c);
}

void gr_later_finish(gr_context *c) {
  if (c->works) gr_background_finish(&c->line);
  gr_later_sweep(c);
}

/* Whether work writes what an array has, one that somebody has kept. */
static int is_wanted(const gr_work *w) {
  for (int k = 0; k < w->use_count; k++) {
    const gr_storage *s = w->uses[k].storage;
    if (w->uses[k].writes && s->refs > s->watched + s->pending) return 1;
  }
  return 0;
}

void gr_later_end(gr_context *c) {
  gr_work *from = c->works; /* what comes before may have to be there for what is wanted */
  for (gr_work *w = c->works; w; w = w->next)
    if (is_wanted(w)) from = w->next;
  for (gr_work *w = from; w; w = w->next) atomic_store(&w->called_off, 1);
  gr_later_finish(c);
  gr_later_forget(c);
}

/* ---- claiming ---- */

static void note_claim(gr_storage *s, int writes) {
  gr_claims *claims = s->context->claims;
  int k = 0;
  while (k < claims->count && claims->of[k].storage != s) k++;
  if (k == MOST_USES) claims->too_many = 1;
  else if (k < claims->count) claims->of[k].writes |= writes;
  else {
    claims->of[claims->count++] = (use){.storage = s, .writes = writes};
  }
}

void gr_later_claim(gr_context *c) {
  if (!c->claims_room) c->claims_room = malloc(sizeof *c->claims_room);
  if (!c->claims_room) return; /* then it is done at once */
  c->claims_room->count = c->claims_room->too_many = 0;
  c->claims = c->claims_room;
  c->claim = note_claim;
}

/* ---- leaving it for later ---- */

static int64_t least = (int64_t)1 << 16;

static void read_least(void) {
  const char *text = getenv("GPUREDUCE_TEST_LATER");
  if (text) least = strtoll(text, NULL, 10);
}

int64_t gr_later_least(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, read_least);
  return least;
}

static size_t size_of(gr_later_operation operation) {
  switch (operation) {
    case GR_LATER_reduce: return sizeof(gr_reduce_job);
#define GR_X(name) \
  case GR_LATER_##name: return sizeof(gr_##name##_job);
      GR_LATER_OPERATIONS(GR_X)
#undef GR_X
  }
  return 0;
}

/* Of a formula's job, what its pointers lead to; 0: it feeds an operation that is not left for later. */
static int parts_of(const gr_formula_job *job, const void *from[5], size_t bytes[5]) {
  static const size_t fed[] = {[GR_FEEDS_COLUMNS] = sizeof(gr_reduce_job),
                               [GR_FEEDS_PRESENT] = sizeof(gr_reduce_job),
                               [GR_FEEDS_HISTOGRAM] = sizeof(gr_histogram_job),
                               [GR_FEEDS_WEIGHTS] = sizeof(gr_weights_job),
                               [GR_FEEDS_SCAN] = sizeof(gr_scan_job),
                               [GR_FEEDS_COMPACT] = sizeof(gr_compact_job),
                               [GR_FEEDS_EXACT] = 0};
  const gr_program *p = job->program;
  if (job->words || job->feeds == GR_FEEDS_EXACT) return 0;
  const void *const pointers[5] = {p->nodes, p->numbers, job->inputs, job->consumers, job->operation};
  const size_t sizes[5] = {(size_t)p->count * sizeof *p->nodes, (size_t)p->number_count * sizeof *p->numbers,
                           (size_t)p->input_count * sizeof *job->inputs,
                           (size_t)job->consumer_count * sizeof *job->consumers, fed[job->feeds]};
  memcpy(from, pointers, sizeof pointers);
  memcpy(bytes, sizes, sizeof sizes);
  return 1;
}

static size_t padded(size_t bytes) { return (bytes + 15) & ~(size_t)15; }

/* The job, and behind it what it points to. NULL: it cannot be left, or there is no room. */
static gr_work *make(gr_context *c, gr_queue *q, const gr_claims *claims, gr_later_operation operation,
                     const void *job) {
  const void *from[5];
  size_t bytes[5] = {0}, room = padded(size_of(operation)), at = room;
  const int has_parts = operation == GR_LATER_formula;
  if (has_parts && !parts_of(job, from, bytes)) return NULL;
  if (has_parts) room += padded(sizeof(gr_program));
  for (int k = 0; k < 5; k++) room += padded(bytes[k]);
  const size_t uses = (size_t)claims->count * sizeof(use);
  gr_work *w = claims->too_many ? NULL : calloc(1, sizeof *w + room + uses);
  if (!w) return NULL;
  w->use_count = claims->count;
  w->uses = (use *)(void *)(w->job + room);
  memcpy(w->uses, claims->of, uses);
  w->task.run = run;
  w->context = c;
  w->counts = q;
  w->operation = operation;
  w->stop.most = c->stop.most;
  w->stop.sign = called_off;
  w->stop.host = w->stop.caller = w;
  w->stop.known = 1; /* that nothing asked it to stop when it began */
  w->queue.backend = q->backend;
  memcpy(w->queue.error, q->error, sizeof w->queue.error);
  w->queue.stop = &w->stop;
  memcpy(w->job, job, size_of(operation));
  if (!has_parts) return w;
  gr_formula_job *f = (gr_formula_job *)(void *)w->job;
  gr_program *p = (gr_program *)(void *)(w->job + at);
  void *copies[5];
  *p = *f->program;
  at += padded(sizeof *p);
  for (int k = 0; k < 5; k++) {
    copies[k] = w->job + at;
    if (bytes[k]) memcpy(copies[k], from[k], bytes[k]);
    at += padded(bytes[k]);
  }
  f->program = p;
  p->nodes = copies[0];
  p->numbers = copies[1];
  f->inputs = copies[2];
  f->consumers = copies[3];
  f->operation = bytes[4] ? copies[4] : NULL;
  return w;
}

static int may_wait(const gr_claims *claims) {
  for (int k = 0; k < claims->count; k++)
    if (claims->of[k].storage->unsteady || claims->of[k].storage->exported) return 0;
  return 1;
}

/* Into the line, with its storages. Returns whether somebody will do it; else it is no more. */
static int put(gr_work *w, const char *name) {
  gr_context *c = w->context;
  w->name = name;
  w->held = w->refs = 1;
  gr_later_sweep(c);
  if (c->work_count >= MOST_WORKS) {
    gr_background_wait(&c->line, &c->works->task, -1, NULL, NULL);
    gr_later_sweep(c);
  }
  if (!gr_background_put(&c->line, &w->task)) return free(w), 0;
  if (c->works) c->last_work->next = w;
  else c->works = w;
  c->last_work = w;
  c->work_count++;
  c->settle = gr_later_settle;
  w->counts->stats.launches++;
  for (int k = 0; k < w->use_count; k++) gr_storage_use(w->uses[k].storage, w->uses[k].writes);
  return 1;
}

static int leave(gr_context *c, gr_queue *q, const gr_claims *claims, gr_later_operation operation, const void *job,
                 const char *name) {
  gr_work *w = may_wait(claims) ? make(c, q, claims, operation, job) : NULL, **at = &c->left;
  for (int k = 0; w && k < claims->count; k++) {
    gr_storage *s = claims->of[k].storage;
    if (claims->of[k].writes && s->watched && c->write) c->write(s); /* futures that may read it again */
    if (claims->of[k].writes) w->uses[k].raw = gr_storage_raw(s);
  }
  if (!w || !put(w, name)) return 0;
  for (int k = 0; k < claims->count; k++)
    if (claims->of[k].writes) gr_storage_forget_raw(claims->of[k].storage);
  while (*at) at = &(*at)->with;
  *at = w;
  return 1;
}

static int is_pending(const gr_claims *claims) {
  for (int k = 0; k < claims->count; k++)
    if (claims->of[k].storage->pending) return 1;
  return 0;
}

gr_status gr_later_do(gr_context *c, gr_queue *q, gr_status status, gr_later_operation operation, const void *job,
                      int64_t elements, const char *name) {
  gr_claims *claims = c->claims;
  int left = 0;
  c->claims = NULL;
  if (claims && status == GR_OK && elements > 0 && (elements >= gr_later_least() || is_pending(claims)))
    left = leave(c, q, claims, operation, job, name);
  if (status != GR_OK || elements == 0 || left) return status;
  for (int k = 0; claims && k < claims->count; k++) gr_storage_settle(claims->of[k].storage, claims->of[k].writes);
  return gr_fail_from(c, q, run_operation(q, operation, job, NULL), name, 0);
}

gr_work *gr_later_reduce(gr_context *c, gr_queue *q, const gr_reduce_job *job, gr_storage *const uses[2]) {
  gr_claims claims = {0};
  for (int k = 0; k < 2; k++)
    if (uses[k] && !(k && uses[1] == uses[0])) claims.of[claims.count++].storage = uses[k];
  gr_work *w = may_wait(&claims) ? make(c, q, &claims, GR_LATER_reduce, job) : NULL;
  return w && put(w, gr_ops[job->op].name) ? w : NULL;
}

gr_work *gr_later_take(gr_context *c) {
  gr_work *first = c->left;
  c->left = NULL;
  return first;
}

gr_work *gr_later_next(const gr_work *w) { return w->with; }
