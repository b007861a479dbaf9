/*
** Tuning of how a warp reads a leaf: rows of 512 bytes in flight, of each input. They never choose results. Measured on
** one H200 (docs/findings/reduce.md), us; no other chip has others. Figures that say "H100" are us of one H100
** (bench/tuning.lua, docs/adding.md): every other value was run beside the one in use.
*/
#ifndef GR_CUDA_WARP_TUNING_H
#define GR_CUDA_WARP_TUNING_H

#include "kernels/cuda/formula/tuning.h"
#include "kernels/cuda/thread/reducer.cuh"

/* Of one input: 4 or 8 within 1 % (H100, sums and maxima of f32 2^24, sums of u8 and f16 2^26). */
constexpr int gr_rows_of_one = 8;
/* Of two, f32 dots by 4 rows -> by 8: 2^22 13.0 -> 11.9, 2^24 36.2 -> 35.3; cosine 2^26 130 -> 127. Of other states of
   several fields, which take more registers: 4 or 8 within 1 % (H100, cosine f32 and f64 2^24), as dots there. */
template <class R>
constexpr int gr_rows_of_two = R::fields > 1 && !(R::red == GR_RED_COSINE && R::lanes) ? 4 : 8;
/* Of two of 1 and 2 bytes, whose lanes are many; compensated ones ask for the next rows early: dots of f16 by Neumaier
   2^28 by four 270, by two and the next two 260. By two or four plain dots of f16 within 1 % (H100, 2^26). Others: not
   measured. */
template <class R>
constexpr int gr_rows_of_narrow_two = R::fields > 1 ? 2 : 4;

template <class R>
constexpr int gr_batch = R::formula                                       ? gr_formula_tuning::rows
                         : R::inputs == 1                                 ? gr_rows_of_one
                         : gr_size<R::dtype> > 2 || R::light || !R::lanes ? gr_rows_of_two<R>
                                                                          : gr_rows_of_narrow_two<R>;

/* Of what is strided, or the end of a vector, read out of line: with few rows the main loop keeps its registers. Not
   measured. */
template <class R>
constexpr int gr_loose_rows =
    R::inputs == 2 || gr_size<R::dtype> == 2 || (R::kind == GR_ACC_POSITION && gr_size<R::dtype> == 1) ? 4 : 8;

#endif
