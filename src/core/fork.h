/*
** fork in a process with several threads: the child has only the thread that called it, and locks that another one
** held would stay locked for good. So all locks of the core are taken before, in one order, and given back after. The
** threads of the child start afresh when they are needed.
*/
#ifndef GR_FORK_H
#define GR_FORK_H

void gr_fork_prepare(void); /* from now on; a second time does nothing */

#endif
