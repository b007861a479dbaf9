/*
** Random numbers: a thread runs one Philox block and writes what it gives: two or four floats; or as many as make a
** word of whole numbers. An order is a whole number a thread.
*/
#include <cuda_runtime.h>
#include "kernels/cuda/thread/element.cuh"
#include "kernels/cuda/launch.h"
#include "kernels/cuda/map/quick_random.cuh"
#include "kernels/cuda/map/tuning.h"
#include "kernels/numerics/random.h"

constexpr int THREADS = gr_map_tuning::threads;

/* What numerics/math.h makes of a group's words: exact in f32, if uniform in 32 bits or less. */
template <gr_dtype D, int kind, int group>
static __device__ __forceinline__ void numbers(const uint32_t (&w)[4], gr_type<D> (&y)[group]) {
  if constexpr (kind == GR_UNIFORM && D != GR_F64) {
    constexpr int width = D == GR_F32 ? 24 : D == GR_F16 ? 11 : 8;
#pragma unroll
    for (int k = 0; k < group; k++)
      y[k] = gr_rounded_f32<D>((float)(w[k] >> (32 - width)) * (1.0f / (float)(1 << width)));
  } else {
    double x[4];
    gr_random_of(D, w, kind, x);
#pragma unroll
    for (int k = 0; k < group; k++) y[k] = gr_from_f64<D>(x[k]);
  }
}

/* Normals and exponentials of f32; the long way is there once, for two words. */
template <int kind>
static __device__ __forceinline__ void quick_numbers(uint32_t (&w)[4], float (&y)[4]) {
  bool unsure = false;
#pragma unroll
  for (int k = 0; k < 4; k += 2) {
    double x[2];
    if constexpr (kind == GR_NORMAL) {
      const double r = gr_quick_root(gr_quick_log<-2>(w[k]));
      double s, c;
      gr_quick_turn(w[k + 1], &s, &c);
      x[0] = r * c;
      x[1] = r * s;
    } else {
      x[0] = gr_quick_log<-1>(w[k]);
      x[1] = gr_quick_log<-1>(w[k + 1]);
    }
    unsure |= gr_quick_unsure(x[0]) | gr_quick_unsure(x[1]) | (w[k] == ~0u);
    if (kind == GR_EXPONENTIAL) unsure |= w[k + 1] == ~0u;
    y[k] = (float)x[0];
    y[k + 1] = (float)x[1];
  }
  if (!unsure) return;
#pragma unroll 1
  for (int k = 0; k < 2; k++) { /* the halves change places twice */
    const uint32_t two[4] = {w[0], w[1], 0, 0};
    double x[4];
    gr_random_of(GR_F32, two, kind, x);
    w[0] = w[2], w[1] = w[3];
    y[0] = y[2], y[1] = y[3];
    y[2] = (float)x[0], y[3] = (float)x[1];
  }
}

template <gr_dtype D, int kind>
static __global__ void __launch_bounds__(THREADS, D == GR_F32 ? 6 : 1)
    generate(const __grid_constant__ gr_random_job job, const __grid_constant__ gr_philox_keys keys, bool packed) {
  constexpr int group = D == GR_F64 ? 2 : 4;
  int64_t groups = (job.n + group - 1) / group, step = gridDim.x * (int64_t)THREADS;
  char *out = (char *)job.out.data;
#pragma unroll 1
  for (int64_t g = blockIdx.x * (int64_t)THREADS + threadIdx.x; g < groups; g += step) {
    uint32_t w[4];
    struct __align__(group * sizeof(gr_type<D>)) {
      gr_type<D> e[group];
    }
    y;
    gr_random_words_by(&keys, job.stream, job.mark, (uint64_t)g, w);
    if constexpr (D == GR_F32 && kind != GR_UNIFORM) quick_numbers<kind>(w, y.e);
    else numbers<D, kind, group>(w, y.e);
    if (packed && (g + 1) * group <= job.n) {
      ((decltype(y) *)out)[g] = y;
    } else {
#pragma unroll
      for (int k = 0; k < group; k++)
        if (g * group + k < job.n) *(gr_type<D> *)(out + (g * group + k) * job.out.stride) = y.e[k];
    }
  }
}

template <gr_dtype D>
static cudaError_t start(const gr_random_job *job, const gr_cuda_run *run) {
  constexpr int group = D == GR_F64 ? 2 : 4;
  int64_t blocks = (job->n / group + THREADS) / THREADS, most = (int64_t)run->chip->sms * gr_map_tuning::random_blocks;
  bool packed = job->out.stride == gr_size<D> && (uintptr_t)job->out.data % (group * gr_size<D>) == 0;
  gr_philox_keys keys = gr_philox_keys_of(job->seed);
  void *args[] = {(void *)job, &keys, &packed};
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

/* Groups of Philox that make what a thread stores at once: four numbers, or two of 8 bytes. */
template <typename T>
constexpr int groups_of_word = sizeof(T) == 8 ? 1 : 2;

/* Words in a row, of at most 2^32 numbers without weights. */
template <typename T>
static __global__ void __launch_bounds__(THREADS)
    draw_words(const __grid_constant__ gr_whole_job job, const __grid_constant__ gr_philox_keys keys, int64_t words) {
  constexpr int each = groups_of_word<T>;
  struct __align__(2 * each * sizeof(T)) word {
    T e[2 * each];
  }
  *out = (word *)job.out.data;
  int64_t step = gridDim.x * (int64_t)THREADS;
#pragma unroll 1
  for (int64_t g = blockIdx.x * (int64_t)THREADS + threadIdx.x; g < words; g += step) {
    word y;
#pragma unroll
    for (int k = 0; k < each; k++) {
      uint32_t w[4];
      gr_random_words_by(&keys, job.stream, job.mark, (uint64_t)(g * each + k), w);
      y.e[2 * k] = (T)((uint64_t)job.low + gr_whole_below((uint64_t)w[1] << 32 | w[0], job.range));
      y.e[2 * k + 1] = (T)((uint64_t)job.low + gr_whole_below((uint64_t)w[3] << 32 | w[2], job.range));
    }
    out[g] = y;
  }
}

template <typename T>
static __global__ void __launch_bounds__(THREADS) draw(const __grid_constant__ gr_whole_job job) {
  int group = gr_whole_group(job.range);
  int64_t groups = group == 2 ? (job.n + 1) / 2 : job.n, step = gridDim.x * (int64_t)THREADS;
  char *out = (char *)job.out.data;
#pragma unroll 1
  for (int64_t g = blockIdx.x * (int64_t)THREADS + threadIdx.x; g < groups; g += step) {
    uint64_t x[2];
    gr_whole_fill(&job, job.first + (uint64_t)g, x);
    char *at = out + g * group * job.out.stride;
#pragma unroll 1
    for (int left = group == 2 && 2 * g + 1 < job.n ? 2 : 1; left; left--) {
      *(T *)at = (T)gr_whole_number(&job, x[0]);
      at += job.out.stride;
      x[0] = x[1];
    }
  }
}

template <typename T>
static __global__ void __launch_bounds__(THREADS)
    put_in_order(const __grid_constant__ gr_order order, char *out, int64_t stride, int64_t n) {
  int64_t step = gridDim.x * (int64_t)THREADS, k = blockIdx.x * (int64_t)THREADS + threadIdx.x;
  if (order.length <= GR_ORDER_FEW) {
    if (k < n) *(T *)(out + k * stride) = (T)(gr_order_of_few(&order, k) + 1);
    return;
  }
  for (; k < n; k += step) *(T *)(out + k * stride) = (T)(gr_order_of_more(&order, k) + 1);
}

static unsigned grid_for(int64_t items, const gr_cuda_run *run) {
  int64_t blocks = (items + THREADS - 1) / THREADS, most = (int64_t)run->chip->sms * gr_map_tuning::random_blocks;
  return (unsigned)(blocks < most ? blocks : most);
}

/* The kernel of elements of that size. */
#define OF_SIZE(kernel, size) gr_for_size(size, [](auto u) { return (const void *)kernel<decltype(u)>; })

int gr_cuda_whole(const gr_whole_job *job, const gr_cuda_run *run) {
  cudaStream_t stream = (cudaStream_t)run->stream;
  gr_whole_job rest = *job;
  int size = gr_size_of(job->dtype), each = size == 8 ? 1 : 2;
  bool packed = job->out.stride == size && (uintptr_t)job->out.data % (2 * each * size) == 0;
  if (packed && !job->sums && gr_whole_group(job->range) == 2 && job->n >= gr_map_tuning::words_from) {
    int64_t words = job->n / (2 * each);
    gr_philox_keys keys = gr_philox_keys_of(job->seed);
    void *args[] = {&rest, &keys, &words};
    cudaError_t e = cudaLaunchKernel(OF_SIZE(draw_words, size), grid_for(words, run), THREADS, args, 0, stream);
    if (e != cudaSuccess) return e;
    rest.n -= words * 2 * each;
    rest.first = (uint64_t)(words * each);
    rest.out.data = (const char *)rest.out.data + words * 2 * each * size;
  }
  if (rest.n <= 0) return cudaSuccess;
  void *args[] = {&rest};
  return cudaLaunchKernel(OF_SIZE(draw, size), grid_for((rest.n + 1) / gr_whole_group(job->range), run), THREADS, args,
                          0, stream);
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
