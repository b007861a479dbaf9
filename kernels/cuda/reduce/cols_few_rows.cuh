/*
** Columns of few rows: a thread has all rows of a word of columns in its registers; results change hands within the
** warp, so that neighbours write next to each other. Nothing is shared between warps. Words have 16 bytes (of one-byte
** elements 8) as long as all rows of them find room; of more rows they have 4, or one element of 8, which needs no
** shifting where rows begin anywhere.
*/
#ifndef GR_CUDA_REDUCE_COLS_FEW_ROWS_CUH
#define GR_CUDA_REDUCE_COLS_FEW_ROWS_CUH

#include "kernels/cuda/grid/combine.cuh"
#include "kernels/cuda/reduce/tuning.h"
#include "kernels/cuda/thread/load.cuh"

template <class R>
constexpr bool gr_has_cols_few_rows = (R::lanes && R::red == GR_RED_SUM) || R::red == GR_RED_DOT ||
                                      R::variance || R::red == GR_RED_MINMAX || R::kind == GR_ACC_POSITION;
template <class R>
constexpr int gr_few_blocks = gr_few_blocks_for(gr_traits_of<R>, gr_arch);
template <class R>
constexpr bool gr_few_both = gr_few_has_narrow(R::red, gr_size<R::dtype>);

/* The rows of one word of columns, and what they meet: nothing, a vector's elements, or the second input's rows. */
enum gr_few_second { GR_FEW_NONE, GR_FEW_VECTOR, GR_FEW_MATRIX };
template <gr_dtype D, int bytes, gr_few_second second>
struct gr_few_words {
  static constexpr int C = bytes / gr_size<D>,
                       rows = gr_few_bytes / bytes / (second == GR_FEW_MATRIX ? 2 : 1);
  using F = gr_column_word<D, C>;
  using T = gr_type<D>;
  typename F::Word x[rows];
  std::conditional_t<second == GR_FEW_MATRIX, typename F::Word, T> y[second == GR_FEW_NONE ? 1 : rows];

  /* Whether no row from r on is there, asked of every fourth, so that absent rows are passed over by fours and cost no
     instructions that do nothing. */
  static __device__ __forceinline__ bool none_from(int r, int n) { return r % 4 == 0 && r >= n; }
  /*
  ** Those of n rows, at this lane's place `at`, from where on the warp's columns have `left` bytes, which may be none.
  ** Where rows begin anywhere in a word, a lane reads the word that its own columns begin in, and its neighbour has
  ** what they end in. What a lane has not read it passes on as it is: nobody's columns are in it.
  */
  static __device__ __forceinline__ void load(typename F::Word (&w)[rows], const char *at, int64_t stride, int n,
                                              int left, bool unaligned) {
    const char *p = at;
#pragma unroll
    for (int r = 0; r < rows; r++) {
      if (none_from(r, n)) break;
      if (r < n && left + (gr_size<D> == bytes ? 0 : F::shift(p)) > 0) w[r] = F::begin(p);
      p += stride;
      asm volatile("" : "+l"(p)); /* one address at a time */
    }
    if (gr_size<D> == bytes || !unaligned) return;
    p = at;
#pragma unroll
    for (int r = 0; r < rows; r++) {
      if (none_from(r, n)) break;
      typename F::Word next;
#pragma unroll
      for (int i = 0; i < F::W; i++) next.u[i] = __shfl_down_sync(~0u, w[r].u[i], 1);
      w[r] = gr_realign_words<F::W>(w[r], next, F::shift(p));
      p += stride;
      asm volatile("" : "+l"(p));
    }
  }
  __device__ __forceinline__ T first(int r, int c) const { return F::pick(x[r], c); }
  __device__ __forceinline__ T other(int r, int c) const {
    if constexpr (second == GR_FEW_MATRIX) return F::pick(y[r], c);
    else if constexpr (second == GR_FEW_VECTOR) return y[r];
    else return F::pick(x[r], c);
  }
};

/*
** Column c of n rows, a lane for each, by halves: some rows at a time, as to ask of each row whether it is there, and
** of each two that meet, would take longer than to add them up. A lane that has no row changes no sum.
*/
template <class Q, int some, int part = 0, int step = 1, class W>
__device__ __forceinline__ void gr_few_lanes(double (&v)[some], const W &w, int n, int c, const gr_context &k) {
  if constexpr (step * some >= W::rows) {
#pragma unroll
    for (int j = 0; j < some; j++) {
      const int r = part * some + j;
      typename Q::Lane l = Q::start();
      if (r < n) Q::add(l, w.first(r, c), w.other(r, c), k, 0);
      v[j] = Q::state(l, k).f[0];
    }
  } else {
    gr_few_lanes<Q, some, part, step * 2>(v, w, n, c, k);
    if ((part + step) * some < n) {
      double more[some];
      gr_few_lanes<Q, some, part + step, step * 2>(more, w, n, c, k);
#pragma unroll
      for (int j = 0; j < some; j++) v[j] += more[j];
    }
  }
}
/* The state of column c of n rows; if there are no lanes, in any order. */
template <class Q, class W>
__device__ __forceinline__ gr_acc gr_few_total(const W &w, int n, int c, const gr_context &k) {
  gr_acc acc = Q::identity();
  if constexpr (Q::lanes) {
    constexpr int some = W::C == 2 && gr_size<Q::dtype> == 2 ? 4 : 2; /* of 4 bytes four would spill */
    static_assert(W::rows % some == 0, "all parts are whole");
    double v[some];
    gr_few_lanes<Q, some>(v, w, n, c, k);
    if constexpr (some == 4) acc.f[0] = (v[0] + v[2]) + (v[1] + v[3]);
    else acc.f[0] = v[0] + v[1];
    return acc;
  } else {
    typename Q::Lane l = Q::start();
#pragma unroll
    for (int r = 0; r < W::rows; r++) {
      if (W::none_from(r, n)) break;
      if (r < n) Q::add(l, w.first(r, c), w.other(r, c), k, r);
    }
    if constexpr (Q::kind == GR_ACC_POSITION) Q::mark(l, l.code);
    return Q::state(l, k);
  }
}

/* How many of the rows of column c a variance counts. */
template <class R, class W>
__device__ __forceinline__ int gr_few_counted(const W &w, int n, int c) {
  int count = R::skips ? 0 : n;
  if constexpr (R::skips)
#pragma unroll
    for (int r = 0; r < W::rows; r++) count += r < n && !gr_is_nan<R::dtype>(w.first(r, c));
  return count;
}

/* The state of column c; of exact variances its moments. part: 1 / n. */
template <class R, class W>
__device__ __forceinline__ gr_acc gr_few_state(const W &w, int n, int c, gr_context k, double part) {
  if constexpr (!R::variance) {
    return gr_few_total<R>(w, n, c, k);
  } else if constexpr (R::exact) {
    return gr_few_total<typename R::Moments>(w, n, c, k);
  } else {
    gr_acc acc;
    acc.f[0] = gr_few_total<typename R::Sum>(w, n, c, k).f[0];
    acc.f[2] = (double)gr_few_counted<R>(w, n, c);
    k.a = R::skips ? gr_mean_of<R::dtype>(acc.f[0], acc.f[2]) : gr_mean_of<R::dtype>(acc.f[0], acc.f[2], part);
    acc.f[1] = gr_deviations<R::dtype>(gr_few_total<typename R::Squares>(w, n, c, k).f[0], k.a);
    return acc;
  }
}

/*
** Results of variances, whose divisions would be there once for each column of a thread, are finished where columns
** follow each other: until then they are the fields of a state from gr_few_field on.
*/
template <class R>
constexpr int gr_few_field = R::exact ? 0 : 1;
template <class R>
constexpr int gr_few_fields = (R::variance ? R::exact || R::skips : gr_has_two<R>) ? 2 : 1;
template <class R>
__device__ __forceinline__ void gr_few_finish(const gr_reduce_args &q, int64_t *first, const int64_t *second) {
  gr_acc a = R::identity();
  a.i[gr_few_field<R>] = *first;
  if (gr_few_fields<R> == 2) a.i[gr_few_field<R> + 1] = *second;
  if constexpr (R::exact) a = R::of(a, q.job.n);
  *first = gr_finish_known<R>(q.job, (gr_op)q.op, a, q.job.n).v[0].i;
}

/* Extremes of narrow elements stay packed; a row that is not there is the first one once more. */
template <class R, class W>
__device__ __forceinline__ void gr_few_extremes(W &w, int n, typename R::Lane (&l)[W::C]) {
  constexpr int parts = W::F::W, each = W::C / parts;
#pragma unroll
  for (int i = 0; i < parts; i++) {
    uint32_t u[W::rows];
#pragma unroll
    for (int r = 0; r < W::rows; r++) u[r] = r < n ? w.x[r].u[i] : w.x[0].u[i];
#pragma unroll
    for (int c = 0; c < each; c++) l[i * each + c] = R::start();
    R::add_below(l + i * each, u);
  }
}

/* Warps take strips of 32 words, one after the other; of 31 where rows begin anywhere in a word: then the last lane
   only reads the word in which its neighbour's columns end. */
template <class R, int bytes, gr_few_second second>
__device__ __forceinline__ void gr_few_strips(const gr_reduce_args &q, int64_t *own) {
  using W = gr_few_words<R::dtype, bytes, second>;
  constexpr int C = W::C, size = gr_size<R::dtype>, all = 32 * (C + 1); /* one unused after every C, for the banks */
  constexpr bool two = gr_has_two<R>, packed = R::red == GR_RED_MINMAX && size <= 2;
  int lane = threadIdx.x & 31, n = (int)q.job.n;
  const int strip = (C > 1 && q.cols_few_rows.unaligned ? 31 : 32) * C;
  int64_t strips = (q.job.count + strip - 1) / strip;
  const double part = 1.0 / (double)n;
#pragma unroll 1
  for (int64_t s = (int64_t)blockIdx.x * gr_few_warps + gr_warp_index(); s < strips;
       s += (int64_t)gridDim.x * gr_few_warps) {
    int64_t v = s * strip;
    int columns = (int)min((int64_t)strip, q.job.count - v), left = (columns - lane * C) * size;
    W w;
    int64_t at = (q.first + v) * size + lane * bytes;
    W::load(w.x, (const char *)q.job.a.data + at, q.job.a.stride, n, left, q.cols_few_rows.unaligned & 1);
    if constexpr (second == GR_FEW_MATRIX)
      W::load(w.y, (const char *)q.job.b.data + at, q.job.b.stride, n, left, q.cols_few_rows.unaligned & 2);
    else if constexpr (second == GR_FEW_VECTOR)
#pragma unroll
      for (int r = 0; r < W::rows; r++)
        if (r < n) w.y[r] = *(const gr_type<R::dtype> *)((const char *)q.job.b.data + r * q.job.b.stride);
    gr_value value;
    if constexpr (packed) {
      typename R::Lane l[C];
      gr_few_extremes<R>(w, n, l);
#pragma unroll
      for (int c = 0; c < C; c++) {
        value = gr_finish_known<R>(q.job, (gr_op)q.op, R::state(l[c], q.context), n);
        own[lane * (C + 1) + c] = value.v[0].i;
        own[all + lane * (C + 1) + c] = value.v[1].i;
      }
    } else if constexpr (R::variance) {
#pragma unroll
      for (int c = 0; c < C; c++) {
        const gr_acc a = gr_few_state<R>(w, n, c, q.context, part);
        own[lane * (C + 1) + c] = a.i[gr_few_field<R>];
        if (gr_few_fields<R> == 2) own[all + lane * (C + 1) + c] = a.i[gr_few_field<R> + 1];
      }
      value.is_float = true;
#pragma unroll 1
      for (int c = 0; c < C; c++) gr_few_finish<R>(q, own + lane * (C + 1) + c, own + all + lane * (C + 1) + c);
    } else {
#pragma unroll
      for (int c = 0; c < C; c++) {
        value = gr_finish_known<R>(q.job, (gr_op)q.op, gr_few_state<R>(w, n, c, q.context, part), n);
        own[lane * (C + 1) + c] = value.v[0].i;
        if (two) own[all + lane * (C + 1) + c] = value.v[1].i;
      }
    }
    __syncwarp();
    if (q.inputs_stable) gr_await_earlier();
    /* Doubles go two by two. */
    double2 *pairs = (double2 *)((double *)q.out + q.first + v);
    int whole = q.out_dtype == GR_F64 && !q.done && !two && ((uintptr_t)pairs & 15) == 0 ? columns / 2 : 0;
#pragma unroll 1
    for (int p = lane; p < whole; p += 32) {
      const double *pair = (const double *)own + 2 * p + 2 * p / C;
      pairs[p] = C == 1 ? make_double2(pair[0], pair[2]) : make_double2(pair[0], pair[1]);
    }
#pragma unroll 1
    for (int p = 2 * whole + lane; p < columns; p += 32) {
      value.v[0].i = own[p + p / C];
      if (two) value.v[1].i = own[all + p + p / C];
      gr_write_value<R>(q, value, q.first + v + p);
    }
    __syncwarp();
  }
}

/* Words of up to 16 bytes, or narrow ones: not beside a vector, whose elements would take as many registers. */
template <class R, gr_few_second second>
__device__ __forceinline__ void gr_few_by_words(const gr_reduce_args &q, int64_t *own) {
  constexpr bool narrow = second != GR_FEW_VECTOR && gr_few_both<R>;
  if (narrow && q.cols_few_rows.narrow) gr_few_strips<R, gr_few_narrow<gr_size<R::dtype>>, second>(q, own);
  else gr_few_strips<R, gr_few_wide<gr_size<R::dtype>>, second>(q, own);
}

template <class R>
__global__ void __launch_bounds__(gr_few_warps * 32, gr_few_blocks<R>)
    gr_reduce_cols_few_rows(const __grid_constant__ gr_reduce_args q) {
  constexpr int C = gr_few_wide<gr_size<R::dtype>> / gr_size<R::dtype>;
  __shared__ int64_t results[gr_few_warps][gr_few_fields<R> * 32 * (C + 1)];
  int64_t *own = results[gr_warp_index()];
  gr_start_reading(q.inputs_stable);
  if constexpr (R::inputs == 1) gr_few_by_words<R, GR_FEW_NONE>(q, own);
  else if (q.job.b.step == 0) gr_few_by_words<R, GR_FEW_VECTOR>(q, own);
  else gr_few_by_words<R, GR_FEW_MATRIX>(q, own);
}

#endif
