/*
** Columns of whatever keeps the order within a leaf. A thread has a column and loads it element by element, a warp 32
** neighbours: so it does not matter where rows begin, and no word is shifted. Of the lanes of the tree a thread has
** groups of eight (of 8-byte elements four), as far apart as lanes get, so that they fold at once by halves; then the
** groups that it has in turn fold, then those of the warps that share the leaf, at last those of the threads of a warp
** that share a column, as they do where there are few columns, or a block would have many warps. Groups come one after
** the other, for a variance twice. But where the warps of a block have registers for a leaf of a variance or of
** products, all of it is on its way at once and is held, so that memory is read once.
*/
#ifndef GR_CUDA_REDUCE_COLS_BY_LANE_CUH
#define GR_CUDA_REDUCE_COLS_BY_LANE_CUH

#include "kernels/cuda/grid/combine.cuh"
#include "kernels/cuda/reduce/entry.cuh"
#include "kernels/cuda/reduce/tuning.h"
#include "kernels/cuda/thread/load.cuh"

template <class R>
constexpr bool gr_has_cols_by_lane = R::lanes;
template <class R>
constexpr bool gr_by_lane_holds = gr_by_lane_holds_for(R::red);
template <class Q>
constexpr int gr_by_lane_deep = gr_by_lane_deep_for(gr_traits_of<Q>);

/* An element as it lies in memory. */
template <gr_dtype D>
using gr_raw_element = std::conditional_t<gr_size<D> == 8, unsigned long long,
                                          std::conditional_t<gr_size<D> == 4, unsigned, unsigned short>>;
template <gr_dtype D>
__device__ __forceinline__ gr_type<D> gr_element_of(gr_raw_element<D> u) {
  gr_type<D> x;
  memcpy(&x, &u, sizeof x);
  return x;
}

/*
** What stands for an element that is not there, so that nobody need ask: +0 times -0, -0 and their squares add
** nothing to a sum, 1 is no factor, e to minus infinity is 0, and NaN may be what is left out. It would change the
** state of what is compensated, a square of a distance from the mean, and of integers, which have no -0, products that
** are all -0: there each element asks. R: the kernel's reducer; Q: that of a pass.
*/
template <class R, class Q>
constexpr bool gr_asks_each =
    !R::skips && (Q::red == GR_RED_VARIANCE || Q::red == GR_RED_SUM_KAHAN || Q::red == GR_RED_SUM_NEUMAIER ||
                  Q::red == GR_RED_DOT_KAHAN || Q::red == GR_RED_DOT_NEUMAIER ||
                  (Q::red == GR_RED_COSINE && !gr_floating<Q::dtype>));
template <class R>
__device__ __forceinline__ gr_raw_element<R::dtype> gr_nothing() {
  using U = gr_raw_element<R::dtype>;
  constexpr int mantissa = R::dtype == GR_F16 ? 10 : R::dtype == GR_BF16 ? 7 : R::dtype == GR_F32 ? 23 : 52;
  constexpr U sign = (U)((U)1 << (8 * sizeof(U) - 1));
  if constexpr (!gr_floating<R::dtype>) return 0;
  else if constexpr (R::skips) return (U)(sign - 1);
  else if constexpr (R::red == GR_RED_PROD) return (U)((sign >> 1) - ((U)1 << mantissa));
  else if constexpr (R::red == GR_RED_SUMEXP) return (U)(~(U)0 << mantissa);
  else return sign;
}

/* A thread's column in its leaf. */
template <class R>
struct gr_lane_column {
  static constexpr int together = gr_by_lane_together<gr_size<R::dtype>>, inputs = R::inputs;
  using U = gr_raw_element<R::dtype>;
  const char *a, *b; /* row 0 of the leaf */
  int64_t step_a, step_b;
  int rows; /* of the leaf */

  /* Elements of up to `together` lanes, 2^apart_log2 rows apart, from row `first` on; how many there are. */
  __device__ __forceinline__ int load(U (&x)[together], U (&y)[together], int first, int apart_log2) const {
    const char *pa = a + first * step_a, *pb = b + first * step_b;
    const int there = (rows - first + (1 << apart_log2) - 1) >> apart_log2;
#pragma unroll
    for (int i = 0; i < together; i++, pa += step_a << apart_log2, pb += step_b << apart_log2) {
      x[i] = gr_nothing<R>();
      y[i] = 0;
      if (i < there) x[i] = __ldg((const U *)pa);
      if (inputs == 2 && i < there) y[i] = __ldg((const U *)pb);
    }
    return there;
  }
};

/* The lanes of a group. */
template <class R, class Q, int count>
struct gr_lane_group {
  using U = gr_raw_element<Q::dtype>;
  typename Q::Lane l[count];
  __device__ __forceinline__ gr_lane_group() {
#pragma unroll
    for (int i = 0; i < count; i++) l[i] = Q::start();
  }
  __device__ __forceinline__ void add_one(int i, const U (&x)[count], const U (&y)[count], const gr_context &k) {
    Q::add(l[i], gr_element_of<Q::dtype>(x[i]), gr_element_of<Q::dtype>(Q::inputs == 2 ? y[i] : x[i]), k, 0);
  }
  __device__ __forceinline__ void add(const U (&x)[count], const U (&y)[count], int there, const gr_context &k) {
    if (!gr_asks_each<R, Q> || there >= count) {
#pragma unroll
      for (int i = 0; i < count; i++) add_one(i, x, y, k);
    } else {
#pragma unroll
      for (int i = 0; i < count; i++)
        if (i < there) add_one(i, x, y, k);
    }
  }
  /* The same of lanes with one element each, where the last quarter often is not there. */
  __device__ __forceinline__ void add_few(const U (&x)[count], const U (&y)[count], int there, const gr_context &k) {
    constexpr int most = count * 3 / 4;
#pragma unroll
    for (int i = 0; i < most; i++)
      if (!gr_asks_each<R, Q> || i < there) add_one(i, x, y, k);
    if (there > most)
#pragma unroll
      for (int i = most; i < count; i++)
        if (!gr_asks_each<R, Q> || i < there) add_one(i, x, y, k);
  }
  __device__ __forceinline__ gr_acc fold(const gr_context &k) const {
    gr_acc v[count];
#pragma unroll
    for (int i = 0; i < count; i++) v[i] = Q::state(l[i], k);
#pragma unroll
    for (int h = count / 2; h > 0; h /= 2)
#pragma unroll
      for (int i = 0; i < h; i++) v[i] = Q::merge(v[i], v[i + h]);
    return v[0];
  }
};

/* Groups in turn come in reversed order, so that a stack folds them. */
using gr_lane_stack = gr_stack<gr_acc, gr_by_lane_levels>;

/* This thread's share of a column, in registers. */
template <class R>
struct gr_held_lanes {
  using Column = gr_lane_column<R>;
  static constexpr int together = Column::together, inputs = R::inputs, slots = gr_by_lane_slots<inputs>;
  static_assert(slots * 4 <= 32 && together < 16, "four bits of each slot");
  typename Column::U x[slots][together], y[inputs == 2 ? slots : 1][together];
  uint32_t counts;

  /* How many elements of a slot there are. */
  __device__ __forceinline__ int there(int slot) const { return counts >> 4 * slot & 15; }
  __device__ __forceinline__ void load(const Column &c, const gr_cols_by_lane_args &how, int mine) {
    counts = 0;
#pragma unroll
    for (int s = 0; s < slots; s++) {
      const int t = s >> how.rows_log2, d = s & ((1 << how.rows_log2) - 1);
      const int first = how.first_row(mine, t) + (d << how.groups_log2) * together;
      const int some = c.load(x[s], y[inputs == 2 ? s : 0], s < how.held ? first : c.rows, how.groups_log2);
      counts |= (uint32_t)max(0, min(some, together)) << 4 * s;
    }
  }
  /* Slots of groups that have 2^log of them, so that where each goes is known. */
  template <class Q, int log>
  __device__ __forceinline__ gr_acc fold_known(int held, const gr_context &k) {
    gr_lane_stack stack;
    gr_acc part[1];
#pragma unroll
    for (int s = 0; s < slots; s += 1 << log) {
      if (s >= held) break;
      gr_lane_group<R, Q, together> group;
#pragma unroll
      for (int d = 0; d < 1 << log; d++) {
        if (d > 1 << log >> 1 && there(s + d) == 0) break; /* of a leaf that is not full */
        if (log == 0) group.add_few(x[s + d], x[s + d], there(s + d), k);
        else group.add(x[s + d], x[s + d], there(s + d), k);
      }
      part[0] = group.fold(k);
      stack.push(part, s >> log, Q::merge);
    }
    return part[0];
  }
  template <class Q>
  __device__ __forceinline__ gr_acc fold(const gr_cols_by_lane_args &how, const gr_context &k) {
    if (Q::red == GR_RED_VARIANCE) gr_renew<slots * together>(x[0], how.held < 0);
    if constexpr (R::variance && gr_floating<R::dtype> && !gr_before_hopper) { /* for chips where it was measured */
      return how.rows_log2 == 0   ? fold_known<Q, 0>(how.held, k)
             : how.rows_log2 == 1 ? fold_known<Q, 1>(how.held, k)
             : how.rows_log2 == 2 ? fold_known<Q, 2>(how.held, k)
                                  : fold_known<Q, 3>(how.held, k);
    }
    gr_lane_stack stack;
    gr_acc part[1];
    gr_lane_group<R, Q, together> group;
#pragma unroll
    for (int s = 0; s < slots; s++) {
      group.add(x[s], y[inputs == 2 ? s : 0], there(s), k);
      if (s >= how.held || (s + 1) & ((1 << how.rows_log2) - 1)) continue;
      part[0] = group.fold(k);
      stack.push(part, s >> how.rows_log2, Q::merge);
      group = gr_lane_group<R, Q, together>();
    }
    return part[0];
  }
};

/* The same without room for it: flights of one or two elements of each lane of a group, the next one on its way while
   one is added, into registers of its own, as a copy would wait for it. */
template <class R, class Q>
struct gr_lanes_in_turn {
  using Column = gr_lane_column<R>;
  static constexpr int together = Column::together, deep = gr_by_lane_deep<Q>;
  const Column &column;
  const gr_cols_by_lane_args &how;
  const int mine, log, last, flights; /* log: of flights of a group; last: the number of its last one */
  gr_lane_stack stack;
  gr_acc part[1];
  gr_lane_group<R, Q, together> group;
  struct Flight {
    typename Column::U x[deep][together], y[deep][together];
    int there[deep];
  };
  __device__ __forceinline__ gr_lanes_in_turn(const Column &column, const gr_cols_by_lane_args &how, int mine)
      : column(column), how(how), mine(mine), log(deep == 1 || how.rows_log2 == 0 ? how.rows_log2 : how.rows_log2 - 1),
        last((1 << log) - 1), flights(1 << (log + how.groups_log2 - how.shares_log2)) {}
  __device__ __forceinline__ void load(Flight &to, int f) const {
    const int first = how.first_row(mine, f >> log), lanes = together << how.groups_log2;
#pragma unroll
    for (int d = 0; d < deep; d++)
      to.there[d] = column.load(to.x[d], to.y[d], f < flights ? first + ((f & last) * deep + d) * lanes : column.rows,
                                how.groups_log2);
  }
  __device__ __forceinline__ void add(const Flight &flight, int f, const gr_context &k) {
#pragma unroll
    for (int d = 0; d < deep; d++) group.add(flight.x[d], flight.y[d], flight.there[d], k);
    if ((f & last) != last) return;
    part[0] = group.fold(k);
    stack.push(part, f >> log, Q::merge);
    group = gr_lane_group<R, Q, together>();
  }
  __device__ __forceinline__ gr_acc fold(const gr_context &k) {
    Flight even, odd;
    load(even, 0);
#pragma unroll 1
    for (int f = 0; f < flights; f += 2) {
      load(odd, f + 1);
      add(even, f, k);
      if (f + 1 == flights) break;
      load(even, f + 2);
      add(odd, f + 1, k);
    }
    return part[0];
  }
};

/* Where a block is: its first column and its leaf. Leaves of the same columns are far apart, those of neighbouring
   columns next to each other, since they read the same lines of memory where these meet. */
struct gr_by_lane_block {
  unsigned group, node;
  __device__ __forceinline__ gr_by_lane_block(const gr_reduce_args &q) {
    const unsigned groups = gridDim.x / (unsigned)q.nodes;
    node = q.nodes > 1 ? blockIdx.x / groups : 0;
    group = blockIdx.x - node * groups;
  }
};

/* The warps of a block share a leaf of up to 32 columns; where one warp has all of it, each has columns of its own. */
template <class R>
__global__ void __launch_bounds__(gr_by_lane_warps * 32, gr_by_lane_blocks_for(gr_traits_of<R>))
    gr_reduce_cols_by_lane(const __grid_constant__ gr_reduce_args q) {
  constexpr gr_dtype D = R::dtype;
  constexpr int size = gr_size<D>;
  constexpr bool may_hold = gr_by_lane_holds<R>, always_holds = R::variance && size >= 4;
  const gr_cols_by_lane_args &how = q.cols_by_lane;
  constexpr int fields = R::skips ? 2 : R::variance ? 1 : R::fields; /* of a warp's state */
  __shared__ int64_t states[R::variance ? 2 : 1][gr_by_lane_warps][fields][32];
  const int lane = threadIdx.x & 31, warp = gr_warp_index(), warps = 1 << (how.shares_log2 - how.sides_log2);
  const int wide = 32 >> how.sides_log2, side = lane / wide; /* columns of a warp, and which of its rows side by side */
  const int mine = side + (warps == 1 ? 0 : warp << how.sides_log2);
  const gr_by_lane_block at(q);
  const int64_t strip = warps == 1 ? (int64_t)at.group * (blockDim.x >> 5) + warp : at.group;
  const int64_t v = strip * wide + lane % wide, from = (int64_t)at.node * GR_LEAF(size);
  const int64_t place = q.first + min(v, q.job.count - 1); /* who has no column does another's work once more */
  const gr_lane_column<R> column = {
      (const char *)q.job.a.data + place * size + from * q.job.a.stride,
      (const char *)q.job.b.data + (q.job.b.step ? place * size : 0) + from * q.job.b.stride, q.job.a.stride,
      q.job.b.stride, (int)min(q.job.n - from, (int64_t)GR_LEAF(size))};
  gr_start_reading(q.inputs_stable);
  gr_held_lanes<R> held;
  const bool holds = always_holds || (may_hold && how.held);
  if (holds) held.load(column, how, mine);
  auto total = [&](auto reducer, int pass, const gr_context &k) {
    using Q = decltype(reducer);
    gr_acc s;
    if (holds) s = held.template fold<Q>(how, k);
    else s = gr_lanes_in_turn<R, Q>(column, how, mine).fold(k);
    if (warps > 1) {
      gr_put<Q>(&states[pass][warp][0][lane], 32, s);
      __syncthreads();
      s = gr_fold_rows([&](int i) { return gr_get<Q>(&states[pass][i][0][lane], 32); }, Q::merge, warps);
    }
#pragma unroll 1
    for (int h = 16; h >= wide; h /= 2) s = gr_merge_xor<Q>(s, h);
    return s;
  };
  gr_acc acc = R::identity();
  if constexpr (R::variance) {
    gr_context k = q.context;
    acc = R::begun(total(typename R::Sum(), 0, k), column.rows);
    k.a = R::skips ? gr_mean_of<D>(acc.f[0], acc.f[2]) : acc.f[0] / acc.f[2];
    acc.f[1] = gr_deviations<D>(total(typename R::Squares(), 1, k).f[0], k.a);
  } else {
    acc = total(R(), 0, q.context);
  }
  if (q.inputs_stable) gr_await_earlier();
  const bool writes = mine == 0 && v < q.job.count;
  if (q.nodes > 1) {
    if (writes) gr_put<R>(q.node + at.node * q.job.count + v, q.job.count * q.nodes, acc);
    const int64_t v0 = (int64_t)at.group * wide;
    if (!gr_combine_nodes<R>(q, v0, wide, q.counter + at.group * (unsigned)q.counters, at.node)) return;
    if (writes) acc = gr_root<R>(q, v);
  }
  if (writes) gr_write<R>(q, acc, q.first + v, q.job.n);
}

#endif
