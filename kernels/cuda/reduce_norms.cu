/* norm 1, norm 2 and the sum of squares, mse */
#include "kernels/cuda/reduce_family.cuh"

gr_reduce_entry gr_reduce_norms(gr_reducer red, gr_dtype t) {
  if (red == GR_RED_SUMABS) switch (t) { GR_INTS(SUMABS) GR_FLOATS(SUMABS) default: return {}; }
  if (red == GR_RED_SUMSQ) switch (t) { GR_INTS(SUMSQ) GR_FLOATS(SUMSQ) default: return {}; }
  if (red == GR_RED_SQDIFF) switch (t) { GR_INTS(SQDIFF) GR_FLOATS(SQDIFF) default: return {}; }
  return {};
}
