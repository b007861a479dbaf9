/* Root mean square norm of rows: the tree's sum of squares of each, then the instruction set's loop over it. */
#include <math.h>
#include "kernels/cpu/norm/narrow.h"

#define PIECE_BYTES (256 * 1024)

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
  if (gr_takes_narrow(job->dtype, job->n, job->count, &job->x, &job->out)) {
    double w[GR_NARROW_MOST];
    int i;
    for (i = 0; job->w.data && i < job->n; i++)
      w[i] = gr_widened(job->dtype, (const char *)job->w.data + i * job->w.stride);
    gr_narrow_rows(gr_cpu_table_in_use()->narrow_rmsnorm, job->dtype, &job->x, &job->out, (int)job->n, k * s->rows, end,
                   job->w.data ? w : NULL, job->eps);
    return;
  }
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
