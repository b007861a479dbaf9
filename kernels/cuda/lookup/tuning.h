/* Tuning of lookup. Not measured yet: threads are those of the other rooms, and so are the loads in flight. */
#ifndef GR_CUDA_LOOKUP_TUNING_H
#define GR_CUDA_LOOKUP_TUNING_H

struct gr_lookup_tuning {
  static constexpr int threads = 256;
  static constexpr int each = 4;         /* indices of a thread in flight, and then their elements */
  static constexpr int blocks_each = 16; /* of a multiprocessor; they go round */
};

#endif
