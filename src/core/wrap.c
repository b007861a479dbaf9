#include "src/core/wrap.h"

#include <stdlib.h>

#include "src/core/pool.h"

typedef struct wrapped {
  gr_outside functions; /* first: what the storage knows */
  gr_wrapping by;
  void *stream; /* of device memory: the host's, that it came with */
} wrapped;

/* CUDA's default streams, which always are, have the handles 0 to 2. */
#define LAST_DEFAULT_STREAM 2

static const gr_wrapping *wrapping_of(const gr_storage *s) { return &((const wrapped *)s->outside)->by; }

/* The side that is somebody else's, too. */
static gr_side home_of(const gr_storage *s) { return s->owner == GR_WRAPPED ? GR_HOST : gr_kernel_side(s); }

int gr_wrap_shared(const gr_storage *s) { return s->outside || s->exported; }
int gr_wrap_readonly(const gr_storage *s) { return s->outside && wrapping_of(s)->readonly; }

static gr_status refresh(gr_storage *s, gr_side side, size_t from, size_t to, int write) {
  const gr_wrapping *w = wrapping_of(s);
  if (write && w->readonly) return gr_fail(s->context, GR_BAD, "the memory is read-only");
  if (w->where) {
    void *now = w->where(w->owner, s->bytes);
    if (!now) return gr_fail(s->context, GR_BAD, "the owner of the memory has made it shorter");
    s->memory[GR_HOST] = now;
  }
  const gr_side home = home_of(s);
  if (w->changing && side != home)
    for (size_t k = from / GR_CHUNK; k <= (to - 1) / GR_CHUNK; k++)
      if (gr_storage_current(s, home, k)) gr_storage_mark(s, side, k, k, 0);
  return GR_OK;
}

/* Element by element out of a copy, where they do not lie side by side. */
static gr_status download(gr_storage *s, size_t from, size_t to) {
  const gr_wrapping *w = wrapping_of(s);
  gr_backend *b = s->queue->backend;
  char *host = s->memory[GR_HOST], *device = s->memory[GR_DEVSIDE];
  if (s->lent || w->stride == w->item) return b->download(s->queue, host + from, device + from, to - from);
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

/* To a device's elements that lie apart: side by side first, then by a kernel into their places. */
static gr_status spread(gr_storage *s, size_t first, size_t count) {
  const gr_wrapping *w = wrapping_of(s);
  gr_queue *q = s->queue;
  size_t room = count * w->item;
  char *packed = malloc(room), *there = packed ? gr_pool_take(q->backend, q, &room) : NULL;
  gr_status status = there ? GR_OK : GR_NO_MEMORY;
  for (size_t k = 0; k < count && there; k++)
    memcpy(packed + k * w->item, s->memory[GR_HOST] + (first + k) * w->stride, w->item);
  if (there) status = q->backend->upload(q, there, packed, count * w->item);
  if (status == GR_OK) {
    const gr_dtype of_size = w->item == 1 ? GR_U8 : w->item == 2 ? GR_U16 : w->item == 4 ? GR_U32 : GR_I64;
    const gr_copy_job job = {.dtype = of_size,
                             .n = (int64_t)count,
                             .a = {.data = there, .stride = (int64_t)w->item},
                             .out = {.data = s->memory[GR_DEVSIDE] + first * w->stride, .stride = (int64_t)w->stride}};
    status = q->backend->copy(q, &job);
  }
  gr_pool_give(q->backend, q, there, room);
  free(packed);
  return status;
}

static gr_status upload(gr_storage *s, size_t from, size_t to) {
  const gr_wrapping *w = wrapping_of(s);
  if (s->lent && w->stride != w->item) {
    const size_t first = (from + w->stride - 1) / w->stride, end = (to + w->stride - 1) / w->stride;
    return end > first ? spread(s, first, end - first) : GR_OK;
  }
  return s->queue->backend->upload(s->queue, s->memory[GR_DEVSIDE] + from, s->memory[GR_HOST] + from, to - from);
}

/*
** Work that uses the device's memory may still be queued: then the host's stream waits for it, and nobody else. Without
** a queue the storage was between two contexts, where there is none.
*/
static void let_go(gr_storage *s, void *stream) {
  gr_queue *q = s->queue;
  if (!q || q->lost) return;
  if (stream == GR_NO_STREAM || !q->backend->lead) q->backend->wait(q);
  else q->backend->lead(q, stream);
}

static void release(gr_storage *s) {
  const wrapped *mine = (const wrapped *)s->outside;
  if (s->lent) let_go(s, mine->stream);
  if (mine->by.release) mine->by.release(mine->by.owner);
  free(s->outside);
}

static gr_status wrap(gr_context *c, gr_queue *q, gr_array *out, gr_dtype dtype, int64_t n, const gr_wrapping *w,
                      void *stream) {
  wrapped *mine = malloc(sizeof *mine);
  gr_storage *s = mine ? gr_storage_new(c, q, n ? (size_t)(n - 1) * w->stride + w->item : 0) : NULL;
  if (!s) {
    free(mine);
    return gr_fail(c, GR_NO_MEMORY, "out of memory: no room for an array's bookkeeping");
  }
  if (w->brief_stream && (uintptr_t)stream > LAST_DEFAULT_STREAM) stream = GR_NO_STREAM;
  *mine = (wrapped){{refresh, download, upload, release, w->roams}, *w, stream};
  s->outside = &mine->functions;
  s->must_revalidate = w->changing || w->where || w->readonly;
  s->unsteady = w->changing || w->where;
  gr_array_set(out, s, dtype, n, 0, (int64_t)w->stride);
  return GR_OK;
}

gr_status gr_wrap(gr_context *c, gr_array *out, gr_dtype dtype, int64_t n, void *p, const gr_wrapping *w) {
  gr_status status = gr_context_ready(c);
  if (status == GR_OK) status = wrap(c, c->queue, out, dtype, n, w, NULL);
  if (status != GR_OK) return status;
  gr_storage *s = out->storage;
  gr_storage_adopt(s, p, GR_WRAPPED);
  if (s->must_revalidate) s->full[GR_HOST] = 0; /* so that every use comes by */
  return GR_OK;
}

gr_status gr_wrap_device(gr_context *c, gr_queue *q, gr_array *out, gr_dtype dtype, int64_t n, void *p, void *stream,
                         const gr_wrapping *w) {
  gr_status status = gr_context_ready(c);
  if (status != GR_OK) return status;
  if (!q) q = c->queue;
  if (!q->backend->separate) return gr_fail(c, GR_BAD, "device '%s' has no memory of its own", q->backend->name);
  if (stream != GR_NO_STREAM && q->backend->follow && (status = q->backend->follow(q, stream)) != GR_OK)
    return gr_fail_from(c, q, status, "waiting for the host's stream", 0);
  status = wrap(c, q, out, dtype, n, w, stream);
  if (status != GR_OK) return status;
  gr_storage *s = out->storage;
  gr_storage_borrow(s, p);
  if (s->must_revalidate) s->full[GR_DEVSIDE] = 0;
  return GR_OK;
}

static gr_status bring_home(gr_storage *s, gr_side home, size_t from, size_t to) {
  gr_backend *b = s->queue->backend;
  char *host = s->memory[GR_HOST] + from, *device = s->memory[GR_DEVSIDE] + from;
  if (s->outside) return home == GR_HOST ? download(s, from, to) : upload(s, from, to);
  return home == GR_HOST ? b->download(s->queue, host, device, to - from)
                         : b->upload(s->queue, device, host, to - from);
}

/* Where the other side has something newer in a chunk that the range cuts, the rest of that chunk comes first. */
static gr_status keep_rest(gr_storage *s, gr_side home, size_t chunk, size_t from, size_t to) {
  size_t begin = chunk * GR_CHUNK, end = begin + GR_CHUNK < s->bytes ? begin + GR_CHUNK : s->bytes;
  gr_status status = GR_OK;
  if (gr_storage_current(s, home, chunk) || !gr_storage_current(s, !home, chunk)) return GR_OK;
  if (begin < from) status = bring_home(s, home, begin, from);
  if (status == GR_OK && to < end) status = bring_home(s, home, to, end);
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
  const gr_side home = home_of(s);
  gr_status status = s->outside ? refresh(s, home, from, to, 0) : GR_OK;
  if (status == GR_OK) status = keep_rest(s, home, chunk, from, to);
  if (status == GR_OK && last > chunk) status = keep_rest(s, home, last, from, to);
  if (status != GR_OK) return status;
  gr_storage_mark(s, home, chunk, last, 1);
  gr_storage_mark(s, !home, chunk, last, 0);
  return GR_OK;
}
