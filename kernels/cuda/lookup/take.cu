/* Elements by their positions: a thread has several loads in flight; the table comes through the read-only cache. */
#include <type_traits>
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
  if (q.bad && !blockIdx.x && !threadIdx.x) atomicMin(q.bad, (unsigned long long)q.places.n); /* no word on rising */
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

/* gr_place of a position in as few bits as its place needs. */
template <typename W, typename P>
static __device__ __forceinline__ W place_in(P position, W length) {
  if constexpr (std::is_signed_v<P>) return (W)position + (position > 0 ? (W)-1 : length);
  else return (W)((std::make_unsigned_t<W>)position - 1);
}

/*
** Looking at positions alone, by words of 16 bytes: which is the first that is none, and whether each place is above
** that of the one before. A thread has several words in flight; what lies before a warp's words is read once more.
** W: an integer for places.
*/
template <typename P, typename W>
static __global__ void __launch_bounds__(THREADS) look(const __grid_constant__ gr_places q, unsigned long long *bad) {
  using U = std::make_unsigned_t<W>;
  constexpr int words = gr_lookup_tuning::words, each = 16 / (int)sizeof(P);
  const int lane = (int)threadIdx.x & 31;
  const int64_t step = gridDim.x * (int64_t)(THREADS * words), count = (q.n + each - 1) / each;
  const P *index = (const P *)q.index;
  const W length = (W)q.length;
  bool falls = false;
  for (int64_t w = blockIdx.x * (int64_t)(THREADS * words) + threadIdx.x; w - lane < count; w += step) {
    union {
      uint4 word;
      P at[each];
    } v[words];
    P before[words];
#pragma unroll
    for (int u = 0; u < words; u++) {
      const int64_t k = (w + u * THREADS) * each;
      before[u] = 0;
      v[u].word = make_uint4(0, 0, 0, 0);
      if (k + each <= q.n) {
        v[u].word = __ldg((const uint4 *)(index + k));
      } else {
#pragma unroll
        for (int j = 0; j < each; j++)
          if (k + j < q.n) v[u].at[j] = index[k + j];
      }
      if (lane == 0 && k > 0 && k < q.n) before[u] = index[k - 1];
    }
#pragma unroll
    for (int u = 0; u < words; u++) {
      const int64_t k = (w + u * THREADS) * each, left = q.n - k;
      const int here = left >= each ? each : left > 0 ? (int)left : 0;
      W was = __shfl_up_sync(~0u, place_in<W>(v[u].at[each - 1], length), 1);
      bool outside = false, low = false;
      if (lane == 0) was = k > 0 ? place_in<W>(before[u], length) : (W)-1;
#pragma unroll
      for (int j = 0; j < each; j++) {
        const W at = place_in<W>(v[u].at[j], length);
        const bool there = here == each || j < here;
        outside |= there && (U)at >= (U)length;
        low |= there && at <= was;
        was = at;
      }
      falls |= low;
      if (!outside) continue;
#pragma unroll 1
      for (int j = here - 1; j >= 0; j--)
        if (!gr_is_place(q, gr_place((int64_t)index[k + j], q.length))) atomicMin(bad, (unsigned long long)(k + j));
    }
  }
  if (__syncthreads_or(falls) && threadIdx.x == 0) atomicMin(bad, (unsigned long long)q.n);
}

template <typename P>
static const void *looker(int64_t length) {
  if constexpr (sizeof(P) < 8)
    if (length < INT32_MAX) return (const void *)look<P, int32_t>;
  return (const void *)look<P, int64_t>;
}

static const void *looker_of(gr_dtype positions, int64_t length) {
  switch (positions) {
    case GR_U8: return looker<uint8_t>(length);
    case GR_I8: return looker<int8_t>(length);
    case GR_U16: return looker<uint16_t>(length);
    case GR_I16: return looker<int16_t>(length);
    case GR_U32: return looker<uint32_t>(length);
    case GR_I32: return looker<int32_t>(length);
    case GR_I64:
    case GR_F16:
    case GR_BF16:
    case GR_F32:
    case GR_F64: break; /* floats are no positions */
  }
  return looker<int64_t>(length);
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
  const int wide = gr_size_of(job->positions);
  const bool by_words = !q.out && job->index.stride == wide && (uintptr_t)q.places.index % 16 == 0;
  cudaError_t e = job->bad ? cudaMemsetAsync(job->bad, 0x7f, sizeof *job->bad, stream) : cudaSuccess;
  if (e != cudaSuccess || job->n <= 0) return e;
  if (by_words) {
    const int64_t tile = (int64_t)THREADS * gr_lookup_tuning::words * (16 / wide);
    const int64_t blocks = (job->n + tile - 1) / tile, most = run->chip->sms * (int64_t)gr_lookup_tuning::lookers_each;
    void *args[] = {&q.places, &q.bad};
    return cudaLaunchKernel(looker_of(job->positions, job->length), (unsigned)(blocks < most ? blocks : most), THREADS,
                            args, 0, stream);
  }
  void *args[] = {&q};
  return cudaLaunchKernel(kernel, gr_lookup_grid(job->n, TILE), THREADS, args, 0, stream);
}
