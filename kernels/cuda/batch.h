/*
** Launches put down, to go to the device together (src/backend/cuda/graph.c), one after the other. early: as in
** gr_start_early.
*/
#ifndef GR_CUDA_BATCH_H
#define GR_CUDA_BATCH_H

#include <stdint.h>
#include <string.h>

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

/* Where the next launch of such a kernel is put down; NULL: there is no room. Its arguments are copied. */
static inline gr_cuda_kernel *gr_batch_add(gr_cuda_batch *b, const void *kernel, const void *arguments, size_t bytes,
                                           int64_t blocks, int64_t threads, size_t shared, int early) {
  if (b->count == GR_BATCH || bytes > GR_ARGUMENT_BYTES) return NULL;
  gr_cuda_kernel *k = &b->kernel[b->count++];
  k->kernel = kernel;
  k->compiled = NULL;
  k->blocks = (int32_t)blocks;
  k->threads = (int32_t)threads;
  k->shared = (int32_t)shared;
  k->early = early;
  k->bytes = (int32_t)bytes;
  memcpy(k->arguments, arguments, bytes);
  return k;
}

#endif
