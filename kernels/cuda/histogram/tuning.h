/*
** Tuning of histograms. The numbers choose kernels, grids and counters, never results. Measured on one H200
** (docs/findings/histogram.md), GB/s of 2^28 uniform samples if not said; where chips differ a function says so.
** Figures that say "H100" are us of one H100, of 2^26 samples if not said (bench/tuning.lua, docs/adding.md): every
** other value was run beside the one in use.
*/
#ifndef GR_CUDA_HISTOGRAM_TUNING_H
#define GR_CUDA_HISTOGRAM_TUNING_H

#include <stdint.h>

struct gr_histogram_tuning {
  /* ---- what is counted, and where ---- */

  /* Parts of the bins that blocks share out, at most; more bins are counted in L2. i32: in parts 450000 bins 887, in L2
     10^6 bins 404. */
  static constexpr int most_parts = 8;
  /* With more than so many bins counters are in L2 if samples are so few: a sample takes there a twentieth of what a
     bin takes in rows of blocks, and its start what 140000 samples do. f32, us in rows and in L2, on this side of the
     line: 609229 in 37523 bins 11.6, 10.8; 10^6 in 57000 15.1, 14.9; 2500000 in 150000 35.6, 30.9; beyond: 350000 in
     17000 6.8, 8.7; 1300000 in 57000 15.3, 19.5; 3500000 in 150000 38, 42. H100: from 8192 bins on 100000 in 12000
     9.10 -> 8.44, 400000 in 40000 10.3 -> 10.9. */
  static constexpr int64_t sparse_bins = 16384, sparse_samples = 20, sparse_start = 140000;
  /* So many 16-bit samples in more than so many bins are counted by value: f16 4096 bins 1073 -> 3030. Where the limits
     lie, H100: 400 bins 73.9 us by bins, 61.2 so; from 2^24 on 2^25 in 4096 bins 30.8 -> 40.0. */
  static constexpr int64_t values_from = 1 << 26, values_bins = 256;
  /* Bins up to which blocks hand over to the counter area, which has no room for more: 2^10 samples then took 5 us, and
     7 with rows of blocks and a launch that adds them up. */
  static constexpr int few_bins = 500;
  /* Slots of the cache in front of L2, powers of two: at most, at least, and one for so many samples of a block.
     Constant samples in 10^6 bins 2880, uniform ones 404. H100: by 4096 at most skewed i32 1029 -> 1240 us, uniform
     ones within 1 %; one for each sample 2 x 10^6 in 10^6 bins 32.3 -> 32.6, skewed 3 x 10^5 in 200000 11.0 -> 10.7; by
     128 or 1024 at least within 1 % (H200, 10^6 in 10^6 bins, skewed 3 x 10^5 in 200000). */
  static constexpr int64_t most_slots = 8192, least_slots = 256, slot_samples = 2;
  /* Cells of the table over uneven edges, each with the edge inside of it: f32 256 bins 2163 -> 3637. By 2048 f64
     1000 bins 167 -> 179 us, f32 256 within 1 % (H100). */
  static constexpr int table_cells = 4096;
  /* Values that are counted in registers, as they fill counters of 16 bits: f16 with half zeros 815 -> 1900,
     by four. H100: by four instead of two 138 -> 156 us, uniform ones 61.2 -> 61.6. */
  static constexpr int hot_values = 2;
  /* Words for the copies of counters, by the size of a sample: of a block at most: by half of them i32 256 bins 86.4
     -> 85.2 us, 2^22 f32 64 bins 6.11 -> 6.32, of 16 bits within 1 % (H100); and one for so many samples: u8 2^10 0.99
     -> 0.85 us; for 8, 2^16 i32 4.52 -> 4.69 (H100). */
  static constexpr int64_t copies_words(int size) { return size == 2 ? 16384 : 8192; }
  static constexpr int64_t copies_samples = 16;
  /* How near an edge, in bins, an estimate in f32 may be. Where doubles are half as fast as floats they decide whatever
     f32 does not exactly, if there is the time: f32 4096 bins of [0, 1.7) 3921 -> 4283. Elsewhere: not measured. */
  static constexpr double unsure(int major, int minor, int size) {
    return minor == 0 && major >= 8 && major <= 10 && size == 4 ? 0 : 0.002;
  }

  /* ---- blocks ---- */

  /* Threads of a block, and blocks of a multiprocessor: two small blocks, or a large one, where it needs the room or
     the rows of many small ones cost more: i32 4096 bins 4138 -> 4184, 16384 bins 4045 -> 4119. */
  static constexpr int small_threads = 512, small_blocks = 2, large_threads = 1024, large_blocks = 1;
  /* Samples from which on they do cost more, and by value. H100: from 2^22 on, not 2^21, 3 x 2^20 i32 in 4096 bins 10.7
     -> 11.8 us; by value from 2^23 on, not 2^24, 12582912 u8 5.04 -> 4.97. */
  static constexpr int64_t large_rows_from = 1 << 21, large_values_from = 1 << 24;
  /* Up to so many bytes of samples in up to so many bins go to one block: i32 4096 bins of 2^14 3.7 -> 1.65 us, of 2^15
     3.73 -> 1.72. H100: with 4096
     bins at most 2^14 in 6000 7.15 -> 10.0. */
  static constexpr int64_t alone_bytes = 1 << 17, alone_bins = 8192;
  /* Loads of a thread before there is another block: with 2 and 1 i32 2^20 3.25 -> 5.12 and 5.42 us. */
  static constexpr int loads = 4;
  /* The same where launches overlap: by 4 -> by 16, i32 2^20 3.25 -> 2.40 us, 2^22 7.2 -> 5.4; by 8 2.70. */
  static constexpr int crowded_loads = 16;
  /* The same of strided samples, which are loaded one by one: by 4 every other of 2 x 10^6 i32 9.27 -> 9.05 us, of
     2^24 within 1 % (H100). */
  static constexpr int strided_loads = 8;
  /* Whether a unit of blocks has one piece of the samples, which ends evenly, and not turns, which read faster: u8
     67.9 -> 66.8 us, but of 4 bytes 57000 bins 4053 -> 3874. */
  template <int size> static constexpr bool pieces = size <= 2;
  /* Words of a thread in flight. Two counters a word: 1 3464, 2 3746, 3 3435, 4 2707, which spills. The others, as
     registers allow, and three or four, as the holes of formulas have. H100: of 16 bits by two 2^25 f16 25.4 -> 23.5
     us, f32 over edges within 1 %; else by three instead of four i32 87.7 -> 86.8, u8 22.4 -> 21.9. */
  template <bool wide, int size, bool has_table>
  static constexpr int loads_ahead = wide ? 2 : size == 2 || has_table ? 3 : 4;
  /* Words of a block's row that a thread writes at a time: 2 or 4 within 1 % (H100). */
  static constexpr int row_words = 4;

  /* ---- counters in L2 ---- */

  /* Threads of a block, blocks of a multiprocessor, and words of a thread in flight. H100: by 256 threads 3 x 10^5 i32
     in 200000 bins 9.30 -> 9.04 us, 2^26 in 10^6 within 1 %; by one block 2 x 10^6 in 10^6 31.3 -> 31.6; by two words
     within 1 %. */
  static constexpr int global_threads = 512, global_blocks = 2;
  template <int size> static constexpr int global_loads_ahead = size == 4 ? 4 : 3;
  /* Threads at least, where only so there are blocks for all multiprocessors: us of a call, 11124 f64 in 372238 bins by
     10 blocks of 512 9.5, so 7.6. */
  static constexpr int global_least_threads = 128;
  /* Classes of bins (modulo 32) of a warp's samples below which lanes with the same bin are looked for: of uniform ones
     there are 20, and fewer than 14 in 35 of 10^6 warps. */
  static constexpr int few_classes = 14;
  /* Loads of a thread before there is another block: few, since all multiprocessors ask L2 for additions. With the
     cache as large as its samples need, 3 x 10^5 skewed f32 in 65000, 100000, 200000 bins 37.6, 40.3, 43.6 -> 8.7, 8.8,
     9.0 us, where 9 blocks had them all. */
  static constexpr int global_loads = 1;
  /* Threads of a block that clears counts: by 256 200000 bins 9.37 -> 9.16 us, 10^6 31.2 -> 33.7 (H100). */
  static constexpr int clear_threads = 512;
  /* The same: counts of a thread: by 1 40117 f32 in 950975 bins 6.2 us as a graph, now 5.9. */
  static constexpr int clear_slots = 4;

  /* ---- the sum of blocks' rows ---- */

  /* Warps of a block, and rows that each loads together: so all rows at once, if there is one a multiprocessor of 132.
     H100: by 8 warps 10^6 i32 in 4096 bins 10.2 -> 10.6 us, 2^26 in 57000 101 -> 100; by 5 rows 9.91 -> 10.2, the other
     within 1 %. */
  static constexpr int merge_warps = 16, merge_loads = 9;

  /* ---- weighted ---- */

  /* Threads of a block, samples of a thread in flight, and blocks of a multiprocessor. H100, 2^24 f32 in 1000 and 65536
     bins: by 128 threads 239 -> 260 and 644 -> 601 us; by 4 samples instead of 2 223 -> 242 and 636 -> 659; by 4 blocks
     237 -> 225 and 649 -> 603. */
  static constexpr int weights_threads = 256, weights_loads = 2, weights_blocks = 8;
  /* Sums that fit 48 KB of shared memory; with more bins they are added up in L2: up to 3000 bins 570..620 GB/s of
     samples and weights, 65536 bins 230. With 2000 sums at
     most 3000 bins 299 -> 812 us (H100). */
  static constexpr int weights_shared_sums = 4000;
};

#endif
