/*
** Sums of bf16 without those that are NaN once more, for chips from Hopper on: there one instruction asks two elements,
** for which older chips take four (thread/numbers.cuh).
*/
#define GR_SKELETONS_HOPPER
#include "kernels/cuda/formula/skeletons_present.cu"
