#include "src/core/dlpack.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/core/ops.h"
#include "src/core/wrap.h"

static gr_dl_tensor *tensor_of(gr_dl d) {
  return d.versioned ? &((gr_dl_versioned *)d.at)->tensor : &((gr_dl_managed *)d.at)->tensor;
}

void gr_dl_delete(gr_dl d) {
  gr_dl_versioned *v = d.at;
  gr_dl_managed *m = d.at;
  if (!d.at) return;
  if (d.versioned && v->deleter) v->deleter(v);
  if (!d.versioned && m->deleter) m->deleter(m);
}

/* ---- dtypes ---- */

static gr_dl_dtype dtype_out(gr_dtype t) {
  const uint8_t bits = (uint8_t)(8 * gr_size(t));
  if (t == GR_BF16) return (gr_dl_dtype){GR_DL_BFLOAT, bits, 1};
  return (gr_dl_dtype){gr_dtypes[t].kind == GR_UINT  ? GR_DL_UINT
                       : gr_dtypes[t].kind == GR_INT ? GR_DL_INT
                                                     : GR_DL_FLOAT,
                       bits, 1};
}

/* The dtype of such elements, or -1. Booleans are u8, as masks are. */
static int dtype_in(gr_dl_dtype d) {
  if (d.code == GR_DL_BOOL && d.bits == 8 && d.lanes == 1) return GR_U8;
  for (int t = 0; t < GR_DTYPE_COUNT; t++) {
    const gr_dl_dtype ours = dtype_out((gr_dtype)t);
    if (d.code == ours.code && d.bits == ours.bits && d.lanes == 1) return t;
  }
  return -1;
}

static gr_status no_dtype(gr_context *c, gr_dl_dtype d) {
  static const char *const names[] = {
      "int",          "uint",           "float",       "handle",         "bfloat",
      "complex",      "bool",           "float_e3m4",  "float_e4m3",     "float_e4m3b11fnuz",
      "float_e4m3fn", "float_e4m3fnuz", "float_e5m2",  "float_e5m2fnuz", "float_e8m0fnu",
      "float_e2m3fn", "float_e3m2fn",   "float_e2m1fn"};
  char name[40], lanes[16] = "";
  if (d.code < sizeof names / sizeof names[0]) snprintf(name, sizeof name, "%s", names[d.code]);
  else snprintf(name, sizeof name, "code %d", d.code);
  if (d.lanes != 1) snprintf(lanes, sizeof lanes, " x %d", d.lanes);
  return gr_fail(c, GR_BAD, "elements of a dtype expected, got DLPack's %s of %d bits%s", name, d.bits, lanes);
}

/* ---- devices ---- */

/* The queue whose device's memory it is; NULL: the host's. */
static gr_status device_in(gr_context *c, gr_dl_device d, gr_queue **q) {
  char name[24];
  *q = NULL;
  gr_status status = gr_context_ready(c);
  if (status != GR_OK) return status;
  switch (d.type) {
    case GR_DL_CPU:
    case GR_DL_CUDA_HOST: return GR_OK;
    case GR_DL_CUDA_MANAGED: /* every device can use it, and the host */
      if (!strncmp(c->queue->backend->name, "cuda", 4)) *q = c->queue;
      return GR_OK;
    case GR_DL_CUDA: snprintf(name, sizeof name, "cuda:%d", (int)d.id); break;
    case GR_DL_EXTENSION: snprintf(name, sizeof name, "pretend"); break;
    default:
      return gr_fail(c, GR_BAD, "memory of the host or of CUDA expected, got DLPack's device type %d", (int)d.type);
  }
  return gr_context_queue(c, name, q);
}

static gr_dl_device device_out(const gr_backend *b) {
  if (!b->separate) return (gr_dl_device){GR_DL_CPU, 0};
  if (strncmp(b->name, "cuda:", 5) != 0) return (gr_dl_device){GR_DL_EXTENSION, 0};
  return (gr_dl_device){GR_DL_CUDA, atoi(b->name + 5)};
}

/* As CUDA has it: its default streams are small numbers, too. */
static void *stream_of(int64_t stream) { return stream == GR_DL_NO_STREAM ? GR_NO_STREAM : (void *)(intptr_t)stream; }

/* ---- shapes ---- */

/* A tensor's elements as rows and columns of them: of a vector one row. Strides in elements. */
typedef struct layout {
  gr_dtype dtype;
  int dimensions;
  int64_t rows, columns, down, along;
  int64_t low, count; /* from the first element to the lowest, and elements from there to the highest, gaps included */
  char *first;
} layout;

#define MOST (INT64_MAX / 64) /* elements: bytes of several times so many fit 64 bits */

/* The distance of the last of n elements, if such numbers fit. */
static int reach(int64_t n, int64_t stride, int64_t *distance) {
  *distance = 0;
  if (n <= 1) return 1;
  if (stride > MOST / (n - 1) || stride < -(MOST / (n - 1))) return 0;
  *distance = (n - 1) * stride;
  return 1;
}

static gr_status read_layout(gr_context *c, const gr_dl_tensor *t, layout *l) {
  const int dtype = dtype_in(t->dtype);
  int64_t down, along;
  if (dtype < 0) return no_dtype(c, t->dtype);
  if (t->dimensions < 0 || t->dimensions > 2)
    return gr_fail(c, GR_BAD, "at most 2 dimensions expected, got %d", (int)t->dimensions);
  *l = (layout){.dtype = (gr_dtype)dtype, .dimensions = t->dimensions, .rows = 1, .columns = 1, .along = 1};
  if (t->dimensions && !t->shape) return gr_fail(c, GR_BAD, "a tensor with a shape expected");
  if (t->dimensions) l->columns = t->shape[t->dimensions - 1];
  if (t->dimensions == 2) l->rows = t->shape[0];
  if (l->columns < 0 || l->rows < 0)
    return gr_fail(c, GR_BAD, "lengths of 0 or more expected, got %lld",
                   (long long)(l->columns < 0 ? l->columns : l->rows));
  if (l->columns && l->rows > MOST / l->columns)
    return gr_fail(c, GR_BAD, "%lld x %lld elements do not fit in memory", (long long)l->rows, (long long)l->columns);
  if (t->dimensions && t->strides) l->along = t->strides[t->dimensions - 1];
  l->down = t->dimensions == 2 && t->strides ? t->strides[0] : l->columns;
  if (l->rows == 0 || l->columns == 0) return GR_OK;
  if (!reach(l->rows, l->down, &down) || !reach(l->columns, l->along, &along))
    return gr_fail(c, GR_BAD, "strides of %lld and %lld elements do not fit in memory", (long long)l->down,
                   (long long)l->along);
  l->low = (down < 0 ? down : 0) + (along < 0 ? along : 0);
  l->count = (down < 0 ? -down : down) + (along < 0 ? -along : along) + 1;
  if (!t->data) return gr_fail(c, GR_BAD, "a tensor with data expected, got a null pointer");
  l->first = (char *)t->data + t->byte_offset;
  if ((uintptr_t)l->first % (uintptr_t)gr_size(l->dtype))
    return gr_fail(c, GR_BAD, "address that is a multiple of %d (for %s) expected", gr_size(l->dtype),
                   gr_dtypes[l->dtype].name);
  return GR_OK;
}

/* A matrix whose rows, or whose columns, follow each other evenly is a vector of its elements in that order. */
static gr_status even_layout(gr_context *c, layout *l, int *transposed) {
  const int64_t n = l->rows * l->columns;
  *transposed = 0;
  if (n <= 1) l->along = 1;
  else if (l->columns == 1) l->along = l->down;
  else if (l->rows > 1 && l->down != l->columns * l->along) {
    if (l->along != l->rows * l->down)
      return gr_fail(c, GR_BAD,
                     "rows or columns without gaps between them expected, got strides of %lld and %lld elements of "
                     "%lld x %lld ('copy' takes any)",
                     (long long)l->down, (long long)l->along, (long long)l->rows, (long long)l->columns);
    *transposed = 1;
    l->along = l->down;
  }
  if (l->along == 0)
    return gr_fail(c, GR_BAD, "elements apart from each other expected, got a stride of 0 ('copy' takes it)");
  return GR_OK;
}

/* ---- in ---- */

static void release_tensor(void *tensor) { gr_dl_delete((gr_dl){tensor, 0}); }
static void release_versioned(void *tensor) { gr_dl_delete((gr_dl){tensor, 1}); }

/* count elements from the lowest on, apart elements apart. */
static gr_status wrap(gr_context *c, gr_dl d, const gr_dl_options *o, const layout *l, gr_queue *q, int64_t count,
                      int64_t apart, gr_array *out) {
  const size_t size = (size_t)gr_size(l->dtype);
  const gr_wrapping w = {.item = size,
                         .stride = (size_t)apart * size,
                         .readonly = o->readonly || (d.versioned && ((gr_dl_versioned *)d.at)->flags & GR_DL_READONLY),
                         .changing = o->changing,
                         .release = d.versioned ? release_versioned : release_tensor,
                         .roams = 1,
                         .brief_stream = 1,
                         .owner = d.at};
  void *p = count ? l->first + l->low * (int64_t)size : (char *)d.at;
  return q ? gr_wrap_device(c, q, out, l->dtype, count, p, stream_of(o->stream), &w)
           : gr_wrap(c, out, l->dtype, count, p, &w);
}

/* Row by row, or column by column if these are fewer, out of the whole of the tensor's memory. */
static gr_status copy_lines(gr_context *c, const layout *l, const gr_array *from, const gr_array *to) {
  const int by_rows = l->rows <= l->columns;
  const int64_t size = gr_size(l->dtype), lines = by_rows ? l->rows : l->columns;
  gr_status status = GR_OK;
  gr_stop_begin(&c->stop);
  for (int64_t k = 0; k < lines && status == GR_OK; k++) {
    gr_array a = *from, out = *to;
    if (k && k % 256 == 0 && (status = gr_context_look(c)) != GR_OK) break;
    a.n = out.n = by_rows ? l->columns : l->rows;
    a.rows = out.rows = 0;
    a.offset = size * (k * (by_rows ? l->down : l->along) - l->low);
    a.stride = size * (by_rows ? l->along : l->down);
    out.offset = size * k * (by_rows ? l->columns : 1);
    out.stride = size * (by_rows ? 1 : l->columns);
    status = gr_copy(c, &a, &out);
  }
  return status;
}

/* The deleter is the caller's to call, so that a copy which fails may be tried again. */
static gr_status import_copy(gr_context *c, gr_dl d, const gr_dl_options *o, const layout *l, gr_queue *q,
                             gr_array *out) {
  gr_dl_versioned borrowed = {.major = GR_DL_MAJOR, .flags = GR_DL_READONLY, .tensor = *tensor_of(d)};
  gr_array from = {0};
  gr_status status = wrap(c, (gr_dl){&borrowed, 1}, o, l, q, l->count, 1, &from);
  if (status == GR_OK) status = gr_array_make(c, out, l->dtype, l->rows * l->columns);
  if (status == GR_OK && l->count) status = copy_lines(c, l, &from, out);
  gr_array_settle(&from, 1); /* the tensor goes now */
  gr_array_release(&from);
  if (status == GR_OK) out->rows = l->dimensions == 2 ? l->rows : 0;
  else gr_array_release(out);
  return status;
}

gr_status gr_dlpack_import(gr_context *c, gr_dl d, const gr_dl_options *o, gr_array *out, int *transposed) {
  const gr_dl_versioned *v = d.at;
  gr_queue *q;
  layout l;
  *transposed = 0;
  if (d.versioned && v->major != GR_DL_MAJOR)
    return gr_fail(c, GR_BAD, "tensor of DLPack %d.x expected, got one of %lu.%lu", GR_DL_MAJOR,
                   (unsigned long)v->major, (unsigned long)v->minor);
  const gr_dl_tensor *t = tensor_of(d);
  gr_status status = read_layout(c, t, &l);
  if (status == GR_OK && !o->copies) status = even_layout(c, &l, transposed);
  if (status == GR_OK) status = gr_context_allows_length(c, l.rows * l.columns);
  if (status == GR_OK) status = device_in(c, t->device, &q);
  if (status != GR_OK) return status;
  if (o->copies) {
    status = import_copy(c, d, o, &l, q, out);
    if (status == GR_OK) gr_dl_delete(d);
    return status;
  }
  const int64_t n = l.rows * l.columns;
  status = wrap(c, d, o, &l, q, n, l.along < 0 ? -l.along : l.along, out);
  if (status != GR_OK) return status;
  if (l.along < 0) {
    out->offset = (n - 1) * out->stride;
    out->stride = -out->stride;
  }
  if (l.dimensions == 2) out->rows = *transposed ? l.columns : l.rows;
  return GR_OK;
}

/* ---- out ---- */

/*
** A tensor that is out. The storage is the context's, which one thread uses, while the deleter may be called by any:
** so the tensor goes to a list, and that thread drops the storage when it comes by. Once the context has been
** abandoned, whoever brings a tensor back does that, if nobody else is in the context; who is sees to it before he
** goes. So the list, and whether somebody is in an abandoned context, change under one lock.
*/
typedef struct exported {
  union {
    gr_dl_managed managed;
    gr_dl_versioned versioned;
  } as;
  struct gr_exports *home;
  struct exported *next;
  gr_storage *storage;
  int64_t shape[2], strides[2];
} exported;

typedef struct gr_exports {
  pthread_mutex_t lock; /* of all that follows; not held while storages are dropped, which may call anything */
  exported *returned;
  int64_t out;   /* tensors that are not dropped yet */
  int abandoned; /* as the context */
  int dropping;  /* the context's user is dropping what has been returned, and may come by again meanwhile */
} gr_exports;

static _Thread_local int inside;

int gr_dlpack_inside(void) { return inside; }

/* Under the lock, which is open while a storage is dropped: what has been returned is out no longer. */
static void drop_returned(gr_exports *x) {
  for (exported *e; (e = x->returned) != NULL;) {
    x->returned = e->next;
    x->out--;
    pthread_mutex_unlock(&x->lock);
    inside++;
    gr_storage_drop(e->storage);
    inside--;
    free(e);
    pthread_mutex_lock(&x->lock);
  }
}

void gr_dlpack_settle(gr_context *c) {
  gr_exports *x = c->exports;
  if (!x) return;
  pthread_mutex_lock(&x->lock);
  if (!x->dropping) {
    x->dropping = 1;
    drop_returned(x);
    x->dropping = 0;
  }
  pthread_mutex_unlock(&x->lock);
}

/* The last reference is dropped within the context; with others it is left, and nobody may look at it any more. */
static int leave(gr_context *c) {
  if (c->refs == 1) return 0;
  c->refs--;
  atomic_store_explicit(&c->entered, 0, memory_order_release);
  return 1;
}

void gr_dlpack_go(gr_context *c) {
  gr_exports *x = c->abandoned ? c->exports : NULL;
  int left = 0, last = 0;
  if (!x) {
    if (!leave(c)) gr_context_drop(c);
    return;
  }
  pthread_mutex_lock(&x->lock);
  drop_returned(x);
  last = x->out == 0; /* the next tensor makes another list */
  if (last) c->exports = NULL;
  left = leave(c);
  pthread_mutex_unlock(&x->lock);
  if (!left) gr_context_drop(c);
  if (!last) return;
  pthread_mutex_destroy(&x->lock);
  free(x);
}

static void give_back(exported *e) {
  gr_exports *x = e->home;
  gr_context *c = e->storage->context; /* which is there while the tensor is in the list */
  int nobody = 0;
  pthread_mutex_lock(&x->lock);
  e->next = x->returned;
  x->returned = e;
  const int mine = x->abandoned && atomic_compare_exchange_strong(&c->entered, &nobody, GR_RETURNED);
  if (mine) c->refs++;
  pthread_mutex_unlock(&x->lock);
  if (mine) gr_dlpack_go(c);
}

static void delete_managed(gr_dl_managed *m) { give_back(m->owner); }
static void delete_versioned(gr_dl_versioned *v) { give_back(v->owner); }

void gr_dlpack_leave(gr_context *c) {
  gr_exports *x = c->exports;
  atomic_store(&c->entered, GR_CALLED);
  c->abandoned = 1;
  if (x) {
    pthread_mutex_lock(&x->lock);
    x->abandoned = 1;
    pthread_mutex_unlock(&x->lock);
  }
  gr_dlpack_go(c);
}

static gr_exports *exports_of(gr_context *c) {
  gr_exports *x = c->exports;
  if (x || !(x = calloc(1, sizeof *x))) return x;
  pthread_mutex_init(&x->lock, NULL);
  x->abandoned = c->abandoned;
  return c->exports = x;
}

/* The view as DLPack says it: in the order of its dimensions, the data where the first element is. */
static void describe(exported *e, const gr_array *a, int transposed, gr_dl_tensor *t) {
  const int64_t apart = a->stride / gr_size(a->dtype), columns = gr_array_columns(a);
  const gr_side side = gr_kernel_side(a->storage);
  const int64_t shape[2] = {a->rows ? a->rows : a->n, columns}, strides[2] = {a->rows ? columns * apart : apart, apart};
  for (int k = 0; k < 2; k++) {
    e->shape[k] = shape[transposed ? 1 - k : k];
    e->strides[k] = strides[transposed ? 1 - k : k];
  }
  *t = (gr_dl_tensor){.data = a->n ? a->storage->memory[side] + a->offset : NULL,
                      .device = device_out(a->storage->queue->backend),
                      .dimensions = a->rows ? 2 : 1,
                      .dtype = dtype_out(a->dtype),
                      .shape = e->shape,
                      .strides = e->strides};
}

static gr_status check_export(gr_context *c, const gr_array *a, int versioned, int readonly) {
  const gr_storage *s = a->storage;
  if (s == &gr_released) return GR_RELEASED;
  if (s->queue->lost) return gr_fail_gone(c, s->queue);
  if (s->owner == GR_WRAPPED && s->queue->backend->separate)
    return gr_fail(c, GR_BAD, "array whose memory is the device's own expected: copy() makes one");
  if (!versioned && readonly) return gr_fail(c, GR_BAD, "the memory is read-only, which needs a versioned tensor");
  return GR_OK;
}

gr_status gr_dlpack_export(gr_context *c, const gr_array *a, int transposed, int versioned, const gr_dl_options *o,
                           gr_dl *out) {
  const int readonly = o->readonly || gr_wrap_readonly(a->storage);
  gr_status status = check_export(c, a, versioned, readonly);
  if (status != GR_OK) return status;
  gr_exports *x = exports_of(c);
  exported *e = x ? calloc(1, sizeof *e) : NULL;
  if (!e) return gr_fail(c, GR_NO_MEMORY, "out of memory: no room for a tensor's bookkeeping");
  gr_storage *s = a->storage;
  const gr_side side = gr_kernel_side(s);
  gr_vec v;
  status = gr_storage_read(s, side, 0, s->bytes); /* all of it, since touch may name any of it */
  if (status == GR_OK && !readonly) status = gr_array_claim(a, side, 0, &v);
  if (status == GR_OK && o->stream != GR_DL_NO_STREAM && s->queue->backend->lead)
    status = gr_fail_from(c, s->queue, s->queue->backend->lead(s->queue, stream_of(o->stream)),
                          "making a stream of the host wait", 0);
  if (status != GR_OK) {
    free(e);
    return status;
  }
  if (versioned) {
    const uint64_t flags = (readonly ? GR_DL_READONLY : 0) | (o->copies ? GR_DL_COPIED : 0);
    e->as.versioned = (gr_dl_versioned){GR_DL_MAJOR, GR_DL_MINOR, e, delete_versioned, flags, {0}};
    describe(e, a, transposed, &e->as.versioned.tensor);
  } else {
    e->as.managed = (gr_dl_managed){{0}, e, delete_managed};
    describe(e, a, transposed, &e->as.managed.tensor);
  }
  gr_storage_keep(s);
  if (!readonly) s->exported = 1;
  e->storage = s;
  e->home = x;
  pthread_mutex_lock(&x->lock);
  x->out++;
  pthread_mutex_unlock(&x->lock);
  *out = (gr_dl){&e->as, versioned};
  return GR_OK;
}
