/* Operations on elements one by one: rows normalised by their size, fill, copy, random numbers. */
#include <math.h>
#include "kernels/cpu/isa/table.h"
#include "kernels/numerics/math.h"

#define PIECE_BYTES (256 * 1024)

/* ---- rmsnorm ---- */

typedef struct norm_state {
  const gr_rmsnorm_job *job;
  int64_t rows;
} norm_state;

static void do_rows(void *arg, int64_t k) {
  const norm_state *s = (const norm_state *)arg;
  const gr_rmsnorm_job *job = s->job;
  const int64_t end = (k + 1) * s->rows < job->count ? (k + 1) * s->rows : job->count;
  gr_reduce_job squares;
  int64_t row;
  memset(&squares, 0, sizeof(squares));
  squares.op = GR_OP_sumsq;
  squares.dtype = job->dtype;
  squares.n = job->n;
  squares.count = 1;
  squares.scale_a = squares.scale_b = 1.0;
  for (row = k * s->rows; row < end; row++) {
    double sum;
    squares.a = job->x;
    squares.a.data = (const char *)job->x.data + row * job->x.step;
    sum = gr_cpu_reduce_value(&squares, NULL).v[0].f;
    gr_cpu_table_in_use()->norm_row(job, row, 1.0 / sqrt(sum / (double)job->n + job->eps));
  }
}

void gr_cpu_rmsnorm(const gr_rmsnorm_job *job, gr_parallel parallel) {
  norm_state s;
  if (job->n == 0 || job->count == 0) return;
  s.job = job;
  s.rows = PIECE_BYTES / (job->n * gr_size_of(job->dtype)) + 1;
  gr_in_pieces(parallel, job->count, s.rows, do_rows, &s);
}

/* ---- fill and copy ---- */

#define FILL(type)                                                         \
  {                                                                        \
    type x;                                                                \
    memcpy(&x, &job->value, sizeof(x));                                    \
    if (stride == sizeof(type)) for (i = 0; i < m; i++) ((type *)p)[i] = x; \
    else for (i = 0; i < m; i++, p += stride) memcpy(p, &x, sizeof(x));    \
    break;                                                                 \
  }

static void do_fill(void *arg, int64_t k) {
  const gr_fill_job *job = (const gr_fill_job *)arg;
  const int size = gr_size_of(job->dtype);
  const int64_t stride = job->out.stride, piece = PIECE_BYTES / size, from = k * piece;
  const int64_t m = job->n - from < piece ? job->n - from : piece;
  char *p = (char *)(uintptr_t)job->out.data + from * stride;
  int64_t i;
  switch (size) {
    case 1: FILL(uint8_t)
    case 2: FILL(uint16_t)
    case 4: FILL(uint32_t)
    default: FILL(uint64_t)
  }
}

void gr_cpu_fill(const gr_fill_job *job, gr_parallel parallel) {
  gr_in_pieces(parallel, job->n, PIECE_BYTES / gr_size_of(job->dtype), do_fill, (void *)(uintptr_t)job);
}

#define COPY(type)                                                                         \
  for (i = 0; i < m; i++, p += job->out.stride, q += job->a.stride) memcpy(p, q, sizeof(type)); \
  break;

static void do_copy(void *arg, int64_t k) {
  const gr_copy_job *job = (const gr_copy_job *)arg;
  const int size = gr_size_of(job->dtype);
  const int64_t piece = PIECE_BYTES / size, from = k * piece;
  const int64_t m = job->n - from < piece ? job->n - from : piece;
  char *p = (char *)(uintptr_t)job->out.data + from * job->out.stride;
  const char *q = (const char *)job->a.data + from * job->a.stride;
  int64_t i;
  if (job->a.stride == size && job->out.stride == size) {
    memcpy(p, q, (size_t)(m * size));
    return;
  }
  switch (size) {
    case 1: COPY(uint8_t)
    case 2: COPY(uint16_t)
    case 4: COPY(uint32_t)
    default: COPY(uint64_t)
  }
}

void gr_cpu_copy(const gr_copy_job *job, gr_parallel parallel) {
  gr_in_pieces(parallel, job->n, PIECE_BYTES / gr_size_of(job->dtype), do_copy, (void *)(uintptr_t)job);
}

/* ---- even edges (k in two parts: 32 bits convert faster) ---- */

void gr_cpu_edges(const gr_edges_job *job, gr_parallel parallel) {
  const double step = (job->last - job->first) / (double)job->bins;
  int64_t k;
  (void)parallel;
  for (k = 0; k < job->bins && !(k && gr_stopped()); k += 4096) {
    const int m = job->bins - k < 4096 ? (int)(job->bins - k) : 4096;
    double *e = job->edges + k;
    int j;
    for (j = 0; j < m; j++) e[j] = ((double)k + (double)j) * step + job->first;
    if (job->limits)
      for (j = 0; j < m; j++) job->limits[k + j] = gr_edge_limit(e[j], 0);
  }
  job->edges[job->bins] = job->last;
  if (job->limits) job->limits[job->bins] = gr_edge_limit(job->last, 1);
}

/* ---- random ---- */

#define RANDOM_GROUPS 4096 /* counter blocks to a piece */

static void put(gr_dtype t, char *p, double x) {
  switch (t) {
    case GR_F64: memcpy(p, &x, 8); break;
    case GR_F32: { const float f = gr_f64_to_f32(x); memcpy(p, &f, 4); break; }
    case GR_F16: { const gr_f16 h = gr_f64_to_f16(x); memcpy(p, &h, 2); break; }
    default: { const gr_bf16 h = gr_f64_to_bf16(x); memcpy(p, &h, 2); break; }
  }
}

static void do_random(void *arg, int64_t k) {
  const gr_random_job *job = (const gr_random_job *)arg;
  const int group = gr_random_group(job->dtype);
  const int64_t groups = (job->n + group - 1) / group;
  const int64_t end = (k + 1) * RANDOM_GROUPS < groups ? (k + 1) * RANDOM_GROUPS : groups;
  int64_t g, i;
  for (g = k * RANDOM_GROUPS; g < end; g++) {
    double x[4];
    gr_random_fill(job->dtype, job->seed, job->stream, (uint64_t)g, job->normal, x);
    for (i = 0; i < group && g * group + i < job->n; i++)
      put(job->dtype, (char *)(uintptr_t)job->out.data + (g * group + i) * job->out.stride, x[i]);
  }
}

void gr_cpu_random(const gr_random_job *job, gr_parallel parallel) {
  const int group = gr_random_group(job->dtype);
  gr_in_pieces(parallel, (job->n + group - 1) / group, RANDOM_GROUPS, do_random, (void *)(uintptr_t)job);
}
