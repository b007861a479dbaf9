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

/* Such a launch, if it is early; the chip must be of 9.0 or later, and for clusters of several blocks too. */
static inline cudaError_t gr_start_early(const void *kernel, void **args, int32_t blocks, int32_t threads,
                                         size_t shared, int early, cudaStream_t stream, int32_t cluster = 1) {
  cudaLaunchAttribute how[2] = {};
  cudaLaunchConfig_t c = {};
  c.gridDim = dim3((unsigned)blocks);
  c.blockDim = dim3((unsigned)threads);
  c.dynamicSmemBytes = shared;
  c.stream = stream;
  c.attrs = how;
  if (early) {
    how[c.numAttrs].id = cudaLaunchAttributeProgrammaticStreamSerialization;
    how[c.numAttrs++].val.programmaticStreamSerializationAllowed = 1;
  }
  if (cluster > 1) {
    how[c.numAttrs].id = cudaLaunchAttributeClusterDimension;
    how[c.numAttrs].val.clusterDim.x = (unsigned)cluster;
    how[c.numAttrs].val.clusterDim.y = how[c.numAttrs].val.clusterDim.z = 1;
    c.numAttrs++;
  }
  return cudaLaunchKernelExC(&c, kernel, args);
}

#endif
