/*
** Tuning of exact sums and digests. The numbers choose grids and bins, never results. Measured on one H200
** (docs/findings/exact.md); no other chip has others.
*/
#ifndef GR_CUDA_EXACT_TUNING_H
#define GR_CUDA_EXACT_TUNING_H

struct gr_exact_tuning {
  /* Threads of a block, and blocks of a multiprocessor: a third of the bins to clear and fold that three blocks of 512
     have. f64 3265 -> 4035 GB/s, f32 of 2^24 29.5 -> 27.8 us; two of 768 or 640 lie between. */
  static constexpr int threads = 1024, blocks_each = 1;
  /* Columns of bins: one for each lane, where shared memory has room for them and a block has more than so many
     numbers; else few, which are sooner cleared and added up. With that and with blocks of fewer numbers f32 2^14 9.8
     -> 8.0 us; the numbers are not measured apart. */
  static constexpr int columns = 32, few_columns = 8, few_numbers = 1024;
  /* Blocks have a word for one thread of so many, until there is one a multiprocessor: f32 sums of 2^14 by one block
     took 9.8 us, of 2^16 by sixteen 8.1. Another share is not measured. */
  static constexpr int few_share = 4;
  /* Words of a thread in flight, of each input: not measured apart. */
  template <bool dot> static constexpr int loads = dot ? 2 : 4;
  /* Whole tiles are taken where so many times them are more than so many times the blocks; of fewer, threads rather
     take words one by one than that some blocks have nothing. Not measured. */
  static constexpr int tiles_share = 4, blocks_share = 3;
  /* Numbers of a word under way at once, as registers allow: not measured apart. */
  template <bool wide, bool dot> static constexpr int numbers = wide || dot ? 2 : 4;
  /* Columns that a thread adds up together: not measured. */
  static constexpr int fold_unrolled = 8;

  /* Infinities and NaN, once some are known to be there: threads of a block, elements of a thread, blocks that the chip
     has for each multiprocessor. Not measured. */
  static constexpr int specials_threads = 256, specials_elements = 4, specials_blocks = 4;
  /* Digests: threads of a block, bytes of a thread, words of a thread in flight, and blocks as above. Not measured. */
  static constexpr int digest_threads = 256, digest_bytes = 32, digest_unrolled = 4, digest_blocks = 8;
};

#endif
