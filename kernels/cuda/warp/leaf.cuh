/*
** How a warp reads a leaf: a whole one row by row, wherever it starts; the last one of a vector, and strided ones, word
** by word. What is read is added to lanes.
*/
#ifndef GR_CUDA_WARP_LEAF_CUH
#define GR_CUDA_WARP_LEAF_CUH

#include "kernels/cuda/formula/hole.cuh"
#include "kernels/cuda/warp/tuning.h"

/* Elements from .. to - 1 of a word are about to be added; what is to be left out of them is blanked. */
template <class Q>
__device__ __forceinline__ void gr_blank_missing(uint4 &a, uint4 &b, int from, int to) {
  if constexpr (Q::blanks) {
    gr_there there = {0, 0};
    gr_blank_word<Q>(a, b, from, to, there);
    if (Q::counts) gr_add_to_tally(there.total());
  }
}

/* The elements of one word of row r of some, from the skip-th on (of those with lanes only). */
template <class Q>
__device__ __forceinline__ void gr_add_row(typename Q::Lane (&l)[gr_lanes_of<Q>], const uint4 &a, const uint4 &b,
                                           const gr_context &k, int r, int skip) {
  constexpr int each = 16 / gr_size<Q::dtype>;
  if constexpr (Q::by_word) {
    Q::add_word(l[0], a, b, k, r * each);
  } else if constexpr (Q::by_pair) {
    const uint32_t part[4] = {a.x, a.y, a.z, a.w};
#pragma unroll
    for (int c = 0; c < each; c += 2) { /* what is to be left out becomes NaN */
      const uint32_t out = r > 0 ? 0 : (c < skip ? 0x7fffu : 0u) | (c + 1 < skip ? 0x7fff0000u : 0u);
      Q::add_pair(l[c], l[c + 1], part[c / 2] | out, k, l[0]);
    }
  } else {
#pragma unroll
    for (int c = 0; c < each; c++)
      if (!Q::lanes || r > 0 || c >= skip) {
        if constexpr (Q::by_place) Q::add_place(l[c], a, c, k);
        else Q::add(l[Q::lanes ? c : 0], gr_pick<Q::dtype>(a, c), gr_pick<Q::dtype>(b, c), k, r * each + c);
      }
  }
}

/* Rows `first` and on; skip: so many elements of row 0 are left out. */
template <class Q, int rows, int first = 0>
__device__ __forceinline__ void gr_add_rows(typename Q::Lane (&l)[gr_lanes_of<Q>], const uint4 (&a)[rows],
                                            const uint4 (&b)[rows], const gr_context &k, int skip = 0) {
  gr_there there = {0, 0};
#pragma unroll
  for (int r = 0; r < rows; r++) {
    uint4 x = a[r], y = b[r];
    if constexpr (Q::blanks)
      gr_blank_word<Q>(x, y, Q::lanes && first + r == 0 ? skip : 0, 16 / gr_size<Q::dtype>, there);
    gr_add_row<Q>(l, x, y, k, first + r, skip);
  }
  if constexpr (Q::blanks && Q::counts) gr_add_to_tally(there.total());
}

/* The first `valid` elements of one word. */
template <class Q>
__device__ __forceinline__ void gr_add_some(typename Q::Lane (&l)[gr_lanes_of<Q>], uint4 a, uint4 b, int valid,
                                            const gr_context &k, int code) {
  gr_blank_missing<Q>(a, b, 0, valid);
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
** A batch of rows of a leaf's end, or of strided data. What lies in order is asked for row by row (p: the word of this
** lane's first element; left: how many elements there are from it on), all of it is added word by word, so that the
** code stays small.
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
__device__ __forceinline__ void gr_add_loose(typename Q::Lane (&l)[gr_lanes_of<Q>], uint4 (&wa)[rows],
                                             uint4 (&wb)[rows], gr_walker &a, gr_walker &b, int left, int used,
                                             const gr_context &k) {
  constexpr int each = 16 / gr_size<Q::dtype>, row = GR_LANES(gr_size<Q::dtype>);
#pragma unroll 1
  for (int r = 0; r < used; r++) {
    int valid = min(left - r * row, each);
    uint4 x, y;
    if constexpr (Q::formula) {
      gr_formula_word<Q::inputs>(x, y, a.p, valid);
      if (Q::inputs == 1) y = x;
    } else {
      y = x = gr_loose_word<Q::dtype>(wa[0], a, valid);
      if (Q::inputs == 2) y = gr_loose_word<Q::dtype>(wb[0], b, valid);
    }
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
template <class R, bool = R::variance>
struct gr_plain {
  using type = R;
};
template <class R>
struct gr_plain<R, true> {
  using type = typename R::Sum;
};

/* A leaf that cannot be read row by row, from element `first`: the last one of a vector, or any of a strided one. */
template <class Q, int rows>
__device__ __forceinline__ gr_lane_set<Q> gr_read_loose_here(gr_walker a, gr_walker b, int64_t n, int64_t first,
                                                             const gr_context &c) {
  constexpr int size = gr_size<Q::dtype>, each = 16 / size, row = GR_LANES(size);
  int lane = threadIdx.x & 31, count = (int)min(n - first, (int64_t)GR_LEAF(size));
  gr_lane_set<Q> s = gr_start_lanes<Q>();
  a.p += (first + lane * each) * a.stride;
  b.p += (first + lane * each) * b.stride;
#pragma unroll 1
  for (int k = 0; k < count; k += rows * row) {
    uint4 wa[rows], wb[rows];
    int left = count - k - lane * each;
    if constexpr (!Q::formula) {
      gr_begin_loose<Q::dtype, rows>(wa, gr_word_of(a.p), a.stride == size ? left : 0);
      if (Q::inputs == 2) gr_begin_loose<Q::dtype, rows>(wb, gr_word_of(b.p), b.stride == size ? left : 0);
    }
    gr_add_loose<Q, rows>(s.l, wa, wb, a, b, left, min(rows, (count - k + row - 1) / row), c);
    if constexpr (Q::kind == GR_ACC_POSITION)
      Q::mark(s.l[0], first + k + s.l[0].code / each * row + lane * each + s.l[0].code % each);
  }
  return s;
}

/* Out of line, and with few rows in flight, to leave the main loop its registers. */
template <class Q, int rows>
__device__ __noinline__ gr_lane_set<Q> gr_read_loose_apart(gr_walker a, gr_walker b, int64_t n, int64_t first,
                                                           gr_context c) {
  return gr_read_loose_here<Q, rows>(a, b, n, first, c);
}
/* Only a kernel itself has the arguments that a formula reads, and the tally. */
template <class Q, int rows>
__device__ __forceinline__ gr_lane_set<Q> gr_read_loose(const gr_walker &a, const gr_walker &b, int64_t n,
                                                        int64_t first, const gr_context &c) {
  if constexpr (Q::formula || Q::counts) return gr_read_loose_here<Q, rows>(a, b, n, first, c);
  else return gr_read_loose_apart<Q, rows>(a, b, n, first, c);
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
/* If lanes leave too few registers, the word after the last row is loaded only when the rows have been added. */
template <class Q>
constexpr bool gr_after_late = (Q::lanes && (Q::inputs == 2 ? Q::fields > 1 : gr_size<Q::dtype> == 2)) ||
                               (Q::kind == GR_ACC_POSITION && gr_size<Q::dtype> == 8);
template <class Q>
__device__ __forceinline__ void gr_load_after(gr_leaf_view &w) {
  constexpr int end = GR_LEAF_ROWS(gr_size<Q::dtype>) * GR_ROW_BYTES;
  if (w.skip == 0) return;
  if constexpr (Q::formula) {
    gr_formula_word<Q::inputs>(w.after_a, w.after_b, w.a + end, w.skip / gr_size<Q::dtype>);
  } else {
    w.after_a = gr_load16_at<end>(w.a);
    if (Q::inputs == 2) w.after_b = gr_load16_at<end>(w.b);
  }
}

template <class Q>
__device__ __forceinline__ gr_leaf_view gr_view_of(const char *a, const char *b, int lane) {
  gr_leaf_view w;
  constexpr bool from_0 = Q::formula && Q::number; /* whole leaves from address 0 on */
  w.shift = w.shift_b = from_0 ? 0 : (int)((uintptr_t)a & 15);
  if (Q::inputs == 2 && !from_0) w.shift_b = (int)((uintptr_t)b & 15);
  w.apart = !Q::present && w.shift != w.shift_b; /* of what is present: as strided ones, for less to compile */
  w.skip = w.apart || lane != 0 ? 0 : w.shift;
  w.a = a - w.shift + lane * 16;
  w.b = b - w.shift_b + lane * 16;
  w.after_a = w.after_b = make_uint4(0, 0, 0, 0);
  if (!gr_after_late<Q>) gr_load_after<Q>(w);
  return w;
}

/* Words of rows of the first input, and of the second, if there is one. */
template <class Q, int rows>
__device__ __forceinline__ void gr_bring_rows(uint4 (&a)[rows], uint4 (&b)[rows], const char *pa, const char *pb) {
  if constexpr (Q::formula) {
    gr_formula_rows<Q::inputs, rows>(a, b, pa);
  } else {
    gr_load_rows<rows>(a, pa);
    if (Q::inputs == 2) gr_load_rows<rows>(b, pb);
  }
}

/* Loads rows r and on of a leaf, in the way that its alignment asks for. */
template <class Q, int rows>
__device__ __forceinline__ void gr_load_view(uint4 (&a)[rows], uint4 (&b)[rows], const gr_leaf_view &w, int r,
                                             int lane) {
  gr_bring_rows<Q, rows>(a, b, w.a + r * GR_ROW_BYTES, w.b + r * GR_ROW_BYTES);
  if (!Q::formula && w.apart) {
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
  gr_blank_missing<Q>(w.after_a, w.after_b, 0, w.skip / size);
#pragma unroll
  for (int c = 0; c + 1 < 16 / size; c++)
    if (c * size < w.skip)
      Q::add(l[Q::lanes ? c : 0], gr_pick<Q::dtype>(w.after_a, c), gr_pick<Q::dtype>(w.after_b, c), k, code + c);
}

#endif
