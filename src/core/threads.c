/*
** The pool: one job at a time. A thread that comes to help is admitted by one word, which is open while the job has
** pieces, and the caller waits until all that entered have left. Each thread begins with a share of its own, the same
** in every job, so that what it worked on last time is still in its cache; then it takes pieces of the others' shares.
*/
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1 /* sched_getaffinity */
#endif
#include "src/core/threads.h"

#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "kernels/cpu/rounding.h"
#include "kernels/cpu/stop.h"
#include "src/core/pause.h"

#define MAX_THREADS 256
#define SPINS 2000 /* pauses before sleeping: some tens of microseconds */
#define STACK_BYTES (1024 * 1024)
/* The admission word: the top bit says open, below it is a count of jobs, and in the low half how many are inside. */
#define OPEN ((uint64_t)1 << 63)
#define NEXT_JOB ((uint64_t)1 << 32)
#define INSIDE (NEXT_JOB - 1)

static struct {
  _Alignas(64) _Atomic uint64_t admission;
  /* The job. Written only while admission is closed and nobody is inside. */
  void (*body)(void *, int64_t);
  void *arg;
  atomic_int *stopped; /* of a job that can be stopped, else NULL */
  int shares;
  int home;            /* the caller's processor, or -1 */
  atomic_int busy;     /* a job is running */
  atomic_int limit;    /* threads that may work, the caller included; 0: not known yet */
  atomic_int sleepers; /* threads asleep, or about to be */
  atomic_int waiting;  /* the caller is asleep, or about to be */
  int started;         /* threads started; only the one who set busy reads or writes it and their ids */
  pthread_t id[MAX_THREADS];
  atomic_int ends; /* the threads are to end */
  pthread_mutex_t lock;
  pthread_cond_t wake, finished;
  struct share {
    _Alignas(64) _Atomic int64_t next;
    int64_t end;
  } share[MAX_THREADS];
} pool = {.lock = PTHREAD_MUTEX_INITIALIZER, .wake = PTHREAD_COND_INITIALIZER, .finished = PTHREAD_COND_INITIALIZER};

/* ---- how many threads ---- */

/* The CPU share that a control group grants, rounded up; INT_MAX when none is set. */
static int quota_of(const char *path) {
  char text[64];
  long long quota, period;
  int cpus = INT_MAX;
  FILE *f = fopen(path, "r");
  if (!f) return cpus;
  if (fgets(text, sizeof(text), f) && sscanf(text, "%lld %lld", &quota, &period) == 2 && quota > 0 && period > 0)
    cpus = (int)((quota + period - 1) / period);
  fclose(f);
  return cpus < 1 ? 1 : cpus;
}

/* This process's group and all above it may set a limit. */
static int group_quota(void) {
  char line[512], path[640];
  int least = quota_of("/sys/fs/cgroup/cpu.max");
  FILE *f = fopen("/proc/self/cgroup", "r");
  if (!f) return least;
  while (fgets(line, sizeof(line), f)) {
    char *end;
    if (strncmp(line, "0::/", 4) != 0) continue;
    line[strcspn(line, "\n")] = 0;
    while ((end = strrchr(line + 3, '/')) != NULL) {
      snprintf(path, sizeof(path), "/sys/fs/cgroup%s/cpu.max", line + 3);
      int cpus = quota_of(path);
      if (cpus < least) least = cpus;
      *end = 0;
    }
  }
  fclose(f);
  return least;
}

static int usable_cpus(void) {
  const char *asked = getenv("GPUREDUCE_THREADS");
  int cpus = 0, quota;
  if (asked && (cpus = atoi(asked)) >= 1) return cpus < MAX_THREADS ? cpus : MAX_THREADS;
#ifdef __linux__
  {
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof(set), &set) == 0) cpus = CPU_COUNT(&set);
  }
#endif
  if (cpus < 1) cpus = (int)sysconf(_SC_NPROCESSORS_ONLN);
  quota = group_quota();
  if (cpus > quota) cpus = quota;
  return cpus < 1 ? 1 : cpus < MAX_THREADS ? cpus : MAX_THREADS;
}

int gr_threads_count(void) {
  int n = atomic_load(&pool.limit);
  if (n == 0) {
    int unknown = 0;
    n = usable_cpus();
    if (!atomic_compare_exchange_strong(&pool.limit, &unknown, n)) n = unknown;
  }
  return n;
}

void gr_threads_set(int count) { atomic_store(&pool.limit, count < 1 ? 1 : count < MAX_THREADS ? count : MAX_THREADS); }

/* ---- working ---- */

/* Works on pieces of the job until none is left, those of its own share first. */
static void drain(int own) {
  const int watched = pool.stopped != NULL;
  for (int i = 0; i < pool.shares; i++) {
    struct share *s = &pool.share[(own + i) % pool.shares];
    int64_t k = atomic_load_explicit(&s->next, memory_order_relaxed);
    while (k < s->end && (k = atomic_fetch_add_explicit(&s->next, 1, memory_order_relaxed)) < s->end) {
      if (watched && gr_stopped()) return;
      pool.body(pool.arg, k);
    }
  }
}

/* Is there work for a thread with this number? */
static int work_offered(int number, uint64_t seen) {
  const uint64_t admission = atomic_load(&pool.admission);
  return admission & OPEN && (admission & ~INSIDE) != seen &&
         number < atomic_load_explicit(&pool.limit, memory_order_relaxed);
}

/* Returns the number of the job that the thread was admitted to, or `seen` if it came too late. */
static uint64_t enter(uint64_t seen) {
  uint64_t admission = atomic_load(&pool.admission);
  while (admission & OPEN)
    if (atomic_compare_exchange_weak(&pool.admission, &admission, admission + 1)) return admission & ~INSIDE;
  return seen;
}

static void leave(void) {
  const uint64_t left = atomic_fetch_sub(&pool.admission, 1) - 1;
  if (left & OPEN || left & INSIDE || !atomic_load(&pool.waiting)) return;
  pthread_mutex_lock(&pool.lock);
  pthread_cond_signal(&pool.finished);
  pthread_mutex_unlock(&pool.lock);
}

void gr_threads_leave(int home) {
#ifdef __linux__
  cpu_set_t all;
  if (home < 0 || sched_getcpu() != home || sched_getaffinity(0, sizeof(all), &all) != 0) return;
  cpu_set_t others = all;
  CPU_CLR((size_t)home, &others);
  if (CPU_COUNT(&all) < atomic_load(&pool.limit) || CPU_COUNT(&others) == 0) return;
  if (sched_setaffinity(0, sizeof(others), &others) == 0) sched_setaffinity(0, sizeof(all), &all);
#else
  (void)home;
#endif
}

int gr_threads_home(void) {
#ifdef __linux__
  return sched_getcpu();
#else
  return -1;
#endif
}

static void *worker(void *arg) {
  const int number = (int)(intptr_t)arg; /* 1, 2, ...; the caller is 0 */
  uint64_t seen = 0;
  gr_rounding_enter();
  for (;;) {
    int spins = 0;
    while (!work_offered(number, seen) && spins++ < SPINS) gr_pause();
    if (atomic_load(&pool.ends)) break;
    if (!work_offered(number, seen)) {
      pthread_mutex_lock(&pool.lock);
      atomic_fetch_add(&pool.sleepers, 1);
      while (!work_offered(number, seen) && !atomic_load(&pool.ends)) pthread_cond_wait(&pool.wake, &pool.lock);
      atomic_fetch_sub(&pool.sleepers, 1);
      pthread_mutex_unlock(&pool.lock);
    }
    uint64_t job = enter(seen);
    if (job == seen) continue;
    seen = job;
    gr_threads_leave(pool.home);
    gr_watching.stopped = pool.stopped;
    drain(number);
    gr_watching.stopped = NULL;
    leave();
  }
  return NULL;
}

void gr_threads_before_fork(void) { pthread_mutex_lock(&pool.lock); }

/* In a child only the forking thread lives: the pool starts afresh. A job of another thread's is none any more. */
void gr_threads_after_fork(int child) {
  pthread_mutex_unlock(&pool.lock);
  if (!child) return;
  pthread_cond_init(&pool.wake, NULL);
  pthread_cond_init(&pool.finished, NULL);
  pool.started = 0;
  atomic_store(&pool.ends, 0); /* somebody may have been letting them go */
  atomic_store(&pool.sleepers, 0);
  atomic_store(&pool.waiting, 0);
  atomic_store(&pool.admission, 0);
  atomic_store(&pool.busy, 0);
}

/* Threads up to the limit; signals stay with the host's threads. */
static void start_threads(int limit) {
  pthread_attr_t attr;
  sigset_t all, before;
  if (pthread_attr_init(&attr) != 0) return;
  pthread_attr_setstacksize(&attr, STACK_BYTES);
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  while (pool.started < limit - 1) {
    if (pthread_create(&pool.id[pool.started], &attr, worker, (void *)(intptr_t)(pool.started + 1)) != 0)
      break; /* fewer will do */
    pool.started++;
  }
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  pthread_attr_destroy(&attr);
}

static void offer(int64_t pieces, void (*body)(void *, int64_t), void *arg, int limit) {
  const uint64_t job = (atomic_load(&pool.admission) & ~OPEN) + NEXT_JOB;
  pool.body = body;
  pool.arg = arg;
  pool.stopped = gr_watching.stopped;
  pool.shares = pieces < limit ? (int)pieces : limit;
  for (int i = 0; i < pool.shares; i++) {
    atomic_store_explicit(&pool.share[i].next, pieces * i / pool.shares, memory_order_relaxed);
    pool.share[i].end = pieces * (i + 1) / pool.shares;
  }
  pool.home = gr_threads_home();
  atomic_store(&pool.admission, job | OPEN);
  if (!atomic_load(&pool.sleepers)) return;
  pthread_mutex_lock(&pool.lock);
  pthread_cond_broadcast(&pool.wake);
  pthread_mutex_unlock(&pool.lock);
}

/* No piece is left to take; others may still be in their last one. */
static void await(void) {
  int spins = 0;
  atomic_fetch_and(&pool.admission, ~OPEN);
  while (atomic_load(&pool.admission) & INSIDE && spins++ < SPINS) gr_pause();
  if (!(atomic_load(&pool.admission) & INSIDE)) return;
  pthread_mutex_lock(&pool.lock);
  atomic_store(&pool.waiting, 1);
  while (atomic_load(&pool.admission) & INSIDE) pthread_cond_wait(&pool.finished, &pool.lock);
  atomic_store(&pool.waiting, 0);
  pthread_mutex_unlock(&pool.lock);
}

/* ---- the host's threads ---- */

static struct {
  _Atomic(gr_threads_host *) run;
  void *_Atomic user;
} host;

void gr_threads_by(gr_threads_host *run, void *user) {
  atomic_store(&host.user, user);
  atomic_store(&host.run, run);
}

typedef struct lent_job {
  void (*body)(void *, int64_t);
  void *arg;
  atomic_int *stopped;
  int64_t pieces;
  _Atomic int64_t next;
} lent_job;

/* Whoever is called takes the next piece, whatever its number is: so each is done once, however the host calls. */
static void lent_piece(void *work, int64_t number) {
  lent_job *job = work;
  const gr_watch before = gr_watching;
  const gr_rounding mode = gr_rounding_enter();
  (void)number;
  if (gr_watching.stopped != job->stopped) gr_watching = (gr_watch){.stopped = job->stopped};
  const int64_t k = atomic_fetch_add(&job->next, 1);
  if (k < job->pieces && !(k && gr_stopped())) job->body(job->arg, k);
  gr_watching = before;
  gr_rounding_leave(mode);
}

static void run_by_host(gr_threads_host *run, int64_t pieces, void (*body)(void *, int64_t), void *arg) {
  lent_job job = {.body = body, .arg = arg, .stopped = gr_watching.stopped, .pieces = pieces};
  run(atomic_load(&host.user), pieces, lent_piece, &job);
  while (atomic_load(&job.next) < pieces && !(atomic_load(&job.next) && gr_stopped())) lent_piece(&job, 0);
}

void gr_threads_run(int64_t pieces, void (*body)(void *arg, int64_t k), void *arg) {
  const int limit = gr_threads_count();
  gr_threads_host *const lent = atomic_load_explicit(&host.run, memory_order_acquire);
  int idle = 0;
  if (lent && pieces > 1 && limit > 1) {
    run_by_host(lent, pieces, body, arg);
    return;
  }
  if (pieces < 2 || limit < 2 || !atomic_compare_exchange_strong(&pool.busy, &idle, 1)) {
    for (int64_t k = 0; k < pieces && !(k && gr_stopped()); k++) body(arg, k);
    return;
  }
  if (pool.started < limit - 1) start_threads(limit);
  offer(pieces, body, arg, limit);
  drain(0);
  await();
  atomic_store(&pool.busy, 0);
}

void gr_threads_rest(void) {
  int idle = 0;
  if (!atomic_compare_exchange_strong(&pool.busy, &idle, 1)) return; /* somebody has just begun anew */
  atomic_store(&pool.ends, 1);
  pthread_mutex_lock(&pool.lock);
  pthread_cond_broadcast(&pool.wake);
  pthread_mutex_unlock(&pool.lock);
  for (int k = 0; k < pool.started; k++) pthread_join(pool.id[k], NULL);
  pool.started = 0;
  atomic_store(&pool.ends, 0);
  atomic_store(&pool.busy, 0);
}
