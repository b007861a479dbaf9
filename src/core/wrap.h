/*
** Memory of somebody else as the host side of a storage: nothing is copied where kernels run on the host, and what
** devices need is brought lazily as for all storages. The owner writes to its memory as it likes and says so (touch),
** or the memory is volatile: then every use looks at it again.
*/
#ifndef GR_WRAP_H
#define GR_WRAP_H

#include "src/core/array.h"

typedef struct gr_wrapping {
  /* Bytes of an element, and from one to the next: the gaps are not ours to write. */
  size_t item, stride;
  int changing;                          /* volatile */
  int readonly;
  void *(*where)(void *owner, size_t bytes); /* not NULL: the memory moves, and is here now (NULL: gone) */
  void (*release)(void *owner);          /* at the last drop */
  void *owner;
} gr_wrapping;

/* n elements from p on, stride bytes apart, aligned. On failure the wrapping is still the caller's. */
gr_status gr_wrap(gr_context *, gr_array *out, gr_dtype, int64_t n, void *p, const gr_wrapping *);

/*
** The owner has written elements first .. first + count - 1 (0-based) of the view: the host's bytes there are current.
*/
gr_status gr_wrap_touch(const gr_array *, int64_t first, int64_t count);

#endif
