/*
** What the teaching kernels share: where a thread stands, and how the launchers choose grids. The kernels themselves
** are written out in full, each in the form in which it is taught.
*/
#ifndef GR_LADDER_CUDA_CUH
#define GR_LADDER_CUDA_CUH

#include <cuda_runtime.h>
#include "kernels/ladder/cuda.h"

/* This thread among all threads of the grid, and how many there are: where a grid-stride loop starts and its step. */
__device__ __forceinline__ int64_t my_index() { return blockIdx.x * (int64_t)blockDim.x + threadIdx.x; }
__device__ __forceinline__ int64_t all_threads() { return gridDim.x * (int64_t)blockDim.x; }
__device__ __forceinline__ int my_lane() { return threadIdx.x & 31; }
__device__ __forceinline__ int my_warp() { return threadIdx.x >> 5; }

/* Elements before the first one that a 16-byte load may start at. */
__device__ __forceinline__ int64_t unaligned_head(const float *p, int64_t n) {
  int64_t head = (16 - ((uintptr_t)p & 15)) % 16 / 4;
  return head < n ? head : n;
}

static inline int64_t gr_blocks_for(int64_t threads, int64_t block) { return (threads + block - 1) / block; }

/* As many blocks as fill the chip once, fewer when there is less to do. each: elements a thread should have. */
static inline unsigned gr_filling_grid(int64_t n, int64_t each, const gr_ladder_job *job, const gr_cuda_run *run) {
  int64_t wanted = gr_blocks_for(gr_blocks_for(n, each), job->block);
  int64_t room =
      (int64_t)run->chip->sms * ((run->chip->major == 7 && run->chip->minor == 5 ? 1024 : 2048) / job->block);
  if (wanted > room) wanted = room;
  return wanted > 0 ? (unsigned)wanted : 1;
}

/* A kernel whose blocks, of a float for each warp, wait for each other: no more than the chip holds at once. */
template <class Kernel>
static inline cudaError_t gr_launch_cooperative(Kernel kernel, void **args, const gr_ladder_job *job,
                                                const gr_cuda_run *run) {
  int resident = 0;
  unsigned blocks = gr_filling_grid(job->n, 16, job, run);
  const size_t shared = 32 * sizeof(float);
  cudaError_t e = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, kernel, job->block, shared);
  if (e != cudaSuccess) return e;
  if (blocks > (unsigned)(resident * run->chip->sms)) blocks = (unsigned)(resident * run->chip->sms);
  return cudaLaunchCooperativeKernel((const void *)kernel, blocks, job->block, args, shared, (cudaStream_t)run->stream);
}

/* The scratch behind the counters: block results and the like. */
static inline void *gr_ladder_scratch_of(const gr_cuda_run *run) {
  return (char *)run->scratch->memory + GR_COUNTER_BYTES;
}

#endif
