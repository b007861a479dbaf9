/*
** Working memory of a thread, for what is too large for a stack: hosts call from threads of 64 KiB, and from fibres.
** A kernel takes what it needs, and gives it back before it returns, the last taken first; the reader of formulas does
** so, too. In between it runs no code of the host's, and waits for nobody: what is taken across gr_parallel, say, would
** meet what the host does there.
**
** It never fails. The first call in a thread allocates GR_ROOM bytes, which stay with the thread until it ends; where
** there is no memory, threads take turns with a room that the process has.
*/
#ifndef GR_CPU_ROOM_H
#define GR_CPU_ROOM_H

#include <stddef.h>

/* The most that kernels take within each other: exponentials of a row of softmax, and what is taken to make them. */
#define GR_ROOM (640 * 1024)

/* So many bytes, at the start of a cache line. Their values are of no meaning. */
void *gr_room_take(size_t bytes);
void gr_room_give(void *taken);

/* That of this thread, if it has one and nothing of it is taken. */
void gr_room_free(void);

/* In a child of fork only the forking thread lives; it has taken nothing. */
void gr_room_after_fork(void);

#endif
