/*
** RMSNorm of rows that begin anywhere in a word and are longer than a leaf. A warp has a leaf, as in rmsnorm_pieces.
** Whole words of memory are copied to shared memory as they lie; squares are added up element by element, and results
** are written by whole words of memory again.
*/
#ifndef GR_CUDA_NORM_RMSNORM_LOOSE_CUH
#define GR_CUDA_NORM_RMSNORM_LOOSE_CUH

#include "kernels/cuda/norm/rmsnorm_bytes.cuh"

/* The sum of squares of what a warp has of a leaf. */
template <gr_dtype D, bool brain>
static __device__ __forceinline__ double squares_of_leaf(const loose_bytes &x, int n, int lane) {
  const squares_of_row<D, brain> of = {x.elements<D>(), n};
  return sum_of_threads(of.template several<GR_LANES(gr_size<D>) / 32>(lane), 32);
}

/* alone: a block has all of a row, else a piece of it. */
template <gr_dtype D, bool alone>
static __global__ void __launch_bounds__(Tuning::pieces_warps * 32 / (alone ? 1 : Tuning::pieces_waiting_share),
                                         alone ? Tuning::pieces_blocks : Tuning::loose_blocks<gr_size<D>>)
    rmsnorm_loose(const __grid_constant__ rmsnorm_args q, int pieces, gr_halves *partials, gr_tag tag) {
  constexpr int size = gr_size<D>, C = per_word<D>;
  extern __shared__ uint4 kept[];
  const int lane = threadIdx.x & 31, warp = gr_warp_index(), warps = blockDim.x >> 5;
  const int64_t row = alone ? blockIdx.x : blockIdx.x / (unsigned)pieces;
  const int piece = (int)(blockIdx.x - row * pieces);
  const int64_t offset = (int64_t)(piece * warps + warp) * leaf_bytes<D>;
  const int bytes = (int)max((int64_t)0, min(q.n * size - offset, (int64_t)leaf_bytes<D>));
  gr_start_reading(q.inputs_stable);
  const loose_bytes x =
      fetch_loose(kept + warp * loose_words(leaf_bytes<D>), q.x + row * q.x_step + offset, bytes, lane);
  gr_copies_wait();
  if (!alone) gr_await_earlier(); /* sums are published */
  __syncwarp();

  double folded;
  if (D == GR_F16 && q.brain) folded = squares_of_leaf<D, true>(x, bytes / size, lane);
  else folded = squares_of_leaf<D, false>(x, bytes / size, lane);
  one_factor<D> factor;
  factor.row.set(factor_of(q, sum_of_row<D, alone>(folded, lane, warp, pieces, partials, tag)));
  if (alone) gr_await_earlier();

  char *to = q.out + row * q.out_step + offset;
  const gr_type<D> *weights = (const gr_type<D> *)(q.w + offset);
  const cut_bytes cut(to, bytes);
#pragma unroll(Tuning::pieces_unrolled)
  for (int i = cut.head + lane * 16; i < cut.whole; i += GR_ROW_BYTES) {
    weights_word<D> w;
    if (q.w) {
      packed_word<D> there;
#pragma unroll
      for (int c = 0; c < C; c++) there.e[c] = weights[i / size + c];
      w.set(there.word(), q.brain);
    }
    __stcg((uint4 *)(to + i), scale_word<D>(x.word(i), factor, q.w != NULL, w, q.brain));
  }
  const int edge = cut.edge(lane, size), e = edge / size;
  if (edge < bytes) {
    const gr_type<D> weight = q.w ? weights[e] : gr_type<D>();
    *(gr_type<D> *)(to + edge) = scale<D>(x.elements<D>()[e], factor.row.r, q.w != NULL, weight, q.brain);
  }
}

#endif
