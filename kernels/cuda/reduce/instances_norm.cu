/* norm 1, norm 2 and the sum of squares, mse */
#include "kernels/cuda/reduce/instances.cuh"

gr_reduce_entry gr_entry_norm(gr_reducer red, gr_dtype t) {
  /* the sum of |x| is that of |x| times 1 instead of |x| */
  if (red == GR_RED_SUMSQ || red == GR_RED_SUMABS) switch (t) { GR_INTS(SUMSQ) GR_FLOATS(SUMSQ) default: return {}; }
  if (red == GR_RED_SQDIFF) switch (t) { GR_INTS(SQDIFF) GR_FLOATS(SQDIFF) default: return {}; }
  return {};
}
