/*
** Scans of columns that lie side by side, in one launch that reads elements once. A block has a tile's row, 256
** elements, of 32 columns, in shared memory until what lies before them is known: a lane of the warp is a column, and a
** warp goes down some lanes of the scan.
**
** What a row adds up to is published, and by whoever has the last row of a tile and of a group of tiles, what these do
** (scan/carry.cuh). Blocks wait for blocks before them alone, which the hardware starts first.
*/
#ifndef GR_CUDA_SCAN_DOWN_CUH
#define GR_CUDA_SCAN_DOWN_CUH

#include "kernels/cuda/scan/carry.cuh"
#include "kernels/cuda/scan/rows.cuh"

/* Of the scan's 32 lanes of a row, those that a thread has; warps of a block. */
template <class S> constexpr int gr_scan_down_lanes = sizeof(typename S::In) == 8 ? 2 : 4;
template <class S> constexpr int gr_scan_down_warps = 32 / gr_scan_down_lanes<S>;

template <class S> struct gr_scan_down_shared {
  using Value = typename S::Value;
  Value total[gr_scan_down_warps<S>][32]; /* of a warp's elements */
  Value above[32], base[32];              /* what lies before the row in its tile, and before that */
};

/* What `count` warps from `first` on add up to, as a tree. */
template <class S, int count>
static __device__ __forceinline__ typename S::Value gr_scan_down_sum(const gr_scan_down_shared<S> &s, int first,
                                                                     int lane) {
  if constexpr (count == 1) return s.total[first][lane];
  else return S::join(gr_scan_down_sum<S, count / 2>(s, first, lane),
                      gr_scan_down_sum<S, count / 2>(s, first + count / 2, lane));
}

/* What lies before a warp in the row: a sum for each bit of its number; and v with it. */
template <class S> constexpr int gr_scan_down_levels = sizeof(typename S::In) == 8 ? 4 : 3;
template <class S, int level = 0>
static __device__ __forceinline__ void gr_scan_down_lower(const gr_scan_down_shared<S> &s, int warp, int lane,
                                                          typename S::Value (&lower)[gr_scan_down_levels<S>]) {
  if constexpr (level < gr_scan_down_levels<S>) {
    lower[level] = warp >> level & 1 ? gr_scan_down_sum<S, 1 << level>(s, (warp >> level) - 1 << level, lane)
                                     : S::identity();
    gr_scan_down_lower<S, level + 1>(s, warp, lane, lower);
  }
}
template <class S>
static __device__ __forceinline__ typename S::Value
gr_scan_down_before(const typename S::Value (&lower)[gr_scan_down_levels<S>], typename S::Value v) {
#pragma unroll
  for (int k = 0; k < gr_scan_down_levels<S>; k++) v = S::join(lower[k], v);
  return v;
}

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

/* What the row adds up to, for those after it; where it is the last one of a tile, that tile, and where it is the last
   one of a group, that. */
template <class S>
static __device__ __forceinline__ void gr_scan_down_publish(const gr_scan &q, int row, int column,
                                                            typename S::Value v) {
  const int in_tile = row % GR_SCAN_ROWS, tile = row / GR_SCAN_ROWS;
  const bool there = column < (int)q.count;
  if (in_tile & 1) v = gr_scan_carry<S, true>(q, q.tile, row, gr_scan_ended(in_tile), column, v).joined;
  if (in_tile < GR_SCAN_ROWS - 1) {
    if (there) gr_publish(gr_scan_word(q, q.tile, row, column), v, q.tag);
    return;
  }
  if (tile & 1) v = gr_scan_carry<S, true>(q, q.group, tile, gr_scan_ended(tile & 31), column, v).joined;
  if (there) gr_publish(gr_scan_word(q, q.group, tile, column), v, q.tag);
  if ((tile & 31) == 31) gr_scan_publish_group<S, true>(q, tile >> 5, column, v);
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
  const int tile = at.row / GR_SCAN_ROWS, in_tile = at.row % GR_SCAN_ROWS;
  const int here = at.there ? (int)min(q.n - (int64_t)at.row * GR_SCAN_DOWN_ROW, (int64_t)GR_SCAN_DOWN_ROW) : 0;
  const int first = warp * lanes * 8, left = here - first;
  In *const in = (In *)stage + first * 32 + lane; /* a row of the block's columns after the other */
  gr_await_earlier();
  gr_let_next_start();
  const char *p = q.a + at.column * q.a_step + ((int64_t)at.row * GR_SCAN_DOWN_ROW + first) * q.a_stride;
  const int words = (int)sizeof(In) * 2, together = 32 / words; /* of a row of the block's columns; rows of a warp */
  if (at.column - lane + 32 <= (int)q.count && (((uintptr_t)(p - lane * q.a_step) | (uintptr_t)q.a_stride) & 15) == 0) {
    p += lane / words * q.a_stride + (lane % words * 16 - lane * (int)sizeof(In));
    char *to = (char *)(in - lane) + lane * 16;
    const int64_t step = q.a_stride * together;
#pragma unroll
    for (int k = lane / words; k < lanes * 8; k += together, p += step, to += 512)
      if (k < left) gr_copy_async<16>(to, p);
  } else {
#pragma unroll 4
    for (int k = 0; k < lanes * 8; k++, p += q.a_stride)
      if (k < left) gr_copy_async<sizeof(In)>(in + k * 32, p);
  }
  gr_copies_wait();
  __syncwarp();
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
    Value own[lanes];
#pragma unroll
    for (int m = 0; m < lanes; m++) {
      Value v[8];
      take(m, v);
      own[m] = gr_scan_total<S>(v);
    }
    gr_scan_own<S>(own);
    s.total[warp][lane] = own[lanes - 1];
    __syncthreads();
    Value lower[gr_scan_down_levels<S>];
    gr_scan_down_lower<S>(s, warp, lane, lower);
    before[0] = gr_scan_down_before<S>(lower, S::identity());
#pragma unroll
    for (int m = 1; m < lanes; m++) before[m] = gr_scan_down_before<S>(lower, own[m - 1]);
    if (warp == warps - 1) {
      gr_scan_down_publish<S>(q, at.row, at.column, gr_scan_down_before<S>(lower, own[lanes - 1]));
    } else if (warp == 0) {
      s.above[lane] = gr_scan_carry<S, true>(q, q.tile, at.row, in_tile, at.column, S::identity()).joined;
    } else if (warp == 1) {
      const gr_halves *const groups = tile > 31 ? gr_scan_word(q, q.before, tile >> 5, at.column) : NULL;
      const gr_scan_carried<S> before =
          gr_scan_carry<S, true>(q, q.group, tile, tile & 31, at.column, S::identity(), groups);
      s.base[lane] = S::join(before.beside, before.joined);
    }
  }
  __syncthreads();
  const Value above = s.above[lane], base = s.base[lane];
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
    for (int k = 0; k < 8; k++, out += q.out_stride)
      if (m * 8 + k < left) __stcs((Out *)out, y[k]);
  }
}

#endif
