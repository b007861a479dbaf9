/* Skeletons: DOT, SQDIFF, COSINE (kernels/cuda/formula/skeletons.cuh) */
#include "kernels/cuda/formula/skeletons.cuh"

GR_SKELETONS(DOT)
GR_SKELETONS(SQDIFF)
GR_SKELETONS(COSINE)
