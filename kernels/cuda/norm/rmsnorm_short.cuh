/*
** RMSNorm of short rows, of which a warp has several: of up to a leaf that begin anywhere in a word (loose) and lie one
** behind the other, or of up to 2 KB of whole aligned words, any number of words apart. Rows are copied to shared
** memory by words, and lie one behind the other there. Squares are added up element by element, a row by as few threads
** as have 16 lanes of the tree each, since what one thread folds needs no exchange; results are made and written by
** words again, whose elements take the factor of the row that each is of.
*/
#ifndef GR_CUDA_NORM_RMSNORM_SHORT_CUH
#define GR_CUDA_NORM_RMSNORM_SHORT_CUH

#include "kernels/cuda/norm/rmsnorm_bytes.cuh"

typedef struct short_plan {
  int rows;             /* of a warp */
  int row_threads_log2; /* 2^that threads share a row */
  int apart_log2, turn; /* 2^that rows of a pass meet different banks; the next ones begin `turn` lanes later */
  int stage;            /* words of a warp in shared memory */
  uint32_t inverse;     /* of the elements of a row, times 2^31, rounded up */
} short_plan;

/*
** Sums of squares of `rows` rows that lie one behind the other from x on, into sums. Threads of different rows should
** meet different banks: of an odd n, or twice one, neighbouring rows of a thread each mostly do, and others do if those
** that are added up at once lie `passes` apart. turned: many rows begin in the same bank, so they begin at other lanes;
** no row has more elements than the tree has lanes.
*/
template <gr_dtype D, bool brain, bool turned>
static __device__ __forceinline__ void sums_of_short(row_factor<D> *sums, const loose_bytes &x, int rows, int n,
                                                     const short_plan &p, int lane) {
  constexpr int lanes = GR_LANES(gr_size<D>);
  const int log = p.row_threads_log2, t = lane & ((1 << log) - 1), group = lane >> log;
  const int m = turned ? (group >> p.apart_log2) * p.turn & (short_lanes / 2 - 1) : 0;
  const int passes = (rows + (31 >> log)) >> (5 - log);
  const int of_pass = log == 0 ? 32 : 1, of_group = log == 0 ? 1 : passes;
#pragma unroll 1
  for (int pass = 0; pass < passes; pass++) {
    const int own = pass * of_pass + group * of_group;
    const squares_of_row<D, brain> row = {x.elements<D>() + min(own, rows - 1) * n, n};
    double sum;
    if constexpr (turned) sum = row.template single<short_lanes, false, true>(t | m << log, 1 << log);
    else if (log == 5) sum = row.template several<lanes / 32>(t);
    else if (n > lanes) sum = row.template several<short_lanes>(t);
    else if (log > 0) sum = row.template single<short_lanes, true>(t, 1 << log);
    else if (n <= 4) sum = row.template single<4, false>(0, 1);
    else sum = row.template single<short_lanes, false>(0, 1);
    sum = sum_of_threads(sum, 1 << log);
    if (t == 0 && own < rows) sums[own].r = sum;
  }
}

/* Which row of a warp element e is of; neither is 2^15 or more. */
static __device__ __forceinline__ int row_of(int e, int n, const short_plan &p) {
  return e < n ? 0 : (int)__umulhi(2 * (uint32_t)e, p.inverse);
}

/* ---- rows of whole aligned words ---- */

template <gr_dtype D>
static __device__ __forceinline__ loose_bytes fetch_whole(uint4 *stage, const rmsnorm_args &q, const short_plan &p,
                                                          int64_t row, int bytes, int lane) {
  const int n = (int)q.n;
#pragma unroll(Tuning::fetched)
  for (int i = lane * 16; i < bytes; i += GR_ROW_BYTES) {
    const int own = row_of(i / gr_size<D>, n, p);
    gr_copy_async<16>(stage + i / 16, q.x + (row + own) * q.x_step + (i - own * n * gr_size<D>));
  }
  return {stage, 0};
}

/* A lane has the same weights again where rows, some at a time, are as long as a warp's words. */
template <gr_dtype D>
static __device__ __forceinline__ void scale_whole(const row_factor<D> *factors, const loose_bytes &x,
                                                   const rmsnorm_args &q, const short_plan &p, int64_t row, int bytes,
                                                   int lane) {
  const int n = (int)q.n;
  weights_word<D> w;
  int have = -1;
#pragma unroll 1
  for (int i = lane * 16; i < bytes; i += GR_ROW_BYTES) {
    const int own = row_of(i / gr_size<D>, n, p), at = i - own * n * gr_size<D>;
    one_factor<D> f;
    f.row = factors[own];
    if (q.w && at != have) w.set(__ldg((const uint4 *)(q.w + at)), q.brain), have = at;
    const uint4 y = scale_word<D>(x.word(i), f, q.w != NULL, w, q.brain);
    __stcg((uint4 *)(q.out + (row + own) * q.out_step + at), y);
  }
}

/* ---- loose rows ---- */

/* The weights of a word whose first element is number `at` of its row. */
template <gr_dtype D>
static __device__ __forceinline__ uint4 weights_from(const gr_type<D> *weights, int at, int n) {
  constexpr int C = per_word<D>;
  packed_word<D> weight;
  if (n >= C) {
#pragma unroll
    for (int c = 0; c < C; c++) weight.e[c] = weights[at + c - (c < n - at ? 0 : n)];
  } else {
#pragma unroll
    for (int c = 0; c < C; c++) {
      weight.e[c] = weights[at];
      if (++at == n) at = 0;
    }
  }
  return weight.word();
}

template <gr_dtype D>
static __device__ __forceinline__ void scale_loose(const row_factor<D> *factors, const loose_bytes &x,
                                                   const rmsnorm_args &q, const short_plan &p, int64_t row, int rows,
                                                   int bytes, int lane) {
  constexpr int size = gr_size<D>;
  const int n = (int)q.n;
  const gr_type<D> *weights = (const gr_type<D> *)q.w;
  char *to = q.out + row * q.out_step;
  const cut_bytes cut(to, bytes);
#pragma unroll 1
  for (int i = cut.head + lane * 16; i < cut.whole; i += GR_ROW_BYTES) {
    const int e = i / size, own = row_of(e, n, p), at = e - own * n;
    weights_word<D> w;
    if (q.w) w.set(weights_from<D>(weights, at, n), q.brain);
    uint4 y;
    if (n >= per_word<D>) {
      const two_factors<D> f = {{factors[own], factors[min(own + 1, rows - 1)]}, n - at};
      y = scale_word<D>(x.word(i), f, q.w != NULL, w, q.brain);
    } else {
      const many_factors<D> f = {factors + own, at, p.inverse};
      y = scale_word<D>(x.word(i), f, q.w != NULL, w, q.brain);
    }
    __stcg((uint4 *)(to + i), y);
  }
  const int edge = cut.edge(lane, size);
  if (edge < bytes) {
    const int e = edge / size, own = row_of(e, n, p);
    const gr_type<D> weight = q.w ? weights[e - own * n] : gr_type<D>();
    *(gr_type<D> *)(to + edge) = scale<D>(x.elements<D>()[e], factors[own].r, q.w != NULL, weight, q.brain);
  }
}

/* ---- the kernel ---- */

template <gr_dtype D, bool whole, bool turned>
static __global__ void __launch_bounds__(Tuning::short_warps * 32, Tuning::short_blocks)
    rmsnorm_short(const __grid_constant__ rmsnorm_args q, const __grid_constant__ short_plan p) {
  constexpr int size = gr_size<D>;
  static_assert(Tuning::short_bytes / size <= 1 << 15, "a row's number is a product (inverse)");
  extern __shared__ uint4 kept[];
  const int lane = threadIdx.x & 31, warp = gr_warp_index(), warps = blockDim.x >> 5, n = (int)q.n;
  const int64_t row = ((int64_t)blockIdx.x * warps + warp) * p.rows;
  const int rows = (int)max((int64_t)0, min((int64_t)p.rows, q.count - row)), bytes = rows * n * size;
  row_factor<D> *factors = (row_factor<D> *)(kept + warps * p.stage) + warp * p.rows;
  gr_start_reading(q.inputs_stable);
  if (rows == 0) return;
  const loose_bytes x = whole ? fetch_whole<D>(kept + warp * p.stage, q, p, row, bytes, lane)
                              : fetch_loose(kept + warp * p.stage, q.x + row * q.x_step, bytes, lane);
  gr_copies_wait();
  __syncwarp();
  if (D == GR_F16 && q.brain) sums_of_short<D, true, turned>(factors, x, rows, n, p, lane);
  else sums_of_short<D, false, turned>(factors, x, rows, n, p, lane);
  __syncwarp();
#pragma unroll 1
  for (int own = lane; own < rows; own += 32) factors[own].set(factor_of(q, factors[own].r));
  gr_await_earlier();
  __syncwarp();
  if constexpr (whole) scale_whole<D>(factors, x, q, p, row, bytes, lane);
  else scale_loose<D>(factors, x, q, p, row, rows, bytes, lane);
}

#endif
