/* Elements by their positions: a thread has several loads in flight; the table comes through the read-only cache. */
#include "kernels/cuda/lookup/places.cuh"

struct gr_take_args {
  gr_places places;
  const char *a;
  char *out; /* NULL: positions are only looked at */
  int64_t a_stride, out_stride;
  unsigned long long *bad;
};

template <typename U>
static __global__ void __launch_bounds__(THREADS) take(const __grid_constant__ gr_take_args q) {
  int64_t step = gridDim.x * (int64_t)TILE;
  for (int64_t k = blockIdx.x * (int64_t)TILE + threadIdx.x; k < q.places.n; k += step) {
    int64_t at[EACH];
    U e[EACH];
    gr_find_places(q.places, k, at);
#pragma unroll
    for (int u = 0; u < EACH; u++) {
      bool there = gr_is_place(q.places, at[u]);
      e[u] = 0;
      if (there && q.out) e[u] = __ldg((const U *)(q.a + at[u] * q.a_stride));
      if (!there && q.bad && k + u * THREADS < q.places.n) atomicMin(q.bad, (unsigned long long)(k + u * THREADS));
    }
    if (!q.out) continue;
#pragma unroll
    for (int u = 0; u < EACH; u++)
      if (gr_is_place(q.places, at[u])) *(U *)(q.out + (k + u * THREADS) * q.out_stride) = e[u];
  }
}

int gr_cuda_lookup(const gr_lookup_job *job, const gr_cuda_run *run) {
  int size = gr_size_of(job->dtype);
  const void *kernel = size == 1   ? (const void *)take<uint8_t>
                       : size == 2 ? (const void *)take<uint16_t>
                       : size == 4 ? (const void *)take<uint32_t>
                                   : (const void *)take<unsigned long long>;
  cudaStream_t stream = (cudaStream_t)run->stream;
  gr_take_args q;
  q.places = gr_places{(const char *)job->index.data, job->index.stride, job->n, job->length, job->positions};
  q.a = (const char *)job->a.data;
  q.out = (char *)job->out.data;
  q.a_stride = job->a.stride;
  q.out_stride = job->out.stride;
  q.bad = (unsigned long long *)job->bad;
  /* More than any position, if none is bad. */
  cudaError_t e = job->bad ? cudaMemsetAsync(job->bad, 0x7f, sizeof *job->bad, stream) : cudaSuccess;
  if (e != cudaSuccess || job->n <= 0) return e;
  void *args[] = {&q};
  return cudaLaunchKernel(kernel, gr_lookup_grid(job->n, TILE, run->chip), THREADS, args, 0, stream);
}
