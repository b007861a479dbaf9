/*
** Rows that a warp can hold: up to 4 KB of neighbouring rows go to shared memory, by aligned words whatever
** the rows' alignment, and are read back element by element. A tiny row belongs to one thread, a longer
** one to the warp. Lanes of a leaf that a short row leaves empty are identities, so that folding only the
** lanes in use gives the tree's bits.
*/
#ifndef GR_REDUCE_SHORT_CUH
#define GR_REDUCE_SHORT_CUH

#include "kernels/cuda/grid.cuh"
#include "kernels/cuda/load.cuh"

constexpr int gr_short_warps = 4, gr_short_bytes = 4096;

/*
** Staged bytes: every 128 are followed by a gap of one element (at least 4 bytes), so that threads which read
** rows of 2^k bytes meet different banks.
*/
template <gr_dtype D>
struct gr_stage {
  static constexpr int gap = gr_size<D> == 8 ? 8 : 4, bytes = (gr_short_bytes + 32) / 128 * (128 + gap) + 128;
  static __device__ __forceinline__ int place(int at) { return at + (at >> 7) * gap; }

  /* Copies `bytes` bytes from p; gives where in the stage they start. All words are in flight at once. */
  static __device__ __forceinline__ int fill(char *stage, const char *p, int bytes, int lane) {
    int shift = (int)((uintptr_t)p & 15), words = (shift + bytes + 15) >> 4;
    uint4 w[gr_short_bytes / 512 + 1];
#pragma unroll
    for (int i = 0; i <= gr_short_bytes / 512; i++)
      if (i * 32 + lane < words) w[i] = gr_load16(p - shift + (i * 32 + lane) * 16);
#pragma unroll
    for (int i = 0; i <= gr_short_bytes / 512; i++)
      if (i * 32 + lane < words) {
        uint32_t *to = (uint32_t *)(stage + place((i * 32 + lane) * 16));
        to[0] = w[i].x;
        to[1] = w[i].y;
        to[2] = w[i].z;
        to[3] = w[i].w;
      }
    return shift;
  }
  static __device__ __forceinline__ gr_type<D> get(const char *stage, int at) {
    return *(const gr_type<D> *)(stage + place(at));
  }
};

/* One row in the stage (or one of each input): where it starts. */
template <class R>
struct gr_short_row {
  using T = gr_type<R::dtype>;
  using Stage = gr_stage<R::dtype>;
  static constexpr int size = gr_size<R::dtype>, lanes = GR_LANES(size);
  const char *stage_a, *stage_b;
  int a, b, n;

  template <class Q>
  __device__ __forceinline__ void add(typename Q::Lane &l, int k, const gr_context &c) const {
    T x = Stage::get(stage_a, a + k * size), y = x;
    if (Q::inputs == 2) y = Stage::get(stage_b, b + k * size);
    Q::add(l, x, y, c, k);
  }

  /*
  ** A thread's `count` lanes with one element each, folded by halves: lanes at, at + apart, at + 2 apart, ...
  ** Of these, first, first + step, ... here.
  */
  template <class Q, int count, int first = 0, int step = 1>
  __device__ __forceinline__ gr_acc tiny(int at, int apart, const gr_context &c) const {
    if constexpr (step == count) {
      typename Q::Lane l = Q::start();
      if (at + first * apart < n) add<Q>(l, at + first * apart, c);
      return Q::state(l, c);
    } else {
      gr_acc low = tiny<Q, count, first, step * 2>(at, apart, c),
             high = tiny<Q, count, first + step, step * 2>(at, apart, c);
      return Q::merge(low, high);
    }
  }
  /* Without lanes: every element that falls to this thread. */
  template <class Q>
  __device__ __forceinline__ gr_acc any_order(int at, int apart, const gr_context &c) const {
    typename Q::Lane l = Q::start();
#pragma unroll 4
    for (int k = at; k < n; k += apart) add<Q>(l, k, c);
    if constexpr (Q::kind == GR_ACC_PLACE) Q::mark(l, l.code);
    return Q::state(l, c);
  }
  /* A row of one thread. */
  template <class Q>
  __device__ __forceinline__ gr_acc by_thread(const gr_context &c) const {
    if constexpr (Q::lanes) {
      if (n <= 4) return tiny<Q, 4>(0, 1, c);
      if (n <= 16) return tiny<Q, 16>(0, 1, c);
      if (n <= 32 || size == 8) return tiny<Q, 32>(0, 1, c);
      return tiny < Q, size == 8 ? 32 : 64 > (0, 1, c);
    } else {
      return any_order<Q>(0, 1, c);
    }
  }
  /* A row of 2^log neighbouring threads, of which this is number t. */
  template <class Q>
  __device__ __forceinline__ gr_acc by_group(int t, int log, const gr_context &c) const {
    gr_acc acc;
    if constexpr (Q::lanes) acc = tiny<Q, 8>(t, 1 << log, c);
    else acc = any_order<Q>(t, 1 << log, c);
    for (int h = 1 << log >> 1; h > 0; h /= 2) acc = gr_merge_xor<Q>(acc, h);
    return acc;
  }
  /* A row of the warp: thread t takes lanes t, t + 32, ..., and folds them before the warp folds the rest. */
  template <class Q, int first, int step>
  __device__ __forceinline__ gr_acc own(int t, const gr_context &c) const {
    if constexpr (step == lanes / 32) {
      typename Q::Lane l = Q::start();
#pragma unroll 1
      for (int k = t + first * 32; k < n; k += lanes) add<Q>(l, k, c);
      return Q::state(l, c);
    } else {
      gr_acc low = own<Q, first, step * 2>(t, c);
      if (first + step >= (n + 31) >> 5) return low;
      return Q::merge(low, own<Q, first + step, step * 2>(t, c));
    }
  }
  template <class Q>
  __device__ __forceinline__ gr_acc by_warp(int t, const gr_context &c) const {
    gr_acc acc;
    if constexpr (Q::lanes) acc = own<Q, 0, 1>(t, c);
    else acc = any_order<Q>(t, 32, c);
#pragma unroll
    for (int h = 16; h > 0; h /= 2) acc = gr_merge_xor<Q>(acc, h);
    return acc;
  }
  /* log: 0 for a row of one thread, 5 for one of the warp, else of a group. */
  template <class Q>
  __device__ __forceinline__ gr_acc fold(int log, int lane, const gr_context &c) const {
    if (log == 0) return by_thread<Q>(c);
    return log == 5 ? by_warp<Q>(lane, c) : by_group<Q>(lane & ((1 << log) - 1), log, c);
  }
  __device__ __forceinline__ gr_acc reduce(int log, int lane, gr_context c) const {
    if constexpr (R::spread) {
      gr_acc acc;
      acc.f[2] = (double)n;
      acc.f[0] = fold<typename R::Sum>(log, lane, c).f[0];
      c.a = acc.f[0] / acc.f[2];
      acc.f[1] = fold<typename R::Squares>(log, lane, c).f[0];
      return acc;
    } else {
      return fold<R>(log, lane, c);
    }
  }
};

/* q.rows: rows of a warp; those of one input, gaps included, fit the stage. */
template <class R>
__global__ void __launch_bounds__(gr_short_warps * 32) gr_reduce_short(const __grid_constant__ gr_reduce_args q) {
  using Stage = gr_stage<R::dtype>;
  __shared__ __align__(16) char stage[gr_short_warps][R::inputs][Stage::bytes];
  int lane = threadIdx.x & 31, warp = gr_warp_index(), n = (int)q.job.n;
  int64_t row0 = ((int64_t)blockIdx.x * (blockDim.x >> 5) + warp) * q.rows;
  if (row0 >= q.job.count) return;
  int rows = (int)min((int64_t)q.rows, q.job.count - row0), step_a = (int)q.job.a.step, step_b = (int)q.job.b.step;
  row0 += q.first;
  gr_short_row<R> row = {stage[warp][0], stage[warp][R::inputs - 1], 0, 0, n};
  int a = Stage::fill(stage[warp][0], (const char *)q.job.a.data + row0 * step_a, (rows - 1) * step_a + n * row.size,
                      lane),
      b = 0;
  if (R::inputs == 2)
    b = Stage::fill(stage[warp][R::inputs - 1], (const char *)q.job.b.data + row0 * step_b,
                    (rows - 1) * step_b + n * row.size, lane);
  __syncwarp();
  gr_acc mine = R::identity();
#pragma unroll 1
  for (int r0 = 0; r0 < rows; r0 += 32) {
    /* 32 >> q.threads rows at a time; lane i keeps row r0 + i. */
    int count = min(32, rows - r0), log = q.threads, step = 32 >> log;
#pragma unroll 1
    for (int r = 0; r < count; r += step) {
      int own = r0 + min(r + (lane >> log), count - 1);
      row.a = a + own * step_a;
      row.b = b + own * step_b;
      gr_acc acc = row.reduce(log, lane, q.context);
      if (log > 0) acc = gr_shuffle_from<R>(acc, (lane - r) << log & 31);
      mine = gr_select<R>(lane >= r && lane < r + step, acc, mine);
    }
    if (lane < count) gr_write<R>(q, mine, row0 + r0 + lane, n);
  }
}

#endif
