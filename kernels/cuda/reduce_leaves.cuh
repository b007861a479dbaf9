/*
** The main kernel: one warp reads a leaf. For flat arrays, long rows and any stride.
*/
#ifndef GR_REDUCE_LEAVES_CUH
#define GR_REDUCE_LEAVES_CUH

#include "kernels/cuda/grid.cuh"
#include "kernels/cuda/load.cuh"

/* Rows in flight at once, of each input. */
template <class R>
constexpr int gr_batch = R::inputs == 1                                   ? 8
                         : gr_size<R::dtype> > 2 || R::light || !R::lanes ? (R::fields > 1 ? 4 : 8)
                         : R::fields > 1                                  ? 2
                                                                          : 4;

/* Reducers that know where an element is; others of a leaf take their elements in any order. */
template <class Q>
constexpr bool gr_placed = Q::lanes || Q::kind == GR_ACC_PLACE;

/* skip: so many elements of the first row are left out (of placed ones only). */
template <class Q, int rows>
__device__ __forceinline__ void gr_add_rows(typename Q::Lane (&l)[gr_lanes_of<Q>], const uint4 (&a)[rows],
                                            const uint4 (&b)[rows], const gr_context &k, int skip = 0) {
  constexpr int each = 16 / gr_size<Q::dtype>;
#pragma unroll
  for (int r = 0; r < rows; r++) {
    if constexpr (Q::by_word) {
      if constexpr (Q::kind == GR_ACC_PLACE)
        if (r == 0 && skip > 0) {
          l[0] = Q::look_at(l[0], a[0], k.twin, 0, skip, each);
          continue;
        }
      Q::add_word(l[0], a[r], b[r], k, r * each);
    } else {
#pragma unroll
      for (int c = 0; c < each; c++)
        if (!gr_placed<Q> || r > 0 || c >= skip)
          Q::add(l[Q::lanes ? c : 0], gr_pick<Q::dtype>(a[r], c), gr_pick<Q::dtype>(b[r], c), k, r * each + c);
    }
  }
}

/* The first `valid` elements of one word. */
template <class Q>
__device__ __forceinline__ void gr_add_some(typename Q::Lane (&l)[gr_lanes_of<Q>], uint4 a, uint4 b, int valid,
                                            const gr_context &k, int code) {
#pragma unroll
  for (int c = 0; c < 16 / gr_size<Q::dtype>; c++)
    if (c < valid) Q::add(l[Q::lanes ? c : 0], gr_pick<Q::dtype>(a, c), gr_pick<Q::dtype>(b, c), k, code + c);
}

template <int n>
__device__ __forceinline__ void gr_rotate(uint4 (&w)[n]) {
  uint4 first = w[0];
#pragma unroll
  for (int i = 0; i + 1 < n; i++) w[i] = w[i + 1];
  w[n - 1] = first;
}

/* The word with elements k.. of a vector, whatever its walk; begun: what gr_begin_loose loaded for it. */
template <gr_dtype D>
__device__ __forceinline__ uint4 gr_loose_word(uint4 begun, const gr_walker &v, int64_t k, int valid) {
  const char *p = v.p + k * v.stride;
  if (v.stride != gr_size<D>) return gr_gather<D>(p, v.stride, valid);
  return valid > 0 ? gr_load_end(begun, p, valid * gr_size<D>) : begun;
}

template <gr_dtype D, int rows>
__device__ __forceinline__ void gr_begin_loose(uint4 (&w)[rows], const gr_walker &v, int64_t k0, int64_t left) {
#pragma unroll
  for (int r = 0; r < rows; r++) {
    int k = r * GR_LANES(gr_size<D>);
    w[r] = make_uint4(0, 0, 0, 0);
    if (v.stride == gr_size<D> && left > k) w[r] = gr_load_begin(v.p + (k0 + k) * gr_size<D>);
  }
}

/* A batch of rows of a leaf's end, or of strided data: word by word, so that the code stays small. */
template <class Q, int rows>
__device__ __forceinline__ void gr_add_loose(typename Q::Lane (&l)[gr_lanes_of<Q>], uint4 (&a)[rows], uint4 (&b)[rows],
                                             const gr_walker &wa, const gr_walker &wb, int64_t k0, int64_t left,
                                             int used, const gr_context &k) {
  constexpr int each = 16 / gr_size<Q::dtype>, row = GR_LANES(gr_size<Q::dtype>);
#pragma unroll 1
  for (int r = 0; r < used; r++) {
    int valid = (int)min(left - r * row, (int64_t)each);
    uint4 x = gr_loose_word<Q::dtype>(a[0], wa, k0 + r * row, valid), y = x;
    if (Q::inputs == 2) y = gr_loose_word<Q::dtype>(b[0], wb, k0 + r * row, valid);
    gr_add_some<Q>(l, x, y, valid, k, r * each);
    gr_rotate(a);
    if (Q::inputs == 2) gr_rotate(b);
  }
}

template <class Q>
struct gr_lane_set {
  typename Q::Lane l[gr_lanes_of<Q>];
};
template <class Q>
__device__ __forceinline__ gr_lane_set<Q> gr_start_lanes() {
  gr_lane_set<Q> s;
#pragma unroll
  for (int i = 0; i < gr_lanes_of<Q>; i++) s.l[i] = Q::start();
  return s;
}
/* The reducer itself; of one with two passes, the first. */
template <class R, bool = R::spread>
struct gr_plain {
  using type = R;
};
template <class R>
struct gr_plain<R, true> {
  using type = typename R::Sum;
};

/*
** A leaf that cannot be read row by row, from element `first`: the last one of a vector, or any of a strided
** one. Out of line, and with few rows in flight, to leave the main loop its registers.
*/
template <class Q, int rows>
__device__ __noinline__ gr_lane_set<Q> gr_read_loose(gr_walker a, gr_walker b, int64_t n, int64_t first, gr_context c) {
  constexpr int size = gr_size<Q::dtype>, each = 16 / size, row = GR_LANES(size);
  int lane = threadIdx.x & 31;
  gr_lane_set<Q> s = gr_start_lanes<Q>();
#pragma unroll 1
  for (int64_t k = first; k < min(n, first + GR_LEAF(size)); k += rows * row) {
    uint4 wa[rows], wb[rows];
    int64_t mine = k + lane * each;
    gr_begin_loose<Q::dtype, rows>(wa, a, mine, n - mine);
    if (Q::inputs == 2) gr_begin_loose<Q::dtype, rows>(wb, b, mine, n - mine);
    gr_add_loose<Q, rows>(s.l, wa, wb, a, b, mine, n - mine, (int)min((int64_t)rows, (n - k + row - 1) / row), c);
    if constexpr (Q::kind == GR_ACC_PLACE)
      Q::mark(s.l[0], k + s.l[0].code / each * row + lane * each + s.l[0].code % each);
  }
  return s;
}

/*
** A whole leaf is read by the aligned words that hold it. Where the data starts `shift` bytes into a word, each lane
** of the leaf lies some slots further on, in all rows alike, and the end of a row stands in front of the next one, in
** the first thread: that one leaves out the start of its first word and takes the start of the word after its last.
** Folding by halves pairs slots by their distance, so it need not know. Inputs that start at different places in a word
** have each word put right instead (apart).
*/
struct gr_leaf_view {
  const char *a, *b; /* this lane's first words */
  int shift, shift_b;
  bool apart;
  int skip; /* bytes */
  uint4 after_a, after_b;
};
/* Where lanes leave no registers for it, the word after the last row comes once the rows are added. */
template <class Q>
constexpr bool gr_after_late = Q::lanes && (Q::inputs == 2 ? Q::fields > 1 : gr_size<Q::dtype> == 2);
template <class Q>
__device__ __forceinline__ void gr_load_after(gr_leaf_view &w) {
  constexpr int end = GR_LEAF_ROWS(gr_size<Q::dtype>) * GR_ROW_BYTES;
  if (w.skip == 0) return;
  w.after_a = gr_load16_at<end>(w.a);
  if (Q::inputs == 2) w.after_b = gr_load16_at<end>(w.b);
}

template <class Q>
__device__ __forceinline__ gr_leaf_view gr_view_of(const char *a, const char *b, int lane) {
  gr_leaf_view w;
  w.shift = w.shift_b = (int)((uintptr_t)a & 15);
  if (Q::inputs == 2) w.shift_b = (int)((uintptr_t)b & 15);
  w.apart = w.shift != w.shift_b;
  w.skip = w.apart || lane != 0 ? 0 : w.shift;
  w.a = a - w.shift + lane * 16;
  w.b = b - w.shift_b + lane * 16;
  w.after_a = w.after_b = make_uint4(0, 0, 0, 0);
  if (!gr_after_late<Q>) gr_load_after<Q>(w);
  return w;
}

/* Rows r.. of a leaf come, whichever way. */
template <class Q, int rows>
__device__ __forceinline__ void gr_load_view(uint4 (&a)[rows], uint4 (&b)[rows], const gr_leaf_view &w, int r,
                                             int lane) {
  gr_load_rows<rows>(a, w.a + r * GR_ROW_BYTES);
  if (Q::inputs == 2) gr_load_rows<rows>(b, w.b + r * GR_ROW_BYTES);
  if (w.apart) {
    gr_shift_rows<rows>(a, w.a + r * GR_ROW_BYTES, w.shift, lane);
    if (Q::inputs == 2) gr_shift_rows<rows>(b, w.b + r * GR_ROW_BYTES, w.shift_b, lane);
  } else if (!gr_placed<Q> && w.shift != 0 && r == 0) { /* in any order: the last take the place of the first */
    a[0] = gr_blend(a[0], w.after_a, w.skip);
    if (Q::inputs == 2) b[0] = gr_blend(b[0], w.after_b, w.skip);
  }
}

/* code: that of a row after the last. */
template <class Q>
__device__ __forceinline__ void gr_add_after(typename Q::Lane (&l)[gr_lanes_of<Q>], gr_leaf_view &w,
                                             const gr_context &k, int code) {
  constexpr int size = gr_size<Q::dtype>;
  if (!gr_placed<Q> || w.shift == 0) return;
  if (gr_after_late<Q>) gr_load_after<Q>(w);
  if constexpr (Q::by_word) {
    if constexpr (Q::kind == GR_ACC_PLACE)
      if (w.skip) l[0] = Q::look_at(l[0], w.after_a, k.twin, code, 0, w.skip / size);
  } else {
#pragma unroll
    for (int c = 0; c + 1 < 16 / size; c++)
      if (c * size < w.skip)
        Q::add(l[Q::lanes ? c : 0], gr_pick<Q::dtype>(w.after_a, c), gr_pick<Q::dtype>(w.after_b, c), k, code + c);
  }
}

/* A whole leaf at a (and b, of the second input). k: its first position. */
template <class Q, int batch>
__device__ __forceinline__ void gr_read_whole(gr_lane_set<Q> &s, const char *a, const char *b, int64_t k, int lane,
                                              const gr_context &c) {
  constexpr int size = gr_size<Q::dtype>, each = 16 / size, row = GR_LANES(size), rows = GR_LEAF_ROWS(size);
  gr_leaf_view w = gr_view_of<Q>(a, b, lane);
#pragma unroll 1
  for (int r = 0; r < rows; r += batch) {
    uint4 wa[batch], wb[batch];
    gr_load_view<Q, batch>(wa, wb, w, r, lane);
    gr_add_rows<Q, batch>(s.l, wa, wb, c, r == 0 ? w.skip / size : 0);
    if (r + batch == rows) gr_add_after<Q>(s.l, w, c, batch * each);
    if constexpr (Q::kind == GR_ACC_PLACE)
      Q::mark(s.l[0], k - w.shift / size + r * row + s.l[0].code / each * row + lane * each + s.l[0].code % each);
  }
}

/* The spread of a leaf: a whole one at `at`, else what lies from `first` on. */
template <class R>
__device__ __forceinline__ gr_acc gr_read_spread(const gr_walker &a, const char *at, bool whole, int64_t n,
                                                 int64_t first, int lane, gr_context c) {
  int64_t count = min((int64_t)GR_LEAF(gr_size<R::dtype>), n - first);
  if constexpr (R::exact) {
    using M = typename R::Moments;
    gr_lane_set<M> moments = gr_start_lanes<M>();
    if (whole) gr_read_whole<M, 8>(moments, at, at, first, lane, c);
    else moments = gr_read_loose<M, 8>(a, a, n, first, c);
    return R::of(gr_fold_lanes<M>(moments.l, c, 32, lane), count);
  } else {
    using S = typename R::Sum;
    using M = typename R::Squares;
    gr_acc acc;
    acc.f[2] = (double)count;
    gr_lane_set<S> sum = gr_start_lanes<S>();
    gr_lane_set<M> squares = gr_start_lanes<M>();
    if (!whole) {
      sum = gr_read_loose<S, 8>(a, a, n, first, c);
      acc.f[0] = gr_fold_lanes<S>(sum.l, c, 32, lane).f[0];
      c.a = acc.f[0] / acc.f[2];
      squares = gr_read_loose<M, 8>(a, a, n, first, c);
    } else if constexpr (gr_size<R::dtype> <= 2) { /* too much for registers; the second pass finds it in L1 */
      gr_read_whole<S, 8>(sum, at, at, first, lane, c);
      acc.f[0] = gr_fold_lanes<S>(sum.l, c, 32, lane).f[0];
      c.a = acc.f[0] / acc.f[2];
      gr_read_whole<M, 8>(squares, at, at, first, lane, c);
    } else {
      uint4 w[8];
      gr_leaf_view v = gr_view_of<S>(at, at, lane);
      gr_load_view<S, 8>(w, w, v, 0, lane);
      gr_add_rows<S, 8>(sum.l, w, w, c, v.skip / gr_size<R::dtype>);
      gr_add_after<S>(sum.l, v, c, 0);
      acc.f[0] = gr_fold_lanes<S>(sum.l, c, 32, lane).f[0];
      c.a = acc.f[0] / acc.f[2];
      gr_add_rows<M, 8>(squares.l, w, w, c, v.skip / gr_size<R::dtype>);
      gr_add_after<M>(squares.l, v, c, 0);
    }
    acc.f[1] = gr_deviations<R::dtype>(gr_fold_lanes<M>(squares.l, c, 32, lane).f[0], c.a);
    return acc;
  }
}

/* One vector and this warp's leaves of it: from `at` on, 2^q.warps apart, until `stop`. */
struct gr_task {
  const char *a, *b;
  int64_t n;
  int at, stop, whole; /* leaves; from `whole` on they cannot be read row by row */
};

/* Lane i of the result holds the value of the i-th leaf (where order does not matter: every lane that of all). */
template <class R>
__device__ __forceinline__ gr_acc gr_read_leaves(const gr_reduce_args &q, const gr_task &t, int lane) {
  constexpr int size = gr_size<R::dtype>, leaf = GR_LEAF(size);
  gr_acc mine = R::identity();
  gr_lane_set<typename gr_plain<R>::type> kept = gr_start_lanes<typename gr_plain<R>::type>();
#pragma unroll 1
  for (int i = 0, at = t.at; at < t.stop; i++, at += 1 << q.warps) {
    int64_t k = (int64_t)at * leaf;
    bool whole = at < t.whole;
    gr_acc acc;
    if constexpr (R::spread) {
      acc = gr_read_spread<R>({t.a, q.job.a.stride}, t.a + k * size, whole, t.n, k, lane, q.context);
    } else {
      if (R::leaves) kept = gr_start_lanes<R>();
      if (whole) {
        gr_read_whole<R, gr_batch<R>>(kept, t.a + k * size, t.b + k * size, k, lane, q.context);
      } else {
        constexpr int rows = R::inputs == 2 || size == 2 ? 4 : 8;
        const gr_walker a = {t.a, q.job.a.stride}, b = {t.b, q.job.b.stride};
        gr_lane_set<R> loose = gr_read_loose<R, rows>(a, b, t.n, k, q.context);
        if constexpr (R::leaves) kept = loose;
        else mine = R::merge(mine, R::state(loose.l[0], q.context));
      }
      if constexpr (R::leaves) acc = gr_fold_lanes<R>(kept.l, q.context, 32, lane);
    }
    if constexpr (R::leaves) mine = gr_select<R>(lane == i, acc, mine);
  }
  if constexpr (!R::leaves) mine = gr_fold_adjacent<R>(R::merge(mine, R::state(kept.l[0], q.context)), 32);
  return mine;
}

constexpr int gr_leaves_block = 512; /* threads at most */

/*
** 64 registers let four blocks of 256 threads reside, 128 KB in flight: one wave of blocks covers 2^24
** elements. Two inputs have as much in flight with two blocks; 16-bit floats have twice the lanes.
*/
template <class R>
constexpr int gr_leaves_need() {
  constexpr int size = gr_size<R::dtype>;
  constexpr bool extreme = R::kind == GR_ACC_ORDER || R::kind == GR_ACC_PLACE;
  if (R::inputs > 1 || (R::fields > 1 && !extreme) || (R::red == GR_RED_PROD && size <= 2)) return 128;
  if (R::red == GR_RED_SUMSQ && R::lanes && size == 2) return 88;
  if (R::kind == GR_ACC_PLACE ? size != 4 : (R::lanes || extreme) && size == 2) return 80;
  return 64;
}
template <class R>
constexpr int gr_leaves_registers = gr_leaves_need<R>();
/* Blocks of 256 threads that a multiprocessor can hold. */
template <class R>
constexpr int gr_leaves_resident = 65536 / 256 / gr_leaves_registers<R>;

#if CUDART_VERSION >= 12040
#define GR_LEAVES_BOUNDS(R) __maxnreg__(gr_leaves_registers<R>)
#else
#define GR_LEAVES_BOUNDS(R) __launch_bounds__(gr_leaves_block)
#endif

/*
** The end of a vector of several blocks: their nodes meet in one of them. Few are posted to the first block, many go to
** scratch and the last block to come takes them. True in the block that has acc then, in its first warp.
*/
template <class R>
__device__ __forceinline__ bool gr_fold_blocks(const gr_reduce_args &q, gr_acc &acc, int64_t *value, int64_t v,
                                               unsigned node, int warp, int lane) {
  int count = (int)q.nodes;
  if (q.posted) {
    uint64_t *posts = q.post + v * q.nodes * R::fields * gr_post_words;
    constexpr int pitch = R::fields * gr_post_words;
    if (node != 0) {
      if (threadIdx.x == 0) gr_post<R>(posts + node * pitch, acc);
      return false;
    }
    int twice = count > (int)blockDim.x, from = threadIdx.x << twice, threads = (count + twice) >> twice;
    if (threadIdx.x < threads) {
      gr_acc next = R::identity(); /* the first thread has the first node */
      gr_await_posts<R>(posts + from * pitch, threadIdx.x > 0, acc, twice && from + 1 < count, next);
      gr_put<R>(value + 256 + threadIdx.x, 512, R::merge(acc, next)); /* the first 256 may still be read */
    }
    __syncthreads();
    if (warp == 0) acc = gr_fold_256<R>(value + 256, 512, threads, lane);
    return true;
  }
  int64_t *nodes = q.node + v * q.nodes * R::fields;
  if (threadIdx.x == 0) gr_put<R>(nodes + node, q.nodes, acc);
  if (!gr_last_block(q.counter + v, (unsigned)count, true)) return false;
  int units = (count + 255) >> 8;
  for (int u = warp; u < units; u += blockDim.x >> 5) {
    acc = gr_fold_256<R>(nodes + u * 256, q.nodes, min(256, count - u * 256), lane);
    if (units > 1 && lane == 0) gr_put<R>(value + u, 512, acc);
  }
  if (units > 1) {
    __syncthreads();
    if (warp == 0) acc = gr_fold_many<R>(value, 512, units, lane);
  }
  return true;
}

/* Which vector, of this launch, and which node of it. Looked up again at the end rather than kept. */
struct gr_which {
  int64_t v;
  unsigned node;
};
static __device__ __forceinline__ gr_which gr_which_of(const gr_reduce_args &q, int warp) {
  unsigned v = blockIdx.x, node = 0;
  if (q.nodes > 1) {
    v = blockIdx.x / (unsigned)q.nodes;
    node = blockIdx.x - v * (unsigned)q.nodes;
  }
  return {(int64_t)v * (blockDim.x >> 5 >> q.warps) + (warp >> q.warps), node};
}

/*
** A block holds nodes of 2^q.warps warps, side by side; if a vector has several nodes, exactly one.
** passes <= 32 and 2^warps * passes <= 256.
*/
template <class R>
__global__ void GR_LEAVES_BOUNDS(R) gr_reduce_leaves(const __grid_constant__ gr_reduce_args q) {
  __shared__ int64_t value[R::fields * 512];
  constexpr int leaf = GR_LEAF(gr_size<R::dtype>);
  int lane = threadIdx.x & 31, warp = gr_warp_index(), sub = warp;
  unsigned node = blockIdx.x;
  gr_task t = {(const char *)q.job.a.data, (const char *)q.job.b.data, q.job.n, 0, 0, 0};
  if (!q.flat) {
    gr_await_earlier(); /* positions of segments */
    gr_which w = gr_which_of(q, warp);
    sub = warp & ((1 << q.warps) - 1);
    node = w.node;
    t.n = 0;
    if (w.v < q.job.count) {
      gr_stretch s = gr_stretch_of(q, q.first + w.v);
      t = {t.a + s.from * q.job.a.step, t.b + s.from * q.job.b.step, s.n <= q.job.n ? s.n : 0, 0, 0, 0};
      if (q.arrays) t.a = (const char *)q.array[w.v].a, t.b = (const char *)q.array[w.v].b;
    }
  }
  t.at = ((int)node * q.passes << q.warps) + sub;
  t.stop = min((int)((t.n + leaf - 1) / leaf), t.at + (q.passes << q.warps));
  t.whole = q.strided ? 0 : (int)(t.n / leaf);
  gr_await_earlier();
  gr_acc acc = gr_read_leaves<R>(q, t, lane);
  gr_let_next_start();
  int passes = R::leaves ? q.passes : 1;
  if (q.warps == 0) {
    if (R::leaves && passes > 1) acc = gr_fold_adjacent<R>(acc, 32);
  } else {
    int64_t *mine = value + (warp - sub) * passes;
    if (lane < passes) gr_put<R>(mine + (lane << q.warps) + sub, 512, acc);
    __syncthreads();
    if (sub == 0) acc = gr_fold_256<R>(mine, 512, passes << q.warps, lane);
  }
  gr_which w = {0, node};
  gr_stretch s = {0, q.job.n, 0};
  if (!q.flat) {
    w = gr_which_of(q, warp);
    if (w.v < q.job.count) s = gr_stretch_of(q, q.first + w.v);
  }
  bool writes = sub == 0 && lane == 0;
  if (q.nodes > 1) {
    if (!gr_fold_blocks<R>(q, acc, value, w.v, w.node, warp, lane)) return;
    writes = threadIdx.x == 0;
  }
  if (writes && w.v < q.job.count && s.n <= q.job.n) gr_write<R>(q, acc, s.place, s.n);
}

#endif
