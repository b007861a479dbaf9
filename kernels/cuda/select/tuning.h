/*
** Tuning of quantiles and compaction. Measured on one H200 (docs/findings/select.md, map.md); no other chip has others.
*/
#ifndef GR_CUDA_SELECT_TUNING_H
#define GR_CUDA_SELECT_TUNING_H

struct gr_select_tuning {
  /* One block a multiprocessor: each adds up to 8192 counters to those of all, which was 4 million atomics a pass with
     528 blocks. */
  static constexpr int quantile_threads = 1024;
  static constexpr int quantile_loads = 4; /* words of a thread in flight */
  static constexpr int compact_threads = 256, compact_each = 16; /* elements of a thread; f32 2500 GB/s */
};

#endif
