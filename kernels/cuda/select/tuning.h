/*
** Tuning of quantiles and compaction. Measured on one H200 (docs/findings/select.md, map.md); no other chip has others.
*/
#ifndef GR_CUDA_SELECT_TUNING_H
#define GR_CUDA_SELECT_TUNING_H

struct gr_select_tuning {
  /* Threads of a block, of which each multiprocessor has one: each adds up to 8192 counters to those of all, which was
     4 million atomics a pass with 528 blocks. What one block instead of four brings is not measured. */
  static constexpr int quantile_threads = 1024, quantile_blocks = 1;
  /* Words of a thread in flight: not measured. */
  static constexpr int quantile_loads = 4;
  /* Threads of a block, and elements of a thread: f32 2500 GB/s so; other numbers are not measured. */
  static constexpr int compact_threads = 256, compact_each = 16;
};

#endif
