/*
** Accumulators from any bytes: what is taken keeps its value through bytes again, and through sums; make fuzz-readers.
*/
#include <stdlib.h>

#include "src/core/exact_round.h"

static int same(double x, double y) { return memcmp(&x, &y, sizeof x) == 0; }

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static gr_exact sum; /* goes from input to input */
  gr_exact s, t;
  char text[64];
  uint8_t bytes[GR_EXACT_BYTES], again[GR_EXACT_BYTES];
  uint8_t *exact = malloc(size ? size : 1);
  if (!exact) return 0;
  memcpy(exact, data, size);
  const char *why = gr_exact_unpack(&s, exact, size, text);
  if (why) {
    if (!strlen(why)) abort();
    free(exact);
    return 0;
  }
  t = s;
  double value = gr_exact_value(&t, 0), single = gr_exact_value(&t, 1);
  t = s;
  gr_exact_pack(&t, bytes);
  if (gr_exact_unpack(&t, bytes, sizeof bytes, text)) abort();
  gr_exact_pack(&t, again);
  if (memcmp(bytes, again, sizeof bytes) != 0) abort();
  if (!same(gr_exact_value(&t, 0), value) || !same(gr_exact_value(&t, 1), single)) abort();
  if (!gr_exact_join(&sum, &s)) gr_exact_clear(&sum);
  gr_exact_value(&sum, 0);
  for (int k = 0; k < 6 && gr_exact_join(&s, &s); k++) gr_exact_value(&s, 1);
  free(exact);
  return 0;
}
