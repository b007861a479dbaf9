/*
** Softmax of rows: exp(x - max), in f32 but for f64, over the tree's sum of these, in doubles. Pieces of a row are
** whole subtrees. Short rows are turned, a block of them at a time; others of up to a leaf, side by side, are done some
** at a time by loops of the instruction set. Exponentials of longer rows of f32 and f64 side by side wait where the
** results go, those of 16-bit floats in the thread's room, unless threads share the row; all others are made twice if a
** row has more than some thousand elements.
*/
#include "kernels/cpu/norm/narrow.h"
#include "kernels/cpu/room.h"

#define PIECE_BYTES (64 * 1024) /* exponentials are slow: smaller pieces than elsewhere */
#define MOST_PIECES 512
#define SHARED_BYTES (4 * PIECE_BYTES) /* a row that threads share */
#define MOST_KEPT 4096                 /* elements, a leaf of any dtype at least */
/* Of 16-bit floats side by side, whose exponentials are f32: all of a row that one thread does, as the second cache
   delivers them sooner than they are made again (f16 of 12232 elements 8.3 -> 5.4 us, bf16 of 47654 35 -> 21). */
#define MOST_KEPT_BESIDE (SHARED_BYTES / 2)
#define LEAST_BLOCK 20 /* rows: to turn fewer, a block of 64 takes longer than each by itself */
/* Bytes of exponentials from which on rows side by side are not turned: two lines of the cache (one thread of a Xeon,
   us turned and not: f32 2000 x 28 80 and 88, x 32 104 and 81; f64 x 12 83 and 116, x 20 157 and 155). */
#define LEAST_BESIDE 128
#define MOST_TURNED(bytes) ((LEAST_BESIDE - 1) / (bytes)) /* elements */
_Static_assert(MOST_TURNED(4) <= GR_NARROW_MOST, "turned rows have room");

/* Bytes of rows up to which they and their results are in the second cache, where prefetches cost 0 to 8 % (us without
   and with: f32 2672 x 342 597 and 489, f64 2832 x 212 947 and 769, f16 3000 x 300 467 and 407). */
#define CACHED (768 * 1024)

typedef struct row_state {
  const gr_softmax_job *job;
  int64_t row, piece; /* elements to a piece: a power of two of leaves */
  int beside;         /* f32 and 16-bit floats side by side, whose exponentials are kept as f32; else as doubles */
  int in_place;       /* those of f32 and f64 side by side where the results go */
  double most, factor;
  gr_acc sums[MOST_PIECES];
} row_state;

#define KEPT_ROOM (MOST_KEPT_BESIDE * sizeof(float))
_Static_assert((MOST_KEPT + 8) * sizeof(double) <= KEPT_ROOM && GR_LEAF(2) <= MOST_KEPT, "what is kept has room");

static const char *element(const row_state *s, int64_t from) {
  const gr_softmax_job *job = s->job;
  return (const char *)job->x.data + s->row * job->x.step + from * job->x.stride;
}
static char *result(const row_state *s, int64_t from) {
  const gr_vec *out = &s->job->out;
  return (char *)(uintptr_t)out->data + s->row * out->step + from * out->stride;
}

/* Of f64, where nothing behind the last of m may be overwritten. */
static void exps_in_place(const gr_cpu_table *table, const char *x, int m, double most, double *y) {
  double last[8];
  const int rest = m % 8, whole = m - rest;
  table->exps(GR_F64, x, sizeof(double), whole, most, y);
  if (rest == 0) return;
  table->exps(GR_F64, x + whole * (int)sizeof(double), sizeof(double), rest, most, last);
  memcpy(y + whole, last, (size_t)rest * sizeof(*y));
}

/* exp(x - max) of some elements, as they are kept. */
static void exponentials(const row_state *s, int64_t from, int m, void *y) {
  const gr_softmax_job *job = s->job;
  const gr_cpu_table *table = gr_cpu_table_in_use();
  if (s->beside) table->exps_beside(job->dtype, element(s, from), (float)s->most, m, (float *)y);
  else if (s->in_place) exps_in_place(table, element(s, from), m, s->most, (double *)y);
  else table->exps(job->dtype, element(s, from), job->x.stride, m, s->most, (double *)y);
}

/* The sum of m kept ones, of which the first is where a leaf starts. */
static gr_acc sum_of(const row_state *s, int m, const void *y) {
  const gr_dtype t = s->job->dtype;
  const gr_cpu_table *table = gr_cpu_table_in_use();
  const int leaf = GR_LEAF(gr_size_of(t));
  gr_counter c;
  if (s->in_place) return table->span[GR_RED_SUM][t](y, NULL, m, NULL);
  gr_counter_begin(&c);
  for (int k = 0; k < m; k += leaf) {
    const int some = m - k < leaf ? m - k : leaf;
    gr_acc acc = {.f = {0}};
    acc.f[0] = s->beside ? table->leaf_sum_beside(t, (const float *)y + k, some)
                         : table->leaf_sum(t, (const double *)y + k, some);
    gr_counter_push(&c, GR_RED_SUM, GR_ACC_TREE, acc);
  }
  return gr_counter_fold(&c, GR_RED_SUM, GR_ACC_TREE);
}

static void write(const row_state *s, int64_t from, int m, const void *y) {
  const gr_softmax_job *job = s->job;
  const gr_cpu_table *table = gr_cpu_table_in_use();
  char *out = result(s, from);
  if (s->beside) table->scale_beside(job->dtype, (const float *)y, (float)s->factor, m, out);
  else table->scaled_store(job->dtype, out, job->out.stride, (const double *)y, s->factor, m);
}

/* Elements whose exponentials are kept at once; where, of those from `from` on. */
static int kept_at_once(const row_state *s) { return s->beside && !s->in_place ? MOST_KEPT_BESIDE : MOST_KEPT; }
static void *kept(const row_state *s, int64_t from, void *room) { return s->in_place ? result(s, from) : room; }

/* A piece of a row: its exponentials are made and added up; or, once the factor is known, written. */
static int64_t end_of(const row_state *s, int64_t from) {
  return from + s->piece < s->job->n ? from + s->piece : s->job->n;
}
static void sum_piece(void *arg, int64_t piece) {
  row_state *s = (row_state *)arg;
  const int most = kept_at_once(s);
  int64_t from = piece * s->piece, end = end_of(s, from);
  void *room = gr_room_take(KEPT_ROOM);
  gr_counter c;
  gr_counter_begin(&c);
  for (; from < end; from += most) {
    const int m = end - from < most ? (int)(end - from) : most;
    void *y = kept(s, from, room);
    exponentials(s, from, m, y);
    gr_counter_push(&c, GR_RED_SUM, GR_ACC_TREE, sum_of(s, m, y));
  }
  gr_room_give(room);
  s->sums[piece] = gr_counter_fold(&c, GR_RED_SUM, GR_ACC_TREE);
}
static void scale_piece(void *arg, int64_t piece) {
  const row_state *s = (const row_state *)arg;
  const int most = kept_at_once(s);
  int64_t from = piece * s->piece, end = end_of(s, from);
  void *room = gr_room_take(KEPT_ROOM);
  for (; from < end; from += most) {
    const int m = end - from < most ? (int)(end - from) : most;
    void *y = kept(s, from, room);
    if (!s->in_place) exponentials(s, from, m, y);
    write(s, from, m, y);
  }
  gr_room_give(room);
}

static double largest(const gr_softmax_job *job, int64_t row, gr_parallel parallel) {
  gr_reduce_job max;
  memset(&max, 0, sizeof(max));
  max.op = GR_OP_max;
  max.dtype = job->dtype;
  max.n = job->n;
  max.count = 1;
  max.a = job->x;
  max.a.data = (const char *)job->x.data + row * job->x.step;
  return gr_cpu_reduce_value(&max, parallel).v[0].f;
}

static void do_row(const gr_softmax_job *job, int64_t row, gr_parallel parallel) {
  const int size = gr_size_of(job->dtype), dense = job->x.stride == size && job->out.stride == size;
  row_state s;
  gr_counter c;
  s.job = job;
  s.row = row;
  s.beside = dense && job->dtype != GR_F64;
  s.in_place = dense && size >= 4;
  s.most = largest(job, row, parallel);
  if (job->n <= kept_at_once(&s)) {
    void *room = gr_room_take(KEPT_ROOM), *y = kept(&s, 0, room);
    exponentials(&s, 0, (int)job->n, y);
    s.factor = gr_softmax_factor(job->dtype, sum_of(&s, (int)job->n, y).f[0]);
    write(&s, 0, (int)job->n, y);
    gr_room_give(room);
    return;
  }
  s.piece = PIECE_BYTES / size;
  while ((job->n - 1) / s.piece >= MOST_PIECES) s.piece *= 2;
  int64_t pieces = (job->n - 1) / s.piece + 1;
  gr_in_pieces(parallel, pieces, 1, sum_piece, &s);
  gr_counter_begin(&c);
  for (int64_t k = 0; k < pieces; k++) gr_counter_push(&c, GR_RED_SUM, GR_ACC_TREE, s.sums[k]);
  s.factor = gr_softmax_factor(job->dtype, gr_counter_fold(&c, GR_RED_SUM, GR_ACC_TREE).f[0]);
  gr_in_pieces(parallel, pieces, 1, scale_piece, &s);
}

/* Several short rows to a thread; long ones one after the other, by all threads. */
typedef struct batches {
  const gr_softmax_job *job;
  int64_t rows;
} batches;

static int are_narrow(const gr_softmax_job *job) {
  const int most = MOST_TURNED(job->dtype == GR_F64 ? 8 : 4);
  return job->n > 1 && gr_takes_narrow(job->dtype, most, job->n, job->count, &job->x, &job->out);
}

static void do_batch(void *arg, int64_t k) {
  const batches *b = (const batches *)arg;
  const gr_vec *x = &b->job->x, *out = &b->job->out;
  const int size = gr_size_of(b->job->dtype);
  int64_t row = k * b->rows, end = row + b->rows;
  if (end > b->job->count) end = b->job->count;
  if (are_narrow(b->job)) { /* but for what would be a block of few rows */
    const int64_t left = (end - row) % GR_NARROW_ROWS, by_blocks = left < LEAST_BLOCK ? end - left : end;
    gr_narrow_rows(gr_cpu_table_in_use()->narrow_softmax, b->job->dtype, x, out, (int)b->job->n, row, by_blocks, NULL,
                   0);
    row = by_blocks;
  }
  if (x->stride == size && out->stride == size && b->job->n <= GR_LEAF(size)) {
    gr_cpu_table_in_use()->softmax_leaves(b->job->dtype, (const char *)x->data + row * x->step, x->step, (int)b->job->n,
                                          (char *)(uintptr_t)out->data + row * out->step, out->step, end - row,
                                          b->job->count * b->job->n * size > CACHED);
    return;
  }
  for (; row < end; row++) do_row(b->job, row, NULL);
}

void gr_cpu_softmax(const gr_softmax_job *job, gr_parallel parallel) {
  const int64_t bytes = job->n * gr_size_of(job->dtype);
  batches b;
  if (job->n == 0 || job->count == 0) return;
  if (bytes >= SHARED_BYTES) {
    for (int64_t row = 0; row < job->count && !(row && gr_stopped()); row++) do_row(job, row, parallel);
    return;
  }
  b.job = job;
  b.rows = PIECE_BYTES / bytes + 1;
  if (are_narrow(job)) b.rows = (b.rows + GR_NARROW_ROWS - 1) / GR_NARROW_ROWS * GR_NARROW_ROWS;
  gr_in_pieces(parallel, job->count, b.rows, do_batch, &b);
}
