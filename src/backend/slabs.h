/*
** A device's memory in slabs: large pieces from its driver, of which blocks are carved, because asking the driver takes
** some 10 to 100 us for each block. Blocks below 48 KiB and above 8 MiB, and those that no slab can be had for, come
** from the driver one by one. The driver's free waits for the device, after which no queue uses the block; here a block
** that was given back is carved again only after such a wait, which comes when nothing else is left. A slab of which
** nothing is in use goes back to the driver at once.
**
** GPUREDUCE_SLABS=0 in the environment: no slabs, so that tools see where blocks end.
*/
#ifndef GR_BACKEND_SLABS_H
#define GR_BACKEND_SLABS_H

#include <pthread.h>
#include <stddef.h>

/* What is beneath: the driver, for one device. */
typedef struct gr_slab_source {
  void *(*take)(void *device, size_t bytes); /* aligned to 256 bytes; NULL when refused */
  void (*give)(void *device, void *memory, size_t bytes);
  int (*wait)(void *device); /* whether all that the device had to do until now has ended */
} gr_slab_source;

typedef struct gr_slabs {
  pthread_mutex_t lock; /* held while the source is asked for a slab or waits */
  const gr_slab_source *source;
  void *device;
  int off;
  struct gr_slab **list; /* by address */
  int count, room;
  size_t bytes, used; /* of all slabs; in blocks */
} gr_slabs;

void gr_slabs_open(gr_slabs *, const gr_slab_source *, void *device);

/* For whole multiples of 256 bytes; thread-safe. bytes of a block that is given back: what was asked. */
void *gr_slabs_take(gr_slabs *, size_t bytes);
void gr_slabs_give(gr_slabs *, void *block, size_t bytes);

size_t gr_slabs_unused(gr_slabs *); /* bytes of slabs that are in no block */

#endif
