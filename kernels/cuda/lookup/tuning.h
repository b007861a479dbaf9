/* Tuning of lookup, by figures of one H200 (docs/findings/lookup.md). Threads are those of the other rooms. */
#ifndef GR_CUDA_LOOKUP_TUNING_H
#define GR_CUDA_LOOKUP_TUNING_H

struct gr_lookup_tuning {
  static constexpr int threads = 256;
  static constexpr int each = 8;         /* indices of a thread in flight, then their elements; 4: 0.3 to 1 % slower */
  static constexpr int words = 4;        /* of 16 bytes of positions, of a thread that only looks at them */
  static constexpr int64_t claims_bytes = 32 << 20; /* of a part that L2 keeps; half, twice as many: 13 % slower */
  static constexpr int lookers_each = 8; /* blocks of a multiprocessor that only look; they go round */
};

#endif
