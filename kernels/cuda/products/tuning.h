/* Tuning of products of columns. They choose grids and registers, never results; other values are not measured. */
#ifndef GR_CUDA_PRODUCTS_TUNING_H
#define GR_CUDA_PRODUCTS_TUNING_H

struct gr_products_tuning {
  /* Columns at most, of which a leaf of f64 lies in shared memory: of 16 columns 2^26 f32 take 395 us by products and
     5757 pair by pair (H100). */
  static constexpr int most_columns = 32;
  /* Threads of a block, and bytes of leaves that a block has: not measured. */
  static constexpr int threads = 256, block_bytes = 72 << 10;
  /* Loads of a thread on their way, and leaves that a thread of the second launch folds: not measured. */
  static constexpr int loads = 16, together = 8;
};

#endif
