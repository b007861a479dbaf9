/*
** The main kernel: one warp reads a leaf. For flat arrays, long rows and any stride.
*/
#ifndef GR_REDUCE_LEAVES_CUH
#define GR_REDUCE_LEAVES_CUH

#include "kernels/cuda/grid.cuh"
#include "kernels/cuda/load.cuh"

/* Rows in flight at once, of each input. */
template <class R>
constexpr int gr_batch_of_two = R::fields > 1 && !(R::red == GR_RED_COSINE && R::lanes) ? 4 : 8;
template <class R>
constexpr int gr_batch = R::inputs == 1                                   ? 8
                         : gr_size<R::dtype> > 2 || R::light || !R::lanes ? gr_batch_of_two<R>
                         : R::fields > 1                                  ? 2
                                                                          : 4;

/* skip: so many elements of the first row are left out (of those with lanes only). */
template <class Q, int rows>
__device__ __forceinline__ void gr_add_rows(typename Q::Lane (&l)[gr_lanes_of<Q>], const uint4 (&a)[rows],
                                            const uint4 (&b)[rows], const gr_context &k, int skip = 0) {
  constexpr int each = 16 / gr_size<Q::dtype>;
#pragma unroll
  for (int r = 0; r < rows; r++) {
    if constexpr (Q::by_word) {
      Q::add_word(l[0], a[r], b[r], k, r * each);
    } else {
#pragma unroll
      for (int c = 0; c < each; c++)
        if (!Q::lanes || r > 0 || c >= skip)
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

/*
** A batch of rows of a leaf's end, or of strided data. What lies in order is asked for row by row (p: the word of this lane's
** first element; left: how many elements there are from it on), all of it is added word by word, so that the code stays small.
*/
template <gr_dtype D, int rows, int r = 0>
__device__ __forceinline__ void gr_begin_loose(uint4 (&w)[rows], const char *p, int left) {
  if constexpr (r < rows) {
    w[r] = make_uint4(0, 0, 0, 0);
    if (left > r * GR_LANES(gr_size<D>)) w[r] = gr_load16_at<r * GR_ROW_BYTES>(p);
    gr_begin_loose<D, rows, r + 1>(w, p, left);
  }
}
template <gr_dtype D>
__device__ __forceinline__ uint4 gr_loose_word(uint4 begun, const gr_walker &v, int valid) {
  if (v.stride != gr_size<D>) return gr_gather<D>(v.p, v.stride, valid);
  return valid > 0 ? gr_load_end(begun, v.p, valid * gr_size<D>) : begun;
}
template <class Q, int rows>
__device__ __forceinline__ void gr_add_loose(typename Q::Lane (&l)[gr_lanes_of<Q>], uint4 (&wa)[rows], uint4 (&wb)[rows],
                                             gr_walker &a, gr_walker &b, int left, int used, const gr_context &k) {
  constexpr int each = 16 / gr_size<Q::dtype>, row = GR_LANES(gr_size<Q::dtype>);
#pragma unroll 1
  for (int r = 0; r < used; r++) {
    int valid = min(left - r * row, each);
    uint4 x = gr_loose_word<Q::dtype>(wa[0], a, valid), y = x;
    if (Q::inputs == 2) y = gr_loose_word<Q::dtype>(wb[0], b, valid);
    gr_add_some<Q>(l, x, y, valid, k, r * each);
    a.p += row * a.stride;
    gr_rotate(wa);
    if (Q::inputs == 2) b.p += row * b.stride, gr_rotate(wb);
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
  int lane = threadIdx.x & 31, count = (int)min(n - first, (int64_t)GR_LEAF(size));
  gr_lane_set<Q> s = gr_start_lanes<Q>();
  a.p += (first + lane * each) * a.stride;
  b.p += (first + lane * each) * b.stride;
#pragma unroll 1
  for (int k = 0; k < count; k += rows * row) {
    uint4 wa[rows], wb[rows];
    int left = count - k - lane * each;
    gr_begin_loose<Q::dtype, rows>(wa, gr_word_of(a.p), a.stride == size ? left : 0);
    if (Q::inputs == 2) gr_begin_loose<Q::dtype, rows>(wb, gr_word_of(b.p), b.stride == size ? left : 0);
    gr_add_loose<Q, rows>(s.l, wa, wb, a, b, left, min(rows, (count - k + row - 1) / row), c);
    if constexpr (Q::kind == GR_ACC_PLACE)
      Q::mark(s.l[0], first + k + s.l[0].code / each * row + lane * each + s.l[0].code % each);
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
  } else if (!Q::lanes && w.shift != 0 && r == 0) { /* in any order: the last take the place of the first */
    a[0] = gr_blend(a[0], w.after_a, w.skip);
    if (Q::inputs == 2) b[0] = gr_blend(b[0], w.after_b, w.skip);
  }
}

/* code: that of a row after the last. */
template <class Q>
__device__ __forceinline__ void gr_add_after(typename Q::Lane (&l)[gr_lanes_of<Q>], gr_leaf_view &w,
                                             const gr_context &k, int code) {
  constexpr int size = gr_size<Q::dtype>;
  if (!Q::lanes || w.shift == 0) return;
  if (gr_after_late<Q>) gr_load_after<Q>(w);
#pragma unroll
  for (int c = 0; c + 1 < 16 / size; c++)
    if (c * size < w.skip)
      Q::add(l[Q::lanes ? c : 0], gr_pick<Q::dtype>(w.after_a, c), gr_pick<Q::dtype>(w.after_b, c), k, code + c);
}

/* ---- the first of the largest ---- */
/*
** The best key that any warp of a node has, of elements of 4 bytes: a warp that is behind need not look where its own lies
** (argmax of 2^22 f32 7.34 -> 7.15 us; of u8 and f16 no gain).
*/
template <class Q>
constexpr bool gr_shares_best = Q::kind == GR_ACC_PLACE && gr_size<Q::dtype> == 4;
template <class Q>
__device__ __forceinline__ typename Q::K &gr_best_of_node(int node) {
  __shared__ typename Q::K best[16];
  return best[node];
}

/* What words are xored with: floats change their sign, integers what twin says. */
template <class Q>
__device__ __forceinline__ uint32_t gr_flip_of(int64_t twin) {
  constexpr int size = gr_size<Q::dtype>;
  constexpr uint32_t own = size == 1 ? 0xffu : size == 2 ? 0xffffu : ~0u;
  return ((uint32_t)twin & (gr_floating<Q::dtype> ? own ^ own >> 1 : own)) * (~0u / own);
}

/* The key of the largest in some rows, and its bits: narrow ones in all places of a word; a NaN's are canonical. */
template <class Q>
struct gr_largest {
  using K = typename Q::K;
  using Bits = std::conditional_t<gr_size<Q::dtype> == 8, int64_t, uint32_t>;
  K key;
  Bits bits;
  bool nan;
};
template <class Q, int rows>
__device__ __forceinline__ gr_largest<Q> gr_largest_of(const uint4 (&w)[rows], int64_t twin) {
  constexpr gr_dtype D = Q::dtype;
  gr_largest<Q> x = {gr_lowest<typename Q::K>(), 0, false};
  if constexpr (gr_size<D> == 8) {
#pragma unroll
    for (int r = 0; r < rows; r++)
#pragma unroll
      for (int c = 0; c < 2; c++) x.key = max(x.key, Q::key(gr_pick<D>(w[r], c), twin));
    x.nan = gr_floating<D> && x.key == INT64_MAX;
    x.bits = gr_floating<D> && !x.nan ? gr_key_bits64((uint64_t)(x.key ^ twin)) : x.nan ? x.key : x.key ^ twin;
  } else {
    uint32_t flip = gr_flip_of<Q>(twin), best = 0;
#pragma unroll
    for (int r = 0; r < rows; r++) {
      uint32_t u[4] = {w[r].x ^ flip, w[r].y ^ flip, w[r].z ^ flip, w[r].w ^ flip};
      if constexpr (gr_size<D> == 1)
#pragma unroll
        for (int i = 0; i < 4; i++) u[i] = gr_better<D, true>(u[i] & gr_even_bytes, u[i] >> 8 & gr_even_bytes);
      u[0] = gr_better<D, true>(gr_better<D, true>(u[0], u[1]), gr_better<D, true>(u[2], u[3]));
      best = r ? gr_better<D, true>(best, u[0]) : u[0];
    }
    best = gr_better_half<D, true>(best);
    x.key = gr_key_of<D>(best);
    x.nan = gr_floating<D> && x.key == (gr_size<D> == 4 ? INT32_MAX : INT16_MAX);
    if (x.nan) x.key = gr_highest<typename Q::K>();
    if (!gr_floating<D> && gr_size<D> < 4) x.key |= (typename Q::K)(twin & -((int64_t)1 << 8 * gr_size<D>)); /* as Q::key */
    if (gr_size<D> == 1) best = __byte_perm(best, 0, 0);
    x.bits = x.nan ? best : best ^ flip;
  }
  return x;
}

/* All NaNs the same. */
template <gr_dtype D>
__device__ __forceinline__ void gr_one_nan(uint4 &w) {
  if constexpr (gr_size<D> == 8) {
    constexpr int64_t inf = 0x7ff0000000000000; /* not by gr_is_nan: its answers would be kept from before */
    if ((gr_pick<GR_I64>(w, 0) & INT64_MAX) > inf) w.x = ~0u, w.y = INT32_MAX;
    if ((gr_pick<GR_I64>(w, 1) & INT64_MAX) > inf) w.z = ~0u, w.w = INT32_MAX;
  } else if constexpr (gr_floating<D>) {
    w.x = gr_better<D, true>(w.x, w.x);
    w.y = gr_better<D, true>(w.y, w.y);
    w.z = gr_better<D, true>(w.z, w.z);
    w.w = gr_better<D, true>(w.w, w.w);
  }
}

/* The top bits of those elements of a word, part i of it, that have these bits. */
template <class Q>
__device__ __forceinline__ uint32_t gr_marks_of(const uint4 &w, int i, typename gr_largest<Q>::Bits bits) {
  constexpr int size = gr_size<Q::dtype>;
  constexpr uint32_t low = size == 1 ? 0x7f7f7f7fu : 0x7fff7fffu, top = 0x80000000u;
  uint32_t x = i == 0 ? w.x : i == 1 ? w.y : i == 2 ? w.z : w.w;
  if constexpr (size == 8) return gr_pick<GR_I64>(w, i) == bits ? top : 0;
  else if constexpr (size == 4) return x == bits ? top : 0;
  x ^= (uint32_t)bits;
  return ~(((x & low) + low) | x | low);
}

/*
** Where this lane has them first, counted from the warp's first element. What lies in the first `skip` bytes of its first
** word comes after the leaf.
*/
template <class Q, int rows>
__device__ __forceinline__ unsigned gr_first_of(const uint4 (&w)[rows], typename gr_largest<Q>::Bits bits, int skip) {
  constexpr int size = gr_size<Q::dtype>, part = size == 8 ? 8 : 4, parts = 16 / part;
  unsigned where = ~0u;
  uint32_t marks = 0;
#pragma unroll
  for (int r = rows; r >= 0; r--) /* the first row once more, for what comes after */
#pragma unroll
    for (int i = parts - 1; i >= 0; i--) {
      uint32_t x = gr_marks_of<Q>(w[r % rows], i, bits);
      if (r % rows == 0) {
        int skipped = min(max(skip - part * i, 0), 4);
        uint32_t mine = skipped == 4 ? 0u : ~0u << 8 * skipped;
        x &= r == 0 ? mine : ~mine;
      }
      if (x) marks = x, where = (r == rows ? GR_LEAF_ROWS(size) : r) * parts + i;
    }
  if (where == ~0u) return where;
  unsigned element = size < 4 ? __ffs(marks) / (8 * size) - 1 : 0;
  return where / parts * GR_LANES(size) + (threadIdx.x & 31) * (16 / size) + where % parts * (part / size) + element;
}

/* Rows from position `at` on, for a warp that keeps one best of all its lanes; node: which one of the block. */
template <class Q, int rows>
__device__ __forceinline__ void gr_place_rows(typename Q::Lane &l, uint4 (&w)[rows], int64_t twin, int64_t at, int skip,
                                              int node) {
  gr_largest<Q> x = gr_largest_of<Q>(w, twin);
  typename Q::K most = gr_warp_max(x.key);
  if constexpr (gr_shares_best<Q>) {
    typename Q::K &shared = gr_best_of_node<Q>(node), seen = *(volatile typename Q::K *)&shared;
    if (most < __shfl_sync(~0u, seen, 0)) return; /* one answer for the whole warp */
    if ((threadIdx.x & 31) == 0) atomicMax(&shared, most);
  }
  if (most < l.best || (most == l.best && (uint64_t)l.place < (uint64_t)at)) return;
  if (gr_floating<Q::dtype> && x.nan)
#pragma unroll
    for (int r = 0; r < rows; r++) gr_one_nan<Q::dtype>(w[r]);
  int64_t place = at + gr_warp_min(x.key == most ? gr_first_of<Q>(w, x.bits, skip) : ~0u);
  if (most > l.best || (uint64_t)place < (uint64_t)l.place) l.place = place;
  l.best = most;
}

/* A whole leaf at a (and b, of the second input). k: its first position; node: of the block. */
template <class Q, int batch>
__device__ __forceinline__ void gr_read_whole(gr_lane_set<Q> &s, const char *a, const char *b, int64_t k, int lane,
                                              const gr_context &c, int node = 0) {
  constexpr int size = gr_size<Q::dtype>, each = 16 / size, row = GR_LANES(size), rows = GR_LEAF_ROWS(size);
  gr_leaf_view w = gr_view_of<Q>(a, b, lane);
#pragma unroll 1
  for (int r = 0; r < rows; r += batch) {
    uint4 wa[batch], wb[batch];
    gr_load_view<Q, batch>(wa, wb, w, r, lane);
    if constexpr (Q::kind == GR_ACC_PLACE) {
      gr_place_rows<Q>(s.l[0], wa, c.twin, k - w.shift / size + r * row, r == 0 ? w.skip : 0, node);
    } else {
      gr_add_rows<Q, batch>(s.l, wa, wb, c, r == 0 ? w.skip / size : 0);
      if (r + batch == rows) gr_add_after<Q>(s.l, w, c, batch * each);
    }
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
    } else {
      constexpr int rows = GR_LEAF_ROWS(gr_size<R::dtype>);
      uint4 w[rows];
      gr_leaf_view v = gr_view_of<S>(at, at, lane);
      gr_load_view<S, rows>(w, w, v, 0, lane);
      gr_add_rows<S, rows>(sum.l, w, w, c, v.skip / gr_size<R::dtype>);
      gr_add_after<S>(sum.l, v, c, 0);
      acc.f[0] = gr_fold_lanes<S>(sum.l, c, 32, lane).f[0];
      c.a = acc.f[0] / acc.f[2];
      gr_add_rows<M, rows>(squares.l, w, w, c, v.skip / gr_size<R::dtype>);
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
  int node;            /* of the block */
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
      acc = gr_read_spread<R>({t.a, q.stride_a}, t.a + k * size, whole, t.n, k, lane, q.context);
    } else {
      if (R::leaves) kept = gr_start_lanes<R>();
      if (whole) {
        gr_read_whole<R, gr_batch<R>>(kept, t.a + k * size, t.b + k * size, k, lane, q.context, t.node);
      } else {
        constexpr int rows = R::inputs == 2 || size == 2 || (R::kind == GR_ACC_PLACE && size == 1) ? 4 : 8;
        const gr_walker a = {t.a, q.stride_a}, b = {t.b, q.stride_b};
        gr_lane_set<R> loose = gr_read_loose<R, rows>(a, b, t.n, k, q.context);
        if constexpr (R::leaves) kept = loose;
        else mine = R::merge(mine, R::state(loose.l[0], q.context));
      }
      if constexpr (R::leaves) acc = gr_fold_lanes<R>(kept.l, q.context, 32, lane);
    }
    if constexpr (R::leaves) mine = gr_select<R>(lane == i, acc, mine);
  }
  if constexpr (!R::leaves) {
    mine = R::merge(mine, R::state(kept.l[0], q.context));
    if (R::kind != GR_ACC_PLACE || t.stop > t.whole) mine = gr_fold_adjacent<R>(mine, 32); /* else it is the warp's */
  }
  return mine;
}

constexpr int gr_leaves_block = 512; /* threads at most */

/*
** 64 registers let four blocks of 256 threads reside, 128 KB in flight: one wave of blocks covers 2^24
** elements. Two inputs have as much in flight with two blocks; 16-bit floats have twice the lanes. Elsewhere than on
** Hopper extremes would spill at 64.
*/
#ifdef __CUDA_ARCH__
constexpr int gr_arch = __CUDA_ARCH__;
#else
constexpr int gr_arch = 900; /* plans count on this */
#endif
template <class R>
constexpr int gr_leaves_need() {
  constexpr int size = gr_size<R::dtype>;
  constexpr bool extreme = R::kind == GR_ACC_ORDER || R::kind == GR_ACC_PLACE;
  if (R::inputs > 1 || (R::fields > 1 && !extreme) || (R::red == GR_RED_PROD && size <= 2)) return 128;
  if (R::red == GR_RED_SUMSQ && R::lanes && size == 2) return 88;
  if (R::kind == GR_ACC_PLACE && size > 2) return gr_arch == 900 ? 64 : gr_arch >= 800 ? 80 : 96;
  if (R::kind == GR_ACC_PLACE || ((R::lanes || extreme) && size == 2) || (extreme && gr_arch >= 1000)) return 80;
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
  constexpr int size = gr_size<R::dtype>, leaf = GR_LEAF(size);
  int lane = threadIdx.x & 31, warp = gr_warp_index(), sub = warp;
  unsigned node = blockIdx.x;
  gr_task t = {(const char *)q.a, (const char *)q.b, q.n, 0, 0, 0, warp >> q.warps};
  if (!q.flat) {
    gr_await_earlier(); /* positions of segments */
    gr_which w = gr_which_of(q, warp);
    sub = warp & ((1 << q.warps) - 1);
    node = w.node;
    t.n = 0;
    if (w.v < q.job.count) {
      gr_stretch s = gr_stretch_of(q, q.first + w.v);
      t = {t.a + s.from * q.job.a.step, t.b + s.from * q.job.b.step, s.n <= q.job.n ? s.n : 0, 0, 0, 0, t.node};
      if (q.arrays) t.a = (const char *)q.array[w.v].a, t.b = (const char *)q.array[w.v].b;
    }
  }
  t.at = ((int)node * q.passes << q.warps) + sub;
  t.stop = min((int)((t.n + leaf - 1) / leaf), t.at + (q.passes << q.warps));
  t.whole = q.strided ? 0 : (int)(t.n / leaf);
  if (q.ahead) {
    int64_t from = (int64_t)t.at * leaf * size, left = t.n * size - from;
    gr_ask_ahead<leaf * size>(t.a + from, left, lane);
    if (R::inputs == 2) gr_ask_ahead<leaf * size>(t.b + from, left, lane);
  }
  if constexpr (gr_shares_best<R>) {
    if (lane == 0) gr_best_of_node<R>(warp) = gr_lowest<typename R::K>();
    __syncthreads();
  }
  asm volatile("" ::"l"(q.out), "l"(q.post)); /* the other lines of arguments, before they are wanted in a hurry */
  if (q.untouched) gr_let_next_start(); /* all of it may overlap with the launches around it, but for what it writes */
  else gr_await_earlier();
  gr_acc acc = gr_read_leaves<R>(q, t, lane);
  if (q.untouched) gr_await_earlier();
  else gr_let_next_start();
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
  gr_stretch s = {0, q.n, 0};
  if (!q.flat) {
    w = gr_which_of(q, warp);
    if (w.v < q.job.count) s = gr_stretch_of(q, q.first + w.v);
  }
  bool writes = sub == 0 && lane == 0;
  if (q.nodes > 1) {
    if (!gr_fold_blocks<R>(q, acc, value, w.v, w.node, warp, lane)) return;
    writes = threadIdx.x == 0;
  }
  if (writes && (q.flat || (w.v < q.job.count && s.n <= q.job.n))) gr_write<R>(q, acc, s.place, s.n);
}

#endif
