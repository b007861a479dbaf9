/*
** Long scans: blocks stay and pass tiles through a ring in shared memory, and each warp has a part of its own: one
** takes and loads tiles, four add rows up, one publishes a tile's total, one adds up groups of tiles, one looks back
** and eight write results. The mbarriers of a slot count the warps that have done their part with it.
*/
#ifndef GR_CUDA_SCAN_RING_CUH
#define GR_CUDA_SCAN_RING_CUH

#include "kernels/cuda/block/ring.cuh"
#include "kernels/cuda/scan/rows.cuh"

#define GR_SCAN_THREADS ((4 + Tuning::ring_adders + Tuning::writers) * 32)

/* A slot of the ring: rows are apart, in front. */
template <class S> struct gr_scan_slot {
  typename S::Value row[GR_SCAN_ROWS]; /* totals, then what lies before each row in the tile */
  typename S::Value total, base;       /* of the tile; all that lies before it */
  unsigned tile;                       /* which it is: none is left when there are not so many */
  gr_mbarrier loaded, added, published, based, free;
};

/* Rows of a tile follow each other in a slot; in front of the ring each writer has room for results. */
template <class S>
struct gr_scan_ring : gr_ring<gr_scan_slot<S>, GR_SCAN_ROWS * gr_scan_shape<S>::In::bytes> {
  using Ring = gr_ring<gr_scan_slot<S>, GR_SCAN_ROWS * gr_scan_shape<S>::In::bytes>;
  __device__ __forceinline__ gr_scan_ring(char *memory, int count)
      : Ring(memory + Tuning::writers * gr_scan_shape<S>::results, count) {}
  __device__ __forceinline__ char *row(int r) const { return this->here() + r * gr_scan_shape<S>::In::bytes; }
};

/* A number in the ring, as the first lane reads it: who reads also says when it may be overwritten. */
template <class T> static __device__ __forceinline__ T gr_scan_share(const T &x, int lane) {
  T y = T();
  if (lane == 0) y = x;
  return __shfl_sync(~0u, y, 0);
}

/* A warp asks L2 for what lies from p to `last` bytes on. */
static __device__ __forceinline__ void gr_scan_announce_bytes(const char *p, int last, int lane) {
#pragma unroll 1
  for (int k = lane * 128; k <= last; k += 32 * 128) asm volatile("prefetch.global.L2 [%0];" : : "l"(p + k));
}

/*
** Narrow elements one by one are fetched by those who add up; here they are asked for ahead of them, into L2, unless
** too much of that is not wanted (sums of every other f16 222 -> 166 us, u8 247 -> 187).
*/
template <class S>
static __device__ __forceinline__ void gr_scan_announce(const gr_scan &q, int64_t at, gr_scan_layout lie, int lane) {
  constexpr int count = gr_scan_shape<S>::tile, most = Tuning::announced_bytes;
  if constexpr (sizeof(typename S::In) < 4 && 2 * count * (int)sizeof(typename S::In) <= most) {
    int64_t step = q.a_stride < 0 ? -q.a_stride : q.a_stride;
    if (lie != GR_SCAN_SINGLY || step > most / count) return;
    int last = (int)(q.n - at < count ? q.n - at : count) - 1, bytes = last * (int)step;
    gr_scan_announce_bytes(q.a + at * q.a_stride - (q.a_stride < 0 ? bytes : 0), bytes, lane);
  }
}

/* One warp takes tiles and asks for their elements, as soon as there is room: from here on nothing holds them up. */
template <class S>
static __device__ __forceinline__ void gr_scan_load(const gr_scan &q, gr_scan_ring<S> ring, int lane) {
  using In = typename S::In;
  using Shape = gr_scan_shape<S>;
  gr_scan_ring<S> behind = ring;
  gr_scan_layout lie = gr_scan_layout_of<In>(q.a, q.a_stride);
  int ahead = q.slots < Tuning::ring_ahead ? q.slots : Tuning::ring_ahead;
  for (unsigned tile = 0; tile < q.tiles; ring.step()) {
    gr_scan_slot<S> &slot = ring.slot();
    slot.free.wait(ring.at.last_lap());
    if (ahead > 0) {
      ahead--;
    } else {
      behind.slot().added.wait(behind.at.this_lap());
      behind.step();
    }
    if (lane == 0) slot.tile = tile = atomicAdd(q.next, 1);
    tile = __shfl_sync(~0u, tile, 0);
    int64_t at = (int64_t)tile * Shape::tile;
    if constexpr (S::formula) {
      if (tile < q.tiles) gr_scan_announce_formula<In, Shape::tile>(at, q.n - at, lane);
    } else if (gr_scan_whole(lie, q.n - at, Shape::tile))
      gr_scan_ask<In, Shape::each, Shape::tile>(ring.row(0), q.a + at * q.a_stride, lie, lane);
    else if (gr_scan_alone<In>(lie) && tile < q.tiles)
      gr_scan_gather<In, Shape::each, Shape::tile>(ring.row(0), q.a + at * q.a_stride, q.a_stride, q.n - at, lie,
                                                   lane);
    else if (tile < q.tiles)
      gr_scan_announce<S>(q, at, lie, lane);
    slot.loaded.arrive_fetched();
    slot.loaded.arrive();
  }
  /* The last block to end leaves the counters as it found them. */
  if (lane == 0 && atomicInc(q.next + 1, gridDim.x - 1) == gridDim.x - 1) *q.next = 0;
}

/* Four warps: rows' totals. Elements that one warp cannot ask for fast enough they fetch themselves. */
template <class S>
static __device__ __forceinline__ void gr_scan_add(const gr_scan &q, gr_scan_ring<S> ring, int warp, int lane) {
  using In = typename S::In;
  using Shape = gr_scan_shape<S>;
  constexpr int each = GR_SCAN_ROWS / Tuning::ring_adders;
  gr_scan_layout lie = gr_scan_layout_of<In>(q.a, q.a_stride);
  for (;; ring.step()) {
    gr_scan_slot<S> &slot = ring.slot();
    typename S::Value w[each];
    slot.loaded.wait(ring.at.this_lap());
    unsigned tile = gr_scan_share(slot.tile, lane);
    if (tile < q.tiles) {
      int64_t at = (int64_t)tile * Shape::tile;
      if constexpr (S::formula) {
        at += warp * each * Shape::row;
        gr_scan_make<In, Shape::each, each * Shape::row>(ring.row(warp * each), at, q.n - at, lane);
        __syncwarp();
      } else if (!gr_scan_alone<In>(lie) && !gr_scan_whole(lie, q.n - at, Shape::tile)) {
        at += warp * each * Shape::row;
        gr_scan_gather<In, Shape::each, each * Shape::row>(ring.row(warp * each), q.a + at * q.a_stride, q.a_stride,
                                                           q.n - at, lie, lane);
        gr_copies_wait();
        __syncwarp();
      }
#pragma unroll
      for (int k = 0; k < each; k++) {
        typename S::Value v[S::count];
        gr_scan_take<S>(v, ring.row(warp * each + k), lie == GR_SCAN_BACKWARD, q.flip, lane);
        w[k] = gr_scan_total<S>(v);
      }
      int which = gr_scan_totals<S>(w, lane);
      if (lane < each) slot.row[warp * each + which] = w[0];
    }
    slot.added.arrive();
    if (tile >= q.tiles) return;
    slot.free.arrive();
  }
}

/* One warp: what lies before each row of a tile, from the rows' totals; and the tile's total, for all to see. */
template <class S>
static __device__ __forceinline__ void gr_scan_publish(const gr_scan &q, gr_scan_ring<S> ring, int lane) {
  for (;; ring.step()) {
    gr_scan_slot<S> &slot = ring.slot();
    slot.added.wait(ring.at.this_lap());
    slot.loaded.wait(ring.at.this_lap());
    unsigned tile = gr_scan_share(slot.tile, lane);
    if (tile >= q.tiles) {
      if (lane < GR_SCAN_ROWS) slot.published.arrive();
      return;
    }
    typename S::Value r[1] = {slot.row[lane & (GR_SCAN_ROWS - 1)]};
    gr_scan_lanes<S, GR_SCAN_ROWS>(r, lane);
    if (lane == GR_SCAN_ROWS - 1) {
      gr_publish(&q.tile[tile], r[0], q.tag);
      slot.total = r[0];
    }
    r[0] = gr_scan_before<S>(r[0], lane);
    __syncwarp();
    if (lane < GR_SCAN_ROWS) {
      slot.row[lane] = r[0];
      slot.published.arrive();
    }
    if (lane == 0) slot.free.arrive();
  }
}

/* One warp adds up groups whose last tile is this block's, and the last of a superblock what lies before the next. */
template <class S>
static __device__ __forceinline__ void gr_scan_group(const gr_scan &q, gr_scan_ring<S> ring, int lane) {
  for (;; ring.step()) {
    ring.slot().loaded.wait(ring.at.this_lap());
    unsigned tile = gr_scan_share(ring.slot().tile, lane);
    if (tile >= q.tiles) return;
    if ((tile & 31) != 31) {
      if (lane == 0) ring.slot().free.arrive();
      continue;
    }
    const gr_halves *tiles[1] = {&q.tile[tile - 31 + lane]};
    const gr_halves *older[2] = {&q.group[(tile >> 10) * 32 + lane], &q.super[tile >> 10]};
    bool wanted[1] = {lane < 31}, needed[2] = {lane < 31, tile >> 10 > 0};
    typename S::Value v[1], w[2];
    gr_await(tiles, wanted, q.tag, S::identity(), v);
    ring.slot().published.wait(ring.at.this_lap());
    typename S::Value own = gr_scan_share(ring.slot().total, lane);
    if (lane == 31) v[0] = own;
    if (lane == 0) ring.slot().free.arrive();
    gr_scan_lanes<S, 32>(v, lane);
    if (lane == 31) gr_publish(&q.group[tile >> 5], v[0], q.tag);
    if ((tile & 1023) != 1023) continue;
    gr_await(older, needed, q.tag, S::identity(), w);
    if (lane < 31) v[0] = w[0];
    gr_scan_lanes<S, 32>(v, lane);
    if (lane == 31) gr_publish(&q.super[(tile >> 10) + 1], S::join(w[1], v[0]), q.tag);
  }
}

/* One warp looks back: each lane at a tile of its group and at a group of its superblock. */
template <class S>
static __device__ __forceinline__ void gr_scan_look(const gr_scan &q, gr_scan_ring<S> ring, int lane) {
  using Value = typename S::Value;
  for (;; ring.step()) {
    gr_scan_slot<S> &slot = ring.slot();
    slot.published.wait(ring.at.this_lap());
    slot.loaded.wait(ring.at.this_lap());
    unsigned tile = gr_scan_share(slot.tile, lane);
    if (tile >= q.tiles) {
      if (lane == 0) slot.based.arrive();
      return;
    }
    int in_group = (int)(tile & 31), in_super = (int)(tile >> 5 & 31);
    const gr_halves *at[3] = {&q.tile[tile - in_group + lane], &q.group[(tile >> 10) * 32 + lane],
                              &q.super[tile >> 10]};
    bool wanted[3] = {lane < in_group, lane < in_super, tile >> 10 > 0};
    Value found[3];
    gr_await(at, wanted, q.tag, S::identity(), found);
    Value v[2] = {found[0], found[1]}, s = found[2];
    gr_scan_lanes<S, 32>(v, lane);
    Value in = __shfl_sync(~0u, gr_scan_before<S>(v[0], lane), in_group);
    Value above = __shfl_sync(~0u, gr_scan_before<S>(v[1], lane), in_super);
    if (lane == 0) {
      slot.base = S::join(S::join(s, above), in);
      slot.based.arrive();
      slot.free.arrive();
    }
  }
}

/* Eight warps, two rows each: results. */
template <class S>
static __device__ __forceinline__ void gr_scan_put(const gr_scan &q, gr_scan_ring<S> ring, char *results, int warp,
                                                   int lane) {
  using Value = typename S::Value;
  using Out = typename S::Out;
  using Shape = gr_scan_shape<S>;
  constexpr int each = Shape::each;
  constexpr int together = Shape::results || S::count * sizeof(Value) > Tuning::paired_bytes ? 1 : 2; /* rows */
  bool back = gr_scan_layout_of<typename S::In>(q.a, q.a_stride) == GR_SCAN_BACKWARD;
  gr_scan_layout lie = gr_scan_layout_of<Out>(q.out, q.out_stride);
  for (;; ring.step()) {
    gr_scan_slot<S> &slot = ring.slot();
    slot.added.wait(ring.at.this_lap());
    slot.loaded.wait(ring.at.this_lap());
    unsigned tile = gr_scan_share(slot.tile, lane);
    if (tile >= q.tiles) return;
    Value base;
    int64_t at = (int64_t)tile * Shape::tile + warp * 2 * Shape::row;
    char *to = q.out + at * q.out_stride;
    bool whole = gr_scan_whole(lie, q.n - at, 2 * Shape::row);
#pragma unroll 1
    for (int first = warp * 2; first < warp * 2 + 2; first += together) {
      Value v[together][S::count], w[together];
#pragma unroll
      for (int r = 0; r < together; r++) {
        gr_scan_take<S>(v[r], ring.row(first + r), back, q.flip, lane);
        gr_scan_own<S>(v[r]);
        w[r] = S::fold(v[r][S::count - 1]);
      }
      gr_scan_lanes<S, 32>(w, lane);
      __syncwarp();
      /* not before there is nothing else to do; the second says what the first implies (racecheck) */
      if (first == warp * 2) {
        slot.based.wait(ring.at.this_lap());
        slot.published.wait(ring.at.this_lap());
        base = slot.base;
      }
#pragma unroll
      for (int r = 0; r < together; r++) {
        Value above = S::join(slot.row[first + r], gr_scan_before<S>(w[r], lane));
        gr_scan_give<S>(q, Shape::results ? results + warp * Shape::results : ring.row(first + r), v[r],
                        S::join(base, above), at + r * Shape::row == 0 && lane == 0, lane);
      }
      __syncwarp();
#pragma unroll
      for (int r = 0; r < together; r++) {
        gr_scan_write<Out, each>(Shape::results ? results + warp * Shape::results : ring.row(first + r), to,
                                 q.out_stride, whole, q.n - at, lie, lane);
        at += Shape::row;
        to += Shape::row * q.out_stride;
      }
      __syncwarp();
    }
    slot.free.arrive();
  }
}

/*
** Every warp has its part in the passage of tiles through the ring. Between taking a tile's number and publishing its
** total nothing waits for other blocks, or all would wait for the slowest over and over.
*/
template <class S>
static __device__ __forceinline__ void gr_scan_tiles(const gr_scan &q) {
  extern __shared__ __align__(128) char memory[];
  const int lane = threadIdx.x & 31, warp = gr_scan_warp();
  gr_scan_ring<S> ring(memory, q.slots);
  ring.init(threadIdx.x, [](gr_scan_slot<S> &slot) {
    slot.loaded.init(64);
    slot.added.init(Tuning::ring_adders * 32);
    slot.published.init(GR_SCAN_ROWS);
    slot.based.init(1);
    slot.free.init((Tuning::writers + Tuning::ring_adders) * 32 + 3);
  });
  __syncthreads();
  gr_await_earlier();
  gr_let_next_start(); /* it has room when blocks of this end */
  constexpr int first = 4, writers = first + Tuning::ring_adders; /* those that all wait for come first */
  if (warp == 0) gr_scan_load<S>(q, ring, lane);
  else if (warp == 1) gr_scan_publish<S>(q, ring, lane);
  else if (warp == 2) gr_scan_group<S>(q, ring, lane);
  else if (warp == 3) gr_scan_look<S>(q, ring, lane);
  else if (warp < writers) gr_scan_add<S>(q, ring, warp - first, lane);
  else gr_scan_put<S>(q, ring, memory, warp - writers, lane);
}
template <class S>
static __global__ void __launch_bounds__(GR_SCAN_THREADS, Tuning::ring_blocks)
    gr_scan_long(const __grid_constant__ gr_scan q) {
  gr_scan_tiles<S>(q);
}

#endif
