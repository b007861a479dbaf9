/*
** The dot product, as it is taught: twelve ways to add up the products, from one atomic an element to the block results
** that a second kernel, the host, or the grid itself finishes. They add in f32 and, where atomics meet, in any order:
** the last bits differ from run to run. The production kernel (reduce/leaves.cuh) is the step after the last one here.
*/
#include <cooperative_groups.h>
#include "kernels/ladder/cuda.cuh"

namespace {

extern __shared__ float part[]; /* one float a thread, or a warp: the launcher says how many */

/* ---- naive_atomic: a thread an element, and all of them queue at one address ---- */

__global__ void naive_atomic(const float *a, const float *b, float *out, int64_t n) {
  int64_t i = my_index();
  if (i < n) atomicAdd(out, a[i] * b[i]);
}

/* ---- the grid-stride loop: a thread takes every all_threads()-th product, into a register ---- */

__device__ float thread_dot(const float *a, const float *b, int64_t n) {
  float x = 0;
  for (int64_t i = my_index(); i < n; i += all_threads()) x += a[i] * b[i];
  return x;
}

/* ---- warp_atomic: 32 registers fold by shuffles, no memory and no barrier; lane 0 has the sum ---- */

__device__ float warp_sum(float x) {
  for (int half = 16; half > 0; half /= 2) x += __shfl_down_sync(~0u, x, half);
  return x;
}

__global__ void warp_atomic(const float *a, const float *b, float *out, int64_t n) {
  float x = warp_sum(thread_dot(a, b, n));
  if (my_lane() == 0) atomicAdd(out, x);
}

/* ---- the tree in shared memory: the lower half adds the upper one, so that the threads at work stay neighbours
   ---- */

__device__ void tree_to(int width, float x) {
  part[threadIdx.x] = x;
  __syncthreads();
  for (int half = blockDim.x / 2; half >= width; half /= 2) {
    if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
    __syncthreads();
  }
}

__global__ void shared_atomic(const float *a, const float *b, float *out, int64_t n) {
  tree_to(1, thread_dot(a, b, n));
  if (threadIdx.x == 0) atomicAdd(out, part[0]);
}

/* ---- shared_warp_atomic: the last five steps have no more than a warp's work and need no barrier ---- */

__global__ void shared_warp_atomic(const float *a, const float *b, float *out, int64_t n) {
  tree_to(32, thread_dot(a, b, n));
  if (threadIdx.x >= 32) return;
  float x = warp_sum(part[threadIdx.x]);
  if (threadIdx.x == 0) atomicAdd(out, x);
}

/* ---- warp_block_atomic: shuffle first, so that shared memory holds one value a warp and one barrier is enough ---- */

__device__ float block_sum(float x) {
  x = warp_sum(x);
  if (my_lane() == 0) part[my_warp()] = x;
  __syncthreads();
  if (my_warp() == 0) x = warp_sum(my_lane() < blockDim.x / 32 ? part[my_lane()] : 0);
  return x; /* of thread 0 */
}

__global__ void warp_block_atomic(const float *a, const float *b, float *out, int64_t n) {
  float x = block_sum(thread_dot(a, b, n));
  if (threadIdx.x == 0) atomicAdd(out, x);
}

/* ---- elementwise_host: nothing folds here; the host gets every product ---- */

__global__ void products(const float *a, const float *b, float *out, int64_t n) {
  int64_t i = my_index();
  if (i < n) out[i] = a[i] * b[i];
}

/* ---- shared_host and two_phase: no atomics; every block leaves its sum ---- */

__global__ void block_sums(const float *a, const float *b, float *sums, int64_t n) {
  tree_to(1, thread_dot(a, b, n));
  if (threadIdx.x == 0) sums[blockIdx.x] = part[0];
}

/* The second phase: the end of one launch is the barrier that all blocks of it share. */
__global__ void finish(const float *sums, int count, float *out) {
  float x = 0;
  for (int i = threadIdx.x; i < count; i += blockDim.x) x += sums[i];
  x = block_sum(x);
  if (threadIdx.x == 0) *out = x;
}

/* ---- vectorized: 16 bytes a load, four products a step: fewer instructions and more bytes in flight ---- */

__device__ float vector_dot(const float *a, const float *b, int64_t n) {
  int64_t me = my_index(), head = unaligned_head(a, n), words = (n - head) / 4, tail = head + words * 4;
  float x = 0;
  if (((uintptr_t)a ^ (uintptr_t)b) & 15) return thread_dot(a, b, n); /* never both on a 16-byte boundary */
  const float4 *a4 = (const float4 *)(a + head), *b4 = (const float4 *)(b + head);
#pragma unroll 4
  for (int64_t i = me; i < words; i += all_threads()) {
    float4 p = a4[i], q = b4[i];
    x += p.x * q.x + p.y * q.y + p.z * q.z + p.w * q.w;
  }
  if (me < head) x += a[me] * b[me]; /* up to three elements at either end are taken singly */
  if (me < n - tail) x += a[tail + me] * b[tail + me];
  return x;
}

__global__ void vectorized(const float *a, const float *b, float *out, int64_t n) {
  float x = warp_sum(vector_dot(a, b, n));
  if (my_lane() == 0) atomicAdd(out, x);
}

__global__ void vector_block_sums(const float *a, const float *b, float *sums, int64_t n) {
  float x = block_sum(vector_dot(a, b, n));
  if (threadIdx.x == 0) sums[blockIdx.x] = x;
}

/* ---- cooperative: all blocks are on the chip at once, so they may wait for each other ---- */

__global__ void cooperative(const float *a, const float *b, float *sums, float *out, int64_t n) {
  float x = block_sum(vector_dot(a, b, n));
  if (threadIdx.x == 0) sums[blockIdx.x] = x;
  cooperative_groups::this_grid().sync();
  if (blockIdx.x > 0) return;
  x = 0;
  for (int i = threadIdx.x; i < gridDim.x; i += blockDim.x) x += sums[i];
  x = block_sum(x);
  if (threadIdx.x == 0) *out = x;
}

}  // namespace

extern "C" int gr_cuda_ladder_dot(const gr_ladder_job *job, const gr_cuda_run *run, uint64_t *launches) {
  const float *a = (const float *)job->a, *b = (const float *)job->b;
  float *out = (float *)job->out, *sums = (float *)gr_ladder_scratch_of(run);
  int64_t n = job->n;
  int threads = job->block;
  size_t tree = threads * sizeof(float), warps = 32 * sizeof(float);
  unsigned each = (unsigned)gr_blocks_for(n, threads), filling = gr_filling_grid(n, 1, job, run);
  unsigned wide = gr_filling_grid(n, 16, job, run), kept = (unsigned)gr_ladder_partials(job->rung, n, threads);
  cudaStream_t stream = (cudaStream_t)run->stream;
  auto zero = [&] { *launches += 1; cudaMemsetAsync(out, 0, sizeof *out, stream); };
  *launches += 1;
  switch (job->rung) {
    case GR_RUNG_NAIVE_ATOMIC: zero(); naive_atomic<<<each, threads, 0, stream>>>(a, b, out, n); break;
    case GR_RUNG_WARP_ATOMIC: zero(); warp_atomic<<<filling, threads, 0, stream>>>(a, b, out, n); break;
    case GR_RUNG_SHARED_ATOMIC: zero(); shared_atomic<<<filling, threads, tree, stream>>>(a, b, out, n); break;
    case GR_RUNG_SHARED_WARP_ATOMIC:
      zero();
      shared_warp_atomic<<<filling, threads, tree, stream>>>(a, b, out, n);
      break;
    case GR_RUNG_WARP_BLOCK_ATOMIC: zero(); warp_block_atomic<<<filling, threads, warps, stream>>>(a, b, out, n); break;
    case GR_RUNG_VECTORIZED: zero(); vectorized<<<wide, threads, 0, stream>>>(a, b, out, n); break;
    case GR_RUNG_ELEMENTWISE_HOST: products<<<each, threads, 0, stream>>>(a, b, out, n); break;
    case GR_RUNG_SHARED_HOST: block_sums<<<kept, threads, tree, stream>>>(a, b, out, n); break;
    case GR_RUNG_TWO_PHASE:
      *launches += 1;
      block_sums<<<filling, threads, tree, stream>>>(a, b, sums, n);
      finish<<<1, threads, warps, stream>>>(sums, (int)filling, out);
      break;
    case GR_RUNG_VECTORIZED_TWO_PHASE:
      *launches += 1;
      vector_block_sums<<<wide, threads, warps, stream>>>(a, b, sums, n);
      finish<<<1, threads, warps, stream>>>(sums, (int)wide, out);
      break;
    case GR_RUNG_COOPERATIVE: {
      void *args[] = {&a, &b, &sums, &out, &n};
      cudaError_t e = gr_launch_cooperative(cooperative, args, job, run);
      if (e != cudaSuccess) return e;
      break;
    }
    default: return cudaErrorInvalidValue;
  }
  return cudaGetLastError();
}
