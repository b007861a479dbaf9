/*
** Tuning of rmsnorm and softmax. The numbers choose grids, blocks and what waits where, never results. All are
** measured on one H200 (docs/findings/norm.md), f32 if not said, us of 2^26 elements; no other chip has others yet.
*/
#ifndef GR_CUDA_NORM_TUNING_H
#define GR_CUDA_NORM_TUNING_H

struct gr_norm_tuning {
  /* rmsnorm, several rows to a warp: 2^20 x 64 282 -> 131.9, 2^18 x 256 169 -> 131.9 (a copy takes 128). */
  static constexpr int rows_bytes = 2048;  /* the longest such row */
  static constexpr int rows_warps = 8;     /* of a block */
  static constexpr int rows_words = 8;     /* of a lane, of all its rows */
  static constexpr int rows_together = 2;  /* sets that fold at once: rows of 64 144..153 without */
  static constexpr int rows_resident = 16; /* warps of a multiprocessor before one has several sets */
  /* Blocks of a multiprocessor, so that nothing spills. known: how many words a row has is known when compiled. */
  template <bool known, int size>
  static constexpr int rows_blocks = known ? (size == 2 ? 3 : 5) : size == 2 ? 4 : 6;

  /* rmsnorm, a warp to a leaf. */
  static constexpr int pieces_warps = 16;          /* leaves of a row in one block at most, */
  static constexpr int pieces_bytes = 65536;       /* and bytes; */
  static constexpr int pieces_waiting_share = 2;   /* blocks that wait for others have half: 32 KB 154, 64 KB 168 */
  static constexpr int pieces_blocks = 2;          /* of a multiprocessor, of 16 warps: 42 registers and 3 blocks 145 */
  static constexpr int most_pieces = 1024;         /* of a row */

  /* rmsnorm, rows that begin anywhere in a word, of up to a leaf. */
  static constexpr int loose_warps = 4;            /* of a block */
  static constexpr int loose_resident = 32;        /* of a multiprocessor before one has several passes of rows */
  static constexpr int loose_rows = 256;           /* of a warp at most */

  /* rmsnorm by a ring: 2^10 x 2^16 174 -> 137. */
  static constexpr int ring_loaders = 2;           /* warps; 4: nothing */
  static constexpr int ring_adders = 6;
  static constexpr int ring_writers = 16;          /* 8: +4; 20: nothing */
  static constexpr int ring_gatherers = 2;         /* 5: 0 to +8 */
  static constexpr int ring_leaves = 16;           /* of a piece; 8: +3, 4: +7 to +18, since there is more to gather */
  static constexpr int ring_pieces_held = 3;       /* that the ring has room for, else it does not pay */
  static constexpr int ring_leaves_each = 48;      /* of a multiprocessor, where it pays: 100 x 65536 43, else 21 */
  static constexpr int ring_least_size = 4;        /* bytes of an element; f16 95 -> 101 */

  /* rmsnorm in two launches; softmax of long rows. */
  static constexpr int scale_threads = 256, scale_segment = 4096; /* elements of a block */

  /*
  ** softmax. Rows of up to a row of lanes (softmax_few.cuh): threads of a block, and elements of a thread, so that 32
  ** threads have a row. 128 threads: 2^20 x 64 138 -> 160.
  */
  static constexpr int softmax_few_threads = 256;
  template <int size> static constexpr int softmax_few_own = size == 2 ? 8 : 4;
  /* Exponentials of a thread that overlap, and share a test for what is there: f16 2^16 x 1024, 4: 87, now 80. */
  template <int count> static constexpr int softmax_at_once = count > 8 ? 8 : count < 4 ? count : 4;

  /* Few rows, rows of f64 or of any stride (softmax_rows.cuh): warps of a block, 32 lanes of a leaf each. */
  static constexpr int softmax_warps = 32;
  /* Many: elements of a thread, 16: 1024 x 65536 188 -> 256; warps of a block, 8: bf16 3630 x 15704 102 -> 130. */
  static constexpr int softmax_elements = 32, softmax_wide_warps = 16;
  static constexpr int softmax_full_warps = 1;    /* of a multiprocessor, many from here; 4: 400 x 1500 +7 % */
  static constexpr int softmax_few_rows = 4;      /* of a leaf, that a warp takes whole */
  static constexpr int softmax_warp_rows = 4;     /* rows of a block whose warps have one each */
  /* Threads of a multiprocessor, so that their elements stay in registers. */
  template <int bytes> static constexpr int softmax_threads = bytes > 64 ? 1024 : 1536;
  /* f64, whose exponentials want registers: rows of up to 4 and 8 rows of lanes. 20000 x 300 33.7 -> 27.8. */
  static constexpr int softmax_f64_threads = 1024, softmax_f64_leaf_threads = 640;
  /* Warps of each of a row's blocks, where these are not too many: f32 1024 x 65536 16: 188, 8: 177; f16 1072 x 34140
     8: 97, 4: 89. */
  static constexpr int softmax_pieces_warps = 4;

  /* Longer rows (softmax.cu). */
  static constexpr int softmax_leaves_warps = 8;  /* of a block that sums leaves */
  static constexpr int softmax_fold_warps = 16;   /* of a block that folds them */
  static constexpr int softmax_scale_own = 4;     /* elements of a thread that scales, at a time */
  static constexpr int softmax_scale_waves = 8;   /* blocks of a multiprocessor from which on each takes a segment */
};

#endif
