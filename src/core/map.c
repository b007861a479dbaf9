#include "src/core/map.h"

static gr_status bring(const gr_term *t, gr_operand *o) {
  o->value = t->value;
  return t->array ? gr_array_read(t->array, gr_kernel_side(t->array->storage), &o->vec) : GR_OK;
}

gr_status gr_map_arrays(gr_context *c, const gr_map_call *call, gr_array *out) {
  static const char *const names[] = {
#define GR_X(name, operands, f, i, real, whole) #name,
    GR_MAPS(GR_X)
#undef GR_X
  };
  gr_queue *q = out->storage->queue;
  gr_map_job job = {.op = call->op, .relation = call->relation, .tally = call->tally, .dtype = call->dtype,
                    .out_dtype = out->dtype, .n = call->tally ? call->a.array->n : out->n};
  gr_status status = bring(&call->a, &job.a);
  if (status == GR_OK) status = bring(&call->b, &job.b);
  if (status == GR_OK) status = bring(&call->c, &job.c);
  if (status == GR_OK) status = gr_array_write(out, gr_kernel_side(out->storage), 1, &job.out);
  if (status != GR_OK || out->n == 0) return status;
  status = q->backend->map(q, &job);
  return gr_fail_from(c, q, status, names[call->op], 0);
}

gr_status gr_compact(gr_context *c, const gr_array *a, const gr_array *mask, gr_array *out) {
  gr_queue *q = a->storage->queue;
  gr_side side = gr_kernel_side(a->storage);
  gr_compact_job job = {.dtype = a->dtype, .n = a->n, .kept = out->n};
  gr_status status = gr_array_read(a, side, &job.a);
  if (status == GR_OK) status = gr_array_read(mask, side, &job.mask);
  if (status == GR_OK) status = gr_array_write(out, side, 1, &job.out);
  if (status != GR_OK || out->n == 0) return status;
  status = q->backend->compact(q, &job);
  return gr_fail_from(c, q, status, "compact", 0);
}
