/* logsumexp: of integers, which few ask for, the flat kernel does for all shapes */
#include "kernels/cuda/reduce/instances.cuh"

GR_ENTRY(SUMEXP, GR_INTS_AS(SUMEXP, gr_entry_flat) GR_FLOATS_AS(SUMEXP, gr_entry_long))
