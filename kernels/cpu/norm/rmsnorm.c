/*
** Root mean square norm of rows, a few at a time: the tree's sums of their squares, then the instruction set's loop
** over them, which finds them in the first cache and divides for all of them at once.
*/
#include "kernels/cpu/norm/narrow.h"

#define PIECE_BYTES (256 * 1024)
#define CACHED_BYTES (16 * 1024) /* of rows, which their results share the first cache with */
#define MOST_TURNED 11           /* elements of a row: from 12 on a row by itself is quicker */
_Static_assert(MOST_TURNED <= GR_NARROW_MOST, "their weights have room");

typedef struct norm_state {
  const gr_rmsnorm_job *job;
  int64_t rows;
} norm_state;

/* Sums of squares of rows from row on. */
static void sum_squares(const gr_rmsnorm_job *job, int64_t row, int rows, double *sums) {
  const gr_cpu_table *table = gr_cpu_table_in_use();
  const char *x = (const char *)job->x.data + row * job->x.step;
  const int beside = job->x.stride == gr_size_of(job->dtype);
  const int halves = gr_size_of(job->dtype) == 2;
  gr_reduce_job squares;
  if (beside && job->n <= (halves ? table->squares_most : GR_SHORT)) {
    table->row_squares(job->dtype, x, job->x.step, (int)job->n, rows, sums);
    return;
  }
  if (beside && !halves && table->row_dots && table->row_dots_fit(job->dtype, GR_OWN_ROWS, job->n)) {
    table->row_dots(job->dtype, x, job->x.step, x, 0, job->x.step, (int)job->n, rows, sums);
    return;
  }
  memset(&squares, 0, sizeof(squares));
  squares.op = GR_OP_sumsq;
  squares.dtype = job->dtype;
  squares.n = job->n;
  squares.count = 1;
  squares.a = job->x;
  squares.scale_a = squares.scale_b = 1.0;
  for (int k = 0; k < rows; k++, x += job->x.step) {
    squares.a.data = x;
    sums[k] = beside ? table->span[GR_RED_SUMSQ][job->dtype](x, NULL, job->n, &squares).f[0]
                     : gr_cpu_reduce_value(&squares, NULL).v[0].f;
  }
}

static void do_rows(void *arg, int64_t k) {
  const norm_state *s = (const norm_state *)arg;
  const gr_rmsnorm_job *job = s->job;
  const int64_t end = (k + 1) * s->rows < job->count ? (k + 1) * s->rows : job->count;
  const int64_t most = CACHED_BYTES / (job->n * gr_size_of(job->dtype)) + 1;
  if (gr_takes_narrow(job->dtype, MOST_TURNED, job->n, job->count, &job->x, &job->out)) {
    double w[GR_NARROW_MOST];
    for (int i = 0; job->w.data && i < job->n; i++)
      w[i] = gr_widened(job->dtype, (const char *)job->w.data + i * job->w.stride);
    gr_narrow_rows(gr_cpu_table_in_use()->narrow_rmsnorm, job->dtype, &job->x, &job->out, (int)job->n, k * s->rows, end,
                   job->w.data ? w : NULL, job->eps);
    return;
  }
  for (int64_t row = k * s->rows; row < end;) {
    double sums[GR_NARROW_ROWS];
    int rows = most < GR_NARROW_ROWS ? (int)most : GR_NARROW_ROWS;
    if (end - row < rows) rows = (int)(end - row);
    sum_squares(job, row, rows, sums);
    gr_cpu_table_in_use()->norm_rows(job, row, rows, sums);
    row += rows;
  }
}

void gr_cpu_rmsnorm(const gr_rmsnorm_job *job, gr_parallel parallel) {
  norm_state s;
  if (job->n == 0 || job->count == 0) return;
  s.job = job;
  s.rows = PIECE_BYTES / (job->n * gr_size_of(job->dtype)) + 1;
  gr_in_pieces(parallel, job->count, s.rows, do_rows, &s);
}
