/* The main kernel: one warp reads a leaf (reduce/leaf_states.cuh). For flat arrays, long rows and any stride. */
#ifndef GR_CUDA_REDUCE_LEAVES_CUH
#define GR_CUDA_REDUCE_LEAVES_CUH

#include "kernels/cuda/reduce/leaf_states.cuh"
#include "kernels/cuda/reduce/leaves_number.cuh"
#include "kernels/cuda/reduce/tuning.h"

constexpr int gr_leaves_block = gr_leaves_warps * 32; /* threads at most */

/* What reads leaves for R: R itself, unless it adds to their states. */
template <class R, bool = R::tallied || R::beside>
struct gr_reader {
  using type = R;
};
template <class R>
struct gr_reader<R, true> {
  using type = typename R::Read;
};
/* Kernels of what is present are one text for all chips, by Hopper's numbers. */
template <class R>
constexpr int gr_leaves_registers =
    gr_leaves_registers_for(gr_traits_of<typename gr_reader<R>::type>, R::present ? 900 : gr_arch);
/* Blocks of 256 threads that a multiprocessor can hold. */
template <class R>
constexpr int gr_leaves_resident = 65536 / 256 / gr_leaves_registers<R>;

#if CUDART_VERSION >= 12040
#define GR_LEAVES_BOUNDS(R) __maxnreg__(gr_leaves_registers<R>)
#else
#define GR_LEAVES_BOUNDS(R) __launch_bounds__(gr_leaves_block)
#endif

/*
** The end of a vector of several blocks: one of them combines their nodes. Few are published to block 0, which polls;
** many go to scratch memory, and the last block to arrive combines them. True in the block that has acc then, in its
** first warp.
*/
template <class R>
__device__ __forceinline__ bool gr_fold_blocks(const gr_reduce_args &q, gr_acc &acc, int64_t *value, int64_t v,
                                               unsigned node, int warp, int lane) {
  int count = (int)q.nodes;
  if (q.combine == GR_COMBINE_POLLING) {
    gr_halves *partials = q.partials + v * q.nodes * R::fields;
    if (node != 0) {
      if (threadIdx.x == 0) gr_publish_partial<R>(partials + node * R::fields, acc);
      return false;
    }
    int twice = count > (int)blockDim.x, from = threadIdx.x << twice, threads = (count + twice) >> twice;
    if (threadIdx.x < threads) {
      gr_acc next = R::identity(); /* the first thread has the first node */
      gr_await_partials<R>(partials + from * R::fields, threadIdx.x > 0, acc, twice && from + 1 < count, next);
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

/* One vector for the host, no segments. */
template <class R>
static __device__ __forceinline__ bool gr_is_flat(const gr_reduce_args &q) {
  return R::number || q.flat;
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
  return {(int64_t)v * (blockDim.x >> 5 >> q.warps_log2) + (warp >> q.warps_log2), node};
}

/*
** A block holds nodes of 2^q.warps_log2 warps, side by side; if a vector has several nodes, exactly one.
** passes <= 32 and 2^warps_log2 * passes <= 256.
*/
template <class R>
__global__ void GR_LEAVES_BOUNDS(R) gr_reduce_leaves(const __grid_constant__ gr_reduce_args q) {
  __shared__ int64_t value[R::fields * 512];
  constexpr int size = gr_size<R::dtype>, leaf = GR_LEAF(size);
  int lane = threadIdx.x & 31, warp = gr_warp_index(), sub = warp;
  unsigned node = blockIdx.x;
  gr_task t = {(const char *)q.a, (const char *)q.b, q.n, 0, 0, 0, warp >> q.warps_log2};
  if (!gr_is_flat<R>(q)) {
    if (!q.inputs_stable) gr_await_earlier(); /* positions of segments */
    gr_which w = gr_which_of(q, warp);
    sub = warp & ((1 << q.warps_log2) - 1);
    node = w.node;
    t.n = 0;
    if (w.v < q.job.count && q.arrays) { /* asks for few lines of arguments */
      t = {(const char *)q.array[w.v].a, (const char *)q.array[w.v].b, q.array[w.v].n, 0, 0, 0, t.node};
    } else if (w.v < q.job.count) {
      gr_stretch s = gr_stretch_of(q, q.first + w.v);
      t = {t.a + s.from * q.job.a.step, t.b + s.from * q.job.b.step, s.n <= q.job.n ? s.n : 0, 0, 0, 0, t.node};
    }
  }
  t.at = ((int)node * q.passes << q.warps_log2) + sub;
  t.stop = min((int)((t.n + leaf - 1) / leaf), t.at + (q.passes << q.warps_log2));
  t.whole = q.strided ? 0 : (int)(t.n / leaf);
  if (!R::formula && q.ahead) {
    int64_t from = (int64_t)t.at * leaf * size, left = t.n * size - from;
    gr_ask_ahead<leaf * size>(t.a + from, left, lane);
    if (R::inputs == 2) gr_ask_ahead<leaf * size>(t.b + from, left, lane);
  }
  if constexpr (gr_shares_best<R>) {
    if (lane == 0) gr_best_of_node<R>(warp) = gr_lowest<typename R::K>();
    __syncthreads();
  }
  asm volatile("" ::"l"(q.out), "l"(q.partials)); /* the other lines of arguments, before they are wanted in a hurry */
  gr_before_reading(q.inputs_stable);
  if constexpr (R::tallied) gr_start_tally();
  using Reader = typename gr_reader<R>::type;
  typename Reader::Beside beside;
  gr_acc acc = gr_read_leaves<Reader>(q, t, lane, beside);
  if constexpr (R::beside) acc = R::with(acc, beside, lane);
  if constexpr (R::tallied) {
    const int tally = gr_tally_of_warp(acc);
    acc = R::with(acc, lane == 0 ? tally : 0);
  }
  if constexpr (R::number && R::formula) {
    gr_end_number<R>(q, acc, value, node, warp, lane);
    return;
  }
  if (!q.inputs_stable) gr_let_next_start(); /* else it waits once its block has folded */
  /* a leaf a warp; counted anew, since t would take registers while rows are read */
  if (q.combine == GR_COMBINE_LEAVES_ON_HOST) {
    if (q.inputs_stable) gr_await_earlier();
    int64_t v = gr_is_flat<R>(q) ? 0 : gr_which_of(q, warp).v, at = ((int64_t)node << q.warps_log2) + sub;
    const bool there = gr_is_flat<R>(q) || v < q.job.count;
    if (lane == 0 && at < q.leaves && there) gr_mailbox_put_state<R>(q, v * q.leaves + at, acc);
    return;
  }
  int passes = R::leaves ? q.passes : 1;
  if (q.warps_log2 == 0) {
    if (R::leaves && passes > 1) acc = gr_fold_adjacent<R>(acc, 32);
  } else {
    int64_t *mine = value + (warp - sub) * passes;
    if (lane < passes) gr_put<R>(mine + (lane << q.warps_log2) + sub, 512, acc);
    __syncthreads();
    if (sub == 0) acc = gr_fold_256<R>(mine, 512, passes << q.warps_log2, lane);
  }
  if (q.inputs_stable) gr_await_earlier(); /* from here on something is written */
  gr_which w = {0, node};
  gr_stretch s = {0, q.n, 0};
  if (!gr_is_flat<R>(q)) {
    w = gr_which_of(q, warp);
    s.place = w.v;
    if (w.v < q.job.count && !q.arrays) s = gr_stretch_of(q, q.first + w.v);
  }
  bool writes = sub == 0 && lane == 0;
  if (q.nodes > 1 && q.combine == GR_COMBINE_NODES_ON_HOST) {
    if (threadIdx.x == 0) gr_mailbox_put_state<R>(q, w.v * q.nodes + w.node, acc);
    return;
  }
  if (q.nodes > 1) {
    if (!gr_fold_blocks<R>(q, acc, value, w.v, w.node, warp, lane)) return;
    writes = threadIdx.x == 0;
  }
  if (!writes || (!gr_is_flat<R>(q) && (w.v >= q.job.count || s.n > q.job.n))) return;
  if (R::number || q.done) gr_mailbox_put_state<R>(q, s.place, acc);
  else if constexpr (R::tallied) gr_write_tallied<R>(q, acc, s.place);
  else gr_write<R>(q, acc, s.place, s.n);
}

#endif
