/* Narrow rows: a block is turned, worked on, and turned back. */
#include "kernels/cpu/norm/narrow.h"
#include "kernels/cpu/reduce/reduce.h"

void gr_narrow_rows(gr_narrow kernel, gr_dtype t, const gr_vec *x, const gr_vec *out, int n, int64_t from, int64_t end,
                    const double *w, double eps) {
  const int size = gr_size_of(t);
  const int64_t pitch = GR_NARROW_ROWS * size + 64;
  enum { TURNED = GR_NARROW_MOST * (GR_NARROW_ROWS * 8 + 64), RESULTS = GR_NARROW_MOST * GR_NARROW_ROWS * 8 };
  char *turned = gr_room_take(TURNED + RESULTS), *results = turned + TURNED;
  for (; from < end; from += GR_NARROW_ROWS) {
    const int rows = end - from < GR_NARROW_ROWS ? (int)(end - from) : GR_NARROW_ROWS;
    if (rows < GR_NARROW_ROWS) memset(turned, 0, (size_t)(n * pitch)); /* rows that are not there */
    gr_turn(size, turned, pitch, (const char *)x->data + from * x->step, x->step, rows, n);
    kernel(t, turned, pitch, n, w, eps, results);
    gr_turn(size, (char *)(uintptr_t)out->data + from * out->step, out->step, results, GR_NARROW_ROWS * size, n, rows);
  }
  gr_room_give(turned);
}
