#include "src/core/array.h"

#include <pthread.h>
#include <time.h>
#include <unistd.h>

#include "src/core/pool.h"

uint64_t gr_secret;

static void choose_secret(void) {
  if (getentropy(&gr_secret, sizeof gr_secret) == 0) return;
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  gr_secret = (uint64_t)(uintptr_t)&now * UINT64_C(0x9E3779B97F4A7C15) ^ (uint64_t)now.tv_nsec << 20;
}

void gr_choose_secret(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, choose_secret);
}

static gr_status make_on(gr_context *c, gr_queue *q, gr_array *out, gr_dtype dtype, int64_t n) {
  size_t size = (size_t)gr_size(dtype);
  gr_status status = gr_context_allows_length(c, n);
  if (status != GR_OK) return status;
  if (n > (int64_t)(PTRDIFF_MAX / size / 2))
    return gr_fail(c, GR_NO_MEMORY, "out of memory: %lld elements asked", (long long)n);
  size_t bytes = (size_t)n * size;
  /* Also for zeros that have no memory yet: the bitmap of their chunks grows with their length. */
  if (c->limits.bytes && bytes > c->limits.bytes) return gr_context_allows(c, bytes);
  if (bytes >> 30) { /* what can never fit fails here, not at the first use */
    size_t left = q->backend->available(q->backend);
    if (bytes > left && bytes - left > c->live && bytes - left - c->live > gr_pool_read().pooled)
      return gr_fail_room(c, q->backend, bytes);
  }
  gr_storage *s = gr_storage_new(c, q, bytes);
  if (!s) return gr_fail(c, GR_NO_MEMORY, "out of memory: no room for an array's bookkeeping");
  gr_array_set(out, s, dtype, n, 0, (int64_t)size);
  return GR_OK;
}

gr_status gr_array_make(gr_context *c, gr_array *out, gr_dtype dtype, int64_t n) {
  gr_status status = gr_context_ready(c);
  return status == GR_OK ? make_on(c, c->queue, out, dtype, n) : status;
}

gr_status gr_array_make_beside(gr_context *c, const gr_array *a, gr_array *out, gr_dtype dtype, int64_t n) {
  if (!a) return gr_array_make(c, out, dtype, n);
  if (gr_array_released(a)) return GR_RELEASED;
  return make_on(c, a->storage->queue, out, dtype, n);
}

gr_status gr_array_make_open(gr_context *c, const gr_array *a, gr_array *out, gr_dtype dtype, int64_t n, gr_side side,
                             gr_vec *v) {
  const gr_status status = gr_array_make_beside(c, a, out, dtype, n);
  return status == GR_OK ? gr_array_write(out, side, 1, v) : status;
}

static void place(const gr_array *a, gr_array *out, int64_t first, int64_t step, int64_t count) {
  /* With one element the step is unused and may be anything. */
  const int64_t stride = count > 1 ? a->stride * step : gr_size(a->dtype);
  gr_array_set(out, a->storage, a->dtype, count, count ? a->offset + first * a->stride : a->offset, stride);
}

void gr_array_view(const gr_array *a, gr_array *out, int64_t first, int64_t step, int64_t count) {
  gr_storage_keep(a->storage);
  place(a, out, first, step, count);
}

gr_array gr_array_part(const gr_array *a, int64_t first, int64_t step, int64_t count) {
  gr_array part = {0};
  place(a, &part, first, step, count);
  return part;
}

void gr_array_row(const gr_array *a, int64_t k, gr_array *out) {
  gr_array_view(a, out, k * gr_array_columns(a), 1, gr_array_columns(a));
}

void gr_array_column(const gr_array *a, int64_t k, gr_array *out) {
  gr_array_view(a, out, k, gr_array_columns(a), a->rows);
}

void gr_array_release(gr_array *a) {
  gr_storage *s = a->storage;
  a->storage = a->stamp ? &gr_released : NULL; /* an array that scripts see always has a storage */
  if (s) gr_storage_drop(s);
}

void gr_array_settle(const gr_array *a, int always) {
  gr_storage *s = a->storage;
  if (s && s->owner == GR_WRAPPED && s->context && (always || s->refs - s->watched - s->pending <= 1))
    gr_storage_settle(s, 1);
}

/* The bytes of the storage from the view's lowest element to the end of its highest. */
static void range(const gr_array *a, size_t *from, size_t *to) {
  int64_t first = a->offset, last = a->offset + (a->n - 1) * a->stride;
  if (a->n == 0) last = first - gr_size(a->dtype);
  *from = (size_t)(first < last || a->n == 0 ? first : last);
  *to = (size_t)((first < last || a->n == 0 ? last : first) + gr_size(a->dtype));
}

gr_status gr_array_bring(const gr_array *a, gr_side side) {
  size_t from, to;
  range(a, &from, &to);
  return gr_storage_read(a->storage, side, from, to);
}

gr_status gr_array_claim(const gr_array *a, gr_side side, int whole, gr_vec *v) {
  size_t from, to;
  range(a, &from, &to);
  gr_status status = gr_storage_write(a->storage, side, from, to, whole && gr_array_dense(a));
  gr_array_vector(a, side, v);
  return status;
}

int gr_array_overlap(const gr_array *a, const gr_array *b) {
  size_t af, at, bf, bt;
  if (a->storage != b->storage || !a->n || !b->n) return 0;
  range(a, &af, &at);
  range(b, &bf, &bt);
  return af < bt && bf < at;
}
