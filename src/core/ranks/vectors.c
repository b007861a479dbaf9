#include "src/core/ranks/vectors.h"

#include <stdio.h>
#include <stdlib.h>
#include "src/core/ranks/borders.h"
#include "src/core/ranks/meet.h"

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

/*
** A scan of a part: the tiles that end in it have totals, of which ranks send those of the nodes above them; with what
** all ranks before have sent, each knows what lies before its first tile. A tile that begins in another rank is put
** together here, and its results go to a place of its own. What is not in order (integers, min, max) has one total.
*/
typedef struct scanning {
  gr_context *c;
  gr_queue *q;
  const gr_backend *cpu;
  gr_scan_job job; /* the vectors of this rank, from the end where the scan begins */
  int ordered, own;
  int on_device;                       /* the job's vectors are as they lie there, which scans them by itself */
  int64_t tile, most, low, high, from; /* from: where the first tile begins; low and high: this rank's part */
  char *before, *joined, *results;     /* of that tile, if it begins elsewhere */
  char *message, *all;
  gr_acc *totals;
  int64_t *tiles;
} scanning;

/* The job with vectors that begin at position `first`, as if they began at 0. */
static gr_scan_job placed(const gr_scan_job *job, gr_vec a, gr_vec out, int64_t first, int64_t end) {
  gr_scan_job j = *job;
  j.a = a;
  j.out = out;
  j.a.data = (const void *)((uintptr_t)a.data - (uintptr_t)(first * a.stride));
  j.out.data = (const void *)((uintptr_t)out.data - (uintptr_t)(first * out.stride));
  j.n = end;
  return j;
}

static gr_vec dense(const void *data, gr_dtype t) { return (gr_vec){data, gr_size(t), 0}; }

/* The jobs of the first tile, if it begins elsewhere, and of the rest; where the rest begins. */
static int64_t rest_of(const scanning *s) { return s->from < s->low ? least(s->from + s->tile, s->high) : s->low; }
static gr_scan_job first_job(const scanning *s) {
  return placed(&s->job, dense(s->joined, s->job.dtype), dense(s->results, s->job.out_dtype), s->from, rest_of(s));
}
static gr_scan_job rest_job(const scanning *s) { return placed(&s->job, s->job.a, s->job.out, s->low, s->high); }

static int64_t nodes_of(const scanning *s, int rank) {
  const gr_comm *comm = s->c->comm;
  if (!s->ordered) return comm->starts[rank] < comm->starts[rank + 1];
  return gr_count_nodes(gr_leaves_of(comm->starts, comm->size, rank, s->tile), s->most);
}

/* The element that v is. */
static uint64_t element_of(gr_dtype t, gr_value v) {
  uint64_t bits = 0;
  if (v.is_float) gr_element_put_f(t, &bits, v.v[0].f);
  else gr_element_put_i(t, &bits, v.v[0].i);
  return bits;
}

/*
** A device scans its part as if nothing lay before it, and what does joins each result afterwards: so only where that
** is in no order. The total is that of one element where it is a key.
*/
static gr_status scan_on_device(const scanning *s, int64_t *total) {
  const gr_backend *device = s->q->backend;
  const gr_scan_job *job = &s->job;
  const gr_reduce_job whole = {
      .op = job->op, .dtype = job->dtype, .n = job->n, .a = job->a, .count = 1, .scale_a = 1, .scale_b = 1};
  gr_acc acc;
  gr_status status = device->states(s->q, &whole, 1, &acc);
  if (status == GR_OK && (job->op == GR_OP_min || job->op == GR_OP_max)) {
    const uint64_t element = element_of(job->dtype, gr_finish(job->op, job->dtype, acc, job->n, 0));
    const gr_scan_job one = {
        .op = job->op, .dtype = job->dtype, .out_dtype = job->out_dtype, .n = 1, .a = dense(&element, job->dtype)};
    status = s->cpu->scan_total(s->q, &one, 0, 1, &acc);
  }
  *total = acc.i[0];
  return status == GR_OK ? device->scan(s->q, job) : status;
}

/* What lies before joins the results of a device. Totals as one element: what begins an exclusive scan behind them. */
static gr_status join_on_device(const scanning *s, int64_t count) {
  static const gr_map joins[GR_OP_COUNT] = {
      [GR_OP_sum] = GR_MAP_add, [GR_OP_prod] = GR_MAP_mul, [GR_OP_min] = GR_MAP_minimum, [GR_OP_max] = GR_MAP_maximum};
  const gr_scan_job *job = &s->job;
  const uint64_t nothing = 0;
  uint64_t before = 0;
  gr_scan_part part = {.job = *job, .totals = s->totals, .tiles = s->tiles, .count = count};
  if (count == 0 || job->n == 0) return GR_OK;
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

/* This rank's totals, into its message. */
static gr_status make_totals(scanning *s) {
  const gr_comm *comm = s->c->comm;
  gr_leaves l = gr_leaves_of(comm->starts, comm->size, s->own, s->tile);
  const gr_scan_job first = first_job(s), rest = rest_job(s);
  int64_t at = l.first, failed = 0, *to = (int64_t *)s->message + 1;
  gr_status status = GR_OK;
  gr_acc total;
  if (s->on_device && s->low < s->high) {
    status = scan_on_device(s, to);
  } else if (!s->ordered && s->low < s->high) {
    status = s->cpu->scan_total(s->q, &rest, s->low, s->high - s->low, &total);
    *to = total.i[0];
  }
  for (int64_t from = at; s->ordered && status == GR_OK && gr_next_node(l, &at, s->most); from = at) {
    const int64_t p = from * s->tile, end = least(at * s->tile, comm->starts[comm->size]);
    status = s->cpu->scan_total(s->q, p < s->low ? &first : &rest, p, end - p, &total);
    *to++ = total.i[0];
  }
  failed = status;
  memcpy(s->message, &failed, sizeof failed);
  return gr_fail_from(s->c, s->q, status, "scan", 0);
}

/* The totals of all ranks before this one, in order; -1: a rank has failed. */
static int64_t take_totals(scanning *s) {
  const gr_comm *comm = s->c->comm;
  int64_t count = 0, bad = 0;
  for (int r = 0; r < comm->size; r++) {
    const char *at = s->all;
    for (int k = 0; k < gr_ranks_peer(comm, r); k++) at += comm->lengths[k];
    const int64_t *m = (const int64_t *)at;
    gr_leaves l = gr_leaves_of(comm->starts, comm->size, r, s->tile);
    int64_t first = l.first;
    bad |= *m++;
    for (int64_t k = nodes_of(s, r); k > 0 && r < s->own; k--, count++) {
      s->tiles[count] = s->ordered ? gr_next_node(l, &first, s->most) : 0;
      s->totals[count] = gr_identity(GR_ACC_WRAP, 0);
      s->totals[count].i[0] = *m++;
    }
  }
  return bad ? -1 : count;
}

static gr_status write_part(scanning *s, int64_t count) {
  const int64_t rest = rest_of(s);
  gr_status status = GR_OK;
  if (s->on_device) return gr_fail_from(s->c, s->q, join_on_device(s, count), "scan", 0);
  if (s->from < s->low) {
    const gr_scan_job first = first_job(s);
    const int size = gr_size(s->job.out_dtype);
    const gr_scan_part part = {.job = first, .first = s->from, .totals = s->totals, .tiles = s->tiles, .count = count};
    status = s->cpu->scan_part(s->q, &part);
    for (int64_t p = s->low; status == GR_OK && p < rest; p++)
      memcpy((char *)(uintptr_t)s->job.out.data + (p - s->low) * s->job.out.stride, s->results + (p - s->from) * size,
             (size_t)size);
    if (status == GR_OK && rest < s->high) {
      status = s->cpu->scan_total(s->q, &first, s->from, s->tile, &s->totals[count]);
      s->tiles[count++] = 1;
    }
  }
  if (status == GR_OK && rest < s->high) {
    const gr_scan_part part = {
        .job = rest_job(s), .first = rest, .totals = s->totals, .tiles = s->tiles, .count = count};
    status = s->cpu->scan_part(s->q, &part);
  }
  return gr_fail_from(s->c, s->q, status, "scan", 0);
}

/* Room for everything, what comes over borders, the totals of all, and then the results. */
static gr_status scan_part(scanning *s, gr_status mine) {
  gr_context *c = s->c;
  gr_comm *comm = c->comm;
  const int borders = s->ordered && gr_has_borders(comm->starts, comm->size, s->tile);
  int64_t total = 0, count = 1;
  for (int r = 0; r < comm->size; r++) {
    const int64_t nodes = nodes_of(s, r), bytes = 8 + 8 * nodes;
    comm->lengths[gr_ranks_peer(comm, r)] = bytes;
    total += bytes;
    count += nodes;
  }
  const int64_t sizes[] = {comm->lengths[comm->rank],
                           total,
                           borders ? s->tile * gr_size(s->job.dtype) : 0,
                           borders ? s->tile * gr_size(s->job.out_dtype) : 0,
                           count * (int64_t)sizeof *s->totals,
                           count * 8};
  int64_t at[7] = {0};
  for (int k = 0; k < 6; k++) at[k + 1] = at[k] + (sizes[k] + 63) / 64 * 64;
  char *block = mine == GR_OK ? malloc((size_t)at[6]) : NULL;
  if (mine == GR_OK && !block) mine = gr_fail(c, GR_NO_MEMORY, "out of memory: %lld bytes", (long long)at[6]);
  s->message = block + at[0];
  s->all = block + at[1];
  s->joined = block + at[2];
  s->results = block + at[3];
  s->totals = (gr_acc *)(block + at[4]);
  s->tiles = (int64_t *)(block + at[5]);
  gr_status status =
      borders ? gr_ranks_borders_of(c, s->job.dtype, s->job.a, s->tile, 1, &s->before, mine) : gr_ranks_agree(c, mine);
  if (status == GR_OK) {
    if (s->from < s->low)
      gr_ranks_join(&s->job.a, gr_size(s->job.dtype), s->before, s->from, s->low, rest_of(s), s->joined);
    const gr_status own = make_totals(s);
    status = gr_ranks_moved(c, comm->table->gather_parts(comm->handle, s->message, s->all, comm->lengths));
    const int64_t before = status == GR_OK ? take_totals(s) : 0;
    if (before < 0) status = gr_ranks_agree(c, own);
    if (status == GR_OK) status = gr_ranks_agree(c, write_part(s, before)); /* which may be interrupted */
  }
  free(s->before);
  free(block);
  return status;
}

gr_status gr_ranks_scan(gr_context *c, gr_op op, const gr_array *a, gr_array *out, int exclusive, int reverse) {
  char text[96];
  gr_scan_job *job;
  scanning s = {.c = c, .q = a->storage->queue, .cpu = c->host->cpu()};
  s.job = (gr_scan_job){
      .op = op, .dtype = a->dtype, .out_dtype = out->dtype, .n = a->n, .count = 1, .exclusive = exclusive};
  job = &s.job;
  snprintf(text, sizeof text, "scan of %s of %s%s%s", gr_ops[op].name, gr_dtypes[a->dtype].name,
           exclusive ? ", exclusive" : "", reverse ? ", reverse" : "");
  s.ordered = gr_is_float(a->dtype) && (op == GR_OP_sum || op == GR_OP_prod);
  s.on_device =
      !s.ordered && s.q->backend->separate && s.q->backend->states && !s.q->lost && out->storage->queue == s.q;
  const gr_side side = s.on_device ? GR_DEVSIDE : GR_HOST;
  gr_status mine = gr_array_read(a, side, &job->a);
  if (mine == GR_OK) mine = gr_array_write(out, side, 1, &job->out);
  gr_status status = gr_ranks_meet(c, text, a->n, 0, mine);
  if (status != GR_OK) return status;
  if (reverse) gr_ranks_mirror(c);
  if (reverse && s.on_device) {
    job->reverse = 1;
  } else if (reverse) {
    if (a->n) {
      job->a.data = (const char *)job->a.data + (a->n - 1) * job->a.stride;
      job->out.data = (const char *)job->out.data + (a->n - 1) * job->out.stride;
    }
    job->a.stride = -job->a.stride;
    job->out.stride = -job->out.stride;
  }
  s.own = gr_ranks_own(c->comm);
  s.low = gr_ranks_before(c);
  s.high = s.low + a->n;
  s.tile = GR_SCAN_TILE;
  s.most = GR_SCAN_TILES;
  s.from = s.ordered && a->n ? s.low / s.tile * s.tile : s.low;
  return scan_part(&s, GR_OK);
}
