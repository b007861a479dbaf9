/*
** Tuning of quantiles and compaction. Measured on one H200 (docs/findings/select.md, map.md); no other chip has others.
** Figures that say "H100" are us of one H100 (bench/tuning.lua, docs/adding.md): every other value was run beside the
** one in use.
*/
#ifndef GR_CUDA_SELECT_TUNING_H
#define GR_CUDA_SELECT_TUNING_H

struct gr_select_tuning {
  /* Threads of a block, of which each multiprocessor has one: each adds up to 8192 counters to those of all, which was
     4 million atomics a pass with 528 blocks. H100: by 512 threads median f32 2^26 361 -> 530 us, 2^20 61.1 -> 59.3; by
     two blocks 361 -> 370 and 60.4 -> 62.0. */
  static constexpr int quantile_threads = 1024, quantile_blocks = 1;
  /* Words of a thread in flight: by 2 median f32 2^26 371 -> 409 us, f16 269 -> 263 (H100). */
  static constexpr int quantile_loads = 4;
  /* Threads of a block that keeps elements. */
  static constexpr int compact_threads = 128;
  /* Of a block that counts marks: its threads; chunks that each of them adds up in the last such block (a warp counts a
     chunk); units of 512 marks that a warp counts at once: 8, 4, 2 or 1. */
  static constexpr int compact_counters = 512, compact_chunks = 16, compact_counted = 8;
};

#endif
