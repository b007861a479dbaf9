/* Elements by their positions: a thread has several loads in flight; the table comes through the read-only cache. */
#include <type_traits>
#include "kernels/cuda/lookup/places.cuh"
#include "kernels/cuda/lookup/rising.cuh"

struct gr_take_args {
  gr_places places;
  const char *a;
  char *out;
  int64_t a_stride, out_stride;
  unsigned long long *bad;
  const int64_t *seen; /* NULL, or the word of a look, behind which two kernels follow at once */
};

template <typename U>
static __global__ void __launch_bounds__(THREADS) take(const __grid_constant__ gr_take_args q) {
  int64_t step = gridDim.x * (int64_t)TILE;
  if (q.seen && *q.seen != q.places.n) return;
  if (q.bad && !blockIdx.x && !threadIdx.x) atomicMin(q.bad, (unsigned long long)q.places.n); /* no word on rising */
  for (int64_t k = blockIdx.x * (int64_t)TILE + threadIdx.x; k < q.places.n; k += step) {
    int64_t at[EACH];
    U e[EACH];
    gr_find_places<THREADS>(q.places, k, at);
#pragma unroll
    for (int u = 0; u < EACH; u++) {
      bool there = gr_is_place(q.places, at[u]);
      e[u] = 0;
      if (there) e[u] = __ldg((const U *)(q.a + at[u] * q.a_stride));
      if (!there && q.bad && k + u * THREADS < q.places.n) atomicMin(q.bad, (unsigned long long)(k + u * THREADS));
    }
#pragma unroll
    for (int u = 0; u < EACH; u++)
      if (gr_is_place(q.places, at[u])) *(U *)(q.out + (k + u * THREADS) * q.out_stride) = e[u];
  }
}

/* Where places rise: runs by words, the rest by element. The positions may lie where the elements go to. */
template <typename U>
static __global__ void __launch_bounds__(THREADS) take_rising(const __grid_constant__ gr_take_args q) {
  const int lane = (int)threadIdx.x & 31;
  const bool dense = q.a_stride == (int64_t)sizeof(U) && q.out_stride == q.a_stride;
  if (*q.seen <= q.places.n) return;
  gr_each_stretch(q.places, [&](const gr_stretch &s) {
    if (s.run && dense)
      return gr_move_run<U, true>(q.out + s.k * sizeof(U), q.a + s.first * sizeof(U), uint4{}, s.count, lane);
    for (int from = 0; from < s.count; from += 32 * EACH) {
      const int j = from + lane;
      int64_t at[EACH];
      U e[EACH];
      gr_stretch_places(q.places, s, j, at);
#pragma unroll
      for (int u = 0; u < EACH; u++) e[u] = at[u] >= 0 ? __ldg((const U *)(q.a + at[u] * q.a_stride)) : 0;
#pragma unroll
      for (int u = 0; u < EACH; u++)
        if (at[u] >= 0) *(U *)(q.out + (s.k + j + u * 32) * q.out_stride) = e[u];
    }
  });
}

/* ---- looking at positions alone ---- */

/* gr_place of a position in as few bits as its place needs. */
template <typename W, typename P>
static __device__ __forceinline__ W place_in(P position, W length) {
  if constexpr (std::is_signed_v<P>) return (W)position + (position > 0 ? (W)-1 : length);
  else return (W)((std::make_unsigned_t<W>)position - 1);
}

/*
** A tile is what a warp has at once: several words a lane. A lane knows the position before its word from the lane
** before it, lane 0 from the last lane's word before; what lies before a tile is read once more.
*/
template <typename P>
struct tile {
  static constexpr int words = gr_lookup_tuning::words, each = 16 / (int)sizeof(P), size = 32 * words * each;
  union {
    uint4 word;
    P at[each];
  } v[words];
  P before;

  __device__ __forceinline__ void load(const P *p, bool first, int lane) {
    before = first ? (P)0 : __ldg(p - 1);
#pragma unroll
    for (int u = 0; u < words; u++) v[u].word = gr_load16(p + (u * 32 + lane) * each);
  }
  __device__ __forceinline__ P ahead_of(int u, int lane) const {
    const P give = u && lane == 31 ? v[u ? u - 1 : 0].at[each - 1] : v[u].at[each - 1];
    const P got = (P)__shfl_sync(~0u, give, (lane + 31) & 31);
    return u || lane ? got : before;
  }
  /*
  ** Whether, as numbers, they rise from a position above 0 to one that is not beyond the last. What is before them is 0
  ** only where nothing is, or what is no position.
  */
  __device__ __forceinline__ bool rises(int64_t length, int lane) const {
    bool good = true;
    if constexpr (std::is_signed_v<P>) good = before >= 0;
#pragma unroll
    for (int u = 0; u < words; u++) {
      P was = ahead_of(u, lane);
#pragma unroll
      for (int j = 0; j < each; j++) {
        good &= v[u].at[j] > was;
        was = v[u].at[j];
      }
      if constexpr (sizeof(P) == 8) good &= was <= length;
      else good &= (int64_t)was <= length;
    }
    return __all_sync(~0u, good);
  }
};

/* Index k is none. */
static __device__ __forceinline__ void note_bad(unsigned long long *bad, int64_t k) {
  atomicMin(bad, (unsigned long long)k);
}

/* Whether places fall, or stay, somewhere in the tile of indices from k on; and those that are none are noted. */
template <typename P, typename W>
static __device__ __forceinline__ bool look_closely(const gr_places &q, const tile<P> &t, int64_t k, int lane,
                                                    unsigned long long *bad) {
  using U = std::make_unsigned_t<W>;
  const W length = (W)q.length;
  bool low = false;
#pragma unroll
  for (int u = 0; u < tile<P>::words; u++) {
    W was = place_in<W>(t.ahead_of(u, lane), length);
    bool outside = false;
    if (k == 0 && u == 0 && lane == 0) was = -1;
#pragma unroll
    for (int j = 0; j < tile<P>::each; j++) {
      const W at = place_in<W>(t.v[u].at[j], length);
      outside |= (U)at >= (U)length;
      low |= at <= was;
      was = at;
    }
    if (!outside) continue;
    const int64_t first = k + (u * 32 + lane) * tile<P>::each;
#pragma unroll 1
    for (int j = tile<P>::each - 1; j >= 0; j--)
      if (!gr_is_place(q, gr_place((int64_t)((const P *)q.index)[first + j], q.length))) note_bad(bad, first + j);
  }
  return __any_sync(~0u, low);
}

/* The same of count indices by themselves, wherever they lie. */
template <typename P>
static __device__ __forceinline__ bool look_at_each(const gr_places &q, int64_t k, int count, int lane,
                                                    unsigned long long *bad) {
  bool low = false;
  const char *p = q.index + k * q.stride;
#pragma unroll 4
  for (int j = lane; j < count; j += 32) {
    const int64_t at = gr_place((int64_t) * (const P *)(p + j * q.stride), q.length);
    const bool first = k == 0 && j == 0;
    const int64_t was = first ? -1 : gr_place((int64_t) * (const P *)(p + (j - 1) * q.stride), q.length);
    low |= at <= was;
    if (!gr_is_place(q, at)) note_bad(bad, k + j);
  }
  return __any_sync(~0u, low);
}

/*
** Which is the first index that is no position, and whether each place is above that of the one before. by_words: the
** positions lie side by side from a whole word on. Most tiles need no more than to rise as numbers; once places have
** fallen that is not asked any more. W: an integer for places.
*/
template <typename P, typename W>
static __global__ void __launch_bounds__(THREADS, gr_lookup_tuning::lookers_each)
    look(const __grid_constant__ gr_places q, unsigned long long *bad, bool by_words) {
  constexpr int size = tile<P>::size;
  const int lane = (int)threadIdx.x & 31;
  const int64_t step = gridDim.x * (int64_t)(THREADS / 32) * size;
  bool falls = false;
  for (int64_t k = (blockIdx.x * (int64_t)(THREADS / 32) + (threadIdx.x >> 5)) * size; k < q.n; k += step) {
    if (!by_words || q.n - k < size) {
      falls |= look_at_each<P>(q, k, (int)(q.n - k < size ? q.n - k : size), lane, bad);
      continue;
    }
    tile<P> t;
    t.load((const P *)q.index + k, k == 0, lane);
    if (sizeof(P) >= 4 && !falls && t.rises(q.length, lane)) continue;
    falls |= look_closely<P, W>(q, t, k, lane, bad);
  }
  if (__syncthreads_or(falls) && threadIdx.x == 0) note_bad(bad, q.n);
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

static cudaError_t start_look(const gr_places &q, unsigned long long *bad, const gr_cuda_run *run) {
  const int wide = gr_size_of(q.positions);
  const int64_t size = (int64_t)THREADS * gr_lookup_tuning::words * (16 / wide);
  const int64_t blocks = (q.n + size - 1) / size, most = run->chip->sms * (int64_t)gr_lookup_tuning::lookers_each;
  bool by_words = q.stride == wide && (uintptr_t)q.index % 16 == 0;
  void *args[] = {(void *)&q, &bad, &by_words};
  return cudaLaunchKernel(looker_of(q.positions, q.length), (unsigned)(blocks < most ? blocks : most), THREADS, args, 0,
                          (cudaStream_t)run->stream);
}

/* What takes elements of that size: kernels for places that rise, and for any. */
static const void *taker_of(int size, bool rising) {
  return gr_for_size(size, [rising](auto u) {
    return rising ? (const void *)take_rising<decltype(u)> : (const void *)take<decltype(u)>;
  });
}

int gr_cuda_lookup(const gr_lookup_job *job, const gr_cuda_run *run) {
  const int size = gr_size_of(job->dtype);
  const int64_t most = run->chip->sms * (int64_t)gr_lookup_tuning::takers_each;
  cudaStream_t stream = (cudaStream_t)run->stream;
  unsigned blocks = gr_lookup_grid(job->n, TILE);
  gr_take_args q;
  q.places = gr_places{(const char *)job->index.data, job->index.stride, job->n, job->length, job->positions};
  q.a = (const char *)job->a.data;
  q.out = (char *)job->out.data;
  q.a_stride = job->a.stride;
  q.out_stride = job->out.stride;
  q.bad = (unsigned long long *)job->bad;
  q.seen = job->seen;
  cudaError_t e = job->bad ? cudaMemsetAsync(job->bad, 0x7f, sizeof *job->bad, stream) : cudaSuccess;
  if (e != cudaSuccess || job->n <= 0) return e;
  if (!q.out) return start_look(q.places, q.bad, run);
  void *args[] = {&q};
  if (q.seen) {
    const unsigned rising = gr_lookup_grid(job->n, THREADS / 32 * STRETCH);
    e = cudaLaunchKernel(taker_of(size, true), rising, THREADS, args, 0, stream);
    if (blocks > most) blocks = (unsigned)most;
  }
  return e == cudaSuccess ? cudaLaunchKernel(taker_of(size, false), blocks, THREADS, args, 0, stream) : e;
}
