/* sums and dots that accumulate in f32 or with compensation */
#include "kernels/cuda/reduce/instances.cuh"

gr_reduce_entry gr_entry_compensated(gr_reducer red, gr_dtype t) {
  switch (red) {
    case GR_RED_SUM_F32: switch (t) { GR_FLOATS_AS(SUM_F32, gr_entry_long) default: return {}; }
    case GR_RED_SUM_KAHAN: switch (t) { GR_FLOATS_AS(SUM_KAHAN, gr_entry_long) default: return {}; }
    case GR_RED_SUM_NEUMAIER: switch (t) { GR_FLOATS_AS(SUM_NEUMAIER, gr_entry_long) default: return {}; }
    case GR_RED_DOT_F32: switch (t) { GR_FLOATS_AS(DOT_F32, gr_entry_long) default: return {}; }
    case GR_RED_DOT_KAHAN: switch (t) { GR_FLOATS_AS(DOT_KAHAN, gr_entry_long) default: return {}; }
    case GR_RED_DOT_NEUMAIER: switch (t) { GR_FLOATS_AS(DOT_NEUMAIER, gr_entry_long) default: return {}; }
    default: return {};
  }
}
