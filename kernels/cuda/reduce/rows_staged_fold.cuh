/* How the threads of a staged row (reduce/rows_staged.cuh) reduce it: sums, variances, dots, and what has no order. */
#ifndef GR_CUDA_REDUCE_ROWS_STAGED_FOLD_CUH
#define GR_CUDA_REDUCE_ROWS_STAGED_FOLD_CUH

#include "kernels/cuda/block/cp_async.cuh"
#include "kernels/cuda/reduce/rows_by_vector.cuh"
#include "kernels/cuda/reduce/rows_quick.cuh"
#include "kernels/cuda/reduce/tuning.h"
#include "kernels/cuda/thread/present.cuh"

/* Reducers without an order inside leaves, so that words of a row may come as they lie. Not products, which are seldom
   asked of many rows. */
template <class R>
constexpr bool gr_by_words_alone = !R::lanes && R::inputs == 1 && R::kind != GR_ACC_POSITION && R::red != GR_RED_PROD;
/* Those, sums of floats, variances, and dots with one vector. */
template <class R>
constexpr bool gr_has_rows_staged =
    gr_by_words_alone<R> ||
    (R::lanes && (R::red == GR_RED_SUM || R::variance || gr_has_rows_by_vector<R>));

template <class R>
constexpr int gr_staged_words = gr_staged_words_for(gr_traits_of<R>, gr_most_stage);
template <class R>
constexpr int gr_staged_blocks = gr_staged_blocks_for(gr_traits_of<R>, gr_arch);

/* A row as its threads see it. */
struct gr_staged_row {
  const uint4 *word, *vector;  /* vector: the second input, of matrix x vector */
  int words, t, threads, turn; /* word j lies at j ^ turn */
  int shift, bytes;            /* loose: the row starts so many bytes into its first word */
  bool loose;
};

/* Bytes from .. to - 1 of w (narrow elements), the others from `rest`, which repeats every 8 bytes. */
static __device__ __forceinline__ uint4 gr_keep_bytes(const uint4 &w, int from, int to, uint2 rest) {
  auto part = [=](uint32_t x, uint32_t r, int at) {
    int low = min(max(from - at, 0), 4) * 8, high = min(max(to - at, 0), 4) * 8;
    uint32_t mask = __funnelshift_lc(0u, ~0u, low) & ~__funnelshift_lc(0u, ~0u, high);
    return (x & mask) | (r & ~mask);
  };
  return make_uint4(part(w.x, rest.x, 0), part(w.y, rest.y, 4), part(w.z, rest.x, 8), part(w.w, rest.y, 12));
}

/* Without lanes: words t, t + threads, ... */
template <class Q>
__device__ __forceinline__ gr_acc gr_add_words(const gr_staged_row &row, const gr_context &k) {
  constexpr bool order = Q::kind == GR_ACC_ORDER && Q::by_word;
  typename Q::Lane l[1] = {Q::start()};
#pragma unroll(gr_staged_folded)
  for (int j = row.t; j < row.words; j += row.threads) {
    uint4 x[1] = {row.word[j ^ row.turn]}, y[1] = {x[0]};
    if constexpr (gr_size<Q::dtype> <= 2) { /* what a word holds beside the row is made neutral */
      int at = j * 16 - row.shift;
      if (row.loose && (at < 0 || at + 16 > row.bytes)) {
        if constexpr (order) y[0] = gr_keep_bytes(y[0], -at, row.bytes - at, Q::highest());
        x[0] = gr_keep_bytes(x[0], -at, row.bytes - at, Q::neutral());
      }
    }
    if constexpr (order) Q::add_apart(l[0], x[0], y[0]);
    else gr_add_rows<Q, 1>(l, x, y, k);
  }
  return Q::state(l[0], k);
}

/*
** A thread's lanes of its `count` words of each 512 bytes, folded by halves: words t, t + threads, ... Of these first,
** first + step, ... here.
*/
template <class Q, int count, int first = 0, int step = 1>
__device__ __forceinline__ void gr_fold_words(gr_acc (&v)[gr_lanes_of<Q>], const gr_staged_row &row,
                                              const gr_context &k) {
  if constexpr (step == count) {
    gr_lane_set<Q> s = gr_start_lanes<Q>();
#pragma unroll(gr_staged_folded)
    for (int j = first * row.threads + row.t; j < row.words; j += 32) {
      uint4 x[1] = {row.word[j]}, y[1] = {x[0]};
      if (Q::inputs == 2) y[0] = gr_load16(row.vector + j);
      gr_add_rows<Q, 1>(s.l, x, y, k);
    }
#pragma unroll
    for (int c = 0; c < gr_lanes_of<Q>; c++) v[c] = Q::state(s.l[c], k);
  } else {
    gr_acc high[gr_lanes_of<Q>];
    gr_fold_words<Q, count, first, step * 2>(v, row, k);
    gr_fold_words<Q, count, first + step, step * 2>(high, row, k);
#pragma unroll
    for (int c = 0; c < gr_lanes_of<Q>; c++) v[c] = Q::merge(v[c], high[c]);
  }
}

/* Sums of f16 are exact in a double: their lanes need not be folded in order. */
template <class Q>
constexpr bool gr_any_order = !Q::lanes || (Q::red == GR_RED_SUM && Q::dtype == GR_F16 && !Q::light);

template <class Q>
__device__ __forceinline__ void gr_fold_own_words(gr_acc (&v)[gr_lanes_of<Q>], const gr_staged_row &row, int each,
                                                  const gr_context &k) {
  if constexpr (!Q::lanes) v[0] = gr_add_words<Q>(row, k);
  else if (each == 2) gr_fold_words<Q, 4>(v, row, k);
  else if (each == 1) gr_fold_words<Q, 2>(v, row, k);
  else gr_fold_words<Q, 1>(v, row, k);
}
template <class Q>
__device__ __forceinline__ gr_acc gr_fold_row(const gr_staged_row &row, int each, int lane, const gr_context &k) {
  gr_acc v[gr_lanes_of<Q>];
  gr_fold_own_words<Q>(v, row, each, k);
  if constexpr (!gr_any_order<Q>) return gr_fold_halves<Q, gr_lanes_of<Q>>(v, row.threads, lane);
  gr_fold_own<Q, gr_lanes_of<Q>, gr_lanes_of<Q>>(v);
#pragma unroll 1
  for (int h = 1; h < row.threads; h *= 2) v[0] = gr_merge_xor<Q>(v[0], h);
  return v[0];
}

/*
** Rows of up to 512 bytes that are `count` words for every thread: lanes of one term each, term(word, element), folded
** by halves.
*/
template <class Q, int count, class Term>
__device__ __forceinline__ double gr_fold_terms(const gr_staged_row &row, int lane, Term term) {
  constexpr int C = gr_lanes_of<Q>;
  gr_acc v[C];
#pragma unroll
  for (int c = 0; c < C; c++) {
    double y[count];
#pragma unroll
    for (int i = 0; i < count; i++) y[i] = term(i, c);
#pragma unroll
    for (int h = count / 2; h > 0; h /= 2)
#pragma unroll
      for (int i = 0; i < h; i++) y[i] = y[i] + y[i + h];
    v[c].f[0] = y[0];
  }
  return gr_fold_halves<Q, C>(v, row.threads, lane).f[0];
}

/* Words t, t + threads, ... as doubles. */
template <gr_dtype D, int count>
__device__ __forceinline__ void gr_widen_words(double (&x)[count][16 / gr_size<D>], const uint4 *word,
                                               const gr_staged_row &row) {
#pragma unroll
  for (int i = 0; i < count; i++) {
    uint4 w = word[(i * row.threads + row.t) ^ row.turn];
#pragma unroll
    for (int c = 0; c < 16 / gr_size<D>; c++) x[i][c] = gr_to_f64<D>(gr_pick<D>(w, c));
  }
}

/* Of a row's threads, what each has counted. */
__device__ __forceinline__ int gr_count_of_row(const gr_staged_row &row, int counted) {
#pragma unroll 1
  for (int h = 1; h < row.threads; h *= 2) counted += __shfl_xor_sync(~0u, counted, h);
  return counted;
}
/* The mean of a row's elements, of those that are numbers if R leaves NaN out; part: 1 / n, of a whole row. */
template <class R>
__device__ __forceinline__ double gr_mean_of_row(const gr_acc &acc, double part) {
  return R::skips ? gr_mean_of<R::dtype>(acc.f[0], acc.f[2]) : gr_mean_of<R::dtype>(acc.f[0], acc.f[2], part);
}

/* The bit of element c of word i, if it is a number: of 16 bits in the half that its mask has. */
template <gr_dtype D>
__device__ __forceinline__ constexpr uint32_t gr_number_bit(int i, int c) {
  const int at = i * (16 / gr_size<D>) + c;
  return 1u << (gr_size<D> == 2 ? at % 2 * 16 + at / 2 : at);
}
/* Words t, t + threads, ...; what is NaN becomes 0, and numbers have bits. */
template <gr_dtype D, int count, class X>
__device__ __forceinline__ uint32_t gr_take_numbers(X (&x)[count][16 / gr_size<D>], const gr_staged_row &row) {
  constexpr int C = 16 / gr_size<D>;
  static_assert(count * C <= 32, "a bit for each");
  uint32_t numbers = 0;
#pragma unroll
  for (int i = 0; i < count; i++) {
    uint4 w = row.word[(i * row.threads + row.t) ^ row.turn];
    if constexpr (gr_size<D> == 2) {
      uint32_t *u = &w.x;
#pragma unroll
      for (int p = 0; p < 4; p++) {
        const uint32_t mask = gr_number_mask<D>(u[p]);
        u[p] &= mask;
        numbers |= mask & (gr_number_bit<D>(i, 2 * p) | gr_number_bit<D>(i, 2 * p + 1));
      }
    }
#pragma unroll
    for (int c = 0; c < C; c++) {
      std::conditional_t<gr_size<D> == 8, double, float> e;
      if constexpr (gr_size<D> == 8) e = gr_to_f64<D>(gr_pick<D>(w, c));
      else e = gr_to_f32<D>(gr_pick<D>(w, c));
      if constexpr (gr_size<D> > 2) gr_count_number(e, numbers, gr_number_bit<D>(i, c));
      x[i][c] = (X)e;
    }
  }
  return numbers;
}

/*
** Variances of such rows: the elements stay in registers, wide ones as doubles, from the sum to the deviations. (A sum
** of so few integers of 32 bits is exact in a double too.)
*/
template <class R, int count>
__device__ __forceinline__ gr_acc gr_variance_kept(const gr_staged_row &row, int lane, double n, double part) {
  using Q = typename R::Squares;
  constexpr int C = gr_lanes_of<Q>;
  constexpr bool narrow = gr_size<R::dtype> == 2;
  std::conditional_t<narrow, float, double> x[count][C];
  uint32_t numbers = 0;
  gr_acc acc;
  if constexpr (R::skips) numbers = gr_take_numbers<R::dtype, count>(x, row);
  else {
#pragma unroll
    for (int i = 0; i < count; i++) {
      uint4 w = row.word[(i * row.threads + row.t) ^ row.turn];
#pragma unroll
      for (int c = 0; c < C; c++) {
        if constexpr (narrow) x[i][c] = gr_to_f32<R::dtype>(gr_pick<R::dtype>(w, c));
        else x[i][c] = gr_to_f64<R::dtype>(gr_pick<R::dtype>(w, c));
      }
    }
  }
  acc.f[0] = gr_fold_terms<Q, count>(row, lane, [&](int i, int c) { return (double)x[i][c]; });
  acc.f[2] = R::skips ? (double)gr_count_of_row(row, __popc(numbers)) : n;
  const double mean = gr_mean_of_row<R>(acc, part);
  if constexpr (narrow)
#pragma unroll
    for (int i = 0; i < count; i++)
#pragma unroll
      for (int c = 0; c < C; c++) asm volatile("" : "+f"(x[i][c])); /* not kept as doubles */
  acc.f[1] = gr_fold_terms<Q, count>(row, lane, [&](int i, int c) {
    const double d = (double)x[i][c] - mean;
    const double kept = R::skips ? gr_if_marked(d, numbers & gr_number_bit<R::dtype>(i, c)) : d;
    return kept * kept;
  });
  return acc;
}

/* Sums of such rows. */
template <class R, int count>
__device__ __forceinline__ gr_acc gr_sum_kept(const gr_staged_row &row, int lane) {
  double x[count][gr_lanes_of<R>];
  gr_acc acc;
  gr_widen_words<R::dtype, count>(x, row.word, row);
  acc.f[0] = gr_fold_terms<R, count>(row, lane, [&](int i, int c) { return x[i][c]; });
  return acc;
}
template <class R>
__device__ __forceinline__ gr_acc gr_sum_row(const gr_staged_row &row, int each, int lane, const gr_context &k) {
  if constexpr (R::lanes)
    if (row.words == row.threads << each)
      return each == 0   ? gr_sum_kept<R, 1>(row, lane)
             : each == 1 ? gr_sum_kept<R, 2>(row, lane)
                         : gr_sum_kept<R, 4>(row, lane);
  return gr_fold_row<R>(row, each, lane, k);
}

/* A row's sum of numbers alone, by S, and how many there are: counts need not fold by halves, as Plain's sums do. */
template <class S, class Plain>
__device__ __forceinline__ double gr_count_in_words(const gr_staged_row &row, int each, int lane, const gr_context &k,
                                                    int64_t &count) {
  gr_acc v[gr_lanes_of<S>];
  gr_fold_own_words<S>(v, row, each, k);
  int counted = 0;
#pragma unroll
  for (int c = 0; c < gr_lanes_of<S>; c++) counted += (int)v[c].i[1];
  count = gr_count_of_row(row, counted);
  return gr_fold_halves<Plain, gr_lanes_of<S>>(v, row.threads, lane).f[0];
}
template <class R, int count>
__device__ __forceinline__ double gr_count_kept(const gr_staged_row &row, int lane, int64_t &there) {
  double x[count][gr_lanes_of<R>];
  there = gr_count_of_row(row, __popc(gr_take_numbers<R::dtype, count>(x, row)));
  return gr_fold_terms<typename R::Blanked, count>(row, lane, [&](int i, int c) { return x[i][c]; });
}
template <class R>
__device__ __forceinline__ double gr_count_row(const gr_staged_row &row, int each, int lane, const gr_context &k,
                                               int64_t &there) {
  using Plain = typename R::Blanked;
  using S = gr_counted_sum<R::dtype, std::conditional_t<Plain::light, float, double>>;
  if (row.words == row.threads << each)
    return each == 0   ? gr_count_kept<R, 1>(row, lane, there)
           : each == 1 ? gr_count_kept<R, 2>(row, lane, there)
                       : gr_count_kept<R, 4>(row, lane, there);
  return gr_count_in_words<S, Plain>(row, each, lane, k, there);
}

/*
** Dots with a vector, whose elements stay in registers from row to row if rows are such ones, or of four words for
** every thread in several lines of 512 bytes.
*/
template <class R>
struct gr_kept_vector {
  double y[4][gr_lanes_of<R>];
  bool kept;
};
template <class R>
__device__ __forceinline__ gr_kept_vector<R> gr_keep_vector(const gr_staged_row &row, int each) {
  gr_kept_vector<R> v;
  v.kept = row.words == row.threads << each || row.words == row.threads * 4;
#pragma unroll
  for (int i = 0; i < 4; i++) {
    uint4 w = make_uint4(0, 0, 0, 0);
    if (v.kept && i * row.threads < row.words) w = gr_load16(row.vector + i * row.threads + row.t);
#pragma unroll
    for (int c = 0; c < gr_lanes_of<R>; c++) v.y[i][c] = gr_to_f64<R::dtype>(gr_pick<R::dtype>(w, c));
  }
  return v;
}
template <class R, int count, int lines>
__device__ __forceinline__ gr_acc gr_dot_kept(const gr_staged_row &row, int lane, const gr_kept_vector<R> &v) {
  double x[count * lines][gr_lanes_of<R>];
  gr_acc acc;
  gr_widen_words<R::dtype, count * lines>(x, row.word, row);
  acc.f[0] = gr_fold_terms<R, count>(row, lane, [&](int i, int c) {
    double s = x[i][c] * v.y[i][c];
#pragma unroll
    for (int k = 1; k < lines; k++) s += x[k * count + i][c] * v.y[k * count + i][c];
    return s;
  });
  return acc;
}
template <class R>
__device__ __forceinline__ gr_acc gr_dot_row(const gr_staged_row &row, int each, int lane, const gr_context &k,
                                             const gr_kept_vector<R> &v) {
  if (!v.kept) return gr_fold_row<R>(row, each, lane, k);
  if (row.words == row.threads * 4)
    return each == 0   ? gr_dot_kept<R, 1, 4>(row, lane, v)
           : each == 1 ? gr_dot_kept<R, 2, 2>(row, lane, v)
                       : gr_dot_kept<R, 4, 1>(row, lane, v);
  return each == 0 ? gr_dot_kept<R, 1, 1>(row, lane, v) : gr_dot_kept<R, 2, 1>(row, lane, v);
}

/*
** Variances of 16-bit floats in rows of more than 512 bytes, where instructions are what limits: a thread's words of
** each 512 bytes in turn (parts), those that halves bring together one after the other, the first of a lane without a
** sum to add to.
*/
template <class Q, class Term>
__device__ __forceinline__ double gr_fold_lines(const gr_staged_row &row, int parts, int lane, Term term) {
  constexpr int C = gr_lanes_of<Q>;
  gr_acc all[C];
  auto add = [&](gr_acc (&s)[C], int part) {
    int from = part * row.threads + row.t;
    uint4 w = row.word[from];
#pragma unroll
    for (int c = 0; c < C; c++) s[c].f[0] = term(w, c);
#pragma unroll 1
    for (int j = from + 32; j < row.words; j += 32) {
      w = row.word[j];
#pragma unroll
      for (int c = 0; c < C; c++) s[c].f[0] += term(w, c);
    }
  };
  int apart = max(parts / 2, 1);
#pragma unroll 1
  for (int i = 0; i < apart; i++) {
    gr_acc low[C], high[C];
    add(low, i);
    if (parts > 1) {
      add(high, i + apart);
#pragma unroll
      for (int c = 0; c < C; c++) low[c].f[0] += high[c].f[0];
    }
#pragma unroll
    for (int c = 0; c < C; c++) all[c].f[0] = i > 0 ? all[c].f[0] + low[c].f[0] : low[c].f[0];
  }
  return gr_fold_halves<Q, C>(all, row.threads, lane).f[0];
}
/* Sums of f16 are exact, whatever the order. */
template <class Q>
__device__ __forceinline__ double gr_sum_lines(const gr_staged_row &row) {
  constexpr int C = gr_lanes_of<Q>;
  gr_acc s[C];
  uint4 w = row.word[row.t];
#pragma unroll
  for (int c = 0; c < C; c++) s[c].f[0] = gr_to_f64<Q::dtype>(gr_pick<Q::dtype>(w, c));
#pragma unroll(gr_staged_summed)
  for (int j = row.t + row.threads; j < row.words; j += row.threads) {
    w = row.word[j];
#pragma unroll
    for (int c = 0; c < C; c++) s[c].f[0] += gr_to_f64<Q::dtype>(gr_pick<Q::dtype>(w, c));
  }
  gr_fold_own<Q, C, C>(s);
#pragma unroll 1
  for (int h = 1; h < row.threads; h *= 2) s[0] = gr_merge_xor<Q>(s[0], h);
  return s[0].f[0];
}
template <class R>
__device__ __forceinline__ gr_acc gr_variance_lines(const gr_staged_row &row, int parts, int lane, double n,
                                                    double part) {
  constexpr gr_dtype D = R::dtype;
  using S = typename R::Sum;
  gr_acc acc;
  uint32_t counted = 0;
  if constexpr (gr_any_order<S>) acc.f[0] = gr_sum_lines<S>(row);
  else
    acc.f[0] = gr_fold_lines<typename R::Plain>(row, parts, lane, [&](const uint4 &w, int c) {
      if constexpr (!R::skips) return gr_to_f64<D>(gr_pick<D>(w, c));
      float x = gr_to_f32<D>(gr_pick<D>(w, c));
      gr_count_number(x, counted, 1);
      return (double)x;
    });
  acc.f[2] = R::skips ? (double)gr_count_of_row(row, (int)counted) : n;
  const double mean = gr_mean_of_row<R>(acc, part);
  double squares = gr_fold_lines<typename R::Squares>(row, parts, lane, [=](const uint4 &w, int c) {
    const double d = gr_from_mean<D>(w, c, mean);
    const double kept = R::skips ? gr_if_number(d, gr_to_f32<D>(gr_pick<D>(w, c))) : d;
    return kept * kept;
  });
  acc.f[1] = gr_deviations<D>(squares, mean);
  return acc;
}

template <class R>
__device__ __forceinline__ gr_acc gr_variance_row(const gr_staged_row &row, int each, int lane, gr_context k, double n,
                                                double part) {
  if constexpr (R::exact) {
    return gr_variance_by<R::dtype>(gr_fold_row<typename R::Moments>(row, each, lane, k), n, part);
  } else {
    gr_acc acc;
    if constexpr (gr_size<R::dtype> == 2)
      if (row.words > 32) return gr_variance_lines<R>(row, 1 << each, lane, n, part);
    if (row.words == row.threads << each && each <= gr_staged_kept_log2)
      return each == 0   ? gr_variance_kept<R, 1>(row, lane, n, part)
             : each == 1 ? gr_variance_kept<R, 2>(row, lane, n, part)
                         : gr_variance_kept<R, 1 << gr_staged_kept_log2>(row, lane, n, part);
    int64_t count = (int64_t)n;
    if constexpr (R::skips) acc.f[0] = gr_count_in_words<typename R::Sum, typename R::Plain>(row, each, lane, k, count);
    else acc.f[0] = gr_fold_row<typename R::Sum>(row, each, lane, k).f[0];
    acc.f[2] = (double)count;
    k.a = gr_mean_of_row<R>(acc, part);
    acc.f[1] = gr_deviations<R::dtype>(gr_fold_row<typename R::Squares>(row, each, lane, k).f[0], k.a);
    return acc;
  }
}

#endif
