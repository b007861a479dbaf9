/*
** Arrays to and from other libraries by DLPack, without a copy: a tensor's memory becomes a storage's that is wrapped
** (wrap.h), and an array's storage lives on for as long as a tensor made of it.
*/
#ifndef GR_DLPACK_H
#define GR_DLPACK_H

#include "src/core/array.h"
#include "src/core/dlpack_abi.h"

/* A tensor of either structure: a gr_dl_versioned, or a gr_dl_managed. at is NULL: none. */
typedef struct gr_dl {
  void *at;
  int versioned;
} gr_dl;

/* Calls the deleter, if there is one. */
void gr_dl_delete(gr_dl);

/*
** CUDA's streams by number: 1 the legacy default one, 2 that of the thread, beyond a cudaStream_t. -1 leaves the order
** of the work on the device to the caller.
*/
#define GR_DL_NO_STREAM (-1)
#define GR_DL_DEFAULT_STREAM 1

typedef struct gr_dl_options {
  int readonly, changing; /* volatile, as of gr_wrapping */
  int copies;             /* in: the elements are copied, of any strides; out: the array is such a copy already */
  int64_t stream;
} gr_dl_options;

/*
** out becomes an array of the tensor's memory: a vector, or of two dimensions a matrix (*transposed: which lies column
** by column; its struct is that of its transpose). What the producer has queued on the stream comes before what uses
** the array. Its deleter is called when the last view goes; on failure the tensor is still the caller's.
*/
gr_status gr_dlpack_import(gr_context *, gr_dl, const gr_dl_options *, gr_array *out, int *transposed);

/*
** A tensor of the array's memory where kernels use it: of the host, or of its device. Work on the stream that comes
** later follows what has been queued here. The elements may be written there (unless readonly): then gr_wrap_touch says
** so. The deleter may be called by any thread, and after the context is gone.
*/
gr_status gr_dlpack_export(gr_context *, const gr_array *, int transposed, int versioned, const gr_dl_options *,
                           gr_dl *out);

/* Storages whose tensors have been deleted are dropped by the thread that uses the context: here. */
void gr_dlpack_settle(gr_context *);

/* Drops the context, as gr_context_drop does, for its last user: tensors that are still out are on their own. */
void gr_dlpack_leave(gr_context *);

/*
** For who has entered the context and has a reference of it: gives back both. What has been returned to an abandoned
** context is dropped first, since there is no other user who would come by.
*/
void gr_dlpack_go(gr_context *);

/* Whether this thread is just dropping what was returned, and so within calls of the host's. */
int gr_dlpack_inside(void);

#endif
