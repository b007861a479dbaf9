#include "src/core/segments.h"

#include "src/core/ops.h"

static int64_t position(const gr_array *offsets, const void *data, int64_t k) {
  return offsets->dtype == GR_I32 ? ((const int32_t *)data)[k] : ((const int64_t *)data)[k];
}

gr_status gr_segments_of(gr_context *c, const gr_array *offsets, int64_t n, gr_segments *s) {
  gr_vec v;
  gr_status status = gr_array_read(offsets, GR_HOST, &v);
  if (status != GR_OK) return status;
  *s = (gr_segments){.offsets = offsets, .count = offsets->n - 1, .shortest = INT64_MAX};
  for (int64_t k = 0; k <= s->count; k++) {
    const int64_t x = position(offsets, v.data, k), before = k ? position(offsets, v.data, k - 1) : x;
    if (x < 1 || x > n + 1)
      return gr_fail(c, GR_BAD, "option 'segments': positions from 1 to %lld expected, but position %lld is %lld",
                     (long long)n + 1, (long long)k + 1, (long long)x);
    if (x < before)
      return gr_fail(c, GR_BAD, "option 'segments': positions must not fall, but position %lld is %lld and position %lld is %lld",
                     (long long)k, (long long)before, (long long)k + 1, (long long)x);
    if (k && x - before < s->shortest) s->shortest = x - before, s->short_at = k - 1;
    if (x - before > s->longest) s->longest = x - before;
  }
  if (s->count == 0) s->shortest = 0;
  return GR_OK;
}

/* The numbers of the segments that are longer than limit, as an array. */
static gr_status choose_long(gr_context *c, const gr_segments *s, int64_t limit, gr_array *chosen) {
  gr_vec v, to;
  int64_t count = 0;
  gr_status status = gr_array_read(s->offsets, GR_HOST, &v);
  if (status != GR_OK) return status;
  for (int pass = 0; pass < 2; pass++) {
    int64_t *out = pass ? (int64_t *)(uintptr_t)to.data : NULL;
    count = 0;
    for (int64_t k = 0; k < s->count; k++) {
      if (position(s->offsets, v.data, k + 1) - position(s->offsets, v.data, k) <= limit) continue;
      if (pass) out[count] = k;
      count++;
    }
    if (pass) break;
    status = gr_array_make_beside(c, s->offsets, chosen, GR_I64, count);
    if (status == GR_OK) status = gr_array_write(chosen, GR_HOST, 1, &to);
    if (status != GR_OK) return status;
  }
  return GR_OK;
}

gr_status gr_segments_run(gr_context *c, gr_queue *q, const gr_reduce_job *asked, const gr_segments *s) {
  const int64_t limit = GR_SEGMENT_LEAVES * (int64_t)GR_LEAF(gr_size(asked->dtype));
  const char *name = gr_ops[asked->op].name;
  gr_side side = gr_kernel_side(s->offsets->storage);
  gr_array chosen = {0};
  gr_vec v;
  gr_reduce_job job = *asked;
  gr_status status = gr_array_read(s->offsets, side, &v);
  if (status != GR_OK) return status;
  job.offsets = v.data;
  job.narrow = s->offsets->dtype == GR_I32;
  job.count = s->count;
  job.n = s->longest < limit ? s->longest : limit;
  status = gr_fail_from(c, q, q->backend->reduce(q, &job, NULL), name, 0);
  if (status != GR_OK || s->longest <= limit) return status;
  status = choose_long(c, s, limit, &chosen);
  if (status == GR_OK) status = gr_array_read(&chosen, side, &v);
  if (status == GR_OK) {
    job.chosen = v.data;
    job.count = chosen.n;
    job.n = s->longest;
    status = gr_fail_from(c, q, q->backend->reduce(q, &job, NULL), name, 0);
  }
  gr_array_release(&chosen);
  return status;
}
