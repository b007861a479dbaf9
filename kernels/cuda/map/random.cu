/* Random numbers: a thread runs one Philox block and writes the two or four elements that it gives. */
#include <cuda_runtime.h>
#include "kernels/cuda/thread/element.cuh"
#include "kernels/cuda/launch.h"
#include "kernels/cuda/map/tuning.h"
#include "kernels/numerics/math.h"

constexpr int THREADS = gr_map_tuning::threads;

template <gr_dtype D, int normal>
static __global__ void __launch_bounds__(THREADS) generate(const __grid_constant__ gr_random_job job, bool packed) {
  constexpr int group = D == GR_F64 ? 2 : 4;
  int64_t groups = (job.n + group - 1) / group, step = gridDim.x * (int64_t)THREADS;
  char *out = (char *)job.out.data;
  for (int64_t g = blockIdx.x * (int64_t)THREADS + threadIdx.x; g < groups; g += step) {
    double x[4];
    struct __align__(group * sizeof(gr_type<D>)) { gr_type<D> e[group]; } y;
    gr_random_fill(D, job.seed, job.stream, (uint64_t)g, normal, x);
#pragma unroll
    for (int k = 0; k < group; k++) y.e[k] = gr_from_f64<D>(x[k]);
    if (packed && (g + 1) * group <= job.n) {
      ((decltype(y) *)out)[g] = y;
    } else {
#pragma unroll
      for (int k = 0; k < group; k++)
        if (g * group + k < job.n) *(gr_type<D> *)(out + (g * group + k) * job.out.stride) = y.e[k];
    }
  }
}

template <gr_dtype D> static cudaError_t start(const gr_random_job *job, const gr_cuda_run *run) {
  constexpr int group = D == GR_F64 ? 2 : 4;
  int64_t blocks = (job->n / group + THREADS) / THREADS, most = (int64_t)run->chip->sms * gr_map_tuning::blocks_each;
  bool packed = job->out.stride == gr_size<D> && (uintptr_t)job->out.data % (group * gr_size<D>) == 0;
  void *args[] = {(void *)job, &packed};
  const void *kernel = job->normal ? (const void *)generate<D, 1> : (const void *)generate<D, 0>;
  cudaStream_t stream = (cudaStream_t)run->stream;
  return cudaLaunchKernel(kernel, (unsigned)(blocks < most ? blocks : most), THREADS, args, 0, stream);
}

int gr_cuda_random(const gr_random_job *job, const gr_cuda_run *run) {
  if (job->n <= 0) return cudaSuccess;
  return gr_for_float(job->dtype, [&](auto d) { return start<decltype(d)::value>(job, run); });
}
