#include "src/core/fork.h"

#include <pthread.h>
#include "kernels/cpu/room.h"
#include "src/core/background.h"
#include "src/core/pool.h"
#include "src/core/threads.h"

/* The background first: it ends what it does, for which it needs the others. */
static void before(void) {
  gr_background_before_fork();
  gr_threads_before_fork();
  gr_pool_before_fork();
}

static void after(int child) {
  gr_pool_after_fork();
  gr_threads_after_fork(child);
  gr_background_after_fork(child);
}

static void in_parent(void) { after(0); }
static void in_child(void) {
  gr_room_after_fork();
  after(1);
}

static void watch(void) { pthread_atfork(before, in_parent, in_child); }

void gr_fork_prepare(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, watch);
}
