/*
** Values to elements by position. Sums of integers, least and greatest are atomics on the elements themselves. Sums
** of floats are integers of 128 bits beside them (numerics/fixed.h), which a second launch adds to the elements. Of
** several values that are set the last stays: each claims its element, where the greatest number of a value wins, and a
** second launch goes over the elements and fetches what has won them. Values lie apart then, and elements do not: reads
** that do cost less than half of writes that do. Claims of a large array are made part by part, each of which stays in
** L2 while all positions pass by. Where every place is above the one before, no two values meet: nothing is claimed,
** and elements are read and written as if nobody else did.
*/
#include <type_traits>
#include "kernels/cuda/lookup/places.cuh"
#include "kernels/cuda/lookup/rising.cuh"
#include "kernels/cuda/thread/fixed.cuh"

struct gr_put_args {
  gr_places places;
  char *a;
  const char *values; /* NULL: `value` */
  int64_t a_stride, value_stride;
  uint64_t value;
  void *state;
  int32_t unit, most; /* most: of extremes */
  gr_dtype dtype;
  int64_t from, part; /* of claims: only places from .. from + part - 1 */
  const int64_t *seen; /* of places that rise if the word there is above n */
};

template <typename U>
static __device__ __forceinline__ U value_of(const gr_put_args &q, int64_t k) {
  if (q.values) return *(const U *)(q.values + k * q.value_stride);
  U x;
  memcpy(&x, &q.value, sizeof x); /* its lowest bytes: every target is little-endian */
  return x;
}

/* The lowest `size` bytes of x, again and again. */
template <int size>
static __device__ __forceinline__ uint2 gr_repeated(uint64_t x) {
  if constexpr (size == 1) x = (x & 0xff) * 0x0101010101010101ull;
  if constexpr (size == 2) x = (x & 0xffff) * 0x0001000100010001ull;
  if constexpr (size == 4) x = (x & 0xffffffff) * 0x0000000100000001ull;
  return make_uint2((unsigned)x, (unsigned)(x >> 32));
}

/* Calls f(k, place) for each index k that is a position. */
template <class F>
static __device__ __forceinline__ void each_place(const gr_places &q, const F &f) {
  int64_t step = gridDim.x * (int64_t)TILE;
  for (int64_t k = blockIdx.x * (int64_t)TILE + threadIdx.x; k < q.n; k += step) {
    int64_t at[EACH];
    gr_find_places<THREADS>(q, k, at);
#pragma unroll
    for (int u = 0; u < EACH; u++)
      if (gr_is_place(q, at[u])) f(k + u * THREADS, at[u]);
  }
}

/* ---- set ---- */

template <typename Claim>
static __global__ void __launch_bounds__(THREADS) claim(const __grid_constant__ gr_put_args q) {
  using Word = std::conditional_t<sizeof(Claim) == 8, unsigned long long, unsigned>;
  each_place(q.places, [&](int64_t k, int64_t at) {
    if ((uint64_t)(at - q.from) < (uint64_t)q.part) atomicMax((Word *)q.state + at, (Word)(k + 1));
  });
}

/* Every element that is claimed becomes the value of that number, from 1. */
template <typename U, typename Claim>
static __global__ void __launch_bounds__(THREADS) set_claimed(const __grid_constant__ gr_put_args q) {
  const int64_t step = gridDim.x * (int64_t)TILE, length = q.places.length;
  for (int64_t at = blockIdx.x * (int64_t)TILE + threadIdx.x; at < length; at += step) {
    Claim by[EACH];
    U e[EACH];
#pragma unroll
    for (int u = 0; u < EACH; u++) by[u] = at + u * THREADS < length ? ((const Claim *)q.state)[at + u * THREADS] : 0;
#pragma unroll
    for (int u = 0; u < EACH; u++) e[u] = by[u] ? value_of<U>(q, (int64_t)by[u] - 1) : 0;
#pragma unroll
    for (int u = 0; u < EACH; u++)
      if (by[u]) *(U *)(q.a + (at + u * THREADS) * q.a_stride) = e[u];
  }
}

/* One value for all, so that it does not matter which stays. */
template <typename U>
static __global__ void __launch_bounds__(THREADS) set_each(const __grid_constant__ gr_put_args q) {
  const U x = value_of<U>(q, 0);
  each_place(q.places, [&](int64_t, int64_t at) { *(U *)(q.a + at * q.a_stride) = x; });
}

/* ---- atomics on elements ---- */

/* The element at p becomes f of it. Those of 1 and 2 bytes are parts of a word, whose others stay. */
template <typename U, class F>
static __device__ __forceinline__ void change(char *p, const F &f) {
  if constexpr (sizeof(U) == 8) {
    unsigned long long *word = (unsigned long long *)p, now = *(volatile unsigned long long *)word, seen;
    do {
      seen = now;
      unsigned long long next = f((U)seen);
      if (next == seen) return;
      now = atomicCAS(word, seen, next);
    } while (now != seen);
  } else {
    constexpr unsigned all = sizeof(U) == 4 ? ~0u : (1u << 8 * (sizeof(U) & 3)) - 1;
    unsigned *word = (unsigned *)((uintptr_t)p & ~(uintptr_t)3), shift = 8 * (unsigned)((uintptr_t)p & 3);
    unsigned now = *(volatile unsigned *)word, seen;
    do {
      seen = now;
      U there = (U)(seen >> shift), next = f(there);
      if (next == there) return;
      now = atomicCAS(word, seen, (seen & ~(all << shift)) | (unsigned)next << shift);
    } while (now != seen);
  }
}

template <typename U>
static __global__ void __launch_bounds__(THREADS) add_whole(const __grid_constant__ gr_put_args q) {
  each_place(q.places, [&](int64_t k, int64_t at) {
    U x = value_of<U>(q, k);
    char *p = q.a + at * q.a_stride;
    if constexpr (sizeof(U) >= 4) atomicAdd((U *)p, x);
    else if (x) change<U>(p, [&](U there) { return (U)(there + x); });
  });
}

/* The lesser or greater of two elements as they lie in memory: one kernel for all dtypes of a size, since what they
   differ in takes little time beside fetching an element. */
template <typename U>
struct gr_extreme {
  using type = U;
  static constexpr bool asks = true;
  static __device__ __forceinline__ U of(U there, U x, const gr_put_args &q) {
    switch (q.dtype) {
#define GR_X(id, s, l, type, kind)                \
  case GR_##id:                                   \
    if constexpr (sizeof(type) == sizeof(U)) {    \
      type a, b;                                  \
      memcpy(&a, &there, sizeof a);               \
      memcpy(&b, &x, sizeof b);                   \
      a = gr_extreme_##s(a, b, q.most);           \
      memcpy(&there, &a, sizeof a);               \
    }                                             \
    break;
      GR_DTYPES(GR_X)
#undef GR_X
    }
    return there;
  }
};

template <typename U>
static __global__ void __launch_bounds__(THREADS) extreme(const __grid_constant__ gr_put_args q) {
  each_place(q.places, [&](int64_t k, int64_t at) {
    const U x = value_of<U>(q, k);
    change<U>(q.a + at * q.a_stride, [&](U there) { return gr_extreme<U>::of(there, x, q); });
  });
}

/* ---- sums of floats ---- */

template <gr_dtype D>
static __global__ void __launch_bounds__(THREADS) add_up(const __grid_constant__ gr_put_args q) {
  each_place(q.places, [&](int64_t k, int64_t at) {
    gr_fixed x = gr_fixed_of(gr_to_f64<D>(value_of<gr_type<D>>(q, k)), q.unit);
    gr_fixed_add_global((unsigned long long *)q.state + 2 * at, x);
  });
}

/* Elements with nothing to add stay as they are, -0 and NaN too. */
template <gr_dtype D>
static __global__ void __launch_bounds__(THREADS) add_sums(const __grid_constant__ gr_put_args q) {
  const ulonglong2 *state = (const ulonglong2 *)q.state;
  int64_t step = gridDim.x * (int64_t)THREADS;
  for (int64_t k = blockIdx.x * (int64_t)THREADS + threadIdx.x; k < q.places.length; k += step) {
    ulonglong2 words = state[k];
    if (!(words.x | words.y)) continue;
    double sum = gr_fixed_value(gr_fixed{words.x, words.y}, q.unit);
    gr_type<D> *p = (gr_type<D> *)(q.a + k * q.a_stride);
    if (sum != 0) *p = gr_from_f64<D>(gr_to_f64<D>(*p) + sum);
  }
}

/* ---- places that rise ---- */

/* What an element becomes: its type, whether what was there is asked for, and of() it and a value. */
template <typename U>
struct gr_set {
  using type = U;
  static constexpr bool asks = false;
  static __device__ __forceinline__ U of(U, U x, const gr_put_args &) { return x; }
};

template <typename U>
struct gr_add {
  using type = U;
  static constexpr bool asks = true;
  static __device__ __forceinline__ U of(U there, U x, const gr_put_args &) { return (U)(there + x); }
};

/* The arithmetic of add_up and add_sums for a single value. */
template <gr_dtype D>
struct gr_add_float {
  using type = gr_type<D>;
  static constexpr bool asks = true;
  static __device__ __forceinline__ type of(type there, type x, const gr_put_args &q) {
    const double sum = gr_fixed_value(gr_fixed_of(gr_to_f64<D>(x), q.unit), q.unit);
    return sum != 0 ? gr_from_f64<D>(gr_to_f64<D>(there) + sum) : there;
  }
};

/* The values of the stretch, to elements one by one. All that a lane reads is there before it writes. */
template <class Op>
static __device__ __forceinline__ void put_stretch(const gr_put_args &q, const gr_stretch &s, int lane) {
  using U = typename Op::type;
  for (int from = 0; from < s.count; from += 32 * EACH) {
    const int j = from + lane;
    int64_t at[EACH];
    U x[EACH], there[EACH];
    if (q.values) {
      const char *p = q.values + (s.k + min(j, s.count - 1)) * q.value_stride;
#pragma unroll
      for (int u = 0; u < EACH; u++) x[u] = *(const U *)(p + (j + u * 32 < s.count ? u * 32 * q.value_stride : 0));
    } else {
#pragma unroll
      for (int u = 0; u < EACH; u++) x[u] = value_of<U>(q, 0);
    }
    gr_stretch_places<Op::asks>(q.places, s, j, at);
    if constexpr (Op::asks) {
#pragma unroll
      for (int u = 0; u < EACH; u++)
        if (at[u] >= 0) there[u] = *(const U *)(q.a + at[u] * q.a_stride);
    }
#pragma unroll
    for (int u = 0; u < EACH; u++)
      if (at[u] >= 0) *(U *)(q.a + at[u] * q.a_stride) = Op::of(there[u], x[u], q);
  }
}

template <class Op>
static __global__ void __launch_bounds__(THREADS) put_rising(const __grid_constant__ gr_put_args q) {
  using U = typename Op::type;
  const int lane = (int)threadIdx.x & 31;
  if (q.seen && *q.seen <= q.places.n) return;
  if constexpr (Op::asks) {
    gr_each_stretch(q.places, [&](const gr_stretch &s) { put_stretch<Op>(q, s, lane); });
  } else {
    const bool dense = q.a_stride == (int64_t)sizeof(U) && (!q.values || q.value_stride == q.a_stride);
    const uint2 twice = gr_repeated<(int)sizeof(U)>(q.value);
    const uint4 word = make_uint4(twice.x, twice.y, twice.x, twice.y);
    gr_each_stretch(q.places, [&](const gr_stretch &s) {
      char *to = q.a + s.first * (int64_t)sizeof(U);
      if (!s.run || !dense) put_stretch<Op>(q, s, lane);
      else if (q.values) gr_move_run<U, true>(to, q.values + s.k * (int64_t)sizeof(U), word, s.count, lane);
      else gr_move_run<U, false>(to, to, word, s.count, lane);
    });
  }
}

/* ---- launching ---- */

template <class Kernel>
static cudaError_t start(Kernel kernel, unsigned blocks, gr_put_args *q, const gr_cuda_run *run) {
  void *args[] = {q};
  return cudaLaunchKernel((const void *)kernel, blocks, THREADS, args, 0, (cudaStream_t)run->stream);
}

template <typename U, typename Claim>
static cudaError_t start_claims(gr_put_args *q, unsigned blocks, const gr_cuda_run *run) {
  const int64_t length = q->places.length, part = gr_lookup_tuning::claims_bytes / (int64_t)sizeof(Claim);
  cudaError_t e = cudaMemsetAsync(q->state, 0, (size_t)length * sizeof(Claim), (cudaStream_t)run->stream);
  for (q->from = 0, q->part = part; q->from < length && e == cudaSuccess; q->from += part)
    e = start(claim<Claim>, blocks, q, run);
  return e == cudaSuccess ? start(set_claimed<U, Claim>, gr_lookup_grid(length, TILE), q, run) : e;
}

template <typename U>
static cudaError_t start_set_of(const gr_put_job *job, gr_put_args *q, unsigned blocks, const gr_cuda_run *run) {
  if (!job->state) return start(set_each<U>, blocks, q, run);
  return job->n < UINT32_MAX ? start_claims<U, unsigned>(q, blocks, run)
                             : start_claims<U, unsigned long long>(q, blocks, run);
}

/* f of 0 as the unsigned integer that is as large as the elements. */
template <class F>
static cudaError_t for_size(const gr_put_job *job, const F &f) {
  return gr_for_size(gr_size_of(job->dtype), f);
}

template <template <typename> class Op>
static cudaError_t start_rising_of(const gr_put_job *job, gr_put_args *q, unsigned blocks, const gr_cuda_run *run) {
  return for_size(job, [&](auto u) { return start(put_rising<Op<decltype(u)>>, blocks, q, run); });
}

static cudaError_t start_rising(const gr_put_job *job, gr_put_args *q, const gr_cuda_run *run) {
  const unsigned blocks = gr_lookup_grid(job->n, THREADS / 32 * STRETCH);
  switch (job->op) {
    case GR_PUT_set: return start_rising_of<gr_set>(job, q, blocks, run);
    case GR_PUT_add:
      if (!gr_is_float(job->dtype)) return start_rising_of<gr_add>(job, q, blocks, run);
      return gr_for_float(job->dtype,
                          [&](auto d) { return start(put_rising<gr_add_float<decltype(d)::value>>, blocks, q, run); });
    case GR_PUT_min:
    case GR_PUT_max: return start_rising_of<gr_extreme>(job, q, blocks, run);
  }
  return cudaErrorInvalidValue;
}

static cudaError_t start_add(const gr_put_job *job, gr_put_args *q, unsigned blocks, const gr_cuda_run *run) {
  if (gr_is_float(job->dtype)) {
    unsigned all = gr_lookup_grid(job->length, THREADS);
    cudaError_t e = cudaMemsetAsync(job->state, 0, (size_t)job->length * 16, (cudaStream_t)run->stream);
    if (e != cudaSuccess) return e;
    return gr_for_float(job->dtype, [&](auto d) {
      cudaError_t first = start(add_up<decltype(d)::value>, blocks, q, run);
      return first == cudaSuccess ? start(add_sums<decltype(d)::value>, all, q, run) : first;
    });
  }
  return for_size(job, [&](auto u) { return start(add_whole<decltype(u)>, blocks, q, run); });
}

int gr_cuda_put(const gr_put_job *job, const gr_cuda_run *run) {
  unsigned blocks = gr_lookup_grid(job->n, TILE);
  gr_put_args q;
  memset(&q, 0, sizeof q);
  if (job->n <= 0) return cudaSuccess;
  q.places = gr_places{(const char *)job->index.data, job->index.stride, job->n, job->length, job->positions};
  q.a = (char *)job->a.data;
  q.a_stride = job->a.stride;
  q.values = (const char *)job->values.vec.data;
  q.value_stride = job->values.vec.stride;
  q.value = job->values.value;
  q.state = job->state;
  q.unit = job->unit;
  q.most = job->op == GR_PUT_max;
  q.dtype = job->dtype;
  q.seen = job->seen;
  if (job->rising) return start_rising(job, &q, run);
  switch (job->op) {
    case GR_PUT_set: return for_size(job, [&](auto u) { return start_set_of<decltype(u)>(job, &q, blocks, run); });
    case GR_PUT_add: return start_add(job, &q, blocks, run);
    case GR_PUT_min:
    case GR_PUT_max: return for_size(job, [&](auto u) { return start(extreme<decltype(u)>, blocks, &q, run); });
  }
  return cudaErrorInvalidValue;
}
