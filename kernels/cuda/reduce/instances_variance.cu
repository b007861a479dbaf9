/* var, std */
#include "kernels/cuda/reduce/instances.cuh"

gr_reduce_entry gr_entry_variance(gr_reducer red, gr_dtype t) {
  if (red == GR_RED_SPREAD) switch (t) { GR_INTS(SPREAD) GR_FLOATS(SPREAD) default: return {}; }
  return {};
}
