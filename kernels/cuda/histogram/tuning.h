/*
** Tuning of histograms. The numbers choose kernels, grids and counters, never results. Measured on one H200
** (docs/findings/histogram.md), GB/s of 2^28 uniform samples if not said; where chips differ a function says so.
*/
#ifndef GR_CUDA_HISTOGRAM_TUNING_H
#define GR_CUDA_HISTOGRAM_TUNING_H

#include <stdint.h>

struct gr_histogram_tuning {
  /* ---- what is counted, and where ---- */
  static constexpr int most_parts = 8;          /* of the bins, for blocks to share out; more: L2, i32 10^6 bins 404 */
  static constexpr int64_t sparse_bins = 16384; /* with more, and fewer samples than so many a bin: L2 */
  static constexpr int64_t sparse_samples(bool in_parts) { return in_parts ? 8 : 16; }
  /* So many 16-bit samples in more than so many bins are counted by value: f16 4096 bins 1073 -> 3030. */
  static constexpr int64_t values_from = 1 << 26, values_bins = 512;
  /* Of the cache in front of L2, powers of two: at most, at least, and one for so many samples of a block. */
  static constexpr int64_t most_slots = 8192, least_slots = 256, slot_samples = 2;
  static constexpr int table_cells = 4096;      /* of uneven edges: 256 f32 bins 2163 -> 3637 */
  static constexpr int hot_values = 4;          /* counted in registers: f16 with half zeros 815 -> 1900 */
  /* Words for the copies of counters: of a block at most, and one for so many samples: u8 2^10 0.99 -> 0.85 us. */
  static constexpr int64_t copies_words(int size) { return size == 2 ? 16384 : 8192; }
  static constexpr int64_t copies_samples = 16;
  /* How near an edge, in bins, an estimate in f32 may be. Where doubles are half as fast as floats they decide
     whatever f32 does not exactly, if there is the time: f32 4096 bins of [0, 1.7) 3921 -> 4283. */
  static constexpr double unsure(int major, int minor, int size) {
    return minor == 0 && major >= 8 && major <= 10 && size == 4 ? 0 : 0.002;
  }

  /* ---- blocks ---- */
  static constexpr int small_threads = 512, large_threads = 1024; /* two small blocks of a multiprocessor, or a large */
  static constexpr int64_t large_rows_from = 1 << 22;   /* samples from which on rows of small blocks cost more: i32 */
  static constexpr int64_t large_values_from = 1 << 24; /* 4096 bins 4138 -> 4184; the same by value */
  static constexpr int64_t alone_bytes = 1 << 17; /* up to so many samples in up to so many bins go to one block: i32 */
  static constexpr int64_t alone_bins = 8192;     /* 4096 bins of 2^14 3.7 -> 1.65 us */
  static constexpr int loads = 4, crowded_loads = 16; /* of a thread before there is another block; where launches */
  static constexpr int strided_loads = 8;             /* overlap i32 2^22 7.2 -> 5.4 us. Elements that are strided. */
  /* Words of a thread in flight, as registers allow: two counters a word 2 3746, 3 3435, 4 2707. */
  template <bool wide, int size, bool has_table>
  static constexpr int loads_ahead = wide ? 2 : size == 2 || has_table ? 3 : 4;
  static constexpr int global_threads = 512, global_blocks = 2; /* counters in L2... */
  static constexpr int global_loads = 1;                        /* ...where all multiprocessors ask it for additions */
  static constexpr int clear_threads = 512;
  template <int size> static constexpr int global_loads_ahead = size == 4 ? 4 : 3;

  /* ---- the sum of blocks' rows ---- */
  static constexpr int merge_warps = 16, merge_loads = 9; /* all rows at once, if there is one a multiprocessor */

  /* ---- weighted ---- */
  static constexpr int weights_threads = 256, weights_loads = 4, weights_blocks = 8; /* of a multiprocessor */
  static constexpr int weights_shared_sums = 4000; /* in 48 KB: up to 3000 bins 570..620 GB/s, 65536 230 */
};

#endif
