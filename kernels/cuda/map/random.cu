/*
** Random numbers: a thread runs one Philox block and writes what it gives: two or four floats, one or two whole
** numbers. An order is a whole number a thread.
*/
#include <cuda_runtime.h>
#include "kernels/cuda/thread/element.cuh"
#include "kernels/cuda/launch.h"
#include "kernels/cuda/map/tuning.h"
#include "kernels/numerics/random.h"

constexpr int THREADS = gr_map_tuning::threads;

template <gr_dtype D, int kind>
static __global__ void __launch_bounds__(THREADS) generate(const __grid_constant__ gr_random_job job, bool packed) {
  constexpr int group = D == GR_F64 ? 2 : 4;
  int64_t groups = (job.n + group - 1) / group, step = gridDim.x * (int64_t)THREADS;
  char *out = (char *)job.out.data;
  for (int64_t g = blockIdx.x * (int64_t)THREADS + threadIdx.x; g < groups; g += step) {
    double x[4];
    struct __align__(group * sizeof(gr_type<D>)) { gr_type<D> e[group]; } y;
    gr_random_fill(D, job.seed, job.stream, job.mark, (uint64_t)g, kind, x);
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
  const void *kernel = job->kind == GR_NORMAL        ? (const void *)generate<D, GR_NORMAL>
                       : job->kind == GR_EXPONENTIAL ? (const void *)generate<D, GR_EXPONENTIAL>
                                                     : (const void *)generate<D, GR_UNIFORM>;
  cudaStream_t stream = (cudaStream_t)run->stream;
  return cudaLaunchKernel(kernel, (unsigned)(blocks < most ? blocks : most), THREADS, args, 0, stream);
}

int gr_cuda_random(const gr_random_job *job, const gr_cuda_run *run) {
  if (job->n <= 0) return cudaSuccess;
  return gr_for_float(job->dtype, [&](auto d) { return start<decltype(d)::value>(job, run); });
}

/* ---- whole numbers, orders ---- */

template <typename T>
static __global__ void __launch_bounds__(THREADS) draw(const __grid_constant__ gr_whole_job job) {
  int group = gr_whole_group(job.range);
  int64_t groups = (job.n + group - 1) / group, step = gridDim.x * (int64_t)THREADS;
  char *out = (char *)job.out.data;
  for (int64_t g = blockIdx.x * (int64_t)THREADS + threadIdx.x; g < groups; g += step) {
    uint64_t x[2];
    gr_whole_fill(&job, (uint64_t)g, x);
    *(T *)(out + g * group * job.out.stride) = (T)gr_whole_number(&job, x[0]);
    if (group == 2 && 2 * g + 1 < job.n) *(T *)(out + (2 * g + 1) * job.out.stride) = (T)gr_whole_number(&job, x[1]);
  }
}

template <typename T>
static __global__ void __launch_bounds__(THREADS)
put_in_order(const __grid_constant__ gr_order order, char *out, int64_t stride, int64_t n) {
  int64_t step = gridDim.x * (int64_t)THREADS;
  for (int64_t k = blockIdx.x * (int64_t)THREADS + threadIdx.x; k < n; k += step)
    *(T *)(out + k * stride) = (T)(gr_order_at(&order, k) + 1);
}

static unsigned grid_for(int64_t items, const gr_cuda_run *run) {
  int64_t blocks = (items + THREADS - 1) / THREADS, most = (int64_t)run->chip->sms * gr_map_tuning::blocks_each;
  return (unsigned)(blocks < most ? blocks : most);
}

/* The kernel of elements of that size. */
#define OF_SIZE(kernel, size)                        \
  ((size) == 1   ? (const void *)kernel<uint8_t>     \
   : (size) == 2 ? (const void *)kernel<uint16_t>    \
   : (size) == 4 ? (const void *)kernel<uint32_t>    \
                 : (const void *)kernel<uint64_t>)

int gr_cuda_whole(const gr_whole_job *job, const gr_cuda_run *run) {
  if (job->n <= 0) return cudaSuccess;
  int group = gr_whole_group(job->range);
  void *args[] = {(void *)job};
  return cudaLaunchKernel(OF_SIZE(draw, gr_size_of(job->dtype)), grid_for((job->n + group - 1) / group, run), THREADS,
                          args, 0, (cudaStream_t)run->stream);
}

int gr_cuda_order(const gr_order_job *job, const gr_cuda_run *run) {
  if (job->n <= 0) return cudaSuccess;
  gr_order order = gr_order_of(job->length, job->seed, job->stream, job->mark);
  char *out = (char *)job->out.data;
  int64_t stride = job->out.stride, n = job->n;
  void *args[] = {&order, &out, &stride, &n};
  return cudaLaunchKernel(OF_SIZE(put_in_order, gr_size_of(job->dtype)), grid_for(n, run), THREADS, args, 0,
                          (cudaStream_t)run->stream);
}
