/*
** From a leaf to its state; and from the leaves that a warp takes in turn to theirs.
*/
#ifndef GR_CUDA_REDUCE_LEAF_STATES_CUH
#define GR_CUDA_REDUCE_LEAF_STATES_CUH

#include "kernels/cuda/grid/combine.cuh"
#include "kernels/cuda/warp/leaf_position.cuh"

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
    if constexpr (Q::kind == GR_ACC_POSITION) {
      gr_bring_rows<Q, batch>(wa, wb, w.a + r * GR_ROW_BYTES, nullptr);
      gr_position_rows<Q>(s.l[0], wa, w, r, c.key_xor, k, lane, node);
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

/*
** Of one vector that is a formula's, from address 0 on, whose end is read as its whole leaves are: what is missing is
** not loaded. That is less to compile than a loop over words, and rows are on their way together. Lanes of several
** fields have no time for it: each element asks whether it is there.
*/
template <class R>
constexpr bool gr_ends_in_rows =
    R::formula && R::number && !R::variance && R::kind != GR_ACC_POSITION;
template <class Q>
constexpr int gr_rows_ahead = Q::beside                   ? gr_formula_tuning::rows_held_beside
                              : Q::lanes && Q::fields > 1 ? gr_formula_tuning::rows_held_of_fields
                                                          : gr_formula_tuning::rows_held;
/*
** What is not there of a word becomes -0, which changes no sum. So sums are added by one copy of their code, whose
** lanes stay in the same registers: two copies, of which one asks at each element, cost six moves a row in the main
** loop.
*/
template <class Q>
constexpr bool gr_blanks_end = Q::red == GR_RED_SUM && (Q::dtype == GR_F32 || Q::dtype == GR_F64);
template <class Q>
__device__ __forceinline__ void gr_blank_end(uint4 &word, int valid) {
  uint32_t *w = &word.x;
#pragma unroll
  for (int i = 0; i < 4; i++)
    if (i * 4 / gr_size<Q::dtype> >= valid) w[i] = Q::dtype == GR_F32 || i % 2 ? 0x80000000u : 0;
}

template <class Q>
__device__ __forceinline__ void gr_read_formula_leaf(gr_lane_set<Q> &s, typename Q::Beside &beside, int64_t k,
                                                     int64_t n, int lane, const gr_context &c) {
  constexpr int size = gr_size<Q::dtype>, each = 16 / size, row = GR_LANES(size), leaf = GR_LEAF(size);
  constexpr int batch = gr_rows_ahead<Q>;
  const int count = (int)min((int64_t)leaf, n - k);
  int left = count - lane * each;
  const char *p = (const char *)((k + lane * each) * size);
#pragma unroll 1
  for (int r = 0; r < count; r += batch * row, left -= batch * row, p += batch * GR_ROW_BYTES) {
    gr_formula_load(p, left);
#pragma unroll 1
    for (int i = 0; i < batch; i++) {
      uint4 a[1], b[1];
      gr_formula_next<Q::inputs>(a[0], b[0], p + i * GR_ROW_BYTES, left - i * row);
      const int valid = left - i * row;
      if (count == leaf) {
        if constexpr (Q::beside) Q::add_beside(beside, a[0], each);
        if constexpr (!gr_blanks_end<Q>) gr_add_rows<Q, 1>(s.l, a, b, c);
      } else {
        if constexpr (Q::beside) Q::add_beside(beside, a[0], valid);
        if constexpr (gr_blanks_end<Q>) gr_blank_end<Q>(a[0], valid);
        else gr_add_some<Q>(s.l, a[0], b[0], valid, c, 0);
      }
      if constexpr (gr_blanks_end<Q>) gr_add_rows<Q, 1>(s.l, a, b, c);
    }
  }
}

/* Whether S, the first pass of R, marks what it counts by bits; and what its lanes have counted, or marked. */
template <class R, class S>
constexpr bool gr_counts_by_marks = R::marks && std::is_same_v<S, gr_part_of<R, typename R::WholeSum>>;
template <class R, class S>
__device__ __forceinline__ uint32_t gr_counted(const gr_lane_set<S> &lanes) {
  constexpr bool marks = gr_counts_by_marks<R, S>;
  uint32_t counted = 0;
#pragma unroll
  for (int i = 0; i < gr_lanes_of<S>; i++) counted = marks ? counted | lanes.l[i].count : counted + lanes.l[i].count;
  if constexpr (marks) return counted;
  else return S::counted(counted);
}
/* What the first pass of a variance over so many elements has found: their sum, and how many are counted. */
template <class R, class S>
__device__ __forceinline__ gr_acc gr_begin_variance(const gr_lane_set<S> &lanes, int64_t all, const gr_context &c,
                                                  int lane) {
  if constexpr (R::skips) { /* counts need not fold by halves */
    gr_lane_set<typename R::Plain> sums;
    uint32_t count = gr_counted<R, S>(lanes);
#pragma unroll
    for (int i = 0; i < gr_lanes_of<S>; i++) sums.l[i].f[0] = lanes.l[i].sum;
    if constexpr (gr_counts_by_marks<R, S>) count = __popc(count);
    gr_acc acc = gr_fold_lanes<typename R::Plain>(sums.l, c, 32, lane);
    acc.f[2] = (double)gr_warp_sum(count);
    return acc;
  } else {
    return R::begun(gr_fold_lanes<S>(lanes.l, c, 32, lane), all);
  }
}

/* The variance of the leaf from `first` on: exact, or one that cannot be read row by row. */
template <class R>
__device__ __forceinline__ gr_acc gr_read_variance(const gr_walker &a, const char *at, bool whole, int64_t n,
                                                 int64_t first, int lane, gr_context c) {
  int64_t count = min((int64_t)GR_LEAF(gr_size<R::dtype>), n - first);
  if constexpr (R::exact) {
    using M = gr_part_of<R, typename R::Moments>;
    gr_lane_set<M> moments = gr_start_lanes<M>();
    if (whole) gr_read_whole<M, gr_rows_of_one>(moments, at, at, first, lane, c);
    else moments = gr_read_loose<M, gr_rows_of_one>(a, a, n, first, c);
    return R::of(gr_fold_lanes<M>(moments.l, c, 32, lane), count);
  } else {
    using S = gr_part_of<R, typename R::Sum>;
    using M = gr_part_of<R, typename R::Squares>;
    gr_acc acc = gr_begin_variance<R>(gr_read_loose<S, gr_rows_of_one>(a, a, n, first, c), count, c, lane);
    c.a = acc.f[0] / acc.f[2];
    gr_lane_set<M> squares = gr_read_loose<M, gr_rows_of_one>(a, a, n, first, c);
    acc.f[1] = gr_deviations<R::dtype>(gr_fold_lanes<M>(squares.l, c, 32, lane).f[0], c.a);
    return acc;
  }
}

/* The second pass over a leaf; the registers of each row then take that row of the next leaf. */
template <class M, int rows, int r = 0>
__device__ __forceinline__ void gr_add_squares(typename M::Lane (&l)[gr_lanes_of<M>], uint4 (&w)[rows],
                                               const gr_context &c, int skip, const char *next) {
  if constexpr (r < rows) {
    const uint4 row[1] = {w[r]};
    gr_add_rows<M, 1, r>(l, row, row, c, skip);
    if (next) w[r] = gr_load16_at<r * GR_ROW_BYTES>(next);
    gr_add_squares<M, rows, r + 1>(l, w, c, skip, next);
  }
}

/*
** The variance of a whole leaf at `at`, whose words are there; those of the next one come as they are used (var of f16
** 193 -> 172 us at 2^28). never: for gr_renew.
*/
template <class R, int rows>
__device__ __forceinline__ gr_acc gr_variance_of_words(uint4 (&w)[rows], const char *at, const char *next, bool never,
                                                     int lane, gr_context c) {
  using S = gr_part_of<R, typename R::WholeSum>;
  using M = gr_part_of<R, typename R::WholeSquares>;
  constexpr int size = gr_size<R::dtype>, leaf = GR_LEAF(size);
  gr_lane_set<S> sum = gr_start_lanes<S>();
  gr_lane_set<M> squares = gr_start_lanes<M>();
  gr_leaf_view v = gr_view_of<S>(at, at, lane);
  const uint4 first = w[0];
  if (!S::lanes && v.shift != 0) w[0] = gr_blend(first, v.after_a, v.skip);
  gr_add_rows<S, rows>(sum.l, w, w, c, v.skip / size);
  gr_add_after<S>(sum.l, v, c, 0);
  if constexpr (R::marks) c.numbers = gr_counted<R, S>(sum);
  gr_acc acc = gr_begin_variance<R>(sum, leaf, c, lane);
  if constexpr (!R::skips) c.a = acc.f[0] * (1.0 / leaf); /* a power of two: what a division gives */
  else if constexpr (size > 2) c.a = gr_mean_of<R::dtype>(acc.f[0], acc.f[2]);
  else c.a = acc.f[0] / acc.f[2]; /* fewer registers */
  w[0] = first;
  gr_renew<4 * rows>(&w[0].x, never);
  gr_add_squares<M, rows>(squares.l, w, c, v.skip / size, next);
  gr_add_after<M>(squares.l, v, c, 0);
  acc.f[1] = gr_deviations<R::dtype>(gr_fold_lanes<M>(squares.l, c, 32, lane).f[0], c.a);
  return acc;
}

/* One vector and this warp's leaves of it: from `at` on, 2^q.warps_log2 apart, until `stop`. */
struct gr_task {
  const char *a, *b;
  int64_t n;
  int at, stop, whole; /* leaves; from `whole` on they cannot be read row by row */
  int node;            /* of the block */
};

/* Lane i of the result holds the state of the i-th leaf; if order does not matter, every lane holds that of all. */
template <class R>
__device__ __forceinline__ gr_acc gr_read_leaves(const gr_reduce_args &q, const gr_task &t, int lane,
                                                 typename R::Beside &beside) {
  constexpr int size = gr_size<R::dtype>, leaf = GR_LEAF(size);
  gr_acc mine = R::identity();
  gr_lane_set<typename gr_plain<R>::type> kept = gr_start_lanes<typename gr_plain<R>::type>();
  int i = 0, at = t.at, stop = min(t.stop, t.whole);
  constexpr bool apart = !R::leaves && size > 2; /* whole leaves have a loop of their own: fewer registers */
  if constexpr (gr_ends_in_rows<R>) {
    gr_formula_hold<gr_rows_ahead<R>>();
#pragma unroll 1
    for (; at < t.stop; i++, at += 1 << q.warps_log2) {
      if (R::leaves) kept = gr_start_lanes<R>();
      gr_read_formula_leaf<R>(kept, beside, (int64_t)at * leaf, t.n, lane, q.context);
      if constexpr (R::leaves) mine = gr_select<R>(lane == i, gr_fold_lanes<R>(kept.l, q.context, 32, lane), mine);
    }
  } else if constexpr (apart) {
#pragma unroll 1
    for (; at < stop; at += 1 << q.warps_log2) {
      int64_t k = (int64_t)at * leaf;
      gr_read_whole<R, gr_batch<R>>(kept, t.a + k * size, t.b + k * size, k, lane, q.context, t.node);
    }
  } else if constexpr (R::variance && !R::exact) {
    constexpr int rows = GR_LEAF_ROWS(size);
    constexpr bool ahead = gr_arch >= 900 && !R::formula; /* earlier, that of f16 would spill */
    int64_t step = (int64_t)(leaf * size) << q.warps_log2;
    const char *p = t.a + (int64_t)at * leaf * size;
    const char *words = p - ((uintptr_t)p & 15) + lane * 16;
    uint4 w[rows];
    if (ahead && at < stop) gr_bring_rows<R, rows>(w, w, words, nullptr);
#pragma unroll 1
    for (; at < stop; i++, at += 1 << q.warps_log2, p += step) {
      if (R::formula && at + (1 << q.warps_log2) < stop) gr_formula_announce(p + step, leaf * size, lane);
      if (!ahead) gr_bring_rows<R, rows>(w, w, words, nullptr);
      words += step;
      const char *next = ahead && at + (1 << q.warps_log2) < stop ? words : nullptr;
      gr_acc acc = gr_variance_of_words<R>(w, p, next, q.strided, lane, q.context);
      mine = gr_select<R>(lane == i, acc, mine);
    }
  }
#pragma unroll 1
  for (; !gr_ends_in_rows<R> && at < t.stop; i++, at += 1 << q.warps_log2) {
    int64_t k = (int64_t)at * leaf;
    bool whole = at < t.whole;
    gr_acc acc;
    if constexpr (R::variance) {
      acc = gr_read_variance<R>({t.a, q.stride_a}, t.a + k * size, whole, t.n, k, lane, q.context);
    } else {
      if (R::leaves) kept = gr_start_lanes<R>();
      if (!apart && whole) {
        gr_read_whole<R, gr_batch<R>>(kept, t.a + k * size, t.b + k * size, k, lane, q.context, t.node);
      } else {
        const gr_walker a = {t.a, q.stride_a}, b = {t.b, q.stride_b};
        gr_lane_set<R> loose = gr_read_loose<R, gr_loose_rows<R>>(a, b, t.n, k, q.context);
        if constexpr (R::leaves) kept = loose;
        else mine = R::merge(mine, R::state(loose.l[0], q.context));
      }
      if constexpr (R::leaves) acc = gr_fold_lanes<R>(kept.l, q.context, 32, lane);
    }
    if constexpr (R::leaves) mine = gr_select<R>(lane == i, acc, mine);
  }
  if constexpr (!R::leaves) {
    mine = R::merge(mine, R::state(kept.l[0], q.context));
    /* else it is the warp's */
    if (R::kind != GR_ACC_POSITION || t.stop > t.whole) mine = gr_fold_adjacent<R>(mine, 32);
  }
  return mine;
}

#endif
