#include "src/core/wrap.h"

#include <stdlib.h>

typedef struct wrapped {
  gr_outside functions; /* first: what the storage knows */
  gr_wrapping by;
} wrapped;

/* Of device memory: the host's stream that it came with. */
typedef struct lent {
  wrapped base;
  void *stream;
} lent;

static const gr_wrapping *wrapping_of(const gr_storage *s) { return &((const wrapped *)s->outside)->by; }

static gr_status refresh(gr_storage *s, gr_side side, size_t from, size_t to, int write) {
  const gr_wrapping *w = wrapping_of(s);
  if (write && w->readonly) return gr_fail(s->context, GR_BAD, "the memory is read-only");
  if (w->where) {
    void *now = w->where(w->owner, s->bytes);
    if (!now) return gr_fail(s->context, GR_BAD, "the owner of the memory has made it shorter");
    s->memory[GR_HOST] = now;
  }
  if (w->changing && side == GR_DEVSIDE)
    for (size_t k = from / GR_CHUNK; k <= (to - 1) / GR_CHUNK; k++)
      if (gr_storage_current(s, GR_HOST, k)) gr_storage_mark(s, GR_DEVSIDE, k, k, 0);
  return GR_OK;
}

/* Element by element out of a copy, where they do not lie side by side. */
static gr_status download(gr_storage *s, size_t from, size_t to) {
  const gr_wrapping *w = wrapping_of(s);
  gr_backend *b = s->queue->backend;
  char *host = s->memory[GR_HOST], *device = s->memory[GR_DEVSIDE];
  if (w->stride == w->item) return b->download(s->queue, host + from, device + from, to - from);
  char *copy = malloc(to - from);
  if (!copy) return GR_NO_MEMORY;
  gr_status status = b->download(s->queue, copy, device + from, to - from);
  size_t at = from / w->stride * w->stride;
  if (at + w->item <= from) at += w->stride;
  for (; status == GR_OK && at < to; at += w->stride) {
    size_t first = at < from ? from : at, last = at + w->item < to ? at + w->item : to;
    memcpy(host + first, copy + (first - from), last - first);
  }
  free(copy);
  return status;
}

static void release(gr_storage *s) {
  const gr_wrapping *w = wrapping_of(s);
  if (w->release) w->release(w->owner);
  free(s->outside);
}

gr_status gr_wrap(gr_context *c, gr_array *out, gr_dtype dtype, int64_t n, void *p, const gr_wrapping *w) {
  gr_status status = gr_context_ready(c);
  if (status != GR_OK) return status;
  wrapped *mine = malloc(sizeof *mine);
  gr_storage *s = mine ? gr_storage_new(c, c->queue, n ? (size_t)(n - 1) * w->stride + w->item : 0) : NULL;
  if (!s) {
    free(mine);
    return gr_fail(c, GR_NO_MEMORY, "out of memory: no room for an array's bookkeeping");
  }
  *mine = (wrapped){{refresh, download, release, w->roams}, *w};
  gr_storage_adopt(s, p, GR_WRAPPED);
  s->outside = &mine->functions;
  s->must_revalidate = w->changing || w->where || w->readonly;
  s->unsteady = w->changing || w->where;
  if (s->must_revalidate) s->full[GR_HOST] = 0; /* so that every use comes by */
  out->storage = s;
  out->dtype = dtype;
  out->n = n;
  out->offset = 0;
  out->stride = (int64_t)w->stride;
  out->rows = 0;
  return GR_OK;
}

static gr_status refresh_lent(gr_storage *s, gr_side side, size_t from, size_t to, int write) {
  const gr_wrapping *w = wrapping_of(s);
  (void)from, (void)to;
  if (write && w->readonly) return gr_fail(s->context, GR_BAD, "the memory is read-only");
  if (write && side == GR_HOST)
    return gr_fail(s->context, GR_BAD, "device memory with gaps is written on the device alone");
  return GR_OK;
}

/* Work that uses the memory may still be queued: the host's stream waits for it, and nobody else. */
static void release_lent(gr_storage *s) {
  const lent *mine = (const lent *)s->outside;
  gr_backend *b = s->queue ? s->queue->backend : NULL; /* NULL: it was between two contexts, where nothing is queued */
  if (b && b->lead) b->lead(s->queue, mine->stream);
  release(s);
}

gr_status gr_wrap_device(gr_context *c, gr_array *out, gr_dtype dtype, int64_t n, void *p, void *stream,
                         const gr_wrapping *w) {
  gr_status status = gr_context_ready(c);
  if (status != GR_OK) return status;
  gr_queue *q = c->queue;
  if (!q->backend->separate) return gr_fail(c, GR_BAD, "device '%s' has no memory of its own", q->backend->name);
  if (q->backend->follow && (status = q->backend->follow(q, stream)) != GR_OK)
    return gr_fail_from(c, q, status, "waiting for the host's stream", 0);
  lent *mine = malloc(sizeof *mine);
  gr_storage *s = mine ? gr_storage_new(c, q, n ? (size_t)(n - 1) * w->stride + w->item : 0) : NULL;
  if (!s) {
    free(mine);
    return gr_fail(c, GR_NO_MEMORY, "out of memory: no room for an array's bookkeeping");
  }
  *mine = (lent){{{refresh_lent, download, release_lent, w->roams}, *w}, stream};
  gr_storage_borrow(s, p);
  s->outside = &mine->base.functions;
  s->must_revalidate = w->readonly || w->stride != w->item;
  if (s->must_revalidate) s->full[GR_DEVSIDE] = 0;
  *out = (gr_array){.stamp = out->stamp, .storage = s, .dtype = dtype, .n = n, .stride = (int64_t)w->stride};
  return GR_OK;
}

/* Where the device has something newer in a chunk that the range cuts, the rest of that chunk comes down first. */
static gr_status keep_rest(gr_storage *s, size_t chunk, size_t from, size_t to) {
  size_t begin = chunk * GR_CHUNK, end = begin + GR_CHUNK < s->bytes ? begin + GR_CHUNK : s->bytes;
  gr_status status = GR_OK;
  if (gr_storage_current(s, GR_HOST, chunk) || !gr_storage_current(s, GR_DEVSIDE, chunk)) return GR_OK;
  if (begin < from) status = download(s, begin, from);
  if (status == GR_OK && to < end) status = download(s, to, end);
  return gr_fail_from(s->context, s->queue, status, "moving data", 0);
}

gr_status gr_wrap_touch(const gr_array *a, int64_t first, int64_t count) {
  gr_storage *s = a->storage;
  if (s == &gr_released) return GR_RELEASED;
  if (count == 0) return GR_OK;
  int64_t one = a->offset + first * a->stride, other = a->offset + (first + count - 1) * a->stride;
  size_t from = (size_t)(one < other ? one : other),
         to = (size_t)(one < other ? other : one) + (size_t)gr_size(a->dtype);
  size_t chunk = from / GR_CHUNK, last = (to - 1) / GR_CHUNK;
  gr_status status = refresh(s, GR_HOST, from, to, 0);
  if (status == GR_OK) status = keep_rest(s, chunk, from, to);
  if (status == GR_OK && last > chunk) status = keep_rest(s, last, from, to);
  if (status != GR_OK) return status;
  gr_storage_mark(s, GR_HOST, chunk, last, 1);
  gr_storage_mark(s, GR_DEVSIDE, chunk, last, 0);
  return GR_OK;
}
