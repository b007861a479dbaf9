/*
** A long call can be stopped between two of its pieces. Whoever calls the kernels says where to look; a kernel that
** finds it is to stop returns at once, and what its outputs hold then is of no use to anybody. Nobody looks before
** the first piece is done.
*/
#ifndef GR_CPU_STOP_H
#define GR_CPU_STOP_H

#include <stdatomic.h>

typedef struct gr_watch {
  atomic_int *stopped; /* shared by all threads of the call; NULL: nobody may stop it */
  int (*ask)(void *);  /* whether to stop now; NULL on threads that only help */
  void *arg;
} gr_watch;

extern _Thread_local gr_watch gr_watching;

int gr_look(void);
static inline int gr_stopped(void) { return gr_watching.stopped && gr_look(); }

#endif
