/*
** Sums, variances and products by one vector of few columns without gaps, whose rows begin anywhere in a word. Element
** j + k * lanes * columns of a leaf is of the same lane of the tree and of the same column for each k, and a leaf is a
** multiple of 16 bytes long: so it is read as 8 or 16 stretches of 512 bytes a column, which add up place by place,
** whatever the width. A thread has one word of each stretch, so as many warps share a leaf as there are columns. Where
** there are more than a block has warps, a stretch has parts, each of an equal share of its lanes, and a thread a word
** of each part in turn; these fold by a stack (of f32, 33 columns have four parts of 32 lanes: 0, 2, 1, 3). Then places
** fold by halves, as lanes do, in shared memory: element p of a part is of lane p / columns, and meets element
** p + half.
*/
#ifndef GR_CUDA_REDUCE_COLS_FLAT_CUH
#define GR_CUDA_REDUCE_COLS_FLAT_CUH

#include "kernels/cuda/formula/hole.cuh"
#include "kernels/cuda/grid/combine.cuh"
#include "kernels/cuda/reduce/tuning.h"
#include "kernels/cuda/thread/load.cuh"

template <class R>
constexpr bool gr_has_cols_flat = R::lanes && gr_floating<R::dtype> &&
                                  (R::red == GR_RED_SUM || R::red == GR_RED_DOT || R::red == GR_RED_VARIANCE);
template <class R, bool = R::variance>
struct gr_flat_passes {
  using Sum = R;
  using Squares = R;
};
template <class R>
struct gr_flat_passes<R, true> {
  using Sum = typename R::Sum;
  using Squares = typename R::Squares;
};

/* Turns of a thread at most, as a logarithm. Variances have one, as they read a leaf twice. */
template <class R>
constexpr int gr_flat_turns = R::variance ? 0 : gr_flat_turns_for(gr_size<R::dtype>);

/* at(0) to at(count - 1) by halves. */
template <int count, int i = 0, int step = 1, class P>
__device__ __forceinline__ double gr_flat_sum(const P &at) {
  if constexpr (step >= count) {
    return at(i);
  } else {
    double a = gr_flat_sum<count, i, step * 2>(at);
    return a + gr_flat_sum<count, i + step, step * 2>(at);
  }
}
/* The same of count >> less of them; less: up to `most`. */
template <int count, int most, class P>
__device__ __forceinline__ double gr_flat_sum_less(const P &at, int less) {
  if constexpr (most > 0)
    if (less > 0) return gr_flat_sum_less<count / 2, most - 1>(at, less - 1);
  return gr_flat_sum<count>(at);
}

template <class R>
struct gr_flat_work {
  static constexpr int size = gr_size<R::dtype>, E = 16 / size, stretches = GR_LEAF_ROWS(size);
  static constexpr int batch = gr_flat_words_for(R::variance), levels = gr_flat_turns<R>;
  static_assert(stretches % batch == 0 && levels <= 5, "batches end with the leaf, and columns have a thread each");
  static constexpr int factors = R::inputs == 2 ? E : 1;
  using Sum = typename gr_flat_passes<R>::Sum;
  using Squares = typename gr_flat_passes<R>::Squares;
  const gr_reduce_args &q;
  int columns, threads, side, u; /* threads of a leaf; which leaf of those side by side, and which of its words */
  int turns_log2;
  int factor_at[factors]; /* the vector's bytes from a part's first row to that of a word's element */
  double *places, *lanes, *means; /* places: also level 0 of the stacks */
  uint32_t missing[4] = {0, 0, 0, 0};

  __device__ __forceinline__ gr_flat_work(const gr_reduce_args &q, char *shared) : q(q) {
    const gr_cols_flat_args &how = q.cols_flat;
    columns = (int)q.job.count;
    turns_log2 = levels ? how.turns_log2 : 0;
    threads = 32 * columns >> turns_log2;
    side = how.sides_log2 ? threadIdx.x / threads : 0;
    u = threadIdx.x - side * threads;
    places = (double *)shared + side * threads * E;
    lanes = (double *)(shared + how.lanes_at) + side * threads;
    means = (double *)(shared + how.means_at) + side * columns;
#pragma unroll
    for (int e = 0; e < factors; e++) factor_at[e] = has_word() ? (u * E + e) / columns * size : 0;
  }
  /* In the last warp there may be threads without a word. */
  __device__ __forceinline__ bool has_word() const { return levels == 0 || u < threads; }
  /* Turns come in reversed order, so that a stack folds them. */
  __device__ __forceinline__ int part(int turn) const {
    return levels ? (int)(__brev((unsigned)turn) >> q.cols_flat.reverse_shift) : 0;
  }
  /* Where this thread's first word of a leaf's part lies, and how many bytes of the matrix there are from there on. */
  __device__ __forceinline__ const char *word(int64_t leaf, int part, int &left) const {
    int64_t at = leaf * (GR_LEAF(size) * size) * columns + (u + part * threads) * 16;
    left = has_word() ? (int)min((int64_t)INT32_MAX, q.job.n * columns * size - at) : 0;
    return (const char *)q.job.a.data + at;
  }
  /* A batch of them, from there on. */
  __device__ __forceinline__ void load(uint4 (&x)[batch], const char *p, int left) const {
    const int apart = GR_ROW_BYTES * columns;
#pragma unroll
    for (int k = 0; k < batch; k++, p += apart, left -= apart) {
      asm volatile("" : "+l"(p), "+r"(left)); /* one address at a time */
      if (left > 0) x[k] = gr_load16(p);
    }
  }
  /* A word without what is NaN, of which so many bytes are there. */
  template <bool whole>
  __device__ __forceinline__ uint4 blanked(const uint4 &word, int left) {
    uint32_t u[4] = {word.x, word.y, word.z, word.w};
#pragma unroll
    for (int i = 0; i < 4 && !whole; i++) { /* half of a register, or nothing */
      if (i * 4 >= left) u[i] = 0;
      else if (i * 4 + 2 >= left) u[i] &= 0xffff;
    }
    gr_blank_places<R>(u, missing);
    return make_uint4(u[0], u[1], u[2], u[3]);
  }
  /* b: the vector at the batch's first row. */
  template <class Q, bool whole>
  __device__ __forceinline__ void add_words(typename Q::Lane (&l)[E], const uint4 (&x)[batch], const char *b, int left,
                                            const double (&mean)[E]) {
    gr_context c = q.context;
#pragma unroll
    for (int k = 0; k < batch; k++) {
      if constexpr (Q::inputs == 2) asm volatile("" : "+l"(b)); /* one row at a time */
      uint4 word = x[k];
      if constexpr (R::present) word = blanked<whole>(word, left - k * (GR_ROW_BYTES * columns));
#pragma unroll
      for (int e = 0; e < E; e++)
        if (whole || k * (GR_ROW_BYTES * columns) + e * size < left) {
          gr_type<R::dtype> own = gr_pick<R::dtype>(word, e), other = own;
          if constexpr (Q::inputs == 2) other = *(const gr_type<R::dtype> *)(b + factor_at[e] + k * GR_ROW_BYTES);
          if constexpr (R::variance) c.a = mean[e];
          Q::add(l[e], own, other, c, 0);
        }
    }
  }
  template <class Q>
  __device__ __forceinline__ void add(typename Q::Lane (&l)[E], const uint4 (&x)[batch], const char *b, int left,
                                      const double (&mean)[E]) {
    const bool whole = !has_word() || (batch - 1) * (GR_ROW_BYTES * columns) + 16 <= left;
    if (__all_sync(~0u, whole)) add_words<Q, true>(l, x, b, left, mean);
    else add_words<Q, false>(l, x, b, left, mean);
  }
  /* State number `turn` of this thread's words; of the last one nothing is kept: it is the whole. */
  __device__ __forceinline__ void push(double (&sum)[E], int turn) const {
    double2 *kept = (double2 *)(places + u * E);
    if (!has_word()) return;
#pragma unroll 1
    for (int i = turn; i & 1; i >>= 1, kept += threads * (E / 2))
#pragma unroll
      for (int e = 0; e < E; e += 2) {
        const double2 x = kept[e / 2];
        sum[e] = x.x + sum[e];
        sum[e + 1] = x.y + sum[e + 1];
      }
    if (turn + 1 < 1 << turns_log2)
#pragma unroll
      for (int e = 0; e < E; e += 2) kept[e / 2] = make_double2(sum[e], sum[e + 1]);
  }
  /* All words of a leaf, the first batch of which is in x: what they add up to, place by place. */
  template <class Q>
  __device__ __forceinline__ void read(double (&sum)[E], uint4 (&x)[batch], int64_t leaf, const char *p, int left,
                                       const double (&mean)[E]) {
#pragma unroll 1
    for (int turn = 0; turn < 1 << turns_log2; turn++) {
      const char *b = (const char *)q.job.b.data + leaf * (GR_LEAF(size) * size) +
                      (part(turn) * GR_ROW_BYTES >> turns_log2);
      typename Q::Lane l[E];
#pragma unroll
      for (int e = 0; e < E; e++) l[e] = Q::start();
      add<Q>(l, x, b, left, mean);
#pragma unroll 1
      for (int k = batch; k < stretches; k += batch) {
        p += batch * GR_ROW_BYTES * columns;
        left -= batch * GR_ROW_BYTES * columns;
        b += batch * GR_ROW_BYTES;
        load(x, p, left);
        add<Q>(l, x, b, left, mean);
      }
      if constexpr (levels > 0)
        if (turn + 1 < 1 << turns_log2) p = word(leaf, part(turn + 1), left), load(x, p, left);
#pragma unroll
      for (int e = 0; e < E; e++) sum[e] = Q::state(l[e], q.context).f[0];
      if constexpr (levels > 0) push(sum, turn);
    }
  }
  /* A leaf's places fold to a sum for each column, in the threads of the first words; all come to two barriers. */
  __device__ __forceinline__ double fold(const double (&sum)[E]) const {
    double2 *mine = (double2 *)(places + u * E);
    if (has_word())
#pragma unroll
      for (int e = 0; e < E; e += 2) mine[e / 2] = make_double2(sum[e], sum[e + 1]);
    __syncthreads();
    const double *from = places + u;
    if (has_word()) lanes[u] = gr_flat_sum<E>([=](int i) { return from[i * threads]; });
    __syncthreads();
    if (u >= columns) return 0;
    from = lanes + u;
    return gr_flat_sum_less<32, levels>([=](int i) { return from[i * columns]; }, turns_log2);
  }
  /* What is missing from each column, in shared memory; all come here, and a barrier must follow. */
  __device__ __forceinline__ uint32_t *missing_of_columns() const {
    uint32_t *of_columns = (uint32_t *)(places - side * threads * E);
    __syncthreads();
    for (int v = (int)threadIdx.x; v < columns; v += (int)blockDim.x) of_columns[v] = 0;
    __syncthreads();
#pragma unroll
    for (int e = 0; e < E; e++) {
      const uint32_t more = gr_missing_at<R::dtype>(missing, e);
      if (has_word() && more) atomicAdd(of_columns + (u * E + e) % columns, more);
    }
    return of_columns;
  }
};

template <class R>
__global__ void __launch_bounds__(gr_flat_warps * 32, gr_flat_blocks_for(R::variance))
    gr_reduce_cols_flat(const __grid_constant__ gr_reduce_args q) {
  using Work = gr_flat_work<R>;
  constexpr int E = Work::E;
  const gr_cols_flat_args &how = q.cols_flat;
  extern __shared__ __align__(16) char gr_shared[];
  Work w(q, gr_shared);
  const int columns = w.columns, sides = 1 << how.sides_log2, leaves = sides << how.passes_log2;
  const int64_t first = (int64_t)blockIdx.x * leaves;
  /* states of leaves: column, then leaf, then field */
  int64_t *states = (int64_t *)(gr_shared + how.states_at);
  const int pitch = leaves * columns;
  double mean[E] = {};
  uint4 x[Work::batch];
  int left;
  gr_start_reading(q.inputs_stable);
  const char *p = w.word(first + w.side, 0, left);
  w.load(x, p, left);
#pragma unroll 1
  for (int i = w.side; i < leaves; i += sides) {
    if (first + i - w.side >= q.leaves) break; /* of all sides */
    const int64_t leaf = first + i;
    double sum[E];
    w.template read<typename Work::Sum>(sum, x, leaf, p, left, mean);
    gr_acc acc = R::identity();
    if constexpr (R::variance) {
      const int rows = (int)max((int64_t)1, min(q.job.n - leaf * GR_LEAF(Work::size), (int64_t)GR_LEAF(Work::size)));
      acc.f[0] = w.fold(sum);
      acc.f[2] = rows;
      if (w.u < columns) w.means[w.u] = acc.f[0] / acc.f[2];
      __syncthreads();
#pragma unroll
      for (int e = 0, c = w.u * E % columns; e < E; e++, c = c + 1 == columns ? 0 : c + 1) mean[e] = w.means[c];
      if constexpr (Work::stretches > Work::batch) w.load(x, p, left);
      w.template read<typename Work::Squares>(sum, x, leaf, p, left, mean);
      if (i + sides < leaves) p = w.word(leaf + sides, 0, left), w.load(x, p, left);
      acc.f[1] = gr_deviations<R::dtype>(w.fold(sum), w.u < columns ? w.means[w.u] : 0);
    } else {
      if (i + sides < leaves) p = w.word(leaf + sides, 0, left), w.load(x, p, left);
      acc.f[0] = w.fold(sum);
    }
    if (w.u < columns) gr_put<R>(states + i * columns + w.u, pitch, acc);
  }
  /* Leaves fold by adjacency, then nodes. */
  const int there = (int)min((int64_t)leaves, q.leaves - first);
#pragma unroll 1
  for (int h = 1; h < there; h *= 2) {
    __syncthreads();
#pragma unroll 1
    for (int k = threadIdx.x; k < there * columns; k += blockDim.x) {
      int i = k / columns;
      if (i % (2 * h) == 0 && i + h < there)
        gr_put<R>(states + k, pitch, R::merge(gr_get<R>(states + k, pitch),
                                              gr_get<R>(states + k + h * columns, pitch)));
    }
  }
  const int v = (int)threadIdx.x;
  uint32_t *missing = nullptr;
  if constexpr (R::tallied) missing = w.missing_of_columns();
  __syncthreads();
  if constexpr (R::tallied) {
    const int64_t rows = min(q.job.n - first * GR_LEAF(Work::size), (int64_t)leaves * GR_LEAF(Work::size));
    if (v < columns) {
      const gr_acc acc = gr_get<R>(states + v, pitch);
      gr_put<R>(states + v, pitch, R::with(acc, q.op == GR_OP_mean ? rows - missing[v] : rows));
    }
  }
  if (q.inputs_stable) gr_await_earlier();
  if (q.nodes > 1) {
    if (v < columns)
      gr_put<R>(q.node + (int64_t)blockIdx.x * columns + v, (int64_t)columns * q.nodes, gr_get<R>(states + v, pitch));
    if (!gr_combine_nodes<R>(q, 0, columns, q.counter, blockIdx.x)) return;
  }
  if (v >= columns) return;
  const gr_acc acc = q.nodes > 1 ? gr_root<R>(q, v) : gr_get<R>(states + v, pitch);
  if constexpr (R::tallied) gr_write_tallied<R>(q, acc, q.first + v);
  else gr_write<R>(q, acc, q.first + v, q.job.n);
}

#endif
