/*
** Tuning of exact sums and digests. The numbers choose grids and bins, never results. Measured on one H200
** (docs/findings/exact.md); no other chip has others. Figures that say "H100" are us of one H100 (bench/tuning.lua,
** docs/adding.md): every other value was run beside the one in use.
*/
#ifndef GR_CUDA_EXACT_TUNING_H
#define GR_CUDA_EXACT_TUNING_H

struct gr_exact_tuning {
  /* Threads of a block, and blocks of a multiprocessor: a third of the bins to clear and fold that three blocks of 512
     have. f64 3265 -> 4035 GB/s, f32 of 2^24 29.5 -> 27.8 us; two of 768 or 640 lie between. */
  static constexpr int threads = 1024, blocks_each = 1;
  /* Columns of bins: one for each lane, where shared memory has room for them and a block has more than so many
     numbers; else few, which are sooner cleared and added up. With that and with blocks of fewer numbers f32 2^14 9.8
     -> 8.0 us; the fold has code for 8 and 32 columns only; by 512 numbers 2^18 11.2 -> 10.9 us, 2^16 10.3 -> 10.8
     (H100). */
  static constexpr int columns = 32, few_columns = 8, few_numbers = 1024;
  /* Blocks have a word for one thread of so many, until there is one a multiprocessor: f32 sums of 2^14 by one block
     took 9.8 us, of 2^16 by sixteen 8.1. H100: one of two threads 2^16 10.3 -> 11.0 us, 2^18 within 1 %. */
  static constexpr int few_share = 4;
  /* Words of a thread in flight, of each input. H100: by 2 f32 2^26 112 -> 114 us, f64 2^25 113 -> 114; dots by 1 f32
     2^26 185 -> 189. */
  template <bool dot> static constexpr int loads = dot ? 2 : 4;
  /* Whole tiles are taken where so many times them are more than so many times the blocks; of fewer, threads rather
     take words one by one than that some blocks have nothing. H100, f32: by a share of 2, not 4, 2^22 15.1 -> 14.9 us,
     2^20 11.5 -> 11.7; by 6, not 3, 2^22 16.7 -> 16.1, 2^20 within 1 %. */
  static constexpr int tiles_share = 4, blocks_share = 3;
  /* Numbers of a word under way at once, as registers allow. H100: by 2 instead of 4 f16 2^26 80.5 -> 77.0 us, f32
     within 1 %; by 1 instead of 2 f64 2^25 100 -> 98.5, dots within 1 %. */
  template <bool wide, bool dot> static constexpr int numbers = wide || dot ? 2 : 4;
  /* Columns that a thread adds up together: by 4 f32 2^16 10.2 -> 10.6 us, 2^20 within 1 % (H100). */
  static constexpr int fold_unrolled = 8;

  /* Infinities and NaN, once some are known to be there: threads of a block, elements of a thread, blocks that the chip
     has for each multiprocessor. H100, 2^24 f32: by 128 threads 106 -> 164 us, by 2 blocks 105 -> 161, by 2 elements
     within 1 %. */
  static constexpr int specials_threads = 256, specials_elements = 4, specials_blocks = 4;
  /* Digests: threads of a block, bytes of a thread, words of a thread in flight, and blocks as above. H200, f32 2^26
     and 2^16: by 8 blocks 123 -> 142 us and 11.2 -> 11.3, by 32 within 1 %; the others by 8 blocks: by 512 threads 144
     -> 125 and 13.1 -> 14.0, by 16 bytes 142 -> 143 and 11.8 -> 11.3, by 2 words 143 -> 152, by 8 within 1 %. */
  static constexpr int digest_threads = 256, digest_bytes = 32, digest_unrolled = 4, digest_blocks = 16;
};

#endif
