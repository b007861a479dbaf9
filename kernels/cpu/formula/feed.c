#include "kernels/cpu/formula/feed.h"

static int64_t on_lines(int64_t bytes) { return (bytes + 63) / 64 * 64; }

int64_t gr_feed_plan(gr_feed *f, const gr_formula_job *job, void *room, int threads, int64_t stretch) {
  const int64_t blocks = gr_block_make(&f->blocks, job, room, threads);
  f->stretch = stretch;
  f->set_bytes = on_lines(f->blocks.outs * stretch * f->blocks.element);
  return GR_BLOCK_PAGE + blocks + f->blocks.sets * f->set_bytes +
         on_lines((int64_t)sizeof(atomic_int) * f->blocks.sets);
}

char *gr_feed_ready(gr_feed *f, char *memory) {
  char *const end = memory + GR_BLOCK_PAGE + f->blocks.sets * f->set_bytes;
  f->sets = gr_block_in_step(&f->blocks, memory);
  f->taken = (atomic_int *)(void *)end;
  for (int k = 0; k < f->blocks.sets; k++) atomic_init(&f->taken[k], 0);
  return end + on_lines((int64_t)sizeof(atomic_int) * f->blocks.sets);
}

/* There are as many sets as threads, so one is always free. */
int gr_feed_take(gr_feed *f) {
  int k = 0;
  if (!f) return 0;
  for (;; k = (k + 1) % f->blocks.sets) {
    int idle = 0;
    if (atomic_compare_exchange_strong(&f->taken[k], &idle, 1)) return k;
  }
}

void gr_feed_give(gr_feed *f, int set) {
  if (f) atomic_store(&f->taken[set], 0);
}

static char *out_at(const gr_feed *f, int set, int out) {
  return f->sets + f->set_bytes * set + out * f->stretch * f->blocks.element;
}

static void make(const gr_feed *f, int set, int64_t from, int64_t n, int64_t width, int64_t pitch) {
  char *outs[GR_BLOCK_OUTS];
  if (f->blocks.step_count == 0) return; /* all is read where it lies */
  for (int k = 0; k < f->blocks.outs; k++) outs[k] = out_at(f, set, k);
  if (width == pitch) gr_block_run(&f->blocks, gr_block_set(&f->blocks, set), from, n, outs);
  else gr_block_rows(&f->blocks, gr_block_set(&f->blocks, set), from, n, width, pitch, outs);
}

void gr_feed_make(const gr_feed *f, int set, int64_t from, int64_t n) { make(f, set, from, n, 0, 0); }

const char *gr_feed_at(const gr_feed *f, int set, int node, int64_t from) {
  const int out = gr_block_out_of(&f->blocks, node);
  return out >= 0 ? out_at(f, set, out) : gr_block_input(&f->blocks, node, from);
}

static void vector(const gr_feed *f, int set, int node, int64_t from, gr_vec *v) {
  v->data = gr_feed_at(f, set, node, from);
  v->stride = gr_size_of((gr_dtype)f->blocks.job->program->nodes[node].dtype);
  v->step = 0;
}

void gr_feed_vectors(const gr_feed *f, int set, int64_t from, int64_t n, gr_vec *a, gr_vec *b) {
  const gr_formula_job *job = f->blocks.job;
  gr_feed_make(f, set, from, n);
  vector(f, set, job->a, from, a);
  if (b && job->b >= 0) vector(f, set, job->b, from, b);
}

void gr_feed_rows(const gr_feed *f, int set, int64_t row, int64_t rows, int64_t v, int width, gr_vec *a, gr_vec *b) {
  const gr_formula_job *job = f->blocks.job;
  const int64_t columns = ((const gr_reduce_job *)job->operation)->count, from = row * columns + v;
  make(f, set, from, rows * width, width, columns);
  vector(f, set, job->a, from, a);
  a->stride *= width;
  if (job->b < 0) return;
  vector(f, set, job->b, from, b);
  b->stride *= width;
}
