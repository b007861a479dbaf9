/*
** Tuning of element operators, fills, copies and random numbers. Measured on one H200 (docs/findings/map.md,
** copies.md); no other chip has others. Figures that say "H100" are us of one H100 (bench/tuning.lua, docs/adding.md):
** every other value was run beside the one in use.
*/
#ifndef GR_CUDA_MAP_TUNING_H
#define GR_CUDA_MAP_TUNING_H

/* Bytes that one block sends to the host, and that two send; four send more. C reads this too, as who waits looks at
   each block's mark. One, two, four blocks of 1024 threads: 32 KB 12.4, 12.6 us (four of 256 12.6), 64 KB 15.5, 15.4,
   14.9. H100: one up to 8192 bytes 24 KB, which two or four send, 14.8 -> 15.2 us. */
#define GR_SEND_ONE 16384
#define GR_SEND_TWO 32768

#ifdef __cplusplus
struct gr_map_tuning {
  /* Threads of a block: by 128 cast of f16 to f32 146 -> 144 us, neg f32 within 1 % (H100, 2^26). */
  static constexpr int threads = 256;
  /* Words of a thread, loaded together: 3900 to 4440 GB/s of a copy's 4290; by 1 neg u8 50.0 -> 49.0 us, f32 within 1 %
     (H100, 2^26). */
  static constexpr int words = 2;
  /* Elements of a thread, of casts and what is computed in f64: 2700 to 3800 GB/s; by 2 cast of f16 to f32 146 -> 173
     us, exp f32 within 1 % (H100, 2^26). */
  static constexpr int wide_elements = 4;
  /* Blocks of a multiprocessor, where blocks go round (fill, copy), and elements of a thread that are loaded together
     where they lie apart. H100: by 8 blocks fill f32 88.4 -> 90.0 us; by 2 elements within 1 %. */
  static constexpr int blocks_each = 16, strided_unrolled = 4;
  /* Blocks of a multiprocessor, of random numbers: of those that are there at once, six or eight, a multiple. */
  static constexpr int random_blocks = 48;
  /* Whole numbers that are drawn by words, and what is left of the last one by another launch. Not measured. */
  static constexpr int64_t words_from = 1 << 16;
  /* Threads of a block that sends to the host: by one block, 256 and 1024, 8 KB 10.1 and 9.9 us, 64 KB 17.3 and 15.5.
     */
  static constexpr int send_threads = 1024;
};
#endif

#endif
