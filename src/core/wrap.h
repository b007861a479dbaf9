/*
** Memory of somebody else as the host side of a storage. Nothing is copied where kernels run on the host, and devices
** get what they need when they need it, as of all storages. The owner says when it has written to the memory (touch),
** or the memory is volatile: then every use assumes that it has changed.
*/
#ifndef GR_WRAP_H
#define GR_WRAP_H

#include "src/core/array.h"

typedef struct gr_wrapping {
  /* Bytes of an element, and from one to the next: the gaps are not ours to write. */
  size_t item, stride;
  int changing; /* volatile */
  int readonly;
  /* Not NULL: the memory may move, and this gives its address now (NULL: gone). */
  void *(*where)(void *owner, size_t bytes);
  void (*release)(void *owner); /* at the last drop */
  int roams;                    /* which may be in any thread */
  void *owner;
} gr_wrapping;

/* n elements from p on, stride bytes apart, aligned. On failure the wrapping is still the caller's. */
gr_status gr_wrap(gr_context *, gr_array *out, gr_dtype, int64_t n, void *p, const gr_wrapping *);

/*
** The same of device memory, of the device in use; `stream` holds the work that makes the elements, and gets to know
** what is still queued when release is called. With gaps it is written on the device alone.
*/
gr_status gr_wrap_device(gr_context *, gr_array *out, gr_dtype, int64_t n, void *p, void *stream, const gr_wrapping *);

/* The owner has written elements first .. first + count - 1 (0-based) of the view: the host's copy is current there. */
gr_status gr_wrap_touch(const gr_array *, int64_t first, int64_t count);

#endif
