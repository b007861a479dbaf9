/*
** RMSNorm in two passes, as it is first written: one kernel finds each row's factor, a second one reads the rows again
** and scales them. The production kernel (norm/rmsnorm.cu) keeps the row in registers meanwhile and reads it once.
*/
#include "kernels/ladder/cuda.cuh"

namespace {

extern __shared__ float part[];

__device__ float warp_sum(float x) {
  for (int half = 16; half > 0; half /= 2) x += __shfl_down_sync(~0u, x, half);
  return x;
}

/* One block a row: 1 / sqrt(mean of squares + eps). */
__global__ void factors(const float *x, float *factor, int64_t n, float eps) {
  const float *row = x + blockIdx.x * n;
  float sum = 0;
  for (int64_t k = threadIdx.x; k < n; k += blockDim.x) sum += row[k] * row[k];
  sum = warp_sum(sum);
  if (my_lane() == 0) part[my_warp()] = sum;
  __syncthreads();
  if (my_warp() > 0) return;
  sum = warp_sum(my_lane() < blockDim.x / 32 ? part[my_lane()] : 0);
  if (my_lane() == 0) factor[blockIdx.x] = 1 / sqrtf(sum / (float)n + eps);
}

__global__ void scale(const float *x, const float *w, const float *factor, float *out, int64_t n) {
  int64_t row = blockIdx.x * n;
  float r = factor[blockIdx.x];
  for (int64_t k = threadIdx.x; k < n; k += blockDim.x) {
    float y = x[row + k] * r;
    out[row + k] = w ? y * w[k] : y;
  }
}

}  // namespace

extern "C" int gr_cuda_ladder_rows(const gr_ladder_job *job, const gr_cuda_run *run, uint64_t *launches) {
  const float *x = (const float *)job->a, *w = (const float *)job->b;
  float *factor = (float *)gr_ladder_scratch_of(run);
  cudaStream_t stream = (cudaStream_t)run->stream;
  *launches += 2;
  factors<<<(unsigned)job->rows, job->block, 32 * sizeof(float), stream>>>(x, factor, job->n, (float)job->eps);
  scale<<<(unsigned)job->rows, job->block, 0, stream>>>(x, w, factor, (float *)job->out, job->n);
  return cudaGetLastError();
}
