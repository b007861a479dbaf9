#include "src/core/copy.h"

#include <string.h>

#include "src/core/later.h"

gr_status gr_fill(gr_context *c, gr_array *a, gr_value value) {
  gr_queue *q = a->storage->queue;
  gr_fill_job job = {.dtype = a->dtype, .n = a->n};
  gr_later_open(c, q);
  gr_status status = gr_array_write(a, gr_kernel_side(a->storage), 1, &job.out);
  gr_element_put(a->dtype, &job.value, &value, 0);
  return gr_later_do(c, q, status, GR_LATER_fill, &job, a->n, "fill");
}

/* Element by element on the host, between backends. */
static gr_status copy_on_host(const gr_array *a, gr_array *out) {
  gr_vec from, to;
  int size = gr_size(a->dtype);
  gr_status status = gr_array_read(a, GR_HOST, &from);
  if (status == GR_OK) status = gr_array_write(out, GR_HOST, 1, &to);
  if (status != GR_OK || a->n == 0) return status;
  char *d = (char *)(uintptr_t)to.data;
  const char *s = from.data;
  const int dense = gr_array_dense(a) && gr_array_dense(out);
  if (a->n > GR_LONG) gr_stop_begin(&a->storage->context->stop);
  for (int64_t k = 0, m; k < a->n && status == GR_OK; k += m) {
    m = a->n - k < GR_LONG ? a->n - k : GR_LONG;
    if (k) status = gr_context_look(a->storage->context);
    if (status != GR_OK) break;
    if (dense) memcpy(d + k * size, s + k * size, (size_t)(m * size));
    else
      for (int64_t i = k; i < k + m; i++) memcpy(d + i * to.stride, s + i * from.stride, (size_t)size);
  }
  return status;
}

gr_status gr_copy(gr_context *c, const gr_array *a, gr_array *out) {
  gr_queue *q = a->storage->queue;
  if (q != out->storage->queue) return copy_on_host(a, out);
  gr_copy_job job = {.dtype = a->dtype, .n = a->n};
  gr_later_open(c, q);
  gr_status status = gr_array_read(a, gr_kernel_side(a->storage), &job.a);
  if (status == GR_OK) status = gr_array_write(out, gr_kernel_side(out->storage), 1, &job.out);
  return gr_later_do(c, q, status, GR_LATER_copy, &job, a->n, "copy");
}
