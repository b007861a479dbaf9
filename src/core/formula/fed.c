#include "src/core/formula/fed.h"

#include "src/core/later.h"
#include "src/core/map.h"

gr_status gr_formula_scan(gr_context *c, gr_op op, gr_reduced a, gr_array *out, int exclusive, int reverse) {
  gr_scan_job job = {.op = op,
                     .dtype = a.a->dtype,
                     .out_dtype = out->dtype,
                     .n = out->n,
                     .count = 1,
                     .exclusive = exclusive,
                     .reverse = reverse};
  gr_status status = GR_NOT_FUSED;
  if (gr_formula_feeds(GR_FEEDS_SCAN, a, GR_NONE, out)) {
    gr_later_open(c, out->storage->queue);
    status = gr_array_write(out, gr_kernel_side(out->storage), 1, &job.out);
    if (status != GR_OK || out->n == 0) return gr_later_shut(c), status;
    status = gr_formula_feed(c, GR_FEEDS_SCAN, a, GR_NONE, &job, NULL, "scan");
  }
  if (status != GR_NOT_FUSED) return status;
  status = gr_reduced_eval(c, &a);
  return status == GR_OK ? gr_scan(c, op, a.a, out, exclusive, reverse) : status;
}

gr_status gr_formula_compact(gr_context *c, gr_reduced a, const gr_array *mask, gr_array *out) {
  gr_compact_job job = {.dtype = a.a->dtype, .n = a.a->n};
  gr_status status = GR_OK;
  if (!gr_formula_feeds(GR_FEEDS_COMPACT, a, GR_NONE, out)) {
    status = gr_reduced_eval(c, &a);
    return status == GR_OK ? gr_compact(c, a.a, mask, out) : status;
  }
  gr_later_open(c, out->storage->queue);
  status = gr_array_read(mask, gr_kernel_side(mask->storage), &job.mask);
  if (status == GR_OK) status = gr_array_write(out, gr_kernel_side(out->storage), 1, &job.out);
  if (status != GR_OK || out->n == 0) return gr_later_shut(c), status;
  return gr_formula_feed(c, GR_FEEDS_COMPACT, a, GR_NONE, &job, NULL, "compact");
}
