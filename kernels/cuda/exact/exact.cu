/*
** Exact sums. A number is an integer times a power of two; it is cut into pieces of 24 bits that go into 32-bit bins
** in shared memory, one row of bins for each few exponents and sign, one column for each lane: one native atomic
** addition a piece, never two lanes in one bank. The old value that the addition returns tells a carry (one in some
** 300), which is counted aside. Nothing depends on the data but those carries. At the end a block adds up its rows
** and folds them into the limbs of kernels/numerics/exact.h, each of which goes to the host as soon as all blocks have
** added theirs.
*/
#include <cuda_runtime.h>
#include "kernels/cuda/exact/exact.h"
#include "kernels/cuda/exact/tuning.h"
#include "kernels/cuda/batch.h"
#include "kernels/cuda/grid/dependent_launch.cuh"
#include "kernels/cuda/grid/last_block.cuh"
#include "kernels/cuda/grid/mailbox.cuh"
#include "kernels/cuda/grid/mailbox.h"

/* wide: f64, else f32 (and what is exact in them). dot: products of pairs. */
template <bool wide, bool dot>
struct gr_bins {
  static constexpr int each = wide ? 8 : dot ? 2 : 1;              /* exponents to a row */
  static constexpr int pieces = wide ? (dot ? 5 : 3) : dot ? 2 : 1;
  static constexpr int step = 24 / each;                           /* rows from a piece to the next */
  static constexpr int rows = wide ? (dot ? 524 : 264) : dot ? 268 : 256; /* of one sign */
  static constexpr int unit = wide ? (dot ? -2150 : -1075) : dot ? -300 : -150; /* of row 0, as an exponent */
  static constexpr int first = (unit - GR_EXACT_UNIT) / 32;
  static constexpr int limbs = ((rows - 1) * each + unit - GR_EXACT_UNIT) / 32 + 3 - first;
  static constexpr int threads = gr_exact_tuning::threads, blocks = gr_exact_tuning::blocks_each;
  /* Neighbouring threads that make a limb: as many as there are for each, so that all are made at once. */
  static constexpr int each_limb = threads / (limbs + 1);
  static constexpr int team = each_limb >= 32 ? 32 : each_limb >= 16 ? 16 : each_limb >= 8 ? 8 : 4;
};

struct gr_exact_args {
  gr_exact_job job;
  int64_t first;    /* the vector that this launch starts with */
  int64_t each;     /* a block takes a vector, for whose words there is out; else all blocks take one */
  uint64_t *sums;   /* of all blocks: zero before and after */
  unsigned *counter;
  uint64_t *out;    /* limbs, then whether an infinity or NaN was met */
  uint64_t *done;   /* the same for the host, as words of a mailbox */
  uint64_t ticket;
};
static_assert(sizeof(gr_exact_args) <= GR_OWN_ARGUMENT_BYTES, "a batch has room for the arguments");

/* ---- a number, or a product, in pieces ---- */

template <bool wide, bool dot> struct gr_cut {
  unsigned piece[gr_bins<wide, dot>::pieces];
  unsigned row; /* of the first piece */
};

/*
** Subnormals have the exponent of the lowest normal numbers, and no leading bit: with t the exponent field in its
** place, the larger of t and one is the exponent, the smaller of the two the leading bit. keep: ~0, or without the
** sign.
*/
#define GR_ONE32 0x800000u
static __device__ __forceinline__ unsigned gr_digits(unsigned x) {
  return (x & (GR_ONE32 - 1)) | min(x & 0x7f800000u, GR_ONE32);
}
static __device__ __forceinline__ gr_cut<false, false> gr_cut_of(unsigned x, unsigned keep) {
  gr_cut<false, false> c;
  c.piece[0] = gr_digits(x);
  c.row = (x & keep) >> 23;
  return c;
}
static __device__ __forceinline__ gr_cut<false, true> gr_cut_pair(unsigned x, unsigned y) {
  gr_cut<false, true> c;
  unsigned e = max(x & 0x7f800000u, GR_ONE32) + max(y & 0x7f800000u, GR_ONE32); /* of 2^23: up to 508 */
  uint64_t p = (uint64_t)gr_digits(x) * (gr_digits(y) << (e >> 23 & 1));
  c.piece[0] = (unsigned)p & 0xffffffu;
  c.piece[1] = (unsigned)(p >> 24);
  c.row = (e >> 24) + ((int)(x ^ y) >> 31 & gr_bins<false, true>::rows);
  return c;
}
#define GR_ONE64 0x100000u /* in the high word */
static __device__ __forceinline__ unsigned gr_high_digits(uint64_t x) {
  unsigned high = (unsigned)(x >> 32);
  return (high & (GR_ONE64 - 1)) | min(high & 0x7ff00000u, GR_ONE64);
}
static __device__ __forceinline__ uint64_t gr_digits(uint64_t x) {
  return (uint64_t)gr_high_digits(x) << 32 | (unsigned)x;
}
static __device__ __forceinline__ gr_cut<true, false> gr_cut_of(uint64_t x, unsigned keep) {
  gr_cut<true, false> c;
  unsigned high = (unsigned)(x >> 32), e = max(high & 0x7ff00000u, GR_ONE64), s = e >> 20 & 7;
  unsigned w0 = (unsigned)x << s, w1 = __funnelshift_l((unsigned)x, gr_high_digits(x), s);
  c.piece[0] = w0 & 0xffffffu;
  c.piece[1] = __funnelshift_r(w0, w1, 24) & 0xffffffu;
  c.piece[2] = w1 >> 16;
  c.row = (e >> 23) + ((int)(high & keep) >> 31 & gr_bins<true, false>::rows);
  return c;
}
static __device__ __forceinline__ gr_cut<true, true> gr_cut_pair(uint64_t x, uint64_t y) {
  gr_cut<true, true> c;
  uint64_t mx = gr_digits(x), my = gr_digits(y), low = mx * my, high = __umul64hi(mx, my);
  unsigned e = max((unsigned)(x >> 52) & 0x7ffu, 1u) + max((unsigned)(y >> 52) & 0x7ffu, 1u), s = e & 7;
  unsigned w0 = (unsigned)low << s, w1 = __funnelshift_l((unsigned)low, (unsigned)(low >> 32), s);
  unsigned w2 = __funnelshift_l((unsigned)(low >> 32), (unsigned)high, s);
  unsigned w3 = __funnelshift_l((unsigned)high, (unsigned)(high >> 32), s);
  c.piece[0] = w0 & 0xffffffu;
  c.piece[1] = __funnelshift_r(w0, w1, 24) & 0xffffffu;
  c.piece[2] = __funnelshift_r(w1, w2, 16) & 0xffffffu;
  c.piece[3] = w2 >> 8;
  c.piece[4] = w3;
  c.row = (e >> 3) + ((int64_t)(x ^ y) < 0 ? gr_bins<true, true>::rows : 0);
  return c;
}

/* ---- bins ---- */

template <bool wide, bool dot, int columns> struct gr_shelf {
  using B = gr_bins<wide, dot>;
  static constexpr int bins = 2 * B::rows * columns;
  static constexpr size_t bytes = sizeof(unsigned) * (bins + 2 * B::rows) + sizeof(uint64_t) * 2 * B::rows;
};

/* n numbers at once, so that their additions overlap; carries are looked for afterwards, and are rare. */
template <bool wide, bool dot, int columns, int n>
static __device__ __forceinline__ void gr_put_cuts(unsigned *bins, const gr_cut<wide, dot> (&c)[n]) {
  using B = gr_bins<wide, dot>;
  unsigned old[n][B::pieces], lane = threadIdx.x & (columns - 1);
  bool carries = false;
#pragma unroll
  for (int i = 0; i < n; i++)
#pragma unroll
    for (int p = 0; p < B::pieces; p++)
      old[i][p] = atomicAdd(bins + c[i].row * columns + lane + p * B::step * columns, c[i].piece[p]);
#pragma unroll
  for (int i = 0; i < n; i++)
#pragma unroll
    for (int p = 0; p < B::pieces; p++) carries |= old[i][p] + c[i].piece[p] < old[i][p];
  if (!carries) return;
  unsigned *carry = bins + gr_shelf<wide, dot, columns>::bins;
#pragma unroll
  for (int i = 0; i < n; i++)
#pragma unroll
    for (int p = 0; p < B::pieces; p++)
      if (old[i][p] + c[i].piece[p] < old[i][p]) atomicAdd(carry + c[i].row + p * B::step, 1u);
}

/* What limb `limb` gets from row r, whose total is S. */
static __device__ __forceinline__ int64_t gr_part(uint64_t S, int bit, int limb) {
  int away = limb - (bit >> 5), shift = bit & 31;
  uint64_t low = (S & UINT32_MAX) << shift, high = (S >> 32) << shift;
  if (away == 0) return (int64_t)(low & UINT32_MAX);
  if (away == 1) return (int64_t)((low >> 32) + (high & UINT32_MAX));
  return away == 2 ? (int64_t)(high >> 32) : 0;
}

/*
** A block's share of word k is added to that of the others, and the number of blocks that have been there is counted in
** the upper bits: the last one gets the total back at once, sends it and leaves zero. So nobody waits for a fence, and
** nobody looks twice. Shares lie within 2^41 (97 rows, of either sign, of less than 2^33).
*/
static __device__ __forceinline__ void gr_hand_over(const gr_exact_args &q, int k, int64_t share) {
  const uint64_t one = 1ull << 56, bias = 1ull << 41, blocks = gridDim.x;
  if (blocks > 1) {
    unsigned long long *sum = (unsigned long long *)q.sums + k;
    uint64_t old = atomicAdd(sum, (unsigned long long)(one + bias + (uint64_t)share));
    if (old >> 56 != blocks - 1) return;
    *sum = 0;
    share += (int64_t)((old & (one - 1)) - (blocks - 1) * bias);
  }
  gr_mailbox_put(q.done + 2 * k, (uint64_t)share, q.ticket);
}

/* The block's rows as limbs, by some neighbouring lanes each; all threads are here, after a barrier. */
template <bool wide, bool dot, int columns>
static __device__ __forceinline__ void gr_fold_bins(const gr_exact_args &q, unsigned *bins, bool stained) {
  using B = gr_bins<wide, dot>;
  constexpr int team = B::team, stagger = columns < 32 ? 2 : 0; /* rows of other banks */
  static_assert(columns == 32 || columns == 8, "four rows of eight columns have all banks");
  static_assert(2 * (B::limbs + 1) <= GR_MAILBOX_WORDS && team <= B::each_limb, "room and threads for all limbs");
  unsigned *carry = bins + gr_shelf<wide, dot, columns>::bins;
  uint64_t *total = (uint64_t *)(carry + 2 * B::rows);
  for (int r = threadIdx.x; r < 2 * B::rows; r += blockDim.x) {
    uint64_t S = (uint64_t)carry[r] << 32;
#pragma unroll(gr_exact_tuning::fold_unrolled)
    for (int k = 0; k < columns; k++) S += bins[r * columns + ((r >> stagger) + k & (columns - 1))];
    total[r] = S;
  }
  __syncthreads();
  int k = (int)threadIdx.x / team, limb = B::first + k, base = B::unit - GR_EXACT_UNIT;
  int from = max(0, (32 * (limb - 2) - base + B::each - 1) / B::each),
      to = min(B::rows - 1, (32 * limb + 31 - base) / B::each);
  int64_t sum = k == B::limbs && (threadIdx.x & team - 1) == 0 ? stained : 0;
  for (int r = from + ((int)threadIdx.x & team - 1); k < B::limbs && r <= to; r += team) {
    int bit = (B::each == 1 && r == 0 ? 1 : r) * B::each + base;
    sum += gr_part(total[r], bit, limb) - gr_part(total[r + B::rows], bit, limb);
  }
  for (int h = team / 2; h > 0; h /= 2) sum += __shfl_xor_sync(~0u, sum, h);
  if ((threadIdx.x & team - 1) || k > B::limbs) return;
  if (q.each) q.out[blockIdx.x * (B::limbs + 1) + k] = (uint64_t)sum;
  else gr_hand_over(q, k, sum);
}

/* ---- elements ---- */

template <bool wide> struct gr_bits_type { using type = unsigned; using number = float; };
template <> struct gr_bits_type<true> { using type = uint64_t; using number = double; };
template <bool wide> using gr_number = typename gr_bits_type<wide>::number;

static_assert(GR_DTYPE_COUNT == 11, "f64 is the default below");

/* Element k as the bits of an f32 or f64; half 1 and 0 of an i64: a multiple of 2^32, and what is left. */
template <bool wide>
static __device__ __forceinline__ typename gr_bits_type<wide>::type gr_bits_of(gr_dtype t, const gr_vec &v, int64_t row,
                                                                            int64_t k, int half) {
  const char *p = (const char *)v.data + row * v.step + k * v.stride;
  if constexpr (!wide) {
    if (t == GR_F16) return gr_bits32(gr_f16_to_f32(*(const gr_f16 *)p));
    if (t == GR_BF16) return gr_bits32(gr_bf16_to_f32(*(const gr_bf16 *)p));
    return *(const unsigned *)p;
  } else {
    switch (t) {
      case GR_U8: return gr_bits64((double)*(const uint8_t *)p);
      case GR_I8: return gr_bits64((double)*(const int8_t *)p);
      case GR_U16: return gr_bits64((double)*(const uint16_t *)p);
      case GR_I16: return gr_bits64((double)*(const int16_t *)p);
      case GR_U32: return gr_bits64((double)*(const uint32_t *)p);
      case GR_I32: return gr_bits64((double)*(const int32_t *)p);
      case GR_I64: {
        int64_t x = *(const int64_t *)p, low = x & UINT32_MAX;
        return gr_bits64(half ? (double)(x - low) : (double)low);
      }
      default: return *(const uint64_t *)p;
    }
  }
}

/* 0 for finite numbers; NaN sticks. On pipes that have nothing else to do. */
static __device__ __forceinline__ float gr_stain(float s, unsigned x) { return __fmaf_rn(gr_from_bits32(x), 0.0f, s); }
static __device__ __forceinline__ double gr_stain(double s, uint64_t x) { return __fma_rn(gr_from_bits64(x), 0.0, s); }

/* |x|; of the half of an i64: turned round where the whole is negative. */
template <bool wide, class T>
static __device__ __forceinline__ T gr_magnitude(const gr_exact_job &j, int64_t row, int64_t k, T x) {
  if (j.kind != GR_EXACT_SUMABS) return x;
  if constexpr (wide)
    if (j.dtype == GR_I64)
      return *(const int64_t *)((const char *)j.a.data + row * j.a.step + k * j.a.stride) < 0 ? x ^ ((T)1 << 63) : x;
  return x & ((T)~(T)0 >> 1);
}

/* One element or pair, of any dtype and stride. */
template <bool wide, bool dot, int columns>
static __device__ __noinline__ gr_number<wide> gr_put_one(unsigned *bins, const gr_exact_job &j, int64_t row,
                                                          int64_t k) {
  int halves = j.dtype == GR_I64 ? 2 : 1;
  gr_number<wide> s = 0;
  for (int h = 0; h < halves; h++) {
    auto x = gr_bits_of<wide>(j.dtype, j.a, row, k, h);
    gr_cut<wide, dot> c[1];
    s = gr_stain(s, x);
    if constexpr (dot) {
      for (int i = 0; i < halves; i++) {
        auto y = gr_bits_of<wide>(j.dtype, j.b, row, k, i);
        s = gr_stain(s, y);
        c[0] = gr_cut_pair(x, y);
        gr_put_cuts<wide, dot, columns>(bins, c);
      }
    } else {
      c[0] = gr_cut_of(gr_magnitude<wide>(j, row, k, x), ~0u);
      gr_put_cuts<wide, dot, columns>(bins, c);
    }
  }
  return s;
}

/* The numbers of one 16-byte word (or two), n additions under way at once, as registers allow. */
template <bool wide, bool dot, int columns>
static __device__ __forceinline__ gr_number<wide> gr_put_word(unsigned *bins, uint4 x, uint4 y, gr_number<wide> s,
                                                              unsigned keep) {
  using T = typename gr_bits_type<wide>::type;
  constexpr int per = 16 / sizeof(T), n = gr_exact_tuning::numbers<wide, dot>;
  T a[per], b[per];
  memcpy(a, &x, 16);
  memcpy(b, &y, 16);
#pragma unroll
  for (int k = 0; k < per; k += n) {
    gr_cut<wide, dot> c[n];
#pragma unroll
    for (int i = 0; i < n; i++) {
      s = gr_stain(s, a[k + i]);
      if constexpr (dot) s = gr_stain(s, b[k + i]), c[i] = gr_cut_pair(a[k + i], b[k + i]);
      else c[i] = gr_cut_of(a[k + i], keep);
    }
    gr_put_cuts<wide, dot, columns>(bins, c);
  }
  return s;
}

/* A word of eight 16-bit floats, as two words of f32. */
static __device__ __forceinline__ uint4 gr_widen_half(uint2 w, gr_dtype t) {
  if (t == GR_BF16) return make_uint4(w.x << 16, w.x & 0xffff0000u, w.y << 16, w.y & 0xffff0000u);
  unsigned r[4];
#pragma unroll
  for (int i = 0; i < 4; i++) {
    gr_f16 h = {(uint16_t)((i < 2 ? w.x : w.y) >> 16 * (i & 1))};
    r[i] = gr_bits32(gr_f16_to_f32(h));
  }
  return make_uint4(r[0], r[1], r[2], r[3]);
}

/* ---- the kernel ---- */

/* half: 16-bit floats, widened to f32. */
template <bool wide, bool half, bool dot, int columns>
__global__ void __launch_bounds__(gr_bins<wide, dot>::threads, gr_bins<wide, dot>::blocks)
    gr_exact_sum(const __grid_constant__ gr_exact_args q) {
  using B = gr_bins<wide, dot>;
  constexpr int size = wide ? 8 : half ? 2 : 4, per = 16 / size, flight = gr_exact_tuning::loads<dot>;
  extern __shared__ __align__(16) unsigned bins[];
  gr_await_earlier();
  gr_let_next_start();

  int64_t v = q.first + (q.each ? blockIdx.x : 0), n = q.job.n;
  unsigned block = q.each ? 0 : blockIdx.x, blocks = q.each ? 1 : gridDim.x;
  const char *a = (const char *)q.job.a.data + v * q.job.a.step;
  const char *b = dot ? (const char *)q.job.b.data + v * q.job.b.step : a;
  unsigned keep = q.job.kind == GR_EXACT_SUMABS ? 0x7fffffffu : ~0u;
  /* Words are read where vectors are dense and start alike; the order of elements is nobody's concern. */
  gr_dtype t16 = q.job.dtype;
  bool dense = (half || q.job.dtype == (wide ? GR_F64 : GR_F32)) && q.job.a.stride == size &&
               (!dot || q.job.b.stride == size) && (((uintptr_t)a ^ (uintptr_t)b) & 15) == 0 &&
               ((uintptr_t)a & (size - 1)) == 0;
  int64_t head = dense ? min(n, (int64_t)((0 - (uintptr_t)a & 15) / size)) : n, words = (n - head) / per;
  const uint4 *x = (const uint4 *)(a + head * size), *y = (const uint4 *)(b + head * size);
  gr_number<wide> stain = 0;
  auto put = [&](uint4 u, uint4 w) {
    if constexpr (half) {
      stain = gr_put_word<wide, dot, columns>(bins, gr_widen_half(make_uint2(u.x, u.y), t16),
                                              gr_widen_half(make_uint2(w.x, w.y), t16), stain, keep);
      stain = gr_put_word<wide, dot, columns>(bins, gr_widen_half(make_uint2(u.z, u.w), t16),
                                              gr_widen_half(make_uint2(w.z, w.w), t16), stain, keep);
    } else {
      stain = gr_put_word<wide, dot, columns>(bins, u, w, stain, keep);
    }
  };

  /* Bins are cleared while the first words come. */
  int64_t tile = (int64_t)flight * B::threads, whole = words / tile;
  if (gr_exact_tuning::tiles_share * whole <= gr_exact_tuning::blocks_share * blocks)
    whole = 0; /* rather a word for each thread than nothing for some blocks */
  uint4 wx[flight], wy[flight];
  auto load_tile = [&](int64_t t) {
#pragma unroll
    for (int i = 0; i < flight; i++) {
      wx[i] = __ldcs(x + t * tile + i * B::threads + threadIdx.x);
      wy[i] = dot ? __ldcs(y + t * tile + i * B::threads + threadIdx.x) : wx[i];
    }
  };
  int64_t w = whole * tile + (int64_t)block * B::threads + threadIdx.x;
  bool have = whole == 0;
  if (block < whole) load_tile(block);
  else if (have && w < words) wx[0] = x[w], wy[0] = dot ? y[w] : wx[0];
  constexpr int clear = gr_shelf<wide, dot, columns>::bins + 2 * B::rows;
  static_assert(clear % 4 == 0, "bins and carries are whole words of 16 bytes");
  for (int k = threadIdx.x; k < clear / 4; k += blockDim.x) ((uint4 *)bins)[k] = make_uint4(0, 0, 0, 0);
  __syncthreads();

#pragma unroll 1
  for (int64_t t = block; t < whole; t += blocks) {
    if (t != block) load_tile(t);
#pragma unroll
    for (int i = 0; i < flight; i++) put(wx[i], wy[i]);
  }
#pragma unroll 1
  for (; w < words; w += (int64_t)blocks * B::threads) {
    if (!have) wx[0] = x[w], wy[0] = dot ? y[w] : wx[0];
    have = false;
    put(wx[0], wy[0]);
  }
  /* What lies before and after the words. */
  int64_t rest = n - words * per;
#pragma unroll 1
  for (int64_t k = (int64_t)block * B::threads + threadIdx.x; k < rest; k += (int64_t)blocks * B::threads)
    stain += gr_put_one<wide, dot, columns>(bins, q.job, v, k < head ? k : k + words * per);
  gr_fold_bins<wide, dot, columns>(q, bins, __syncthreads_or(stain != stain));
}

/* ---- infinities and NaN, once some are known to be there ---- */

static __device__ unsigned gr_class_of(double x) {
  return x != x ? GR_EXACT_NAN : x - x == 0 ? 0 : x > 0 ? GR_EXACT_INF : GR_EXACT_MINUS;
}

__global__ void __launch_bounds__(gr_exact_tuning::specials_threads)
    gr_exact_specials(const __grid_constant__ gr_exact_args q) {
  const gr_exact_job &j = q.job;
  unsigned flags = 0;
  for (int64_t k = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; k < j.n; k += (int64_t)gridDim.x * blockDim.x) {
    double x, y = 1;
    if (j.dtype == GR_F64) {
      x = gr_from_bits64(gr_bits_of<true>(j.dtype, j.a, q.first, k, 0));
      if (j.kind == GR_EXACT_DOT) y = gr_from_bits64(gr_bits_of<true>(j.dtype, j.b, q.first, k, 0));
    } else {
      x = gr_from_bits32(gr_bits_of<false>(j.dtype, j.a, q.first, k, 0));
      if (j.kind == GR_EXACT_DOT) y = gr_from_bits32(gr_bits_of<false>(j.dtype, j.b, q.first, k, 0));
    }
    if (j.kind == GR_EXACT_SUMABS) x = fabs(x);
    if (x - x != 0 || y - y != 0) flags |= gr_class_of(x * y);
  }
  unsigned all = 0;
  for (unsigned f = 1; f < GR_EXACT_SOME; f *= 2)
    if (__syncthreads_or(flags & f)) all |= f;
  if (threadIdx.x == 0 && all) atomicOr((unsigned long long *)q.sums, all);
  if (!gr_last_block(q.counter, gridDim.x) || threadIdx.x) return;
  q.out[0] = *(volatile uint64_t *)q.sums;
  q.sums[0] = 0;
  gr_mailbox_end(q.done, q.ticket);
}

/* ---- launching ---- */

template <bool wide, bool half, bool dot, int columns>
static cudaError_t gr_launch_bins(gr_exact_args &q, int64_t blocks, const gr_cuda_run *run) {
  constexpr int threads = gr_bins<wide, dot>::threads;
  constexpr size_t bytes = gr_shelf<wide, dot, columns>::bytes;
  const void *kernel = (const void *)gr_exact_sum<wide, half, dot, columns>;
  if (run->batch)
    return gr_batch_add(run->batch, kernel, &q, sizeof q, blocks, threads, bytes, run->chip->major >= 9)
               ? cudaSuccess
               : cudaErrorInvalidValue;
  void *args[] = {&q};
  cudaError_t e = cudaSuccess;
  if (bytes > 47 << 10) e = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes);
  if (e != cudaSuccess) return e;
  return gr_start_early(kernel, args, (int32_t)blocks, threads, bytes, run->chip->major >= 9,
                        (cudaStream_t)run->stream);
}

/*
** Where each thread has a word at most, rather some more blocks; beyond, blocks of what is in flight. Few numbers of a
** block hardly ever meet, and fewer columns are sooner cleared and added up.
*/
template <bool wide, bool half, bool dot>
static cudaError_t gr_launch_exact(gr_exact_args &q, const gr_cuda_run *run) {
  using T = gr_exact_tuning;
  constexpr int many = T::columns, few = T::few_columns;
  const int64_t all = q.job.n * (wide ? 8 : 4), words = 16 * T::threads, sms = run->chip->sms;
  const int64_t each = all <= words * sms ? words / T::few_share : words * T::loads<dot>;
  int64_t blocks = q.each ? q.job.count : (all + each - 1) / each, most = sms * T::blocks_each;
  if (!q.each && blocks > (most < 255 ? most : 255)) blocks = most < 255 ? most : 255; /* gr_hand_over counts no more */
  if (blocks < 1) blocks = 1;
  bool roomy = gr_shelf<wide, dot, many>::bytes <= (size_t)run->chip->shared_optin;
  bool full = q.each || q.job.n > T::few_numbers * blocks;
  return roomy && full ? gr_launch_bins<wide, half, dot, many>(q, blocks, run)
                       : gr_launch_bins<wide, half, dot, few>(q, blocks, run);
}

static int gr_is_wide(gr_dtype t) { return t != GR_F16 && t != GR_BF16 && t != GR_F32; }

template <class B> static int gr_limbs_of(int *first) {
  *first = B::first;
  return B::limbs;
}
int gr_cuda_exact_limbs(const gr_exact_job *job, int *first) {
  if (gr_is_wide(job->dtype))
    return job->kind == GR_EXACT_DOT ? gr_limbs_of<gr_bins<true, true>>(first)
                                     : gr_limbs_of<gr_bins<true, false>>(first);
  return job->kind == GR_EXACT_DOT ? gr_limbs_of<gr_bins<false, true>>(first)
                                   : gr_limbs_of<gr_bins<false, false>>(first);
}

static gr_exact_args gr_args_of(const gr_exact_job *job, int64_t first, uint64_t *out, const gr_cuda_run *run) {
  gr_exact_args q;
  memset(&q, 0, sizeof q); /* graphs compare all bytes */
  q.job = *job;
  q.first = first;
  q.counter = (unsigned *)run->scratch->memory;
  q.sums = (uint64_t *)((char *)run->scratch->memory + 64);
  q.out = out;
  q.done = run->done;
  q.ticket = run->ticket;
  return q;
}

int gr_cuda_exact(const gr_exact_job *job, int64_t first, int each, uint64_t *out, const gr_cuda_run *run) {
  gr_exact_args q = gr_args_of(job, first, out, run);
  q.each = each;
  int dot = job->kind == GR_EXACT_DOT;
  if (gr_is_wide(job->dtype))
    return dot ? gr_launch_exact<true, false, true>(q, run) : gr_launch_exact<true, false, false>(q, run);
  if (job->dtype == GR_F32)
    return dot ? gr_launch_exact<false, false, true>(q, run) : gr_launch_exact<false, false, false>(q, run);
  return dot ? gr_launch_exact<false, true, true>(q, run) : gr_launch_exact<false, true, false>(q, run);
}

int gr_cuda_exact_specials(const gr_exact_job *job, int64_t first, uint64_t *out, const gr_cuda_run *run) {
  gr_exact_args q = gr_args_of(job, first, out, run);
  void *args[] = {&q};
  constexpr int threads = gr_exact_tuning::specials_threads, each = threads * gr_exact_tuning::specials_elements;
  int64_t blocks = (job->n + each - 1) / each, most = run->chip->sms * gr_exact_tuning::specials_blocks;
  if (blocks > most) blocks = most;
  return cudaLaunchKernel((const void *)gr_exact_specials, (unsigned)blocks, threads, args, 0,
                          (cudaStream_t)run->stream);
}
