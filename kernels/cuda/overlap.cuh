/* Launches that overlap. */
#ifndef GR_OVERLAP_CUH
#define GR_OVERLAP_CUH

#include <cuda_runtime.h>
#include <stdint.h>
#include "kernels/cuda/launch.h"

/*
** Launches that follow each other may overlap (programmatic launch): nothing is written before gr_await_earlier, and
** nothing read but what no launch that may still run writes (gr_misses). Every block has to wait somewhere:
** a launch that is over stands for all before it. Without that attribute both are nothing.
*/
__device__ __forceinline__ void gr_await_earlier() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}
__device__ __forceinline__ void gr_let_next_start() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;");
#endif
}

/* What launches write that may still run (gr_cuda_run.written), and whether one may read before they are over. */
static inline bool gr_misses(const gr_cuda_span &span, const void *from, int64_t bytes) {
  return (const char *)from >= span.to || (const char *)from + bytes <= span.from;
}
static inline gr_cuda_span gr_both(const gr_cuda_span &a, const gr_cuda_span &b) {
  if (a.from == a.to) return b;
  if (b.from == b.to) return a;
  return {a.from < b.from ? a.from : b.from, a.to > b.to ? a.to : b.to};
}

/* Such a launch, if it is early; the chip must be of 9.0 or later. */
static inline cudaError_t gr_start_early(const void *kernel, void **args, int32_t blocks, int32_t threads,
                                         size_t shared, int early, cudaStream_t stream) {
  cudaLaunchAttribute how = {};
  cudaLaunchConfig_t c = {};
  c.gridDim = dim3((unsigned)blocks);
  c.blockDim = dim3((unsigned)threads);
  c.dynamicSmemBytes = shared;
  c.stream = stream;
  how.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  how.val.programmaticStreamSerializationAllowed = 1;
  c.attrs = &how;
  c.numAttrs = early ? 1 : 0;
  return cudaLaunchKernelExC(&c, kernel, args);
}

#endif
