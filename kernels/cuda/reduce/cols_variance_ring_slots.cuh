/* The ring of reduce/cols_variance_ring.cuh: its shape by the size of elements, and how slots are filled and found. */
#ifndef GR_CUDA_REDUCE_COLS_VARIANCE_RING_SLOTS_CUH
#define GR_CUDA_REDUCE_COLS_VARIANCE_RING_SLOTS_CUH

#include "kernels/cuda/block/ring.cuh"
#include "kernels/cuda/block/tma.cuh"
#include "kernels/cuda/grid/combine.cuh"
#include "kernels/cuda/reduce/tuning.h"
#include "kernels/cuda/thread/load.cuh"

constexpr int gr_variance_threads = gr_variance_warps * 32 + 64;
template <class R>
constexpr bool gr_has_cols_variance_ring = R::lanes && R::variance;
/* What warps leave of the first pass, in doubles: rows, of which neighbours begin at another bank. */
constexpr int gr_variance_pitch = 33, gr_variance_parts = gr_variance_warps * gr_variance_pitch;
/* A unit for the writer: of 32 columns two doubles and a count, and a double of each thread that reads. */
constexpr int gr_variance_unit_bytes = 32 * (2 * 8 + 4 + gr_variance_warps * 8);
/* All these, and counts of elements by bytes. */
template <bool counts>
constexpr int gr_variance_part_bytes =
    gr_variance_units * gr_variance_unit_bytes + gr_variance_parts * 8 + (counts ? gr_variance_warps * 32 : 0);

/* What of it follows from the size of elements alone; the host needs it too. */
template <int size>
struct gr_variance_shape {
  static constexpr int log_words = size == 2   ? 1
                                   : size == 4 ? 2
                                               : 3,           /* of threads side by side */
      joint = size == 2,                                      /* all warps share a ring */
      words = joint ? 1 : 2,                                  /* of a thread, so many apart */
      each = 16 / size, C = each * words,                     /* columns of a word, of a thread */
      low = joint, log_top = 5 - log_words - low,             /* bits of the lane in a warp */
      slot_bytes = joint ? gr_variance_warps * gr_variance_slot_bytes : gr_variance_slot_bytes,
                       rows = GR_LEAF_ROWS(size), leaf_rows = GR_LEAF(size), lanes = GR_LANES(size),
                       /* near: rows that warps share. */
      near = joint ? lanes : gr_variance_warps, tile_near = joint ? lanes : 1, row_bytes = 512 * words,
                       batch = gr_variance_slot_bytes / row_bytes, tile_rows = joint ? 1 : batch << log_top,
                       leaf_slots = rows / batch, log_all = log_words + words - 1;
  static_assert(1 << log_top == C && leaf_slots * batch == rows, "a column for each thread");
  static_assert(!joint || gr_reduce_shares::ring_row >= 16 << log_all, "a strip has one leaf");
};
struct gr_variance_numbers {
  int size, near, tile_near, tile_rows, log_all, leaf_rows;
};
template <int size>
constexpr gr_variance_numbers gr_variance_numbers_for = {size,
                                                         gr_variance_shape<size>::near,
                                                         gr_variance_shape<size>::tile_near,
                                                         gr_variance_shape<size>::tile_rows,
                                                         gr_variance_shape<size>::log_all,
                                                         gr_variance_shape<size>::leaf_rows};
static inline gr_variance_numbers gr_variance_numbers_of(int size) {
  return size == 2 ? gr_variance_numbers_for<2> : size == 4 ? gr_variance_numbers_for<4> : gr_variance_numbers_for<8>;
}
template <int size, int fields, bool counts>
constexpr unsigned gr_variance_bytes =
    gr_variance_slots *gr_variance_warps *(gr_variance_slot_bytes + 8) + gr_variance_part_bytes<counts> +
    gr_variance_states *(gr_variance_shape<size>::each << gr_variance_shape<size>::log_all) * fields * 8;

/* Where a thread is, and which rows its lane has. */
template <int size>
struct gr_variance_thread {
  using S = gr_variance_shape<size>;
  int w, lane, top, wide;
  int full, last, last_rows; /* whole leaves; of the next one: rows of this lane, and all */
  /* Of 4-byte elements the bits of top are reversed, so that neighbouring threads of a quarter warp read different
     halves of a swizzled row. It is its own inverse. */
  static __device__ __forceinline__ constexpr int turned(int top) {
    return size == 4 ? (top & 1) << 2 | (top & 2) | top >> 2 : top;
  }
  static __device__ __forceinline__ constexpr int thread_of(int top) { return turned(top) << (S::log_words + S::low); }
  __device__ __forceinline__ explicit gr_variance_thread(const gr_reduce_args &q)
      : wide(q.cols_variance_ring.words_log2) {
    int t = threadIdx.x & 31;
    w = t & ((1 << S::log_words) - 1);
    top = turned(t >> (S::log_words + S::low));
    lane = (t >> S::log_words & ((1 << S::low) - 1)) | (int)(threadIdx.x >> 5) << S::low | top << (S::low + 4);
    full = (int)(q.job.n / S::leaf_rows);
    last_rows = (int)(q.job.n - (int64_t)full * S::leaf_rows);
    last = (last_rows - lane + S::lanes - 1) / S::lanes;
  }
  __device__ __forceinline__ int chunk(int p) const { return w + (p << S::log_words); }
  __device__ __forceinline__ int sub(int p) const { return chunk(p) >> wide; }
  __device__ __forceinline__ int word(int p) const { return chunk(p) & ((1 << wide) - 1); }
  /* Of the one column that is left in the end: its word. */
  __device__ __forceinline__ int mine() const { return S::words == 2 ? top >> (S::log_top - 1) : 0; }
  __device__ __forceinline__ int column() const { return word(mine()) * S::each + (top & (S::each - 1)); }
  __device__ __forceinline__ int rows_of(int leaf) const {
    return leaf < full ? S::leaf_rows : leaf == full ? last_rows : 0;
  }
  __device__ __forceinline__ int there_of(int leaf) const { return leaf < full ? S::rows : leaf == full ? last : 0; }
  /* Whether this lane's last row of the leaf lies behind the last group of `near` rows, where the map has these. */
  __device__ __forceinline__ bool is_behind(int leaf) const {
    const int row = lane + (last - 1) * S::lanes;
    return !S::joint && wide == S::log_all && leaf == full && last > 0 && row >= last_rows / S::near * S::near;
  }
};

/* The runs of leaves that a block takes: each makes a node. */
template <int size>
struct gr_variance_walk {
  unsigned run, node, group;
  int leaf, end;
  __device__ __forceinline__ bool start(const gr_reduce_args &q, unsigned which) {
    run = which;
    unsigned groups = (unsigned)((q.job.count * size + (16 << q.cols_variance_ring.words_log2) - 1) >>
                                 (4 + q.cols_variance_ring.words_log2));
    node = run / groups;
    group = run - node * groups;
    leaf = (int)(node << q.cols_variance_ring.node_leaves_log2);
    end = (int)min(leaf + ((int64_t)1 << q.cols_variance_ring.node_leaves_log2), q.leaves);
    return node < (unsigned)q.nodes;
  }
  /* The next unit: leaves side by side. */
  __device__ __forceinline__ bool next(const gr_reduce_args &q) {
    leaf += 1 << q.cols_variance_ring.leaves_log2;
    return leaf < end || start(q, run + gridDim.x);
  }
};

/*
** A barrier of the block by its number: of the readers alone, or of them and the writer, of whom one side only arrives.
** Means have been settled; a slot is free: the writer arrives once for each slot before the first unit, then whenever
** it has read a unit, and readers wait there before they write to a slot, and once more for each in the end; the unit
** in a slot is done: the readers arrive.
*/
struct gr_variance_barrier {
  int number, warps;
  __device__ __forceinline__ void wait() const {
    asm volatile("bar.sync %0, %1;" ::"r"(number), "r"(warps * 32) : "memory");
  }
  __device__ __forceinline__ void arrive() const {
    asm volatile("bar.arrive %0, %1;" ::"r"(number), "r"(warps * 32) : "memory");
  }
};
__device__ __forceinline__ gr_variance_barrier gr_variance_settled() { return {1, gr_variance_warps}; }
__device__ __forceinline__ gr_variance_barrier gr_variance_free(int slot) { return {2 + slot, gr_variance_warps + 1}; }
__device__ __forceinline__ gr_variance_barrier gr_variance_done(int slot) {
  return {2 + gr_variance_units + slot, gr_variance_warps + 1};
}
__device__ __forceinline__ int gr_variance_next(int slot) { return slot + 1 == gr_variance_units ? 0 : slot + 1; }

/*
** A ring: of each warp, which asks for its own rows; or of all, for which one more warp asks when all are done with a
** slot, in tiles of neighbouring rows (rows of 32 bytes: fewer tiles, and pages are met once). The map has columns,
** leaves, `near` rows, groups of such in a leaf: whole leaves alone, of which some lie side by side. Where a strip has
** one leaf, the map has the groups of all leaves, or, where all warps share a ring, all rows: then zeros come for what
** is behind the last. A row behind the last group is brought by the thread that reads it (is_behind).
*/
template <bool joint>
struct gr_variance_slot {
  gr_mbarrier filled;
};
template <>
struct gr_variance_slot<true> {
  gr_mbarrier filled, free;
};

template <int size>
struct gr_variance_ring
    : gr_ring<gr_variance_slot<gr_variance_shape<size>::joint>, gr_variance_shape<size>::slot_bytes> {
  using S = gr_variance_shape<size>;
  using Slot = gr_variance_slot<S::joint>;
  using Ring = gr_ring<Slot, S::slot_bytes>;
  using Ring::data;
  using Ring::slots;
  const gr_reduce_args &q;
  const gr_variance_thread<size> &t;
  const gr_tensor_map &map;
  gr_variance_walk<size> walk;
  int safe;
  bool more;
  __device__ __forceinline__ gr_variance_ring(const gr_reduce_args &q, const gr_variance_thread<size> &t,
                                              const gr_tensor_map &map, char *shared)
      : Ring(shared + own_slots() * gr_variance_slot_bytes,
             (Slot *)(shared + gr_variance_slots * gr_variance_warps * gr_variance_slot_bytes) + own_slots(),
             gr_variance_slots),
        q(q), t(t), map(map) {
    const int beside = q.cols_variance_ring.leaves_log2;
    safe = t.last_rows > 0 && beside > 0 ? t.full - (1 << beside) : INT32_MAX;
    if constexpr (!S::joint) {
      this->init(threadIdx.x & 31, [](Slot &slot) { slot.filled.init(1); });
      more = walk.start(q, blockIdx.x);
#pragma unroll 1
      for (int s = 0; s < gr_variance_slots; s++) release(s, s & (S::leaf_slots - 1));
    }
  }
  /* Slots of the warps before this one, if each has its own. */
  static __device__ __forceinline__ int own_slots() {
    return S::joint ? 0 : (int)(threadIdx.x >> 5) * gr_variance_slots;
  }
  /* This warp is done with a slot, into which goes part i of a unit's rows. */
  __device__ __forceinline__ void release(int s, int i) {
    __syncwarp();
    if constexpr (S::joint) {
      if ((threadIdx.x & 31) == 0) slots[s].free.arrive();
    } else if (more) {
      ask(s, i);
      if (i == S::leaf_slots - 1) more = walk.next(q);
    }
  }
  __device__ __forceinline__ void ask(int s, int i) {
    if (i == 0 && t.is_behind(walk.leaf)) bring<true>(s, walk, t.last - 1);
    if (walk.leaf > safe && walk.leaf <= t.full) {
      copy(s, i);
    } else if ((threadIdx.x & 31) == 0) {
      int x = (int)q.first + (int)(walk.group << q.cols_variance_ring.words_log2) * S::each;
      const bool beside = q.cols_variance_ring.leaves_log2 > 0;
      const int y = beside ? walk.leaf : 0, group = (beside ? 0 : walk.leaf) * (S::leaf_rows / S::near);
      slots[s].filled.expect(S::slot_bytes);
#pragma unroll
      for (int r = 0; r < (S::joint ? S::batch : 1); r++)
        gr_copy_tile(data + s * S::slot_bytes + r * (S::slot_bytes / S::batch), map, x, y,
                     S::joint ? (group + i * S::batch + r) * S::near : (int)(threadIdx.x >> 5),
                     S::joint ? 0 : group + i * S::tile_rows, slots[s].filled);
    }
  }
  /* The same by hand, where leaves lie side by side and the last one is not whole. */
  __device__ __forceinline__ void copy(int s, int i) {
    const char *matrix = (const char *)q.job.a.data + q.first * size;
#pragma unroll 1
    for (int p = 0; p < S::words; p++) {
      int leaf = walk.leaf + t.sub(p), there = t.there_of(leaf) - i * S::batch;
      int64_t column = (((int64_t)walk.group << q.cols_variance_ring.words_log2) + t.word(p)) * 16;
      const char *from =
          matrix + column + ((int64_t)leaf * S::leaf_rows + i * S::batch * S::lanes + t.lane) * q.job.a.stride;
#pragma unroll 1
      for (int r = 0; r < S::batch; r++, from += q.job.a.stride * S::lanes)
        if (column < q.job.count * size && r < there) *word(s, r, p) = gr_load16(from);
    }
    gr_order_before_tma();
    __syncwarp();
    if ((threadIdx.x & 31) == 0) slots[s].filled.arrive();
  }
  /* What the warp does that asks for all. */
  __device__ __forceinline__ void serve() {
#pragma unroll 1
    for (more = walk.start(q, blockIdx.x); more; more = walk.next(q))
#pragma unroll 1
      for (int i = 0; i < S::leaf_slots; i++, this->step()) {
        this->slot().free.pass(this->at.last_lap());
        ask(this->at.slot, i);
        __syncwarp();
      }
  }
  __device__ __forceinline__ void prepare() const {
    this->init(threadIdx.x, [](Slot &slot) {
      slot.filled.init(1);
      slot.free.init(gr_variance_warps);
    });
    __syncthreads();
  }
  /* Brings this thread's words of a row that the map has not to their place in a slot; early: only asks L2 for them. */
  template <bool early = false>
  __device__ __forceinline__ void bring(int s, const gr_variance_walk<size> &at, int row) const {
#pragma unroll
    for (int p = 0; p < S::words; p++) {
      const int64_t column = (((int64_t)at.group << q.cols_variance_ring.words_log2) + t.word(p)) * 16;
      const char *from = (const char *)q.job.a.data + q.first * size + column +
                         ((int64_t)at.leaf * S::leaf_rows + t.lane + (int64_t)row * S::lanes) * q.job.a.stride;
      if (column >= q.job.count * size) continue;
      if (early) asm volatile("prefetch.global.L2 [%0];" ::"l"(from));
      else *word(s, row % S::batch, p) = gr_load16(from);
    }
    if (!early) gr_order_before_tma();
  }
  /* This thread's word; rows of 128 bytes are swizzled where they are one piece. */
  __device__ __forceinline__ uint4 *word(int s, int r, int p) const {
    const bool swizzled = size == 4 && t.wide == S::log_all;
    int place = S::joint ? t.lane * 32 + t.w * 16
                         : (t.top << (S::log_all + 4)) + (t.chunk(p) ^ (swizzled ? t.top : 0)) * 16;
    return (uint4 *)(data + s * S::slot_bytes + r * (S::joint ? S::slot_bytes / S::batch : S::row_bytes) + place);
  }
};

#endif
