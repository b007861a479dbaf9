/*
** Scans of columns that lie side by side, in one launch that reads elements once. A block has a tile's row, 256
** elements, of 32 columns, in shared memory until what lies before them is known: a lane of the warp is a column, and a
** warp goes down some lanes of the scan.
**
** What a row adds up to is published, and by whoever has the last row of a tile, of a group of tiles and of a
** superblock, what these do: each before its block waits for anything of the next level, so that no level is a chain of
** blocks that wait for each other. Blocks wait for blocks before them alone, which the hardware starts first.
*/
#ifndef GR_CUDA_SCAN_DOWN_CUH
#define GR_CUDA_SCAN_DOWN_CUH

#include "kernels/cuda/scan/rows.cuh"

/* Of the scan's 32 lanes of a row, those that a thread has; warps of a block. */
template <class S> constexpr int gr_scan_down_lanes = sizeof(typename S::In) == 8 ? 2 : 4;
template <class S> constexpr int gr_scan_down_warps = 32 / gr_scan_down_lanes<S>;

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
  /* The same of a value within that lane, which is not its total. */
  __device__ __forceinline__ typename S::Value within(typename S::Value v, int lane) const {
#pragma unroll
    for (int s = 0; s < 5; s++)
      if (lane >> s & 1) v = S::join(lower[s], v);
    return v;
  }
};

template <class S> struct gr_scan_down_shared {
  using Value = typename S::Value;
  Value total[gr_scan_down_warps<S>][32], own[32]; /* of a warp's elements, of the row */
  Value row[GR_SCAN_ROWS - 1][32], tile[31][32];   /* published by those before; of groups it is tile's place, too */
  Value above[32], base[32], last[32]; /* what lies before the row in its tile, and before that; all of the tile */
};

/* Which column a lane has, and which row of it. */
struct gr_scan_down_place {
  int row, column;
  bool there;
};
static __device__ __forceinline__ gr_scan_down_place gr_scan_down_place_of(const gr_scan &q, int lane) {
  const unsigned strips = (unsigned)(q.count + 31) / 32;
  const int column = (int)(blockIdx.x % strips) * 32 + lane;
  return {(int)(blockIdx.x / strips), column, column < (int)q.count};
}

/* What was published by so many before: each warp from `first` on waits for some of it, a few at a time. */
template <class S, int of, int first>
static __device__ __forceinline__ void gr_scan_down_wait(const gr_scan &q, const gr_halves *from, int wanted,
                                                         typename S::Value (*to)[32], int warp, int lane) {
  constexpr int warps = gr_scan_down_warps<S> - first, each = Tuning::down_together;
#pragma unroll 1
  for (int j = warp - first; j < of; j += each * warps) {
    typename S::Value v[each];
    const gr_halves *at[each];
    bool want[each];
#pragma unroll
    for (int k = 0; k < each; k++) {
      at[k] = from + (j + k * warps) * (int)q.count;
      want[k] = j + k * warps < wanted;
    }
    gr_await(at, want, q.tag, S::identity(), v);
#pragma unroll
    for (int k = 0; k < each; k++)
      if (j + k * warps < wanted) to[j + k * warps][lane] = v[k];
  }
}

/* What that comes to: the scan of those before. Its own total makes it that of all, in *whole. */
template <class S, int of>
static __device__ __forceinline__ typename S::Value gr_scan_down_sum(const typename S::Value (*from)[32], int before,
                                                                     typename S::Value own, int lane,
                                                                     typename S::Value *whole) {
  gr_scan_chain<S> chain;
  typename S::Value v = S::identity();
#pragma unroll 1
  for (int j = 0; __any_sync(~0u, j < before); j++)
    if (j < before) v = chain.next(from[j][lane], j);
  if (before == of) *whole = chain.next(own, of);
  return v;
}

template <class S> constexpr int gr_scan_down_threads = gr_scan_down_warps<S> * 32;
template <class S>
static __global__ void __launch_bounds__(gr_scan_down_threads<S>, Tuning::down_threads / gr_scan_down_threads<S>)
    gr_scan_down(const __grid_constant__ gr_scan q) {
  using Value = typename S::Value;
  using In = typename S::In;
  using Out = typename S::Out;
  constexpr int lanes = gr_scan_down_lanes<S>, warps = gr_scan_down_warps<S>;
  extern __shared__ __align__(16) char stage[];
  __shared__ gr_scan_down_shared<S> s;
  const int lane = threadIdx.x & 31, warp = gr_scan_warp();
  const gr_scan_down_place at = gr_scan_down_place_of(q, lane);
  const int rows = (int)GR_SCAN_DOWN_ROWS(q.n), tiles = rows / GR_SCAN_ROWS + 1, groups = tiles / 32 + 1;
  const int tile = at.row / GR_SCAN_ROWS, group = tile / 32;
  const int in_tile = at.there ? at.row % GR_SCAN_ROWS : 0, in_group = at.there ? tile % 32 : 0;
  const int in_super = at.there ? group % 32 : 0;
  const int here = at.there ? (int)min(q.n - (int64_t)at.row * GR_SCAN_DOWN_ROW, (int64_t)GR_SCAN_DOWN_ROW) : 0;
  const int first = warp * lanes * 8, left = here - first;
  /* of all rows of a column, then of tiles, groups and superblocks */
  const auto published = [&](int k) { return q.tile + (int64_t)k * (int)q.count + at.column; };
  In *const in = (In *)stage + first * 32 + lane; /* a row of the block's columns after the other */
  gr_await_earlier();
  gr_let_next_start();
  const char *p = q.a + at.column * q.a_step + ((int64_t)at.row * GR_SCAN_DOWN_ROW + first) * q.a_stride;
#pragma unroll
  for (int k = 0; k < lanes * 8; k++)
    if (k < left) gr_copy_async<sizeof(In)>(in + k * 32, p + k * q.a_stride);
  gr_copies_wait();
  /* Elements that are not there are anything: nothing follows them. */
  const auto take = [&](int m, Value(&v)[8]) {
    In x[8];
#pragma unroll
    for (int k = 0; k < 8; k++) x[k] = in[(m * 8 + k) * 32];
    S::values(x, v, q.flip);
  };
  /* what lies before each of this thread's lanes in the row */
  Value before[lanes];
  {
    gr_scan_chain<S> chain;
    Value own[lanes], last = S::identity();
#pragma unroll
    for (int m = 0; m < lanes; m++) {
      Value v[8];
      take(m, v);
      own[m] = gr_scan_total<S>(v);
    }
    gr_scan_own<S>(own);
    s.total[warp][lane] = own[lanes - 1];
    __syncthreads();
#pragma unroll 1
    for (int w = 0; w < warp; w++) last = chain.next(s.total[w][lane], w);
    before[0] = last;
#pragma unroll
    for (int m = 1; m < lanes; m++) before[m] = chain.within(own[m - 1], warp);
    if (warp == warps - 1) {
      const Value total = chain.within(own[lanes - 1], warp);
      s.own[lane] = total;
      if (at.there) gr_publish(published(at.row), total, q.tag);
    }
  }
  gr_scan_down_wait<S, GR_SCAN_ROWS - 1, 0>(q, published(at.row - in_tile), in_tile, s.row, warp, lane);
  __syncthreads();
  if (warp == 0) {
    Value whole = S::identity();
    s.above[lane] = gr_scan_down_sum<S, GR_SCAN_ROWS - 1>(s.row, in_tile, s.own[lane], lane, &whole);
    s.last[lane] = whole;
    if (in_tile == GR_SCAN_ROWS - 1) gr_publish(published(rows + tile), whole, q.tag);
  } else {
    gr_scan_down_wait<S, 31, 1>(q, published(rows + tile - in_group), in_group, s.tile, warp, lane);
  }
  __syncthreads();
  const bool ends = in_tile == GR_SCAN_ROWS - 1 && in_group == 31; /* a group */
  const bool several = rows > GR_SCAN_ROWS * 32;                   /* groups */
  Value base = S::identity(), of_all = S::identity();
  if (warp == 1) {
    base = gr_scan_down_sum<S, 31>(s.tile, in_group, s.last[lane], lane, &of_all);
    if (ends) gr_publish(published(rows + tiles + group), of_all, q.tag);
  }
  if (several) {
    __syncthreads(); /* the place of tiles is that of groups now */
    if (warp > 1)
      gr_scan_down_wait<S, 31, 2>(q, published(rows + tiles + group - in_super), in_super, s.tile, warp, lane);
    __syncthreads();
  }
  if (warp == 1) {
    Value whole = S::identity(), supers = S::identity();
    if (several) {
      const Value in_these = gr_scan_down_sum<S, 31>(s.tile, in_super, of_all, lane, &whole);
      /* first whoever ends a superblock, for which others of this warp may wait */
      const bool closes = ends && in_super == 31;
#pragma unroll 1
      for (int turn = 0; turn < 2; turn++) {
        const gr_halves *above[1] = {published(rows + tiles + groups + group / 32 - 1)};
        bool wanted[1] = {at.there && group >= 32 && closes == (turn == 0)};
        Value v[1];
        gr_await(above, wanted, q.tag, S::identity(), v);
        if (closes != (turn == 0)) continue;
        supers = v[0];
        if (closes) gr_publish(published(rows + tiles + groups + group / 32), S::join(v[0], whole), q.tag);
      }
      supers = S::join(supers, in_these);
    }
    s.base[lane] = S::join(supers, base);
  }
  __syncthreads();
  const Value above = s.above[lane];
  base = s.base[lane];
  char *out = q.out + at.column * q.out_step + ((int64_t)at.row * GR_SCAN_DOWN_ROW + first) * q.out_stride;
#pragma unroll
  for (int m = 0; m < lanes; m++) {
    Value v[8];
    Out y[8];
    const Value own = S::join(base, S::join(above, before[m]));
    take(m, v);
    gr_scan_own<S>(v);
#pragma unroll 1
    for (int turn = 0; turn < q.exclusive; turn++) {
#pragma unroll
      for (int k = 7; k > 0; k--) v[k] = v[k - 1];
      v[0] = S::identity();
      if constexpr (S::ordered)
        if (at.row == 0 && first + m == 0) v[0] += 0.0;
    }
#pragma unroll
    for (int k = 0; k < 8; k++) v[k] = S::join(own, v[k]);
    S::results(v, y, q.flip);
#pragma unroll
    for (int k = 0; k < 8; k++) {
      if (m * 8 + k >= left) continue;
      __stcs((Out *)(out + (m * 8 + k) * q.out_stride), y[k]);
    }
  }
}

/* Words that are published. */
static int64_t gr_scan_down_words(int64_t n, int64_t count) {
  const int64_t rows = GR_SCAN_DOWN_ROWS(n), tiles = rows / GR_SCAN_ROWS + 1;
  return (rows + tiles + tiles / 32 + 1 + tiles / 1024 + 1) * count;
}

#endif
