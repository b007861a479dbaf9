/*
** An array is a view: a dtype and n positions in a storage, which all views of the same data share. A matrix is one
** that is read row by row, all of them equally long.
*/
#ifndef GR_ARRAY_H
#define GR_ARRAY_H

#include "src/core/dtype.h"
#include "src/core/storage.h"

typedef struct gr_array {
  uint64_t stamp;      /* by which its owner knows it from what only looks like one; 0: the core's own */
  gr_storage *storage; /* &gr_released once it has been released; NULL in the core: not made yet */
  gr_dtype dtype;
  uint8_t turned; /* a matrix of one row or column that a transposed one of one column or row is */
  int64_t n;
  int64_t offset, stride; /* bytes; offset is that of the first element; stride may be negative */
  int64_t rows;           /* of a matrix; 0: a vector */
} gr_array;

/*
** An owner's stamp is made of the array's address and of a number that nobody can guess, chosen once a process.
*/
void gr_choose_secret(void);
extern uint64_t gr_secret;
static inline uint64_t gr_stamp(const gr_array *a) { return gr_secret ^ (uint64_t)(uintptr_t)a; }

/* Makes it a vector of a storage, of which it is a reference from now on; the stamp is its owner's, and stays. */
static inline void gr_array_set(gr_array *a, gr_storage *s, gr_dtype dtype, int64_t n, int64_t offset, int64_t stride) {
  a->storage = s;
  a->dtype = dtype;
  a->turned = 0;
  a->n = n;
  a->offset = offset;
  a->stride = stride;
  a->rows = 0;
}

/* n zeros without memory yet, on the context's present backend. */
gr_status gr_array_make(gr_context *, gr_array *out, gr_dtype, int64_t n);

/*
** The same on the backend of a, which need not be the present one (NULL: it is): results and intermediates of a belong
** there.
*/
gr_status gr_array_make_beside(gr_context *, const gr_array *a, gr_array *out, gr_dtype, int64_t n);

/* The same, about to be written there, all of it (gr_array_write, below). */
gr_status gr_array_make_open(gr_context *, const gr_array *a, gr_array *out, gr_dtype, int64_t n, gr_side, gr_vec *);

/* Elements first, first + step, ... (0-based, count of them) of a, sharing its storage. */
void gr_array_view(const gr_array *a, gr_array *out, int64_t first, int64_t step, int64_t count);
/* The same without a reference of its own, which need not be released: for as long as a has one. */
gr_array gr_array_part(const gr_array *a, int64_t first, int64_t step, int64_t count);

/* Row k or column k (0-based) of a matrix, as a vector that shares its storage. */
void gr_array_row(const gr_array *, int64_t k, gr_array *out);
void gr_array_column(const gr_array *, int64_t k, gr_array *out);

static inline int64_t gr_array_columns(const gr_array *a) { return a->rows ? a->n / a->rows : 0; }

void gr_array_release(gr_array *);

/*
** Before scripts or hosts let go of an array whose memory is the host's, who may free it then: work in the background
** that uses it ends first. always: even if other arrays, which may be garbage by now, have the memory, too.
*/
void gr_array_settle(const gr_array *, int always);

static inline int gr_array_released(const gr_array *a) { return a->storage == &gr_released; }

static inline int gr_array_dense(const gr_array *a) { return a->stride == gr_size(a->dtype) || a->n <= 1; }

/* The view on one side as kernels take it. */
static inline void gr_array_vector(const gr_array *a, gr_side side, gr_vec *v) {
  v->data = a->n ? a->storage->memory[side] + a->offset : NULL;
  v->stride = a->n > 1 ? a->stride : gr_size(a->dtype); /* one element is contiguous */
  v->step = 0;
}

/* The view made current on one side for reading (nearly always it is already), or for writing (whole: all of it). */
gr_status gr_array_bring(const gr_array *, gr_side);
static inline gr_status gr_array_read(const gr_array *a, gr_side side, gr_vec *v) {
  const gr_storage *s = a->storage;
  gr_status status = s->full[side] && !s->context->claims ? GR_OK : gr_array_bring(a, side);
  gr_array_vector(a, side, v);
  return status;
}
gr_status gr_array_claim(const gr_array *, gr_side, int whole, gr_vec *);
static inline gr_status gr_array_write(const gr_array *a, gr_side side, int whole, gr_vec *v) {
  const gr_storage *s = a->storage;
  if (!s->full[side] || s->watched || s->memory[!side] || s->context->claims) return gr_array_claim(a, side, whole, v);
  gr_array_vector(a, side, v); /* only this side has memory, and all of it is current */
  return GR_OK;
}

/* Whether the two views could touch the same byte. */
int gr_array_overlap(const gr_array *, const gr_array *);

#endif
