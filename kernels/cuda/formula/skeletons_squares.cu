/* Skeletons: SUMSQ, VARIANCE, SUMEXP (kernels/cuda/formula/skeletons.cuh) */
#include "kernels/cuda/formula/skeletons.cuh"

GR_SKELETONS(SUMSQ)
GR_SKELETONS(VARIANCE)
GR_SKELETONS(SUMEXP)
