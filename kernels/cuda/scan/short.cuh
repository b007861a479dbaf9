/* Short scans: each tile has a block, and nothing is read twice. */
#ifndef GR_CUDA_SCAN_SHORT_CUH
#define GR_CUDA_SCAN_SHORT_CUH

#include "kernels/cuda/scan/rows.cuh"

/* Whether vectors are columns: the neighbour of an element in memory is another vector's. */
static __device__ __forceinline__ bool gr_scan_are_columns(int64_t step, int64_t stride) {
  return (step < 0 ? -step : step) < (stride < 0 ? -stride : stride);
}

template <class S> struct gr_scan_short_shared {
  using Shape = gr_scan_shape<S>;
  __align__(128) char rows[Tuning::writers][2][Shape::results ? Shape::results : Shape::In::bytes];
  typename S::Value total[GR_SCAN_ROWS], group[32];
};

/*
** Blocks wait for blocks before them alone, which the hardware starts first. Each adds up all groups of tiles before
** its own itself, a group a warp, rather than wait until somebody has. Of several vectors a tile's block looks back in
** its own; those of columns take turns, so that what one has brought to L2 serves its neighbours.
*/
template <class S>
static __device__ __forceinline__ void gr_scan_tile(const gr_scan &q) {
  using Value = typename S::Value;
  using In = typename S::In;
  using Out = typename S::Out;
  using Shape = gr_scan_shape<S>;
  constexpr int each = Shape::each;
  __shared__ gr_scan_short_shared<S> s;
  const int lane = threadIdx.x & 31, warp = gr_scan_warp();
  unsigned of = 0, tile_of = blockIdx.x;
  if (q.count > 1) {
    const unsigned count = (unsigned)q.count;
    const bool down = gr_scan_are_columns(q.a_step, q.a_stride);
    of = down ? blockIdx.x % count : blockIdx.x / q.tiles;
    tile_of = down ? blockIdx.x / count : blockIdx.x % q.tiles;
  }
  const int tile = (int)tile_of, mine = tile >> 5;
  const char *a = q.a + of * q.a_step;
  const int64_t at = (int64_t)tile * Shape::tile + warp * 2 * Shape::row;
  gr_scan_layout lie_in = gr_scan_layout_of<In>(a, q.a_stride);
  Value v[2][S::count], row[2], before[2], r[1], g[1];
  if (!q.inputs_stable) gr_await_earlier();
  if constexpr (S::formula)
    gr_scan_make<In, each, 2 * Shape::row>(s.rows[warp][0], at, q.n - at, lane);
  else if (gr_scan_whole(lie_in, q.n - at, 2 * Shape::row))
    gr_scan_ask<In, each, 2 * Shape::row>(s.rows[warp][0], a + at * q.a_stride, lie_in, lane);
  else if (at < q.n)
    gr_scan_gather<In, each, 2 * Shape::row>(s.rows[warp][0], a + at * q.a_stride, q.a_stride, q.n - at, lie_in, lane);
  gr_copies_wait();
  __syncwarp();
  gr_let_next_start(); /* all blocks have begun then, so that waiting ones take no place from them */
#pragma unroll
  for (int k = 0; k < 2; k++) {
    gr_scan_take<S>(v[k], s.rows[warp][0] + k * Shape::In::bytes, lie_in == GR_SCAN_BACKWARD, q.flip, lane);
    gr_scan_own<S>(v[k]);
    row[k] = S::fold(v[k][S::count - 1]);
  }
  gr_scan_lanes<S, 32>(row, lane);
#pragma unroll
  for (int k = 0; k < 2; k++) {
    if (lane == 31) s.total[warp * 2 + k] = row[k];
    before[k] = gr_scan_before<S>(row[k], lane);
  }
  __syncthreads();
  gr_await_earlier(); /* what is published may lie where they still look */
  r[0] = s.total[lane & (GR_SCAN_ROWS - 1)];
  gr_scan_lanes<S, GR_SCAN_ROWS>(r, lane);
  Value total = __shfl_sync(~0u, r[0], GR_SCAN_ROWS - 1);
  if (threadIdx.x == 0) gr_publish(&q.tile[of * q.tiles + tile], total, q.tag);
  r[0] = gr_scan_before<S>(r[0], lane);
  Value base = S::identity();
  if (tile > 0) {
    for (int k = warp; k <= mine; k += Tuning::writers) { /* of its own group: what lies before it */
      const gr_halves *at[1] = {&q.tile[of * q.tiles + k * 32 + lane]};
      bool wanted[1] = {k * 32 + lane < tile};
      gr_await(at, wanted, q.tag, S::identity(), g);
      gr_scan_lanes<S, 32>(g, lane);
      if (lane == (k < mine ? 31 : (tile & 31) - 1) || (lane == 0 && k * 32 == tile)) s.group[k] = g[0];
    }
    __syncthreads();
    g[0] = lane < mine ? s.group[lane] : S::identity();
    gr_scan_lanes<S, 32>(g, lane);
    base = S::join(__shfl_sync(~0u, gr_scan_before<S>(g[0], lane), mine), s.group[mine]);
  }
#pragma unroll
  for (int k = 0; k < 2; k++) {
    Value above = __shfl_sync(~0u, r[0], warp * 2 + k);
    gr_scan_give<S>(q, s.rows[warp][k], v[k], S::join(base, S::join(above, before[k])),
                    at == 0 && k == 0 && lane == 0, lane);
  }
  __syncwarp();
  char *out = q.out + of * q.out_step;
  gr_scan_layout lie_out = gr_scan_layout_of<Out>(out, q.out_stride);
  bool whole = gr_scan_whole(lie_out, q.n - at, 2 * Shape::row);
#pragma unroll 1
  for (int k = 0; k < 2; k++) {
    int64_t from = at + k * Shape::row;
    gr_scan_write<Out, each>(s.rows[warp][k], out + from * q.out_stride, q.out_stride, whole, q.n - from, lie_out,
                             lane);
  }
}
template <class S>
static __global__ void __launch_bounds__(Tuning::writers * 32, Tuning::short_blocks)
    gr_scan_short(const __grid_constant__ gr_scan q) {
  gr_scan_tile<S>(q);
}

#endif
