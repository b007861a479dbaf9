/* What a block of cols_ordered.cuh is made of, by reducer: columns of a lane, warps, and the registers for them. */
#ifndef GR_CUDA_REDUCE_COLS_ORDERED_BLOCK_CUH
#define GR_CUDA_REDUCE_COLS_ORDERED_BLOCK_CUH

#include "kernels/cuda/thread/load.cuh"

constexpr int gr_ordered_flight = 8, gr_ordered_levels = 5;

/* Columns of a lane: what it holds of each decides; and warps of a block: 16-bit floats have the most lanes. */
template <class R>
constexpr int gr_ordered_bytes = R::fields *R::inputs > 1 || (R::lanes && !R::light && gr_size<R::dtype> < 4) ? 8 : 16;
template <class R>
constexpr int gr_ordered_each = gr_size<R::dtype> >= 4 ? gr_ordered_bytes<R> / gr_size<R::dtype>
                                                       : gr_ordered_bytes<R> / 2 / gr_size<R::dtype>;
template <class R>
constexpr int gr_ordered_warps = gr_size<R::dtype> == 2 && R::lanes ? 8 : 4;
/*
** Lanes and leaf of a column. Where order does not matter they are as wide types have them, so that narrow types
** make as many blocks.
*/
template <class R>
constexpr int gr_ordered_lanes = !R::leaves && gr_size<R::dtype> < 4 ? 128 : GR_LANES(gr_size<R::dtype>);
template <class R>
constexpr int gr_ordered_leaf = !R::leaves ? 8 * gr_ordered_lanes<R> : GR_LEAF(gr_size<R::dtype>);

/* Warps of a multiprocessor, so that nothing spills: registers are 96, 128, 168 or, for the most state, 255. */
template <class R>
constexpr int gr_ordered_resident = R::lanes && R::fields == 3                                              ? 8
                                    : R::fields == 3 || (R::lanes && R::fields == 2)                         ? 12
                                    : R::lanes && R::red == GR_RED_SUMSQ && gr_size<R::dtype> >= 4           ? 12
                                    : R::fields * R::inputs > 1 || (R::lanes && gr_ordered_bytes<R> == 16) ? 16
                                                                                                            : 20;
template <class R>
constexpr int gr_ordered_blocks = gr_ordered_resident<R> / gr_ordered_warps<R>;

#endif
