/* sum, mean, prod */
#include "kernels/cuda/reduce/instances.cuh"

gr_reduce_entry gr_entry_sum(gr_reducer red, gr_dtype t) {
  if (red == GR_RED_SUM) switch (t) { GR_INTS(SUM) GR_FLOATS(SUM) default: return {}; }
  if (red == GR_RED_PROD) switch (t) { GR_INTS(PROD) GR_FLOATS(PROD) default: return {}; }
  if (red == GR_RED_SUMWIDE) switch (t) { GR_CASE(SUMWIDE, I64) default: return {}; }
  return {};
}
