/* Tuning of products of columns. They choose grids and registers, never results; figures are of one H200, us of cov of
   2^22 rows of 16 columns and of 2^24 rows of 4 of f32 (bench/tuning.lua). */
#ifndef GR_CUDA_PRODUCTS_TUNING_H
#define GR_CUDA_PRODUCTS_TUNING_H

struct gr_products_tuning {
  /* Columns at most, of which a leaf of f64 lies in shared memory: of 16 columns 2^26 f32 take 395 us by products and
     5757 pair by pair (H100). */
  static constexpr int most_columns = 32;
  /* Threads of a block, and bytes of leaves that a block has, which leave room for two: by 72 KB 369 -> 368 and 283 ->
     325, by 200 KB 490 and 401. By 128 threads, of 72 KB, 369 -> 373 and 327 -> 313. */
  static constexpr int threads = 256, block_bytes = 110 << 10;
  /* Loads of a thread on their way, and leaves that a thread of the second launch folds. By 8 loads, of 72 KB, 372 ->
     382 and 329 -> 310; by 16 leaves 330 -> 338, by 4 337, and sums differ. */
  static constexpr int loads = 16, together = 8;
};

#endif
