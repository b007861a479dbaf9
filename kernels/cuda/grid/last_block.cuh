/* Which of some blocks is the last to arrive: it sees what all of them wrote before. */
#ifndef GR_CUDA_GRID_LAST_BLOCK_CUH
#define GR_CUDA_GRID_LAST_BLOCK_CUH

#include "kernels/cuda/grid/tuning.h"

/* Whether this thread is the last of so many to call it; the counter then goes back to zero by itself. */
static __device__ __forceinline__ bool gr_arrives_last(unsigned *counter, unsigned count) {
  unsigned before;
  asm volatile("atom.acq_rel.gpu.global.inc.u32 %0, [%1], %2;"
               : "=r"(before)
               : "l"(counter), "r"(count - 1)
               : "memory");
  return before == count - 1;
}

/*
** True in every thread of the last of `blocks` blocks to call it. What any thread of any of them wrote before
** is then visible (barrier, release, acquire, barrier). alone: thread 0 is the only one that wrote.
*/
static __device__ __forceinline__ bool gr_last_block(unsigned *counter, unsigned blocks, bool alone = false) {
  __shared__ bool last; /* __syncthreads_or instead makes gr_reduce_leaves a fifth longer */
  if (!alone) __syncthreads();
  if (threadIdx.x == 0) last = gr_arrives_last(counter, blocks);
  __syncthreads();
  return last;
}

/*
** Those of a block that combine partials: all of its threads, or one warp while the others go on. A thread has
** 2^batch_log2 partials in its registers at once.
*/
struct gr_team_of_block {
  static constexpr int batch_log2 = gr_grid_tuning::block_batch_log2;
  static __device__ __forceinline__ int thread() { return (int)threadIdx.x; }
  static __device__ __forceinline__ int threads() { return (int)blockDim.x; }
  static __device__ __forceinline__ bool is_last(unsigned *counter, unsigned blocks) {
    return gr_last_block(counter, blocks);
  }
};
struct gr_team_of_warp {
  static constexpr int batch_log2 = gr_grid_tuning::warp_batch_log2;
  static __device__ __forceinline__ int thread() { return (int)threadIdx.x & 31; }
  static __device__ __forceinline__ int threads() { return 32; }
  static __device__ __forceinline__ bool is_last(unsigned *counter, unsigned blocks) {
    bool last = false;
    __syncwarp();
    if (thread() == 0) last = gr_arrives_last(counter, blocks);
    last = __shfl_sync(~0u, last, 0);
    __syncwarp();
    return last;
  }
};

#endif
