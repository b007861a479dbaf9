#include "src/core/ranks/vectors.h"

#include <stdio.h>
#include <stdlib.h>
#include "src/core/ranks/borders.h"
#include "src/core/ranks/meet.h"
#include "src/core/ranks/tiles.h"

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

/* ---- digests ---- */

/* The words that end in this rank's part; the first may have begun before. */
static gr_status digest_part(gr_context *c, gr_queue *q, const gr_array *a, gr_vec v, const char *before,
                             uint64_t sum[2]) {
  const gr_comm *comm = c->comm;
  const int size = gr_size(a->dtype), each = 8 / size;
  const int64_t low = gr_ranks_before(c), n = gr_ranks_all(c);
  const gr_leaves l = gr_leaves_of(comm->starts, comm->size, comm->rank, each);
  const int64_t first = l.first + l.shared, from = first * each, end = least(l.end * each, n);
  gr_digest_job job = {.dtype = a->dtype, .raw = 1};
  uint64_t part[2] = {0, 0};
  char word[8];
  gr_status status = GR_OK;
  sum[0] = sum[1] = 0;
  if (l.shared) {
    const int64_t begin = l.first * each, stop = least(begin + each, n);
    gr_ranks_join(&v, size, before, begin, low, stop, word);
    job.n = stop - begin;
    job.a = (gr_vec){word, size, 0};
    job.first = l.first;
    status = c->host->cpu()->digest(q, &job, sum);
  }
  if (status != GR_OK || end <= from) return gr_fail_from(c, q, status, "digest", 0);
  job.n = end - from;
  job.a = v;
  job.a.data = (const char *)v.data + (from - low) * v.stride;
  job.first = first;
  status = c->host->cpu()->digest(q, &job, part);
  sum[0] += part[0];
  sum[1] += part[1];
  return gr_fail_from(c, q, status, "digest", 0);
}

gr_status gr_ranks_digest(gr_context *c, const gr_array *a, uint64_t result[2]) {
  char text[64], *before = NULL;
  const int each = 8 / gr_size(a->dtype);
  gr_vec v;
  snprintf(text, sizeof text, "digest of %s", gr_dtypes[a->dtype].name);
  gr_status status = gr_array_read(a, GR_HOST, &v);
  status = gr_ranks_meet(c, text, a->n, 0, status);
  if (status == GR_OK && gr_has_borders(c->comm->starts, c->comm->size, each))
    status = gr_ranks_borders_of(c, a->dtype, v, each, 0, &before, GR_OK);
  if (status == GR_OK) {
    status = digest_part(c, a->storage->queue, a, v, before, result);
    status = gr_ranks_add(c, result, 2, status);
  }
  if (status == GR_OK) gr_digest_finish(result, (uint64_t)(gr_ranks_all(c) * gr_size(a->dtype)));
  free(before);
  return status;
}

/* ---- scans ---- */

typedef struct scanning {
  gr_context *c;
  gr_queue *q;
  const gr_backend *cpu;
  gr_scan_job job; /* the vectors of this rank, from the end where the scan begins */
  int on_device;   /* they are as they lie there, which scans them by itself */
} scanning;

static gr_vec dense(const void *data, gr_dtype t) { return (gr_vec){data, gr_size(t), 0}; }

/* A stretch in terms of positions of the whole. */
static gr_scan_job job_of(const scanning *s, const gr_tiles_stretch *p) {
  gr_scan_job job = s->job;
  job.a = gr_tiles_placed(p->a, p->first);
  job.n = p->first + p->n;
  return job;
}

/* The element that v is. */
static uint64_t element_of(gr_dtype t, gr_value v) {
  uint64_t bits = 0;
  gr_element_put(t, &bits, &v, 0);
  return bits;
}

/*
** A device scans its part as if nothing lay before it, and what does joins each result afterwards: so only where that
** is in no order. The total is that of one element where it is a key.
*/
static gr_status scan_on_device(const scanning *s, uint64_t *total) {
  const gr_backend *device = s->q->backend;
  const gr_scan_job *job = &s->job;
  const gr_reduce_job whole = {
      .op = job->op, .dtype = job->dtype, .n = job->n, .a = job->a, .count = 1, .scale_a = 1, .scale_b = 1};
  gr_acc acc;
  gr_status status = device->states(s->q, &whole, 1, &acc, NULL, 0);
  if (status == GR_OK && (job->op == GR_OP_min || job->op == GR_OP_max)) {
    const uint64_t element = element_of(job->dtype, gr_finish(job->op, job->dtype, acc, job->n, 0));
    const gr_scan_job one = {
        .op = job->op, .dtype = job->dtype, .out_dtype = job->out_dtype, .n = 1, .a = dense(&element, job->dtype)};
    status = s->cpu->scan_total(s->q, &one, 0, 1, &acc);
  }
  *total = (uint64_t)acc.i[0];
  return status == GR_OK ? device->scan(s->q, job) : status;
}

/* What lies before joins the results of a device. Totals as one element: what begins an exclusive scan behind them. */
static gr_status join_on_device(const scanning *s, const gr_tiles_result *r) {
  static const gr_map joins[GR_OP_COUNT] = {
      [GR_OP_sum] = GR_MAP_add, [GR_OP_prod] = GR_MAP_mul, [GR_OP_min] = GR_MAP_minimum, [GR_OP_max] = GR_MAP_maximum};
  const gr_scan_job *job = &s->job;
  const uint64_t nothing = 0;
  uint64_t before = 0;
  gr_scan_part part = {.job = *job, .totals = (const gr_acc *)r->totals, .tiles = r->tiles, .count = r->count};
  if (r->count == 0) return GR_OK;
  part.job.n = 1;
  part.job.exclusive = 1;
  part.job.reverse = 0;
  part.job.a = dense(&nothing, job->dtype);
  part.job.out = dense(&before, job->out_dtype);
  gr_status status = s->cpu->scan_part(s->q, &part);
  const gr_map_job join = {.op = joins[job->op],
                           .dtype = job->out_dtype,
                           .out_dtype = job->out_dtype,
                           .n = job->n,
                           .a = {job->out, 0},
                           .b = {{NULL, 0, 0}, before},
                           .out = job->out};
  return status == GR_OK ? s->q->backend->map(s->q, &join) : status;
}

static gr_status total(void *with, const gr_tiles_stretch *p, uint64_t *words) {
  const scanning *s = with;
  if (s->on_device) return scan_on_device(s, words);
  const gr_scan_job job = job_of(s, p);
  gr_acc acc = gr_identity(GR_ACC_WRAP, 0);
  const gr_status status = s->cpu->scan_total(s->q, &job, p->first, p->n, &acc);
  *words = (uint64_t)acc.i[0];
  return status;
}

static gr_status write_results(void *with, const gr_tiles_stretch *p, const gr_tiles_result *r) {
  const scanning *s = with;
  if (s->on_device) return join_on_device(s, r);
  const int size = gr_size(s->job.out_dtype);
  const int64_t low = gr_ranks_before(s->c), end = p->first + p->n;
  const gr_vec out = gr_tiles_placed(s->job.out, low);
  gr_scan_part part = {.job = job_of(s, p),
                       .first = p->first,
                       .totals = (const gr_acc *)r->totals,
                       .tiles = r->tiles,
                       .count = r->count};
  part.job.out = r->room ? gr_tiles_placed(dense(r->room, s->job.out_dtype), p->first) : out;
  const gr_status status = s->cpu->scan_part(s->q, &part);
  if (status == GR_OK && r->room) gr_tiles_keep(r, p->first, end, size, 0, out);
  return status;
}

gr_status gr_ranks_scan(gr_context *c, gr_op op, const gr_array *a, gr_array *out, int exclusive, int reverse) {
  char text[96];
  scanning s = {.c = c, .q = a->storage->queue, .cpu = c->host->cpu()};
  s.job = (gr_scan_job){
      .op = op, .dtype = a->dtype, .out_dtype = out->dtype, .n = a->n, .count = 1, .exclusive = exclusive};
  gr_scan_job *job = &s.job;
  snprintf(text, sizeof text, "scan of %s of %s%s%s", gr_ops[op].name, gr_dtypes[a->dtype].name,
           exclusive ? ", exclusive" : "", reverse ? ", reverse" : "");
  const int ordered = gr_is_float(a->dtype) && (op == GR_OP_sum || op == GR_OP_prod);
  s.on_device = !ordered && s.q->backend->separate && s.q->backend->states && !s.q->lost && out->storage->queue == s.q;
  const gr_side side = s.on_device ? GR_DEVSIDE : GR_HOST;
  gr_status mine = gr_array_read(a, side, &job->a);
  if (mine == GR_OK) mine = gr_array_write(out, side, 1, &job->out);
  gr_status status = gr_ranks_meet(c, text, a->n, 0, mine);
  if (status != GR_OK) return status;
  if (reverse) gr_ranks_mirror(c);
  if (reverse && s.on_device) {
    job->reverse = 1;
  } else if (reverse) {
    job->a = gr_tiles_turned(job->a, a->n);
    job->out = gr_tiles_turned(job->out, a->n);
  }
  _Static_assert(sizeof(gr_acc) == 3 * sizeof(uint64_t), "totals are so many words apart");
  gr_tiles t = {.c = c,
                .q = s.q,
                .name = "scan",
                .dtype = a->dtype,
                .a = job->a,
                .n = a->n,
                .ordered = ordered,
                .words = 1,
                .spread = 3,
                .result = gr_size(out->dtype),
                .total = total,
                .write = write_results,
                .with = &s};
  return gr_ranks_tiles(&t);
}
