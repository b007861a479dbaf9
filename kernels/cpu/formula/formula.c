/*
** What becomes of a formula's blocks: they are stored, or feed reductions, each along the tree of its own dtype, or
** other operations (feed.h). A vector is taken in stretches of whole leaves, which lie in a buffer while every consumer
** takes them.
*/
#include "kernels/cpu/formula/feed.h"
#include "kernels/cpu/gather.h"
#include "kernels/cpu/reduce/reduce.h"
#include "kernels/cpu/scan/scan.h"
#include "kernels/filling.h"

#define PIECE 16384 /* positions for one thread at a time, at least */
#define MOST_PIECES 512

typedef struct formula {
  gr_feed feed; /* first: room begins with it */
  const gr_formula_job *job;
  gr_plan consumers[GR_FORMULA_TOGETHER];
  gr_consumer asked[GR_FORMULA_TOGETHER]; /* what they take: those that fill, what they fill */
  uint8_t fills[GR_FORMULA_TOGETHER];     /* whether they do */
  int mask[GR_FORMULA_TOGETHER];          /* the node that says where; -1: where there is NaN */
  gr_gaps gaps[GR_FORMULA_TOGETHER];      /* with what */
  gr_span both;                           /* the first fills NaN and the second counts what is none: in one loop */
  gr_formula_job own;                     /* the job, of these */
  int count;
  gr_acc *acc;             /* of pieces, MOST_PIECES a consumer */
  int64_t piece, first, n; /* the vector under way: elements of a piece, where it begins, how long it is */
} formula;

/* ---- memory ---- */

static int64_t on_lines(int64_t bytes) { return (bytes + 63) / 64 * 64; }

static int64_t acc_bytes(const formula *f) { return on_lines((int64_t)sizeof(gr_acc) * MOST_PIECES * f->count); }

int64_t gr_cpu_formula_room(const gr_formula_job *job) {
  return on_lines((int64_t)sizeof(formula)) + gr_block_plan_bytes(job->program);
}

/*
** Positions that buffers hold: of reductions, a leaf of any of their dtypes; of a scan its block; else few, so that the
** processor is never long without something to read, nor an operation without something to do.
*/
static int64_t stretch_of(const formula *f) {
  int64_t stretch = 1024;
  switch (f->job->feeds) {
    case GR_FEEDS_SCAN: return GR_SCAN_BLOCK;
    case GR_FEEDS_COLUMNS:
      return (int64_t)GR_LEAF(gr_size_of(((const gr_reduce_job *)f->job->operation)->dtype)) * GR_PANEL;
    case GR_FEEDS_HISTOGRAM: /* a table beyond the first cache is best not left too often */
      return ((const gr_histogram_job *)f->job->operation)->bins > 4096 ? 16384 : 512;
    case GR_FEEDS_WEIGHTS:
    case GR_FEEDS_EXACT: return 512;
    case GR_FEEDS_COMPACT: return 1024; /* what one kernel call takes */
    case GR_FEEDS_PRESENT:
    case GR_FEEDS_NOTHING: break;
  }
  for (int k = 0; k < f->count; k++)
    if (f->consumers[k].size < 4) stretch = 4096;
  return stretch;
}

/* ---- consumers that fill ---- */

static gr_span filling_span(const gr_plan *p, int by, gr_dtype t) {
  const gr_cpu_table *table = gr_cpu_table_in_use();
  if (p->red == GR_RED_SUMSQ && p->job->scale_a != 1) return NULL;
  if (p->red != GR_RED_MINMAX) return table->filled[by][p->red][t];
  if (p->job->op == GR_OP_min) return table->filled_lowest[by][t];
  return p->job->op == GR_OP_max ? table->filled_highest[by][t] : NULL;
}

static double fill_of(const gr_formula_job *job, int node, gr_dtype t) {
  const int b = job->program->nodes[node].b;
  if (!GR_IS_NUMBER(b)) return gr_widened(t, (const char *)job->inputs[job->program->nodes[b].input].data);
  return gr_widened(t, (const char *)&job->program->numbers[GR_NUMBER_OF(b)]);
}

/* A mask whose bytes lie side by side. */
static int lies_there(const gr_formula_job *job, int node) {
  const gr_node *n = &job->program->nodes[node];
  return n->kind == GR_NODE_INPUT && n->spread == GR_EACH && job->inputs[n->input].stride == 1;
}

/*
** Variances that leave NaN out, of where(mask, where(x == x, x, infinity), NaN): a mask alone says what is missing
** of x, as there is none of what is infinite either.
*/
static int finds_masked(const formula *f, const gr_consumer *c, gr_dtype t, gr_filled *found) {
  const gr_program *g = f->job->program;
  const int inner = found->of[0];
  if (!GR_IS_NUMBER(g->nodes[c->a].b) || fill_of(f->job, c->a, t) == fill_of(f->job, c->a, t)) return 0;
  if (!gr_is_filled(g, inner) || gr_tested_node(g, g->nodes[inner].c) != g->nodes[inner].a) return 0;
  if (!GR_IS_NUMBER(g->nodes[inner].b) || fabs(fill_of(f->job, inner, t)) != INFINITY) return 0;
  found->of[0] = g->nodes[inner].a;
  return 1;
}

/* Whether consumer k is of that kind, and its kernel. */
static int find_filling(formula *f, int k) {
  const gr_program *g = f->job->program;
  gr_plan *p = &f->consumers[k];
  gr_filled found;
  if (!gr_find_filled(g, &f->job->consumers[k], p->inputs, p->red == GR_RED_COUNT, &found)) return 0;
  gr_dtype t = (gr_dtype)g->nodes[found.of[0]].dtype;
  gr_span span = filling_span(p, found.nan ? GR_GAPS_NAN : GR_GAPS_MASK, t);
  if (!span || (!found.nan && !lies_there(f->job, found.test))) return 0;
  if (found.of[1] >= 0 && g->nodes[found.of[1]].dtype != t) return 0;
  if (p->red == GR_RED_PRESENT && !finds_masked(f, &f->job->consumers[k], t, &found)) return 0;
  p->span = span;
  f->asked[k].a = found.of[0];
  f->asked[k].b = found.of[1];
  f->mask[k] = found.nan ? -1 : found.test;
  return 1;
}

/*
** Some kernels fill what is NaN or what a mask leaves out, or count what is no NaN, as they read x (and y): then
** nothing has to be made. Of vectors that are shorter than buffers several are made at once, so those are filled
** before. Returns whether all do it.
*/
static int find_fillings(formula *f) {
  int k, all = 1;
  for (k = 0; k < f->count; k++) {
    f->asked[k] = f->job->consumers[k];
    f->mask[k] = -1;
    f->fills[k] = (uint8_t)find_filling(f, k);
    all = all && f->fills[k];
  }
  if (all && f->count == 2 && f->mask[0] < 0 && f->consumers[1].red == GR_RED_COUNT && f->asked[0].a == f->asked[1].a &&
      f->asked[0].b == f->asked[1].b)
    f->both = gr_cpu_table_in_use()->counted[f->consumers[0].red][f->job->program->nodes[f->asked[0].a].dtype];
  f->own = *f->job;
  f->own.consumers = f->asked;
  f->job = &f->own;
  return all;
}

/*
** A sum of products, squares or squares of differences, for which there is a kernel that makes these as it reads: then
** memory is read while it computes, and not while a block is made and rests while that is added.
*/
static int find_steps(formula *f) {
  const gr_program *g = f->job->program;
  gr_consumer *c = &f->asked[0];
  const gr_node *n = &g->nodes[c->a], *inner = n;
  gr_reducer red = GR_RED_DOT;
  if (f->count != 1 || f->consumers[0].red != GR_RED_SUM || n->kind != GR_NODE_STEP || n->from != n->dtype) return 0;
  if (n->op == GR_MAP_square) {
    red = GR_RED_SUMSQ;
    if (GR_IS_NUMBER(n->a)) return 0;
    if (g->nodes[n->a].kind == GR_NODE_STEP && g->nodes[n->a].op == GR_MAP_sub) {
      inner = &g->nodes[n->a];
      red = GR_RED_SQDIFF;
    }
  } else if (n->op != GR_MAP_mul) {
    return 0;
  }
  gr_span span = gr_cpu_table_in_use()->steps[red][n->dtype];
  if (!span || GR_IS_NUMBER(inner->a) || (red != GR_RED_SUMSQ && GR_IS_NUMBER(inner->b))) return 0;
  f->consumers[0].span = span;
  c->a = inner->a;
  if (red != GR_RED_SUMSQ) c->b = inner->b;
  return 1;
}

/* What they fill with: elements are known once the job runs. */
static void find_gaps(formula *f, const gr_formula_job *job) {
  for (int k = 0; k < f->count; k++) {
    const gr_consumer *c = &job->consumers[k];
    const gr_dtype t = (gr_dtype)job->program->nodes[c->a].dtype;
    if (!f->fills[k] || f->consumers[k].red == GR_RED_COUNT) continue;
    f->gaps[k].fill = f->gaps[k].fill_y = fill_of(job, c->a, t);
    if (c->b >= 0) f->gaps[k].fill_y = fill_of(job, c->b, t);
  }
}

int64_t gr_cpu_formula_plan(const gr_formula_job *job, void *room, int threads) {
  formula *f = (formula *)room;
  memset(f, 0, sizeof(*f));
  f->job = job;
  f->count = job->consumer_count;
  for (int k = 0; k < f->count; k++) f->consumers[k] = gr_plan_of(&job->consumers[k].job);
  int64_t stretch = stretch_of(f);
  if (f->count && !job->consumers[0].job.offsets && (job->words || job->consumers[0].job.n > stretch / 2))
    if ((find_fillings(f) || find_steps(f)) && job->words) /* nothing is made */
      stretch = f->count > 1 && !f->both ? 2048 : PIECE;
  return acc_bytes(f) +
         gr_feed_plan(&f->feed, f->job, (char *)room + on_lines((int64_t)sizeof(formula)), threads, stretch);
}

gr_feed *gr_cpu_formula_feed(void *room, void *memory) {
  formula *f = (formula *)room;
  f->acc = (gr_acc *)memory;
  gr_block_ready(&f->feed.blocks, gr_feed_ready(&f->feed, (char *)memory + acc_bytes(f)));
  return &f->feed;
}

/* ---- reductions ---- */

static const char *side(const formula *f, int set, int node, int64_t from) {
  return node < 0 ? NULL : gr_feed_at(&f->feed, set, node, from);
}

/* A stretch for two consumers, of which the second counts what the first takes. */
static void fill_and_count(const formula *f, int set, int64_t from, int64_t n, gr_counter *counters) {
  const gr_consumer *asked = &f->job->consumers[0];
  const gr_gaps gaps = {f->gaps[0].fill, f->gaps[0].fill_y, side(f, set, asked->b, from), NULL};
  gr_acc one = f->both(side(f, set, asked->a, from), &gaps, n, f->consumers[0].job), count = one;
  count.i[0] = one.i[1];
  count.i[1] = one.i[1] = 0;
  gr_counter_push(&counters[0], f->consumers[0].red, f->consumers[0].kind, one);
  gr_counter_push(&counters[1], f->consumers[1].red, f->consumers[1].kind, count);
}

/* The states of positions from .. from + n, a stretch of a vector that begins at `first`, where a leaf of it starts. */
static void reduce_stretch(const formula *f, int set, int64_t first, int64_t from, int64_t n, gr_acc *acc) {
  gr_counter counters[GR_FORMULA_TOGETHER];
  for (int k = 0; k < f->count; k++) gr_counter_begin(&counters[k]);
  while (n > 0) {
    const int64_t m = gr_feed_most(&f->feed, n);
    gr_feed_make(&f->feed, set, from, m);
    if (f->both) fill_and_count(f, set, from, m, counters);
    for (int k = 0; k < f->count && !f->both; k++) {
      const gr_plan *p = &f->consumers[k];
      const gr_consumer *asked = &f->job->consumers[k];
      const char *a = side(f, set, asked->a, from), *b = side(f, set, asked->b, from);
      const gr_gaps gaps = {f->gaps[k].fill, f->gaps[k].fill_y, b, (const uint8_t *)side(f, set, f->mask[k], from)};
      gr_acc one = p->span(a, f->fills[k] ? (const void *)&gaps : b, m, p->job);
      if (p->kind == GR_ACC_POSITION) one.i[1] += from - first;
      gr_counter_push(&counters[k], p->red, p->kind, one);
    }
    from += m;
    n -= m;
  }
  for (int k = 0; k < f->count; k++) acc[k] = gr_counter_fold(&counters[k], f->consumers[k].red, f->consumers[k].kind);
}

static void do_piece(void *arg, int64_t k) {
  formula *f = (formula *)arg;
  const int64_t from = k * f->piece, left = f->n - from;
  gr_acc acc[GR_FORMULA_TOGETHER];
  const int set = gr_feed_take(&f->feed);
  reduce_stretch(f, set, f->first, f->first + from, left < f->piece ? left : f->piece, acc);
  gr_feed_give(&f->feed, set);
  for (int i = 0; i < f->count; i++) f->acc[i * MOST_PIECES + k] = acc[i];
}

/* The states of a whole vector: first .. first + n. */
static void reduce_vector(formula *f, int64_t first, int64_t n, gr_parallel parallel, gr_acc *acc) {
  f->first = first;
  f->n = n;
  for (int i = 0; i < f->count && n == 0; i++)
    acc[i] = gr_identity(f->consumers[i].kind, f->consumers[i].red == GR_RED_PROD);
  if (n == 0) return;
  f->piece = PIECE;
  while ((n - 1) / f->piece >= MOST_PIECES) f->piece *= 2;
  int64_t count = (n - 1) / f->piece + 1;
  gr_in_pieces(parallel, n, f->piece, do_piece, f);
  if (gr_watching.stopped && gr_stopped()) return; /* pieces may be missing */
  for (int i = 0; i < f->count; i++) {
    const gr_plan *p = &f->consumers[i];
    gr_counter counter;
    gr_counter_begin(&counter);
    for (int64_t k = 0; k < count; k++) gr_counter_push(&counter, p->red, p->kind, f->acc[i * MOST_PIECES + k]);
    acc[i] = gr_counter_fold(&counter, p->red, p->kind);
  }
}

/* Several reductions of the whole, to the host. */
static void reduce_whole(formula *f, gr_parallel parallel) {
  gr_acc acc[GR_FORMULA_TOGETHER];
  reduce_vector(f, 0, f->job->n, parallel, acc);
  if (gr_watching.stopped && gr_stopped()) return;
  for (int k = 0; k < f->count; k++) {
    const gr_reduce_job *job = &f->job->consumers[k].job;
    const gr_value value = gr_finish(job->op, job->dtype, acc[k], job->n, job->ddof);
    memcpy(f->job->words + 2 * k, value.v, sizeof(value.v));
  }
}

/* ---- rows and segments ---- */

#define LONG (4 * PIECE) /* elements: longer vectors are taken one by one, each by all threads */

static int64_t vector_at(const gr_reduce_job *job, int64_t v, int64_t *n) {
  if (job->offsets) return gr_segment(job, v, n);
  *n = job->n;
  return v * job->n;
}

static void put(const formula *f, int k, int64_t v, int64_t n, gr_acc acc) {
  gr_reduce_job one = f->job->consumers[k].job;
  gr_plan plan = f->consumers[k];
  one.n = n;
  plan.job = &one;
  gr_finish_vector(&plan, v, acc);
}

static void put_all(const formula *f, int64_t v, int64_t n, const gr_acc *acc) {
  for (int k = 0; k < f->count; k++) put(f, k, v, n, acc[k]);
}

/* Rows of one consumer that have been made, by the kernels for rows that lie in memory. */
static void reduce_made_rows(const formula *f, int set, int k, int64_t v, int64_t rows) {
  const gr_consumer *asked = &f->job->consumers[k];
  const int64_t n = asked->job.n, from = v * n;
  const int out = gr_size_of(asked->job.out_dtype);
  gr_reduce_job part = asked->job;
  part.count = rows;
  part.a.data = side(f, set, asked->a, from);
  part.b.data = side(f, set, asked->b, from);
  part.a.stride = part.b.stride = f->consumers[k].size;
  part.a.step = part.b.step = n * f->consumers[k].size;
  part.out = (char *)part.out + v * out;
  if (part.out2) part.out2 = (char *)part.out2 + v * out;
  gr_cpu_reduce(&part, NULL);
}

/* As many rows as output buffers hold. */
static int64_t reduce_short_rows(const formula *f, int set, int64_t v, int64_t end) {
  const int64_t n = f->job->consumers[0].job.n, most = f->feed.stretch / n, rows = most < end - v ? most : end - v;
  gr_feed_make(&f->feed, set, v * n, rows * n);
  for (int k = 0; k < f->count; k++) reduce_made_rows(f, set, k, v, rows);
  return rows;
}

/* The same of segments: `first` is where the first of them begins. */
static void reduce_made_segments(const formula *f, int set, int k, int64_t v, int64_t count, int64_t first) {
  const gr_consumer *asked = &f->job->consumers[k];
  const gr_plan *p = &f->consumers[k];
  const char *a = side(f, set, asked->a, first), *b = side(f, set, asked->b, first);
  int64_t i, n, at = 0;
  for (i = 0; i < count; i++, at += n) {
    vector_at(&asked->job, v + i, &n);
    put(f, k, v + i, n,
        n == 0 ? gr_identity(p->kind, p->red == GR_RED_PROD)
               : p->span(a + at * p->size, b ? b + at * p->size : NULL, n, &asked->job));
  }
}

/* Segments that follow one another, as many as output buffers hold. */
static int64_t reduce_short_segments(const formula *f, int set, int64_t v, int64_t end) {
  const gr_reduce_job *job = &f->job->consumers[0].job;
  int64_t n, first = vector_at(job, v, &n), total = n, count = 1;
  while (v + count < end && (vector_at(job, v + count, &n), total + n <= f->feed.stretch)) total += n, count++;
  if (total) gr_feed_make(&f->feed, set, first, total);
  for (int k = 0; k < f->count; k++) reduce_made_segments(f, set, k, v, count, first);
  return count;
}

static void do_vectors(void *arg, int64_t v, int64_t end) {
  formula *f = (formula *)arg;
  const gr_reduce_job *job = &f->job->consumers[0].job;
  const int set = gr_feed_take(&f->feed);
  while (v < end) {
    int64_t n, from = vector_at(job, v, &n);
    if (n > f->feed.stretch / 2) {
      gr_acc acc[GR_FORMULA_TOGETHER];
      if (n <= LONG) {
        reduce_stretch(f, set, from, from, n, acc);
        put_all(f, v, n, acc);
      }
      v++;
    } else if (job->offsets) {
      v += reduce_short_segments(f, set, v, end);
    } else {
      v += reduce_short_rows(f, set, v, end);
    }
  }
  gr_feed_give(&f->feed, set);
}

static void reduce_each(formula *f, gr_parallel parallel) {
  const gr_reduce_job *job = &f->job->consumers[0].job;
  gr_acc acc[GR_FORMULA_TOGETHER];
  const int64_t all = f->job->n;
  if (job->count == 0) return;
  if (job->n == 0 && !job->offsets) {
    for (int64_t v = 0; v < job->count; v++) {
      reduce_vector(f, 0, 0, NULL, acc);
      put_all(f, v, 0, acc);
    }
    return;
  }
  if (all / job->count <= LONG || job->offsets)
    gr_in_ranges(parallel, job->count, 2 * PIECE / (all / job->count + 1) + 1, do_vectors, f);
  for (int64_t v = 0; v < job->count && !(v && gr_stopped()); v++) { /* the long ones, each by all threads */
    int64_t n, from = vector_at(job, v, &n);
    if (n <= LONG) {
      if (!job->offsets) break;
      continue;
    }
    reduce_vector(f, from, n, parallel, acc);
    put_all(f, v, n, acc);
  }
}

/* ---- elements ---- */

static void store_range(void *arg, int64_t from, int64_t end) {
  formula *f = (formula *)arg;
  const gr_formula_job *job = f->job;
  const int size = gr_size_of((gr_dtype)job->program->nodes[job->result].dtype);
  const int set = gr_feed_take(&f->feed);
  for (int64_t m; from < end; from += m) {
    char *to = (char *)(uintptr_t)job->out.data + from * job->out.stride;
    m = gr_feed_most(&f->feed, end - from);
    if (job->out.stride == size) {
      char *there[1] = {to};
      gr_block_run(&f->feed.blocks, gr_block_set(&f->feed.blocks, set), from, m, there);
    } else {
      gr_feed_make(&f->feed, set, from, m);
      gr_scatter(gr_feed_at(&f->feed, set, job->result, from), to, job->out.stride, m, size);
    }
  }
  gr_feed_give(&f->feed, set);
}

void gr_cpu_formula(const gr_formula_job *job, void *room, void *memory, gr_parallel parallel) {
  formula *f = (formula *)room;
  gr_cpu_formula_feed(room, memory);
  find_gaps(f, job);
  if (job->consumer_count == 0) gr_in_ranges(parallel, job->n, PIECE, store_range, f);
  else if (job->words) reduce_whole(f, parallel);
  else reduce_each(f, parallel);
}
