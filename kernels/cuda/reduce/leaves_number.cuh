/*
** The end of gr_reduce_leaves where it does one vector of a formula for the host: from the states of leaves to what is
** put into the mailbox. The driver compiles it when a formula is first used, so here a fold stands once, as a loop over
** what is folded in turn, and nothing is called; states meet in the order in which they meet elsewhere.
*/
#ifndef GR_CUDA_REDUCE_LEAVES_NUMBER_CUH
#define GR_CUDA_REDUCE_LEAVES_NUMBER_CUH

#include "kernels/cuda/grid/combine.cuh"

/* Up to 256 states, as gr_fold_256 folds them; the first thread gets the result. */
template <class R>
__device__ __forceinline__ gr_acc gr_fold_in_loops(const int64_t *p, int64_t pitch, int count, int lane) {
  constexpr bool extreme = R::kind == GR_ACC_ORDER || R::kind == GR_ACC_POSITION;
  constexpr int each = extreme ? 1 : 8;
  gr_acc v[each];
  if constexpr (extreme) { /* in any order */
    v[0] = R::identity();
#pragma unroll 1
    for (int at = lane; at < count; at += 32) v[0] = R::merge(v[0], gr_get_fresh<R>(p + at, pitch));
  } else {
#pragma unroll
    for (int i = 0; i < each; i++) {
      const bool there = lane * each + i < count; /* read in any case: a branch is more to compile */
      v[i] = gr_select<R>(there, gr_get_fresh<R>(p + (there ? lane * each + i : 0), pitch), R::identity());
    }
#pragma unroll
    for (int n = 1; n < each; n *= 2)
#pragma unroll
      for (int i = 0; i < each; i += 2 * n) v[i] = R::merge(v[i], v[i + n]);
  }
  gr_acc acc = v[0];
  const int most = min(count, 32 * each);
#pragma unroll 1
  for (int h = each; h < most; h *= 2) acc = gr_merge_xor<R>(acc, h / each);
  return acc;
}

/* acc: of a warp, lane i has the state of its i-th leaf, or, if order does not matter, every lane that of all. */
template <class R>
__device__ __forceinline__ void gr_end_number(const gr_reduce_args &q, gr_acc acc, int64_t *value, unsigned node,
                                              int warp, int lane) {
  const int passes = R::leaves ? q.passes : 1;
  gr_after_reading(q.inputs_stable); /* from here on something is written */
  if (q.combine == GR_COMBINE_LEAVES_ON_HOST) {
    const int64_t at = ((int64_t)node << q.warps_log2) + warp;
    if (lane == 0 && at < q.leaves) gr_mailbox_put_state<R>(q, at, acc);
    return;
  }
  if (lane < passes) gr_put<R>(value + (lane << q.warps_log2) + warp, 512, acc);
  __syncthreads();
  const int64_t *from = value;
  int64_t pitch = 512, at = 0;
  int count = passes << q.warps_log2, warps = 1; /* states, and warps that fold them */
  bool own = true;                               /* they are this block's */
#pragma unroll 1
  for (;;) {
    const int units = (count + 255) >> 8;
    if (warp < warps)
#pragma unroll 1
      for (int u = warp; u < units; u += warps) {
        acc = gr_fold_in_loops<R>(from + u * 256, pitch, min(256, count - u * 256), lane);
        if (lane == 0 && units > 1) gr_put<R>(value + u, 512, acc);
      }
    if (units > 1) { /* one warp, since results are written over what was folded */
      __syncthreads();
      from = value;
      pitch = 512;
      count = units;
      warps = 1;
      continue;
    }
    if (!own || q.nodes == 1) break;
    if (q.combine == GR_COMBINE_NODES_ON_HOST) {
      at = node;
      break;
    }
    own = false;
    count = q.nodes;
    if (q.combine == GR_COMBINE_POLLING) {
      if (node != 0) {
        if (threadIdx.x == 0) gr_publish_partial<R>(q.partials + node * R::fields, acc);
        return;
      }
      /* the first thread has the first node */
      if (threadIdx.x > 0 && threadIdx.x < count) acc = gr_await_partial<R>(q.partials + threadIdx.x * R::fields);
      from = value + 256; /* the first 256 may still be read */
      gr_put<R>(value + 256 + threadIdx.x, 512, acc);
      __syncthreads();
    } else {
      if (threadIdx.x == 0) gr_put<R>(q.node + node, count, acc);
      if (!gr_last_block(q.counter, (unsigned)count, true)) return;
      from = q.node;
      pitch = count;
      warps = blockDim.x >> 5;
    }
  }
  if (threadIdx.x == 0) gr_mailbox_put_state<R>(q, at, acc);
}

#endif
