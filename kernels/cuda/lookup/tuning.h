/* Tuning of lookup, by figures of one H200 (docs/findings/lookup.md), 2^26 random positions if not said. */
#ifndef GR_CUDA_LOOKUP_TUNING_H
#define GR_CUDA_LOOKUP_TUNING_H

#include <stdint.h>

struct gr_lookup_tuning {
  /* Threads of a block: not measured. */
  static constexpr int threads = 256;
  /* Indices of a thread in flight, then their elements; 4: 0.3 to 1 % slower. */
  static constexpr int each = 8;
  /* Words of 16 bytes of positions, of a thread that only looks at them, and blocks of a multiprocessor, which go
     round: in order by i32 take with into 328 -> 313 us, put 368 -> 357, by words in place of elements. The numbers are
     not measured apart. */
  static constexpr int words = 4, lookers_each = 8;
  /* Bytes of claims of a part, which L2 keeps: put 5605 us by one part of all, 4197 so; half and twice as many: 13 %
     slower. */
  static constexpr int64_t claims_bytes = 32 << 20;
};

#endif
