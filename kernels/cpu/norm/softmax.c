/*
** Softmax of rows: exp(x - max) over the tree's sum of these, in doubles. Pieces of a row are whole subtrees; a row of
** one leaf keeps its exponentials, others make them twice.
*/
#include "kernels/cpu/isa/table.h"

#define PIECE_BYTES (64 * 1024) /* exponentials are slow: smaller pieces than elsewhere */
#define MOST_PIECES 512
#define MOST_LEAF 4096

typedef struct row_state {
  const gr_softmax_job *job;
  int64_t row, piece; /* elements to a piece: a power of two of leaves */
  double most, factor;
  gr_acc sums[MOST_PIECES];
} row_state;

_Static_assert(GR_FLOAT_COUNT == 4, "f64 is the default in both");

static void load(gr_dtype t, double *to, const char *from, int64_t stride, int m) {
  int k;
#define LOAD(type, s)                         \
  for (k = 0; k < m; k++) {                   \
    type x;                                   \
    memcpy(&x, from + k * stride, sizeof(x)); \
    to[k] = gr_widen_##s(x);                  \
  }                                           \
  break
  switch (t) {
    case GR_F16: LOAD(gr_f16, f16);
    case GR_BF16: LOAD(gr_bf16, bf16);
    case GR_F32: LOAD(float, f32);
    default: LOAD(double, f64);
  }
#undef LOAD
}

static void store(gr_dtype t, char *to, int64_t stride, const double *from, double factor, int m) {
  int k;
#define STORE(type, expr)                   \
  for (k = 0; k < m; k++) {                 \
    const double y = from[k] * factor;      \
    const type x = expr;                    \
    memcpy(to + k * stride, &x, sizeof(x)); \
  }                                         \
  break
  switch (t) {
    case GR_F16: STORE(gr_f16, gr_f64_to_f16(y));
    case GR_BF16: STORE(gr_bf16, gr_f64_to_bf16(y));
    case GR_F32: STORE(float, gr_f64_to_f32(y));
    default: STORE(double, gr_canonical(y));
  }
#undef STORE
}

/* exp(x - max) of a leaf's elements. */
static void exponentials(const row_state *s, int64_t from, int m, double *y) {
  const gr_softmax_job *job = s->job;
  const gr_exps exps = gr_cpu_table_in_use()->exps;
  int k;
  load(job->dtype, y, (const char *)job->x.data + s->row * job->x.step + from * job->x.stride, job->x.stride, m);
  for (k = 0; k < m; k += GR_EXPS_CHUNK) exps(y + k, s->most, m - k < GR_EXPS_CHUNK ? m - k : GR_EXPS_CHUNK);
}

static void write(const row_state *s, int64_t from, int m, const double *y) {
  const gr_softmax_job *job = s->job;
  char *out = (char *)(uintptr_t)job->out.data + s->row * job->out.step + from * job->out.stride;
  store(job->dtype, out, job->out.stride, y, s->factor, m);
}

/* A leaf's lanes, folded by halves. */
static gr_acc fold(gr_dtype t, const double *y, int m) {
  const int lanes = GR_LANES(gr_size_of(t));
  double s[GR_ROW_BYTES / 2];
  gr_acc acc;
  int k, l, h;
  for (l = 0; l < lanes; l++) s[l] = -0.0;
  for (k = 0; k < m; k += lanes) {
    const int part = m - k < lanes ? m - k : lanes;
    for (l = 0; l < part; l++) s[l] = s[l] + y[k + l];
  }
  for (h = lanes / 2; h > 0; h /= 2)
    for (l = 0; l < h; l++) s[l] = s[l] + s[l + h];
  acc.f[0] = s[0];
  return acc;
}

static void sum_piece(void *arg, int64_t piece) {
  row_state *s = (row_state *)arg;
  const gr_softmax_job *job = s->job;
  const int leaf = GR_LEAF(gr_size_of(job->dtype));
  int64_t from = piece * s->piece, end = from + s->piece < job->n ? from + s->piece : job->n;
  double y[MOST_LEAF];
  gr_counter c;
  c.top = 0;
  c.count = 0;
  for (; from < end; from += leaf) {
    const int m = end - from < leaf ? (int)(end - from) : leaf;
    exponentials(s, from, m, y);
    gr_counter_push(&c, GR_RED_SUM, GR_ACC_TREE, fold(job->dtype, y, m));
  }
  s->sums[piece] = gr_counter_fold(&c, GR_RED_SUM, GR_ACC_TREE);
}

static void scale_piece(void *arg, int64_t piece) {
  const row_state *s = (const row_state *)arg;
  const int leaf = GR_LEAF(gr_size_of(s->job->dtype));
  int64_t from = piece * s->piece, end = from + s->piece < s->job->n ? from + s->piece : s->job->n;
  double y[MOST_LEAF];
  for (; from < end; from += leaf) {
    const int m = end - from < leaf ? (int)(end - from) : leaf;
    exponentials(s, from, m, y);
    write(s, from, m, y);
  }
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
  const int size = gr_size_of(job->dtype), leaf = GR_LEAF(size);
  row_state s;
  gr_counter c;
  int64_t pieces, k;
  s.job = job;
  s.row = row;
  s.most = largest(job, row, parallel);
  if (job->n <= leaf) {
    double y[MOST_LEAF];
    exponentials(&s, 0, (int)job->n, y);
    s.factor = 1.0 / fold(job->dtype, y, (int)job->n).f[0];
    write(&s, 0, (int)job->n, y);
    return;
  }
  s.piece = PIECE_BYTES / size;
  while ((job->n - 1) / s.piece >= MOST_PIECES) s.piece *= 2;
  pieces = (job->n - 1) / s.piece + 1;
  gr_in_pieces(parallel, pieces, 1, sum_piece, &s);
  c.top = 0;
  c.count = 0;
  for (k = 0; k < pieces; k++) gr_counter_push(&c, GR_RED_SUM, GR_ACC_TREE, s.sums[k]);
  s.factor = 1.0 / gr_counter_fold(&c, GR_RED_SUM, GR_ACC_TREE).f[0];
  gr_in_pieces(parallel, pieces, 1, scale_piece, &s);
}

/* Several short rows to a thread; long ones one after the other, by all threads. */
typedef struct batches {
  const gr_softmax_job *job;
  int64_t rows;
} batches;

static void do_batch(void *arg, int64_t k) {
  const batches *b = (const batches *)arg;
  const int64_t end = (k + 1) * b->rows < b->job->count ? (k + 1) * b->rows : b->job->count;
  int64_t row;
  for (row = k * b->rows; row < end; row++) do_row(b->job, row, NULL);
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
  gr_in_pieces(parallel, job->count, b.rows, do_batch, &b);
}
