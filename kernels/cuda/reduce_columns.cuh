/*
** Columns: neighbouring vectors are neighbours in memory. A thread takes a word of columns and some lanes of
** a leaf; a block is wide words x deep lanes x `together` leaves (powers of two, kept as logarithms). Loads
** go in flights of 8. If a lane has several elements, a flight is 8 of one lane (q.rows says how many flights
** a lane has, plus one); if not, it is one element of 8 lanes as far apart as lanes get, which fold at once.
** What flights leave is folded in the order of halving: a thread's 2^each lanes bit-reversed, by a stack.
*/
#ifndef GR_REDUCE_COLUMNS_CUH
#define GR_REDUCE_COLUMNS_CUH

#include "kernels/cuda/grid.cuh"
#include "kernels/cuda/load.cuh"

constexpr int gr_columns_block = 256;

/* Columns of a thread: a word's, but ordered lanes keep a stack of doubles for each, so they take fewer. */
template <class R>
constexpr int gr_columns_most = !R::lanes                   ? 8
                                : R::kind == GR_ACC_TRIPLE   ? 2
                                : R::light && R::inputs == 1 ? 8
                                                             : 4;
template <class R>
constexpr int gr_columns_each =
    16 / gr_size<R::dtype> < gr_columns_most<R> ? 16 / gr_size<R::dtype> : gr_columns_most<R>;

/*
** Lanes and leaf of a column. Where order does not matter they are as wide types have them, so that narrow types
** make as many blocks.
*/
template <class R>
constexpr int gr_columns_lanes = !R::leaves && gr_size<R::dtype> < 4 ? 128 : GR_LANES(gr_size<R::dtype>);
template <class R>
constexpr int gr_columns_leaf = !R::leaves ? 32 * gr_columns_lanes<R> : GR_LEAF(gr_size<R::dtype>);

/* Threads that share the lanes of a leaf, and how many times a thread's own halve at most. */
template <class R>
constexpr int gr_columns_deep = gr_size<R::dtype> == 2 && R::lanes ? 64 : gr_size<R::dtype> == 4 ? 16 : 32;
template <gr_dtype D>
constexpr int gr_columns_levels = gr_size<D> == 1   ? 4
                                  : gr_size<D> == 2 ? 2
                                  : gr_size<D> == 4 ? 3
                                                    : 1;

template <class Q, int C>
struct gr_column_stack {
  static constexpr int levels = gr_columns_levels<Q::dtype>;
  gr_acc level[levels][C];
  /* State number i (counted from 0) is done: merge it with the equally large neighbours before it. */
  __device__ __forceinline__ void push(gr_acc (&v)[C], int i) {
    bool going = true;
#pragma unroll
    for (int s = 0; s < levels; s++) {
      if (!going) continue;
      if (i >> s & 1) {
#pragma unroll
        for (int c = 0; c < C; c++) v[c] = Q::merge(level[s][c], v[c]);
      } else {
        going = false;
#pragma unroll
        for (int c = 0; c < C; c++) level[s][c] = v[c];
      }
    }
  }
};

/* C neighbouring elements, aligned to their joint size. */
template <gr_dtype D, int C>
__device__ __forceinline__ uint4 gr_load_columns(const char *p) {
  constexpr int bytes = C * gr_size<D>;
  static_assert(bytes == 16 || bytes == 8 || bytes == 4, "a thread's columns fill a word, half or a quarter");
  if constexpr (bytes == 16) return gr_load16(p);
  if constexpr (bytes == 4) return make_uint4(__ldg((const unsigned *)p), 0, 0, 0);
  uint2 u = __ldg((const uint2 *)p);
  return make_uint4(u.x, u.y, 0, 0);
}

template <class R>
struct gr_column_reader {
  static constexpr int C = gr_columns_each<R>, size = gr_size<R::dtype>, flight = 8;
  static constexpr int lanes = gr_columns_lanes<R>, leaf = gr_columns_leaf<R>;
  const gr_reduce_args &q;
  const int64_t v;     /* first column */
  const int valid;     /* columns of this thread */
  const int ly;        /* first lane */
  const int64_t first; /* of the leaf */

  __device__ __forceinline__ void load(uint4 (&w)[flight], const gr_vec &vec, int k0, int apart, int left) const {
    const char *p = (const char *)vec.data + v * size + (first + k0) * vec.stride;
    int64_t step = apart * vec.stride;
#pragma unroll
    for (int j = 0; j < flight; j++, p += step) {
      w[j] = make_uint4(0, 0, 0, 0);
      if (k0 + j * apart >= left) continue;
      if (q.apart)
        w[j] = gr_gather<R::dtype, C>(p, (int64_t)size << q.wide, valid);
      else
        w[j] = gr_load_columns<R::dtype, C>(p);
    }
  }

  template <class Q>
  __device__ __forceinline__ void add(typename Q::Lane &l, const uint4 &a, const uint4 &b, int i, int k, gr_context c,
                                      const double (&mean)[C]) const {
    if (Q::red == GR_RED_SPREAD) c.a = mean[i];
    Q::add(l, gr_pick<R::dtype>(a, i), gr_pick<R::dtype>(b, i), c, k);
  }

  /* One element of each of 8 lanes: lane j and lane j + 4, then j and j + 2, then the last two. */
  template <class Q, int j = 0, int step = 1>
  __device__ __forceinline__ gr_acc halve(const uint4 (&a)[flight], const uint4 (&b)[flight], int i, int k0, int apart,
                                          int left, const gr_context &c, const double (&mean)[C]) const {
    if constexpr (step == flight) {
      typename Q::Lane l = Q::start();
      if (k0 + j * apart < left) add<Q>(l, a[j], b[j], i, 0, c, mean);
      return Q::state(l, c);
    } else {
      return Q::merge(halve<Q, j, step * 2>(a, b, i, k0, apart, left, c, mean),
                      halve<Q, j + step, step * 2>(a, b, i, k0, apart, left, c, mean));
    }
  }

  /* This thread's lanes of the leaf, folded as far as one thread can. */
  template <class Q>
  __device__ __forceinline__ void read(gr_acc (&v_out)[C], const gr_context &c, const double (&mean)[C]) const {
    typename Q::Lane l[C];
    gr_column_stack<Q, C> stack;
    bool by_lane = q.rows > 0; /* several elements to a lane */
    int more = by_lane ? q.rows - 1 : 0, apart = by_lane ? lanes : 1 << (q.each + q.deep),
        flights = 1 << (q.each + more);
    int left = valid > 0 ? (int)min(q.job.n - first, (int64_t)leaf) : 0;
#pragma unroll
    for (int i = 0; i < C; i++) l[i] = Q::start();
#pragma unroll 1
    for (int f = 0; f < flights; f++) {
      uint4 a[flight], b[flight];
      int group = f >> more, turned = q.each == 0 ? 0 : (int)(__brev(group) >> (32 - q.each));
      int k0 = ly + (turned << q.deep) + (f & ((1 << more) - 1)) * flight * lanes;
      load(a, q.job.a, k0, apart, left);
      if (R::inputs == 2) load(b, q.job.b, k0, apart, left);
      if (Q::lanes && !by_lane) {
#pragma unroll
        for (int i = 0; i < C; i++) v_out[i] = halve<Q>(a, b, i, k0, apart, left, c, mean);
      } else {
#pragma unroll
        for (int j = 0; j < flight; j++)
          if (k0 + j * apart < left)
#pragma unroll
            for (int i = 0; i < C; i++) add<Q>(l[i], a[j], b[j], i, k0 + j * apart, c, mean);
      }
#pragma unroll
      for (int i = 0; i < C; i++) {
        if constexpr (Q::kind == GR_ACC_PLACE) Q::mark(l[i], first + l[i].code), Q::forget(l[i]);
        if (Q::lanes && by_lane && (f + 1) >> more > group) v_out[i] = Q::state(l[i], c), l[i] = Q::start();
      }
      if (Q::lanes && (f + 1) >> more > group) stack.push(v_out, group);
    }
    if (!Q::lanes) {
#pragma unroll
      for (int i = 0; i < C; i++) v_out[i] = Q::state(l[i], c);
    }
  }
};

/*
** Fold over the block's lanes: states of one column chunk (up to 4 columns a thread) go to shared memory
** with the lanes as neighbours, whole warps fold them by halves, and the result stays in slot 0.
*/
constexpr int gr_columns_chunk = 4, gr_columns_pitch = gr_columns_block * gr_columns_chunk * 9 / 8;

__device__ __forceinline__ int gr_column_slot(const gr_reduce_args &q, int c, int word) {
  int words = blockDim.x >> q.deep, pitch = (1 << q.deep) + (q.deep >= 3);
  return (c * words + word) * pitch;
}

template <class Q, int C>
__device__ __forceinline__ void gr_fold_columns(const gr_reduce_args &q, int64_t *value, const gr_acc (&v)[C], int c0,
                                                int word, int ly) {
  constexpr int chunk = C < gr_columns_chunk ? C : gr_columns_chunk;
  bool alone = (q.deep | q.together) == 0; /* every thread reads back what it wrote */
  if (!alone) __syncthreads();
#pragma unroll
  for (int i = 0; i < C; i++)
    if (i >= c0 && i < c0 + chunk) gr_put<Q>(value + gr_column_slot(q, i - c0, word) + ly, gr_columns_pitch, v[i]);
  if (!alone) __syncthreads();
  if (q.deep == 0) return;
  int deep = min(q.deep, 5), at = threadIdx.x & ((1 << deep) - 1), words = blockDim.x >> q.deep;
#pragma unroll 1
  for (int i = threadIdx.x >> deep; i < chunk * words; i += blockDim.x >> deep) {
    int64_t *p = value + gr_column_slot(q, i / words, i % words);
    gr_acc a = gr_get<Q>(p + at, gr_columns_pitch);
    if (q.deep > 5) a = Q::merge(a, gr_get<Q>(p + at + 32, gr_columns_pitch));
    for (int h = 1 << deep >> 1; h > 0; h /= 2) a = gr_merge_xor<Q>(a, h);
    if (at == 0) gr_put<Q>(p, gr_columns_pitch, a);
  }
  __syncthreads();
}

/* The spreads of this thread's columns for its leaf, folded over the block's lanes: in `value`. */
template <class R, int C>
__device__ __forceinline__ void gr_spread_columns(const gr_reduce_args &q, const gr_column_reader<R> &reader,
                                                  int64_t *value, gr_acc (&mine)[C], double count, int word) {
  using S = typename R::Sum;
  using M = typename R::Squares;
  static_assert(C <= gr_columns_chunk, "one chunk holds all columns of a thread");
  double mean[C] = {};
  gr_acc squares[C];
  reader.template read<S>(mine, q.context, mean);
  gr_fold_columns<S, C>(q, value, mine, 0, word, reader.ly);
#pragma unroll
  for (int i = 0; i < C; i++) {
    mine[i] = gr_get<S>(value + gr_column_slot(q, i, word), gr_columns_pitch);
    mean[i] = mine[i].f[0] / count;
  }
  reader.template read<M>(squares, q.context, mean);
  gr_fold_columns<M, C>(q, value, squares, 0, word, reader.ly);
#pragma unroll
  for (int i = 0; i < C; i++) {
    mine[i].f[1] = gr_get<M>(value + gr_column_slot(q, i, word), gr_columns_pitch).f[0];
    mine[i].f[2] = count;
  }
  __syncthreads();
#pragma unroll
  for (int i = 0; i < C; i++)
    if (reader.ly == 0) gr_put<R>(value + gr_column_slot(q, i, word), gr_columns_pitch, mine[i]);
  __syncthreads();
}

/* The last block of a group of columns: its nodes, a warp for each column. */
template <class R>
__device__ __noinline__ void gr_finish_columns(const gr_reduce_args &q, int64_t v0, int columns, int64_t pitch) {
#pragma unroll 1
  for (int i = gr_warp_index(); i < columns && v0 + i < q.job.count; i += blockDim.x >> 5) {
    gr_acc acc = gr_fold_many<R>(q.node + (v0 + i) * q.nodes, pitch, q.nodes, threadIdx.x & 31);
    if ((threadIdx.x & 31) == 0) gr_write<R>(q, acc, q.first + v0 + i, q.job.n);
  }
}

/* What a thread collects: the reducer itself, or of exact spreads the sums that they are made of. */
template <class R, bool = R::exact>
struct gr_column_plain {
  using type = R;
};
template <class R>
struct gr_column_plain<R, true> {
  using type = typename R::Moments;
};

/* Grid: column groups of wide * C columns, times q.nodes; a node is `together` (up to 8) leaves. */
template <class R>
__global__ void __launch_bounds__(gr_columns_block, R::fields == 1 && R::inputs == 1 ? 2 : 1)
    gr_reduce_columns(const __grid_constant__ gr_reduce_args q) {
  constexpr int C = gr_columns_each<R>, chunk = C < gr_columns_chunk ? C : gr_columns_chunk,
                leaf_size = gr_columns_leaf<R>;
  __shared__ int64_t value[gr_columns_pitch * R::fields];
  int wide = 1 << q.wide, together = 1 << q.together, x = threadIdx.x & (wide - 1);
  int ly = threadIdx.x >> q.wide & ((1 << q.deep) - 1), z = threadIdx.x >> (q.wide + q.deep), word = (z << q.wide) + x;
  unsigned group = blockIdx.x, node = 0;
  if (q.nodes > 1) {
    /* Where a block's piece of a row is short of a cache line, neighbouring pieces run together. */
    bool beside = wide * C * gr_size<R::dtype> < 128;
    unsigned pitch = beside ? gridDim.x / (unsigned)q.nodes : (unsigned)q.nodes, high = blockIdx.x / pitch,
             low = blockIdx.x - high * pitch;
    group = beside ? low : high;
    node = beside ? high : low;
  }
  int64_t leaf = ((int64_t)node << q.together) + z, v0 = (int64_t)group * wide * C, pitch = q.job.count * q.nodes;
  bool apart = q.apart;
  int64_t v = v0 + (apart ? x : x * C), rest = apart ? (q.job.count - v + wide - 1) >> q.wide : q.job.count - v;
  int valid = leaf < q.leaves ? (int)max((int64_t)0, min((int64_t)C, rest)) : 0;
  gr_column_reader<R> reader = {q, q.first + v, valid, ly, leaf * leaf_size};
  gr_acc mine[C];
  constexpr bool two_pass = R::spread && !R::exact;
  using Q = typename gr_column_plain<R>::type;
  if constexpr (two_pass) {
    double count = (double)max((int64_t)0, min((int64_t)leaf_size, q.job.n - reader.first));
    gr_spread_columns<R, C>(q, reader, value, mine, count, word);
  } else {
    double unused[C] = {};
    reader.template read<Q>(mine, q.context, unused);
  }
  bool last = q.nodes == 1;
#pragma unroll
  for (int c0 = 0; c0 < C; c0 += chunk) {
    if constexpr (!two_pass) gr_fold_columns<Q, C>(q, value, mine, c0, word, ly);
#pragma unroll 1
    for (int i = threadIdx.x; i < wide * chunk; i += blockDim.x) {
      int c = i >> q.wide, at = i & (wide - 1);
      int64_t column = v0 + (apart ? at + ((c0 + c) << q.wide) : at * C + c0 + c);
      if (column >= q.job.count) continue;
      if constexpr (R::exact) {
#pragma unroll 1
        for (int j = 0; j < together; j++) {
          int64_t *p = value + gr_column_slot(q, c, j * wide + at), from = (((int64_t)node << q.together) + j) * leaf_size,
                  count = min((int64_t)leaf_size, q.job.n - from);
          gr_put<R>(p, gr_columns_pitch, count > 0 ? R::of(gr_get<Q>(p, gr_columns_pitch), count) : R::identity());
        }
      }
#pragma unroll 1
      for (int s = 1; s < together; s *= 2)
#pragma unroll 1
        for (int j = 0; j < together; j += 2 * s) {
          int64_t *to = value + gr_column_slot(q, c, j * wide + at),
                  *from = value + gr_column_slot(q, c, (j + s) * wide + at);
          gr_put<R>(to, gr_columns_pitch, R::merge(gr_get<R>(to, gr_columns_pitch), gr_get<R>(from, gr_columns_pitch)));
        }
      gr_acc acc = gr_get<R>(value + gr_column_slot(q, c, at), gr_columns_pitch);
      if (last) gr_write<R>(q, acc, q.first + column, q.job.n);
      else gr_put<R>(q.node + column * q.nodes + node, pitch, acc);
    }
  }
  if (last || !gr_last_block(q.counter + group, (unsigned)q.nodes)) return;
  gr_finish_columns<R>(q, v0, wide * C, pitch);
}

#endif
