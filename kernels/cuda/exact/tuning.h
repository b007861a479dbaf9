/* Tuning of exact sums and digests. Measured on one H200 (docs/findings/exact.md); no other chip has others. */
#ifndef GR_CUDA_EXACT_TUNING_H
#define GR_CUDA_EXACT_TUNING_H

struct gr_exact_tuning {
  /* A third of the bins to clear and fold that three blocks of 512 have: f64 3265 -> 4035 GB/s, f32 of 2^24 29.5 ->
     27.8 us. Two of 768 or 640 lie between. */
  static constexpr int threads = 1024, blocks_each = 1; /* of a multiprocessor */
  static constexpr int columns = 32;      /* of bins: one for each lane... */
  static constexpr int few_columns = 8;   /* ...where shared memory has room for them, and numbers are more than */
  static constexpr int few_numbers = 1024; /* of a block */
  /* Blocks have a word for one thread of so many, until there is one a multiprocessor: f32 sums of 2^14 by one block
     took 9.8 us, of 2^16 by sixteen 8.1. */
  static constexpr int few_share = 4;
  template <bool dot> static constexpr int loads = dot ? 2 : 4; /* words of a thread in flight, of each input */
  /* Numbers of a word under way at once, as registers allow. */
  template <bool wide, bool dot> static constexpr int numbers = wide || dot ? 2 : 4;
  static constexpr int specials_threads = 256, specials_elements = 4, specials_blocks = 4; /* a thread's; of a chip's */
  static constexpr int digest_threads = 256, digest_bytes = 32, digest_blocks = 8;         /* multiprocessor */
};

#endif
