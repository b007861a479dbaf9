/*
** Many long rows: blocks stay and pass leaves through slots of a ring in shared memory. Rows are cut into pieces,
** which blocks take in turn, so that all are at the same few rows: some warps fetch leaves, some add up squares, one
** publishes what a piece comes to, two gather what all pieces of a row came to, the rest writes results. Gathering
** takes some microseconds, for which the ring holds enough; what counts is that a row's pieces are gathered while those
** of the next are fetched.
*/
#ifndef GR_CUDA_NORM_RMSNORM_RING_CUH
#define GR_CUDA_NORM_RMSNORM_RING_CUH

#include "kernels/cuda/norm/rmsnorm.cuh"

constexpr int ring_loaders = gr_norm_tuning::ring_loaders, ring_gatherers = gr_norm_tuning::ring_gatherers,
              ring_adders = gr_norm_tuning::ring_adders, ring_writers = gr_norm_tuning::ring_writers,
              ring_warps = ring_loaders + 1 + ring_gatherers + ring_adders + ring_writers;

struct ring_slot {
  gr_mbarrier full, added, taken, ready, free;
  double sum, factor; /* of the leaf; and of a piece's row: ready and factor are those of pieces, in turns */
};
struct ring_plan {
  int leaves, pieces, last; /* of a piece, a power of two; of a row; of its last piece */
  int blocks, on_rows, on_pieces; /* a block's next piece lies so far on */
  int slots; /* of a ring: a multiple of the warps that fetch and that add up. Each slot is always the same warp's,
                which then cannot take an mbarrier's phase for the next but one; so, no fewer than warps that write. */
  gr_tag tag;
  gr_halves *partials; /* for each piece its sum */
};
template <gr_dtype D>
using row_ring = gr_ring<ring_slot, leaf_bytes<D>>;
/* A warp on its way through rows, pieces and leaves. */
template <gr_dtype D>
struct ring_walk : row_ring<D> {
  const ring_plan &p;
  int64_t row;
  int piece, leaf;     /* of the row; of the piece */
  gr_ring_cursor turn; /* where numbers of the piece are, in a ring of their own of as many slots */

  __device__ __forceinline__ ring_walk(char *memory, const ring_plan &p)
      : row_ring<D>(memory, p.slots), p(p), row(blockIdx.x / (unsigned)p.pieces),
        piece((int)(blockIdx.x % (unsigned)p.pieces)), leaf(0), turn{0, 0} {}
  __device__ __forceinline__ int own() const { return piece + 1 < p.pieces ? p.leaves : p.last; }
  __device__ __forceinline__ void next_piece() {
    row += p.on_rows;
    piece += p.on_pieces;
    if (piece >= p.pieces) piece -= p.pieces, row++;
    turn.step(p.slots);
  }
  /* On by so many leaves. */
  __device__ __forceinline__ void on(int by) {
    leaf += by;
    this->step(by);
    for (int all; leaf >= (all = own()); next_piece()) leaf -= all;
  }
  /* Bytes of the row before this lane's first word of the leaf; that word. */
  __device__ __forceinline__ int64_t offset(int lane) const {
    return ((int64_t)piece * p.leaves + leaf) * leaf_bytes<D> + lane * 16;
  }
  __device__ __forceinline__ uint4 *word(int lane) const { return (uint4 *)this->here() + lane; }
};

template <gr_dtype D>
static __global__ void __launch_bounds__(ring_warps * 32, 1)
    rmsnorm_ring(const __grid_constant__ rmsnorm_args q, const __grid_constant__ ring_plan p) {
#if __CUDA_ARCH__ >= 900
  using R = gr_in_f64<GR_RED_SUMSQ, D>;
  constexpr int words = GR_LEAF_ROWS(gr_size<D>), whole = leaf_bytes<D>;
  extern __shared__ uint4 memory[];
  int lane = threadIdx.x & 31, warp = gr_warp_index();
  int64_t bytes = q.n * gr_size<D>;
  ring_walk<D> k((char *)memory, p);
  k.init(threadIdx.x,
         [](ring_slot &x) { x.full.init(32), x.added.init(32), x.taken.init(32), x.ready.init(2), x.free.init(32); });
  __syncthreads();
  gr_start_reading(q.inputs_stable);
  if (warp < ring_loaders) {
    for (k.on(warp); k.row < q.count; k.on(ring_loaders)) {
      int64_t at = k.offset(lane);
      const char *from = q.x + k.row * q.x_step + at;
      uint4 *mine = k.word(lane);
      k.slot().free.wait(k.at.last_lap());
#pragma unroll
      for (int i = 0; i < words; i++)
        if (at + i * GR_ROW_BYTES < bytes) gr_copy_async<16>(mine + i * 32, from + i * GR_ROW_BYTES);
      k.slot().full.arrive_fetched();
    }
    gr_copies_wait();
  } else if (warp == ring_loaders) {
    gr_await_earlier();
    for (; k.row < q.count; k.on(k.own())) {
      int own = k.own();
      gr_acc all = R::identity();
      gr_ring_cursor at = k.at;
      for (int i = 0; i < own; i++, at.step(p.slots)) {
        ring_slot &x = k.slots[at.slot];
        x.added.wait(at.this_lap());
        if (lane == i) all.f[0] = x.sum;
        x.taken.arrive();
      }
      __syncwarp();
      all = gr_fold_adjacent<R>(all, 32);
      if (lane == 0) {
        gr_publish(p.partials + (k.row * p.pieces + k.piece), all.f[0], p.tag);
        k.slots[k.turn.slot].ready.arrive();
      }
    }
  } else if (warp <= ring_loaders + ring_gatherers) {
    for (int i = ring_loaders + 1; i < warp; i++) k.next_piece();
    while (k.row < q.count) {
      double sum = gather_blocks<true>(p.partials + k.row * p.pieces, p.pieces, p.tag, lane);
      if (lane == 0) {
        k.slots[k.turn.slot].factor = factor_of(q, sum);
        k.slots[k.turn.slot].ready.arrive();
      }
      for (int i = 0; i < ring_gatherers; i++) k.next_piece();
    }
  } else if (warp <= ring_loaders + ring_gatherers + ring_adders) {
    for (k.on(warp - ring_loaders - ring_gatherers - 1); k.row < q.count; k.on(ring_adders)) {
      int64_t left = bytes - k.offset(lane);
      const uint4 *mine = k.word(lane);
      double s[per_word<D>];
      start_squares<D>(s);
      k.slot().full.wait(k.at.this_lap());
      if (left > whole - GR_ROW_BYTES) {
#pragma unroll
        for (int i = 0; i < words; i++) add_squares<D>(s, mine[i * 32], q.brain);
      } else {
#pragma unroll 1
        for (int i = 0; i * GR_ROW_BYTES < left; i++) add_squares<D>(s, mine[i * 32], q.brain);
      }
      double folded = fold_squares<D>(s, lane);
      /* long since: so that one mbarrier orders both accesses, not a chain of four */
      k.slot().taken.wait(k.at.last_lap());
      if (lane == 0) k.slot().sum = folded;
      k.slot().added.arrive();
    }
  } else {
    gr_await_earlier();
    for (k.on(warp - (ring_warps - ring_writers)); k.row < q.count; k.on(ring_writers)) {
      int64_t at = k.offset(lane);
      const uint4 *mine = k.word(lane), *weights = (const uint4 *)(q.w + at);
      uint4 *to = (uint4 *)(q.out + k.row * q.out_step + at);
      k.slots[k.turn.slot].ready.wait(k.turn.this_lap());
      const one_factor<D> factor = {{k.slots[k.turn.slot].factor}};
      k.slot().full.wait(k.at.this_lap());
#pragma unroll(Tuning::ring_writer_words)
      for (int i = 0; i < words; i++)
        if (at + i * GR_ROW_BYTES < bytes) {
          weights_word<D> w;
          if (q.w) w.set(__ldg(weights + i * 32), q.brain);
          __stcg(to + i * 32, scale_word<D>(mine[i * 32], factor, q.w != NULL, w, q.brain));
        }
      k.slot().free.arrive();
    }
  }
#endif
}

#endif
