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
constexpr bool gr_after_late = (Q::lanes && (Q::inputs == 2 ? Q::fields > 1 : gr_size<Q::dtype> == 2)) ||
                               (Q::kind == GR_ACC_PLACE && gr_size<Q::dtype> == 8);
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

/*
** The largest element of a lane's word: of 8 bytes its key; of others as it is, narrow ones in both halves of a word, where
** what lies below a byte decides nothing.
*/
template <class Q>
using gr_largest = std::conditional_t<gr_size<Q::dtype> == 8, int64_t, uint32_t>;
template <class Q>
__device__ __forceinline__ gr_largest<Q> gr_larger(gr_largest<Q> a, gr_largest<Q> b) {
  if constexpr (gr_size<Q::dtype> == 8) return max(a, b);
  else return gr_better<Q::dtype, true>(a, b);
}
template <class Q>
__device__ __forceinline__ gr_largest<Q> gr_largest_of(const uint4 &w, uint32_t flip, int64_t twin) {
  constexpr gr_dtype D = Q::dtype;
  if constexpr (gr_size<D> == 8) {
    return max(Q::key(gr_pick<D>(w, 0), twin), Q::key(gr_pick<D>(w, 1), twin));
  } else {
    uint32_t u[4] = {w.x ^ flip, w.y ^ flip, w.z ^ flip, w.w ^ flip};
    if constexpr (gr_size<D> == 1)
#pragma unroll
      for (int i = 0; i < 4; i++) u[i] = gr_better<D, true>(u[i], u[i] << 8);
    return gr_better<D, true>(gr_better<D, true>(u[0], u[1]), gr_better<D, true>(u[2], u[3]));
  }
}
/* That element alone, and its key. */
template <class Q>
__device__ __forceinline__ gr_largest<Q> gr_alone(gr_largest<Q> x) {
  if constexpr (gr_size<Q::dtype> < 4) x = gr_better_half<Q::dtype, true>(x);
  return gr_size<Q::dtype> == 1 ? x >> 24 : x;
}
template <class Q>
__device__ __forceinline__ typename Q::K gr_key_of_largest(gr_largest<Q> x, int64_t twin) {
  constexpr gr_dtype D = Q::dtype;
  if constexpr (gr_size<D> == 8) return x;
  typename Q::K key = gr_key_of<D>((uint32_t)x);
  if (gr_floating<D> && key == (gr_size<D> == 4 ? INT32_MAX : INT16_MAX)) return gr_highest<typename Q::K>(); /* NaN */
  if constexpr (!gr_floating<D> && gr_size<D> < 4) /* as Q::key */
    key |= (typename Q::K)(twin & -((int64_t)1 << 8 * gr_size<D>));
  return key;
}
/* A word of elements that have the lowest key. */
template <class Q>
__device__ __forceinline__ uint4 gr_lowest_word(uint32_t flip, int64_t twin) {
  constexpr gr_dtype D = Q::dtype;
  if constexpr (gr_size<D> == 8) {
    uint64_t u = (uint64_t)(INT64_MIN ^ twin);
    if (gr_floating<D>) u = twin ? 0x7ff0000000000000u : 0xfff0000000000000u;
    return make_uint4((uint32_t)u, (uint32_t)(u >> 32), (uint32_t)u, (uint32_t)(u >> 32));
  }
  uint32_t u = D == GR_F32 ? 0xff800000u : D == GR_F16 ? 0xfc00fc00u : D == GR_BF16 ? 0xff80ff80u : 0u;
  u ^= flip;
  return make_uint4(u, u, u, u);
}

/*
** Rows r.. of a leaf at position k, for a warp that keeps one best of all its lanes. The largest of each row first; only if
** it is better, the first row and lane that have it; then the elements of that one word, read again, a lane each. Unaligned,
** the leaf ends in one row more, in the first lane.
*/
template <class Q, int rows>
__device__ __forceinline__ void gr_place_rows(typename Q::Lane &l, uint4 (&w)[rows], gr_leaf_view &v, int r,
                                              int64_t twin, int64_t k, int lane, int node) {
  constexpr gr_dtype D = Q::dtype;
  constexpr int size = gr_size<D>, each = 16 / size;
  const uint32_t flip = gr_flip_of<Q>(twin);
  gr_largest<Q> row[rows], after, best;
  if (r == 0 && v.shift != 0) {
    if (gr_after_late<Q>) gr_load_after<Q>(v);
    const uint4 lowest = gr_lowest_word<Q>(flip, twin);
    w[0] = gr_blend(w[0], lowest, v.skip);
    after = gr_largest_of<Q>(gr_blend(lowest, v.after_a, v.skip), flip, twin);
  }
#pragma unroll
  for (int i = 0; i < rows; i++) row[i] = gr_largest_of<Q>(w[i], flip, twin);
  if (r != 0 || v.shift == 0) after = row[0];
  best = after;
#pragma unroll
  for (int i = 0; i < rows; i++) best = gr_larger<Q>(best, row[i]);
  best = gr_alone<Q>(best);
  typename Q::K key = gr_key_of_largest<Q>(best, twin), most = gr_warp_max(key);
  int64_t at = k - v.shift / size + r * GR_LANES(size);
  if constexpr (gr_shares_best<Q>) {
    typename Q::K &shared = gr_best_of_node<Q>(node), seen = *(volatile typename Q::K *)&shared;
    if (most < __shfl_sync(~0u, seen, 0)) return; /* one answer for the whole warp */
    if (lane == 0) atomicMax(&shared, most);
  }
  if (most < l.best || (most == l.best && (uint64_t)l.place < (uint64_t)at)) return;
  unsigned which = gr_alone<Q>(after) == best ? GR_LEAF_ROWS(size) : ~0u;
#pragma unroll
  for (int i = rows - 1; i >= 0; i--)
    if (gr_alone<Q>(row[i]) == best) which = i;
  which = gr_warp_min(key == most ? which * 32 + lane : ~0u);
  int bytes = lane * size;
  bool mine = lane < each;
  if (which == 0 && r == 0) mine = mine && bytes >= v.shift;
  if (which == GR_LEAF_ROWS(size) * 32) mine = bytes < v.shift;
  const char *p = v.a + (r * GR_ROW_BYTES + (int)which * 16 - lane * 16 + bytes);
  uint4 element = gr_gather<D, 1>(p, 0, mine);
  unsigned found = __ballot_sync(~0u, mine && Q::key(gr_pick<D>(element, 0), twin) == most);
  int64_t place = at + (which * each + __ffs(found) - 1);
  if (most > l.best || (uint64_t)place < (uint64_t)l.place) l.place = place;
  l.best = most;
}

/* A whole leaf at a (and b, of the second input). k: its first position; node: of the block. */
template <class Q, int batch>
__device__ __forceinline__ void gr_read_whole(gr_lane_set<Q> &s, const char *a, const char *b, int64_t k, int lane,
                                              const gr_context &c, int node = 0) {
  constexpr int size = gr_size<Q::dtype>, each = 16 / size, rows = GR_LEAF_ROWS(size);
  constexpr bool ahead = Q::inputs == 2 && batch == 2; /* with room for few rows, the next ones are asked for early */
  gr_leaf_view w = gr_view_of<Q>(a, b, lane);
  uint4 next_a[batch], next_b[batch];
  if (ahead) gr_load_view<Q, batch>(next_a, next_b, w, 0, lane);
#pragma unroll ahead ? 2 : 1
  for (int r = 0; r < rows; r += batch) {
    uint4 wa[batch], wb[batch];
    if constexpr (Q::kind == GR_ACC_PLACE) {
      gr_load_rows<batch>(wa, w.a + r * GR_ROW_BYTES);
      gr_place_rows<Q>(s.l[0], wa, w, r, c.twin, k, lane, node);
      continue;
    }
    if constexpr (ahead) {
#pragma unroll
      for (int i = 0; i < batch; i++) wa[i] = next_a[i], wb[i] = next_b[i];
      if (r + batch < rows) gr_load_view<Q, batch>(next_a, next_b, w, r + batch, lane);
    } else {
      gr_load_view<Q, batch>(wa, wb, w, r, lane);
    }
    gr_add_rows<Q, batch>(s.l, wa, wb, c, r == 0 ? w.skip / size : 0);
    if (r + batch == rows) gr_add_after<Q>(s.l, w, c, batch * each);
  }
}

/* The spread of the leaf from `first` on: exact, or one that cannot be read row by row. */
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
    acc.f[0] = gr_fold_lanes<S>(gr_read_loose<S, 8>(a, a, n, first, c).l, c, 32, lane).f[0];
    c.a = acc.f[0] / acc.f[2];
    gr_lane_set<M> squares = gr_read_loose<M, 8>(a, a, n, first, c);
    acc.f[1] = gr_deviations<R::dtype>(gr_fold_lanes<M>(squares.l, c, 32, lane).f[0], c.a);
    return acc;
  }
}

/* The second pass over a leaf; each row gives its place to that of the next leaf. */
template <class M, int rows, int r = 0>
__device__ __forceinline__ void gr_add_squares(typename M::Lane (&l)[gr_lanes_of<M>], uint4 (&w)[rows],
                                               const gr_context &c, int skip, const char *next) {
  if constexpr (r < rows) {
    const uint4 row[1] = {w[r]};
    gr_add_rows<M, 1>(l, row, row, c, r == 0 ? skip : 0);
    if (next) w[r] = gr_load16_at<r * GR_ROW_BYTES>(next);
    gr_add_squares<M, rows, r + 1>(l, w, c, skip, next);
  }
}

/*
** The spread of a whole leaf at `at`, whose words are there; those of the next one come as they are used (var of f16 193 ->
** 172 us at 2^28). never is false, which the compiler does not know: it would keep what the first pass made of the words.
*/
template <class R, int rows>
__device__ __forceinline__ gr_acc gr_spread_of_words(uint4 (&w)[rows], const char *at, const char *next, bool never,
                                                     int lane, gr_context c) {
  using S = typename R::Sum;
  using M = typename R::Squares;
  constexpr int size = gr_size<R::dtype>, leaf = GR_LEAF(size);
  gr_acc acc;
  gr_lane_set<S> sum = gr_start_lanes<S>();
  gr_lane_set<M> squares = gr_start_lanes<M>();
  gr_leaf_view v = gr_view_of<S>(at, at, lane);
  const uint4 first = w[0];
  if (!S::lanes && v.shift != 0) w[0] = gr_blend(first, v.after_a, v.skip);
  gr_add_rows<S, rows>(sum.l, w, w, c, v.skip / size);
  gr_add_after<S>(sum.l, v, c, 0);
  acc.f[0] = gr_fold_lanes<S>(sum.l, c, 32, lane).f[0];
  acc.f[2] = leaf;
  c.a = acc.f[0] * (1.0 / leaf); /* a power of two: what a division gives */
  w[0] = first;
  if (never)
#pragma unroll
    for (int r = 0; r < rows; r++) w[r] = make_uint4(~w[r].x, ~w[r].y, ~w[r].z, ~w[r].w);
  gr_add_squares<M, rows>(squares.l, w, c, v.skip / size, next);
  gr_add_after<M>(squares.l, v, c, 0);
  acc.f[1] = gr_deviations<R::dtype>(gr_fold_lanes<M>(squares.l, c, 32, lane).f[0], c.a);
  return acc;
}

/* One vector and this warp's leaves of it: from `at` on, 2^q.warps apart, until `stop`. */
struct gr_task {
  const char *a, *b;
  int64_t n;
  int at, stop, whole; /* leaves; from `whole` on they cannot be read row by row */
  int node;            /* of the block */
};

#ifdef __CUDA_ARCH__
constexpr int gr_arch = __CUDA_ARCH__;
#else
constexpr int gr_arch = 900; /* plans count on this */
#endif

/* Lane i of the result holds the value of the i-th leaf (where order does not matter: every lane that of all). */
template <class R>
__device__ __forceinline__ gr_acc gr_read_leaves(const gr_reduce_args &q, const gr_task &t, int lane) {
  constexpr int size = gr_size<R::dtype>, leaf = GR_LEAF(size);
  gr_acc mine = R::identity();
  gr_lane_set<typename gr_plain<R>::type> kept = gr_start_lanes<typename gr_plain<R>::type>();
  int i = 0, at = t.at, stop = min(t.stop, t.whole);
  constexpr bool apart = !R::leaves && size > 2; /* whole leaves have a loop of their own: fewer registers */
  if constexpr (apart) {
#pragma unroll 1
    for (; at < stop; at += 1 << q.warps) {
      int64_t k = (int64_t)at * leaf;
      gr_read_whole<R, gr_batch<R>>(kept, t.a + k * size, t.b + k * size, k, lane, q.context, t.node);
    }
  } else if constexpr (R::spread && !R::exact) {
    constexpr int rows = GR_LEAF_ROWS(size);
    constexpr bool ahead = gr_arch >= 900; /* earlier, that of f16 would spill */
    int64_t step = (int64_t)(leaf * size) << q.warps;
    const char *p = t.a + (int64_t)at * leaf * size;
    const char *words = p - ((uintptr_t)p & 15) + lane * 16;
    uint4 w[rows];
    if (ahead && at < stop) gr_load_rows<rows>(w, words);
#pragma unroll 1
    for (; at < stop; i++, at += 1 << q.warps, p += step) {
      if (!ahead) gr_load_rows<rows>(w, words);
      words += step;
      const char *next = ahead && at + (1 << q.warps) < stop ? words : nullptr;
      gr_acc acc = gr_spread_of_words<R>(w, p, next, q.strided, lane, q.context);
      mine = gr_select<R>(lane == i, acc, mine);
    }
  }
#pragma unroll 1
  for (; at < t.stop; i++, at += 1 << q.warps) {
    int64_t k = (int64_t)at * leaf;
    bool whole = at < t.whole;
    gr_acc acc;
    if constexpr (R::spread) {
      acc = gr_read_spread<R>({t.a, q.stride_a}, t.a + k * size, whole, t.n, k, lane, q.context);
    } else {
      if (R::leaves) kept = gr_start_lanes<R>();
      if (!apart && whole) {
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
template <class R>
constexpr int gr_leaves_need() {
  constexpr int size = gr_size<R::dtype>;
  constexpr bool extreme = R::kind == GR_ACC_ORDER || R::kind == GR_ACC_PLACE;
  if (R::inputs > 1 || (R::fields > 1 && !extreme) || (R::red == GR_RED_PROD && size <= 2)) return 128;
  if (R::red == GR_RED_SUMSQ && R::lanes && size == 2) return 88;
  if (R::kind == GR_ACC_PLACE) return gr_arch == 900 ? 64 : gr_arch >= 1000 || size <= 2 ? 80 : 96;
  if (((R::lanes || extreme) && size == 2) || (extreme && gr_arch >= 1000)) return 80;
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
  if (q.meeting == GR_POSTED) {
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
    if (!q.untouched) gr_await_earlier(); /* positions of segments */
    gr_which w = gr_which_of(q, warp);
    sub = warp & ((1 << q.warps) - 1);
    node = w.node;
    t.n = 0;
    if (w.v < q.job.count && q.arrays) { /* asks for few lines of arguments */
      t = {(const char *)q.array[w.v].a, (const char *)q.array[w.v].b, q.n, 0, 0, 0, t.node};
    } else if (w.v < q.job.count) {
      gr_stretch s = gr_stretch_of(q, q.first + w.v);
      t = {t.a + s.from * q.job.a.step, t.b + s.from * q.job.b.step, s.n <= q.job.n ? s.n : 0, 0, 0, 0, t.node};
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
  if (q.meeting == GR_TELL_LEAVES) { /* a leaf a warp; counted anew, since t would take registers while rows are read */
    int64_t v = q.flat ? 0 : gr_which_of(q, warp).v, at = ((int64_t)node << q.warps) + sub;
    if (lane == 0 && at < q.leaves && (q.flat || v < q.job.count)) gr_tell_state<R>(q, v * q.leaves + at, acc);
    return;
  }
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
    s.place = w.v;
    if (w.v < q.job.count && !q.arrays) s = gr_stretch_of(q, q.first + w.v);
  }
  bool writes = sub == 0 && lane == 0;
  if (q.nodes > 1 && q.meeting == GR_TELL_NODES) {
    if (threadIdx.x == 0) gr_tell_state<R>(q, w.v * q.nodes + w.node, acc);
    return;
  }
  if (q.nodes > 1) {
    if (!gr_fold_blocks<R>(q, acc, value, w.v, w.node, warp, lane)) return;
    writes = threadIdx.x == 0;
  }
  if (!writes || (!q.flat && (w.v >= q.job.count || s.n > q.job.n))) return;
  if (q.done) gr_tell_state<R>(q, s.place, acc);
  else gr_write<R>(q, acc, s.place, s.n);
}

#endif
