/* The reader of NPY headers on any bytes, and elements in Fortran order put right; make fuzz-readers. */
#include <stdlib.h>

#include "src/core/file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static gr_context context;
  gr_npy h;
  uint8_t *exact = malloc(size ? size : 1); /* so that a byte too far is noticed */
  if (!exact) return 0;
  memcpy(exact, data, size);
  for (int known = 0; known < 2; known++) {
    if (gr_npy_parse(&context, exact, size, known ? (int64_t)size : -1, &h) != GR_OK) {
      if (!strlen(context.error)) abort();
      continue;
    }
    int64_t n = 1, bytes = h.n * gr_size(h.dtype);
    for (int k = 0; k < h.dimensions && n; k++) n = h.shape[k] ? n * h.shape[k] : 0;
    if (n != h.n || h.n < 0 || bytes < 0 || h.data_offset > (int64_t)size) abort();
    if (!known || !h.n || bytes != (int64_t)size - h.data_offset) continue;
    uint8_t *to = malloc((size_t)bytes);
    gr_turn turn;
    if (!to) abort();
    gr_turn_begin(&turn, &h, to);
    for (int64_t at = 0; at < h.n;) { /* in pieces */
      int64_t piece = h.n - at < 3 ? h.n - at : 3;
      gr_turn_put(&turn, exact + h.data_offset + at * gr_size(h.dtype), piece);
      at += piece;
    }
    if (turn.place != 0) abort(); /* once around */
    gr_swap_bytes(to, (size_t)h.n, (size_t)gr_size(h.dtype));
    free(to);
  }
  free(exact);
  return 0;
}
