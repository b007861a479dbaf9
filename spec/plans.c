/*
** What the planners of CUDA's kernels say, without a device; spec/explain_spec.lua asks.
**   plans                                     the rows by which kernels are chosen
**   plans OP DTYPE ROWS COLUMNS AXIS [STEP]   the plan of a matrix on an H200: axis 2 along rows, 1 down columns, 0 all
**                                             of it as one number; STEP: elements from one row to the next
**   plans scan OP DTYPE LENGTH, plans histogram DTYPE LENGTH BINS       the same of a scan, and of bins from 0 to 1
*/
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/cuda/launch.h"
#include "kernels/numerics/numerics.h"

static const char *const ops[] = {
#define GR_X(name, red, f, i, e, by) #name,
    GR_OPS(GR_X)
#undef GR_X
};
static const char *const dtypes[] = {
#define GR_X(id, s, l, type, k) #s,
    GR_DTYPES(GR_X)
#undef GR_X
};
#define COUNT(list) ((int)(sizeof(list) / sizeof(list)[0]))

static int named(const char *const *list, int count, const char *name) {
  for (int k = 0; k < count; k++)
    if (!strcmp(list[k], name)) return k;
  fprintf(stderr, "unknown: %s\n", name);
  exit(2);
}

static void print_rows(void) {
  gr_explained e;
  for (int k = 0; gr_cuda_reduce_row(k, &e); k++) printf("%s\t%s\n", e.kernel, e.why);
}

static void print(const gr_explained *e) {
  printf("kernel=%s blocks=%lld threads=%lld shared=%lld scratch=%lld launches=%lld combine=%s\n", e->kernel,
         (long long)e->blocks, (long long)e->threads, (long long)e->shared, (long long)e->scratch,
         (long long)e->launches, e->combine ? e->combine : "none");
}

static gr_vec vector_of(gr_dtype t) { return (gr_vec){(const void *)(uintptr_t)4096, gr_size_of(t), 0}; }

int main(int count, char **arg) {
  const gr_cuda_chip h200 = {0, 9, 0, 132, 232448, 60 << 20};
  gr_reduce_job job = {.scale_a = 1, .scale_b = 1, .out_dtype = GR_F64};
  gr_explained e;
  if (count == 5 && !strcmp(arg[1], "scan")) {
    gr_scan_job scan = {.op = (gr_op)named(ops, COUNT(ops), arg[2]),
                        .dtype = (gr_dtype)named(dtypes, COUNT(dtypes), arg[3]),
                        .n = atoll(arg[4]),
                        .count = 1};
    scan.a = vector_of(scan.dtype);
    gr_cuda_explain_scan(&scan, &h200, &e);
    return print(&e), 0;
  }
  if (count == 5 && !strcmp(arg[1], "histogram")) {
    gr_histogram_job histogram = {.dtype = (gr_dtype)named(dtypes, COUNT(dtypes), arg[2]),
                                  .n = atoll(arg[3]),
                                  .bins = atoll(arg[4]),
                                  .last = 1,
                                  .guess = 1};
    histogram.per_bin = (double)histogram.bins;
    histogram.a = vector_of(histogram.dtype);
    gr_cuda_explain_histogram(&histogram, &h200, &e);
    return print(&e), 0;
  }
  if (count < 6) return print_rows(), 0;
  job.op = (gr_op)named(ops, COUNT(ops), arg[1]);
  job.dtype = (gr_dtype)named(dtypes, COUNT(dtypes), arg[2]);
  const int64_t rows = atoll(arg[3]), columns = atoll(arg[4]), size = gr_size_of(job.dtype);
  const int64_t step = (count > 6 ? atoll(arg[6]) : columns) * size;
  const int axis = atoi(arg[5]);
  job.n = axis == 0 ? rows * columns : axis == 1 ? rows : columns;
  job.count = axis == 0 ? 1 : axis == 1 ? columns : rows;
  job.a = (gr_vec){(const void *)(uintptr_t)4096, axis == 1 ? step : size, axis == 0 ? 0 : axis == 1 ? size : step};
  job.b = vector_of(job.dtype);
  gr_cuda_explain(&job, &h200, axis == 0, &e);
  print(&e);
  return 0;
}
