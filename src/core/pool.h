/*
** Blocks of memory, host and device, cached by size class and counted. The pool is process-wide (several Lua
** states share it) and locked; a cached device block remembers the queue whose work may still touch it, and only
** that queue gets it back before the queue has waited.
*/
#ifndef GR_POOL_H
#define GR_POOL_H

#include "src/core/backend.h"

typedef struct gr_pool_counts {
  size_t host, device; /* bytes in use by storages */
  size_t pooled;       /* bytes cached */
  size_t peak;         /* most of host + device ever in use */
} gr_pool_counts;

/* The size of the block that serves a request: what is counted. And the number of such a size, from 0 on. */
size_t gr_pool_round(size_t bytes);
size_t gr_pool_class(size_t rounded);

/* A block of at least bytes, not cleared, or NULL. backend == NULL: host memory. Counts system calls in stats. */
void *gr_pool_take(gr_backend *backend, gr_queue *queue, size_t bytes);
void gr_pool_give(gr_backend *backend, gr_queue *queue, void *block, size_t bytes);

/* The queue has waited, or closes: its cached blocks are free for everybody. */
void gr_pool_settle(gr_queue *queue);

/* Give every cached block back to the system; returns the bytes. */
size_t gr_pool_trim(void);

gr_pool_counts gr_pool_read(void);

#endif
