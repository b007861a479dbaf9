#include "src/core/ops.h"

#include <stdlib.h>
#include "src/core/later.h"
#include "src/core/ranks/columns.h"
#include "src/core/ranks/meet.h"
#include "src/core/ranks/reduce.h"
#include "src/core/ranks/vectors.h"

int64_t gr_shape_results(gr_shape s, int64_t n) {
  if (s.segments) return s.segments->count;
  return s.rows == 0 ? 1 : s.axis == 1 ? n / s.rows : s.rows;
}
int64_t gr_shape_length(gr_shape s, int64_t n) {
  if (s.segments) return s.segments->shortest;
  return s.rows == 0 ? n : s.axis == 1 ? s.rows : n / s.rows;
}

gr_array gr_shape_vector(gr_shape s, const gr_array *a, int64_t k) {
  int64_t n = s.rows ? a->n / s.rows : a->n;
  if (!a->n) return gr_array_part(a, 0, 1, 0);
  const int64_t from = s.segments ? gr_segment_in(s.segments, k, &n) : k * n;
  return s.rows && s.axis == 1 ? gr_array_part(a, k, n, s.rows) : gr_array_part(a, from, 1, n);
}

/* ---- reductions ---- */

/* Cut a vector of all n elements into rows or columns. */
static void cut(gr_vec *v, gr_shape s, int64_t n) {
  int64_t columns = s.rows ? n / s.rows : n, along = v->stride;
  if (s.rows == 0) return;
  v->stride = s.axis == 1 ? along * columns : along;
  v->step = s.axis == 1 ? along : along * columns;
}

void gr_shape_cut(gr_shape s, const gr_array *a, const gr_array *b, gr_reduce_job *job) {
  job->n = gr_shape_length(s, a->n);
  job->count = gr_shape_results(s, a->n);
  cut(&job->a, s, a->n);
  if (b && (s.pairs || s.rows == 0)) cut(&job->b, s, b->n);
}

gr_status gr_shape_read(gr_shape s, gr_side side, const gr_array *a, const gr_array *b, gr_vec *va, gr_vec *vb) {
  gr_status status = gr_array_read(a, side, va);
  if (status == GR_OK && b) status = gr_array_read(b, side, vb);
  if (status != GR_OK) return status;
  cut(va, s, a->n);
  if (b && (s.pairs || s.rows == 0)) cut(vb, s, b->n);
  return GR_OK;
}

void gr_tell(gr_op op, gr_shape s, const gr_array *a, const gr_array *b, double ddof, int exact) {
  const gr_context *c = a->storage->context; /* of a released array there is none */
  if (!c || !c->trace) return;
  c->trace(&(gr_reduction){.op = op, .shape = s, .a = a, .b = b, .ddof = ddof, .exact = exact});
}

static gr_status reduce_job(gr_op op, const gr_array *a, const gr_array *b, double ddof, gr_shape s,
                            gr_reduce_job *job) {
  *job = gr_reduce_job_new(op, a->dtype, gr_shape_length(s, a->n), ddof);
  job->count = gr_shape_results(s, a->n);
  return gr_shape_read(s, gr_kernel_side(a->storage), a, b, &job->a, &job->b);
}

gr_status gr_reduce_job_of(gr_op op, const gr_array *a, const gr_array *b, double ddof, gr_reduce_job *job) {
  const gr_shape whole = {.axis = 2};
  gr_tell(op, whole, a, b, ddof, 0);
  return reduce_job(op, a, b, ddof, whole, job);
}

static gr_status run_one(gr_context *c, gr_queue *q, gr_side side, const gr_reduce_job *job, gr_value *r) {
  uint64_t words[2];
  if (c->comm) return gr_ranks_number(c, q, side, job, GR_OK, r);
  gr_status status = q->backend->reduce(q, job, words);
  if (status != GR_OK) return gr_fail_from(c, q, status, gr_ops[job->op].name, 0);
  memcpy(r->v, words, sizeof words);
  return GR_OK;
}

int gr_may_overflow(gr_op op, gr_dtype t) { return t == GR_F64 && (op == GR_OP_norm2 || op == GR_OP_cosine); }

/* A power of two. */
double gr_scale_near_one(double largest) {
  int exponent;
  if (!(largest > 0 && largest <= 0x1.fffffffffffffp+1023)) return 0; /* zero, infinite or NaN */
  frexp(largest, &exponent);
  return ldexp(1.0, -exponent < 1000 ? -exponent : 1000); /* the smallest subnormals stay below 1: good enough */
}

/* Whether a vector's largest magnitude tells the result: of zeros, or of something infinite, a cosine has none. */
static int is_settled(gr_op op, double largest, gr_value *r) {
  if (gr_scale_near_one(largest) != 0) return 0;
  *r = gr_value_f(op == GR_OP_norm2 ? largest : gr_nan());
  return 1;
}

/* norm2 or cosine of f64 whose squares leave the safe range: find the scales, then once more. side: of the vectors. */
static gr_status run_scaled(gr_context *c, gr_queue *q, gr_side side, gr_reduce_job *job, gr_value *r) {
  const int cosine = job->op == GR_OP_cosine;
  gr_reduce_job probe = *job;
  probe.op = GR_OP_norminf;
  gr_status status = run_one(c, q, side, &probe, r);
  if (status != GR_OK || is_settled(job->op, r->v[0].f, r)) return status;
  job->scale_a = gr_scale_near_one(r->v[0].f);
  if (cosine) {
    probe.a = job->b;
    status = run_one(c, q, side, &probe, r);
    if (status != GR_OK || is_settled(job->op, r->v[0].f, r)) return status;
    job->scale_b = gr_scale_near_one(r->v[0].f);
  }
  status = run_one(c, q, side, job, r);
  if (!cosine) r->v[0].f /= job->scale_a;
  return status;
}

static int lies_here(const gr_array *a) { return a->storage->full[GR_HOST] && a->stride == gr_size_of(a->dtype); }

int gr_reduce_is_small(const gr_array *a, const gr_array *b) {
  return a->storage->queue->backend->small && a->n >= 1 && a->n <= GR_SMALL && lies_here(a) && (!b || lies_here(b));
}

int gr_reduce_small(gr_op op, const gr_array *a, const gr_array *b, gr_value *r) {
  gr_queue *q = a->storage->queue;
  if (!q->small || a->n < 1 || a->n > GR_SMALL || !lies_here(a) || (b && !lies_here(b))) return 0;
  return q->small(q, op, a->dtype, a->storage->memory[GR_HOST] + a->offset,
                  b ? b->storage->memory[GR_HOST] + b->offset : NULL, a->n, r) == GR_OK &&
         !(gr_may_overflow(op, a->dtype) && r->v[1].f == 0);
}

/*
** Where a rank reduces its part: on the device that has it, if that has states; what is little, and here, on the host.
** b: the second operand, or NULL.
*/
static gr_side side_over_ranks(const gr_array *a, const gr_array *b) {
  const gr_queue *q = a->storage->queue;
  if (!q->backend->separate || !q->backend->states || q->lost || (b && b->storage->queue != q)) return GR_HOST;
  if (a->n <= GR_SMALL && lies_here(a) && (!b || lies_here(b))) return GR_HOST;
  return GR_DEVSIDE;
}

/* An operand there, of a device dense: then `made`, which the caller lets go of, has its elements. */
static gr_status read_part(gr_context *c, const gr_array *a, gr_side side, gr_array *made, gr_vec *v) {
  *made = (gr_array){0};
  if (side == GR_HOST || gr_array_dense(a)) return gr_array_read(a, side, v);
  gr_status status = gr_array_make_beside(c, a, made, a->dtype, a->n);
  if (status == GR_OK) status = gr_copy(c, a, made);
  return status == GR_OK ? gr_array_read(made, side, v) : status;
}

/* Its part of a reduction over ranks; mine: whether there are operands at all. */
static gr_status ranked_job(gr_context *c, const gr_ranks_wanted *x, gr_status mine, gr_ranks_item *item,
                            gr_array made[2]) {
  const gr_array *a = x->a, *b = x->b;
  *item = (gr_ranks_item){.job = {.op = x->op}, .side = GR_HOST};
  made[0] = made[1] = (gr_array){0};
  if (mine != GR_OK) return mine; /* some operands may never have been made */
  item->job = gr_reduce_job_new(x->op, a->dtype, a->n, x->ddof);
  item->queue = a->storage->queue;
  if (gr_array_released(a) || (b && gr_array_released(b))) return gr_fail(c, GR_BAD, "array has been released");
  item->side = side_over_ranks(a, b);
  gr_status status = read_part(c, a, item->side, &made[0], &item->job.a);
  return status == GR_OK && b ? read_part(c, b, item->side, &made[1], &item->job.b) : status;
}

gr_status gr_reduce_over_ranks(gr_context *c, gr_op op, const gr_array *a, const gr_array *b, double ddof,
                               gr_status mine, gr_value *r) {
  const gr_ranks_wanted x = {.op = op, .a = a, .b = b, .ddof = ddof};
  gr_ranks_item item;
  gr_array made[2];
  gr_status status = ranked_job(c, &x, mine, &item, made);
  status = gr_ranks_number(c, item.queue, item.side, &item.job, status, r);
  if (status == GR_OK && gr_may_overflow(op, a->dtype) && r->v[1].f == 0 && gr_ranks_all(c))
    status = run_scaled(c, item.queue, item.side, &item.job, r);
  for (int k = 0; k < 2; k++) gr_array_release(&made[k]);
  r->is_float = gr_is_float(gr_result_dtype(op, a->dtype));
  return status;
}

gr_status gr_reduce_ranked(gr_context *c, gr_ranks_wanted *list, int count, gr_status mine) {
  gr_ranks_item items[GR_RANKED_MOST];
  gr_array made[GR_RANKED_MOST][2];
  gr_status status = mine;
  for (int k = 0; k < count; k++) status = ranked_job(c, &list[k], status, &items[k], made[k]);
  status = gr_ranks_numbers(c, items, count, status);
  for (int k = 0; k < 2 * count; k++) gr_array_release(&made[k / 2][k % 2]);
  for (int k = 0; k < count && status == GR_OK; k++) {
    const gr_dtype t = list[k].a->dtype;
    list[k].value = items[k].value;
    list[k].rank = items[k].rank;
    if (gr_may_overflow(list[k].op, t) && list[k].value.v[1].f == 0 && items[k].n)
      status = gr_reduce_over_ranks(c, list[k].op, list[k].a, list[k].b, 0, GR_OK, &list[k].value);
    list[k].value.is_float = gr_is_float(gr_result_dtype(list[k].op, t));
  }
  return status;
}

gr_status gr_reduce_all(gr_context *c, gr_op op, const gr_array *a, const gr_array *b, double ddof, gr_value *r) {
  gr_reduce_job job;
  gr_queue *q = a->storage->queue;
  if (c->comm) return gr_reduce_over_ranks(c, op, a, b, ddof, GR_OK, r);
  if (ddof == 0 && gr_reduce_small(op, a, b, r)) return GR_OK;
  gr_status status = gr_reduce_job_of(op, a, b, ddof, &job);
  const gr_side side = gr_kernel_side(a->storage);
  if (status == GR_OK) status = run_one(c, q, side, &job, r);
  if (status == GR_OK && gr_may_overflow(op, a->dtype) && r->v[1].f == 0 && a->n)
    status = run_scaled(c, q, side, &job, r);
  r->is_float = gr_is_float(gr_result_dtype(op, a->dtype));
  return status;
}

/* The job of vector k alone. */
static gr_reduce_job one_of(const gr_reduce_job *job, gr_shape s, int64_t k) {
  gr_reduce_job one = *job;
  int64_t a = k * job->a.step, b = k * job->b.step;
  if (s.segments) {
    const gr_array *offsets = s.segments->offsets; /* gr_segments_of has read them on the host */
    one.offsets = offsets->storage->memory[GR_HOST] + offsets->offset;
    one.offsets_are_i32 = offsets->dtype == GR_I32;
    int64_t from = gr_segment(&one, k, &one.n);
    a = from * job->a.stride;
    b = from * job->b.stride;
    one.offsets = NULL;
  }
  one.count = 1;
  one.a.data = (const char *)job->a.data + a;
  if (job->b.data) one.b.data = (const char *)job->b.data + b;
  return one;
}

gr_status gr_reduce_quietly(gr_context *c, gr_op op, const gr_array *a, gr_value *r) {
  void (*trace)(const gr_reduction *) = c->trace;
  c->trace = NULL;
  const gr_status status = gr_reduce_all(c, op, a, NULL, 0, r);
  c->trace = trace;
  return status;
}

/* Into dense arrays: kernels write their results next to each other. */
static gr_status run_dense(gr_context *c, gr_reduce_job *job, gr_shape s, gr_array *out, gr_array *out2) {
  gr_queue *q = out->storage->queue;
  gr_side side = gr_kernel_side(out->storage);
  gr_vec o = {0}, o2 = {0};
  gr_status status = gr_array_write(out, side, 1, &o);
  if (status == GR_OK && out2) status = gr_array_write(out2, side, 1, &o2);
  job->out = (void *)(uintptr_t)o.data;
  job->out2 = (void *)(uintptr_t)o2.data;
  job->out_dtype = out->dtype;
  if (s.segments) return status == GR_OK ? gr_segments_run(c, q, job, s.segments) : status;
  return gr_later_do(c, q, status, GR_LATER_reduce, job, job->count * (job->n + 1), gr_ops[job->op].name);
}

static gr_status run_each(gr_context *c, gr_reduce_job *job, gr_shape s, gr_array *out, gr_array *out2) {
  gr_array dense = {0};
  if (gr_array_dense(out)) return run_dense(c, job, s, out, out2);
  gr_status status = gr_array_make_beside(c, out, &dense, out->dtype, out->n);
  if (status == GR_OK) status = run_dense(c, job, s, &dense, out2);
  if (status == GR_OK) status = gr_copy(c, &dense, out);
  gr_array_release(&dense);
  return status;
}

/* The largest magnitude of each vector, for the host. */
static gr_status largest_of_each(gr_context *c, gr_shape s, const gr_array *a, int64_t n, gr_array *out, gr_vec *v) {
  void (*trace)(const gr_reduction *) = c->trace;
  c->trace = NULL;
  gr_status status = gr_array_make_beside(c, a, out, GR_F64, n);
  if (status == GR_OK) status = gr_reduce_each(c, GR_OP_norminf, s, a, NULL, 0, out, NULL);
  c->trace = trace;
  return status == GR_OK ? gr_array_read(out, GR_HOST, v) : status;
}

/*
** One vector after the other. Those of zeros alone have squares out of the safe range, too, and there may be many:
** after FEW_UNSAFE the largest magnitudes of all vectors are made at once, which tell the result of these, and of
** vectors with an infinity or NaN.
*/
#define FEW_UNSAFE 8
gr_status gr_reduce_redo(gr_context *c, gr_op op, gr_shape s, const gr_array *a, const gr_array *b, gr_array *out,
                         gr_array *flags) {
  const gr_array *inputs[2] = {a, b && b->n == a->n ? b : NULL};
  gr_array largest[2] = {{0}, {0}};
  gr_vec f, o, most[2] = {{0}, {0}};
  gr_reduce_job job;
  gr_value r;
  int64_t unsafe = 0;
  gr_status status = reduce_job(op, a, b, 0, s, &job);
  if (status == GR_OK) status = gr_reduce_quietly(c, GR_OP_all, flags, &r);
  if (status != GR_OK || r.v[0].i) return status;
  if ((status = gr_array_read(flags, GR_HOST, &f)) != GR_OK) return status;
  if ((status = gr_array_write(out, GR_HOST, 0, &o)) != GR_OK) return status;
  gr_stop_begin(&c->stop);
  for (int64_t k = 0; k < job.count && status == GR_OK; k++) {
    if (k % 256 == 0 && (status = gr_context_look(c)) != GR_OK) break;
    if (gr_element_get(flags->dtype, (const char *)f.data + k * f.stride).v[0].f != 0) continue;
    gr_reduce_job one = one_of(&job, s, k);
    if (one.n == 0) continue;
    int settled = 0;
    if (unsafe++ == FEW_UNSAFE) {
      for (int i = 0; i < 2 && inputs[i] && status == GR_OK; i++)
        status = largest_of_each(c, s, inputs[i], job.count, &largest[i], &most[i]);
      /* Again: where an input is another part of out's storage, the device has just got all of it once more. */
      if (status == GR_OK) status = gr_array_write(out, GR_HOST, 0, &o);
    }
    for (int i = 0; i < 2 && most[i].data && status == GR_OK && !settled; i++)
      settled = is_settled(op, ((const double *)most[i].data)[k], &r);
    if (status == GR_OK && !settled)
      status = run_scaled(c, out->storage->queue, gr_kernel_side(out->storage), &one, &r);
    if (status == GR_OK) gr_element_put_f(out->dtype, (char *)(uintptr_t)o.data + k * o.stride, r.v[0].f);
  }
  gr_array_release(&largest[0]);
  gr_array_release(&largest[1]);
  return status;
}

/* Into an array that is not what is reduced: of that some vectors may be read again when results are there. */
static gr_status reduce_apart(gr_context *c, gr_op op, gr_shape s, const gr_array *a, const gr_array *b,
                              gr_array *out) {
  gr_array apart = {0};
  gr_status status = gr_array_make_beside(c, out, &apart, out->dtype, out->n);
  if (status == GR_OK) status = gr_reduce_each(c, op, s, a, b, 0, &apart, NULL);
  if (status == GR_OK) status = gr_copy(c, &apart, out);
  gr_array_release(&apart);
  return status;
}

gr_status gr_reduce_each(gr_context *c, gr_op op, gr_shape s, const gr_array *a, const gr_array *b, double ddof,
                         gr_array *out, gr_array *out2) {
  gr_reduce_job job;
  gr_array flags = {0};
  if (gr_may_overflow(op, a->dtype) && (gr_array_overlap(out, a) || (b && gr_array_overlap(out, b))))
    return reduce_apart(c, op, s, a, b, out);
  gr_tell(op, s, a, b, ddof, 0);
  if (gr_is_only_place(op, s, a->n)) return gr_array_released(a) ? GR_RELEASED : gr_fill(c, out, gr_value_i(1));
  if (!s.segments && !gr_may_overflow(op, a->dtype) && gr_array_dense(out)) gr_later_open(c, a->storage->queue);
  gr_status status = reduce_job(op, a, b, ddof, s, &job);
  if (status != GR_OK || job.count == 0) return gr_later_shut(c), status;
  if (!gr_may_overflow(op, a->dtype)) return run_each(c, &job, s, out, out2);
  status = gr_array_make_beside(c, out, &flags, out->dtype, job.count);
  if (status == GR_OK) status = run_each(c, &job, s, out, &flags);
  if (status == GR_OK) status = gr_reduce_redo(c, op, s, a, b, out, &flags);
  gr_array_release(&flags);
  return status;
}

/*
** A device reduces columns only where bringing the matrix to the host would take longer: a launch for each of so many
** nodes, whose results the host waits for, or, where columns go one by one, for each of theirs.
*/
#define BYTES_OF_A_LAUNCH (128 << 10) /* that are brought meanwhile: 2.5 us at 50 GB/s */
#define BYTES_OF_A_WAIT (768 << 10)
#define NODES_OF_A_PART 8
static gr_side columns_side(const gr_array *a, const gr_array *b, gr_shape s, const gr_reduce_job *job) {
  const int64_t bytes = a->n * gr_size(a->dtype) / NODES_OF_A_PART;
  const int at_once = gr_ranks_at_once(job->op, a->dtype), cut_alike = !b || s.pairs;
  if (!gr_array_dense(a) || (b && !gr_array_dense(b)) || !cut_alike) return GR_HOST;
  if (bytes < (at_once ? BYTES_OF_A_WAIT : BYTES_OF_A_LAUNCH * job->count)) return GR_HOST;
  return side_over_ranks(a, b);
}

gr_status gr_reduce_ranks(gr_context *c, gr_op op, gr_shape s, const gr_array *a, const gr_array *b, double ddof,
                          gr_dtype t, gr_array *out, gr_array *out2) {
  gr_reduce_job job = gr_reduce_job_new(op, a->dtype, a->n ? gr_shape_length(s, a->n) : 0, ddof);
  gr_queue *q = a->storage->queue;
  gr_acc *states = NULL;
  gr_array *const outs[2] = {out, out2};
  const gr_dtype types[2] = {t, t};
  gr_vec o[2];
  int64_t n, redone = 0;
  job.count = gr_shape_results(s, a->n);
  const gr_side side = columns_side(a, b, s, &job);
  gr_status status = gr_shape_read(s, side, a, b, &job.a, &job.b);
  status = gr_ranks_vectors(c, q, side, &job, status, &states, &n);
  if (status != GR_OK) return free(states), status; /* on all ranks */
  status = gr_ranks_results(c, a, outs, types, out2 ? 2 : 1, o);
  for (int64_t k = 0; status == GR_OK && k < c->comm->width; k++) {
    gr_value r = gr_finish(op, a->dtype, states[k], n, ddof);
    if (gr_may_overflow(op, a->dtype) && r.v[1].f == 0 && n) {
      const int64_t width = c->comm->width;
      /* Columns one by one are not dense, as a device's must be. */
      if (!redone++) status = gr_ranks_agree(c, gr_shape_read(s, GR_HOST, a, b, &job.a, &job.b));
      gr_reduce_job one = one_of(&job, s, k);
      if (status == GR_OK) status = run_scaled(c, q, GR_HOST, &one, &r);
      c->comm->width = width;
    }
    for (int j = 0; j < (out2 ? 2 : 1); j++) gr_element_put(t, (char *)(uintptr_t)o[j].data + k * gr_size(t), &r, j);
  }
  free(states);
  return status;
}

/* ---- the others ---- */

gr_dtype gr_scan_dtype(gr_op op, gr_dtype t) {
  if (op == GR_OP_min || op == GR_OP_max) return t;
  return !gr_is_float(t) ? GR_I64 : t == GR_F64 ? GR_F64 : GR_F32;
}

/* Read a, get ready to write all of out, cut alike: what every job from one array to another needs. */
static gr_status map_job(gr_shape s, const gr_array *a, gr_array *out, gr_vec *from, gr_vec *to) {
  gr_status status = gr_array_read(a, gr_kernel_side(a->storage), from);
  if (status == GR_OK) status = gr_array_write(out, gr_kernel_side(out->storage), 1, to);
  cut(from, s, a->n);
  cut(to, s, a->n);
  return status;
}

/* Vectors too long for one job of all. */
static gr_status scan_one_by_one(gr_context *c, gr_op op, gr_shape s, const gr_array *a, gr_array *out, int exclusive,
                                 int reverse) {
  const int64_t count = gr_shape_results(s, a->n);
  gr_status status = GR_OK;
  gr_stop_begin(&c->stop);
  for (int64_t k = 0; k < count && status == GR_OK; k++) {
    if (k && (status = gr_context_look(c)) != GR_OK) break;
    const gr_array from = gr_shape_vector(s, a, k);
    gr_array to = gr_shape_vector(s, out, k);
    status = gr_scan(c, op, &from, &to, exclusive, reverse);
  }
  return status;
}

gr_status gr_scan_each(gr_context *c, gr_op op, gr_shape s, const gr_array *a, gr_array *out, int exclusive,
                       int reverse) {
  gr_queue *q = a->storage->queue;
  gr_scan_job job = {.op = op, .dtype = a->dtype, .out_dtype = out->dtype, .exclusive = exclusive, .reverse = reverse};
  if (c->comm) return gr_ranks_scan(c, op, a, out, exclusive, reverse);
  job.n = a->n ? gr_shape_length(s, a->n) : 0;
  job.count = gr_shape_results(s, a->n);
  if (s.rows && job.n > GR_SCAN_MOST && !q->backend->scans_long)
    return scan_one_by_one(c, op, s, a, out, exclusive, reverse);
  gr_later_open(c, q);
  gr_status status = map_job(s, a, out, &job.a, &job.out);
  return gr_later_do(c, q, status, GR_LATER_scan, &job, a->n, "scan");
}

gr_status gr_rmsnorm(gr_context *c, const gr_array *x, const gr_array *w, gr_array *out, int64_t rows, double eps) {
  gr_queue *q = x->storage->queue;
  gr_rmsnorm_job job = {.dtype = x->dtype, .n = x->n / rows, .count = rows, .eps = eps};
  gr_shape s = {.rows = rows, .axis = 2};
  gr_later_open(c, q);
  gr_status status = w ? gr_array_read(w, gr_kernel_side(w->storage), &job.w) : GR_OK;
  if (status == GR_OK) status = map_job(s, x, out, &job.x, &job.out);
  return gr_later_do(c, q, status, GR_LATER_rmsnorm, &job, x->n, "rmsnorm");
}

gr_status gr_softmax(gr_context *c, const gr_array *x, gr_array *out, int64_t rows) {
  gr_queue *q = x->storage->queue;
  gr_softmax_job job = {.dtype = x->dtype, .n = x->n / rows, .count = rows};
  gr_shape s = {.rows = rows, .axis = 2};
  gr_later_open(c, q);
  gr_status status = map_job(s, x, out, &job.x, &job.out);
  return gr_later_do(c, q, status, GR_LATER_softmax, &job, x->n, "softmax");
}

gr_status gr_equal(gr_context *c, const gr_array *a, const gr_array *b, int *equal) {
  gr_value r;
  *equal = 0;
  if (a->n != b->n || a->rows != b->rows || a->dtype != b->dtype) return GR_OK;
  gr_status status = gr_reduce_all(c, GR_OP_differ, a, b, 0, &r);
  *equal = status == GR_OK && r.v[0].i == 0;
  return status;
}
