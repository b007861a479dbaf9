/* The kernels of histograms, and how those of one dtype are launched. */
#ifndef GR_CUDA_HISTOGRAM_START_CUH
#define GR_CUDA_HISTOGRAM_START_CUH

#include "kernels/cuda/formula/start.cuh"
#include "kernels/cuda/histogram/global.cuh"

template <typename T, class Quick, class Sink, bool has_table>
static __global__ void __launch_bounds__(gr_histogram_tuning::large_threads, gr_histogram_tuning::large_blocks)
    gr_hist_blocks(const __grid_constant__ gr_hist a) {
  gr_hist_in_blocks<T, Quick, Sink, has_table, false>(a);
}
template <typename T, class Quick>
static __global__ void __launch_bounds__(gr_histogram_tuning::global_threads, gr_histogram_tuning::global_blocks)
    gr_hist_global(const __grid_constant__ gr_hist a) {
  gr_hist_in_global<T, Quick, false>(a);
}

enum gr_hist_way { GR_HIST_F32, GR_HIST_F64, GR_HIST_TABLE, GR_HIST_MODULO };

typedef struct gr_hist_plan {
  gr_hist args;
  enum gr_hist_way way;
  int32_t global; /* counters in L2 */
  int32_t blocks, threads;
  int32_t early; /* may begin while the launch before it ends */
  size_t shared;
  int allowed; /* bytes of shared memory, to all launches of a kernel */
  int device;
  const gr_cuda_formula *formula; /* NULL: samples are in memory */
} gr_hist_plan;

/* Of formulas: the skeletons in kernels/cuda/formula/skeletons_histogram.cu, by what src/backend/jit calls them. */
enum gr_hist_skeleton {
  GR_HIST_NO_SKELETON = -1,
  GR_HIST_EVEN32,
  GR_HIST_EVEN64,
  GR_HIST_EDGES,
  GR_HIST_MANY,
  GR_HIST_KNOWN
};

/*
** Of kernels that follow each other the next one's blocks begin beside those that still run only if a multiprocessor
** need not change how it parts its memory in shared memory and cache: so both are to have as much. done: a bit for
** each device on which that has been asked for; of what has none it is asked each time. What the driver compiles for a
** formula has what it chooses.
*/
static inline cudaError_t gr_hist_share_memory(const void *kernel, int device, uint64_t *done) {
  const uint64_t bit = device < 64 ? UINT64_C(1) << device : 0;
  if (__atomic_load_n(done, __ATOMIC_RELAXED) & bit) return cudaSuccess;
  cudaError_t e =
      cudaFuncSetAttribute(kernel, cudaFuncAttributePreferredSharedMemoryCarveout, cudaSharedmemCarveoutMaxShared);
  if (e == cudaSuccess) __atomic_fetch_or(done, bit, __ATOMIC_RELAXED);
  return e;
}

template <class Kernel> static cudaError_t gr_hist_start(Kernel kernel, const gr_hist_plan *p, cudaStream_t stream) {
  cudaError_t e = cudaSuccess;
  if (p->formula) return gr_start_formula(*p->formula, p->args, p->blocks, p->threads, p->shared, p->early, stream);
  if (p->shared > 40 * 1024) /* 48, less what kernels have besides; as much for all, as other states may launch it */
    e = cudaFuncSetAttribute((const void *)kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, p->allowed);
  if (e != cudaSuccess) return e;
  void *args[] = {(void *)&p->args};
  return gr_start_early((const void *)kernel, args, p->blocks, p->threads, p->shared, p->early, stream);
}

template <typename T, class Quick>
static cudaError_t gr_hist_start_global(const gr_hist_plan *p, cudaStream_t stream) {
  static uint64_t shares;
  const auto kernel = gr_hist_global<T, Quick>;
  const cudaError_t e = p->formula ? cudaSuccess : gr_hist_share_memory((const void *)kernel, p->device, &shares);
  return e == cudaSuccess ? gr_hist_start(kernel, p, stream) : e;
}

template <typename T, class Quick, bool has_table = false, bool swizzled = false>
static cudaError_t gr_hist_start_blocks(const gr_hist_plan *p, cudaStream_t stream) {
  if constexpr (sizeof(T) > 2 && !has_table)
    if (p->args.words < p->args.part_bins)
      return gr_hist_start(gr_hist_blocks<T, Quick, gr_shared_sink<true, false>, false>, p, stream);
  return gr_hist_start(gr_hist_blocks<T, Quick, gr_shared_sink<false, swizzled>, has_table>, p, stream);
}

template <typename T> static cudaError_t gr_hist_launch(const gr_hist_plan *p, cudaStream_t stream) {
  if constexpr (gr_is_whole<T>::yes)
    if (p->way == GR_HIST_MODULO)
      return p->global ? gr_hist_start_global<T, gr_quick_modulo>(p, stream)
                       : gr_hist_start_blocks<T, gr_quick_modulo>(p, stream);
  if (p->way == GR_HIST_TABLE)
    return p->global ? gr_hist_start_global<T, gr_quick_none>(p, stream)
                     : gr_hist_start_blocks<T, gr_quick_table, true>(p, stream);
  if (p->global) return gr_hist_start_global<T, gr_quick_even<false>>(p, stream);
  if constexpr (sizeof(T) == 4)
    if (p->way == GR_HIST_F32) return gr_hist_start_blocks<T, gr_quick_even<true>, false, true>(p, stream);
  return gr_hist_start_blocks<T, gr_quick_even<false>>(p, stream);
}

/* 16-bit types: all the rest goes by value. */
template <typename T> static cudaError_t gr_hist_launch_narrow(const gr_hist_plan *p, cudaStream_t stream) {
  if (p->global) return gr_hist_start_global<T, gr_quick_none>(p, stream);
  if constexpr (gr_is_whole<T>::yes)
    if (p->way == GR_HIST_MODULO) return gr_hist_start_blocks<T, gr_quick_modulo>(p, stream);
  return gr_hist_start_blocks<T, gr_quick_even<true>>(p, stream);
}

cudaError_t gr_hist_integers(gr_dtype, const gr_hist_plan *, cudaStream_t);
cudaError_t gr_hist_floats(gr_dtype, const gr_hist_plan *, cudaStream_t);
cudaError_t gr_hist_values(const gr_hist_plan *, cudaStream_t);

#endif
