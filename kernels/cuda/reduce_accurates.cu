/* sums and dots that accumulate in f32 or with compensation */
#include "kernels/cuda/reduce_family.cuh"

gr_reduce_entry gr_reduce_accurates(gr_reducer red, gr_dtype t) {
  switch (red) {
    case GR_RED_SUM_F32: switch (t) { GR_FLOATS(SUM_F32) default: return {}; }
    case GR_RED_SUM_KAHAN: switch (t) { GR_FLOATS(SUM_KAHAN) default: return {}; }
    case GR_RED_SUM_NEUMAIER: switch (t) { GR_FLOATS(SUM_NEUMAIER) default: return {}; }
    case GR_RED_DOT_F32: switch (t) { GR_FLOATS(DOT_F32) default: return {}; }
    case GR_RED_DOT_KAHAN: switch (t) { GR_FLOATS(DOT_KAHAN) default: return {}; }
    case GR_RED_DOT_NEUMAIER: switch (t) { GR_FLOATS(DOT_NEUMAIER) default: return {}; }
    default: return {};
  }
}
