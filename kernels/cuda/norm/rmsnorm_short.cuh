/*
** RMSNorm of rows of up to a leaf that begin anywhere in a word. A warp has several, if they lie one behind the other.
** Whole words of memory are copied to shared memory as they lie. Squares are added up element by element, a row by as
** few threads as have 16 lanes of the tree each, since what one thread folds needs no exchange; results are made and
** written by whole words again, whose elements take the factor of the row that each is of.
*/
#ifndef GR_CUDA_NORM_RMSNORM_SHORT_CUH
#define GR_CUDA_NORM_RMSNORM_SHORT_CUH

#include "kernels/cuda/norm/rmsnorm_bytes.cuh"

typedef struct short_plan {
  int rows;             /* of a warp */
  int row_threads_log2; /* 2^that threads share a row */
  int stage;            /* words of a warp in shared memory */
  uint32_t inverse;     /* of the elements of a row, times 2^31, rounded up */
} short_plan;

/*
** Sums of squares of `rows` rows that lie one behind the other from x on, into sums. Threads of different rows should
** meet different banks: of an odd n, or twice one, neighbouring rows of a thread each mostly do, and others do if those
** that are added up at once lie `passes` apart. Of rows of whole words, which come here where the first one begins
** within one, many meet at the same bank.
*/
template <gr_dtype D, bool brain>
static __device__ __forceinline__ void sums_of_short(row_factor<D> *sums, const loose_bytes &x, int rows, int n,
                                                     int log, int lane) {
  constexpr int lanes = GR_LANES(gr_size<D>);
  const int t = lane & ((1 << log) - 1), passes = (rows + (31 >> log)) >> (5 - log);
  const int of_pass = log == 0 ? 32 : 1, of_group = log == 0 ? 1 : passes;
#pragma unroll 1
  for (int pass = 0; pass < passes; pass++) {
    const int own = pass * of_pass + (lane >> log) * of_group;
    const squares_of_row<D, brain> row = {x.elements<D>() + min(own, rows - 1) * n, n};
    double sum;
    if (log == 5) sum = row.template several<lanes / 32>(t);
    else if (n > lanes) sum = row.template several<short_lanes>(t);
    else if (log > 0) sum = row.template single<short_lanes, true>(t, 1 << log);
    else if (n <= 4) sum = row.template single<4, false>(0, 1);
    else sum = row.template single<short_lanes, false>(0, 1);
    sum = sum_of_threads(sum, 1 << log);
    if (t == 0 && own < rows) sums[own].r = sum;
  }
}

template <gr_dtype D>
static __global__ void __launch_bounds__(Tuning::short_warps * 32, Tuning::short_blocks)
    rmsnorm_short(const __grid_constant__ rmsnorm_args q, const __grid_constant__ short_plan p) {
  constexpr int size = gr_size<D>, C = per_word<D>;
  static_assert(Tuning::short_bytes / size <= 1 << 15, "a row's number is a product (inverse)");
  extern __shared__ uint4 kept[];
  const int lane = threadIdx.x & 31, warp = gr_warp_index(), warps = blockDim.x >> 5, n = (int)q.n;
  const int64_t row = ((int64_t)blockIdx.x * warps + warp) * p.rows;
  const int rows = (int)max((int64_t)0, min((int64_t)p.rows, q.count - row)), bytes = rows * n * size;
  row_factor<D> *factors = (row_factor<D> *)(kept + warps * p.stage) + warp * p.rows;
  gr_start_reading(q.inputs_stable);
  if (rows == 0) return;
  const loose_bytes x = fetch_loose(kept + warp * p.stage, q.x + row * q.x_step, bytes, lane);
  gr_copies_wait();
  __syncwarp();
  if (D == GR_F16 && q.brain) sums_of_short<D, true>(factors, x, rows, n, p.row_threads_log2, lane);
  else sums_of_short<D, false>(factors, x, rows, n, p.row_threads_log2, lane);
  __syncwarp();
#pragma unroll 1
  for (int own = lane; own < rows; own += 32) factors[own].set(factor_of(q, factors[own].r));
  gr_await_earlier();
  __syncwarp();

  char *to = q.out + row * q.out_step;
  const gr_type<D> *weights = (const gr_type<D> *)q.w;
  auto row_of = [&](int e) { return e < n ? 0 : (int)__umulhi(2 * (uint32_t)e, p.inverse); }; /* e / n: both < 2^15 */
  const cut_bytes cut(to, bytes);
#pragma unroll 1
  for (int i = cut.head + lane * 16; i < cut.whole; i += GR_ROW_BYTES) {
    const int e = i / size, own = row_of(e), at = e - own * n;
    packed_word<D> weight = {};
    weights_word<D> w;
    if (q.w) {
      if (n >= C) {
#pragma unroll
        for (int c = 0; c < C; c++) weight.e[c] = weights[at + c - (c < n - at ? 0 : n)];
      } else {
        int k = at;
#pragma unroll
        for (int c = 0; c < C; c++) {
          weight.e[c] = weights[k];
          if (++k == n) k = 0;
        }
      }
      w.set(weight.word(), q.brain);
    }
    uint4 y;
    if (n >= C) {
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
    const int e = edge / size, own = row_of(e);
    const gr_type<D> weight = q.w ? weights[e - own * n] : gr_type<D>();
    *(gr_type<D> *)(to + edge) = scale<D>(x.elements<D>()[e], factors[own].r, q.w != NULL, weight, q.brain);
  }
}

#endif
