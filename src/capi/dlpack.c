/* Tensors of other libraries as arrays, and the reverse. */
#include "src/core/dlpack.h"
#include "src/capi/call.h"

static int check_flags(gr_capi *q, uint32_t flags, uint32_t known, int64_t stream) {
  if (flags & ~known) return gr_capi_refuse(q, GPUREDUCE_BAD, "unknown flags 0x%lx", (unsigned long)flags);
  if (stream >= -1 && stream != 0) return 1;
  return gr_capi_refuse(q, GPUREDUCE_BAD, "stream: -1, 1, 2 or a handle expected, got %lld", (long long)stream);
}

/* Whether its rows do not follow each other evenly: it lies column by column, or has gaps. Such ones are copied. */
static int is_uneven(const void *tensor, int versioned) {
  const gr_dl_versioned *v = tensor;
  const gr_dl_managed *m = tensor;
  if (versioned && v->major != GR_DL_MAJOR) return 0; /* which is refused later */
  const gr_dl_tensor *t = versioned ? &v->tensor : &m->tensor;
  if (t->dimensions != 2 || !t->shape || !t->strides || t->shape[0] < 2 || t->shape[1] < 2) return 0;
  return (uint64_t)t->strides[0] != (uint64_t)t->shape[1] * (uint64_t)t->strides[1];
}

static gr_status import(gr_context *c, gr_dl tensor, const gr_dl_options *o, gr_array *out) {
  const uint64_t stamp = out->stamp;
  int transposed = 0;
  gr_status status = gr_dlpack_import(c, tensor, o, out, &transposed);
  out->stamp = stamp;
  return status;
}

gpureduce_status gpureduce_from_dlpack(gpureduce_context *context, void *tensor, int versioned, uint32_t flags,
                                       int64_t stream, gpureduce_array **out) {
  gr_capi q;
  if (!gr_capi_begin_with(&q, "from_dlpack", context) || !gr_capi_needs(&q, tensor, "tensor") ||
      !gr_capi_needs(&q, out, "out") || !check_flags(&q, flags, GPUREDUCE_READONLY | GPUREDUCE_CHANGING, stream))
    return gr_capi_end(&q);
  const gr_dl_options o = {.readonly = (flags & GPUREDUCE_READONLY) != 0,
                           .changing = (flags & GPUREDUCE_CHANGING) != 0,
                           .copies = is_uneven(tensor, versioned),
                           .stream = stream};
  gpureduce_array *a = gr_capi_handle(&q);
  if (a) GR_CAPI_TRY(&q, import(q.c, (gr_dl){tensor, versioned != 0}, &o, &a->array));
  if (q.status == GPUREDUCE_OK) *out = a;
  else if (a) gr_capi_forget(a);
  return gr_capi_end(&q);
}

gpureduce_status gpureduce_to_dlpack(const gpureduce_array *a, int versioned, uint32_t flags, int64_t stream,
                                     void **tensor) {
  gr_capi q;
  if (!gr_capi_begin(&q, "to_dlpack", a) || !gr_capi_needs(&q, tensor, "tensor") ||
      !check_flags(&q, flags, GPUREDUCE_READONLY, stream))
    return gr_capi_end(&q);
  const gr_dl_options o = {.readonly = (flags & GPUREDUCE_READONLY) != 0, .stream = stream};
  gr_dl made = {0};
  GR_CAPI_TRY(&q, gr_dlpack_export(q.c, &a->array, 0, versioned != 0, &o, &made));
  if (q.status == GPUREDUCE_OK) *tensor = made.at;
  return gr_capi_end(&q);
}
