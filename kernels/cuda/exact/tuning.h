/* Tuning of exact sums and digests. Measured on one H200 (docs/findings/exact.md); no other chip has others. */
#ifndef GR_CUDA_EXACT_TUNING_H
#define GR_CUDA_EXACT_TUNING_H

struct gr_exact_tuning {
  /* A third of the bins to clear and fold that three blocks of 512 have: f64 3265 -> 4035 GB/s, f32 of 2^24 29.5 ->
     27.8 us. Two of 768 or 640 lie between. */
  static constexpr int threads = 1024, blocks_each = 1; /* of a multiprocessor */
  static constexpr int columns = 32;      /* of bins: one for each lane... */
  static constexpr int few_columns = 8;   /* ...where shared memory has room for them, and numbers are more than */
  static constexpr int few_numbers = 4096;
  /* Of data for each thread, before there is another block; of several a word, where there are so many. */
  static constexpr int block_bytes = 64;
  template <bool dot> static constexpr int loads = dot ? 2 : 4; /* words of a thread in flight, of each input */
  /* Numbers of a word under way at once, as registers allow. */
  template <bool wide, bool dot> static constexpr int numbers = wide || dot ? 2 : 4;
  static constexpr int specials_threads = 256, specials_elements = 4, specials_blocks = 4; /* a thread's; of a chip's */
  static constexpr int digest_threads = 256, digest_bytes = 32, digest_blocks = 8;         /* multiprocessor */
};

#endif
