/* Tuning of lookup, by figures of one H200 (docs/findings/lookup.md), 2^26 random positions if not said. Figures that
   say "H100" are us of one H100 (bench/tuning.lua, docs/adding.md): every other value was run beside the one in use. */
#ifndef GR_CUDA_LOOKUP_TUNING_H
#define GR_CUDA_LOOKUP_TUNING_H

#include <stdint.h>

struct gr_lookup_tuning {
  /* Threads of a block: 128 or 256 within 1 % (H100, take f32 2^26, put 12 x 10^6). */
  static constexpr int threads = 256;
  /* Indices of a thread in flight, then their elements; 4: 0.3 to 1 % slower. */
  static constexpr int each = 8;
  /* Words of 16 bytes of positions, of a thread that only looks at them, and blocks of a multiprocessor, which go
     round: all of them at once. */
  static constexpr int words = 4, lookers_each = 5;
  /* Most blocks of a multiprocessor that take elements behind a look: if places rise they do nothing, which is a
     block's start each. Random, i64: the kernel 1748 us with a block for each tile, 1766 by 32; 128 is between. */
  static constexpr int takers_each = 128;
  /* Indices of a warp's stretch where places rise: its first and last position are read (of 4 bytes: 128 of 4096) to
     see whether those between must be. */
  static constexpr int stretch = 2048;
  /* Bytes of claims of a part, which L2 keeps: put 5605 us by one part of all, 4197 so; half and twice as many: 13 %
     slower. H100: 12 x 10^6 f32, which are a part and a half, 618 us by one part, 478 so. */
  static constexpr int64_t claims_bytes = 32 << 20;
};

#endif
