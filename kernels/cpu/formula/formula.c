/*
** What becomes of a formula's blocks: they are stored, or feed reductions, each along the tree of its own dtype. A
** vector
** is taken in stretches of whole leaves, which lie in an output buffer while every consumer takes them.
*/
#include <stdatomic.h>
#include "kernels/cpu/formula/block.h"
#include "kernels/cpu/gather.h"
#include "kernels/cpu/reduce/reduce.h"

#define STRETCH 4096 /* positions that output buffers hold: a leaf of any dtype, or some */
#define PIECE 16384  /* positions for one thread at a time, at least */
#define MOST_PIECES 512

typedef struct consumer {
  gr_plan plan;
  int out_a, out_b; /* output buffers; -1: it lies in memory */
} consumer;

typedef struct formula {
  gr_block_plan blocks; /* first: room begins with it */
  const gr_formula_job *job;
  consumer consumers[GR_FORMULA_TOGETHER];
  int count, stretch; /* consumers; positions of a stretch */
  int64_t set_bytes;  /* of a thread: output buffers, then registers */
  char *sets;
  gr_acc *acc;             /* of pieces, MOST_PIECES a consumer */
  atomic_int *taken;       /* sets in use */
  int64_t piece, first, n; /* the vector under way: elements of a piece, where it begins, how long it is */
} formula;

/* ---- memory ---- */

static int64_t on_lines(int64_t bytes) { return (bytes + 63) / 64 * 64; }

int64_t gr_cpu_formula_room(const gr_formula_job *job) {
  return on_lines((int64_t)sizeof(formula)) + gr_block_plan_bytes(job->program);
}

int64_t gr_cpu_formula_plan(const gr_formula_job *job, void *room, int threads) {
  formula *f = (formula *)room;
  int64_t blocks, outs;
  int k;
  memset(f, 0, sizeof(*f));
  blocks = gr_block_make(&f->blocks, job, (char *)room + on_lines((int64_t)sizeof(formula)), threads);
  f->job = job;
  f->count = job->consumer_count;
  f->stretch = 1024;
  for (k = 0; k < f->count; k++) {
    consumer *c = &f->consumers[k];
    c->plan = gr_plan_of(&job->consumers[k].job);
    c->out_a = gr_block_out_of(&f->blocks, job->consumers[k].a);
    c->out_b = job->consumers[k].b < 0 ? -1 : gr_block_out_of(&f->blocks, job->consumers[k].b);
    if (c->plan.size < 4) f->stretch = STRETCH; /* its leaves have so many elements */
  }
  outs = f->blocks.outs * (int64_t)f->stretch * f->blocks.element;
  f->set_bytes = on_lines(outs);
  return GR_BLOCK_PAGE + blocks + f->blocks.sets * f->set_bytes +
         on_lines((int64_t)sizeof(gr_acc) * MOST_PIECES * (f->count + 1)) +
         on_lines((int64_t)sizeof(atomic_int) * f->blocks.sets);
}

static void get_ready(formula *f, char *memory) {
  int k;
  f->sets = memory = gr_block_in_step(&f->blocks, memory);
  memory += f->blocks.sets * f->set_bytes;
  f->acc = (gr_acc *)(void *)memory;
  memory += on_lines((int64_t)sizeof(gr_acc) * MOST_PIECES * (f->count + 1));
  f->taken = (atomic_int *)(void *)memory;
  for (k = 0; k < f->blocks.sets; k++) atomic_init(&f->taken[k], 0);
  gr_block_ready(&f->blocks, memory + on_lines((int64_t)sizeof(atomic_int) * f->blocks.sets));
}

/* There are as many sets as threads, so one is always free. */
static int take_set(formula *f) {
  int k = 0;
  for (;; k = (k + 1) % f->blocks.sets) {
    int idle = 0;
    if (atomic_compare_exchange_strong(&f->taken[k], &idle, 1)) return k;
  }
}

static void give_set(formula *f, int set) { atomic_store(&f->taken[set], 0); }

static void find_outs(const formula *f, int set, char *outs[GR_BLOCK_OUTS]) {
  int k;
  for (k = 0; k < f->blocks.outs; k++)
    outs[k] = f->sets + f->set_bytes * set + k * (int64_t)f->stretch * f->blocks.element;
}

/* ---- reductions ---- */

static const void *side(const formula *f, int out, int node, int64_t from, char *const *outs) {
  if (node < 0) return NULL;
  return out >= 0 ? outs[out] : gr_block_input(&f->blocks, node, from);
}

/* The states of positions from .. from + n, a stretch of a vector that begins at `first`, where a leaf of it starts. */
static void reduce_stretch(const formula *f, int set, int64_t first, int64_t from, int64_t n, gr_acc *acc) {
  char *outs[GR_BLOCK_OUTS];
  gr_counter counters[GR_FORMULA_TOGETHER];
  int k;
  find_outs(f, set, outs);
  for (k = 0; k < f->count; k++) counters[k].top = 0, counters[k].count = 0;
  while (n > 0) {
    const int64_t m = n < f->stretch ? n : f->stretch;
    gr_block_run(&f->blocks, gr_block_set(&f->blocks, set), from, m, outs);
    for (k = 0; k < f->count; k++) {
      const consumer *c = &f->consumers[k];
      const gr_consumer *asked = &f->job->consumers[k];
      gr_acc one = c->plan.span(side(f, c->out_a, asked->a, from, outs), side(f, c->out_b, asked->b, from, outs), m,
                                &asked->job);
      if (c->plan.kind == GR_ACC_POSITION) one.i[1] += from - first;
      gr_counter_push(&counters[k], c->plan.red, c->plan.kind, one);
    }
    from += m;
    n -= m;
  }
  for (k = 0; k < f->count; k++)
    acc[k] = gr_counter_fold(&counters[k], f->consumers[k].plan.red, f->consumers[k].plan.kind);
}

static void do_piece(void *arg, int64_t k) {
  formula *f = (formula *)arg;
  const int64_t from = k * f->piece, left = f->n - from;
  gr_acc acc[GR_FORMULA_TOGETHER];
  const int set = take_set(f);
  int i;
  reduce_stretch(f, set, f->first, f->first + from, left < f->piece ? left : f->piece, acc);
  give_set(f, set);
  for (i = 0; i < f->count; i++) f->acc[i * MOST_PIECES + k] = acc[i];
}

/* The states of a whole vector: first .. first + n. */
static void reduce_vector(formula *f, int64_t first, int64_t n, gr_parallel parallel, gr_acc *acc) {
  int64_t count, k;
  int i;
  f->first = first;
  f->n = n;
  for (i = 0; i < f->count && n == 0; i++)
    acc[i] = gr_identity(f->consumers[i].plan.kind, f->consumers[i].plan.red == GR_RED_PROD);
  if (n == 0) return;
  f->piece = PIECE;
  while ((n - 1) / f->piece >= MOST_PIECES) f->piece *= 2;
  count = (n - 1) / f->piece + 1;
  gr_in_pieces(parallel, n, f->piece, do_piece, f);
  if (gr_watching.stopped && gr_stopped()) return; /* pieces may be missing */
  for (i = 0; i < f->count; i++) {
    const consumer *c = &f->consumers[i];
    gr_counter counter;
    counter.top = 0;
    counter.count = 0;
    for (k = 0; k < count; k++) gr_counter_push(&counter, c->plan.red, c->plan.kind, f->acc[i * MOST_PIECES + k]);
    acc[i] = gr_counter_fold(&counter, c->plan.red, c->plan.kind);
  }
}

/* Several reductions of the whole, to the host. */
static void reduce_whole(formula *f, gr_parallel parallel) {
  gr_acc acc[GR_FORMULA_TOGETHER];
  int k;
  reduce_vector(f, 0, f->job->n, parallel, acc);
  if (gr_watching.stopped && gr_stopped()) return;
  for (k = 0; k < f->count; k++) {
    const gr_reduce_job *job = &f->job->consumers[k].job;
    const gr_value value = gr_finish(job->op, job->dtype, acc[k], job->n, job->ddof);
    memcpy(f->job->words + 2 * k, value.v, sizeof(value.v));
  }
}

/* ---- rows and segments ---- */

typedef struct vectors {
  formula *f;
  int64_t size, most; /* vectors to a batch; longer ones are left to others */
} vectors;

static int64_t vector_at(const gr_reduce_job *job, int64_t v, int64_t *n) {
  if (job->offsets) return gr_segment(job, v, n);
  *n = job->n;
  return v * job->n;
}

static void put(const formula *f, int64_t v, int64_t n, gr_acc acc) {
  gr_reduce_job one = f->job->consumers[0].job;
  gr_plan plan = f->consumers[0].plan;
  one.n = n;
  plan.job = &one;
  gr_finish_vector(&plan, v, acc);
}

/* As many rows as output buffers hold, by the kernels for rows that lie in memory. */
static int64_t reduce_short_rows(const formula *f, int set, int64_t v, int64_t end) {
  const gr_reduce_job *job = &f->job->consumers[0].job;
  const gr_consumer *asked = &f->job->consumers[0];
  const int64_t rows = f->stretch / job->n < end - v ? f->stretch / job->n : end - v, from = v * job->n;
  const int out = gr_size_of(job->out_dtype);
  char *outs[GR_BLOCK_OUTS];
  gr_reduce_job part = *job;
  find_outs(f, set, outs);
  gr_block_run(&f->blocks, gr_block_set(&f->blocks, set), from, rows * job->n, outs);
  part.count = rows;
  part.a.data = side(f, f->consumers[0].out_a, asked->a, from, outs);
  part.b.data = side(f, f->consumers[0].out_b, asked->b, from, outs);
  part.a.stride = part.b.stride = f->consumers[0].plan.size;
  part.a.step = part.b.step = job->n * f->consumers[0].plan.size;
  part.out = (char *)job->out + v * out;
  if (job->out2) part.out2 = (char *)job->out2 + v * out;
  gr_cpu_reduce(&part, NULL);
  return rows;
}

/* Segments that follow one another, as many as output buffers hold. */
static int64_t reduce_short_segments(const formula *f, int set, int64_t v, int64_t end) {
  const gr_reduce_job *job = &f->job->consumers[0].job;
  const gr_consumer *asked = &f->job->consumers[0];
  const consumer *c = &f->consumers[0];
  char *outs[GR_BLOCK_OUTS];
  int64_t n, first = vector_at(job, v, &n), total = n, count = 1, k, at = 0;
  while (v + count < end && (vector_at(job, v + count, &n), total + n <= f->stretch)) total += n, count++;
  find_outs(f, set, outs);
  if (total) gr_block_run(&f->blocks, gr_block_set(&f->blocks, set), first, total, outs);
  for (k = 0; k < count; k++, at += n) {
    const char *a = side(f, c->out_a, asked->a, first, outs), *b = side(f, c->out_b, asked->b, first, outs);
    vector_at(job, v + k, &n);
    put(f, v + k, n,
        n == 0 ? gr_identity(c->plan.kind, c->plan.red == GR_RED_PROD)
               : c->plan.span(a + at * c->plan.size, b ? b + at * c->plan.size : NULL, n, job));
  }
  return count;
}

static void do_vectors(void *arg, int64_t k) {
  const vectors *s = (const vectors *)arg;
  formula *f = s->f;
  const gr_reduce_job *job = &f->job->consumers[0].job;
  const int64_t end = (k + 1) * s->size < job->count ? (k + 1) * s->size : job->count;
  const int set = take_set(f);
  int64_t v = k * s->size, n, from;
  while (v < end) {
    from = vector_at(job, v, &n);
    if (n > f->stretch / 2) {
      gr_acc acc[GR_FORMULA_TOGETHER];
      if (n <= s->most) {
        reduce_stretch(f, set, from, from, n, acc);
        put(f, v, n, acc[0]);
      }
      v++;
    } else if (job->offsets) {
      v += reduce_short_segments(f, set, v, end);
    } else {
      v += reduce_short_rows(f, set, v, end);
    }
  }
  give_set(f, set);
}

static void reduce_each(formula *f, gr_parallel parallel) {
  const gr_reduce_job *job = &f->job->consumers[0].job;
  gr_acc acc[GR_FORMULA_TOGETHER];
  vectors s = {f, 1, 4 * PIECE};
  int64_t v, n, from;
  if (job->count == 0) return;
  if (job->n == 0 && !job->offsets) {
    for (v = 0; v < job->count; v++) {
      reduce_vector(f, 0, 0, NULL, acc);
      put(f, v, 0, acc[0]);
    }
    return;
  }
  s.size = 2 * PIECE / (f->job->n / job->count + 1) + 1;
  if (f->job->n / job->count <= s.most || job->offsets) gr_in_pieces(parallel, job->count, s.size, do_vectors, &s);
  for (v = 0; v < job->count && !(v && gr_stopped()); v++) { /* the long ones, each by all threads */
    from = vector_at(job, v, &n);
    if (n <= s.most) {
      if (!job->offsets) break;
      continue;
    }
    reduce_vector(f, from, n, parallel, acc);
    put(f, v, n, acc[0]);
  }
}

/* ---- elements ---- */

static void store_piece(void *arg, int64_t k) {
  formula *f = (formula *)arg;
  const gr_formula_job *job = f->job;
  const int size = gr_size_of((gr_dtype)job->program->nodes[job->result].dtype);
  const int64_t end = (k + 1) * PIECE < job->n ? (k + 1) * PIECE : job->n;
  const int set = take_set(f);
  char *outs[GR_BLOCK_OUTS];
  int64_t from, m;
  find_outs(f, set, outs);
  for (from = k * PIECE; from < end; from += m) {
    char *to = (char *)(uintptr_t)job->out.data + from * job->out.stride;
    m = end - from < f->stretch ? end - from : f->stretch;
    if (job->out.stride == size) {
      char *there[1] = {to};
      gr_block_run(&f->blocks, gr_block_set(&f->blocks, set), from, m, there);
    } else {
      gr_block_run(&f->blocks, gr_block_set(&f->blocks, set), from, m, outs);
      gr_scatter(outs[0], to, job->out.stride, m, size);
    }
  }
  give_set(f, set);
}

void gr_cpu_formula(const gr_formula_job *job, void *room, void *memory, gr_parallel parallel) {
  formula *f = (formula *)room;
  get_ready(f, (char *)memory);
  if (job->consumer_count == 0) gr_in_pieces(parallel, job->n, PIECE, store_piece, f);
  else if (job->words) reduce_whole(f, parallel);
  else reduce_each(f, parallel);
}
