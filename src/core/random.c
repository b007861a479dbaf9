#include "src/core/random.h"

#include <stdio.h>
#include "kernels/numerics/random.h"
#include "src/core/lookup.h"
#include "src/core/ops.h"
#include "src/core/ranks/meet.h"
#include "src/core/select.h"

void gr_random_start(gr_context *c, uint64_t seed) {
  c->seed = seed;
  c->draws = 0;
}

gr_draw gr_random_take(gr_context *c) { return (gr_draw){c->seed, GR_STREAMS << 1 | c->draws++}; }

/* Marks of purposes: three bits above the number of any group. Uniform and normal numbers have none. */
#define MARK(k) ((uint64_t)(k) << 61)
enum { EXPONENTIAL = 1, WHOLE, ORDER, DRAWS, KEYS, RANKS };

/*
** A part of numbers that lie over ranks: they are made in groups of so many, so of the group in which this rank's first
** one is all are made, on the CPU, and those before it left out.
*/
typedef struct part {
  gr_array made;
  int64_t skipped;
  uint64_t first; /* group */
  int met;        /* the other ranks; else all have failed */
} part;

/* Meets the other ranks, and makes room for the numbers, if there are any. */
static gr_status begin_part(gr_context *c, const gr_array *out, int group, const char *what, gr_draw d, part *p,
                            gr_vec *v) {
  char text[200];
  snprintf(text, sizeof text, "%s of %s, seed %lld, stream %llu", what, gr_dtypes[out->dtype].name, (long long)d.seed,
           (unsigned long long)d.stream);
  const gr_status status = gr_ranks_meet(c, text, out->n, 0, GR_OK);
  *p = (part){.met = status == GR_OK};
  if (status != GR_OK) return status;
  p->skipped = gr_ranks_before(c) % group;
  p->first = (uint64_t)(gr_ranks_before(c) / group);
  if (out->n == 0) return GR_OK;
  return gr_array_make_open(c, out, &p->made, out->dtype, out->n + p->skipped, GR_HOST, v);
}

/* Where one rank has no room for its numbers, none gets any. */
static gr_status end_part(gr_context *c, gr_status status, part *p, gr_array *out) {
  if (!p->met) return status;
  if (status == GR_OK && out->n) {
    const gr_array own = gr_array_part(&p->made, p->skipped, 1, out->n);
    status = gr_copy(c, &own, out);
  }
  gr_array_release(&p->made);
  return gr_ranks_agree(c, status);
}

static gr_status numbers_part(gr_context *c, gr_array *out, gr_draw d, gr_random_job job) {
  part p;
  const char *what = job.kind == GR_UNIFORM ? "rand" : job.kind == GR_NORMAL ? "randn" : "exponential";
  gr_status status = begin_part(c, out, gr_random_group(out->dtype), what, d, &p, &job.out);
  job.n = p.made.n;
  job.first = p.first;
  if (status == GR_OK && out->n)
    status = gr_fail_from(c, out->storage->queue, c->host->cpu()->random(out->storage->queue, &job), "random", 0);
  return end_part(c, status, &p, out);
}

static gr_status whole_part(gr_context *c, gr_array *out, gr_draw d, gr_whole_job job) {
  part p;
  char what[96];
  snprintf(what, sizeof what, "randint from %lld, %llu numbers", (long long)job.low, (unsigned long long)job.range);
  gr_status status = begin_part(c, out, gr_whole_group(job.range), what, d, &p, &job.out);
  job.n = p.made.n;
  job.first = p.first;
  if (status == GR_OK && out->n)
    status = gr_fail_from(c, out->storage->queue, c->host->cpu()->whole(out->storage->queue, &job), "randint", 0);
  return end_part(c, status, &p, out);
}

static gr_status numbers(gr_context *c, gr_array *out, gr_draw d, int kind, uint64_t mark) {
  gr_queue *q = out->storage->queue;
  const uint64_t stream = kind == GR_NORMAL ? d.stream | GR_STREAMS : d.stream;
  gr_random_job job = {.dtype = out->dtype, .n = out->n, .seed = d.seed, .stream = stream, .kind = kind, .mark = mark};
  if (c->comm) return numbers_part(c, out, d, job);
  gr_status status = gr_array_write(out, gr_kernel_side(out->storage), 1, &job.out);
  if (status != GR_OK || out->n == 0) return status;
  return gr_fail_from(c, q, q->backend->random(q, &job), "random", 0);
}

gr_status gr_random(gr_context *c, gr_array *out, gr_draw d, int kind) {
  return numbers(c, out, d, kind, kind == GR_EXPONENTIAL ? MARK(EXPONENTIAL) : 0);
}

/* sums: NULL, or running sums of weights, whose last is range. */
static gr_status whole(gr_context *c, gr_array *out, gr_draw d, int64_t low, uint64_t range, const gr_array *sums) {
  gr_queue *q = out->storage->queue;
  const gr_side side = gr_kernel_side(out->storage);
  gr_whole_job job = {.dtype = out->dtype,
                      .n = out->n,
                      .seed = d.seed,
                      .stream = d.stream,
                      .mark = MARK(sums ? DRAWS : WHOLE),
                      .low = low,
                      .range = range};
  gr_vec v;
  if (c->comm) return whole_part(c, out, d, job);
  gr_status status = sums ? gr_array_read(sums, side, &v) : GR_OK;
  if (sums) job.sums = v.data, job.count = sums->n;
  if (status == GR_OK) status = gr_array_write(out, side, 1, &job.out);
  if (status != GR_OK || out->n == 0) return status;
  return gr_fail_from(c, q, q->backend->whole(q, &job), "randint", 0);
}

gr_status gr_random_whole(gr_context *c, gr_array *out, gr_draw d, int64_t low, uint64_t range) {
  return whole(c, out, d, low, range, NULL);
}

static gr_status order(gr_context *c, gr_array *out, gr_draw d, int64_t length, uint64_t mark) {
  gr_queue *q = out->storage->queue;
  gr_order_job job = {
      .dtype = out->dtype, .n = out->n, .length = length, .seed = d.seed, .stream = d.stream, .mark = mark};
  gr_status status = gr_array_write(out, gr_kernel_side(out->storage), 1, &job.out);
  if (status != GR_OK || out->n == 0) return status;
  return gr_fail_from(c, q, q->backend->order(q, &job), "permutation", 0);
}

gr_status gr_random_order(gr_context *c, gr_array *out, gr_draw d, int64_t length) {
  return order(c, out, d, length, MARK(ORDER));
}

/* ---- choices by weight ---- */

static gr_status map(gr_context *c, gr_map op, const gr_array *a, gr_term b, gr_array *out) {
  const gr_map_call call = {.op = op, .dtype = a->dtype, .a = {a, 0}, .b = b};
  return gr_map_arrays(c, &call, out);
}
static gr_term number(double x) { return (gr_term){NULL, gr_bits64(x)}; }

/* A new array of that dtype with the elements of a. */
static gr_status cast(gr_context *c, const gr_array *a, gr_array *out, gr_dtype t) {
  gr_status status = gr_array_make_beside(c, a, out, t, a->n);
  if (status != GR_OK) return status;
  return a->dtype == t ? gr_copy(c, a, out) : gr_cast(c, a, out);
}

#define WEIGHT_BITS 62

/* a times 2^shift, in place. */
static gr_status scale(gr_context *c, gr_array *a, int shift) {
  gr_status status = GR_OK;
  while (shift && status == GR_OK) { /* in steps that are numbers of f64 */
    const int step = shift > 1000 ? 1000 : shift < -1000 ? -1000 : shift;
    status = map(c, GR_MAP_mul, a, number(gr_two_to(step)), a);
    shift -= step;
  }
  return status;
}

/*
** Weights as whole numbers, i64: multiples of a power of two, rounded down, such that n of the largest stay below
** 2^WEIGHT_BITS. So their sums are exact, and a weight of 0 is never drawn.
*/
static gr_status whole_weights(gr_context *c, const gr_array *w, gr_array *out) {
  gr_array real = {0};
  gr_value range;
  int exponent, log = 0;
  gr_status status = gr_reduce_all(c, GR_OP_minmax, w, NULL, 0, &range);
  if (status != GR_OK) return status;
  const double least = gr_value_double(&range, 0), most = gr_value_double(&range, 1);
  if (least != least || most - most != 0)
    return gr_fail(c, GR_BAD, "option 'weights': finite weights expected, got %s",
                   least != least ? "a NaN" : "an infinity");
  if (least < 0) return gr_fail(c, GR_BAD, "option 'weights': weights of 0 or more expected, got %.14g", least);
  if (most == 0) return gr_fail(c, GR_BAD, "option 'weights': a weight above 0 expected, but all are 0");
  frexp(most, &exponent);
  while (((int64_t)1 << log) < w->n) log++;
  status = cast(c, w, &real, GR_F64);
  if (status == GR_OK) status = scale(c, &real, WEIGHT_BITS - exponent - log);
  if (status == GR_OK) status = cast(c, &real, out, GR_I64);
  gr_array_release(&real);
  return status;
}

/* Again and again by weight: a position for each element of index. */
static gr_status draw_weighted(gr_context *c, const gr_choice *choice, gr_array *index) {
  gr_array sums = {0}, last;
  gr_vec v;
  gr_status status = whole_weights(c, choice->weights, &sums);
  if (status == GR_OK) status = gr_scan(c, GR_OP_sum, &sums, &sums, 0, 0);
  if (status == GR_OK) last = gr_array_part(&sums, sums.n - 1, 1, 1);
  if (status == GR_OK) status = gr_array_read(&last, GR_HOST, &v);
  if (status == GR_OK) {
    const int64_t total = *(const int64_t *)v.data;
    status = whole(c, index, choice->draw, 1, (uint64_t)total, &sums);
  }
  gr_array_release(&sums);
  return status;
}

/*
** Each once: the element that comes first by an exponential clock whose rate is its weight, and so on (Efraimidis and
** Spirakis 2006). keys, f64: when each comes; infinite where the weight is 0.
*/
static gr_status clocks(gr_context *c, const gr_choice *choice, int64_t k, gr_array *keys) {
  gr_array rates = {0}, whole = {0};
  gr_value above;
  gr_status status = whole_weights(c, choice->weights, &whole);
  if (status == GR_OK) status = gr_reduce_all(c, GR_OP_count, &whole, NULL, 0, &above);
  if (status == GR_OK && above.v[0].i < k)
    status = gr_fail(c, GR_BAD, "option 'weights': %lld weights above 0 expected, got %lld", (long long)k,
                     (long long)above.v[0].i);
  if (status == GR_OK) status = cast(c, &whole, &rates, GR_F64);
  if (status == GR_OK) status = gr_array_make_beside(c, choice->a, keys, GR_F64, whole.n);
  if (status == GR_OK) status = numbers(c, keys, choice->draw, GR_EXPONENTIAL, MARK(KEYS));
  /* An exponential may be 0, and a weight: but not both. */
  if (status == GR_OK) status = map(c, GR_MAP_maximum, keys, number(0x1p-60), keys);
  if (status == GR_OK) status = map(c, GR_MAP_div, keys, (gr_term){&rates, 0}, keys);
  gr_array_release(&whole);
  gr_array_release(&rates);
  return status;
}

static gr_status draw_weighted_once(gr_context *c, const gr_choice *choice, gr_array *index) {
  const int64_t k = index->n;
  gr_array keys = {0}, mask = {0}, found = {0}, first, turn = {0};
  gr_value latest = gr_value_f(0), count;
  gr_status status = clocks(c, choice, k, &keys);
  if (status == GR_OK) status = gr_ranked(c, &keys, k - 1, &latest);
  if (status == GR_OK) status = gr_array_make_beside(c, &keys, &mask, GR_U8, keys.n);
  if (status == GR_OK) {
    const gr_map_call call = {
        .op = GR_MAP_compare, .relation = GR_IS_le, .dtype = GR_F64, .a = {&keys, 0}, .b = number(latest.v[0].f)};
    status = gr_map_arrays(c, &call, &mask);
  }
  if (status == GR_OK) status = gr_reduce_all(c, GR_OP_count, &mask, NULL, 0, &count);
  if (status == GR_OK) status = gr_positions(c, &mask, count.v[0].i, &found);
  gr_array_release(&keys);
  gr_array_release(&mask);
  /* Two that come at the same time as the last one: the first of them. In random order. */
  if (status == GR_OK) first = gr_array_part(&found, 0, 1, k);
  if (status == GR_OK) status = gr_array_make_beside(c, index, &turn, GR_I64, k);
  if (status == GR_OK) status = order(c, &turn, choice->draw, k, MARK(RANKS));
  if (status == GR_OK) status = gr_take_known(c, &first, &turn, index);
  gr_array_release(&turn);
  gr_array_release(&found);
  return status;
}

gr_status gr_choose(gr_context *c, const gr_choice *choice, gr_array *out) {
  const gr_array *a = choice->a;
  gr_array index = {0};
  gr_status status = gr_array_make_beside(c, a, &index, GR_I64, out->n);
  if (status != GR_OK || out->n == 0) return gr_array_release(&index), status;
  if (choice->weights)
    status = choice->replace ? draw_weighted(c, choice, &index) : draw_weighted_once(c, choice, &index);
  else if (choice->replace) status = gr_random_whole(c, &index, choice->draw, 1, (uint64_t)a->n);
  else status = gr_random_order(c, &index, choice->draw, a->n);
  if (status == GR_OK) status = gr_take_known(c, a, &index, out);
  gr_array_release(&index);
  return status;
}
