#include "src/core/segments.h"

#include "src/core/operation.h"
#include "src/core/threads.h"

static int64_t position(const gr_array *offsets, const void *data, int64_t k) {
  return offsets->dtype == GR_I32 ? ((const int32_t *)data)[k] : ((const int64_t *)data)[k];
}

/* What is known of some segments: the least and the greatest of their positions and lengths. */
typedef struct range {
  int64_t first, last, shortest, longest;
} range;

static range join(range a, range b) {
  return (range){a.first < b.first ? a.first : b.first, a.last > b.last ? a.last : b.last,
                 a.shortest < b.shortest ? a.shortest : b.shortest, a.longest > b.longest ? a.longest : b.longest};
}

/* Without a branch; differences may wrap, but not when all positions are sound. */
#define MEASURE(type)                                                                  \
  for (int64_t k = from; k < end; k++) {                                               \
    const int64_t x = ((const type *)data)[k + 1];                                     \
    const int64_t length = (int64_t)((uint64_t)x - (uint64_t)((const type *)data)[k]); \
    r.first = x < r.first ? x : r.first;                                               \
    r.last = x > r.last ? x : r.last;                                                  \
    r.shortest = length < r.shortest ? length : r.shortest;                            \
    r.longest = length > r.longest ? length : r.longest;                               \
  }
static range measure(gr_dtype t, const void *data, int64_t from, int64_t end) {
  range r = {INT64_MAX, INT64_MIN, INT64_MAX, INT64_MIN};
  if (t == GR_I32) MEASURE(int32_t)
  else MEASURE(int64_t)
  return r;
}

#define MOST_PIECES 256
typedef struct pieces {
  const gr_segments *s;
  const void *data;
  int64_t size;
  range found[MOST_PIECES];
} pieces;

static void do_piece(void *arg, int64_t k) {
  pieces *p = arg;
  const int64_t from = k * p->size, end = from + p->size < p->s->count ? from + p->size : p->s->count;
  p->found[k] = measure(p->s->offsets->dtype, p->data, from, end);
}

static range measure_all(const gr_segments *s, const void *data) {
  pieces p = {.s = s, .data = data, .size = 1 << 16};
  while ((s->count - 1) / p.size >= MOST_PIECES) p.size *= 2;
  const int64_t count = (s->count - 1) / p.size + 1;
  gr_threads_run(count, do_piece, &p);
  for (int64_t k = 1; k < count; k++) p.found[0] = join(p.found[0], p.found[k]);
  return p.found[0];
}

/* Which position is wrong, in words. */
static gr_status complain(gr_context *c, const gr_array *offsets, const void *data, int64_t n) {
  for (int64_t k = 0; k < offsets->n; k++) {
    const int64_t x = position(offsets, data, k), before = k ? position(offsets, data, k - 1) : x;
    if (x < 1 || x > n + 1)
      return gr_fail(c, GR_BAD, "option 'segments': positions from 1 to %lld expected, but position %lld is %lld",
                     (long long)n + 1, (long long)k + 1, (long long)x);
    if (x < before)
      return gr_fail(c, GR_BAD,
                     "option 'segments': positions must not fall, but position %lld is %lld and position %lld is %lld",
                     (long long)k, (long long)before, (long long)k + 1, (long long)x);
  }
  return GR_OK;
}

gr_status gr_segments_of(gr_context *c, const gr_array *offsets, int64_t n, gr_segments *s) {
  gr_vec v;
  gr_status status = gr_array_read(offsets, GR_HOST, &v);
  if (status != GR_OK) return status;
  *s = (gr_segments){.offsets = offsets, .count = offsets->n - 1};
  const int64_t first = position(offsets, v.data, 0);
  range r = {first, first, 0, 0};
  if (s->count > 0) {
    r = measure_all(s, v.data);
    r.first = first < r.first ? first : r.first;
    r.last = first > r.last ? first : r.last;
  }
  if (r.first < 1 || r.last > n + 1 || r.shortest < 0) return complain(c, offsets, v.data, n);
  s->shortest = r.shortest;
  s->longest = r.longest;
  return GR_OK;
}

int64_t gr_segments_shortest(const gr_segments *s) {
  const void *data = s->offsets->storage->memory[GR_HOST] + s->offsets->offset; /* read by gr_segments_of */
  int64_t k = 0;
  while (position(s->offsets, data, k + 1) - position(s->offsets, data, k) != s->shortest) k++;
  return k;
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
    status = gr_array_make_open(c, s->offsets, chosen, GR_I64, count, GR_HOST, &to);
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
  job.offsets_are_i32 = s->offsets->dtype == GR_I32;
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

int64_t gr_segment_in(const gr_segments *s, int64_t k, int64_t *n) {
  const gr_array *offsets = s->offsets;
  const gr_reduce_job where = {.offsets = offsets->storage->memory[GR_HOST] + offsets->offset,
                               .offsets_are_i32 = offsets->dtype == GR_I32};
  return gr_segment(&where, k, n);
}
