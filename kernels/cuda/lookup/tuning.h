/* Tuning of lookup, by figures of one H200 (docs/findings/lookup.md). Threads are those of the other rooms. */
#ifndef GR_CUDA_LOOKUP_TUNING_H
#define GR_CUDA_LOOKUP_TUNING_H

struct gr_lookup_tuning {
  static constexpr int threads = 256;
  static constexpr int each = 8;         /* indices of a thread in flight, then their elements; 4: 0.3 to 1 % slower */
  static constexpr int blocks_each = 16; /* of a multiprocessor; they go round */
};

#endif
