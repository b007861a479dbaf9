/*
** Reductions: takes a job apart into stretches that one kernel call does, and folds what comes back along
** the tree. Vectors that are not contiguous are gathered leaf by leaf (columns: see columns.c).
*/
#include "kernels/cpu/gather.h"
#include "kernels/cpu/reduce/reduce.h"

#define MAX_PIECES 512

static int inputs_of(gr_reducer red) {
  static const signed char inputs[] = {
#define GR_X(id, inputs, f, i) inputs,
    GR_REDUCERS(GR_X)
#undef GR_X
  };
  return inputs[red];
}

static gr_span span_of(gr_reducer red, gr_op op, gr_dtype t) {
  const gr_cpu_table *table = gr_cpu_table_in_use();
  if (op == GR_OP_min && table->lowest[t]) return table->lowest[t];
  if (op == GR_OP_max && table->highest[t]) return table->highest[t];
  return table->span[red][t];
}

gr_plan gr_plan_of(const gr_reduce_job *job) {
  gr_plan p;
  p.job = job;
  p.red = gr_reducer_of(job->op, job->dtype);
  p.kind = gr_acc_kind_of(p.red, job->dtype);
  p.size = gr_size_of(job->dtype);
  p.inputs = inputs_of(p.red);
  p.span = span_of(p.red, job->op, job->dtype);
  p.least = gr_down_least(p.kind, p.size);
  p.down = job->count >= p.least ? gr_cpu_table_in_use()->down[p.red][job->dtype] : NULL;
  return p;
}

/* Elements from .. from + m of vector v; from is where a leaf starts. */
static gr_acc range(const gr_plan *p, int64_t v, int64_t from, int64_t m) {
  const gr_vec *x = &p->job->a, *y = &p->job->b;
  const int two = p->inputs == 2, leaf = GR_LEAF(p->size);
  const int gather_x = x->stride != p->size, gather_y = two && y->stride != p->size;
  const char *a = (const char *)x->data + v * x->step + from * x->stride;
  const char *b = two ? (const char *)y->data + v * y->step + from * y->stride : a;
  enum { WORDS = GR_ROW_BYTES * 16 / 8 };
  uint64_t *u, *w;
  gr_counter c;
  if (!gather_x && !gather_y) {
    gr_acc acc = p->span(a, b, m, p->job);
    if (p->kind == GR_ACC_POSITION) acc.i[1] += from;
    return acc;
  }
  u = gr_room_take(2 * WORDS * sizeof(*u));
  w = u + WORDS;
  gr_counter_begin(&c);
  for (; m > 0; m -= leaf, from += leaf) {
    const int64_t part = m < leaf ? m : leaf;
    if (gather_x) gr_gather(u, a, x->stride, part, p->size);
    if (gather_y) gr_gather(w, b, y->stride, part, p->size);
    {
      gr_acc acc = p->span(gather_x ? (const void *)u : a, gather_y ? (const void *)w : b, part, p->job);
      if (p->kind == GR_ACC_POSITION) acc.i[1] += from;
      gr_counter_push(&c, p->red, p->kind, acc);
    }
    a += leaf * x->stride;
    if (two) b += leaf * y->stride;
  }
  gr_room_give(u);
  return gr_counter_fold(&c, p->red, p->kind);
}

/* One large vector cut into subtrees of equal size. What other threads need to begin fits one cache line. */
typedef struct pieces {
  _Alignas(64) gr_span span;
  const char *a, *b;
  int64_t n, size;
  const gr_plan *p; /* NULL: side by side */
  const gr_reduce_job *job;
  int step, positions; /* bytes of an element; whether positions are looked for */
  int64_t v;
  _Alignas(64) gr_acc acc[MAX_PIECES];
} pieces;

static void do_piece(void *arg, int64_t k) {
  pieces *s = (pieces *)arg;
  const int64_t from = k * s->size, left = s->n - from, m = left < s->size ? left : s->size;
  gr_acc acc;
  if (s->p) {
    acc = range(s->p, s->v, from, m);
  } else {
    acc = s->span(s->a + from * s->step, s->b + from * s->step, m, s->job);
    if (s->positions) acc.i[1] += from;
  }
  s->acc[k] = acc;
}

/* Elements in a piece. A second thread is worth its while from five on; variances take more than twice as long as
   sums. */
#define SMALL_PIECE (64 * 1024) /* bytes */
static int64_t piece_of(const gr_plan *p) {
  return SMALL_PIECE / (p->kind == GR_ACC_VARIANCE ? 2 : 1) / (p->inputs == 2 ? 2 : 1) / p->size;
}

/* Whether a vector is worth cutting; and the elements of a piece then. */
static int is_cut(const gr_plan *p) { return p->job->n > 4 * piece_of(p); }
static int64_t cut_of(const gr_plan *p) {
  int64_t size = piece_of(p);
  while ((p->job->n - 1) / size >= MAX_PIECES) size *= 2;
  return size;
}

static gr_acc in_pieces(const gr_plan *p, int64_t v, gr_parallel parallel) {
  const gr_vec *x = &p->job->a, *y = p->inputs == 2 ? &p->job->b : x;
  pieces s;
  gr_counter c;
  int64_t count, k;
  s.span = p->span;
  s.a = (const char *)x->data + v * x->step;
  s.b = (const char *)y->data + v * y->step;
  s.n = p->job->n;
  s.p = x->stride == p->size && y->stride == p->size ? NULL : p;
  s.job = p->job;
  s.step = p->size;
  s.positions = p->kind == GR_ACC_POSITION;
  s.v = v;
  s.size = cut_of(p);
  count = (s.n - 1) / s.size + 1;
  parallel(count, do_piece, &s);
  gr_counter_begin(&c);
  for (k = 0; k < count; k++) gr_counter_push(&c, p->red, p->kind, s.acc[k]);
  return gr_counter_fold(&c, p->red, p->kind);
}

static gr_acc whole_vector(const gr_plan *p, int64_t v, gr_parallel parallel) {
  const gr_reduce_job *job = p->job;
  const int64_t n = job->n;
  if (n == 0) return gr_identity(p->kind, p->red == GR_RED_PROD);
  if (parallel && is_cut(p)) return in_pieces(p, v, parallel);
  if (job->a.stride == p->size && (p->inputs < 2 || job->b.stride == p->size)) /* most calls, and the quickest */
    return p->span((const char *)job->a.data + v * job->a.step,
                   p->inputs < 2 ? NULL : (const char *)job->b.data + v * job->b.step, n, job);
  return range(p, v, 0, n);
}

gr_value gr_cpu_reduce_value(const gr_reduce_job *job, gr_parallel parallel) {
  const gr_plan p = gr_plan_of(job);
  const gr_acc acc = whole_vector(&p, 0, parallel);
  gr_value r;
  gr_finish_state(job, &acc, &r);
  return r;
}

void gr_cpu_reduce_states(const gr_reduce_job *job, gr_acc *states, gr_parallel parallel) {
  const gr_plan p = gr_plan_of(job);
  for (int64_t v = 0; v < job->count && !(v && v % 64 == 0 && gr_stopped()); v++)
    states[v] = whole_vector(&p, v, parallel);
}

void gr_cpu_reduce_small(gr_op op, gr_dtype t, const void *a, const void *b, int64_t n, gr_value *r) {
  gr_reduce_job job; /* what kernels and finish read of it */
  gr_acc acc;
  job.op = op;
  job.dtype = t;
  job.n = n;
  job.count = 1;
  job.ddof = 0;
  job.scale_a = job.scale_b = 1;
  acc = span_of(gr_reducer_of(op, t), op, t)(a, b, n, &job);
  gr_finish_state(&job, &acc, r);
}

/* Positions and extremes straight where they go, if there is a loop for them. */
static int find_rows(const gr_plan *p, int64_t v, int rows) {
  const gr_reduce_job *job = p->job;
  const gr_cpu_table *table = gr_cpu_table_in_use();
  const char *x = (const char *)job->a.data + v * job->a.step;
  void *to = gr_results_at(p, v);
  int64_t *places = (int64_t *)to;
  int i;
  if (!to || job->a.stride != p->size || job->n > GR_LEAF(1)) return 0;
  if (p->kind == GR_ACC_ORDER)
    return table->rows_ends &&
           table->rows_ends(job->dtype, job->op == GR_OP_max, x, job->a.step, (int)job->n, rows, to);
  if (p->kind != GR_ACC_POSITION || !table->rows_places) return 0;
  if (!table->rows_places(job->dtype, p->red == GR_RED_ARGMAX, x, job->a.step, (int)job->n, rows, places)) return 0;
  for (i = 0; i < rows; i++)
    if (places[i] == 0) gr_finish_vector(p, v + i, whole_vector(p, v + i, NULL));
  return 1;
}

/* Many vectors: each thread takes some of them. */
static void do_batch(void *arg, int64_t v, int64_t end) {
  const gr_plan *p = (const gr_plan *)arg;
  gr_acc states[GR_NARROW_ROWS]; /* one after the other, a result takes as long as a row of some hundred elements */
  for (; v < end; v += GR_NARROW_ROWS) {
    const int rows = end - v < GR_NARROW_ROWS ? (int)(end - v) : GR_NARROW_ROWS;
    if (find_rows(p, v, rows)) continue;
    for (int i = 0; i < rows; i++) states[i] = whole_vector(p, v + i, NULL);
    gr_finish_vectors(p, v, rows, states);
  }
}

/*
** Blocks of rows. Sums and means of floats: what becomes of a state otherwise takes as long as some hundred elements.
** Narrow rows of all dtypes are turned, so that a vector works on several.
*/

/* Whether rows are multiplied with one vector, with others, or with ones, by the kernel for it. */
#define DOTS_CACHED (2 << 20) /* bytes; of rows longer than a leaf, which are not read in memory's order */
#define ONES_WORTH 64         /* rows of more than 32 f32: for fewer, ones take long to write (16 x 64 661 -> 714 ns) */
static int are_dots(const gr_plan *p) {
  const gr_reduce_job *job = p->job;
  const gr_cpu_table *table = gr_cpu_table_in_use();
  const gr_row_factors factors = p->inputs < 2 ? GR_ONES : job->b.step == 0 ? GR_ONE_VECTOR : GR_OWN_ROWS;
  if (factors == GR_OWN_ROWS && job->b.stride != p->size) return 0;
  if (factors == GR_ONES && job->dtype == GR_F32 && job->n > 32 && job->count < ONES_WORTH) return 0;
  if (job->n > GR_LEAF(p->size) && job->count * job->n * p->size > DOTS_CACHED) return 0;
  return table->row_dots && table->row_dots_fit(job->dtype, factors, job->n);
}

static int are_sums(const gr_plan *p) {
  const gr_reduce_job *job = p->job;
  if (job->a.stride != p->size || job->count < 8 || !(gr_are_double_sums(p) || gr_are_whole_sums(p))) return 0;
  if (p->red == GR_RED_DOT || gr_size_of(job->dtype) == 2 || !gr_is_float(job->dtype)) return are_dots(p);
  return job->n >= 16 || are_dots(p);
}

/*
** Dots of rows longer than a leaf, GR_NARROW_ROWS of them at most, leaf by leaf: what the vector has there becomes
** doubles once, which the first cache delivers for each row.
*/
#define LEVELS 16 /* of leaves of DOTS_CACHED */
static void dots_by_leaves(const gr_plan *p, const char *row, int rows, double *sums) {
  const gr_vec *x = &p->job->a, *y = &p->job->b;
  const int64_t leaf = GR_LEAF(p->size);
  double node[LEVELS][GR_NARROW_ROWS], own[GR_NARROW_ROWS];
  int top = 0;
  for (int64_t from = 0; from < p->job->n; from += leaf) {
    const int64_t left = p->job->n - from;
    gr_cpu_table_in_use()->row_dots(p->job->dtype, row + from * p->size, x->step,
                                    (const char *)y->data + from * y->stride, y->stride, 0,
                                    (int)(left < leaf ? left : leaf), rows, own);
    gr_sums_push(node[0], GR_NARROW_ROWS, &top, from / leaf, own, rows);
  }
  gr_sums_fold(node[0], GR_NARROW_ROWS, top, rows);
  memcpy(sums, node[0], (size_t)rows * sizeof(*sums));
}

#define MANY_ROWS 1024 /* whose sums are still in the first cache when they are finished */
static void do_sums_batch(void *arg, int64_t v, int64_t end) {
  const gr_plan *p = (const gr_plan *)arg;
  const gr_reduce_job *job = p->job;
  const gr_cpu_table *table = gr_cpu_table_in_use();
  const gr_vec *x = &job->a, *y = &job->b;
  const int n = (int)job->n, dots = are_dots(p);
  double rest[GR_NARROW_ROWS], *out = (double *)job->out; /* of integers: as many bytes */
  int rows, i;
  for (; v < end; v += rows) {
    const char *row = (const char *)x->data + v * x->step;
    double *const sums = end - v < GR_NARROW_ROWS ? rest : out + v;
    rows = end - v < MANY_ROWS ? (int)(end - v) : MANY_ROWS;
    if (sums != rest) rows -= rows % GR_NARROW_ROWS;
    if (dots && n > GR_LEAF(p->size))
      dots_by_leaves(p, row, rows = rows < GR_NARROW_ROWS ? rows : GR_NARROW_ROWS, sums);
    else if (dots)
      table->row_dots(job->dtype, row, x->step, p->inputs < 2 ? NULL : (const char *)y->data + v * y->step, y->stride,
                      p->inputs < 2 ? 0 : y->step, n, rows, sums);
    else if (n <= GR_SHORT) table->row_sums(job->dtype, row, x->step, n, rows, sums);
    else
      for (i = 0; i < rows; i++) sums[i] = p->span(row + i * x->step, NULL, job->n, job).f[0];
    if (gr_are_double_sums(p)) gr_finish_sums(p, rows, sums);
    if (sums == rest) memcpy(out + v, sums, (size_t)rows * sizeof(*sums));
  }
}

/* Bytes of rows of integers, and of extremes, from which on a row by itself takes as long as turning it (AVX-512 of a
   Xeon, turned over by itself: sum i64 24 elements 1.3, 64 2.6; i32 32 0.8, 48 1.1; max i16 64 1.2, f64 32 1.2). */
#define TURNED_BYTES 160
#define TURNED_BYTES_OWN 104    /* dots of two matrices (i64 16 elements 1.1, i32 24 0.9, 32 1.45, i16 48 1.1) */
#define TURNED_BYTES_FLOATS 256 /* extremes but of f64 (f32 56 elements 0.7, f16 80 0.9, 112 1.06) */
static int are_narrow(const gr_plan *p) {
  const gr_reduce_job *job = p->job;
  const int plain = p->kind == GR_ACC_WRAP || p->kind == GR_ACC_ORDER, place = p->kind == GR_ACC_POSITION;
  const int floats = gr_is_float(job->dtype) && p->size < 8, own = p->inputs == 2 && job->b.step != 0;
  const int turned = (floats ? TURNED_BYTES_FLOATS : own ? TURNED_BYTES_OWN : TURNED_BYTES) / p->size;
  int most = place ? gr_cpu_table_in_use()->places_turned[p->size] : GR_TURNED_MOST;
  if (plain && turned < most) most = turned;
  if (!p->down || job->n > most || job->a.stride != p->size || are_sums(p)) return 0;
  return p->inputs < 2 || job->b.step == 0 || job->b.stride == p->size;
}

#define TURNED_ROOM (GR_TURNED_MOST * (GR_NARROW_ROWS * 8 + 64))

static void do_narrow_batch(void *arg, int64_t v, int64_t end) {
  const gr_plan *p = (const gr_plan *)arg;
  const gr_reduce_job *job = p->job;
  const gr_vec *x = &job->a, *y = &job->b;
  const int64_t pitch = GR_NARROW_ROWS * p->size + 64;
  const int two = p->inputs == 2;
  char *turned_x = gr_room_take(2 * TURNED_ROOM + GR_DOWN_ROOM), *turned_y = turned_x + TURNED_ROOM;
  gr_acc states[GR_NARROW_ROWS];
  gr_down_job d = {.x = turned_x, .pitch = pitch, .y_pitch = pitch, .y_wide = 1, .lanes = turned_y + TURNED_ROOM};
  d.n = (int)job->n;
  d.want = gr_down_want(job->op);
  if (two && y->step == 0) d.y = (const char *)y->data, d.y_pitch = y->stride, d.y_wide = 0;
  else if (two) d.y = turned_y;
  for (; v < end; v += GR_NARROW_ROWS) {
    const int rows = end - v < GR_NARROW_ROWS ? (int)(end - v) : GR_NARROW_ROWS;
    const int more = (GR_DOWN_LEAST - rows % GR_DOWN_LEAST) % GR_DOWN_LEAST; /* rows that are not there */
    for (int i = 0; more && i < job->n; i++) {
      memset(turned_x + i * pitch + rows * p->size, 0, (size_t)(more * p->size));
      memset(turned_y + i * pitch + rows * p->size, 0, (size_t)(more * p->size));
    }
    d.count = rows + more;
    gr_turn(p->size, turned_x, pitch, (const char *)x->data + v * x->step, x->step, rows, (int)job->n);
    if (two && d.y_wide)
      gr_turn(p->size, turned_y, pitch, (const char *)y->data + v * y->step, y->step, rows, (int)job->n);
    d.results = more ? NULL : gr_results_at(p, v);
    p->down(&d, states);
    if (d.results) gr_finish_results(p, rows, d.results);
    else gr_finish_vectors(p, v, rows, states);
  }
  gr_room_give(turned_x);
}

/* Extremes of one integer each, side by side, are these. */
static int are_copies(const gr_plan *p) {
  const gr_reduce_job *job = p->job;
  return job->n == 1 && p->kind == GR_ACC_ORDER && !gr_is_float(job->dtype) && job->a.step == p->size &&
         gr_results_at(p, 0);
}

/* The loops that take a job apart: the first that fits. */
enum { SEGMENTS, COLUMNS, VECTORS, SUMS, NARROW_ROWS, ROWS };

static int loop_of(const gr_plan *p) {
  const gr_reduce_job *job = p->job;
  if (job->offsets) return SEGMENTS;
  if (job->count > 1 && job->n > 0 && job->a.step == p->size && (job->a.stride != p->size || job->n == 1))
    return COLUMNS;
  if (job->n * p->size >= 4 * GR_PIECE_BYTES || job->count == 1) return VECTORS;
  return are_sums(p) ? SUMS : job->n > 0 && are_narrow(p) ? NARROW_ROWS : ROWS;
}

/* Short rows: so many are worth handing to another thread. */
static int64_t rows_of_piece(const gr_plan *p) { return GR_PIECE_BYTES / (p->job->n * p->size + 64) + 1; }

void gr_cpu_reduce(const gr_reduce_job *job, gr_parallel parallel) {
  const gr_plan p = gr_plan_of(job);
  const int loop = job->count > 0 ? loop_of(&p) : VECTORS;
  switch (loop) {
    case SEGMENTS: gr_reduce_segments(job, parallel); return;
    case COLUMNS:
      if (are_copies(&p)) memcpy(job->out, job->a.data, (size_t)(job->count * p.size));
      else gr_reduce_columns(&p, parallel);
      return;
    case VECTORS:
      for (int64_t v = 0; v < job->count; v++) gr_finish_vector(&p, v, whole_vector(&p, v, parallel));
      return;
    default:
      gr_in_ranges(parallel, job->count, parallel ? rows_of_piece(&p) : job->count,
                   loop == SUMS          ? do_sums_batch
                   : loop == NARROW_ROWS ? do_narrow_batch
                                         : do_batch,
                   &p);
  }
}

void gr_cpu_explain(const gr_reduce_job *job, int threads, int parallel, gr_explained *e) {
  static const struct {
    const char *name, *why;
  } loops[] = {
      [SEGMENTS] = {"segments", "segments, several of them a piece"},
      [COLUMNS] = {"columns", "neighbouring columns, a strip of them at a time, in the order of memory"},
      [VECTORS] = {"vectors", "a single vector, or vectors of 1 MiB and more, one after the other"},
      [SUMS] = {"sums of rows", "sums of short rows, a block of them at a time"},
      [NARROW_ROWS] = {"narrow rows", "rows of a few elements, turned a block of them at a time"},
      [ROWS] = {"rows", "short rows, several of them a piece"},
  };
  const gr_plan p = gr_plan_of(job);
  const int loop = loop_of(&p);
  e->kernel = loops[loop].name;
  e->why = loops[loop].why;
  e->launches = 1;
  e->set = gr_cpu_in_use();
  e->blocks = !parallel                                             ? 1
              : loop == SUMS || loop == NARROW_ROWS || loop == ROWS ? (job->count - 1) / rows_of_piece(&p) + 1
              : loop != VECTORS                                     ? 0
              : is_cut(&p)                                          ? (job->n - 1) / cut_of(&p) + 1
                                                                    : 1; /* of each vector */
  e->threads = e->blocks && e->blocks < threads ? e->blocks : threads;
}
