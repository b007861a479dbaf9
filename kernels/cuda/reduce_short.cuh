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
template <gr_dtype D> struct gr_stage {
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
template <class R> struct gr_short_row {
  using T = gr_type<R::dtype>;
  using Stage = gr_stage<R::dtype>;
  static constexpr int size = gr_size<R::dtype>, lanes = GR_LANES(size);
  const char *stage_a, *stage_b;
  int a, b, n;

  template <class Q> __device__ __forceinline__ void add(typename Q::Lane &l, int k, const gr_context &c) const {
    T x = Stage::get(stage_a, a + k * size), y = x;
    if (Q::inputs == 2) y = Stage::get(stage_b, b + k * size);
    Q::add(l, x, y, c, k);
  }

  /* Lanes first, first + step, ... of `count` lanes with one element each, folded by halves. */
  template <class Q, int count, int step = 1> __device__ __forceinline__ gr_acc tiny(int first, const gr_context &c) const {
    if constexpr (step == count) {
      typename Q::Lane l = Q::start();
      if (first < n) add<Q>(l, first, c);
      return Q::state(l, c);
    } else {
      gr_acc low = tiny<Q, count, step * 2>(first, c), high = tiny<Q, count, step * 2>(first + step, c);
      return Q::merge(low, high);
    }
  }
  /* A row of one thread. */
  template <class Q> __device__ __forceinline__ gr_acc by_thread(const gr_context &c) const {
    if constexpr (Q::lanes) {
      if (n <= 4) return tiny<Q, 4>(0, c);
      if (n <= 16) return tiny<Q, 16>(0, c);
      return tiny<Q, size == 8 ? 32 : 64>(0, c);
    } else {
      typename Q::Lane l = Q::start();
#pragma unroll 4
      for (int k = 0; k < n; k++) add<Q>(l, k, c);
      if constexpr (Q::kind == GR_ACC_PLACE) Q::mark(l, l.code);
      return Q::state(l, c);
    }
  }
  /* A row of the warp: thread t takes lanes t, t + 32, ..., and folds them before the warp folds the rest. */
  template <class Q, int first, int step> __device__ __forceinline__ gr_acc own(int t, const gr_context &c) const {
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
  template <class Q> __device__ __forceinline__ gr_acc by_warp(int t, const gr_context &c) const {
    gr_acc acc;
    if constexpr (Q::lanes) {
      acc = own<Q, 0, 1>(t, c);
    } else {
      typename Q::Lane l = Q::start();
#pragma unroll 4
      for (int k = t; k < n; k += 32) add<Q>(l, k, c);
      if constexpr (Q::kind == GR_ACC_PLACE) Q::mark(l, l.code);
      acc = Q::state(l, c);
    }
#pragma unroll
    for (int h = 16; h > 0; h /= 2) acc = gr_merge_xor<Q>(acc, h);
    return acc;
  }
  template <class Q> __device__ __forceinline__ gr_acc fold(bool tiny_row, int t, const gr_context &c) const {
    return tiny_row ? by_thread<Q>(c) : by_warp<Q>(t, c);
  }
  __device__ __forceinline__ gr_acc reduce(bool tiny_row, int t, gr_context c) const {
    if constexpr (R::spread) {
      gr_acc acc;
      acc.f[2] = (double)n;
      acc.f[0] = fold<typename R::Sum>(tiny_row, t, c).f[0];
      c.a = acc.f[0] / acc.f[2];
      acc.f[1] = fold<typename R::Squares>(tiny_row, t, c).f[0];
      return acc;
    } else {
      return fold<R>(tiny_row, t, c);
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
  int a = Stage::fill(stage[warp][0], (const char *)q.job.a.data + row0 * step_a, (rows - 1) * step_a + n * row.size, lane), b = 0;
  if (R::inputs == 2)
    b = Stage::fill(stage[warp][R::inputs - 1], (const char *)q.job.b.data + row0 * step_b, (rows - 1) * step_b + n * row.size, lane);
  __syncwarp();
  bool tiny_row = q.threads == 0;
  gr_acc mine = R::identity();
#pragma unroll 1
  for (int r0 = 0; r0 < rows; r0 += 32) {
    if (tiny_row) {
      row.a = a + min(r0 + lane, rows - 1) * step_a;
      row.b = b + min(r0 + lane, rows - 1) * step_b;
      mine = row.reduce(true, lane, q.context);
    } else {
#pragma unroll 1
      for (int r = r0; r < min(r0 + 32, rows); r++) {
        row.a = a + r * step_a;
        row.b = b + r * step_b;
        mine = gr_select<R>(lane == r - r0, row.reduce(false, lane, q.context), mine);
      }
    }
    if (r0 + lane < rows) gr_write<R>(q, mine, row0 + r0 + lane);
  }
}

#endif
