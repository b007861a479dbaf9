/* sums and dots that accumulate in f32 or with compensation */
#include "kernels/cuda/reduce/instances.cuh"

GR_ENTRY(SUM_F32, GR_NO_INTS(SUM_F32) GR_FLOATS_AS(SUM_F32, gr_entry_long))
GR_ENTRY(SUM_KAHAN, GR_NO_INTS(SUM_KAHAN) GR_FLOATS_AS(SUM_KAHAN, gr_entry_long))
GR_ENTRY(SUM_NEUMAIER, GR_NO_INTS(SUM_NEUMAIER) GR_FLOATS_AS(SUM_NEUMAIER, gr_entry_long))
GR_ENTRY(DOT_F32, GR_NO_INTS(DOT_F32) GR_FLOATS_AS(DOT_F32, gr_entry_long))
GR_ENTRY(DOT_KAHAN, GR_NO_INTS(DOT_KAHAN) GR_FLOATS_AS(DOT_KAHAN, gr_entry_long))
GR_ENTRY(DOT_NEUMAIER, GR_NO_INTS(DOT_NEUMAIER) GR_FLOATS_AS(DOT_NEUMAIER, gr_entry_long))
