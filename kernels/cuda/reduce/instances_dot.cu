/* dot, cosine, differ */
#include "kernels/cuda/reduce/instances.cuh"

gr_reduce_entry gr_entry_dot(gr_reducer red, gr_dtype t) {
  if (red == GR_RED_DOT) switch (t) { GR_INTS(DOT) GR_FLOATS(DOT) default: return {}; }
  if (red == GR_RED_COSINE) switch (t) { GR_INTS(COSINE) GR_FLOATS(COSINE) default: return {}; }
  if (red == GR_RED_DIFFER)
    switch (t) {
      GR_BITS(DIFFER, gr_entry_flat)
      GR_FLOATS_AS(DIFFER, gr_entry_flat)
      default: return {};
    }
  return {};
}
