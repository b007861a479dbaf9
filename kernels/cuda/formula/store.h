/* The kernel that stores a formula's elements, as both sides of its launch know it. */
#ifndef GR_CUDA_FORMULA_STORE_H
#define GR_CUDA_FORMULA_STORE_H

#include <stdint.h>
#include "kernels/cuda/formula/tuning.h"

/* Elements 0 .. n - 1 to out, `stride` bytes apart. aligned: they follow each other from a multiple of 16 bytes on. */
typedef struct gr_store_args {
  void *out;
  int64_t stride, n;
  int32_t aligned, unused;
} gr_store_args;

#endif
