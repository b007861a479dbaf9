/* norm 1, norm 2 and the sum of squares, mse */
#include "kernels/cuda/reduce/instances.cuh"

GR_ENTRY(SUMSQ, GR_CASE(SUMSQ, U8) GR_CASE(SUMSQ, I8) GR_WIDE_INTS_AS(SUMSQ, gr_entry_long) GR_FLOATS(SUMSQ))
/* the sum of |x| is that of |x| times 1 instead of |x| */
GR_ENTRY_LIKE(SUMABS, SUMSQ)
GR_ENTRY(SQDIFF, GR_INTS_AS(SQDIFF, gr_entry_long) GR_FLOATS(SQDIFF))
