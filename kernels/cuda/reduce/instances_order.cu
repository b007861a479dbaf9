/* min, max, minmax, norm inf, argmin, argmax, any, all, count */
#include "kernels/cuda/reduce/instances.cuh"

GR_ENTRY(MINMAX, GR_INTS(MINMAX) GR_FLOATS(MINMAX))
/* argmin is argmax of complemented keys, signed integers are unsigned ones with another highest bit */
GR_ENTRY(ARGMAX, GR_BITS(ARGMAX, gr_entry) GR_FLOATS(ARGMAX))
GR_ENTRY_LIKE(ARGMIN, ARGMAX)
/* floats as integers of their size */
GR_ENTRY(COUNT, GR_BITS(COUNT, gr_entry) GR_AS(COUNT, F16, gr_entry, U16) GR_AS(COUNT, BF16, gr_entry, U16)
  GR_AS(COUNT, F32, gr_entry, U32) GR_AS(COUNT, F64, gr_entry, I64))
