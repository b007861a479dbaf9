#include "src/core/lookup.h"

#include "kernels/numerics/fixed.h"
#include "src/core/fixed.h"
#include "src/core/ops.h"
#include "src/core/word.h"

/* The failure for element k of index, which is no position. */
static gr_status no_position(gr_context *c, const gr_array *a, const gr_array *index, int64_t k) {
  gr_array one = *index; /* for this look alone */
  const long long n = a->n;
  gr_vec v;
  one.offset += k * index->stride;
  one.n = 1;
  gr_status status = gr_array_read(&one, GR_HOST, &v);
  if (status != GR_OK) return status;
  const long long got = gr_element_get(index->dtype, v.data).v[0].i;
  if (!n) return gr_fail(c, GR_BAD, "element %lld is %lld, but the array has no positions", (long long)k + 1, got);
  return gr_fail(c, GR_BAD, "element %lld: position from 1 to %lld, or -%lld to -1, expected, got %lld",
                 (long long)k + 1, n, n, got);
}

static gr_status describe(const gr_array *a, const gr_array *index, gr_lookup_job *job) {
  *job = (gr_lookup_job){.dtype = a->dtype, .positions = index->dtype, .n = index->n, .length = a->n};
  return gr_array_read(index, gr_kernel_side(index->storage), &job->index);
}

/* Runs the job, whose word on positions comes to an array of its own, which is the caller's even if this fails. */
static gr_status begin_look(gr_context *c, const gr_array *index, gr_lookup_job *job, const char *name, gr_array *bad,
                            gr_vec *word) {
  gr_queue *q = index->storage->queue;
  gr_status status = gr_array_make_open(c, index, bad, GR_I64, 1, gr_kernel_side(index->storage), word);
  job->bad = (int64_t *)(uintptr_t)word->data;
  if (status == GR_OK) status = gr_fail_from(c, q, q->backend->lookup(q, job), name, 0);
  job->bad = NULL;
  return status;
}

/* Runs the job, and waits to hear whether all of index are positions; *rising: each is known to be above the last. */
static gr_status run_checked(gr_context *c, const gr_array *a, const gr_array *index, gr_lookup_job *job,
                             const char *name, int *rising) {
  gr_array bad = {0};
  gr_vec v = {0};
  gr_status status = begin_look(c, index, job, name, &bad, &v);
  if (status == GR_OK) status = gr_array_read(&bad, GR_HOST, &v);
  const int64_t first = status == GR_OK ? *(const int64_t *)v.data : job->n;
  *rising = first > job->n;
  gr_array_release(&bad);
  return status == GR_OK && first < job->n ? no_position(c, a, index, first) : status;
}

/* The job, ready to run. partly: it may be that nothing is written. */
static gr_status prepare_take(gr_context *c, const gr_array *a, const gr_array *index, gr_array *out, int partly,
                              gr_lookup_job *job) {
  gr_status status = describe(a, index, job);
  if (status == GR_OK) status = gr_array_read(a, gr_kernel_side(a->storage), &job->a);
  if (status == GR_OK && !a->n && job->n) return no_position(c, a, index, 0);
  return status == GR_OK ? gr_array_write(out, gr_kernel_side(out->storage), !partly, &job->out) : status;
}

gr_status gr_take_known(gr_context *c, const gr_array *a, const gr_array *index, gr_array *out) {
  gr_queue *q = a->storage->queue;
  gr_lookup_job job;
  gr_status status = prepare_take(c, a, index, out, 0, &job);
  if (status != GR_OK || job.n == 0) return status;
  return gr_fail_from(c, q, q->backend->lookup(q, &job), "take", 0);
}

/* Elements follow the look at once, and none is written if it says so, which the host hears meanwhile. */
static gr_status take_behind(gr_context *c, const gr_array *a, const gr_array *index, gr_array *out) {
  gr_queue *q = a->storage->queue;
  gr_ticket ticket = {0};
  gr_array bad = {0};
  gr_vec word = {0};
  gr_lookup_job job;
  int64_t first;
  gr_status status = prepare_take(c, a, index, out, 1, &job);
  gr_lookup_job look = job;
  look.out.data = NULL;
  if (status == GR_OK) status = begin_look(c, index, &look, "take", &bad, &word);
  if (status == GR_OK) status = gr_word_ask(c, q, word.data, &ticket, "take");
  job.seen = word.data;
  if (status == GR_OK) status = gr_fail_from(c, q, q->backend->lookup(q, &job), "take", 0);
  status = gr_word_hear(c, q, &ticket, status, "take", &first);
  gr_array_release(&bad);
  return status == GR_OK && first < index->n ? no_position(c, a, index, first) : status;
}

gr_status gr_take(gr_context *c, const gr_array *a, const gr_array *index, gr_array *out, int fresh) {
  gr_lookup_job job;
  int rising;
  if (index->n && !fresh && a->storage->queue->backend->separate && gr_storage_is_there(out->storage))
    return take_behind(c, a, index, out);
  gr_status status = fresh ? prepare_take(c, a, index, out, 0, &job) : describe(a, index, &job);
  if (status != GR_OK || index->n == 0) return status;
  status = run_checked(c, a, index, &job, "take", &rising);
  return status == GR_OK && !fresh ? gr_take_known(c, a, index, out) : status;
}

/* ---- put ---- */

/* The unit of sums, and memory for what the kernels keep beside the elements. */
static gr_status prepare(gr_context *c, const gr_array *a, gr_term values, gr_put_job *job, gr_array *state, int *arg) {
  const int sums = job->op == GR_PUT_add && gr_is_float(job->dtype), kept = sums && !job->rising;
  /* Where kernels go in order, the last value is the last one written; where places rise there is only one. */
  const int claims = job->op == GR_PUT_set && values.array && !job->rising && a->storage->queue->backend->separate;
  gr_status status = GR_OK;
  gr_vec v = {0};
  *arg = 3;
  if (sums && values.array) status = gr_unit_of(c, values.array, "finite values", &job->unit);
  if (sums && !values.array) {
    const double x = gr_element_get(job->dtype, &values.value).v[0].f;
    int exponent;
    if (x - x != 0) return gr_fail(c, GR_BAD, "finite value expected, got %s", x == x ? "an infinity" : "a NaN");
    frexp(x, &exponent);
    job->unit = gr_fixed_unit(exponent, job->n);
  }
  if (status != GR_OK) return status;
  *arg = 1;
  if (!kept && !claims) return GR_OK;
  const gr_dtype t = claims && job->n < UINT32_MAX ? GR_U32 : GR_I64;
  status = gr_array_make_open(c, a, state, t, kept ? 2 * a->n : a->n, gr_kernel_side(a->storage), &v);
  job->state = (void *)(uintptr_t)v.data;
  return status;
}

/*
** All of index are positions of a; rising: each is above the one before. Or so it is where the word at `seen` says so,
** and else nothing is done.
*/
static gr_status put(gr_context *c, gr_put_op op, gr_array *a, const gr_array *index, gr_term values, int rising,
                     const int64_t *seen, int *arg) {
  gr_queue *q = a->storage->queue;
  const gr_side side = gr_kernel_side(a->storage);
  gr_put_job job = {.op = op,
                    .dtype = a->dtype,
                    .positions = index->dtype,
                    .n = index->n,
                    .length = a->n,
                    .rising = rising,
                    .seen = seen};
  gr_array state = {0};
  job.values.value = values.value;
  gr_status status = prepare(c, a, values, &job, &state, arg);
  if (status == GR_OK) status = gr_array_read(index, side, &job.index);
  if (status == GR_OK && values.array) status = gr_array_read(values.array, side, &job.values.vec);
  if (status == GR_OK) status = gr_array_write(a, side, 0, &job.a);
  if (status == GR_OK) status = gr_fail_from(c, q, q->backend->put(q, &job), "put", 0);
  gr_array_release(&state);
  return status;
}

/*
** The values follow the look at once, for positions that rise, and the word of it comes while they are written. If
** positions do not rise nothing has been written.
*/
static gr_status put_behind(gr_context *c, gr_put_op op, gr_array *a, const gr_array *index, gr_term values,
                            gr_lookup_job *job, int *arg) {
  gr_queue *q = index->storage->queue;
  gr_ticket ticket = {0};
  gr_array bad = {0};
  gr_vec word = {0};
  int64_t first;
  gr_status status = begin_look(c, index, job, "put", &bad, &word);
  if (status == GR_OK) status = gr_word_ask(c, q, word.data, &ticket, "put");
  if (status == GR_OK) status = put(c, op, a, index, values, 1, word.data, arg);
  status = gr_word_hear(c, q, &ticket, status, "put", &first);
  gr_array_release(&bad);
  if (status != GR_OK) return status;
  *arg = 2;
  if (first < index->n) return no_position(c, a, index, first);
  return first > index->n ? GR_OK : put(c, op, a, index, values, 0, NULL, arg);
}

gr_status gr_put(gr_context *c, gr_put_op op, gr_array *a, const gr_array *index, gr_term values, int *arg) {
  /* Sums of floats have a unit that the host must know, which may be at fault only if positions are not. */
  const int first = !index->storage->queue->backend->separate || (op == GR_PUT_add && gr_is_float(a->dtype));
  gr_lookup_job job;
  int rising;
  *arg = 2;
  gr_status status = describe(a, index, &job);
  if (status != GR_OK || index->n == 0) return status;
  if (!first) return put_behind(c, op, a, index, values, &job, arg);
  status = run_checked(c, a, index, &job, "put", &rising);
  return status == GR_OK ? put(c, op, a, index, values, rising, NULL, arg) : status;
}

gr_status gr_positions(gr_context *c, const gr_array *mask, int64_t kept, gr_array *out) {
  gr_array ones = {0}, all = {0};
  gr_status status = gr_array_make_beside(c, mask, &ones, GR_U8, mask->n);
  if (status == GR_OK) status = gr_fill(c, &ones, gr_value_i(1));
  if (status == GR_OK) status = gr_array_make_beside(c, mask, &all, GR_I64, mask->n);
  if (status == GR_OK) status = gr_scan(c, GR_OP_sum, &ones, &all, 0, 0);
  gr_array_release(&ones);
  if (status == GR_OK) status = gr_array_make_beside(c, mask, out, GR_I64, kept);
  if (status == GR_OK) status = gr_compact(c, &all, mask, out);
  gr_array_release(&all);
  return status;
}

gr_status gr_put_masked(gr_context *c, gr_array *a, const gr_array *mask, gr_term values, int *arg) {
  gr_array index = {0};
  gr_value kept;
  *arg = 2;
  if (!values.array) {
    const gr_map_call call = {.op = GR_MAP_where, .dtype = a->dtype, .a = values, .b = {a, 0}, .c = {mask, 0}};
    return gr_map_arrays(c, &call, a);
  }
  gr_status status = gr_reduce_all(c, GR_OP_count, mask, NULL, 0, &kept);
  if (status != GR_OK) return status;
  *arg = 3;
  if (values.array->n != kept.v[0].i)
    return gr_fail(c, GR_BAD, "length %lld, of what the mask marks, expected, got %lld", (long long)kept.v[0].i,
                   (long long)values.array->n);
  if (values.array->n == 0) return GR_OK;
  status = gr_positions(c, mask, kept.v[0].i, &index);
  if (status == GR_OK) status = put(c, GR_PUT_set, a, &index, values, 1, NULL, arg);
  gr_array_release(&index);
  return status;
}
