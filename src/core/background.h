/*
** A thread in the background, one for the process, that does tasks. Tasks of one line are done in their order, one at a
** time; lines take turns. It starts with the first task and sleeps when there is none. Who waits for a line that nobody
** is busy with does its tasks himself.
*/
#ifndef GR_BACKGROUND_H
#define GR_BACKGROUND_H

#include <stdatomic.h>
#include <stdint.h>

typedef enum gr_progress { GR_WAITING, GR_BUSY, GR_ENDED } gr_progress;

/* The head of what is to be done. by_caller: on the thread of who waits. Nobody touches it here once it has ended. */
typedef struct gr_task {
  struct gr_task *after;
  _Atomic gr_progress stage;
  void (*run)(struct gr_task *, int by_caller);
} gr_task;

/* All zeros: empty. One thread puts and waits. */
typedef struct gr_line {
  gr_task *next, *last; /* that have not begun */
  int busy, listed;     /* somebody does a task of it; the thread will come to it */
  struct gr_line *behind;
} gr_line;

/* Returns 0, and does nothing, if there is no thread and none can be started. */
int gr_background_put(gr_line *, gr_task *);

int gr_background_inside(void); /* this thread is doing a task: it cannot wait for one */

static inline int gr_background_has_ended(const gr_task *t) { return atomic_load(&t->stage) == GR_ENDED; }

/*
** For so many nanoseconds (negative: until it has ended); asked, if not NULL, says some times a second whether the
** caller is to stop waiting for good. Returns whether it has ended.
*/
int gr_background_wait(gr_line *, gr_task *, int64_t nanoseconds, int (*asked)(void *), void *arg);

void gr_background_finish(gr_line *); /* waits for all of its tasks */
void gr_background_leave(gr_line *);  /* nobody here knows of it any more: its tasks have ended */

/* The thread ends if there is nothing to do. And around fork: it does nothing meanwhile, and in a child it is gone. */
void gr_background_rest(void);
void gr_background_before_fork(void);
void gr_background_after_fork(int child);

#endif
