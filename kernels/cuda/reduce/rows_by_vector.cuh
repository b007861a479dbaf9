/*
** Matrix x vector: dots of rows with one and the same vector (b.step is 0). A warp keeps a leaf of the vector in
** registers and takes the same leaf of up to 32 rows, one after the other, the next one on its way to shared memory
** meanwhile; the nodes then fold as those of columns do. Rows that do not begin at whole words come by the words that
** they lie in, and are shifted as they are read. Shorter rows in whole words: gr_reduce_rows_staged.
*/
#ifndef GR_CUDA_REDUCE_ROWS_BY_VECTOR_CUH
#define GR_CUDA_REDUCE_ROWS_BY_VECTOR_CUH

#include "kernels/cuda/block/ring.cuh"
#include "kernels/cuda/grid/combine.cuh"
#include "kernels/cuda/reduce/leaves.cuh"

/* Dots of floats whose leaf is 8 words a lane. */
template <class R>
constexpr bool gr_has_rows_by_vector = R::red == GR_RED_DOT && gr_floating<R::dtype> && gr_size<R::dtype> >= 4;

/* A word of -0, whose product with the zeros of absent elements adds nothing to any sum. */
template <int size>
constexpr gr_words<4> gr_minus_zeros = {
    {size == 8 ? 0 : 0x80000000u, 0x80000000u, size == 8 ? 0 : 0x80000000u, 0x80000000u}};

/* Adds the products of two words' elements. */
template <class R>
__device__ __forceinline__ void gr_add_products(typename R::Lane (&l)[gr_lanes_of<R>], const uint4 &x, const uint4 &y) {
  const gr_context unused = {1.0, 1.0, 0};
#pragma unroll
  for (int c = 0; c < gr_lanes_of<R>; c++) R::add(l[c], gr_pick<R::dtype>(x, c), gr_pick<R::dtype>(y, c), unused, 0);
}

/* A warp's stage: two rows on their way, and one more word of each, in which a loose row ends. */
template <class R>
using gr_by_vector_stage = uint4[2][GR_LEAF_ROWS(gr_size<R::dtype>) * 32 + 1];

/*
** The dots of up to 32 rows of a leaf, one in each lane. `from` and `vector` are at this lane's first word, `left`
** bytes before the end. loose: rows begin anywhere in a word; others are spared all that takes, which cost them 7 %.
*/
template <class R, bool loose>
__device__ __forceinline__ gr_acc gr_dots_by_vector(const gr_reduce_args &q, gr_by_vector_stage<R> &stage,
                                                    const char *from, const char *vector, int left, int rows,
                                                    int lane) {
  constexpr int size = gr_size<R::dtype>, K = GR_LEAF_ROWS(size);
  using Ring = gr_copy_ring<2>; /* of rows */
  uint4 y[K];
  gr_acc mine = R::identity();
  int step = (int)q.job.a.step, shift = (int)((uintptr_t)from & 15);
  auto ask = [&](int r) { /* of a loose row the words that it lies in */
    uint4 *to = stage[Ring::slot(r)] + lane;
    int at = loose ? (int)((uintptr_t)from & 15) : 0, there = r < rows && left + lane * 16 > 0 ? left + at : 0;
#pragma unroll
    for (int k = 0; k < K; k++)
      if (k * 512 < there) gr_copy_async<16>(to + k * 32, from - at + k * 512);
    if (loose && lane == 0 && K * 512 < there) gr_copy_async<16>(to + K * 32, from - at + K * 512);
    Ring::end_group();
    from += q.job.a.step;
  };
  gr_start_reading(q.inputs_stable);
  ask(0);
#pragma unroll
  for (int k = 0; k < K; k++) {
    constexpr gr_words<4> none = gr_minus_zeros<size>;
    y[k] = make_uint4(none.u[0], none.u[1], none.u[2], none.u[3]);
    const char *at = vector + k * 512;
    if constexpr (loose) {
      if (k * 512 >= left) continue;
      uint4 w = gr_load_end(gr_load_begin(at), at, min(16, left - k * 512));
      y[k] = left - k * 512 < 16 ? gr_blend(y[k], w, left - k * 512) : w;
    } else if (k * 512 < left) y[k] = gr_load16(at);
  }
#pragma unroll 1
  for (int r = 0; r < rows; r++) {
    if (loose) __syncwarp(); /* all have read what is overwritten now */
    ask(r + 1);
    Ring::wait(); /* each lane reads what it brought itself; loose ones their neighbour's too */
    if (loose) __syncwarp();
    /* Many doubles made of the vector once and kept would spill. */
#pragma unroll
    for (int k = 0; k < K; k++) asm volatile("" : "+r"(y[k].x), "+r"(y[k].y), "+r"(y[k].z), "+r"(y[k].w));
    gr_lane_set<R> s = gr_start_lanes<R>();
#pragma unroll
    for (int k = 0; k < K; k++)
      if (k * 512 < left) {
        const uint4 *w = stage[Ring::slot(r)] + k * 32 + lane;
        uint4 x = w[0];
        if (loose) {
          x = gr_realign(x, w[1], shift);
          if (left - k * 512 < 16) x = gr_blend(make_uint4(0, 0, 0, 0), x, left - k * 512);
        }
        gr_add_products<R>(s.l, x, y[k]);
      }
    if (loose) shift = (shift + step) & 15;
    gr_acc acc = gr_fold_lanes<R>(s.l, q.context, 32, lane);
    mine = gr_select<R>(lane == r, acc, mine);
  }
  return mine;
}

template <class R>
__global__ void __launch_bounds__(gr_by_vector_warps * 32, gr_by_vector_blocks)
    gr_reduce_rows_by_vector(const __grid_constant__ gr_reduce_args q) {
  constexpr int size = gr_size<R::dtype>, leaf = GR_LEAF(size);
  __shared__ int64_t value[gr_by_vector_warps * 32];
  __shared__ gr_by_vector_stage<R> stage[gr_by_vector_warps];
  int lane = threadIdx.x & 31, warp = gr_warp_index(), z = warp & ((1 << q.rows_by_vector.row_warps_log2) - 1);
  gr_block_index block = gr_index_of_block(q);
  int64_t row0 = ((int64_t)block.group * (gr_by_vector_warps >> q.rows_by_vector.row_warps_log2) +
                  (warp >> q.rows_by_vector.row_warps_log2)) *
                 q.rows_by_vector.rows;
  int64_t first = (((int64_t)block.node << q.rows_by_vector.row_warps_log2) + z) * leaf;
  int rows = (int)max((int64_t)0, min((int64_t)q.rows_by_vector.rows, q.job.count - row0));
  int left = (int)max((int64_t)0, min((int64_t)leaf, q.job.n - first)) * size - lane * 16;
  const char *from = (const char *)q.job.a.data + (q.first + row0) * q.job.a.step + first * size + lane * 16;
  const char *vector = (const char *)q.job.b.data + first * size + lane * 16;
  gr_acc mine = q.rows_by_vector.unaligned
                    ? gr_dots_by_vector<R, true>(q, stage[warp], from, vector, left, rows, lane)
                    : gr_dots_by_vector<R, false>(q, stage[warp], from, vector, left, rows, lane);
#pragma unroll 1
  for (int h = 1; h < 1 << q.rows_by_vector.row_warps_log2; h *= 2) {
    __syncthreads();
    gr_put<R>(value + threadIdx.x, 0, mine);
    __syncthreads();
    if (z % (2 * h) == 0) mine = R::merge(mine, gr_get<R>(value + threadIdx.x + h * 32, 0));
  }
  gr_await_earlier();
  bool owner = z == 0 && lane < rows;
  if (q.nodes > 1) {
    if (owner) gr_put<R>(q.node + block.node * q.job.count + row0 + lane, 0, mine);
    if (!gr_combine_nodes<R>(q, (int64_t)block.group * q.rows_by_vector.rows, rows,
                             q.counter + block.group * (unsigned)q.counters, block.node))
      return;
    if (owner) mine = gr_root<R>(q, row0 + lane);
  }
  if (owner) gr_write<R>(q, mine, q.first + row0 + lane, q.job.n);
}

#endif
