/*
** Variances of columns, where rows are aligned (Hopper and later): everything is read once. One block stays on each
** multiprocessor. Each of 16 warps has a ring in shared memory, which TMA fills; a leaf stays there until the
** deviations are added up too, and each slot that is done with makes room for leaves to come, so memory never rests. A
** thread has one lane of the tree, of one or two 16-byte words of columns, so warps wait for each other only between
** the passes over a leaf: until all sums are there, and until means are made of them. One more warp makes states of
** leaves and nodes, up to gr_variance_units behind.
**
** Bits of a thread in its warp, from the lowest: the word, perhaps the lowest bit of the lane, its highest ones; the
** others are the warp. The highest fold first, by trades after which a thread has one column; then warps, in shared
** memory; then the lowest. Where a matrix is narrow, words are of leaves beside each other. Where NaN is left out,
** counts of elements go the same way as their sums, a byte each. A column's mean is made once, by half a warp for all
** warps.
*/
#ifndef GR_CUDA_REDUCE_COLS_VARIANCE_RING_CUH
#define GR_CUDA_REDUCE_COLS_VARIANCE_RING_CUH

#include "kernels/cuda/reduce/cols_variance_ring_slots.cuh"

/* x of a 16-bit float in the upper half of u, as gr_from_mean has it: times a power of two, and that power. */
template <gr_dtype D>
__device__ __forceinline__ double gr_placed(uint32_t u) {
  constexpr int shift = D == GR_F16 ? 6 : 3;
  return __hiloint2double((int)((uint32_t)((int32_t)u >> shift) & (D == GR_F16 ? 0x81fffc00u : 0x8fffe000u)), 0);
}
template <gr_dtype D>
__device__ __forceinline__ double gr_place_factor() {
  return __hiloint2double((1023 + (D == GR_F16 ? 1008 : 896)) << 20, 0);
}
/* The larger magnitude in each half, NaN if there is one, unless NaN is left out. */
template <gr_dtype D, bool skips>
__device__ __forceinline__ uint32_t gr_magnitude(uint32_t a, uint32_t b) {
#if __CUDA_ARCH__ >= 900
  if constexpr (D == GR_F16 && skips) asm("max.xorsign.abs.f16x2 %0, %0, %1;" : "+r"(a) : "r"(b));
  else if constexpr (D == GR_F16) asm("max.NaN.xorsign.abs.f16x2 %0, %0, %1;" : "+r"(a) : "r"(b));
  else if constexpr (skips) asm("max.xorsign.abs.bf16x2 %0, %0, %1;" : "+r"(a) : "r"(b));
  else asm("max.NaN.xorsign.abs.bf16x2 %0, %0, %1;" : "+r"(a) : "r"(b));
#endif
  return a;
}

template <class R>
struct gr_variance_work {
  static constexpr int size = gr_size<R::dtype>, F = R::fields;
  static constexpr bool sixteen = size == 2;
  static constexpr gr_dtype D = R::dtype;
  using S = gr_variance_shape<size>;
  using Place = gr_variance_thread<size>;
  using Ring = gr_variance_ring<size>;
  static constexpr int C = S::C, ring_bytes = gr_variance_slots * gr_variance_warps * (gr_variance_slot_bytes + 8);
  const gr_reduce_args &q;
  const gr_tensor_map &map;
  char *shared;

  /* What the writer is left of a unit: its columns' sums, means and numbers of elements, and parts of the last pass. */
  struct Unit {
    double sum[32], mean[32];
    int count[32];
    double part[gr_variance_warps * 32];
  };
  __device__ __forceinline__ Unit &unit(int slot) const { return ((Unit *)(shared + ring_bytes))[slot]; }
  /* What warps leave of the first pass, a row each, and of what they count. */
  __device__ __forceinline__ double *parts() const { return (double *)&unit(gr_variance_units); }
  __device__ __forceinline__ uint8_t *counts() const { return (uint8_t *)(parts() + gr_variance_parts); }
  static_assert(sizeof(Unit) == gr_variance_unit_bytes && sizeof(Unit) % 16 == 0, "parts are behind units");
  __device__ __forceinline__ int columns() const { return S::each << q.cols_variance_ring.words_log2; }
  __device__ __forceinline__ int64_t *state(int row, int p) const {
    return (int64_t *)(shared + ring_bytes + gr_variance_part_bytes<R::skips>) + row * columns() * F + p;
  }

  /* ---- leaves ---- */

  /* Of a lane's columns: what 16-bit floats find out about infinities, and how many numbers there are: a byte each, of
     even columns and of odd ones; of 16 bits the sums of masks. */
  struct Noted {
    uint32_t largest[4], numbers[4];
  };
  /* A word of a row, from its column `first` on. 16-bit floats: half of them without the converter, which would be the
     limit. */
  template <class Q, bool last>
  static __device__ __forceinline__ void add(typename Q::Lane (&l)[C], const uint4 &u, const gr_context (&context)[C],
                                             int first, Noted &noted) {
    if constexpr (sixteen) {
      uint32_t part[4] = {u.x, u.y, u.z, u.w};
#pragma unroll
      for (int c = 0; c < 4; c++) {
        double factor = gr_place_factor<D>();
        double &low = l[2 * c].f[0], &high = l[2 * c + 1].f[0];
        if constexpr (last) {
          double x = __fma_rn(gr_placed<D>(part[c] << 16), factor, -context[2 * c].a);
          double y = __fma_rn(gr_placed<D>(part[c]), factor, -context[2 * c + 1].a);
          if constexpr (R::skips) gr_if_numbers<D>(x, y, part[c]);
          low += x * x;
          high += y * y;
        } else {
          if constexpr (R::skips) {
            const uint32_t mask = gr_number_mask<D>(part[c]);
            noted.numbers[c] += mask;
            part[c] &= mask;
          }
          low += gr_to_f64<D>(gr_pick<D>(make_uint4(part[c], 0, 0, 0), 0));
          high = __fma_rn(gr_placed<D>(part[c]), factor, high); /* exact but for the addition */
          noted.largest[c] = gr_magnitude<D, R::skips>(noted.largest[c], part[c]);
        }
      }
    } else {
#pragma unroll
      for (int c = 0; c < S::each; c++) {
        auto x = gr_pick<D>(u, c);
        if constexpr (R::skips && !last) gr_count_number(x, noted.numbers[c % 2], 1u << (first + c) / 2 * 8);
        Q::add(l[first + c], x, x, context[first + c], 0);
      }
    }
  }
  /* Rows of a lane that are there, of each of its words; behind: the slot of the last one, if the map has it not. */
  struct Rows {
    int there[S::words], behind;
    const gr_variance_walk<size> &walk;
    __device__ __forceinline__ int least() const { return min(there[0], there[S::words - 1]); }
  };
  /* The slots of a leaf: full, where all of its rows are there and the map has them. */
  template <class Q, bool last, bool full>
  __device__ __forceinline__ void slots(Ring &ring, const Rows &rows, typename Q::Lane (&l)[C],
                                        const gr_context (&context)[C], Noted &noted) const {
    gr_ring_cursor at = ring.at;
#pragma unroll(last && full ? 2 : 1)
    for (int i = 0; i < S::leaf_slots; i++) {
      if (!last) ring.slots[at.slot].filled.pass(at.this_lap());
      if (!last && !full && rows.behind == i) ring.bring(at.slot, rows.walk, rows.there[0] - 1);
      if (full || __all_sync(~0u, rows.least() >= (i + 1) * S::batch)) {
        uint4 u[S::batch][S::words];
#pragma unroll
        for (int r = 0; r < S::batch; r++)
#pragma unroll
          for (int p = 0; p < S::words; p++) u[r][p] = *ring.word(at.slot, r, p);
#pragma unroll
        for (int r = 0; r < S::batch; r++)
#pragma unroll
          for (int p = 0; p < S::words; p++) add<Q, last>(l, u[r][p], context, p * S::each, noted);
      } else {
#pragma unroll 1
        for (int r = 0; r < S::batch; r++)
#pragma unroll
          for (int p = 0; p < S::words; p++)
            if (i * S::batch + r < rows.there[p])
              add<Q, last>(l, *ring.word(at.slot, r, p), context, p * S::each, noted);
      }
      if (last) ring.release(at.slot, (i + gr_variance_slots) & (S::leaf_slots - 1));
      at.step(gr_variance_slots);
    }
    if (last) ring.at = at;
  }
  /* This thread's lane of its columns, which go to the parts; first pass or last. */
  template <class Q, bool last>
  __device__ __forceinline__ void pass(Ring &ring, const Rows &rows, const double (&mean)[C], Unit &unit) const {
    typename Q::Lane l[C];
    gr_context context[C];
    Noted noted = {};
    double v[C];
#pragma unroll
    for (int c = 0; c < C; c++) {
      l[c] = Q::start();
      context[c] = q.context;
      if (last) context[c].a = mean[c];
    }
    const bool full = rows.least() == S::rows && rows.behind < 0;
    if (__all_sync(~0u, full)) slots<Q, last, true>(ring, rows, l, context, noted);
    else slots<Q, last, false>(ring, rows, l, context, noted);
#pragma unroll
    for (int c = 0; c < C; c++) {
      v[c] = Q::state(l[c], context[c]).f[0];
      constexpr uint32_t infinity = D == GR_F16 ? 0x7c00 : 0x7f80;
      if (sixteen && !last && c % 2 == 1 && (noted.largest[c / 2 % 4] >> 16 & 0x7fff) >= infinity) v[c] = gr_nan();
    }
    trade(v);
    if (last) unit.part[threadIdx.x] = v[0];
    else parts()[(threadIdx.x >> 5) * gr_variance_pitch + (threadIdx.x & 31)] = v[0];
    if constexpr (R::skips && !last)
      counts()[(threadIdx.x & 31) * gr_variance_warps + (threadIdx.x >> 5)] = traded(noted.numbers);
  }
  /* Lanes of this warp that fold first: half of the columns go to the other thread, and so on. */
  template <int h = C / 2>
  static __device__ __forceinline__ void trade(double (&v)[C]) {
    if constexpr (h > 0) {
      bool upper = threadIdx.x & Place::thread_of(h);
#pragma unroll
      for (int c = 0; c < h; c++) {
        double give = upper ? v[c] : v[c + h], keep = upper ? v[c + h] : v[c];
        v[c] = keep + __shfl_xor_sync(~0u, give, Place::thread_of(h));
      }
      trade<h / 2>(v);
    }
  }
  /* The same of bytes, the lowest of which is that column's then. */
  static __device__ __forceinline__ uint8_t traded(uint32_t (&v)[4]) {
    static_assert(S::rows * C < 256, "a byte holds what the warp counts of a column");
    if constexpr (sixteen) {
      uint32_t even = 0, odd = 0;
#pragma unroll
      for (int c = 0; c < 4; c++) even |= gr_low_masks(v[c]) << c * 8, odd |= gr_high_masks(v[c]) << c * 8;
      v[0] = even;
      v[1] = odd;
    }
    const bool odd = threadIdx.x & Place::thread_of(1);
    uint32_t n = (odd ? v[1] : v[0]) + __shfl_xor_sync(~0u, odd ? v[0] : v[1], Place::thread_of(1));
#pragma unroll
    for (int h = C / 2; h > 1; h /= 2) {
      const bool upper = threadIdx.x & Place::thread_of(h);
      n = (n >> (upper ? 4 * h : 0)) + __shfl_xor_sync(~0u, n >> (upper ? 0 : 4 * h), Place::thread_of(h));
    }
    return (uint8_t)n;
  }
  /* The column that this thread has, of all warps. */
  static __device__ __forceinline__ double total(const double *from) {
    from += threadIdx.x & 31;
    double x = gr_sum_rows([=](int warp) { return from + warp * 32; }, gr_variance_warps);
    return S::low ? x + __shfl_xor_sync(~0u, x, 1 << S::log_words) : x;
  }
  static __device__ __forceinline__ double mean(double sum, int count) {
    if constexpr (R::skips) return gr_mean_of<D>(sum, (double)count);
    else return count == S::leaf_rows ? sum * (1.0 / S::leaf_rows) : sum / (double)count; /* the same: a power of two */
  }
  /*
  ** Between barriers each warp makes the sums and means of two columns, each by a half of its lanes, of which each
  ** has one warp's part. rows: of this thread's own column.
  */
  __device__ __forceinline__ void settle(Unit &unit, int rows) const {
    static_assert(gr_variance_warps == 16, "a lane for each warp's part, and a word of bytes");
    const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5, below = (1 << S::log_words) - 1;
    const int column = (warp & below) | (lane >> 4 << S::log_words) | (warp & ~below) << 1;
    double x = parts()[(lane & 15) * gr_variance_pitch + column];
#pragma unroll
    for (int h = 8; h > 0; h /= 2) x += __shfl_xor_sync(~0u, x, h);
    if (S::low) x += __shfl_xor_sync(~0u, x, 16);
    int n = __shfl_sync(~0u, rows, column);
    if constexpr (R::skips) {
      const uint4 of = ((const uint4 *)counts())[column];
      const uint32_t part[4] = {of.x, of.y, of.z, of.w};
      n = 0;
#pragma unroll
      for (int i = 0; i < 4; i++) n = (int)__dp4a(part[i], 0x01010101u, (uint32_t)n);
      if (S::low) n += __shfl_xor_sync(~0u, n, 16);
    }
    const double own = mean(x, n);
    if ((lane & 15) != 0) return;
    unit.sum[column] = x;
    unit.mean[column] = own;
    unit.count[column] = n;
  }
  /* What all warps but the last one do. */
  __device__ __forceinline__ void read() const {
    const Place t(q);
    Ring ring(q, t, map, shared);
    gr_variance_walk<size> walk;
    int slot = 0;
#pragma unroll 1
    for (bool live = walk.start(q, blockIdx.x); live; live = walk.next(q), slot = gr_variance_next(slot)) {
      Unit &unit = this->unit(slot);
      Rows rows = {{}, t.is_behind(walk.leaf) ? (t.last - 1) / S::batch : -1, walk};
      double m[C];
#pragma unroll
      for (int p = 0; p < S::words; p++) rows.there[p] = t.there_of(walk.leaf + t.sub(p));
      pass<typename R::Plain, false>(ring, rows, m, unit);
      gr_variance_free(slot).wait();
      settle(unit, t.rows_of(walk.leaf + t.sub(t.mine())));
      gr_variance_settled().wait();
      const double *own = unit.mean + (threadIdx.x & ((1 << (S::log_words + S::low)) - 1));
#pragma unroll
      for (int c = 0; c < C; c++) m[c] = own[Place::thread_of(c)];
      pass<typename R::Squares, true>(ring, rows, m, unit);
      gr_variance_done(slot).arrive();
    }
#pragma unroll 1
    for (int i = 0; i < gr_variance_units; i++, slot = gr_variance_next(slot)) gr_variance_free(slot).wait();
  }

  /* ---- states ---- */

  /* `count` neighbours from a row on merge by adjacency. */
  __device__ __forceinline__ void fold(int row, int count) const {
    int columns = this->columns();
    __syncwarp();
#pragma unroll 1
    for (int h = 1; h < count; h *= 2) {
#pragma unroll 1
      for (int i = threadIdx.x & 31; i < columns * ((count - 1) / (2 * h) + 1); i += 32) {
        int left = i / columns * 2 * h, p = i % columns;
        if (left + h < count) {
          int64_t *to = state(row + left, p), *right = state(row + left + h, p);
          gr_put<R>(to, columns, R::merge(gr_get<R>(to, columns), gr_get<R>(right, columns)));
        }
      }
      __syncwarp();
    }
  }
  /* The node is in row 0. */
  __device__ __forceinline__ void node(int node, unsigned group) const {
    int columns = this->columns(), lane = threadIdx.x & 31;
    int64_t v0 = (int64_t)group * columns;
    bool mine = lane < min((int64_t)columns, q.job.count - v0);
    gr_acc acc = R::identity();
    if (mine) acc = gr_get<R>(state(0, lane), columns);
    if (q.nodes > 1) {
      if (mine) gr_put<R>(q.node + node * q.job.count + v0 + lane, q.job.count * q.nodes, acc);
      if (!gr_combine_nodes<R, gr_team_of_warp>(q, v0, columns, q.counter + group * (unsigned)q.counters, node)) return;
      if (mine) acc = gr_root<R>(q, v0 + lane);
    }
    if (mine) gr_write<R>(q, acc, q.first + v0 + lane, q.job.n);
  }
  /*
  ** What the last warp does meanwhile. Rows of states are whole subtrees, as the ones of a counter of leaves; a unit's
  ** come on top.
  */
  __device__ __forceinline__ void write() const {
    const Place t(q);
    gr_variance_walk<size> walk;
    int depth = 0;
    int slot = 0;
#pragma unroll 1
    for (int i = 0; i < gr_variance_units; i++) gr_variance_free(i).arrive();
    gr_await_earlier();
#pragma unroll 1
    for (bool live = walk.start(q, blockIdx.x); live; live = walk.next(q), slot = gr_variance_next(slot)) {
      gr_variance_done(slot).wait();
      const Unit &unit = this->unit(slot);
      const int sub = t.sub(t.mine()), more = min(1 << q.cols_variance_ring.leaves_log2, walk.end - walk.leaf);
      gr_acc acc = R::identity();
      acc.f[0] = unit.sum[threadIdx.x & 31];
      acc.f[1] = gr_deviations<D>(total(unit.part), unit.mean[threadIdx.x & 31]);
      acc.f[2] = (double)unit.count[threadIdx.x & 31];
      gr_variance_free(slot).arrive();
      if (!S::low || !(threadIdx.x >> S::log_words & 1)) gr_put<R>(state(depth + sub, t.column()), columns(), acc);
      if (more > 1) fold(depth, more);
      bool end = walk.leaf + more == walk.end;
#pragma unroll 1
      for (int k = (walk.leaf - (int)(walk.node << q.cols_variance_ring.node_leaves_log2)) >>
                   q.cols_variance_ring.leaves_log2;
           depth > 0 && (end || (k & 1)); k >>= 1)
        fold(--depth, 2);
      __syncwarp();
      depth = end ? 0 : depth + 1;
      if (end) node((int)walk.node, walk.group);
    }
  }
};

template <class R>
__global__ void __launch_bounds__(gr_variance_threads, 1)
    gr_reduce_cols_variance_ring(const __grid_constant__ gr_reduce_args q, const __grid_constant__ gr_tensor_map map) {
#if __CUDA_ARCH__ >= 900 && __CUDA_ARCH__ < 1200 /* 12.0 has 99 KB of shared memory */
  extern __shared__ __align__(1024) char gr_variance_shared[];
  gr_start_reading(q.inputs_stable); /* the next launch reads where this one has ended */
  gr_variance_work<R> work = {q, map, gr_variance_shared};
  unsigned warp = threadIdx.x >> 5;
  if constexpr (gr_variance_shape<gr_size<R::dtype>>::joint) {
    const gr_variance_thread<gr_size<R::dtype>> t(q);
    gr_variance_ring<gr_size<R::dtype>> ring(q, t, map, gr_variance_shared);
    ring.prepare();
    if (warp > gr_variance_warps) ring.serve();
  }
  if (warp < gr_variance_warps) work.read();
  else if (warp == gr_variance_warps) work.write();
#endif
}

#endif
