/*
** Scans of many columns side by side: a warp has 32 columns and goes down a tile's row of each, a lane of the scan
** after the other, so that it reads and writes 32 neighbours at a time. That is three launches: what each tile's row
** adds up to, what lies before it, and the results, for which elements are read once more.
*/
#ifndef GR_CUDA_SCAN_DOWN_CUH
#define GR_CUDA_SCAN_DOWN_CUH

#include "kernels/cuda/scan/scan.cuh"

template <class S> struct gr_scan_strips {
  gr_scan q;
  typename S::Value *above; /* by column, then row: its total; then what lies before it in the tile */
  typename S::Value *base;  /* by column, then tile: what lies before that */
  int64_t rows;             /* of a column */
};

/* Scans over 32 lanes whose totals come one by one: the last lower halves of 1, 2, 4, 8 and 16 lanes. */
template <class S> struct gr_scan_chain {
  typename S::Value lower[5];
  /* What lane number `lane` has after the scan. */
  __device__ __forceinline__ typename S::Value next(typename S::Value total, int lane) {
    bool whole = true; /* of a group so far */
#pragma unroll
    for (int s = 0; s < 5; s++) {
      if (lane >> s & 1) {
        total = S::join(lower[s], total);
      } else {
        if (whole) lower[s] = total;
        whole = false;
      }
    }
    return total;
  }
};

/* Which columns and which row of them a warp has; false: none. */
template <class S>
static __device__ __forceinline__ bool gr_scan_down_place(const gr_scan_strips<S> &d, int64_t *column, int64_t *row) {
  const int64_t strips = (d.q.count + 31) / 32;
  const int64_t unit = (blockIdx.x * (int64_t)Tuning::down_threads + threadIdx.x) / 32;
  *column = unit % strips * 32 + (threadIdx.x & 31);
  *row = unit / strips;
  return *column < d.q.count && *row < d.rows;
}

/* Goes down a row: body(lane of the scan, its values, how many are there). */
template <class S, class Body>
static __device__ __forceinline__ void gr_scan_down_each(const gr_scan &q, int64_t column, int64_t row,
                                                         const Body &body) {
  using In = typename S::In;
  constexpr int lanes = Tuning::down_lanes<(int)sizeof(In)>; /* that are read together */
  const int here = (int)min(q.n - row * GR_SCAN_DOWN_ROW, (int64_t)GR_SCAN_DOWN_ROW);
  const char *p = q.a + column * q.a_step + row * GR_SCAN_DOWN_ROW * q.a_stride;
#pragma unroll 1
  for (int lane = 0; lane * 8 < here; lane += lanes) {
    In x[lanes][8];
    const int left = here - lane * 8;
    if (left >= lanes * 8) {
#pragma unroll
      for (int k = 0; k < lanes * 8; k++) x[k / 8][k % 8] = *(const In *)(p + k * q.a_stride);
    } else {
#pragma unroll
      for (int k = 0; k < lanes * 8; k++) {
        x[k / 8][k % 8] = In();
        if (k < left) x[k / 8][k % 8] = *(const In *)(p + k * q.a_stride);
      }
    }
    p += lanes * 8 * q.a_stride;
#pragma unroll
    for (int m = 0; m < lanes; m++) {
      typename S::Value v[8];
      S::values(x[m], v, q.flip);
      if (left > m * 8) body(lane + m, v, left - m * 8);
    }
  }
}

template <class S>
static __global__ void __launch_bounds__(Tuning::down_threads, Tuning::down_blocks)
    gr_scan_down_totals(const __grid_constant__ gr_scan_strips<S> d) {
  using Value = typename S::Value;
  int64_t column, row;
  gr_scan_chain<S> chain;
  Value total = S::identity();
  if (!gr_scan_down_place(d, &column, &row)) return;
  gr_scan_down_each<S>(d.q, column, row, [&](int lane, Value(&v)[8], int) {
    total = chain.next(gr_scan_total<S>(v), lane);
  });
  d.above[column * d.rows + row] = total; /* of a row that is not whole nobody asks */
}

/*
** What lies before rows in their tile, and before tiles. A column has `lanes` lanes, one for each tile: part of a warp,
** or a block, whose warps have groups of 32 tiles.
*/
template <class S>
static __global__ void __launch_bounds__(Tuning::down_threads)
    gr_scan_down_before(const __grid_constant__ gr_scan_strips<S> d) {
  using Value = typename S::Value;
  constexpr int most = 32, warps = Tuning::down_threads / 32;
  __shared__ Value in[most][32], group[most];
  const int lane = (int)threadIdx.x & 31, warp = gr_scan_warp(), lanes = d.q.lanes, tiles = (int)d.q.tiles;
  const bool several = tiles > 32; /* groups: a block has one column */
  const int64_t column = several ? blockIdx.x : (blockIdx.x * (int64_t)Tuning::down_threads + threadIdx.x) / lanes;
  const int groups = (tiles + 31) / 32;
  Value *above = d.above + column * d.rows, *base = d.base + column * tiles;
  for (int g = several ? warp : 0; g < groups; g += several ? warps : groups) {
    const int tile = g * 32 + (lane & (lanes - 1));
    const bool there = column < d.q.count && tile < tiles;
    Value r[GR_SCAN_ROWS], t[1];
#pragma unroll
    for (int k = 0; k < GR_SCAN_ROWS; k++) {
      const int64_t row = (int64_t)tile * GR_SCAN_ROWS + k;
      r[k] = S::identity();
      if (there && row < d.rows) r[k] = above[row];
    }
    gr_scan_own<S>(r);
#pragma unroll
    for (int k = 0; k < GR_SCAN_ROWS; k++) {
      const int64_t row = (int64_t)tile * GR_SCAN_ROWS + k;
      if (there && row < d.rows) above[row] = k ? r[k - 1] : S::identity();
    }
    t[0] = r[GR_SCAN_ROWS - 1];
#pragma unroll 1
    for (int h = 1; h < lanes; h *= 2) {
      Value last = __shfl_sync(~0u, t[0], h - 1, 2 * h);
      if (lane & h) t[0] = S::join(last, t[0]);
    }
    Value before = __shfl_up_sync(~0u, t[0], 1);
    if ((lane & (lanes - 1)) == 0) before = S::identity();
    if (!several) {
      if (there) base[tile] = S::join(S::identity(), before);
      return;
    }
    in[g][lane] = before;
    if (lane == 31) group[g] = t[0];
  }
  __syncthreads();
  for (int g = warp; g < groups; g += warps) {
    const int tile = g * 32 + lane;
    Value x[1] = {lane < g ? group[lane] : S::identity()};
    gr_scan_lanes<S, 32>(x, lane);
    x[0] = __shfl_sync(~0u, gr_scan_before<S>(x[0], lane), g);
    if (tile < tiles) base[tile] = S::join(x[0], in[g][lane]);
  }
}

template <class S>
static __global__ void __launch_bounds__(Tuning::down_threads, Tuning::down_blocks)
    gr_scan_down_results(const __grid_constant__ gr_scan_strips<S> d) {
  using Value = typename S::Value;
  using Out = typename S::Out;
  const gr_scan &q = d.q;
  int64_t column, row;
  gr_scan_chain<S> chain;
  if (!gr_scan_down_place(d, &column, &row)) return;
  const Value above = d.above[column * d.rows + row], base = d.base[column * q.tiles + row / GR_SCAN_ROWS];
  char *out = q.out + column * q.out_step + row * GR_SCAN_DOWN_ROW * q.out_stride;
  Value before = S::identity();
  gr_scan_down_each<S>(q, column, row, [&](int lane, Value(&v)[8], int left) {
    Out y[8];
    Value own = S::join(base, S::join(above, before));
    gr_scan_own<S>(v);
    before = chain.next(v[7], lane);
#pragma unroll 1
    for (int turn = 0; turn < q.exclusive; turn++) {
#pragma unroll
      for (int k = 7; k > 0; k--) v[k] = v[k - 1];
      v[0] = S::identity();
      if constexpr (S::ordered)
        if (row == 0 && lane == 0) v[0] += 0.0;
    }
#pragma unroll
    for (int k = 0; k < 8; k++) v[k] = S::join(own, v[k]);
    S::results(v, y, q.flip);
#pragma unroll
    for (int k = 0; k < 8; k++)
      if (k < left) __stcs((Out *)(out + k * q.out_stride), y[k]);
    out += 8 * q.out_stride;
  });
}

template <class S> static cudaError_t gr_scan_start_strips(const gr_scan &q, const gr_scan_place &at) {
  using Value = typename S::Value;
  gr_scan_strips<S> d;
  d.q = q;
  d.rows = GR_SCAN_DOWN_ROWS(q.n);
  for (d.q.lanes = 1; d.q.lanes < 32 && d.q.lanes < (int)q.tiles;) d.q.lanes *= 2;
  d.above = (Value *)q.tile;
  d.base = d.above + q.count * d.rows;
  void *args[] = {&d};
  const int64_t units = (q.count + 31) / 32 * d.rows, warps = Tuning::down_threads / 32;
  const unsigned all = (unsigned)((units - 1) / warps + 1);
  const int64_t lookers = q.tiles > 32 ? q.count : (q.count * d.q.lanes - 1) / Tuning::down_threads + 1;
  cudaError_t e = cudaLaunchKernel((const void *)gr_scan_down_totals<S>, all, Tuning::down_threads, args, 0, at.stream);
  if (e == cudaSuccess)
    e = cudaLaunchKernel((const void *)gr_scan_down_before<S>, (unsigned)lookers, Tuning::down_threads, args, 0,
                         at.stream);
  if (e == cudaSuccess)
    e = cudaLaunchKernel((const void *)gr_scan_down_results<S>, all, Tuning::down_threads, args, 0, at.stream);
  /* Words that others publish lie here next: none of them may seem to be there. */
  const size_t bytes = (size_t)(q.count * (d.rows + q.tiles)) * sizeof(Value);
  return e == cudaSuccess ? cudaMemsetAsync(q.tile, 0, bytes, at.stream) : e;
}

#endif
