/*
** An array on its way from one context to another, which may be another thread's: packed where it was, opened where it
** goes. Its memory goes along; elements are copied only where somebody else has them, too, or where their owner is
** bound to the first context.
*/
#ifndef GR_PARCEL_H
#define GR_PARCEL_H

#include "src/core/array.h"

typedef struct gr_parcel {
  gr_array array; /* of a storage without a context */
  gr_backend *backend;
} gr_parcel;

/* The array is released. Waits for work of its device. */
gr_status gr_parcel_pack(gr_array *, gr_parcel *);
/* On failure the parcel stays as it is. */
gr_status gr_parcel_open(gr_context *, gr_parcel *, gr_array *out);
void gr_parcel_discard(gr_parcel *);

#endif
