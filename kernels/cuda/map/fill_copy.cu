/*
** Fill and copy: one element a thread where strides ask for it, 16-byte words where they do not. Small copies to the
** host.
*/
#include <cuda_runtime.h>
#include "kernels/cuda/thread/element.cuh"
#include "kernels/cuda/batch.h"
#include "kernels/cuda/launch.h"
#include "kernels/cuda/map/tuning.h"
#include "kernels/cuda/grid/dependent_launch.cuh"
#include "kernels/cuda/grid/mailbox.cuh"

constexpr int THREADS = gr_map_tuning::threads, SEND_THREADS = gr_map_tuning::send_threads;

static int grid_for(int64_t items, const gr_cuda_chip *chip) {
  int64_t blocks = (items + THREADS - 1) / THREADS, most = (int64_t)chip->sms * gr_map_tuning::blocks_each;
  return (int)(blocks < 1 ? 1 : blocks > most ? most : blocks);
}

/* Which words of the target are whole: `head` elements before the first, `words` words, the rest. */
typedef struct { int64_t head, words; } body;

static body body_of(const void *p, int64_t n, int size) {
  body b;
  int64_t off = (int64_t)((uintptr_t)p & 15);
  b.head = (16 - off) % 16 / size;
  if (b.head > n) b.head = n;
  b.words = (n - b.head) * size / 16;
  return b;
}

template <typename T>
static __global__ void __launch_bounds__(THREADS) fill(T *out, int64_t n, body b, T value, uint4 word) {
  int64_t first = blockIdx.x * (int64_t)THREADS + threadIdx.x, step = gridDim.x * (int64_t)THREADS;
  uint4 *whole = (uint4 *)(out + b.head);
  for (int64_t k = first; k < b.words; k += step) whole[k] = word;
  int64_t tail = b.head + b.words * (int64_t)(16 / sizeof(T));
  if (first < b.head) out[first] = value;
  if (tail + first < n) out[tail + first] = value;
}

template <typename T>
static __global__ void __launch_bounds__(THREADS) fill_strided(char *out, int64_t stride, int64_t n, T value) {
  int64_t step = gridDim.x * (int64_t)THREADS;
  for (int64_t k = blockIdx.x * (int64_t)THREADS + threadIdx.x; k < n; k += step) *(T *)(out + k * stride) = value;
}

template <typename T>
static __global__ void __launch_bounds__(THREADS)
copy_strided(const char *a, int64_t a_stride, char *out, int64_t out_stride, int64_t n) {
  int64_t step = gridDim.x * (int64_t)THREADS;
#pragma unroll(gr_map_tuning::strided_unrolled)
  for (int64_t k = blockIdx.x * (int64_t)THREADS + threadIdx.x; k < n; k += step)
    *(T *)(out + k * out_stride) = *(const T *)(a + k * a_stride);
}

template <typename T> static cudaError_t start_fill(const gr_fill_job *job, const gr_cuda_run *run) {
  T value;
  uint4 word;
  char *out = (char *)job->out.data;
  int64_t n = job->n, stride = job->out.stride;
  memcpy(&value, &job->value, sizeof value); /* its lowest bytes: every target is little-endian */
  for (size_t k = 0; k < 16; k += sizeof value) memcpy((char *)&word + k, &value, sizeof value);
  cudaStream_t stream = (cudaStream_t)run->stream;
  if (stride != (int64_t)sizeof(T)) {
    void *args[] = {&out, &stride, &n, &value};
    return cudaLaunchKernel((const void *)fill_strided<T>, grid_for(n, run->chip), THREADS, args, 0, stream);
  }
  body b = body_of(out, n, (int)sizeof(T));
  void *args[] = {&out, &n, &b, &value, &word};
  return cudaLaunchKernel((const void *)fill<T>, grid_for(b.words, run->chip), THREADS, args, 0, stream);
}

template <typename T> static cudaError_t start_copy(const gr_copy_job *job, const gr_cuda_run *run) {
  const void *a = job->a.data;
  void *out = (void *)job->out.data;
  int64_t n = job->n, a_stride = job->a.stride, out_stride = job->out.stride;
  cudaStream_t stream = (cudaStream_t)run->stream;
  if (a_stride == (int64_t)sizeof(T) && out_stride == a_stride)
    return cudaMemcpyAsync(out, a, (size_t)n * sizeof(T), cudaMemcpyDeviceToDevice, stream);
  void *args[] = {&a, &a_stride, &out, &out_stride, &n};
  return cudaLaunchKernel((const void *)copy_strided<T>, grid_for(n, run->chip), THREADS, args, 0, stream);
}

int gr_cuda_fill(const gr_fill_job *job, const gr_cuda_run *run) {
  if (job->n <= 0) return cudaSuccess;
  return gr_for_size(gr_size_of(job->dtype), [&](auto u) { return start_fill<decltype(u)>(job, run); });
}

int gr_cuda_copy(const gr_copy_job *job, const gr_cuda_run *run) {
  if (job->n <= 0) return cudaSuccess;
  return gr_for_size(gr_size_of(job->dtype), [&](auto u) { return start_copy<decltype(u)>(job, run); });
}

/* Each block writes a share to mapped memory and tells the host that it is there. */
struct sending {
  const uint4 *from;
  uint4 *to;
  int32_t words, share;
  uint64_t *done, ticket;
};
static __global__ void __launch_bounds__(SEND_THREADS) send(const __grid_constant__ sending s) {
  int32_t first = (int32_t)blockIdx.x * s.share, end = min(s.words, first + s.share);
  gr_await_earlier();
  for (int32_t k = first + (int32_t)threadIdx.x; k < end; k += (int32_t)blockDim.x) s.to[k] = s.from[k];
  __syncthreads();
  if (threadIdx.x == 0) gr_mailbox_end(s.done + 4 * blockIdx.x, s.ticket);
}

int gr_cuda_send(const void *from, void *mapped, size_t bytes, const gr_cuda_run *run) {
  int32_t words = (int32_t)((bytes + 15) / 16), blocks = gr_cuda_send_blocks(bytes);
  int32_t share = (words + blocks - 1) / blocks;
  int32_t threads = share < SEND_THREADS ? (share + 31) & ~31 : SEND_THREADS;
  const int early = run->chip->major >= 9;
  sending s = {(const uint4 *)from, (uint4 *)mapped, words, share, run->done, run->ticket};
  void *args[] = {&s};
  if (run->batch && gr_batch_add(run->batch, (const void *)send, &s, sizeof s, blocks, threads, 0, early))
    return cudaSuccess;
  return gr_start_early((const void *)send, args, blocks, threads, 0, early, (cudaStream_t)run->stream);
}

static __global__ void even_edges(const __grid_constant__ gr_edges_job job) {
  int64_t k = (int64_t)blockIdx.x * THREADS + threadIdx.x;
  if (k > job.bins) return;
  double e = gr_even_edge(job.first, job.last, job.bins, k);
  job.edges[k] = e;
  if (job.limits) job.limits[k] = gr_edge_limit(e, k == job.bins);
}

int gr_cuda_edges(const gr_edges_job *job, const gr_cuda_run *run) {
  void *args[] = {(void *)job};
  unsigned blocks = (unsigned)(job->bins / THREADS + 1);
  return cudaLaunchKernel((const void *)even_edges, blocks, THREADS, args, 0, (cudaStream_t)run->stream);
}

int gr_cuda_loadable(void) {
  cudaFuncAttributes attributes;
  return cudaFuncGetAttributes(&attributes, (const void *)fill<uint32_t>);
}
