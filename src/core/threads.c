/*
** The pool: one job at a time, published under a ticket. The ticket's upper half is the job's generation,
** its lower half the next piece: taking a piece is one compare-and-swap, and a thread that wakes late finds
** a ticket of another generation and takes nothing.
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

#define MAX_THREADS 256
#define SPINS 2000 /* pauses before sleeping: some tens of microseconds */
#define NO_PIECE UINT32_MAX
#define STACK_BYTES (1024 * 1024)

typedef void (*job_body)(void *, int64_t);

static struct {
  /* The job. Written only while the ticket offers no piece. */
  _Atomic(job_body) body;
  _Atomic(void *) arg;
  _Atomic uint32_t pieces;
  _Atomic uint64_t ticket;
  _Atomic uint32_t done; /* pieces finished */
  atomic_int home;       /* the processor that the caller was on */
  atomic_int busy;       /* somebody's job is on */
  atomic_int limit;      /* threads that may work, the caller included; 0: not known yet */
  int started;           /* threads started; only the one who set busy reads or writes it */
  int sleepers, waiting; /* under lock: threads asleep; the caller asleep */
  pthread_mutex_t lock;
  pthread_cond_t wake, finished;
} pool = {.lock = PTHREAD_MUTEX_INITIALIZER, .wake = PTHREAD_COND_INITIALIZER, .finished = PTHREAD_COND_INITIALIZER,
          .ticket = NO_PIECE};

static void relax(void) {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("yield");
#endif
}

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
      int cpus;
      snprintf(path, sizeof(path), "/sys/fs/cgroup%s/cpu.max", line + 3);
      cpus = quota_of(path);
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

void gr_threads_set(int count) {
  atomic_store(&pool.limit, count < 1 ? 1 : count < MAX_THREADS ? count : MAX_THREADS);
}

/* ---- working ---- */

/* Take pieces of the job on offer until none is left. */
static void drain(void) {
  for (;;) {
    uint64_t t = atomic_load_explicit(&pool.ticket, memory_order_acquire);
    const job_body body = atomic_load_explicit(&pool.body, memory_order_acquire);
    void *arg = atomic_load_explicit(&pool.arg, memory_order_acquire);
    const uint32_t pieces = atomic_load_explicit(&pool.pieces, memory_order_acquire), k = (uint32_t)t;
    if (k == NO_PIECE || k >= pieces) return;
    /* Success means that the ticket still was t: what was read belongs to it. */
    if (!atomic_compare_exchange_weak(&pool.ticket, &t, t + 1)) continue;
    body(arg, k);
    if (atomic_fetch_add(&pool.done, 1) + 1 == pieces) {
      pthread_mutex_lock(&pool.lock);
      if (pool.waiting) pthread_cond_signal(&pool.finished);
      pthread_mutex_unlock(&pool.lock);
    }
  }
}

/* Is there a piece to take for a thread with this number? */
static int work_offered(int number) {
  const uint64_t t = atomic_load_explicit(&pool.ticket, memory_order_acquire);
  return number < atomic_load_explicit(&pool.limit, memory_order_relaxed) && (uint32_t)t != NO_PIECE &&
         (uint32_t)t < atomic_load_explicit(&pool.pieces, memory_order_acquire);
}

/*
** Some kernels wake a thread on the processor of the one that wakes it, though another is idle, and leave both there: a
** worker that finds itself on the caller's processor leaves it.
*/
static void leave_caller(void) {
#ifdef __linux__
  const int home = atomic_load_explicit(&pool.home, memory_order_relaxed);
  cpu_set_t all, others;
  if (home < 0 || sched_getcpu() != home || sched_getaffinity(0, sizeof(all), &all) != 0) return;
  others = all;
  CPU_CLR(home, &others);
  if (CPU_COUNT(&all) < atomic_load(&pool.limit) || CPU_COUNT(&others) == 0) return;
  if (sched_setaffinity(0, sizeof(others), &others) == 0) sched_setaffinity(0, sizeof(all), &all);
#endif
}

static void *worker(void *arg) {
  const int number = (int)(intptr_t)arg; /* 1, 2, ...; the caller is 0 */
  gr_rounding_enter();
  for (;;) {
    int spins = 0;
    while (!work_offered(number) && spins++ < SPINS) relax();
    if (!work_offered(number)) {
      pthread_mutex_lock(&pool.lock);
      pool.sleepers++;
      while (!work_offered(number)) pthread_cond_wait(&pool.wake, &pool.lock);
      pool.sleepers--;
      pthread_mutex_unlock(&pool.lock);
    }
    leave_caller();
    drain();
  }
  return NULL;
}

/* In a child of fork only the forking thread lives: it starts afresh. */
static void forget(void) {
  pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
  pool.lock = lock;
  pool.wake = pool.finished = cond;
  pool.started = pool.sleepers = pool.waiting = 0;
  atomic_store(&pool.ticket, NO_PIECE);
  atomic_store(&pool.busy, 0);
}

static void watch_forks(void) { pthread_atfork(NULL, NULL, forget); }

/* Threads up to the limit; signals stay with the host's threads. */
static void start_threads(int limit) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_attr_t attr;
  sigset_t all, before;
  pthread_once(&once, watch_forks);
  if (pthread_attr_init(&attr) != 0) return;
  pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
  pthread_attr_setstacksize(&attr, STACK_BYTES);
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  while (pool.started < limit - 1) {
    pthread_t id;
    if (pthread_create(&id, &attr, worker, (void *)(intptr_t)(pool.started + 1)) != 0) break; /* fewer will do */
    pool.started++;
  }
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  pthread_attr_destroy(&attr);
}

static void offer(uint32_t pieces, job_body body, void *arg) {
  const uint64_t generation = (atomic_load(&pool.ticket) >> 32) + 1;
  atomic_store(&pool.ticket, generation << 32 | NO_PIECE); /* late threads must not mix two jobs */
  atomic_store(&pool.done, 0);
  atomic_store(&pool.body, body);
  atomic_store(&pool.arg, arg);
  atomic_store(&pool.pieces, pieces);
#ifdef __linux__
  atomic_store(&pool.home, sched_getcpu());
#endif
  atomic_store(&pool.ticket, (generation + 1) << 32);
  pthread_mutex_lock(&pool.lock);
  if (pool.sleepers) pthread_cond_broadcast(&pool.wake);
  pthread_mutex_unlock(&pool.lock);
}

/* The caller's share is done; others may still be in their last piece. */
static void await(uint32_t pieces) {
  int spins = 0;
  while (atomic_load(&pool.done) < pieces && spins++ < SPINS) relax();
  if (atomic_load(&pool.done) >= pieces) return;
  pthread_mutex_lock(&pool.lock);
  pool.waiting = 1;
  while (atomic_load(&pool.done) < pieces) pthread_cond_wait(&pool.finished, &pool.lock);
  pool.waiting = 0;
  pthread_mutex_unlock(&pool.lock);
}

void gr_threads_run(int64_t pieces, void (*body)(void *arg, int64_t k), void *arg) {
  const int limit = gr_threads_count();
  int idle = 0;
  int64_t k;
  if (pieces < 2 || pieces >= NO_PIECE / 2 || limit < 2 || !atomic_compare_exchange_strong(&pool.busy, &idle, 1)) {
    for (k = 0; k < pieces; k++) body(arg, k);
    return;
  }
  if (pool.started < limit - 1) start_threads(limit);
  offer((uint32_t)pieces, body, arg);
  drain();
  await((uint32_t)pieces);
  atomic_store(&pool.busy, 0);
}
