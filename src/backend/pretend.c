/*
** A device that is not one: host memory that only this backend touches, poisoned when it is handed out, and
** every copy and wait counted as a real device's would be. Tests run on it where there is no GPU. It can defer work
** (GPUREDUCE_PRETEND_LOOKS) and keeps its order: whatever comes later on the queue first runs what was deferred.
*/
#include "src/backend/pretend.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "src/backend/cpu.h"
#include "src/backend/slabs.h"
#include "src/core/clock.h"

#define POISON 0xff /* every float of it is a NaN */

static struct {
  pthread_mutex_t lock;
  size_t capacity, used; /* bytes; capacity 0: no limit */
  int64_t fail_at;       /* allocations until one is refused; 0: never */
  int64_t lose_at;       /* reductions until the device is lost; 0: never */
  int fork_loses;        /* a child of fork has no device, as with CUDA */
  int64_t looks;         /* that find started work unfinished */
} memory = {.lock = PTHREAD_MUTEX_INITIALIZER};

static int admit(size_t bytes) {
  pthread_mutex_lock(&memory.lock);
  int granted = !memory.capacity || (memory.used <= memory.capacity && bytes <= memory.capacity - memory.used);
  if (memory.fail_at > 0 && --memory.fail_at == 0) granted = 0;
  if (granted) memory.used += bytes;
  pthread_mutex_unlock(&memory.lock);
  return granted;
}

static void give_back(size_t bytes) {
  pthread_mutex_lock(&memory.lock);
  memory.used -= bytes;
  pthread_mutex_unlock(&memory.lock);
}

static gr_slabs slabs; /* what is admitted is counted by blocks, as if slabs were not there */

static void *pretend_alloc(gr_backend *backend, size_t bytes) {
  (void)backend;
  if (!admit(bytes)) return NULL;
  void *block = gr_slabs_take(&slabs, bytes);
  if (block) memset(block, POISON, bytes);
  else give_back(bytes);
  return block;
}

static size_t pretend_unused(gr_backend *backend) {
  (void)backend;
  return gr_slabs_unused(&slabs);
}

static size_t pretend_available(gr_backend *backend) {
  pthread_mutex_lock(&memory.lock);
  size_t left = memory.capacity > memory.used ? memory.capacity - memory.used : 0;
  if (!memory.capacity) left = gr_cpu_available(backend);
  pthread_mutex_unlock(&memory.lock);
  return left;
}

/* ---- work that was put off ---- */

typedef struct put_off {
  struct put_off *next;
  int is_mark;
  gr_reduce_job job;
  gr_ticket *ticket; /* NULL: forgotten, but it runs all the same */
} put_off;

typedef struct pretend_queue {
  gr_queue base;
  struct pretend_queue *next;
  put_off *first, **last; /* changed with the lock and by the queue's thread alone */
  pthread_t thread;       /* that put something off */
} pretend_queue;

typedef struct freed {
  struct freed *next;
  void *block;
  size_t bytes;
} freed;

/* Every queue, so that memory is not given back while one of them may still use it; and what waits for that. */
static pthread_mutex_t running = PTHREAD_MUTEX_INITIALIZER;
static pretend_queue *queues;
static freed *waiting;

static gr_status usable(gr_queue *q) {
  if (!q->lost) return GR_OK;
  strcpy(q->error, "the device is lost");
  return GR_DEVICE;
}

static gr_status reduce_now(gr_queue *q, const gr_reduce_job *job, uint64_t *result) {
  if (memory.lose_at > 0 && --memory.lose_at == 0) q->lost = 1;
  return usable(q) == GR_OK ? gr_cpu_do_reduce(q, job, result) : GR_DEVICE;
}

/* Whether it worked shows at the ticket: one that failed is never done. */
static void run_one(pretend_queue *q, put_off *w) {
  uint64_t words[2];
  if (w->is_mark) {
    if (w->ticket && !q->base.lost) gr_cpu_mark(&q->base, w->ticket);
  } else if (reduce_now(&q->base, &w->job, words) == GR_OK && w->ticket) {
    memcpy(w->ticket->words, words, sizeof words);
    w->ticket->done = 1;
  }
}

static void poison_and_free(void *block, size_t bytes) {
  memset(block, POISON, bytes);
  gr_cpu_free(NULL, block, bytes);
}

static int something_runs(void) {
  for (const pretend_queue *q = queues; q; q = q->next)
    if (q->first) return 1;
  return 0;
}

static void run_put_off(pretend_queue *q) {
  while (q->first) {
    put_off *w = q->first;
    q->first = w->next;
    run_one(q, w);
    free(w);
  }
  q->last = &q->first;
  while (waiting && !something_runs()) {
    freed *f = waiting;
    waiting = f->next;
    poison_and_free(f->block, f->bytes);
    free(f);
  }
}

static gr_status pretend_before(gr_queue *base) {
  pretend_queue *q = (pretend_queue *)base;
  if (!q->first) return usable(base);
  pthread_mutex_lock(&running);
  run_put_off(q);
  pthread_mutex_unlock(&running);
  return usable(base);
}

static gr_status queue_up(pretend_queue *q, const gr_reduce_job *job, gr_ticket *t) {
  put_off *w = admit(0) ? calloc(1, sizeof *w) : NULL; /* an allocation that a test can have refused, too */
  if (!w) return GR_NO_MEMORY;
  if (job) w->job = *job;
  w->is_mark = !job;
  w->ticket = t;
  t->id = (uint64_t)memory.looks;
  pthread_mutex_lock(&running);
  q->thread = pthread_self();
  *q->last = w;
  q->last = &w->next;
  pthread_mutex_unlock(&running);
  return GR_OK;
}

static gr_queue *pretend_open(gr_backend *backend, gr_status *why) {
  pretend_queue *q = NULL;
  *why = GR_NO_MEMORY;
  if (!admit(sizeof *q)) return NULL;
  q = (pretend_queue *)gr_cpu_open_sized(backend, sizeof *q, why);
  if (!q) {
    give_back(sizeof *q);
    return NULL;
  }
  q->last = &q->first;
  q->base.before = pretend_before;
  pthread_mutex_lock(&running);
  q->next = queues;
  queues = q;
  pthread_mutex_unlock(&running);
  return &q->base;
}

static void pretend_close(gr_queue *base) {
  pretend_queue **at = &queues;
  pretend_before(base);
  pthread_mutex_lock(&running);
  while (&(*at)->base != base) at = &(*at)->next;
  *at = (*at)->next;
  pthread_mutex_unlock(&running);
  give_back(sizeof(pretend_queue));
  gr_cpu_close(base);
}

static int wait_for_all(void) {
  for (pretend_queue *q = queues; q; q = q->next)
    if (q->first && pthread_equal(q->thread, pthread_self())) run_put_off(q);
  return !something_runs();
}

/* ---- beneath slabs ---- */

static void *source_take(void *device, size_t bytes) { return gr_cpu_alloc(device, bytes); }

static int source_wait(void *device) {
  (void)device;
  pthread_mutex_lock(&running);
  const int done = wait_for_all();
  pthread_mutex_unlock(&running);
  return done;
}

/* As cudaFree does: first everything that may use the block. Other threads run their own; the block waits for them. */
static void source_give(void *device, void *block, size_t bytes) {
  freed *f = NULL;
  (void)device;
  pthread_mutex_lock(&running);
  if (wait_for_all()) {
    poison_and_free(block, bytes);
  } else if ((f = malloc(sizeof *f))) { /* without memory for three words the block leaks */
    *f = (freed){waiting, block, bytes};
    waiting = f;
  }
  pthread_mutex_unlock(&running);
}

static void pretend_free(gr_backend *backend, void *block, size_t bytes) {
  (void)backend;
  if (!block) return;
  pthread_mutex_lock(&running);
  const int idle = !something_runs();
  pthread_mutex_unlock(&running);
  if (idle) memset(block, POISON, bytes); /* else it is poisoned when it is taken again */
  gr_slabs_give(&slabs, block, bytes);
  give_back(bytes);
}

/* ---- copies, waits ---- */

static gr_status pretend_upload(gr_queue *q, void *device, const void *host, size_t bytes) {
  if (pretend_before(q) != GR_OK) return GR_DEVICE;
  memcpy(device, host, bytes);
  q->stats.bytes_up += bytes;
  q->stats.copies++;
  return GR_OK;
}

/* The host may read what it gets at once: that is a wait. */
static gr_status pretend_download(gr_queue *q, void *host, const void *device, size_t bytes) {
  if (pretend_before(q) != GR_OK) return GR_DEVICE;
  memcpy(host, device, bytes);
  q->stats.bytes_down += bytes;
  q->stats.copies++;
  q->stats.syncs++;
  return GR_OK;
}

static gr_status pretend_zero(gr_queue *q, void *device, size_t bytes) {
  return pretend_before(q) == GR_OK ? gr_cpu_zero(q, device, bytes) : GR_DEVICE;
}

static gr_status pretend_wait(gr_queue *q) {
  q->stats.syncs++;
  return pretend_before(q);
}

/* A stream of the host's holds nothing here, but what was put off precedes what the host does next. */
static gr_status pretend_lead(gr_queue *q, void *stream) {
  (void)stream;
  return pretend_before(q);
}

static gr_status pretend_lend(gr_queue *q, int (*f)(void *with, void *stream), void *with, int *code) {
  if (pretend_before(q) != GR_OK) return GR_DEVICE;
  *code = f(with, NULL);
  return GR_OK;
}

static gr_status pretend_reduce(gr_queue *q, const gr_reduce_job *job, uint64_t *result) {
  if (pretend_before(q) != GR_OK) return GR_DEVICE;
  if (result) q->stats.syncs++;
  return reduce_now(q, job, result);
}

/* ---- results for later ---- */

static gr_status pretend_start(gr_queue *q, const gr_reduce_job *const *jobs, int count, gr_ticket *const *tickets,
                               int more) {
  gr_status status = usable(q);
  (void)more;
  for (int k = 0; k < count && status == GR_OK; k++) status = queue_up((pretend_queue *)q, jobs[k], tickets[k]);
  return status;
}

static gr_status pretend_mark(gr_queue *q, gr_ticket *t) {
  gr_status status = usable(q);
  return status == GR_OK ? queue_up((pretend_queue *)q, NULL, t) : status;
}

static gr_status pretend_poll(gr_queue *q, gr_ticket *t, int64_t nanoseconds) {
  const struct timespec a_while = {0, 100000};
  const int64_t began = nanoseconds > 0 ? gr_nanoseconds() : 0;
  while (!t->done) {
    gr_status status = GR_OK;
    if (nanoseconds < 0 || t->id == 0 || q->lost) status = pretend_before(q);
    else t->id--;
    if (status != GR_OK || t->done || nanoseconds <= 0 || gr_nanoseconds() - began >= nanoseconds) return status;
    nanosleep(&a_while, NULL); /* on a machine that is busy it may be much longer */
  }
  return GR_OK;
}

static void pretend_forget(gr_queue *q, gr_ticket *t) {
  pthread_mutex_lock(&running);
  for (put_off *w = ((pretend_queue *)q)->first; w; w = w->next)
    if (w->ticket == t) w->ticket = NULL;
  pthread_mutex_unlock(&running);
}

static gr_status pretend_exact(gr_queue *q, const gr_exact_job *job, gr_exact *sums) {
  if (pretend_wait(q) != GR_OK) return GR_DEVICE;
  return gr_cpu_do_exact(q, job, sums);
}

static gr_status pretend_digest(gr_queue *q, const gr_digest_job *job, uint64_t result[2]) {
  if (pretend_wait(q) != GR_OK) return GR_DEVICE;
  return gr_cpu_do_digest(q, job, result);
}

static gr_status pretend_states(gr_queue *q, const gr_reduce_job *jobs, int count, gr_acc *states, const gr_brought *b,
                                int brought) {
  if (pretend_wait(q) != GR_OK) return GR_DEVICE;
  q->stats.copies += (uint64_t)brought;
  for (int k = 0; k < brought; k++) q->stats.bytes_down += b[k].bytes;
  if (memory.lose_at > 0 && --memory.lose_at == 0) q->lost = 1;
  if (usable(q) != GR_OK) return GR_DEVICE;
  const uint64_t launches = q->stats.launches + (uint64_t)((count + GR_TOGETHER - 1) / GR_TOGETHER); /* as on a GPU */
  const gr_status status = gr_cpu_do_states(q, jobs, count, states, b, brought);
  q->stats.launches = launches;
  return status;
}

/* States of an operator as a device that compiles has them; their results are made by the host. */
static gr_status pretend_operate(gr_queue *q, const gr_operator_job *job, uint64_t *states) {
  gr_operator_job own = *job;
  if (pretend_wait(q) != GR_OK) return GR_DEVICE;
  own.part = GR_OPERATOR_STATES_OF;
  for (int k = 0; k < job->op->states; k++) own.out[k] = (gr_vec){&states[k], 8, 0};
  return gr_cpu_backend()->custom(q, &own);
}

static gr_backend pretend = {
    .name = "pretend",
    .description = "the CPU's kernels behind a memory of their own",
    .separate = 1,
    .alloc = pretend_alloc,
    .free = pretend_free,
    .available = pretend_available,
    .unused = pretend_unused,
    .open = pretend_open,
    .close = pretend_close,
    .upload = pretend_upload,
    .download = pretend_download,
    .zero = pretend_zero,
    .wait = pretend_wait,
    .lead = pretend_lead,
    .lend = pretend_lend,
    .reduce = pretend_reduce,
    .explain = gr_cpu_do_explain,
    .exact = pretend_exact,
    .digest = pretend_digest,
    .operate = pretend_operate,
    .states = pretend_states,
    .start = pretend_start,
    .mark = pretend_mark,
    .poll = pretend_poll,
    .forget = pretend_forget,
    .elapsed = gr_cpu_elapsed,
    GR_CPU_OPERATIONS,
};

/* In a child of fork nobody else holds the locks (src/core/fork.h). */
static void before_fork(void) {
  pthread_mutex_lock(&slabs.lock);
  pthread_mutex_lock(&running);
  pthread_mutex_lock(&memory.lock);
}
static void in_parent(void) {
  pthread_mutex_unlock(&memory.lock);
  pthread_mutex_unlock(&running);
  pthread_mutex_unlock(&slabs.lock);
}
static void in_child(void) {
  for (pretend_queue *q = queues; q && memory.fork_loses; q = q->next) q->base.lost = 1;
  in_parent();
}

static void read_limits(void) {
  static const gr_slab_source source = {source_take, source_give, source_wait};
  const char *capacity = getenv("GPUREDUCE_PRETEND_CAPACITY"), *fail_at = getenv("GPUREDUCE_PRETEND_FAIL_AT");
  const char *identity = getenv("GPUREDUCE_PRETEND_IDENTITY");
  const char *lose_at = getenv("GPUREDUCE_PRETEND_LOSE_AT"), *looks = getenv("GPUREDUCE_PRETEND_LOOKS");
  gr_slabs_open(&slabs, &source, NULL);
  pthread_atfork(before_fork, in_parent, in_child);
  if (capacity) memory.capacity = (size_t)strtoull(capacity, NULL, 10);
  if (fail_at) memory.fail_at = strtoll(fail_at, NULL, 10);
  if (lose_at) memory.lose_at = strtoll(lose_at, NULL, 10);
  memory.fork_loses = getenv("GPUREDUCE_PRETEND_FORK") != NULL;
  if (identity) snprintf((char *)pretend.identity, sizeof pretend.identity, "%s", identity);
  if (looks) memory.looks = strtoll(looks, NULL, 10);
}

gr_backend *gr_pretend_backend(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, read_limits);
  return &pretend;
}
