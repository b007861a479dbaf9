/* The CPU as a backend. Its memory is the host's, so nothing is copied; work is done when a call returns. */
#include "src/backend/cpu.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "kernels/cpu/kernels_cpu.h"
#include "kernels/ladder/cpu.h"
#include "kernels/cpu/rounding.h"
#include "src/core/clock.h"
#include "src/core/pool.h"
#include "src/core/stop.h"
#include "src/core/threads.h"

/* ---- memory ---- */

static size_t padded(size_t bytes) { return bytes <= SIZE_MAX - 511 ? (bytes + 255 + (bytes == 0)) & ~(size_t)255 : 0; }

void *gr_cpu_alloc(gr_backend *backend, size_t bytes) {
  const size_t whole = padded(bytes);
  (void)backend;
  return whole ? aligned_alloc(256, whole) : NULL;
}

void gr_cpu_free(gr_backend *backend, void *block, size_t bytes) {
  (void)backend;
  (void)bytes;
  free(block);
}

size_t gr_cpu_available(gr_backend *backend) {
  (void)backend;
#ifdef _SC_AVPHYS_PAGES
  {
    const long pages = sysconf(_SC_AVPHYS_PAGES), size = sysconf(_SC_PAGESIZE);
    if (pages > 0 && size > 0) return (size_t)pages * (size_t)size;
  }
#endif
  return SIZE_MAX / 2;
}

/* ---- queues ---- */

/* GPUREDUCE_CPU asks for one instruction set. An impossible one is an error of every operation, not a guess. */
static void choose_set(gr_queue *q) {
  const char *force = getenv("GPUREDUCE_CPU");
  if (force && !*force) force = NULL;
  if (!gr_cpu_select(force)) {
    snprintf(
        q->error, sizeof(q->error),
        "GPUREDUCE_CPU asks for '%.60s': this CPU has no such instruction set (avx512, avx2, sse2, neon or generic)",
        force);
  }
}

gr_queue *gr_cpu_open_sized(gr_backend *backend, size_t bytes, gr_status *why) {
  gr_queue *q = (gr_queue *)calloc(1, bytes);
  *why = GR_NO_MEMORY;
  if (!q) return NULL;
  q->backend = backend;
  choose_set(q);
  return q;
}

static gr_queue *cpu_open(gr_backend *b, gr_status *why) { return gr_cpu_open_sized(b, sizeof(gr_queue), why); }

void gr_cpu_close(gr_queue *q) { free(q); }

static gr_status upload(gr_queue *q, void *device, const void *host, size_t bytes) {
  (void)q;
  if (device != host && bytes) memmove(device, host, bytes);
  return GR_OK;
}

static gr_status download(gr_queue *q, void *host, const void *device, size_t bytes) {
  return upload(q, host, device, bytes);
}

gr_status gr_cpu_zero(gr_queue *q, void *device, size_t bytes) {
  q->stats.launches++; /* as it is on a GPU */
  memset(device, 0, bytes);
  return GR_OK;
}

static gr_status wait_for(gr_queue *q) {
  (void)q;
  return GR_OK;
}

/* ---- what runs, and how it is stopped ---- */

static int ask(void *stop) { return gr_stop_asked(stop); }

typedef struct running {
  gr_rounding before;
  int watched; /* it looks between its pieces whether to stop */
  atomic_int stopped;
} running;

/* Work on n elements, or count times as many, starts. */
static void watch(gr_queue *q, int64_t n, int64_t count, running *r) {
  q->stats.launches++;
  r->watched = (n >= GR_LONG || count >= GR_LONG || n * count >= GR_LONG) && q->stop;
  if (!r->watched) return;
  gr_stop_begin(q->stop);
  atomic_init(&r->stopped, 0);
  gr_watching = (gr_watch){&r->stopped, ask, q->stop};
}

/* A last look, for what has no pieces. */
static gr_status unwatch(const running *r) {
  if (!r->watched) return GR_OK;
  const int stopped = gr_stopped();
  gr_watching = (gr_watch){NULL, NULL, NULL};
  return stopped ? GR_STOPPED : GR_OK;
}

/* The same, rounding to nearest meanwhile. */
static void begin(gr_queue *q, int64_t n, int64_t count, running *r) {
  r->before = gr_rounding_enter();
  watch(q, n, count, r);
}
static gr_status end(const running *r) {
  gr_rounding_leave(r->before);
  return unwatch(r);
}

/* ---- the jobs ---- */

/* NULL with one thread: kernels that would go over the data once more for the sake of others need not. */
static gr_parallel helpers(void) { return gr_threads_count() > 1 ? gr_threads_run : NULL; }

gr_status gr_cpu_do_reduce(gr_queue *q, const gr_reduce_job *job, uint64_t *result) {
  running r;
  if (q->error[0]) return GR_BAD;
  begin(q, job->n, job->count, &r);
  const gr_parallel parallel = r.watched ? gr_threads_run : helpers(); /* in pieces, if it can be stopped */
  if (result) {
    const gr_value value = gr_cpu_reduce_value(job, parallel);
    memcpy(result, value.v, sizeof(value.v));
  } else {
    gr_cpu_reduce(job, parallel);
  }
  return end(&r);
}

void gr_cpu_do_explain(gr_queue *q, const gr_reduce_job *job, int number, gr_explained *e) {
  const int threads = gr_threads_count(), is_long = q->stop && (job->n >= GR_LONG || job->count >= GR_LONG / job->n);
  (void)number;
  gr_cpu_explain(job, threads, threads > 1 || is_long, e);
}

#define EXPLAIN(name)                                                                       \
  void gr_cpu_do_explain_##name(gr_queue *q, const gr_##name##_job *job, gr_explained *e) { \
    (void)q;                                                                                \
    gr_cpu_explain_##name(job, gr_threads_count(), e);                                      \
  }
EXPLAIN(scan)
EXPLAIN(histogram)
#undef EXPLAIN

static gr_status small(gr_queue *q, gr_op op, gr_dtype t, const void *a, const void *b, int64_t n, gr_value *r) {
  if (q->error[0]) return GR_BAD;
  gr_rounding before = gr_rounding_enter();
  q->stats.launches++;
  gr_cpu_reduce_small(op, t, a, b, n, r);
  gr_rounding_leave(before);
  return GR_OK;
}

/* Without memory for tables it is done on one thread. */
static void count_bins(gr_queue *q, const gr_histogram_job *job, gr_feed *feed) {
  const int64_t asked = gr_cpu_histogram_room(job, gr_threads_count());
  size_t bytes = (size_t)asked;
  void *room = bytes ? gr_pool_take(NULL, q, &bytes) : NULL;
  gr_cpu_histogram(job, feed, helpers(), room, room ? asked : 0);
  gr_pool_give(NULL, q, room, bytes);
}

/* What the table of a backend has by GR_CPU_OPERATIONS: all of it runs after what its queue has put off. */
#define OPERATION(name, n, count) OPERATION_BY(gr_cpu_##name(job, helpers()), name, n, count)
#define OPERATION_BY(call, name, n, count)                              \
  gr_status gr_cpu_do_##name(gr_queue *q, const gr_##name##_job *job) { \
    running r;                                                          \
    if (q->before && q->before(q) != GR_OK) return GR_DEVICE;           \
    if (q->error[0]) return GR_BAD;                                     \
    begin(q, n, count, &r);                                             \
    call;                                                               \
    return end(&r);                                                     \
  }
OPERATION_BY(count_bins(q, job, NULL), histogram, job->n, 1 + job->bins / (job->n + 1)) /* bins are work, too */
OPERATION_BY(gr_cpu_weights(job, NULL, helpers()), weights, job->bins.n, 1 + job->bins.bins / (job->bins.n + 1))
OPERATION_BY(gr_cpu_scan(job, NULL, helpers()), scan, job->n, job->count)
OPERATION(softmax, job->n, job->count)
OPERATION(digits, job->of.n, 1)
OPERATION(pick, job->of.n, 1)
OPERATION(rmsnorm, job->n, job->count)
OPERATION(fill, job->n, 1)
OPERATION(copy, job->n, 1)
OPERATION(random, job->n, 1)
OPERATION(whole, job->n, 1)
OPERATION(order, job->n, 1)
OPERATION(edges, job->bins, 1)
OPERATION(map, job->n, 1)
OPERATION_BY(gr_cpu_compact(job, NULL, helpers()), compact, job->n, 1)
OPERATION(lookup, job->n, 1)
OPERATION_BY(gr_cpu_put(job, helpers(), gr_threads_count()), put, job->n, 1)
OPERATION(ladder, job->n, job->rows)

/* ---- results for later: there at once ---- */

static gr_status cpu_start(gr_queue *q, const gr_reduce_job *const *jobs, int count, gr_ticket *const *tickets,
                           int more) {
  (void)more;
  for (int k = 0; k < count; k++) {
    gr_status status = q->backend->reduce(q, jobs[k], tickets[k]->words);
    if (status != GR_OK) return status;
    tickets[k]->done = 1;
  }
  return GR_OK;
}

/* Its words: the nanoseconds on a clock. */
gr_status gr_cpu_mark(gr_queue *q, gr_ticket *t) {
  (void)q;
  t->words[0] = (uint64_t)gr_nanoseconds();
  t->done = 1;
  return GR_OK;
}

static gr_status poll_ticket(gr_queue *q, gr_ticket *t, int64_t nanoseconds) {
  (void)q;
  (void)t;
  (void)nanoseconds;
  return GR_OK;
}

static void forget(gr_queue *q, gr_ticket *t) {
  (void)q;
  (void)t;
}

gr_status gr_cpu_elapsed(gr_queue *q, const gr_ticket *from, const gr_ticket *to, double *seconds) {
  (void)q;
  *seconds = 1e-9 * (double)(to->words[0] - from->words[0]);
  return GR_OK;
}

static void sum_exactly(const gr_exact_job *job, gr_feed *feed, gr_exact *sums) {
  enum { ROOMS = 64 };
  gr_exact *room = job->n >= 1 << 17 ? malloc(ROOMS * sizeof *room) : NULL; /* without it: one thread a vector */
  gr_cpu_exact(job, feed, sums, room, room ? ROOMS : 0, gr_threads_run);
  free(room);
}

/* Also called for arrays of a device that has no exact sums of its own (then the queue's error is not ours). */
gr_status gr_cpu_do_exact(gr_queue *q, const gr_exact_job *job, gr_exact *sums) {
  running r;
  if (q->backend->exact && q->error[0]) return GR_BAD;
  begin(q, job->n, job->count, &r);
  sum_exactly(job, NULL, sums);
  return end(&r);
}

/* Also called for arrays of devices, on elements that the host has (then the queue's error is not ours). */
gr_status gr_cpu_do_states(gr_queue *q, const gr_reduce_job *jobs, int count, gr_acc *states, const gr_brought *b,
                           int brought) {
  gr_status status = GR_OK;
  if (!q->backend->separate && q->error[0]) return GR_BAD;
  for (int k = 0; k < brought; k++) memcpy(b[k].host, b[k].device, b[k].bytes);
  const gr_rounding before = gr_rounding_enter();
  for (int k = 0; k < count && status == GR_OK; states += jobs[k++].count) {
    running r;
    watch(q, jobs[k].n, jobs[k].count, &r);
    gr_cpu_reduce_states(&jobs[k], states, r.watched ? gr_threads_run : helpers());
    status = unwatch(&r);
  }
  gr_rounding_leave(before);
  return status;
}

static gr_status scan_total(gr_queue *q, const gr_scan_job *job, int64_t from, int64_t n, gr_acc *total) {
  running r;
  begin(q, n, 1, &r);
  *total = gr_cpu_scan_total(job, from, n);
  return end(&r);
}

static gr_status scan_part(gr_queue *q, const gr_scan_part *part) {
  running r;
  begin(q, part->job.n - part->first, 1, &r);
  gr_cpu_scan_part(part);
  return end(&r);
}

gr_status gr_cpu_do_digest(gr_queue *q, const gr_digest_job *job, uint64_t result[2]) {
  running r;
  watch(q, job->n, 1, &r);
  gr_cpu_digest(job, result, gr_threads_run);
  return unwatch(&r);
}

/* The pool's blocks, from the next line of the cache on. */
static void *on_line(void *block) { return (void *)(((uintptr_t)block + 63) & ~(uintptr_t)63); }

static void feed(gr_queue *q, const gr_formula_job *job, gr_feed *f) {
  switch (job->feeds) {
    case GR_FEEDS_NOTHING:
    case GR_FEEDS_PRESENT: return;
    case GR_FEEDS_COLUMNS: gr_cpu_columns(job->operation, f, helpers()); return;
    case GR_FEEDS_HISTOGRAM: count_bins(q, job->operation, f); return;
    case GR_FEEDS_WEIGHTS: gr_cpu_weights(job->operation, f, helpers()); return;
    case GR_FEEDS_SCAN: gr_cpu_scan(job->operation, f, helpers()); return;
    case GR_FEEDS_COMPACT: gr_cpu_compact(job->operation, f, helpers()); return;
    case GR_FEEDS_EXACT: sum_exactly(job->operation, f, job->sums); return;
  }
}

static void run_formula(gr_queue *q, const gr_formula_job *job, void *plan, void *memory, gr_parallel parallel) {
  if (job->feeds) feed(q, job, gr_cpu_formula_feed(plan, memory));
  else gr_cpu_formula(job, plan, memory, parallel);
}

static void run_operator(gr_queue *q, const gr_operator_job *job, void *plan, void *memory, gr_parallel parallel) {
  (void)q;
  gr_cpu_operator(job, plan, memory, parallel);
}

/*
** What takes memory of its own: kernel says how much for a plan, the plan what to run in. foreign: for a device that
** cannot do it itself, so the queue's error is not ours.
*/
#define PLANNED(name, kernel, n, count, foreign)                                                    \
  static gr_status name(gr_queue *q, const gr_##kernel##_job *job) {                                \
    size_t plan_bytes = (size_t)gr_cpu_##kernel##_room(job) + 64, bytes;                            \
    running r;                                                                                      \
    gr_status status = GR_NO_MEMORY;                                                                \
    if (!(foreign) && q->error[0]) return GR_BAD;                                                   \
    void *plan = gr_pool_take(NULL, q, &plan_bytes), *memory;                                       \
    if (!plan) return GR_NO_MEMORY;                                                                 \
    r.before = gr_rounding_enter();                                                                 \
    bytes = (size_t)gr_cpu_##kernel##_plan(job, on_line(plan), gr_threads_count()) + 64;            \
    memory = gr_pool_take(NULL, q, &bytes);                                                         \
    if (memory) {                                                                                   \
      watch(q, n, count, &r);                                                                       \
      run_##kernel(q, job, on_line(plan), on_line(memory), r.watched ? gr_threads_run : helpers()); \
      status = unwatch(&r);                                                                         \
      gr_pool_give(NULL, q, memory, bytes);                                                         \
    }                                                                                               \
    gr_rounding_leave(r.before);                                                                    \
    gr_pool_give(NULL, q, plan, plan_bytes);                                                        \
    return status;                                                                                  \
  }
PLANNED(formula, formula, job->n, 1, 0)
PLANNED(custom, operator, job->longest, job->count, !q->backend->custom)

/* The processor's own name, for people. */
static void describe(char *text, size_t size) {
  char line[256];
  FILE *f = fopen("/proc/cpuinfo", "r");
  snprintf(text, size, "host processor");
  if (!f) return;
  while (fgets(line, sizeof(line), f)) {
    const char *colon = strchr(line, ':');
    if (strncmp(line, "model name", 10) != 0 || !colon) continue;
    snprintf(text, size, "%.*s", (int)strcspn(colon + 2, "\n"), colon + 2);
    break;
  }
  fclose(f);
}

static gr_backend cpu = {
    .name = "cpu",
    .alloc = gr_cpu_alloc,
    .free = gr_cpu_free,
    .available = gr_cpu_available,
    .open = cpu_open,
    .close = gr_cpu_close,
    .upload = upload,
    .download = download,
    .zero = gr_cpu_zero,
    .wait = wait_for,
    .reduce = gr_cpu_do_reduce,
    .explain = gr_cpu_do_explain,
    .small = small,
    .states = gr_cpu_do_states,
    .scan_total = scan_total,
    .scan_part = scan_part,
    .exact = gr_cpu_do_exact,
    .digest = gr_cpu_do_digest,
    .formula = formula,
    .feeds = GR_FEEDS_ALL,
    .custom = custom,
    .start = cpu_start,
    .mark = gr_cpu_mark,
    .poll = poll_ticket,
    .forget = forget,
    .elapsed = gr_cpu_elapsed,
    GR_CPU_OPERATIONS,
};

static void describe_once(void) { describe(cpu.description, sizeof(cpu.description)); }

gr_backend *gr_cpu_backend(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, describe_once);
  return &cpu;
}
