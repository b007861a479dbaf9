/*
** Element operators. Memory is the limit, so the operator is a uniform switch inside one kernel for each dtype;
** functions (CALL), which need registers, have kernels of their own, so that the others do not pay for them. What
** changes types (casts, and operators whose elements are widened to f64) is one kernel for all of them.
*/
#include <cuda_runtime.h>
#include "kernels/cuda/map/element.cuh"
#include "kernels/cuda/map/map.cuh"

/* ---- the same dtype in and out ---- */

template <gr_dtype D, int op>
static __device__ __forceinline__ void gr_map_word(const uint4 &a, const uint4 &b, const uint4 &c, gr_type<D> *e) {
#pragma unroll
  for (int i = 0; i < 16 / gr_size<D>; i++)
    e[i] = gr_map_one<D, op>(gr_pick<D>(a, i), gr_pick<D>(b, i), gr_pick<D>(c, i));
}

/*
** A function of elements of 2 bytes is one kernel for both their types (thread/element.cuh), that of f16.
*/
static __device__ __forceinline__ void gr_map_widen(bool brain, const uint4 &w, float (&x)[8]) {
  gr_f16 e[8];
  memcpy(e, &w, sizeof e);
  gr_widen_16bit(x, e, brain);
}
template <int op>
static __device__ __forceinline__ void gr_map_word(bool brain, const uint4 &a, const uint4 &b, const uint4 &c,
                                                   gr_f16 (&e)[8]) {
  float x[8], y[8], z[8];
  gr_map_widen(brain, a, x);
  gr_map_widen(brain, b, y);
  gr_map_widen(brain, c, z);
#pragma unroll
  for (int i = 0; i < 8; i++) x[i] = gr_map_one<GR_F32, op, true>(x[i], y[i], z[i]);
  gr_round_16bit(e, x, brain);
#pragma unroll
  for (int i = 0; i < 8; i++)
    if (x[i] != x[i]) e[i].bits = brain ? 0x7fc0 : 0x7e00;
}

/* Which elements of word w there are: k, and first <= i < last. False: none. */
static __device__ __forceinline__ bool gr_map_range(const gr_map_args &q, int64_t w, int each, int64_t &k, int &first,
                                                    int &last) {
  k = w * each - q.lead;
  first = k < 0 ? (int)-k : 0;
  last = q.n - k < each ? (int)(q.n - k) : each;
  return k < q.n;
}

/* only: the one operator of this kernel; -1: all that are not CALL, by q.op. */
template <gr_dtype D, int only = -1>
static __global__ void __launch_bounds__(GR_MAP_THREADS) gr_map_same(const __grid_constant__ gr_map_args q) {
  using E = gr_type<D>;
  using U = gr_map_unit<gr_size<D>>;
  constexpr int each = 16 / gr_size<D>;
  int64_t w = blockIdx.x * (int64_t)(GR_MAP_THREADS * GR_MAP_WORDS) + threadIdx.x, k;
  uint4 a[GR_MAP_WORDS], b[GR_MAP_WORDS];
  int first, last;
#pragma unroll
  for (int u = 0; u < GR_MAP_WORDS; u++) {
    if (!gr_map_range(q, w + u * GR_MAP_THREADS, each, k, first, last)) continue;
    a[u] = gr_map_load<U>(q.a, k, first, last);
    b[u] = gr_map_load<U>(q.b, k, first, last);
  }
#pragma unroll 1
  for (int u = 0; u < GR_MAP_WORDS; u++, w += GR_MAP_THREADS) {
    if (!gr_map_range(q, w, each, k, first, last)) return;
    E e[each];
    if constexpr (only >= 0 && D == GR_F16) gr_map_word<only>(q.in == GR_BF16, a[0], b[0], q.c.word, e);
    else if constexpr (only >= 0) gr_map_word<D, only>(a[0], b[0], q.c.word, e);
    else switch (q.op) {
#define GR_X(name, operands, f, i, real, whole)                              \
  case GR_MAP_##name:                                                        \
    if constexpr ((gr_floating<D> ? GR_MAP_##f : GR_MAP_##i) == GR_MAP_SAME) \
      gr_map_word<D, GR_MAP_##name>(a[0], b[0], q.c.word, e);                \
    break;
        GR_MAPS(GR_X)
#undef GR_X
      }
    gr_map_store(q, k, first, last, e, each);
#pragma unroll
    for (int v = 1; v < GR_MAP_WORDS; v++) {
      a[v - 1] = a[v];
      b[v - 1] = b[v];
    }
  }
}

/* ---- comparisons and choices ---- */

/* The block's counts together: one element of a tally. */
static __device__ __forceinline__ void gr_map_tally(const gr_map_args &q, int count) {
  __shared__ int parts[GR_MAP_THREADS / 32];
#pragma unroll
  for (int h = 16; h; h /= 2) count += __shfl_xor_sync(~0u, count, h);
  if ((threadIdx.x & 31) == 0) parts[threadIdx.x >> 5] = count;
  __syncthreads();
  if (threadIdx.x > 0) return;
#pragma unroll
  for (int k = 1; k < GR_MAP_THREADS / 32; k++) count += parts[k];
  int64_t first = blockIdx.x * (int64_t)GR_TALLY, there = q.n - first < GR_TALLY ? q.n - first : GR_TALLY;
  ((int64_t *)q.out)[blockIdx.x] = q.tally == GR_TALLY_ALL ? count == there : count;
}

/* How many of the bytes from first to last - 1 are 1; the others are 0. */
template <int each>
static __device__ __forceinline__ int gr_map_ones(const uint8_t (&e)[each], int first, int last) {
  int count = 0;
  if (last - first < each) {
#pragma unroll
    for (int i = 0; i < each; i++) count += i >= first && i < last ? e[i] : 0;
  } else if constexpr (each < 4) {
#pragma unroll
    for (int i = 0; i < each; i++) count += e[i];
  } else {
#pragma unroll
    for (int i = 0; i < each; i += 4) {
      uint32_t four;
      memcpy(&four, e + i, 4);
      count += __popc(four);
    }
  }
  return count;
}

/* The switch stands outside of the loop, so that no element pays for it. */
template <gr_dtype D>
static __device__ __forceinline__ void gr_map_mask(int op, const uint4 &a, const uint4 &b,
                                                   uint8_t (&e)[16 / gr_size<D>]) {
  switch (op) {
#define GR_X(name, operands, f, i, real, whole)                                                                    \
  case GR_MAP_##name:                                                                                              \
    if constexpr ((gr_floating<D> ? GR_MAP_##f : GR_MAP_##i) == GR_MAP_MASK) {                                     \
      _Pragma("unroll") for (int k = 0; k < 16 / gr_size<D>; k++)                                                  \
        e[k] = gr_map_holds<D, GR_MAP_##name>(gr_pick<D>(a, k), gr_pick<D>(b, k));                                 \
    }                                                                                                              \
    break;
    GR_MAPS(GR_X)
#undef GR_X
  }
}

template <gr_dtype D>
static __global__ void __launch_bounds__(GR_MAP_THREADS) gr_map_compare(const __grid_constant__ gr_map_args q) {
  using U = gr_map_unit<gr_size<D>>;
  constexpr int each = 16 / gr_size<D>, flight = GR_MAP_THREADS * GR_MAP_WORDS;
  const bool compares = q.op == GR_MAP_compare, less = q.relation & 1, equal = q.relation & 2, invert = q.relation & 4;
  int rounds = q.tally ? GR_TALLY / (each * flight) : 1, count = 0;
  int64_t w = blockIdx.x * (int64_t)flight * rounds + threadIdx.x, k;
  int first, last;
#pragma unroll 1
  for (int round = 0; round < rounds; round++) {
    uint4 a[GR_MAP_WORDS], b[GR_MAP_WORDS];
#pragma unroll
    for (int u = 0; u < GR_MAP_WORDS; u++) {
      if (!gr_map_range(q, w + u * GR_MAP_THREADS, each, k, first, last)) continue;
      a[u] = gr_map_load<U>(q.a, k, first, last);
      b[u] = gr_map_load<U>(q.b, k, first, last);
    }
#pragma unroll
    for (int u = 0; u < GR_MAP_WORDS; u++, w += GR_MAP_THREADS) {
      if (!gr_map_range(q, w, each, k, first, last)) continue;
      uint8_t e[each];
      if (!compares) gr_map_mask<D>(q.op, a[u], b[u], e);
#pragma unroll
      for (int i = 0; i < each && compares; i++) {
        auto x = gr_map_in<D>(gr_pick<D>(a[u], i)), y = gr_map_in<D>(gr_pick<D>(b[u], i));
        e[i] = (uint8_t)(((x < y && less) || (x == y && equal)) != invert);
      }
      if (!q.tally) gr_map_store(q, k, first, last, e, each);
      else count += gr_map_ones<each>(e, first, last);
    }
  }
  if (q.tally) gr_map_tally(q, count);
}

template <typename U>
static __global__ void __launch_bounds__(GR_MAP_THREADS) gr_map_where(const __grid_constant__ gr_map_args q) {
  constexpr int each = 16 / (int)sizeof(U);
  int64_t w = blockIdx.x * (int64_t)GR_MAP_THREADS + threadIdx.x, k;
  int first, last;
  if (!gr_map_range(q, w, each, k, first, last)) return;
  uint8_t m[each];
  const char *p = q.c.p + k * q.c.stride;
  if (q.c.stride == 1 && last - first == each && ((uintptr_t)p & (each - 1)) == 0) {
    memcpy(m, __builtin_assume_aligned(p, each), each);
  } else {
#pragma unroll
    for (int i = 0; i < each; i++) m[i] = i >= first && i < last ? *(const uint8_t *)(p + i * q.c.stride) : 0;
  }
  U e[each], x[each], y[each];
  uint4 a = gr_map_load<U>(q.a, k, first, last), b = gr_map_load<U>(q.b, k, first, last);
  memcpy(x, &a, 16);
  memcpy(y, &b, 16);
#pragma unroll
  for (int i = 0; i < each; i++) e[i] = m[i] ? x[i] : y[i];
  gr_map_store(q, k, first, last, e, each);
}

/* ---- other dtypes out than in, and what is computed in f64 ---- */

constexpr int WIDE = gr_map_tuning::wide_elements;

/* A number as f64, or as i64 where that is what it is. */
union gr_wide {
  double f;
  int64_t i;
};

/* Bytes by which a thread's elements may be read and written in one go. */
template <typename T>
constexpr int gr_wide_step = WIDE *(int)sizeof(T) < 16 ? WIDE *(int)sizeof(T) : 16;

template <gr_dtype D>
static __device__ __forceinline__ void gr_wide_read(const gr_map_operand &o, bool whole, int64_t k, int count,
                                                    gr_wide (&v)[WIDE]) {
  using T = gr_type<D>;
  constexpr int step = gr_wide_step<T>;
  const char *p = o.p + k * o.stride;
  T x[WIDE];
  if (o.stride == (int64_t)sizeof(T) && count == WIDE && ((uintptr_t)p & (step - 1)) == 0) {
    memcpy(x, __builtin_assume_aligned(p, step), sizeof x);
  } else {
#pragma unroll
    for (int i = 0; i < WIDE; i++) x[i] = *(const T *)(i < count ? p + i * o.stride : p);
  }
#pragma unroll
  for (int i = 0; i < WIDE; i++) {
    v[i].f = gr_to_f64<D>(x[i]);
    if constexpr (!gr_floating<D>)
      if (whole) v[i].i = (int64_t)x[i];
  }
}

static __device__ __forceinline__ void gr_wide_load(const gr_map_operand &o, int t, bool whole, int64_t k, int count,
                                                    gr_wide (&v)[WIDE]) {
  if (!o.p) { /* the number is an f64 */
#pragma unroll
    for (int i = 0; i < WIDE; i++) v[i].f = __hiloint2double((int)o.word.y, (int)o.word.x);
    return;
  }
  switch (t) {
#define GR_X(id, s, l, type, kind) \
  case GR_##id: gr_wide_read<GR_##id>(o, whole, k, count, v); break;
    GR_DTYPES(GR_X)
#undef GR_X
  }
}

template <typename T>
static __device__ __forceinline__ void gr_wide_write(const gr_map_args &q, int64_t k, int count, const T (&x)[WIDE]) {
  constexpr int step = gr_wide_step<T>;
  char *p = q.out + k * q.out_stride;
  if (q.out_stride == (int64_t)sizeof(T) && count == WIDE && ((uintptr_t)p & (step - 1)) == 0) {
    memcpy(__builtin_assume_aligned(p, step), x, sizeof x);
  } else {
#pragma unroll
    for (int i = 0; i < WIDE; i++)
      if (i < count) *(T *)(p + i * q.out_stride) = x[i];
  }
}

static __device__ __forceinline__ void gr_wide_store(const gr_map_args &q, bool whole, int64_t k, int count,
                                                     const gr_wide (&v)[WIDE]) {
  switch (q.to) {
#define GR_X(id, s, l, type, kind)                                                               \
  case GR_##id: {                                                                                \
    type x[WIDE];                                                                                \
    for (int i = 0; i < WIDE; i++) x[i] = whole ? gr_i64_to_##s(v[i].i) : gr_f64_to_##s(v[i].f); \
    gr_wide_write(q, k, count, x);                                                               \
    break;                                                                                       \
  }
    GR_DTYPES(GR_X)
#undef GR_X
  }
}

/* A row of GR_MAPS that widens integers: a case by its expression. */
#define WIDE_CASE(name, operands, of_floats, of_integers, real)                                         \
  case GR_MAP_##name:                                                                                   \
    if constexpr (GR_MAP_##of_integers == GR_MAP_F64 && (GR_MAP_##of_floats == GR_MAP_CALL) == calls) { \
      if (operands == 2) gr_wide_load(q.b, q.in, false, k, count, other);                               \
      _Pragma("unroll") for (int n = 0; n < WIDE; n++) {                                                \
        const double x = v[n].f, y = operands == 2 ? other[n].f : 0.0, z = 0.0; /* none has three */    \
        (void)y;                                                                                        \
        (void)z;                                                                                        \
        v[n].f = real;                                                                                  \
      }                                                                                                 \
    }                                                                                                   \
    break;
#define SQRT gr_map_root

/* calls: functions of integers, else casts and what is little work. */
template <bool calls>
static __global__ void __launch_bounds__(GR_MAP_THREADS) gr_map_wide(const __grid_constant__ gr_map_args q) {
  int64_t k = (blockIdx.x * (int64_t)GR_MAP_THREADS + threadIdx.x) * WIDE;
  if (k >= q.n) return;
  int count = q.n - k < WIDE ? (int)(q.n - k) : WIDE;
  /* Integers stay integers in a cast to integers, and i64 in all casts. */
  bool whole = q.op == GR_MAP_cast && !gr_is_float((gr_dtype)q.in) && (q.in == GR_I64 || !gr_is_float((gr_dtype)q.to));
  gr_wide v[WIDE], other[WIDE];
  gr_wide_load(q.a, q.in, whole, k, count, v);
  switch (q.op) {
#define GR_X(name, operands, f, i, real, whole) WIDE_CASE(name, operands, f, i, real)
    GR_MAPS(GR_X)
#undef GR_X
  }
  gr_wide_store(q, whole, k, count, v);
}
#undef SQRT

/* ---- launching ---- */

static gr_map_operand operand_of(const gr_operand *o, int size) {
  gr_map_operand r;
  r.p = (const char *)o->vec.data;
  r.stride = o->vec.stride;
  for (int k = 0; k < 16; k += size) memcpy((char *)&r.word + k, &o->value, (size_t)size);
  return r;
}

static_assert(GR_RELATION_COUNT == 6, "a relation that is not made of less and equal");

/* A relation as less or equal, perhaps inverted; what holds for greater is that of the operands changed over. */
static int relation_bits(gr_relation r) {
  return r == GR_IS_ne ? 2 | 4 : (r == GR_IS_lt || r == GR_IS_gt ? 1 : r == GR_IS_eq ? 2 : 1 | 2);
}

/* The kernel of a function, where it has one for that dtype. */
template <gr_dtype D, int op, int rule>
static const void *call_kernel() {
  if constexpr (rule == GR_MAP_CALL) return (const void *)gr_map_same<D == GR_BF16 ? GR_F16 : D, op>;
  else return nullptr;
}
template <int op, int f, int i>
static const void *call_of(gr_dtype t) {
#define GR_X(id, s, l, type, kind) \
  case GR_##id: return call_kernel < GR_##id, op, gr_floating<GR_##id> ? f : i > ();
  switch (t) { GR_DTYPES(GR_X) }
#undef GR_X
  return nullptr;
}
static const void *call_of(gr_map op, gr_dtype t) {
#define GR_X(name, operands, f, i, real, whole) \
  case GR_MAP_##name: return call_of<GR_MAP_##name, GR_MAP_##f, GR_MAP_##i>(t);
  switch (op) { GR_MAPS(GR_X) }
#undef GR_X
  return nullptr;
}

#define GR_X(id, s, l, type, kind) (const void *)gr_map_same<GR_##id>,
static const void *const same[] = {GR_DTYPES(GR_X)};
#undef GR_X
#define GR_X(id, s, l, type, kind) (const void *)gr_map_compare<GR_##id>,
static const void *const compare[] = {GR_DTYPES(GR_X)};
#undef GR_X

static const void *where_of(int size) {
  return gr_for_size(size, [](auto u) { return (const void *)gr_map_where<decltype(u)>; });
}

int gr_cuda_map(const gr_map_job *job, const gr_cuda_run *run) {
  int size = gr_size_of(job->dtype), out_size = gr_size_of(job->out_dtype), each = 16 / size, words = GR_MAP_WORDS;
  int wide = job->op == GR_MAP_cast || gr_map_widens(job->op, job->dtype);
  int masks = gr_map_masks(job->op, job->dtype);
  const void *call = call_of(job->op, job->dtype);
  const void *kernel =
      wide ? (job->op == GR_MAP_cast || gr_map_rule(job->op, GR_F64) != GR_MAP_CALL ? (const void *)gr_map_wide<false>
                                                                                    : (const void *)gr_map_wide<true>)
      : masks                   ? compare[job->dtype]
      : job->op == GR_MAP_where ? where_of(size)
      : call                    ? call
                                : same[job->dtype];
  gr_map_args q;
  if (job->n <= 0) return cudaSuccess;
  q.a = operand_of(&job->a, wide ? 8 : size);
  q.b = operand_of(&job->b, wide ? 8 : size);
  q.c = operand_of(&job->c, size);
  q.out = (char *)job->out.data;
  q.out_stride = job->out.stride;
  q.n = job->n;
  q.op = job->op;
  q.relation = relation_bits(job->relation);
  if (job->op == GR_MAP_compare && (job->relation == GR_IS_gt || job->relation == GR_IS_ge)) {
    gr_map_operand a = q.a;
    q.a = q.b;
    q.b = a;
  }
  q.tally = job->tally;
  q.in = job->dtype;
  q.to = job->out_dtype;
  q.lead = job->out.stride == out_size ? (int64_t)((uintptr_t)q.out & (each * out_size - 1)) / out_size : 0;
  if (wide || job->tally) q.lead = 0;
  if (wide) each = WIDE;
  if (wide || job->op == GR_MAP_where) words = 1;
  int64_t block = job->tally ? GR_TALLY : GR_MAP_THREADS * (int64_t)(words * each); /* elements of one */
  unsigned blocks = (unsigned)((q.n + q.lead + block - 1) / block);
  void *args[] = {&q};
  return cudaLaunchKernel(kernel, blocks, GR_MAP_THREADS, args, 0, (cudaStream_t)run->stream);
}
