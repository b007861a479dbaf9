/* Skeletons: SUM, PROD, COUNT (kernels/cuda/formula/skeletons.cuh) */
#include "kernels/cuda/formula/skeletons.cuh"

GR_SKELETONS(SUM)
GR_SKELETONS(PROD)
GR_SKELETON(COUNT, U8) GR_SKELETON(COUNT, U16) GR_SKELETON(COUNT, U32) GR_SKELETON(COUNT, I64) /* by bits */
