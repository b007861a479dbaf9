/* var, std */
#include "kernels/cuda/reduce/instances.cuh"

GR_ENTRY(VARIANCE, GR_INTS(VARIANCE) GR_FLOATS(VARIANCE))
