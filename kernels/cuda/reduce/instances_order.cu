/* min, max, minmax, norm inf, argmin, argmax, any, all, count */
#include "kernels/cuda/reduce/instances.cuh"

gr_reduce_entry gr_entry_order(gr_reducer red, gr_dtype t) {
  if (red == GR_RED_MINMAX) switch (t) { GR_INTS(MINMAX) GR_FLOATS(MINMAX) default: return {}; }
  /* argmin is argmax of complemented keys, signed integers are unsigned ones with another highest bit */
  if (red == GR_RED_ARGMAX || red == GR_RED_ARGMIN)
    switch (t) { GR_BITS(ARGMAX, gr_entry) GR_FLOATS(ARGMAX) default: return {}; }
  if (red == GR_RED_COUNT) /* floats as integers of their size */
    switch (t) {
      GR_BITS(COUNT, gr_entry)
      GR_AS(COUNT, F16, gr_entry, U16) GR_AS(COUNT, BF16, gr_entry, U16)
      GR_AS(COUNT, F32, gr_entry, U32) GR_AS(COUNT, F64, gr_entry, I64)
      default: return {};
    }
  return {};
}
