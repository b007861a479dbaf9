/*
** Tuning of element operators, fills, copies and random numbers. Measured on one H200 (docs/findings/map.md,
** copies.md); no other chip has others.
*/
#ifndef GR_CUDA_MAP_TUNING_H
#define GR_CUDA_MAP_TUNING_H

/* Bytes that one block sends to the host, and that two send; four send more. C reads this too, as who waits looks at
   each block's mark. One, two, four blocks of 1024 threads: 32 KB 12.4, 12.6 us (four of 256 12.6), 64 KB 15.5, 15.4,
   14.9. */
#define GR_SEND_ONE 16384
#define GR_SEND_TWO 32768

#ifdef __cplusplus
struct gr_map_tuning {
  /* Threads of a block: not measured. */
  static constexpr int threads = 256;
  /* Words of a thread, loaded together: 3900 to 4440 GB/s of a copy's 4290; other numbers are not measured. */
  static constexpr int words = 2;
  /* Elements of a thread, of casts and what is computed in f64: 2700 to 3800 GB/s; other numbers are not measured. */
  static constexpr int wide_elements = 4;
  /* Blocks of a multiprocessor, where blocks go round (fill, copy, random numbers), and elements of a thread that are
     loaded together where they lie apart: not measured. */
  static constexpr int blocks_each = 16, strided_unrolled = 4;
  /* Threads of a block that sends to the host: by one block, 256 and 1024, 8 KB 10.1 and 9.9 us, 64 KB 17.3 and 15.5.
     */
  static constexpr int send_threads = 1024;
};
#endif

#endif
