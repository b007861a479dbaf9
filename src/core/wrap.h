/*
** Memory of somebody else as the host side of a storage, or as its device's. Nothing is copied where kernels run, or
** they get what they need when they need it, as of all storages. The owner says when it has written to the memory
** (touch), or the memory is volatile: then every use assumes that it has changed.
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
  int brief_stream;             /* the stream that it came with may end before: default ones last */
  void *owner;
} gr_wrapping;

/* n elements from p on, stride bytes apart, aligned. On failure the wrapping is still the caller's. */
gr_status gr_wrap(gr_context *, gr_array *out, gr_dtype, int64_t n, void *p, const gr_wrapping *);

/*
** The same of device memory: of q's device, or of the one in use (NULL). The stream of the host's holds the work that
** makes the elements, and gets to know what is still queued when release is called; with GR_NO_STREAM the host has seen
** to the first, and release waits, as it does for a stream that may have ended by then.
*/
#define GR_NO_STREAM ((void *)(intptr_t)-1)
gr_status gr_wrap_device(gr_context *, gr_queue *q, gr_array *out, gr_dtype, int64_t n, void *p, void *stream,
                         const gr_wrapping *);

/*
** Whether somebody else can write to the storage's memory, or has a tensor of it (dlpack.h); and whether writes to it
** are refused.
*/
int gr_wrap_shared(const gr_storage *);
int gr_wrap_readonly(const gr_storage *);

/* Somebody else has written elements first .. first + count - 1 (0-based) of the view: that copy is current there. */
gr_status gr_wrap_touch(const gr_array *, int64_t first, int64_t count);

#endif
