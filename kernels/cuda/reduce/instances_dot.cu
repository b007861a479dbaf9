/* dot, cosine, differ */
#include "kernels/cuda/reduce/instances.cuh"

GR_ENTRY(DOT, GR_INTS(DOT) GR_FLOATS(DOT))
GR_ENTRY(COSINE, GR_INTS_AS(COSINE, gr_entry_long) GR_FLOATS(COSINE))
GR_ENTRY(DIFFER, GR_BITS(DIFFER, gr_entry_flat) GR_FLOATS_AS(DIFFER, gr_entry_flat))
