#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1 /* SCHED_BATCH */
#endif
#include "src/core/background.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include "src/core/clock.h"
#include "src/core/threads.h"

#define STACK_BYTES (1024 * 1024)
#define LOOK 20000000 /* nanoseconds between two questions whether to stop waiting */

/* Everything here, and lines and the links of tasks, is read and written under the lock. */
static struct {
  pthread_mutex_t lock;
  pthread_cond_t wake, ended;
  gr_line *first, *last; /* that have tasks and nobody busy with them */
  pthread_t thread;
  int started, working, paused;
  int home;         /* the processor of who gave the last task */
  uintptr_t number; /* of the thread: one that has another number ends */
} all = {.lock = PTHREAD_MUTEX_INITIALIZER, .wake = PTHREAD_COND_INITIALIZER};

static _Thread_local int inside;

int gr_background_inside(void) { return inside; }

/* By the clock that only goes forward. */
static void make_ended(void) {
  pthread_condattr_t attr;
  pthread_condattr_init(&attr);
  pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
  pthread_cond_init(&all.ended, &attr);
  pthread_condattr_destroy(&attr);
}

static void enter(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, make_ended);
  pthread_mutex_lock(&all.lock);
}

static void leave(void) { pthread_mutex_unlock(&all.lock); }

/* ---- lines ---- */

static void list(gr_line *l) {
  if (l->listed || l->busy || !l->next) return;
  l->listed = 1;
  l->behind = NULL;
  if (all.first) all.last->behind = l;
  else all.first = l;
  all.last = l;
  pthread_cond_signal(&all.wake);
}

static void unlist(gr_line *l) {
  gr_line *before = NULL;
  if (!l->listed) return;
  for (gr_line *at = all.first; at != l; at = at->behind) before = at;
  if (before) before->behind = l->behind;
  else all.first = l->behind;
  if (all.last == l) all.last = before;
  l->listed = 0;
}

/* Does the next task of a line that nobody is busy with; not under the lock. */
static void advance(gr_line *l, int by_caller) {
  gr_task *t = l->next;
  unlist(l);
  l->next = t->after;
  l->busy = 1;
  all.working += !by_caller;
  atomic_store(&t->stage, GR_BUSY);
  const int home = by_caller ? -1 : all.home;
  leave();
  gr_threads_leave(home);
  inside++;
  t->run(t, by_caller);
  inside--;
  enter();
  all.working -= !by_caller;
  l->busy = 0;
  list(l);
  atomic_store(&t->stage, GR_ENDED);
  pthread_cond_broadcast(&all.ended);
}

/* ---- the thread ---- */

/* Waking up, it is not to take the processor from who woke it. */
static void step_back(void) {
#ifdef SCHED_BATCH
  const struct sched_param none = {0};
  pthread_setschedparam(pthread_self(), SCHED_BATCH, &none);
#endif
}

static void *work(void *number) {
  step_back();
  enter();
  while (all.number == (uintptr_t)number) {
    if (all.first && !all.paused) advance(all.first, 0);
    else pthread_cond_wait(&all.wake, &all.lock);
  }
  leave();
  return NULL;
}

/* Whether there is a thread. Signals stay with the host's. */
static int start(void) {
  pthread_attr_t attr;
  sigset_t every, before;
  if (all.started) return 1;
  if (pthread_attr_init(&attr) != 0) return 0;
  pthread_attr_setstacksize(&attr, STACK_BYTES);
  sigfillset(&every);
  pthread_sigmask(SIG_SETMASK, &every, &before);
  all.started = pthread_create(&all.thread, &attr, work, (void *)all.number) == 0;
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  pthread_attr_destroy(&attr);
  return all.started;
}

void gr_background_rest(void) {
  pthread_t thread;
  enter();
  const int ends = all.started && !all.first && !all.working;
  if (ends) {
    thread = all.thread;
    all.started = 0;
    all.number++;
    pthread_cond_broadcast(&all.wake);
  }
  leave();
  if (ends) pthread_join(thread, NULL);
}

/* What it does now ends first: in a child half of it would be lost. */
void gr_background_before_fork(void) {
  enter();
  all.paused++;
  while (all.working) pthread_cond_wait(&all.ended, &all.lock);
}

/* In a child lines that still have tasks are listed again when somebody waits. */
void gr_background_after_fork(int child) {
  if (child) {
    pthread_cond_init(&all.wake, NULL);
    make_ended();
    while (all.first) unlist(all.first);
    all.started = 0;
    all.number++;
    all.paused = 1;
  }
  all.paused--;
  if (all.first) pthread_cond_signal(&all.wake);
  leave();
}

/* ---- tasks ---- */

int gr_background_put(gr_line *l, gr_task *t) {
  enter();
  const int can = start();
  if (can) {
    t->after = NULL;
    if (l->next) l->last->after = t;
    else l->next = t;
    l->last = t;
    all.home = gr_threads_home();
    list(l);
  }
  leave();
  return can;
}

static void wait_until(int64_t then) {
  const struct timespec at = {(time_t)(then / 1000000000), (long)(then % 1000000000)};
  pthread_cond_timedwait(&all.ended, &all.lock, &at);
}

int gr_background_wait(gr_line *l, gr_task *t, int64_t nanoseconds, int (*asked)(void *), void *arg) {
  const int64_t began = nanoseconds > 0 ? gr_nanoseconds() : 0;
  const int64_t until = nanoseconds > INT64_MAX - began ? INT64_MAX : began + nanoseconds;
  if (gr_background_has_ended(t)) return 1;
  if (nanoseconds == 0 && atomic_load(&t->stage) == GR_BUSY) return 0;
  enter();
  list(l); /* in a child of fork it may not be */
  const int alone = !start();
  while (!gr_background_has_ended(t)) {
    const int64_t now = nanoseconds == 0 ? 0 : gr_nanoseconds();
    if (!l->busy && (nanoseconds < 0 || alone)) advance(l, 1);
    else if (nanoseconds >= 0 && now >= until) break;
    else wait_until(nanoseconds > 0 && until - now < LOOK ? until : now + LOOK);
    if (nanoseconds < 0 && asked && asked(arg)) break;
  }
  leave();
  return gr_background_has_ended(t);
}

void gr_background_finish(gr_line *l) {
  enter();
  while (l->busy || l->next) {
    if (l->busy) wait_until(gr_nanoseconds() + LOOK);
    else advance(l, 1);
  }
  leave();
}

void gr_background_leave(gr_line *l) {
  enter(); /* the thread may just be about to say that the last task has ended */
  unlist(l);
  leave();
}
