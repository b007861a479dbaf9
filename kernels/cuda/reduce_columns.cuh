/*
** Columns: neighbouring vectors are neighbours in memory. A thread takes a word of columns and some lanes of
** a leaf. A block is wide words x deep lanes x `together` leaves; a thread takes `each` lanes, deep apart, of
** 2^rows elements, in the order in which folding by halves needs them: their numbers bit-reversed. (These
** four are powers of two, kept as logarithms.)
*/
#ifndef GR_REDUCE_COLUMNS_CUH
#define GR_REDUCE_COLUMNS_CUH

#include "kernels/cuda/grid.cuh"
#include "kernels/cuda/load.cuh"

constexpr int gr_columns_block = 256;

/* Columns of a thread. Ordered lanes keep a stack of doubles for each, so they take fewer. */
template <class R> constexpr int gr_columns_most = !R::lanes ? 8 : R::kind == GR_ACC_TRIPLE ? 2 : 4;
template <class R>
constexpr int gr_columns_each = 16 / gr_size<R::dtype> < gr_columns_most<R> ? 16 / gr_size<R::dtype> : gr_columns_most<R>;

/* How many lanes a thread takes at most, as a logarithm: many, so that a block reads wide rows. */
constexpr int gr_columns_levels = 4;

template <class Q, int C> struct gr_column_stack {
  static constexpr int levels = gr_columns_levels;
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
template <gr_dtype D, int C> __device__ __forceinline__ uint4 gr_load_columns(const char *p) {
  constexpr int bytes = C * gr_size<D>;
  static_assert(bytes == 16 || bytes == 8 || bytes == 4, "a thread's columns fill a word, half or a quarter");
  if constexpr (bytes == 16) return gr_load16(p);
  if constexpr (bytes == 4) return make_uint4(__ldg((const unsigned *)p), 0, 0, 0);
  uint2 u = __ldg((const uint2 *)p);
  return make_uint4(u.x, u.y, 0, 0);
}

template <class R> struct gr_column_reader {
  static constexpr int C = gr_columns_each<R>, size = gr_size<R::dtype>, flight = R::inputs == 2 ? 4 : 8;
  const gr_reduce_args &q;
  const int64_t v;   /* first column */
  const int valid;   /* columns of this thread */
  const int ly;      /* first lane */
  const int64_t first; /* of the leaf */

  /* This thread's lanes of the leaf, folded as far as one thread can. */
  template <class Q>
  __device__ __forceinline__ void read(gr_acc (&v_out)[C], const gr_context &c, const double (&mean)[C]) const {
    typename Q::Lane l[C];
    gr_column_stack<Q, C> stack;
    int steps = 1 << (q.each + q.rows);
    int64_t left = min(q.job.n - first, (int64_t)GR_LEAF(size)), stride_a = q.job.a.stride, stride_b = q.job.b.stride;
    const char *pa = (const char *)q.job.a.data + v * size + first * stride_a;
    const char *pb = (const char *)q.job.b.data + v * size + first * stride_b;
    if (valid <= 0) left = 0;
#pragma unroll
    for (int i = 0; i < C; i++) l[i] = Q::start();
#pragma unroll 1
    for (int s0 = 0; s0 < steps; s0 += flight) {
      uint4 a[flight], b[flight];
#pragma unroll
      for (int s = 0; s < flight; s++) {
        int k = position<Q::lanes>(s0 + s);
        a[s] = b[s] = make_uint4(0, 0, 0, 0);
        if (s0 + s < steps && k < left) {
          if (q.apart) {
            a[s] = gr_gather<R::dtype, C>(pa + k * stride_a, (int64_t)size << q.wide, valid);
            if (R::inputs == 2) b[s] = gr_gather<R::dtype, C>(pb + k * stride_b, (int64_t)size << q.wide, valid);
          } else {
            a[s] = gr_load_columns<R::dtype, C>(pa + k * stride_a);
            if (R::inputs == 2) b[s] = gr_load_columns<R::dtype, C>(pb + k * stride_b);
          }
        }
      }
#pragma unroll
      for (int s = 0; s < flight; s++) {
        int k = position<Q::lanes>(s0 + s);
        if (s0 + s < steps && k < left) {
#pragma unroll
          for (int i = 0; i < C; i++) {
            gr_context own = c;
            if (Q::red == GR_RED_SPREAD) own.a = mean[i];
            Q::add(l[i], gr_pick<R::dtype>(a[s], i), gr_pick<R::dtype>(b[s], i), own, k);
          }
        }
        if (Q::lanes && s0 + s < steps && ((s0 + s + 1) & ((1 << q.rows) - 1)) == 0) {
#pragma unroll
          for (int i = 0; i < C; i++) v_out[i] = Q::state(l[i], c), l[i] = Q::start();
          stack.push(v_out, (s0 + s) >> q.rows);
        }
      }
      if constexpr (Q::kind == GR_ACC_PLACE) {
#pragma unroll
        for (int i = 0; i < C; i++) Q::mark(l[i], first + l[i].code);
      }
    }
    if (!Q::lanes) {
#pragma unroll
      for (int i = 0; i < C; i++) v_out[i] = Q::state(l[i], c);
    }
  }
  /* Where in the leaf a thread's s-th element lies; without lanes, simply in rising order. */
  template <bool by_lane> __device__ __forceinline__ int position(int s) const {
    if (!by_lane) return ly + (s << q.deep);
    int turned = q.each == 0 ? 0 : (int)(__brev(s >> q.rows) >> (32 - q.each));
    return ly + (turned << q.deep) + (s & ((1 << q.rows) - 1)) * GR_LANES(size);
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
__device__ __forceinline__ void gr_fold_columns(const gr_reduce_args &q, int64_t *value, const gr_acc (&v)[C], int c0, int word, int ly) {
  constexpr int chunk = C < gr_columns_chunk ? C : gr_columns_chunk;
  bool alone = (q.deep | q.together) == 0; /* every thread reads back what it wrote */
  if (!alone) __syncthreads();
#pragma unroll
  for (int i = 0; i < C; i++)
    if (i >= c0 && i < c0 + chunk) gr_put<Q>(value + gr_column_slot(q, i - c0, word) + ly, gr_columns_pitch, v[i]);
  if (!alone) __syncthreads();
  if (q.deep == 0) return;
  int at = threadIdx.x & ((1 << q.deep) - 1), other = threadIdx.x >> q.deep;
#pragma unroll 1
  for (int i = 0; i < chunk; i++) {
    int64_t *p = value + gr_column_slot(q, i, other);
    gr_acc a = gr_get<Q>(p + at, gr_columns_pitch);
    for (int h = 1 << q.deep >> 1; h > 0; h /= 2) a = gr_merge_xor<Q>(a, h);
    if (at == 0) gr_put<Q>(p, gr_columns_pitch, a);
  }
  __syncthreads();
}

/* The states of this thread's columns for its leaf, folded over the block's lanes: in `value`, chunk by chunk. */
template <class R, int C>
__device__ __forceinline__ void gr_spread_columns(const gr_reduce_args &q, const gr_column_reader<R> &reader, int64_t *value,
                                                  gr_acc (&mine)[C], double count, int word) {
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
template <class R> __device__ __noinline__ void gr_finish_columns(const gr_reduce_args &q, int64_t v0, int columns, int64_t pitch) {
#pragma unroll 1
  for (int i = gr_warp_index(); i < columns && v0 + i < q.job.count; i += blockDim.x >> 5) {
    gr_acc acc = gr_fold_many<R>(q.node + (v0 + i) * q.nodes, pitch, q.nodes, threadIdx.x & 31);
    if ((threadIdx.x & 31) == 0) gr_write<R>(q, acc, q.first + v0 + i);
  }
}

/* Grid: column groups of wide * C columns, times q.nodes; a node is `together` (up to 8) leaves. */
template <class R>
__global__ void __launch_bounds__(gr_columns_block, R::fields == 1 && R::inputs == 1 ? 2 : 1)
gr_reduce_columns(const __grid_constant__ gr_reduce_args q) {
  constexpr int C = gr_columns_each<R>, chunk = C < gr_columns_chunk ? C : gr_columns_chunk, leaf_size = GR_LEAF(gr_size<R::dtype>);
  __shared__ int64_t value[gr_columns_pitch * R::fields];
  int wide = 1 << q.wide, together = 1 << q.together, x = threadIdx.x & (wide - 1);
  int ly = threadIdx.x >> q.wide & ((1 << q.deep) - 1), z = threadIdx.x >> (q.wide + q.deep), word = (z << q.wide) + x;
  unsigned group = blockIdx.x, node = 0;
  if (q.nodes > 1) {
    group = blockIdx.x / (unsigned)q.nodes;
    node = blockIdx.x - group * (unsigned)q.nodes;
  }
  int64_t leaf = ((int64_t)node << q.together) + z, v0 = (int64_t)group * wide * C, pitch = q.job.count * q.nodes;
  int64_t v = v0 + (q.apart ? x : x * C), rest = q.apart ? (q.job.count - v + wide - 1) >> q.wide : q.job.count - v;
  int valid = leaf < q.leaves ? (int)max((int64_t)0, min((int64_t)C, rest)) : 0;
  gr_column_reader<R> reader = {q, q.first + v, valid, ly, leaf * leaf_size};
  gr_acc mine[C];
  if constexpr (R::spread) {
    double count = (double)max((int64_t)0, min((int64_t)leaf_size, q.job.n - reader.first));
    gr_spread_columns<R, C>(q, reader, value, mine, count, word);
  } else {
    double unused[C] = {};
    reader.template read<R>(mine, q.context, unused);
  }
  bool last = q.nodes == 1;
#pragma unroll
  for (int c0 = 0; c0 < C; c0 += chunk) {
    if constexpr (!R::spread) gr_fold_columns<R, C>(q, value, mine, c0, word, ly);
#pragma unroll 1
    for (int i = threadIdx.x; i < wide * chunk; i += blockDim.x) {
      int c = i >> q.wide, at = i & (wide - 1);
      int64_t column = v0 + (q.apart ? at + ((c0 + c) << q.wide) : at * C + c0 + c);
      if (column >= q.job.count) continue;
#pragma unroll 1
      for (int s = 1; s < together; s *= 2)
#pragma unroll 1
        for (int j = 0; j < together; j += 2 * s) {
          int64_t *to = value + gr_column_slot(q, c, j * wide + at), *from = value + gr_column_slot(q, c, (j + s) * wide + at);
          gr_put<R>(to, gr_columns_pitch, R::merge(gr_get<R>(to, gr_columns_pitch), gr_get<R>(from, gr_columns_pitch)));
        }
      gr_acc acc = gr_get<R>(value + gr_column_slot(q, c, at), gr_columns_pitch);
      if (last) gr_write<R>(q, acc, q.first + column);
      else gr_put<R>(q.node + column * q.nodes + node, pitch, acc);
    }
  }
  if (last || !gr_last_block(q.counter + group, (unsigned)q.nodes)) return;
  gr_finish_columns<R>(q, v0, wide * C, pitch);
}

#endif
