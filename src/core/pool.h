/*
** Blocks of memory, host and device, cached for reuse and counted. The pool is process-wide (several contexts
** share it) and locked; a cached device block remembers the queue whose work may still touch it, and only that
** queue gets it back before the queue has waited.
**
** What is cached is bounded, the host's and each device's by itself. By default a device is left no more than it had
** in use at its recent peak: other programs and a host's renderer need the rest. What lay unused longest goes first.
*/
#ifndef GR_POOL_H
#define GR_POOL_H

#include "src/core/backend.h"

typedef struct gr_pool_counts {
  size_t host, device; /* bytes in use by storages */
  size_t pooled;       /* bytes cached */
  size_t unused;       /* bytes that devices' backends hold in no block */
  size_t peak;         /* most of host + device ever in use */
} gr_pool_counts;

/*
** The size of a new block of host memory for a request: the next quarter of an octave, or of 2 MiB if that is less,
** or of 64 bytes up to 1 KiB. And the number of the class of such a size, from 0 on; up to 1 MiB a class is one size.
*/
size_t gr_pool_round(size_t bytes);
size_t gr_pool_class(size_t rounded);

/*
** A block of at least *bytes, not cleared; *bytes becomes its size, which is what counts and what must be given back.
** backend == NULL: host memory. Counts system calls in stats. NULL when refused, even without the cached blocks:
** *bytes is then what was asked of the system at last, the request itself without rounding.
*/
void *gr_pool_take(gr_backend *backend, gr_queue *queue, size_t *bytes);
void gr_pool_give(gr_backend *backend, gr_queue *queue, void *block, size_t bytes);

/* The queue has waited, or closes: its cached blocks are free for everybody. */
void gr_pool_settle(gr_queue *queue);

/* The most bytes that stay cached, of the host and of each device; GR_POOL_AUTO: as above. For the whole process. */
#define GR_POOL_AUTO SIZE_MAX
void gr_pool_limit(size_t bytes);

/* Gives every cached block back to the system, and pages that malloc kept; returns the bytes of the blocks. */
size_t gr_pool_trim(void);

gr_pool_counts gr_pool_read(void);

/* Around fork: nobody else is inside meanwhile. */
void gr_pool_before_fork(void);
void gr_pool_after_fork(void);
/*
** The host's own allocators, a pair for each side or none; device: its name. They can be set while no block is in use
** or cached, so that each goes back where it came from; returns whether that is so, or these were set already.
*/
typedef struct gr_allocator {
  void *(*host)(void *user, size_t bytes, size_t alignment);
  void (*free_host)(void *user, void *memory, size_t bytes);
  void *(*device)(void *user, const char *device, size_t bytes);
  void (*free_device)(void *user, const char *device, void *memory, size_t bytes);
  void *user;
} gr_allocator;
int gr_pool_allocate_by(const gr_allocator *);

#endif
