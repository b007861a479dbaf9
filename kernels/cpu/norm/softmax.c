/*
** Softmax of rows: exp(x - max), in f32 but for f64, over the tree's sum of these, in doubles. Pieces of a row are
** whole subtrees. Short rows are turned, a block of them at a time. Exponentials of other rows of f32 side by side wait
** where the results go; else those of a row of some length are kept, those of longer ones made twice.
*/
#include "kernels/cpu/norm/narrow.h"
#include "kernels/cpu/room.h"

#define PIECE_BYTES (64 * 1024) /* exponentials are slow: smaller pieces than elsewhere */
#define MOST_PIECES 512
#define MOST_KEPT 4096                   /* elements, a leaf of any dtype at least */
#define MOST_KEPT_BESIDE (2 * MOST_KEPT) /* of 16-bit floats side by side, whose exponentials are f32 */
#define LEAST_BLOCK 20                   /* rows: to turn fewer, a block of 64 takes longer than each by itself */

typedef struct row_state {
  const gr_softmax_job *job;
  int64_t row, piece; /* elements to a piece: a power of two of leaves */
  double most, factor;
  gr_acc sums[MOST_PIECES];
} row_state;

#define KEPT_ROOM ((MOST_KEPT + 8) * sizeof(double)) /* and what is overwritten behind doubles */
_Static_assert(MOST_KEPT_BESIDE * sizeof(float) <= KEPT_ROOM && GR_LEAF(2) <= MOST_KEPT, "what is kept has room");

static const char *element(const row_state *s, int64_t from) {
  const gr_softmax_job *job = s->job;
  return (const char *)job->x.data + s->row * job->x.step + from * job->x.stride;
}

/* exp(x - max) of some elements. */
static void exponentials(const row_state *s, int64_t from, int m, double *y) {
  gr_cpu_table_in_use()->exps(s->job->dtype, element(s, from), s->job->x.stride, m, s->most, y);
}

static void write(const row_state *s, int64_t from, int m, const double *y) {
  const gr_softmax_job *job = s->job;
  char *out = (char *)(uintptr_t)job->out.data + s->row * job->out.step + from * job->out.stride;
  gr_cpu_table_in_use()->scaled_store(job->dtype, out, job->out.stride, y, s->factor, m);
}

/* A leaf's lanes, folded by halves. */
static gr_acc fold(gr_dtype t, const double *y, int m) {
  gr_acc acc;
  acc.f[0] = gr_cpu_table_in_use()->leaf_sum(t, y, m);
  acc.f[1] = acc.f[2] = 0;
  return acc;
}

static void sum_piece(void *arg, int64_t piece) {
  row_state *s = (row_state *)arg;
  const gr_softmax_job *job = s->job;
  const int leaf = GR_LEAF(gr_size_of(job->dtype));
  int64_t from = piece * s->piece, end = from + s->piece < job->n ? from + s->piece : job->n;
  double *y = gr_room_take(KEPT_ROOM);
  gr_counter c;
  c.top = 0;
  c.count = 0;
  for (; from < end; from += leaf) {
    const int m = end - from < leaf ? (int)(end - from) : leaf;
    exponentials(s, from, m, y);
    gr_counter_push(&c, GR_RED_SUM, GR_ACC_TREE, fold(job->dtype, y, m));
  }
  gr_room_give(y);
  s->sums[piece] = gr_counter_fold(&c, GR_RED_SUM, GR_ACC_TREE);
}

static void scale_piece(void *arg, int64_t piece) {
  const row_state *s = (const row_state *)arg;
  const int leaf = GR_LEAF(gr_size_of(s->job->dtype));
  int64_t from = piece * s->piece, end = from + s->piece < s->job->n ? from + s->piece : s->job->n;
  double *y = gr_room_take(KEPT_ROOM);
  for (; from < end; from += leaf) {
    const int m = end - from < leaf ? (int)(end - from) : leaf;
    exponentials(s, from, m, y);
    write(s, from, m, y);
  }
  gr_room_give(y);
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

/* ---- f32 and 16-bit floats side by side: all is f32 ---- */

static int is_beside(const gr_softmax_job *job) {
  const int size = gr_size_of(job->dtype);
  return job->dtype != GR_F64 && job->x.stride == size && job->out.stride == size;
}

/* A piece of the row: its elements from *from on; how many. */
static int64_t piece_of(const row_state *s, int64_t piece, int64_t *from) {
  *from = piece * s->piece;
  return *from + s->piece < s->job->n ? s->piece : s->job->n - *from;
}
static char *result(const row_state *s, int64_t from) {
  const gr_vec *out = &s->job->out;
  return (char *)(uintptr_t)out->data + s->row * out->step + from * out->stride;
}

/* Makes exponentials of m elements, in y, and adds them up; from is where a leaf starts. */
static gr_acc exps_and_sum(const row_state *s, int64_t from, int64_t m, float *y) {
  const gr_dtype t = s->job->dtype;
  const gr_cpu_table *table = gr_cpu_table_in_use();
  const int leaf = GR_LEAF(gr_size_of(t));
  gr_counter c;
  int64_t k;
  table->exps_beside(t, element(s, from), (float)s->most, m, y);
  if (t == GR_F32) return table->span[GR_RED_SUM][GR_F32](y, NULL, m, NULL);
  c.top = 0;
  c.count = 0;
  for (k = 0; k < m; k += leaf) {
    gr_acc acc = {.f = {table->leaf_sum_beside(t, y + k, m - k < leaf ? (int)(m - k) : leaf)}};
    gr_counter_push(&c, GR_RED_SUM, GR_ACC_TREE, acc);
  }
  return gr_counter_fold(&c, GR_RED_SUM, GR_ACC_TREE);
}
static void scale_to_results(const row_state *s, int64_t from, int64_t m, const float *y) {
  gr_cpu_table_in_use()->scale_beside(s->job->dtype, y, (float)s->factor, m, result(s, from));
}

/* Pieces of long rows: where exponentials of f32 go is room for them, of 16 bits there is none. */
static void sum_beside(void *arg, int64_t piece) {
  row_state *s = (row_state *)arg;
  const int leaf = GR_LEAF(2);
  int64_t from, k;
  const int64_t m = piece_of(s, piece, &from);
  if (s->job->dtype == GR_F32) {
    s->sums[piece] = exps_and_sum(s, from, m, (float *)(void *)result(s, from));
  } else {
    float *y = gr_room_take(KEPT_ROOM);
    gr_counter c;
    c.top = 0;
    c.count = 0;
    for (k = 0; k < m; k += leaf)
      gr_counter_push(&c, GR_RED_SUM, GR_ACC_TREE, exps_and_sum(s, from + k, m - k < leaf ? m - k : leaf, y));
    s->sums[piece] = gr_counter_fold(&c, GR_RED_SUM, GR_ACC_TREE);
    gr_room_give(y);
  }
}
static void scale_piece_beside(void *arg, int64_t piece) {
  const row_state *s = (const row_state *)arg;
  int64_t from, k;
  const int64_t m = piece_of(s, piece, &from);
  if (s->job->dtype == GR_F32) {
    scale_to_results(s, from, m, (const float *)(const void *)result(s, from));
  } else {
    float *y = gr_room_take(KEPT_ROOM);
    for (k = 0; k < m; k += MOST_KEPT_BESIDE) {
      const int64_t few = m - k < MOST_KEPT_BESIDE ? m - k : MOST_KEPT_BESIDE;
      gr_cpu_table_in_use()->exps_beside(s->job->dtype, element(s, from + k), (float)s->most, few, y);
      scale_to_results(s, from + k, few, y);
    }
    gr_room_give(y);
  }
}

/* ---- rows ---- */

static void do_row(const gr_softmax_job *job, int64_t row, gr_parallel parallel) {
  const int size = gr_size_of(job->dtype), leaf = GR_LEAF(size);
  row_state s;
  gr_counter c;
  int64_t pieces, k;
  s.job = job;
  s.row = row;
  s.most = largest(job, row, parallel);
  c.top = 0;
  c.count = 0;
  if (is_beside(job) && job->dtype != GR_F32 && job->n <= MOST_KEPT_BESIDE) {
    float *y = gr_room_take(KEPT_ROOM);
    s.factor = gr_softmax_factor(job->dtype, exps_and_sum(&s, 0, job->n, y).f[0]);
    scale_to_results(&s, 0, job->n, y);
    gr_room_give(y);
    return;
  }
  if (!is_beside(job) && job->n <= MOST_KEPT) {
    double *y = gr_room_take(KEPT_ROOM);
    const int n = (int)job->n;
    int from;
    exponentials(&s, 0, n, y);
    for (from = 0; from < n; from += leaf)
      gr_counter_push(&c, GR_RED_SUM, GR_ACC_TREE, fold(job->dtype, y + from, n - from < leaf ? n - from : leaf));
    s.factor = gr_softmax_factor(job->dtype, gr_counter_fold(&c, GR_RED_SUM, GR_ACC_TREE).f[0]);
    write(&s, 0, n, y);
    gr_room_give(y);
    return;
  }
  s.piece = PIECE_BYTES / size;
  while ((job->n - 1) / s.piece >= MOST_PIECES) s.piece *= 2;
  pieces = (job->n - 1) / s.piece + 1;
  gr_in_pieces(parallel, pieces, 1, is_beside(job) ? sum_beside : sum_piece, &s);
  for (k = 0; k < pieces; k++) gr_counter_push(&c, GR_RED_SUM, GR_ACC_TREE, s.sums[k]);
  s.factor = gr_softmax_factor(job->dtype, gr_counter_fold(&c, GR_RED_SUM, GR_ACC_TREE).f[0]);
  gr_in_pieces(parallel, pieces, 1, is_beside(job) ? scale_piece_beside : scale_piece, &s);
}

/* Several short rows to a thread; long ones one after the other, by all threads. */
typedef struct batches {
  const gr_softmax_job *job;
  int64_t rows;
} batches;

static int are_narrow(const gr_softmax_job *job) {
  const int most = job->dtype == GR_F64 ? GR_NARROW_MOST : GR_NARROW_MOST_F32;
  return gr_takes_narrow(job->dtype, most, job->n, job->count, &job->x, &job->out);
}

static void do_batch(void *arg, int64_t k) {
  const batches *b = (const batches *)arg;
  int64_t row = k * b->rows, end = row + b->rows;
  if (end > b->job->count) end = b->job->count;
  if (are_narrow(b->job)) { /* but for what would be a block of few rows */
    const int64_t left = (end - row) % GR_NARROW_ROWS, by_blocks = left < LEAST_BLOCK ? end - left : end;
    gr_narrow_rows(gr_cpu_table_in_use()->narrow_softmax, b->job->dtype, &b->job->x, &b->job->out, (int)b->job->n, row,
                   by_blocks, NULL, 0);
    row = by_blocks;
  }
  for (; row < end; row++) do_row(b->job, row, NULL);
}

void gr_cpu_softmax(const gr_softmax_job *job, gr_parallel parallel) {
  const int64_t bytes = job->n * gr_size_of(job->dtype);
  batches b;
  int64_t row;
  if (job->n == 0 || job->count == 0) return;
  if (bytes >= 4 * PIECE_BYTES) {
    for (row = 0; row < job->count && !(row && gr_stopped()); row++) do_row(job, row, parallel);
    return;
  }
  b.job = job;
  b.rows = PIECE_BYTES / bytes + 1;
  if (are_narrow(job)) b.rows = (b.rows + GR_NARROW_ROWS - 1) / GR_NARROW_ROWS * GR_NARROW_ROWS;
  gr_in_pieces(parallel, job->count, b.rows, do_batch, &b);
}
