/* Arrays to and from other libraries: DLPack's tensors. */
#include "src/capi/call.h"
#include "src/core/dlpack.h"

static int check_flags(gr_capi *q, uint32_t flags, uint32_t known) {
  if (!(flags & ~known)) return 1;
  return gr_capi_refuse(q, GPUREDUCE_BAD, "unknown flags 0x%lx", (unsigned long)(flags & ~known));
}

static gr_dl_options options_of(uint32_t flags, void *stream) {
  return (gr_dl_options){.readonly = (flags & GPUREDUCE_READONLY) != 0,
                         .changing = (flags & GPUREDUCE_CHANGING) != 0,
                         .copies = (flags & GPUREDUCE_COPIED) != 0,
                         .stream = stream ? (int64_t)(intptr_t)stream : GR_DL_DEFAULT_STREAM};
}

gpureduce_status gpureduce_from_dlpack(gpureduce_context *context, void *tensor, uint32_t flags, void *stream,
                                       gpureduce_array **out, int *transposed) {
  gr_capi q;
  if (gr_capi_begin_with(&q, "from_dlpack", context) && gr_capi_needs(&q, tensor, "tensor") &&
      gr_capi_needs(&q, out, "out") && gr_capi_needs(&q, transposed, "transposed") &&
      check_flags(&q, flags, GPUREDUCE_READONLY | GPUREDUCE_CHANGING | GPUREDUCE_COPIED | GPUREDUCE_UNVERSIONED)) {
    const gr_dl_options o = options_of(flags, stream);
    const gr_dl d = {tensor, !(flags & GPUREDUCE_UNVERSIONED)};
    gr_dlpack_settle(q.c);
    gpureduce_array *a = gr_capi_fresh(&q, out);
    if (a) GR_CAPI_TRY(&q, gr_dlpack_import(q.c, d, &o, &a->array, transposed));
  }
  return gr_capi_end(&q);
}

gpureduce_status gpureduce_to_dlpack(const gpureduce_array *a, uint32_t flags, void *stream, void **out) {
  gr_capi q;
  if (gr_capi_begin(&q, "to_dlpack", a) && gr_capi_needs(&q, out, "out") &&
      check_flags(&q, flags, GPUREDUCE_READONLY | GPUREDUCE_UNVERSIONED)) {
    const gr_dl_options o = options_of(flags, stream);
    gr_dl d = {NULL, 0};
    gr_dlpack_settle(q.c);
    GR_CAPI_TRY(&q, gr_dlpack_export(q.c, &a->array, 0, !(flags & GPUREDUCE_UNVERSIONED), &o, &d));
    if (q.status == GPUREDUCE_OK) *out = d.at;
  }
  return gr_capi_end(&q);
}
