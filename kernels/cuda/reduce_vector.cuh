/*
** Matrix x vector: dots of many rows with one and the same vector (b.step is 0), all in whole aligned words. A warp keeps
** its part of the vector in registers, K words a lane, and takes row after row, 8 words of a lane in flight: 2^threads
** lanes to a row of less than a leaf, several rows at once; or one leaf of each of up to 32 longer rows, whose nodes
** then fold as those of columns do.
*/
#ifndef GR_REDUCE_VECTOR_CUH
#define GR_REDUCE_VECTOR_CUH

#include "kernels/cuda/grid.cuh"
#include "kernels/cuda/reduce_leaves.cuh"

constexpr int gr_vector_warps = 4, gr_vector_flight = 8;

/* Element products of one word. */
template <class R>
__device__ __forceinline__ void gr_add_products(typename R::Lane (&l)[gr_lanes_of<R>], const uint4 &x, const uint4 &y) {
  const gr_context unused = {1.0, 1.0, 0};
#pragma unroll
  for (int c = 0; c < gr_lanes_of<R>; c++) R::add(l[c], gr_pick<R::dtype>(x, c), gr_pick<R::dtype>(y, c), unused, 0);
}

/*
** `threads` neighbours hold C lanes each of S rows, row s from v[s * C] on. As gr_fold_halves, but while threads have
** several rows, two trade half of theirs: what thread t keeps are rows t * S / threads and on, or the one where that
** number lies, from v[0] on.
*/
template <class R, int S, int C, int N>
__device__ __forceinline__ void gr_fold_rows(gr_acc (&v)[N], int threads, int lane) {
  if constexpr (S == 1) {
    gr_acc own[C];
#pragma unroll
    for (int c = 0; c < C; c++) own[c] = v[c];
    v[0] = gr_fold_halves<R, C>(own, threads, lane);
  } else if (threads == 1) {
#pragma unroll
    for (int s = 0; s < S; s++) {
      gr_acc own[C];
#pragma unroll
      for (int c = 0; c < C; c++) own[c] = v[s * C + c];
      gr_fold_own<R, C, C>(own);
      v[s] = own[0];
    }
  } else {
    int h = threads / 2;
#pragma unroll
    for (int i = 0; i < S / 2 * C; i++) {
      bool upper = lane & h;
      gr_acc keep = gr_select<R>(upper, v[i + S / 2 * C], v[i]), give = gr_select<R>(upper, v[i], v[i + S / 2 * C]);
      v[i] = R::merge(keep, gr_shuffle_xor<R>(give, h));
    }
    gr_fold_rows<R, S / 2, C>(v, h, lane);
  }
}

/* q.rows: rows of a warp; 2^together warps lie side by side on the leaves of a row. */
template <class R, int K>
__global__ void __launch_bounds__(gr_vector_warps * 32, gr_size<R::dtype> == 8 ? 4 : 5)
    gr_reduce_vector(const __grid_constant__ gr_reduce_args q) {
  constexpr int size = gr_size<R::dtype>, leaf_size = GR_LEAF(size), sets = gr_vector_flight / K;
  __shared__ int64_t value[gr_vector_warps * 32];
  int lane = threadIdx.x & 31, warp = gr_warp_index(), z = warp & ((1 << q.together) - 1);
  int threads = 1 << q.threads, t = lane & (threads - 1), sub = lane >> q.threads, per = 32 >> q.threads;
  gr_block_place block = gr_place_of_block(q);
  int64_t row0 = ((int64_t)block.group * (gr_vector_warps >> q.together) + (warp >> q.together)) * q.rows;
  int64_t first = (((int64_t)block.node << q.together) + z) * leaf_size;
  int rows = (int)max((int64_t)0, min((int64_t)q.rows, q.job.count - row0));
  int words = (int)max((int64_t)0, min((int64_t)leaf_size, q.job.n - first)) * size / 16;
  const char *from = (const char *)q.job.a.data + (q.first + row0 + sub) * q.job.a.step + first * size + t * 16;
  const char *vector = (const char *)q.job.b.data + first * size + t * 16;
  uint4 y[K];
  gr_acc mine[sets];
#pragma unroll
  for (int k = 0; k < K; k++) {
    y[k] = make_uint4(0, 0, 0, 0);
    if (t + k * threads < words) y[k] = gr_load16(vector + k * threads * 16);
  }
#pragma unroll 1
  for (int r = 0; r < rows; r += sets * per, from += sets * per * q.job.a.step) {
    uint4 x[sets][K];
#pragma unroll
    for (int i = 0; i < sets; i++)
#pragma unroll
      for (int k = 0; k < K; k++)
        if (t + k * threads < words && r + i * per + sub < rows)
          x[i][k] = gr_load16(from + i * per * q.job.a.step + k * threads * 16);
    /* Many doubles made of the vector once and kept would spill. */
#pragma unroll
    for (int k = 0; k < (K == 8 ? K : 0); k++)
      asm volatile("" : "+r"(y[k].x), "+r"(y[k].y), "+r"(y[k].z), "+r"(y[k].w));
#pragma unroll
    for (int i = 0; i < sets; i++) {
      gr_lane_set<R> s = gr_start_lanes<R>();
#pragma unroll
      for (int k = 0; k < K; k++)
        if (t + k * threads < words && r + i * per + sub < rows) gr_add_products<R>(s.l, x[i][k], y[k]);
      gr_acc acc = gr_fold_lanes<R>(s.l, q.context, threads, lane);
      /* Of long rows, lane r keeps row r; of others a lane of the row set i, if there are as many. */
      if constexpr (K == 8) mine[0] = gr_select<R>(q.leaves == 1 || lane == r, acc, mine[0]);
      else if (threads >= sets) mine[0] = gr_select<R>((t & (sets - 1)) == i, acc, mine[0]);
      else mine[i] = acc;
    }
    if (q.leaves > 1) continue;
    int i = threads >= sets ? t : 0, end = threads >= sets ? 1 : sets;
#pragma unroll 1
    for (int j = 0; j < end; j++) {
      int row = r + (i + j) * per + sub;
      if (row < rows && (threads >= sets ? t < sets : t == 0)) gr_write<R>(q, mine[0], q.first + row0 + row, q.job.n);
#pragma unroll
      for (int k = 0; k < sets; k++) mine[k] = mine[k + 1 < sets ? k + 1 : k];
    }
  }
  if constexpr (K == 8) {
    if (q.leaves == 1) return;
#pragma unroll 1
    for (int h = 1; h < 1 << q.together; h *= 2) {
      __syncthreads();
      gr_put<R>(value + threadIdx.x, 0, mine[0]);
      __syncthreads();
      if (z % (2 * h) == 0) mine[0] = R::merge(mine[0], gr_get<R>(value + threadIdx.x + h * 32, 0));
    }
    bool owner = z == 0 && lane < rows;
    if (q.nodes > 1) {
      if (owner) gr_put<R>(q.node + block.node * q.job.count + row0 + lane, 0, mine[0]);
      if (!gr_climb<R>(q, (int64_t)block.group * q.rows, rows, q.counter + block.group * (unsigned)q.counters, block.node)) return;
      if (owner) mine[0].i[0] = ((volatile int64_t *)q.node)[row0 + lane];
    }
    if (owner) gr_write<R>(q, mine[0], q.first + row0 + lane, q.job.n);
  }
}

#endif
