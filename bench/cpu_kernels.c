/*
** Times the CPU's kernels, one thread and all, for each instruction set, beside what the memory can deliver:
** a loop that only reads the same bytes. Results are verified first. Times are the best of many rounds taken
** in turn, in nanoseconds an element (a call, where n is 16); % is of the read loop's speed.
**
**   gcc -std=c11 -O3 -ffp-contract=off -I. bench/cpu_kernels.c kernels/cpu/*/*.c src/core/threads.c -lm -lpthread
*/
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif
#include <stdio.h>
#include <stdlib.h>
#include "kernels/cpu/kernels_cpu.h"
#include "src/core/clock.h"
#include "src/core/threads.h"

static double now(void) { return (double)gr_nanoseconds(); }

static void fail(const char *what, const char *set, int64_t n) {
  fprintf(stderr, "%s is wrong with %s at n = %lld\n", what, set, (long long)n);
  exit(1);
}

/* ---- what is timed ---- */

typedef struct work {
  const void *a, *b;
  void *out;
  int64_t n, counts[4096 + 3];
  double edges[4097];
  int64_t limits[4097];
  volatile double sink;
} work;

/* Reads everything, computes next to nothing: several independent streams of vector loads. */
static void read_bytes(void *arg, int64_t k) {
  typedef uint64_t v __attribute__((vector_size(64), aligned(8)));
  const work *w = (const work *)arg;
  const int64_t piece = 256 * 1024, from = k * piece, left = w->n - from, bytes = left < piece ? left : piece;
  const v *p = (const v *)((const char *)w->a + from);
  v x = {0}, y = {0}, z = {0}, u = {0};
  int64_t i;
  for (i = 0; i + 4 <= bytes / 64; i += 4) {
    __builtin_prefetch((const char *)(p + i) + 4096);
    __builtin_prefetch((const char *)(p + i + 1) + 4096);
    __builtin_prefetch((const char *)(p + i + 2) + 4096);
    __builtin_prefetch((const char *)(p + i + 3) + 4096);
    x |= p[i];
    y |= p[i + 1];
    z |= p[i + 2];
    u |= p[i + 3];
  }
  x |= y | z | u;
  __asm__ volatile("" ::"m"(x));
}
static void run_read(work *w, gr_parallel parallel) {
  const int64_t count = (w->n + 256 * 1024 - 1) / (256 * 1024);
  int64_t k;
  if (parallel) parallel(count, read_bytes, w);
  else
    for (k = 0; k < count; k++) read_bytes(w, k);
}

static void reduce(work *w, gr_op op, gr_dtype t, int size, gr_parallel parallel) {
  gr_reduce_job job = {0};
  job.op = op;
  job.dtype = t;
  job.n = w->n;
  job.count = 1;
  job.a.data = w->a;
  job.b.data = w->b;
  job.a.stride = job.b.stride = size;
  job.scale_a = job.scale_b = 1;
  w->sink = gr_cpu_reduce_value(&job, parallel).v[0].f;
}
static void histogram(work *w, gr_dtype t, int size, int bins, int modulo, gr_parallel parallel) {
  gr_histogram_job job = {0};
  int k;
  if (w->edges[bins] != 1 || w->edges[1] != 1.0 / bins) {
    for (k = 0; k <= bins; k++) w->edges[k] = (double)k / bins;
  }
  job.dtype = t;
  job.n = w->n;
  job.bins = bins;
  job.a.data = w->a;
  job.a.stride = size;
  job.edges = w->edges;
  job.last = 1;
  job.ilimits = w->limits;
  job.per_bin = bins;
  job.guess = 1;
  job.modulo = modulo;
  job.counts = w->counts;
  job.tails = w->counts + job.bins;
  gr_cpu_histogram(&job, NULL, parallel, NULL, 0);
}
static void scan(work *w, gr_dtype t, gr_dtype to, int size, int out_size, gr_parallel parallel) {
  gr_scan_job job = {0};
  job.op = GR_OP_sum;
  job.dtype = t;
  job.out_dtype = to;
  job.n = w->n;
  job.count = 1;
  job.a.data = w->a;
  job.a.stride = size;
  job.out.data = w->out;
  job.out.stride = out_size;
  gr_cpu_scan(&job, NULL, parallel);
}

/* A matrix of 64 columns or of 64 rows: sums along the other axis. */
static void matrix(work *w, int64_t columns, int down, gr_parallel parallel) {
  gr_reduce_job job = {0};
  const int64_t rows = columns > 0 ? w->n / columns : 0;
  if (rows == 0) return;
  job.op = GR_OP_sum;
  job.dtype = GR_F32;
  job.n = down ? rows : columns;
  job.count = down ? columns : rows;
  job.a.data = w->a;
  job.a.stride = down ? columns * 4 : 4;
  job.a.step = down ? 4 : columns * 4;
  job.out_dtype = GR_F64;
  job.out = w->out;
  gr_cpu_reduce(&job, parallel);
}

#define EACH(X)                                                                \
  X("sum f32", 4, reduce(w, GR_OP_sum, GR_F32, 4, par))                        \
  X("sum f64", 8, reduce(w, GR_OP_sum, GR_F64, 8, par))                        \
  X("sum f16", 2, reduce(w, GR_OP_sum, GR_F16, 2, par))                        \
  X("sum i32", 4, reduce(w, GR_OP_sum, GR_I32, 4, par))                        \
  X("sum u8", 1, reduce(w, GR_OP_sum, GR_U8, 1, par))                          \
  X("dot f32", 8, reduce(w, GR_OP_dot, GR_F32, 4, par))                        \
  X("dot f64", 16, reduce(w, GR_OP_dot, GR_F64, 8, par))                       \
  X("max f32", 4, reduce(w, GR_OP_max, GR_F32, 4, par))                        \
  X("max f64", 8, reduce(w, GR_OP_max, GR_F64, 8, par))                        \
  X("minmax f32", 4, reduce(w, GR_OP_minmax, GR_F32, 4, par))                  \
  X("max i32", 4, reduce(w, GR_OP_max, GR_I32, 4, par))                        \
  X("max u8", 1, reduce(w, GR_OP_max, GR_U8, 1, par))                          \
  X("argmax f32", 4, reduce(w, GR_OP_argmax, GR_F32, 4, par))                  \
  X("argmax f64", 8, reduce(w, GR_OP_argmax, GR_F64, 8, par))                  \
  X("count f32", 4, reduce(w, GR_OP_count, GR_F32, 4, par))                    \
  X("var f32", 4, reduce(w, GR_OP_var, GR_F32, 4, par))                        \
  X("mse f32", 8, reduce(w, GR_OP_mse, GR_F32, 4, par))                        \
  X("cosine f32", 8, reduce(w, GR_OP_cosine, GR_F32, 4, par))                  \
  X("norm2 f32", 4, reduce(w, GR_OP_norm2, GR_F32, 4, par))                    \
  X("kahan f64", 8, reduce(w, GR_OP_sum_kahan, GR_F64, 8, par))                \
  X("rows of 64 f32", 4, matrix(w, 64, 0, par))                                \
  X("64 rows f32", 4, matrix(w, w->n / 64, 0, par))                            \
  X("64 columns f32", 4, matrix(w, 64, 1, par))                                \
  X("columns of 64 f32", 4, matrix(w, w->n / 64, 1, par))                      \
  X("histogram 256 f32", 4, histogram(w, GR_F32, 4, 256, 0, par))              \
  X("histogram 4096 f32", 4, histogram(w, GR_F32, 4, 4096, 0, par))            \
  X("histogram 256 f64", 8, histogram(w, GR_F64, 8, 256, 0, par))              \
  X("histogram 256 u8", 1, histogram(w, GR_U8, 1, 256, 1, par))                \
  X("histogram 4096 i32", 4, histogram(w, GR_I32, 4, 4096, 1, par))            \
  X("scan f32", 8, scan(w, GR_F32, GR_F32, 4, 4, par))                         \
  X("scan f64", 16, scan(w, GR_F64, GR_F64, 8, 8, par))                        \
  X("scan i32", 12, scan(w, GR_I32, GR_I64, 4, 8, par))

#define NAME(name, bytes, call) name,
static const char *const names[] = {EACH(NAME)};
#define BYTES(name, bytes, call) bytes,
static const int bytes_each[] = {EACH(BYTES)};
enum { WORKS = sizeof(names) / sizeof(names[0]) };

static void run(int which, work *w, gr_parallel par) {
  int k = 0;
#define CALL(name, bytes, call) if (which == k++) call;
  EACH(CALL)
}

/* The best time of one call, over rounds that last long enough to be read from the clock. */
static double best(int which, work *w, gr_parallel par, double budget) {
  double least = 1e30, start = now();
  int rounds = 0;
  int64_t repeat = 1;
  while (rounds < 3 || now() - start < budget) {
    double t = now();
    int64_t k;
    for (k = 0; k < repeat; k++) {
      if (which < 0) run_read(w, par);
      else run(which, w, par);
    }
    t = now() - t;
    if (t < 20000) {
      repeat *= 2;
      continue;
    }
    if (t / (double)repeat < least) least = t / (double)repeat;
    rounds++;
  }
  return least;
}

static void verify(const char *set, const float *x, const float *y, int64_t n, void *out) {
  static work w;
  double sum = 0, dot = 0, most = x[0];
  int64_t k, counts[256] = {0};
  for (k = 0; k < n; k++) {
    sum += (double)x[k];
    dot += (double)x[k] * (double)y[k];
    most = x[k] > most ? x[k] : most;
    counts[(int)(x[k] * 256)]++;
  }
  w.a = x;
  w.b = y;
  w.out = out;
  w.n = n;
  reduce(&w, GR_OP_sum, GR_F32, 4, gr_threads_run);
  if (fabs(w.sink - sum) > 1e-12 * (double)n) fail("sum", set, n);
  reduce(&w, GR_OP_dot, GR_F32, 4, gr_threads_run);
  if (fabs(w.sink - dot) > 1e-12 * (double)n) fail("dot", set, n);
  reduce(&w, GR_OP_max, GR_F32, 4, gr_threads_run);
  if (w.sink != most) fail("max", set, n);
  histogram(&w, GR_F32, 4, 256, 0, gr_threads_run);
  if (memcmp(w.counts, counts, sizeof(counts))) fail("histogram", set, n);
  scan(&w, GR_F32, GR_F32, 4, 4, gr_threads_run);
  if (fabs((double)((const float *)out)[n - 1] - sum) > 1e-6 * sum) fail("scan", set, n);
}

int main(int argc, char **argv) {
  static const char *const sets[] = {"avx512", "avx2", "sse2", "neon", "generic"};
  const char *only = argc > 1 ? argv[1] : NULL, *op = argc > 2 ? argv[2] : NULL;
  const int64_t least = argc > 3 ? atoll(argv[3]) : 16, most = argc > 4 ? atoll(argv[4]) : 10000000;
  static const int64_t sizes[] = {16, 1000, 10000, 100000, 1000000, 10000000, 100000000};
  const double budget = argc > 5 ? atof(argv[5]) * 1e6 : 30e6;
  const size_t room = ((size_t)most * 8 + 8191) / 4096 * 4096;
  char *a = (char *)aligned_alloc(4096, room), *b = (char *)aligned_alloc(4096, room);
  char *out = (char *)aligned_alloc(4096, room);
  float *x = (float *)a, *y = (float *)b;
  static work w;
  uint64_t state = 1;
  int64_t k;
  size_t i;
  int s, which;
  if (!a || !b || !out) return 1;
  for (k = 0; k < 2 * most; k++) {
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    x[k] = (float)(state >> 40) * 5.9604645e-8f;
    y[k] = (float)(state >> 20 & 0xffffff) * 5.9604645e-8f;
  }
  memset(out, 0, (size_t)most * 8);
  for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
    const int64_t n = sizes[i];
    if (n < least || n > most) continue;
    printf("n = %lld, %d threads\n%-20s", (long long)n, gr_threads_count(), "");
    for (s = 0; s < 5; s++) {
      if ((!only || !strcmp(only, sets[s]) || !strcmp(only, "all")) && gr_cpu_select(sets[s])) {
        verify(sets[s], x, y, n, out);
        printf("%24s", sets[s]);
      }
    }
    printf("\n");
    for (which = 0; which < WORKS; which++) {
      double read, read_all;
      if (op && strncmp(op, names[which], strlen(op))) continue;
      w.a = a;
      w.b = b;
      w.out = out;
      w.n = n * bytes_each[which]; /* the read loop counts bytes; two inputs are read as one twice as long */
      if (w.n > most * 8) w.n = most * 8;
      read = best(-1, &w, NULL, budget) * (double)(n * bytes_each[which]) / (double)w.n;
      read_all = best(-1, &w, gr_threads_run, budget) * (double)(n * bytes_each[which]) / (double)w.n;
      printf("%-20s", names[which]);
      for (s = 0; s < 5; s++) {
        double one, all;
        if ((only && strcmp(only, sets[s]) && strcmp(only, "all")) || !gr_cpu_select(sets[s])) continue;
        w.n = n;
        one = best(which, &w, NULL, budget);
        all = n < 100000 ? one : best(which, &w, gr_threads_run, budget);
        if (n == 16) printf("%16.1f ns a call", one);
        else
          printf("  %6.3f %3.0f%% %6.3f %3.0f%%", one / (double)n, 100 * read / one, all / (double)n,
                 100 * read_all / all);
      }
      printf("\n");
      fflush(stdout);
    }
  }
  return 0;
}
