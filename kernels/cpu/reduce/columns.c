/*
** Columns. A strip of neighbouring columns is read row by row, a leaf's rows at a time, by kernels that go down
** several columns at once; a few columns without gaps as one vector. Where there is no such kernel a strip is turned so
** that each column lies contiguous; then the kernel for contiguous elements takes one column after the other.
*/
#include <stdlib.h>
#include "kernels/cpu/gather.h"
#include "kernels/cpu/isa/vec_common.h"
#include "kernels/cpu/reduce/reduce.h"

typedef struct strips {
  const gr_plan *p;
  int down;       /* whether columns are taken side by side */
  gr_flat flat;   /* NULL, or takes all columns as one vector */
  int beside;     /* rows beside each other that are taken as one row of more columns; 1: none */
  int columns;    /* in a strip */
  int64_t group;  /* strips to a task, when columns are whole */
  int64_t piece;  /* elements to a task, when columns are cut; a power of two of leaves */
  gr_acc *states; /* when columns are cut: [piece][column] */
} strips;

/* The second input of one column: turned with the first, or shared by all, or gathered. */
static const void *second(const gr_plan *p, const char *turned, int64_t pitch, int64_t v, int c, int64_t from,
                          int64_t m, void *room) {
  const gr_vec *y = &p->job->b;
  if (p->inputs < 2) return NULL;
  if (turned) return turned + c * pitch;
  const char *data = (const char *)y->data + (v + c) * y->step + from * y->stride;
  if (y->stride == p->size) return data;
  gr_gather(room, data, y->stride, m, p->size);
  return room;
}

typedef struct turned {
  char a[GR_STRIP_ROOM], b[GR_STRIP_ROOM];
  uint64_t row[GR_ROW_BYTES * 16 / 8];
  gr_counter c[GR_STRIP_MOST];
} turned;

/* States of columns v .. v + columns - 1 over elements from .. from + n; from is where a leaf starts. */
static void turn_strip(const gr_plan *p, int64_t v, int columns, int64_t from, int64_t n, gr_acc *states) {
  const gr_vec *x = &p->job->a, *y = &p->job->b;
  const int leaf = GR_LEAF(p->size), turn_y = p->inputs == 2 && y->step == p->size && y->stride != p->size;
  const int64_t pitch = (n < leaf ? n : leaf) * p->size + GR_STRIP_PAD;
  turned *room = gr_room_take(sizeof(*room));
  char *a = room->a, *b = room->b;
  gr_counter *c = room->c;
  for (int k = 0; k < columns; k++) gr_counter_begin(&c[k]);
  for (int64_t left = n; left > 0; left -= leaf, from += leaf) {
    const int64_t m = left < leaf ? left : leaf;
    const char *row_x = (const char *)x->data + v * p->size + from * x->stride;
    gr_turn(p->size, a, pitch, row_x, x->stride, m, columns);
    if (turn_y) {
      const char *row_y = (const char *)y->data + v * p->size + from * y->stride;
      gr_turn(p->size, b, pitch, row_y, y->stride, m, columns);
    }
    for (int k = 0; k < columns; k++) {
      gr_acc acc = p->span(a + k * pitch, second(p, turn_y ? b : NULL, pitch, v, k, from, m, room->row), m, p->job);
      if (p->kind == GR_ACC_POSITION) acc.i[1] += from;
      gr_counter_push(&c[k], p->red, p->kind, acc);
    }
  }
  for (int k = 0; k < columns; k++) states[k] = gr_counter_fold(&c[k], p->red, p->kind);
  gr_room_give(room);
}

/* ---- all columns as one vector ---- */

/* Columns at most: lanes of more have no room, but for sums of f32 and f64. */
static int flat_most(const gr_plan *p) {
  return p->inputs < 2 && p->size >= 4 ? gr_cpu_table_in_use()->flat_sums : GR_DOWN_LEAST - 1;
}

/* NULL, or what does so. */
static gr_flat flat_of(const gr_plan *p) {
  const gr_reduce_job *job = p->job;
  const gr_vec *y = &job->b;
  const int64_t row = job->count * p->size;
  if (job->count > flat_most(p) || job->a.stride != row) return NULL;
  if (p->inputs == 2 && y->step == 0 && (job->count < gr_cpu_table_in_use()->flat_least || p->down)) return NULL;
  if (p->inputs == 2 && y->step != 0 && (y->step != p->size || y->stride != row)) return NULL;
  return gr_cpu_table_in_use()->flat[p->red][job->dtype];
}

#define LEVELS 32 /* of a binary counter (gr_counter) */

static void flat_strip(const gr_plan *p, gr_flat flat, int64_t from, int64_t n, gr_acc *states) {
  const gr_vec *x = &p->job->a, *y = &p->job->b;
  const int columns = (int)p->job->count, leaf = GR_LEAF(p->size);
  gr_flat_job f = {.y_wide = y->step != 0, .y_pitch = y->stride, .columns = columns};
  double node[LEVELS][GR_FLAT_SUMS], own[GR_FLAT_SUMS];
  int top = 0;
  f.room = gr_room_take(GR_FLAT_ROOM);
  for (int64_t k = 0; n > 0; n -= leaf, from += leaf, k++) {
    f.x = (const char *)x->data + from * x->stride;
    f.y = p->inputs == 2 ? (const char *)y->data + from * y->stride : NULL;
    f.n = n < leaf ? (int)n : leaf;
    flat(&f, own);
    gr_sums_push(node[0], GR_FLAT_SUMS, &top, k, own, columns);
  }
  gr_sums_fold(node[0], GR_FLAT_SUMS, top, columns);
  for (int i = 0; i < columns; i++) {
    states[i] = gr_identity(GR_ACC_TREE, 0);
    states[i].f[0] = node[0][i];
  }
  gr_room_give(f.room);
}

/* ---- several columns side by side ---- */

#define COUNTED 64 /* columns whose partial results are counted at once */

/* A binary counter (gr_counter) for each column, all of the same number of leaves. */
typedef struct counters {
  _Alignas(64) char lanes[GR_DOWN_ROOM];
  gr_acc node[LEVELS][COUNTED];
  gr_acc own[GR_DOWN_MOST]; /* of the last leaf */
  int top;
  uint64_t count;
} counters;

/* states[c] = node and states[c], the node before it. */
static void join(const gr_plan *p, const gr_acc *node, int columns, gr_acc *states) {
  if (p->kind == GR_ACC_TREE && p->red != GR_RED_PROD) {
    for (int c = 0; c < columns; c++) states[c].f[0] = node[c].f[0] + states[c].f[0];
  } else {
    for (int c = 0; c < columns; c++) states[c] = gr_merge(p->red, p->kind, node[c], states[c]);
  }
}

/* Whether states may be joined as they come, and need no counter. */
static int any_order(const gr_plan *p) {
  return p->kind == GR_ACC_WRAP || p->kind == GR_ACC_ORDER || p->kind == GR_ACC_POSITION;
}

/* Columns in a strip whose variances are of exact sums: no lanes, but two states each (u8 753 x 500 51 us; 16 at a
   time, as many as lanes had room for, 570). */
#define INTEGER_VARIANCES 128
static int columns_down(const gr_plan *p) {
  const int64_t n = p->job->n;
  const int doubles = gr_down_doubles(p->red, p->job->dtype, n);
  const int64_t live = doubles ? gr_down_kept(p->size, n) : gr_down_kept32(p->size, n);
  const int longer = n > GR_LEAF(p->size); /* else lanes stay in the first cache, and no counter is needed */
  const int64_t room = longer ? GR_DOWN_ROOM : GR_DOWN_ROOM / 2;
  int64_t columns = any_order(p) ? GR_DOWN_MOST : room / 8 / live / GR_DOWN_LEAST * GR_DOWN_LEAST;
  if (p->kind == GR_ACC_VARIANCE && p->size <= 2 && !gr_is_float(p->job->dtype)) columns = INTEGER_VARIANCES;
  if (!any_order(p) && longer && columns > COUNTED) columns = COUNTED;
  return columns < GR_DOWN_MOST ? (int)columns : GR_DOWN_MOST;
}

/*
** Columns that are longer than a leaf: the next row, in the same strip, but for an Intel, which finds it by itself (mv
** f32 4000 x 2000 1.6 ms, 1.9 ms with prefetches). Of shorter ones variances, which go over a strip twice, the next
** strip's elements of the same row, where so much is read that it is not cached.
*/
#define NOT_CACHED (1 << 20) /* bytes */
static int64_t bytes_ahead(const gr_plan *p, int single, int columns) {
  const gr_reduce_job *job = p->job;
  if (!single) return GR_IS_INTEL ? 0 : job->a.stride;
  return p->kind == GR_ACC_VARIANCE && job->n * job->count * p->size > NOT_CACHED ? (int64_t)columns * p->size : 0;
}

/* results: where those of columns of a leaf may go instead, or NULL. Whether they went there. */
static int count_strip(const gr_plan *p, int64_t v, int columns, int64_t from, int64_t n, counters *c, gr_acc *states,
                       void *results) {
  const gr_vec *x = &p->job->a, *y = &p->job->b;
  const int leaf = GR_LEAF(p->size), more = columns < p->least ? p->least - columns : 0, two = p->inputs == 2;
  const int whole = columns + more, single = n <= leaf;
  gr_acc *const own = c->own, *to;
  gr_down_job d;
  c->top = 0;
  c->count = 0;
  d.lanes = c->lanes;
  d.pitch = x->stride;
  d.y_pitch = y->stride;
  d.y_wide = two && y->step != 0;
  d.count = whole;
  d.want = gr_down_want(p->job->op);
  d.ahead = bytes_ahead(p, single, whole);
  d.results = single && more == 0 ? results : NULL;
  for (; n > 0; n -= leaf, from += leaf) {
    d.n = n < leaf ? (int)n : leaf;
    d.x = (const char *)x->data + (v - more) * p->size + from * x->stride;
    d.y = two ? (const char *)y->data + (v - more) * y->step + from * y->stride : NULL;
    to = single && more == 0 ? states : own;
    p->down(&d, to);
    if (d.results) return 1;
    if (p->kind == GR_ACC_POSITION)
      for (int i = 0; i < whole; i++) to[i].i[1] += from;
    if (to == states) return 0;
    if (single || (any_order(p) && c->count++ == 0)) {
      memcpy(states, own + more, (size_t)columns * sizeof(*own));
    } else if (any_order(p)) {
      for (int i = 0; i < columns; i++) states[i] = gr_merge(p->red, p->kind, states[i], own[more + i]);
    } else {
      for (uint64_t k = c->count++; k & 1; k >>= 1) join(p, c->node[--c->top], columns, own + more);
      memcpy(c->node[c->top++], own + more, (size_t)columns * sizeof(*own));
    }
  }
  if (c->top == 0) return 0;
  memcpy(states, c->node[--c->top], (size_t)columns * sizeof(*states));
  while (c->top > 0) join(p, c->node[--c->top], columns, states);
  return 0;
}

/* As turn_strip. A strip that is too narrow for a vector begins further left. */
static int down_strip(const gr_plan *p, int64_t v, int columns, int64_t from, int64_t n, gr_acc *states,
                      void *results) {
  counters *c = gr_room_take(sizeof(*c));
  const int there = count_strip(p, v, columns, from, n, c, states, results);
  gr_room_give(c);
  return there;
}

/* Whether the second input lies as kernels that go down columns take it. */
static int goes_down(const gr_plan *p) {
  const gr_vec *y = &p->job->b;
  return p->down && (p->inputs < 2 || y->step == 0 || (y->step == p->size && (y->stride != p->size || p->job->n == 1)));
}

/* ---- rows beside each other, where the order does not matter ---- */

/*
** Of a few columns without gaps, some rows are one row of as many columns as keep loads and additions of several rows
** under way. Columns that are too few to go down are better turned where loops along rows are left to compilers and a
** register holds many elements: u8 8000 x 9 takes 1.4 to 5 times as long by rows beside each other, i64 0.4 to 0.5 of
** the time; where columns stay in registers, max u8 10000 x 9 a third, argmax i32 71062 x 6 0.4, dot i8 12534 x 4 0.5.
*/
#define BESIDE 64 /* columns */
static int goes_beside(const gr_plan *p) {
  const int halves = p->size == 2 && gr_is_float(p->job->dtype), narrow = p->size <= 2;
  if (p->size == 8 || (p->size == 4 && !gr_is_float(p->job->dtype) && p->kind != GR_ACC_POSITION)) return 1;
  if (!gr_cpu_table_in_use()->beside) return 0;
  return p->red == GR_RED_SUM ? !narrow : p->kind == GR_ACC_ORDER ? !halves : 1;
}
static int rows_beside(const gr_plan *p) {
  const gr_reduce_job *job = p->job;
  const gr_vec *y = &job->b;
  const int64_t row = job->count * p->size;
  if (!any_order(p) || job->count > BESIDE / 2 || job->n < 8 * BESIDE || job->a.stride != row) return 1;
  if (job->count < GR_DOWN_LEAST && !goes_beside(p)) return 1;
  if (p->inputs == 2 && (y->step != p->size || y->stride != row)) return 1;
  return gr_cpu_table_in_use()->down[p->red][job->dtype] ? BESIDE / (int)job->count : 1;
}

static void beside_strip(const strips *s, int64_t from, int64_t n, gr_acc *states) {
  const gr_plan *p = s->p;
  const int columns = (int)p->job->count, beside = s->beside, rest = (int)(n % beside);
  gr_reduce_job job = *p->job;
  gr_acc found[BESIDE];
  job.a.data = (const char *)job.a.data + from * job.a.stride;
  job.a.stride *= beside;
  if (p->inputs == 2) {
    job.b.data = (const char *)job.b.data + from * job.b.stride;
    job.b.stride *= beside;
  }
  job.count *= beside;
  job.n = n / beside;
  gr_plan wide = gr_plan_of(&job);
  if (rest > 0 && s->down) down_strip(p, 0, columns, from + n - rest, rest, states, NULL);
  else if (rest > 0) turn_strip(p, 0, columns, from + n - rest, rest, states);
  if (job.n == 0) return;
  down_strip(&wide, 0, columns * beside, 0, job.n, found, NULL);
  for (int i = 0; i < beside; i++) {
    for (int k = 0; k < columns; k++) {
      gr_acc *const own = found + i * columns + k;
      if (p->kind == GR_ACC_POSITION) own->i[1] = from + own->i[1] * beside + i;
      if (i == 0 && rest == 0) states[k] = *own;
      else states[k] = gr_merge(p->red, p->kind, states[k], *own);
    }
  }
}

static int do_strip(const strips *s, int64_t v, int columns, int64_t from, int64_t n, gr_acc *states, void *results) {
  if (s->beside > 1) return beside_strip(s, from, n, states), 0;
  if (s->down) return down_strip(s->p, v, columns, from, n, states, results);
  if (s->flat) return flat_strip(s->p, s->flat, from, n, states), 0;
  turn_strip(s->p, v, columns, from, n, states);
  return 0;
}

static int strip_width(const strips *s, int64_t v) {
  const int64_t left = s->p->job->count - v;
  return left < s->columns ? (int)left : s->columns;
}

/* A few strips, whole columns. */
static void do_group(void *arg, int64_t k) {
  const strips *s = (const strips *)arg;
  const int64_t count = s->p->job->count, step = s->columns;
  int64_t v = k * s->group * step, end = v + s->group * step;
  gr_acc states[GR_DOWN_MOST];
  for (; v < end && v < count; v += step) {
    const int width = strip_width(s, v);
    void *results = gr_results_at(s->p, v);
    if (do_strip(s, v, width, 0, s->p->job->n, states, results)) gr_finish_results(s->p, width, results);
    else gr_finish_vectors(s->p, v, width, states);
  }
}

/* One strip, one piece of its length. */
static void do_cut(void *arg, int64_t k) {
  const strips *s = (const strips *)arg;
  const gr_reduce_job *job = s->p->job;
  const int64_t across = (job->count - 1) / s->columns + 1, v = k % across * s->columns, piece = k / across;
  const int64_t from = piece * s->piece, left = job->n - from;
  do_strip(s, v, strip_width(s, v), from, left < s->piece ? left : s->piece, s->states + piece * job->count + v, NULL);
}

/* Few but long columns: cut them, so that all threads have work; states: room for GR_MOST_STATES. */
static void cut_columns(strips *s, gr_acc *states, gr_parallel parallel) {
  const gr_plan *p = s->p;
  const gr_reduce_job *job = p->job;
  s->piece = GR_LEAF(p->size);
  while (s->piece * s->columns * p->size < GR_PIECE_BYTES ||
         ((job->n - 1) / s->piece + 1) * job->count > GR_MOST_STATES)
    s->piece *= 2;
  s->states = states;
  int64_t pieces = (job->n - 1) / s->piece + 1;
  parallel(pieces * ((job->count - 1) / s->columns + 1), do_cut, s);
  for (int64_t v = 0; v < job->count; v++) {
    gr_counter c;
    gr_counter_begin(&c);
    for (int64_t k = 0; k < pieces; k++) gr_counter_push(&c, p->red, p->kind, states[k * job->count + v]);
    gr_finish_vector(p, v, gr_counter_fold(&c, p->red, p->kind));
  }
}

void gr_reduce_columns(const gr_plan *p, gr_parallel parallel) {
  const gr_reduce_job *job = p->job;
  strips s;
  s.p = p;
  s.flat = flat_of(p);
  s.down = !s.flat && goes_down(p);
  s.beside = rows_beside(p);
  s.columns = s.beside > 1 || s.flat ? (int)job->count
              : s.down               ? columns_down(p)
                                     : GR_STRIP_BYTES / (GR_LEAF(p->size) * p->size);
  s.states = NULL;
  int64_t across = (job->count - 1) / s.columns + 1;
  int64_t strip_bytes = job->n * s.columns * p->size;
  if (parallel && job->count <= GR_MOST_STATES / 4 && across < 64 && strip_bytes > 2 * GR_PIECE_BYTES) {
    gr_acc *states = malloc(GR_MOST_STATES * sizeof(*states));
    if (states) cut_columns(&s, states, parallel);
    free(states);
    if (states) return;
  }
  s.group = GR_PIECE_BYTES / strip_bytes + 1;
  gr_in_pieces(parallel, across, s.group, do_group, &s);
}
