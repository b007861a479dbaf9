#include "src/core/map.h"

#include "src/core/later.h"
#include "src/core/ops.h"
#include "src/core/word.h"

/* ---- comparisons with a number ---- */

/* A comparison of integers that holds for all of them, or for none. */
static void compare_always(gr_dtype t, gr_relation *r, uint64_t *value, int holds) {
  gr_element_put_i(t, value, gr_dtypes[t].lowest);
  *r = holds ? GR_IS_ge : GR_IS_lt;
}

/* Integers with any number: one that is none of theirs lies between two of them, or beyond all, or is NaN. */
static void compare_integers(gr_dtype t, gr_relation *relation, const gr_number *n, uint64_t *value) {
  const gr_dtype_info *d = &gr_dtypes[t];
  const gr_relation r = *relation;
  const int less = r == GR_IS_lt || r == GR_IS_le, more = r == GR_IS_gt || r == GR_IS_ge;
  const double x = n->f;
  const int integer = n->whole, wide = !integer && x == floor(x);
  /* x rounded down, where it has 64 bits */
  const int64_t whole = integer ? n->i : x >= -0x1p63 && x < 0x1p63 ? (int64_t)floor(x) : 0;
  if (x != x) compare_always(t, relation, value, r == GR_IS_ne);
  else if (wide ? x < 0 : whole < d->lowest) compare_always(t, relation, value, more || r == GR_IS_ne);
  else if (wide || whole > d->highest || (!integer && whole == d->highest))
    compare_always(t, relation, value, less || r == GR_IS_ne);
  else if (!integer && !less && !more) compare_always(t, relation, value, r == GR_IS_ne);
  else {
    if (!integer) *relation = less ? GR_IS_le : GR_IS_gt;
    gr_element_put_i(t, value, whole);
  }
}

/* Floats with a number that is finite, but beyond their largest: infinities lie still further out. */
static void compare_beyond(gr_dtype t, gr_relation *relation, int below, uint64_t *value) {
  const gr_relation r = *relation;
  double bound = below ? -INFINITY : INFINITY;
  if (r == GR_IS_eq || r == GR_IS_ne) bound = gr_nan();
  else if (r == GR_IS_lt || r == GR_IS_le) *relation = below ? GR_IS_le : GR_IS_lt;
  else *relation = below ? GR_IS_gt : GR_IS_ge;
  gr_element_put_f(t, value, bound);
}

const char *gr_compare_number(gr_dtype t, gr_relation *r, const gr_number *x, uint64_t *value, char text[96]) {
  if (!gr_is_float(t)) compare_integers(t, r, x, value);
  else if (x->f - x->f == 0 && !gr_float_fits(t, x->f)) compare_beyond(t, r, x->f < 0, value);
  else return gr_element_store(t, value, x, text);
  return NULL;
}

/* ---- calls ---- */

static gr_status bring(const gr_term *t, gr_operand *o) {
  o->value = t->value;
  return t->array ? gr_array_read(t->array, gr_kernel_side(t->array->storage), &o->vec) : GR_OK;
}

/*
** For devices, floats to the power of 2 or -1 by the operator that is quicker, with the bits of pow. The CPU's loops of
** pow look for these and more (power in kernels/cpu/map/map.h).
*/
static gr_map_call simpler(const gr_map_call *call) {
  gr_map_call own = *call;
  const int by_number = call->op == GR_MAP_pow && call->a.array && !call->b.array && gr_is_float(call->dtype);
  const double y = by_number ? gr_element_get(call->dtype, &call->b.value).v[0].f : 0;
  if (y == 2) own.op = GR_MAP_square;
  if (y == -1) {
    own.op = GR_MAP_div;
    own.b = call->a;
    own.a = (gr_term){NULL, 0};
    gr_element_put_f(call->dtype, &own.a.value, 1);
  }
  return own;
}

int64_t gr_map_rows(const gr_map_call *call) {
  const gr_array *all[] = {call->a.array, call->b.array, call->c.array};
  for (int k = 0; k < 3; k++)
    if (all[k] && all[k]->rows) return all[k]->rows;
  return 0;
}

gr_status gr_map_arrays(gr_context *c, const gr_map_call *asked, gr_array *out) {
  static const char *const names[] = {
#define GR_X(name, operands, f, i, real, whole) #name,
    GR_MAPS(GR_X)
#undef GR_X
  };
  gr_queue *q = out->storage->queue;
  const gr_map_call call = simpler(asked);
  gr_map_job job = {.op = call.op,
                    .relation = call.relation,
                    .tally = call.tally,
                    .dtype = call.dtype,
                    .out_dtype = out->dtype,
                    .n = call.tally ? call.a.array->n : out->n};
  gr_later_open(c, q);
  gr_status status = bring(&call.a, &job.a);
  if (status == GR_OK) status = bring(&call.b, &job.b);
  if (status == GR_OK) status = bring(&call.c, &job.c);
  if (status == GR_OK) status = gr_array_write(out, gr_kernel_side(out->storage), 1, &job.out);
  return gr_later_do(c, q, status, GR_LATER_map, &job, out->n ? job.n : 0, names[asked->op]);
}

gr_status gr_cast(gr_context *c, const gr_array *a, gr_array *out) {
  return gr_map_arrays(c, &(gr_map_call){.op = GR_MAP_cast, .dtype = a->dtype, .a = {a, 0}}, out);
}

static gr_status do_compact(gr_context *c, gr_queue *q, const gr_compact_job *job) {
  return gr_fail_from(c, q, q->backend->compact(q, job), "compact", 0);
}

/* The job but for what it writes; on a device the number of those that are kept, and more, is on its way to `state`. */
static gr_status begin_compact(gr_context *c, const gr_array *a, const gr_array *mask, gr_array *state,
                               gr_compact_job *job) {
  gr_queue *q = a->storage->queue;
  const gr_side side = gr_kernel_side(a->storage);
  gr_vec v = {0};
  *job = (gr_compact_job){.dtype = a->dtype, .n = a->n};
  gr_status status = gr_array_read(a, side, &job->a);
  if (status == GR_OK) status = gr_array_read(mask, side, &job->mask);
  if (status != GR_OK || !a->n || !q->backend->separate) return status;
  status = gr_array_make_open(c, a, state, GR_I64, 1 + gr_compact_words(a->n), side, &v);
  if (status != GR_OK) return status;
  job->kept = (int64_t *)(uintptr_t)v.data;
  job->state = job->kept + 1;
  return do_compact(c, q, job);
}

/* Of out the rest stays if it has more elements than are kept (partly). */
static gr_status end_compact(gr_context *c, gr_array *out, int partly, gr_compact_job *job) {
  if (!out->n || !job->n) return GR_OK;
  const gr_status status = gr_array_write(out, gr_kernel_side(out->storage), !partly, &job->out);
  return status == GR_OK ? do_compact(c, out->storage->queue, job) : status;
}

gr_status gr_compact(gr_context *c, const gr_array *a, const gr_array *mask, gr_array *out) {
  gr_array state = {0};
  gr_compact_job job;
  gr_status status = out->n ? begin_compact(c, a, mask, &state, &job) : GR_OK;
  if (status == GR_OK && out->n) status = end_compact(c, out, 0, &job);
  gr_array_release(&state);
  return status;
}

/* Behind the job that counts; with `all`, which has room, elements are written while the host waits for the number. */
static gr_status hear_kept(gr_context *c, gr_queue *q, gr_array *all, gr_compact_job *job, int64_t *kept) {
  gr_ticket ticket;
  gr_status status = gr_word_ask(c, q, job->kept, &ticket, "compact");
  if (status == GR_OK && all) status = end_compact(c, all, 1, job);
  return gr_word_hear(c, q, &ticket, status, "compact", kept);
}

gr_status gr_compact_counting(gr_context *c, const gr_array *a, const gr_array *mask, const gr_array *into,
                              gr_array *out, int64_t *kept) {
  gr_queue *q = a->storage->queue;
  const int at_once = q->backend->separate && into && into->n >= a->n && gr_storage_is_there(into->storage);
  gr_array state = {0}, all;
  gr_compact_job job;
  gr_status status = begin_compact(c, a, mask, &state, &job);
  gr_array_release(out); /* of a first try that ran out of memory */
  *kept = 0;
  if (status == GR_OK && job.state) {
    if (at_once) all = gr_array_part(into, 0, 1, a->n);
    status = hear_kept(c, q, at_once ? &all : NULL, &job, kept);
  } else if (status == GR_OK) {
    gr_value number = {0};
    status = gr_reduce_all(c, GR_OP_count, mask, NULL, 0, &number);
    *kept = number.v[0].i;
  }
  if (status == GR_OK && !(into && into->n < *kept)) {
    if (into) gr_array_view(into, out, 0, 1, *kept);
    else status = gr_array_make_beside(c, a, out, a->dtype, *kept);
    if (status == GR_OK && !at_once) status = end_compact(c, out, 0, &job);
  }
  gr_array_release(&state);
  return status;
}
