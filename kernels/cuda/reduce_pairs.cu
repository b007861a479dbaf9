/* dot, cosine, differ */
#include "kernels/cuda/reduce_family.cuh"

gr_reduce_entry gr_reduce_pairs(gr_reducer red, gr_dtype t) {
  if (red == GR_RED_DOT) switch (t) { GR_INTS(DOT) GR_FLOATS(DOT) default: return {}; }
  if (red == GR_RED_COSINE) switch (t) { GR_INTS(COSINE) GR_FLOATS(COSINE) default: return {}; }
  if (red == GR_RED_DIFFER)
    switch (t) {
      GR_BITS(DIFFER, gr_entry_flat)
      GR_AS(DIFFER, F16, gr_entry_flat, F16)
      GR_AS(DIFFER, BF16, gr_entry_flat, BF16)
      GR_AS(DIFFER, F32, gr_entry_flat, F32)
      GR_AS(DIFFER, F64, gr_entry_flat, F64)
      default: return {};
    }
  return {};
}
