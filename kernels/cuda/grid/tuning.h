/* Tuning of how blocks become one. Measured on one H200 (docs/findings/columns.md); no other chip has others. Figures
   that say "H100" are us of one H100 (bench/tuning.lua, docs/adding.md): every other value was run beside the one in
   use. */
#ifndef GR_CUDA_GRID_TUNING_H
#define GR_CUDA_GRID_TUNING_H

struct gr_grid_tuning {
  /* Partials that a thread has in its registers at once, as a logarithm: where all threads of a block combine. Each
     level takes some 2 us, so they are few: by 64, nodes of columns gain nothing. By fours sums of 1048576 x 64 within
     1 %, products 96.8 -> 97.8 (H100). */
  static constexpr int block_batch_log2 = 3;
  /* The same where one warp does while the others go on: by eights it spills 140 bytes, as 18 warps of a multiprocessor
     have 96 registers each. */
  static constexpr int warp_batch_log2 = 2;
};

#endif
