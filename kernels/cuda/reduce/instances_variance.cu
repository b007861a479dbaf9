/* var, std */
#include "kernels/cuda/reduce/instances.cuh"

gr_reduce_entry gr_entry_variance(gr_reducer red, gr_dtype t) {
  if (red == GR_RED_VARIANCE) switch (t) { GR_INTS(VARIANCE) GR_FLOATS(VARIANCE) default: return {}; }
  return {};
}
