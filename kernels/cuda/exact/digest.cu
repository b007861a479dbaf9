/* The digest of a vector's bytes (kernels/numerics/digest.h): sums of words, so blocks meet in any order. */
#include <cuda_runtime.h>
#include "kernels/cuda/exact/exact.h"
#include "kernels/cuda/exact/tuning.h"
#include "kernels/cuda/grid/last_block.cuh"
#include "kernels/cuda/grid/mailbox.cuh"

struct gr_digest_args {
  gr_digest_job job;
  int size;
  uint64_t *sums, *out, *done, ticket;
  unsigned *counter;
};

__global__ void __launch_bounds__(gr_exact_tuning::digest_threads)
    gr_digest_sum(const __grid_constant__ gr_digest_args q) {
  __shared__ unsigned long long total[2];
  const gr_vec &a = q.job.a;
  int64_t words = (q.job.n * q.size + 7) / 8, step = (int64_t)gridDim.x * blockDim.x;
  int64_t whole = a.stride == q.size && ((uintptr_t)a.data & 7) == 0 ? q.job.n * q.size / 8 : 0;
  uint64_t sum[2] = {0, 0};
  if (threadIdx.x < 2) total[threadIdx.x] = 0;
  __syncthreads();
#pragma unroll(gr_exact_tuning::digest_unrolled)
  for (int64_t k = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; k < words; k += step)
    gr_digest_add(sum, k < whole ? ((const uint64_t *)a.data)[k] : gr_digest_word(&a, q.job.n, q.size, k), (uint64_t)k);
  for (int h = 16; h > 0; h /= 2)
    for (int i = 0; i < 2; i++) sum[i] += __shfl_xor_sync(~0u, sum[i], h);
  if ((threadIdx.x & 31) == 0)
    for (int i = 0; i < 2; i++) atomicAdd(total + i, (unsigned long long)sum[i]);
  __syncthreads();
  if (threadIdx.x < 2) atomicAdd((unsigned long long *)q.sums + threadIdx.x, total[threadIdx.x]);
  if (!gr_last_block(q.counter, gridDim.x) || threadIdx.x) return;
  for (int i = 0; i < 2; i++) {
    q.out[i] = *(volatile uint64_t *)(q.sums + i);
    q.sums[i] = 0;
  }
  gr_mailbox_end(q.done, q.ticket);
}

int gr_cuda_digest(const gr_digest_job *job, uint64_t out[2], const gr_cuda_run *run) {
  gr_digest_args q = {};
  void *args[] = {&q};
  q.job = *job;
  q.size = gr_size_of(job->dtype);
  q.counter = (unsigned *)run->scratch->memory;
  q.sums = (uint64_t *)((char *)run->scratch->memory + 64);
  q.out = out;
  q.done = run->done;
  q.ticket = run->ticket;
  constexpr int threads = gr_exact_tuning::digest_threads, each = threads * gr_exact_tuning::digest_bytes;
  int64_t blocks = (job->n * q.size + each - 1) / each, most = run->chip->sms * gr_exact_tuning::digest_blocks;
  if (blocks > most) blocks = most;
  return cudaLaunchKernel((const void *)gr_digest_sum, (unsigned)(blocks ? blocks : 1), threads, args, 0,
                          (cudaStream_t)run->stream);
}
