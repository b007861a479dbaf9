/*
** Reductions put down, to go to the device together (src/backend/cuda/graph.c), one after the other. early: as in
** gr_start_early.
*/
#ifndef GR_CUDA_BATCH_H
#define GR_CUDA_BATCH_H

#include <stdint.h>

#define GR_BATCH 8
#define GR_OWN_ARGUMENT_BYTES 552                          /* of a reduction's kernel */
#define GR_ARGUMENT_BYTES (GR_OWN_ARGUMENT_BYTES + 192 * 8) /* and of a formula's */

typedef struct gr_cuda_kernel {
  const void *kernel; /* CUDA's name of it; of a compiled one (a formula's) the function itself */
  void *compiled;     /* whose function it is; else NULL */
  int32_t blocks, threads, shared, early, bytes;
  uint64_t arguments[GR_ARGUMENT_BYTES / 8];
} gr_cuda_kernel;

typedef struct gr_cuda_batch {
  int count; /* when it is full, a reduction fails */
  gr_cuda_kernel kernel[GR_BATCH];
} gr_cuda_batch;

#endif
