/* Dependent launches: those that may overlap with the one before (programmatic dependent launch). */
#ifndef GR_CUDA_GRID_DEPENDENT_LAUNCH_CUH
#define GR_CUDA_GRID_DEPENDENT_LAUNCH_CUH

#include <cuda_runtime.h>
#include <stdint.h>
#include <initializer_list>
#include "kernels/cuda/launch.h"

/*
** Launches that follow each other in a stream may overlap. The rules, on which gr_reads_at_once relies:
** - Nothing is written, scratch memory included, before gr_await_earlier (griddepcontrol.wait).
** - Every block waits somewhere, so that when a launch is over, all launches before it are over too.
** - A launch that may not read at once waits before launch_dependents: then earlier writers need no tracking. Did it
**   not, the next launch could read what those are still writing, since it only compares itself with launches after the
**   last wait.
** Without the attribute of such a launch, and below 9.0, waiting and letting start do nothing. A skeleton is PTX for
** older chips, so there they are holes, which src/backend/jit fills where the chip has the instructions.
*/
__device__ __forceinline__ void gr_await_earlier() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#elif defined(GR_SKELETON_HOLES)
  asm volatile("//GR_AWAIT_EARLIER" ::: "memory");
#endif
}
__device__ __forceinline__ void gr_let_next_start() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;");
#elif defined(GR_SKELETON_HOLES)
  asm volatile("//GR_LET_NEXT_START");
#endif
}

/* Before a kernel reads. It waits again before it writes. */
__device__ __forceinline__ void gr_start_reading(bool at_once) {
  if (!at_once) gr_await_earlier();
  gr_let_next_start();
}
/* The same where the next launch is better kept back until this one has read; and after reading: no need to wait
   again. */
__device__ __forceinline__ void gr_before_reading(bool at_once) {
  if (at_once) gr_let_next_start();
  else gr_await_earlier();
}
__device__ __forceinline__ void gr_after_reading(bool at_once) {
  if (at_once) gr_await_earlier();
  else gr_let_next_start();
}

/* ---- on the host: who may read at once ---- */

/* The bytes of n things; of the elements of count vectors. */
template <typename T> static inline gr_cuda_span gr_span(const T *p, int64_t n) {
  return {(const char *)p, (const char *)(p ? p + n : p)};
}
static inline gr_cuda_span gr_span(const gr_vec &v, int64_t count, int64_t n, int size) {
  if (!v.data || count < 1 || n < 1) return {};
  int64_t along = (n - 1) * v.stride, across = (count - 1) * v.step;
  const char *at = (const char *)v.data;
  return {at + (along < 0 ? along : 0) + (across < 0 ? across : 0),
          at + (along > 0 ? along : 0) + (across > 0 ? across : 0) + size};
}

/* The elements of count vectors, or of the inputs of the formula that stands for them. */
static inline gr_cuda_span gr_elements(const gr_cuda_run &run, const gr_vec &v, int64_t count, int64_t n, int size) {
  return run.formula && !run.formula->alone ? run.formula->reads : gr_span(v, count, n, size);
}

static inline bool gr_is_empty(const gr_cuda_span &a) { return a.from == a.to; }
static inline bool gr_misses(const gr_cuda_span &a, const gr_cuda_span &b) {
  return gr_is_empty(a) || gr_is_empty(b) || a.to <= b.from || b.to <= a.from;
}
static inline gr_cuda_span gr_both(const gr_cuda_span &a, const gr_cuda_span &b) {
  if (gr_is_empty(a)) return b;
  if (gr_is_empty(b)) return a;
  return {a.from < b.from ? a.from : b.from, a.to > b.to ? a.to : b.to};
}

/*
** Whether the next launch may read at once: if it can (able), and reads nothing that launches write that may still run.
** What it writes, beside scratch memory, is noted for those after it; if it waits, nothing else is left to be written.
*/
static inline bool gr_reads_at_once(const gr_cuda_run &run, bool able, std::initializer_list<gr_cuda_span> reads,
                                    std::initializer_list<gr_cuda_span> writes) {
  bool at_once = able && run.written && run.chip->major >= 9;
  gr_cuda_span all = {};
  for (const gr_cuda_span &r : reads) at_once = at_once && gr_misses(run.running, r);
  if (at_once) all = run.running;
  for (const gr_cuda_span &w : writes) all = gr_both(all, w);
  if (run.written) *run.written = all;
  return at_once;
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
