/* Arrays: new ones, those of the host's memory, views, and the way to their elements. */
#include "src/capi/call.h"
#include "src/core/ops.h"

/* ---- new ones ---- */

static int check_length(gr_capi *q, int64_t n, int64_t rows) {
  if (n < 0) return gr_capi_refuse(q, GPUREDUCE_BAD, "length of 0 or more expected, got %lld", (long long)n);
  if (rows < 0 || (rows && n % rows))
    return gr_capi_refuse(q, GPUREDUCE_BAD, "%lld rows do not divide length %lld", (long long)rows, (long long)n);
  return 1;
}

gpureduce_status gpureduce_make(gpureduce_context *context, gpureduce_dtype dtype, int64_t length, int64_t rows,
                                gpureduce_array **out) {
  gr_capi q;
  if (gr_capi_begin_with(&q, "make", context) && gr_capi_needs(&q, out, "out") && gr_capi_dtype(&q, dtype) &&
      check_length(&q, length, rows)) {
    gpureduce_array *a = gr_capi_fresh(&q, out);
    if (a) GR_CAPI_TRY(&q, gr_array_make(q.c, &a->array, (gr_dtype)dtype, length));
    if (a) a->array.rows = rows;
  }
  return gr_capi_end(&q);
}

int gr_capi_check_memory(gr_capi *q, const gpureduce_memory *m) {
  if (!gr_capi_sized(q, m, sizeof *m, "gpureduce_memory") || !gr_capi_dtype(q, m->dtype) ||
      !check_length(q, m->length, m->rows))
    return 0;
  const int64_t size = gr_size((gr_dtype)m->dtype), stride = m->stride ? m->stride : size;
  if (m->length && !gr_capi_needs(q, m->data, "data")) return 0;
  if (m->flags & ~(uint32_t)(GPUREDUCE_READONLY | GPUREDUCE_CHANGING))
    return gr_capi_refuse(q, GPUREDUCE_BAD, "unknown flags 0x%lx", (unsigned long)m->flags);
  if (stride < size || stride % size)
    return gr_capi_refuse(q, GPUREDUCE_BAD, "stride: multiple of %lld bytes expected, got %lld", (long long)size,
                          (long long)stride);
  if ((uintptr_t)m->data % (uintptr_t)size)
    return gr_capi_refuse(q, GPUREDUCE_BAD, "data: address that is a multiple of %lld expected", (long long)size);
  if (m->length > INT64_MAX / 4 / stride)
    return gr_capi_refuse(q, GPUREDUCE_BAD, "length: %lld elements do not fit in memory", (long long)m->length);
  if (m->device && m->flags & GPUREDUCE_CHANGING)
    return gr_capi_refuse(q, GPUREDUCE_BAD, "flags: device memory that changes is to be wrapped anew");
  return 1;
}

gr_status gr_capi_wrap(gr_capi *q, const gpureduce_memory *m, const gr_wrapping *kept, gr_array *out) {
  const gr_dtype t = (gr_dtype)m->dtype;
  const size_t size = (size_t)gr_size(t);
  const gr_wrapping w = {.item = size,
                         .stride = m->stride ? (size_t)m->stride : size,
                         .changing = (m->flags & GPUREDUCE_CHANGING) != 0,
                         .readonly = (m->flags & GPUREDUCE_READONLY) != 0,
                         .release = kept ? kept->release : m->release,
                         .roams = !kept,
                         .owner = kept ? kept->owner : m->user};
  gr_context *c = q->c;
  gr_status status = gr_context_ready(c);
  if (status == GR_OK) status = gr_context_allows_length(c, m->length);
  if (status != GR_OK) return status;
  if (m->device && strcmp(m->device, c->queue->backend->name) != 0 &&
      !(!strcmp(m->device, "cuda") && !strcmp(c->queue->backend->name, "cuda:0")))
    return gr_fail(c, GR_BAD, "memory of device '%s' expected, got that of '%.40s'", c->queue->backend->name,
                   m->device);
  status = m->device ? gr_wrap_device(c, NULL, out, t, m->length, m->data, m->stream, &w)
                     : gr_wrap(c, out, t, m->length, m->length ? m->data : (void *)(uintptr_t)64, &w);
  if (status == GR_OK) out->rows = m->rows;
  return status;
}

gpureduce_status gpureduce_wrap(gpureduce_context *context, const gpureduce_memory *memory, gpureduce_array **out) {
  gr_capi q;
  if (gr_capi_begin_with(&q, "wrap", context) && gr_capi_needs(&q, out, "out") && gr_capi_check_memory(&q, memory)) {
    gpureduce_array *a = gr_capi_fresh(&q, out);
    if (a) GR_CAPI_TRY(&q, gr_capi_wrap(&q, memory, NULL, &a->array));
  }
  return gr_capi_end(&q);
}

/* ---- handles and views ---- */

static gpureduce_status view(gr_capi *q, const gr_array *a, int64_t first, int64_t step, int64_t count, int64_t rows,
                             gpureduce_array **out) {
  gpureduce_array *b = gr_capi_needs(q, out, "out") ? gr_capi_fresh(q, out) : NULL;
  if (b) gr_array_view(a, &b->array, first, step, count);
  if (b) b->array.rows = rows;
  return gr_capi_end(q);
}

gpureduce_status gpureduce_keep(const gpureduce_array *a, gpureduce_array **out) {
  gr_capi q;
  if (!gr_capi_begin(&q, "keep", a)) return gr_capi_end(&q);
  return view(&q, &a->array, 0, 1, a->array.n, a->array.rows, out);
}

gpureduce_status gpureduce_view(const gpureduce_array *a, int64_t first, int64_t step, int64_t count,
                                gpureduce_array **out) {
  gr_capi q;
  if (!gr_capi_begin(&q, "view", a)) return gr_capi_end(&q);
  const int64_t n = a->array.n, most = n < 1 ? 0 : n - 1;
  /* Of the last element: first + (count - 1) * step, without leaving 64 bits on the way. */
  const int fits = count == 0 || (count > 0 && first >= 0 && first < n &&
                                  (count == 1 || (step > 0 && (count - 1) <= (most - first) / step) ||
                                   (step < 0 && step >= -most && (count - 1) <= first / -step)));
  if (step == 0 || count < 0 || first < 0 || first > n || !fits) {
    gr_capi_refuse(&q, GPUREDUCE_BAD, "elements %lld, %lld apart, %lld of them, are not all among %lld",
                   (long long)first, (long long)step, (long long)count, (long long)n);
    return gr_capi_end(&q);
  }
  return view(&q, &a->array, count ? first : 0, count ? step : 1, count, 0, out);
}

gpureduce_status gpureduce_matrix(const gpureduce_array *a, int64_t rows, gpureduce_array **out) {
  gr_capi q;
  if (!gr_capi_begin(&q, "matrix", a) || !check_length(&q, a->array.n, rows)) return gr_capi_end(&q);
  return view(&q, &a->array, 0, 1, a->array.n, rows, out);
}

gpureduce_status gpureduce_drop(gpureduce_array *a) {
  gr_capi q = {.name = "drop"};
  int moved = 0;
  if (!a) return GPUREDUCE_OK;
  gr_handle_hold();
  if (!gr_handle_known(a, GR_HANDLE_ARRAY) ||
      (a->array.stamp != (gr_stamp(&a->array) ^ 1) && a->array.stamp != gr_stamp(&a->array)))
    gr_capi_refuse(&q, GPUREDUCE_UNKNOWN, "the array is no array that is alive");
  else if (a->array.stamp == gr_stamp(&a->array))
    gr_capi_refuse(&q, GPUREDUCE_BAD, "the array is borrowed from a Lua state, which drops it");
  else if ((moved = gr_array_released(&a->array)) != 0) gr_handle_remove(a);
  gr_handle_let_go();
  if (moved) gr_capi_forget(a);
  else if (q.status == GPUREDUCE_OK && gr_capi_begin_lazy(&q, "drop", a)) {
    gr_capi_hold(&q);
    gr_capi_forget(a);
  }
  return gr_capi_end(&q);
}

gpureduce_status gpureduce_describe(const gpureduce_array *a, gpureduce_info *out) {
  gr_capi q;
  if (gr_capi_begin_lazy(&q, "describe", a) && gr_capi_sized(&q, out, sizeof *out, "gpureduce_info")) {
    const gr_array *x = &a->array;
    *out = (gpureduce_info){.size = sizeof *out,
                            .dtype = (gpureduce_dtype)x->dtype,
                            .length = x->n,
                            .rows = x->rows,
                            .stride = gr_capi_expression(a) ? 0 : x->stride,
                            .item = gr_size(x->dtype),
                            .borrowed = x->stamp == gr_stamp(x),
                            .device = x->storage->queue->backend->name};
  }
  return gr_capi_end(&q);
}

/* ---- elements ---- */

static int check_access(gr_capi *q, int access) {
  if (access > 0 && !(access & ~(GPUREDUCE_READ | GPUREDUCE_WRITE | GPUREDUCE_WHOLE))) return 1;
  return gr_capi_refuse(q, GPUREDUCE_BAD, "access: GPUREDUCE_READ, WRITE or WHOLE expected, got %d", access);
}

static gr_status point(const gr_array *a, gr_side side, int access, void **out) {
  gr_vec v;
  const int writes = access & (GPUREDUCE_WRITE | GPUREDUCE_WHOLE);
  gr_status status = writes ? gr_array_write(a, side, access == GPUREDUCE_WHOLE, &v) : gr_array_read(a, side, &v);
  if (status == GR_OK) *out = (void *)(uintptr_t)v.data;
  return status;
}

gpureduce_status gpureduce_host_pointer(const gpureduce_array *a, int access, void **out) {
  gr_capi q;
  if (gr_capi_begin(&q, "host_pointer", a) && gr_capi_needs(&q, out, "out") && check_access(&q, access))
    GR_CAPI_TRY(&q, point(&a->array, GR_HOST, access, out));
  return gr_capi_end(&q);
}

gpureduce_status gpureduce_device_pointer(const gpureduce_array *a, int access, void *stream, void **out) {
  gr_capi q;
  if (gr_capi_begin(&q, "device_pointer", a) && gr_capi_needs(&q, out, "out") && check_access(&q, access)) {
    GR_CAPI_TRY(&q, point(&a->array, gr_kernel_side(a->array.storage), access, out));
    gr_queue *queue = a->array.storage->queue;
    if (q.status == GPUREDUCE_OK && queue->backend->lead)
      gr_capi_said(&q, gr_fail_from(q.c, queue, queue->backend->lead(queue, stream), "the host's stream", 0));
  }
  return gr_capi_end(&q);
}

gpureduce_status gpureduce_device_done(const gpureduce_array *a, void *stream) {
  gr_capi q;
  if (gr_capi_begin(&q, "device_done", a)) {
    gr_queue *queue = a->array.storage->queue;
    if (queue->backend->follow)
      gr_capi_said(&q, gr_fail_from(q.c, queue, queue->backend->follow(queue, stream), "the host's stream", 0));
  }
  return gr_capi_end(&q);
}

/* Elements first .. first + count - 1 of a, as an array that has no reference of its own. */
static int part(gr_capi *q, const gr_array *a, int64_t first, int64_t count, gr_array *out) {
  if (first < 0 || count < 0 || first > a->n || count > a->n - first)
    return gr_capi_refuse(q, GPUREDUCE_BAD, "elements from %lld on, %lld of them, are not all among %lld",
                          (long long)first, (long long)count, (long long)a->n);
  *out = *a;
  if (count) out->offset += first * a->stride;
  out->n = count;
  return 1;
}

gpureduce_status gpureduce_touch(const gpureduce_array *a, int64_t first, int64_t count) {
  gr_capi q;
  gr_array some;
  if (gr_capi_begin(&q, "touch", a) && part(&q, &a->array, first, count, &some)) {
    if (!gr_wrap_shared(a->array.storage)) gr_capi_refuse(&q, GPUREDUCE_BAD, "an array of wrapped memory expected");
    else GR_CAPI_TRY(&q, gr_wrap_touch(&a->array, first, count));
  }
  return gr_capi_end(&q);
}

static gr_status get(const gr_array *a, char *to) {
  gr_vec v;
  const size_t size = (size_t)gr_size(a->dtype);
  gr_status status = gr_array_read(a, GR_HOST, &v);
  if (status != GR_OK || !a->n) return status;
  if (gr_array_dense(a)) memcpy(to, v.data, (size_t)a->n * size);
  else
    for (int64_t k = 0; k < a->n; k++) memcpy(to + (size_t)k * size, (const char *)v.data + k * v.stride, size);
  return GR_OK;
}

static gr_status set(const gr_array *a, const char *from) {
  gr_vec v;
  const size_t size = (size_t)gr_size(a->dtype);
  gr_status status = gr_array_write(a, GR_HOST, 1, &v);
  if (status != GR_OK || !a->n) return status;
  char *to = (char *)(uintptr_t)v.data;
  if (gr_array_dense(a)) memcpy(to, from, (size_t)a->n * size);
  else
    for (int64_t k = 0; k < a->n; k++) memcpy(to + k * v.stride, from + (size_t)k * size, size);
  return GR_OK;
}

gpureduce_status gpureduce_get(const gpureduce_array *a, int64_t first, int64_t count, void *elements) {
  gr_capi q;
  gr_array some;
  if (gr_capi_begin(&q, "get", a) && part(&q, &a->array, first, count, &some) &&
      (!count || gr_capi_needs(&q, elements, "elements")))
    GR_CAPI_TRY(&q, get(&some, elements));
  return gr_capi_end(&q);
}

gpureduce_status gpureduce_set(gpureduce_array *a, int64_t first, int64_t count, const void *elements) {
  gr_capi q;
  gr_array some;
  if (gr_capi_begin(&q, "set", a) && part(&q, &a->array, first, count, &some) &&
      (!count || gr_capi_needs(&q, elements, "elements")))
    GR_CAPI_TRY(&q, set(&some, elements));
  return gr_capi_end(&q);
}

gpureduce_status gpureduce_copy(const gpureduce_array *a, gpureduce_array **out) {
  gr_capi q;
  if (gr_capi_begin(&q, "copy", a)) {
    gr_array *to = gr_capi_out(&q, out, NULL, a->array.dtype, a->array.n, a->array.rows, 0);
    if (to) GR_CAPI_TRY(&q, gr_copy(q.c, &a->array, to));
  }
  return gr_capi_end(&q);
}
