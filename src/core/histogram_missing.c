#include "src/core/histogram_missing.h"

#include "src/core/map.h"
#include "src/core/ops.h"

gr_status gr_histogram_weigh(gr_context *c, gr_reduced of, const gr_missing *m, gr_reduced *weights, gr_made *made) {
  const gr_reduced by = *weights;
  const gr_partial p = {.a = by.a ? by : of, .tested = by.a ? of : GR_NONE, .missing = *m};
  if (!gr_may_miss(m) || (!by.a && !m->mask.a)) return GR_OK;
  const gr_status status =
      by.a ? gr_partial_fill(c, &p, 0, 0, gr_filling_of(gr_number_i(0)), made) : gr_partial_present(c, &p, 1, made);
  *weights = gr_made_operand(made);
  return status;
}

gr_status gr_histogram_settle(gr_context *c, int counted, gr_reduced *of, const gr_missing *m, gr_reduced *weights,
                              gr_made *made) {
  const gr_partial p = {.a = *of, .missing = *m};
  const gr_queue *q = gr_array_released(of->a) ? NULL : of->a->storage->queue;
  const int fills = counted && m->mask.a && !weights->a && gr_is_float(of->a->dtype) && !c->comm;
  if (!fills || !q || !q->backend || !q->backend->separate) return gr_histogram_weigh(c, *of, m, weights, made);
  const gr_status status = gr_partial_fill(c, &p, 0, 0, gr_filling_of(gr_number_f(gr_nan())), made);
  *of = gr_made_operand(made);
  return status;
}

gr_status gr_histogram_keep(gr_context *c, gr_reduced of, const gr_missing *m, gr_array *ranged) {
  const gr_partial p = {.a = of, .missing = *m};
  return m->mask.a ? gr_partial_compact(c, &p, of, ranged) : GR_OK;
}

/* What was NaN from the start: as many fewer as the mask leaves out. */
static gr_status uncount(gr_context *c, gr_reduced mask, gr_array *nan) {
  const gr_shape whole = {.rows = 1, .axis = 2};
  gr_map_call call = {.op = GR_MAP_add, .dtype = GR_I64, .a = {nan, 0}};
  gr_array present = {0};
  gr_status status = gr_array_make_beside(c, nan, &present, GR_I64, 1);
  if (status == GR_OK) status = gr_formula_reduce_each(c, GR_OP_count, whole, mask, GR_NONE, 0, &present, NULL);
  call.b.array = &present;
  if (status == GR_OK) status = gr_map_arrays(c, &call, nan);
  call.b = (gr_term){NULL, (uint64_t)-mask.a->n};
  if (status == GR_OK) status = gr_map_arrays(c, &call, nan);
  gr_array_release(&present);
  return status;
}

gr_status gr_histogram_forget(gr_context *c, const gr_missing *m, gr_array *nan) {
  if (!gr_may_miss(m)) return GR_OK;
  return m->nan ? gr_fill(c, nan, gr_value_i(0)) : uncount(c, m->mask, nan);
}
