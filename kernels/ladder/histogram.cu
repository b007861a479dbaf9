/*
** The histogram of int32 samples, as it is taught: from one global atomic a sample to private histograms in shared
** memory that only meet at the end. Bins are of one whole width, so a subtraction and a division find them.
** With 'modulo' the naive kernel is also the contention benchmark: n additions to as many addresses as there are bins.
*/
#include "kernels/ladder/cuda.cuh"

namespace {

typedef unsigned long long counter; /* of the result: int64 */

struct Bins {
  int64_t bins, first, last, width;
  int modulo;
};

/* The bin of x. What lies below, above and is NaN is counted behind the last bin; integers are never NaN. */
__device__ int64_t bin_of(const Bins &b, int32_t x) {
  if (b.modulo) {
    int64_t k = b.bins <= INT32_MAX ? x % (int32_t)b.bins : x;
    return k < 0 ? k + b.bins : k;
  }
  if (x < b.first) return b.bins;
  if (x > b.last) return b.bins + 1;
  int64_t k = b.width == 1 ? x - b.first : (x - b.first) / b.width;
  return k < b.bins ? k : b.bins - 1; /* the last bin is closed */
}

__global__ void naive(const int32_t *a, int64_t n, Bins b, counter *counts) {
  int64_t i = my_index();
  if (i < n) atomicAdd(counts + bin_of(b, a[i]), (counter)1);
}

extern __shared__ uint32_t mine[];

/* ---- shared: the block's own counters; the global ones are touched once a bin and block ---- */

__global__ void shared(const int32_t *a, int64_t n, Bins b, counter *counts) {
  int size = (int)b.bins + 3;
  for (int k = threadIdx.x; k < size; k += blockDim.x) mine[k] = 0;
  __syncthreads();
  for (int64_t i = my_index(); i < n; i += all_threads()) atomicAdd(mine + bin_of(b, a[i]), 1u);
  __syncthreads();
  for (int k = threadIdx.x; k < size; k += blockDim.x)
    if (mine[k]) atomicAdd(counts + k, (counter)mine[k]);
}

/* ---- warp_private: warps do not disturb each other either; the block adds up its warps' counters at the end ---- */

__global__ void warp_private(const int32_t *a, int64_t n, Bins b, counter *counts) {
  int size = (int)b.bins + 3, warps = blockDim.x / 32;
  for (int k = threadIdx.x; k < size * warps; k += blockDim.x) mine[k] = 0;
  __syncthreads();
  uint32_t *own = mine + my_warp() * size;
  for (int64_t i = my_index(); i < n; i += all_threads()) atomicAdd(own + bin_of(b, a[i]), 1u);
  __syncthreads();
  for (int k = threadIdx.x; k < size; k += blockDim.x) {
    counter sum = 0;
    for (int w = 0; w < warps; w++) sum += mine[w * size + k];
    if (sum) atomicAdd(counts + k, sum);
  }
}

}  // namespace

extern "C" int gr_cuda_ladder_histogram(const gr_ladder_job *job, const gr_cuda_run *run, uint64_t *launches) {
  const int32_t *a = (const int32_t *)job->a;
  counter *counts = (counter *)job->out;
  int64_t n = job->n;
  int threads = job->block;
  Bins b = {job->bins, job->first, job->last, job->width, job->modulo};
  size_t size = (size_t)(b.bins + 3) * 4;
  cudaStream_t stream = (cudaStream_t)run->stream;
  *launches += 2;
  cudaMemsetAsync(counts, 0, (size_t)(b.bins + 3) * sizeof *counts, stream);
  if (n == 0) return cudaGetLastError();
  if (job->rung == GR_RUNG_HIST_NAIVE)
    naive<<<(unsigned)gr_blocks_for(n, threads), threads, 0, stream>>>(a, n, b, counts);
  else if (job->rung == GR_RUNG_HIST_SHARED)
    shared<<<gr_filling_grid(n, 8, job, run), threads, size, stream>>>(a, n, b, counts);
  else
    warp_private<<<gr_filling_grid(n, 8, job, run), threads, size * (threads / 32), stream>>>(a, n, b, counts);
  return cudaGetLastError();
}
