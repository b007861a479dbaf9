/*
** Tuning of rmsnorm and softmax. The numbers choose grids, blocks and what waits where, never results. All are
** measured on one H200 (docs/findings/norm.md), f32 if not said, us of 2^26 elements, for which a copy takes 128; no
** other chip has others yet. Figures that say "H100" are of one H100, for which a copy takes 183 (bench/tuning.lua,
** docs/adding.md): every other value was run beside the one in use.
*/
#ifndef GR_CUDA_NORM_TUNING_H
#define GR_CUDA_NORM_TUNING_H

struct gr_norm_tuning {
  /* ---- rmsnorm, a warp to a leaf ---- */

  /* Leaves of a row in one block at most, and bytes. H100, blocks that wait for no other: by 8 leaves 4096 x 16384 184
     -> 193, f16 x 32768 within 1 %; by 32 KB 183 -> 191, f16 1000 x 65536 100.4 -> 97.6. */
  static constexpr int pieces_warps = 16, pieces_bytes = 65536;
  /* Blocks that wait for others have such a part of that: pieces of 64 KB 168, of 32 KB 154, of 16 KB 180. */
  static constexpr int pieces_waiting_share = 2;
  /* Blocks of 16 warps on a multiprocessor: 134.6; with 42 registers, so that there are three, 145. */
  static constexpr int pieces_blocks = 2;
  /* Pieces of a row, for whose sums there is room in shared memory: more than any chip has multiprocessors, each of
     which has one at most. */
  static constexpr int most_pieces = 1024;
  /* Words of a lane at a time: 1 or 2 within 1 % (H100, f32 and f16 16384 x 4096). */
  static constexpr int pieces_unrolled = 2;

  /* ---- rmsnorm, several rows to a warp (rmsnorm_short.cuh), us of 120 MB, for which a copy takes 62. Rows that begin
     anywhere in a word: f32 of 6 122 -> 84, 25 101 -> 70, 135 127 -> 67, f64 of 83 93 -> 67, f16 of 70 145 -> 108.
     Whole ones by words before: f32 of 144 99 -> 63, f16 of 320 116 -> 72, of 64 with weights 77.6 and 77.0. Other
     figures are of other runs, beside what was in use then. ---- */

  /* Bytes of the longest such row of whole words: by 8192 f16 of 1536 60 -> 63, with weights 67 -> 76, 1000 x 2048 4.8
     -> 5.4 (H200). */
  static constexpr int short_whole = 2048;
  /* Warps of a block: 2 within 1 %, by 8 all by 2 %, f64 3000 x 64 3.1 -> 3.5. Blocks of a multiprocessor, by
     registers: by 10 f32 and f64 within 2 %, f16 of 70, which spills then, 108 -> 113 (H200). */
  static constexpr int short_warps = 4, short_blocks = 8;
  /* Bytes of a warp at most: by 4096 f32 of 135 69 -> 79, f16 of 70 112 -> 122, by 5120 most by 1 % less, but f16
     of 700 74 -> 80. Rows of a warp at most: by 128 f32 of 6 83 -> 78, of 2 117 -> 127, f16 of 2 258 -> 285. Warps
     of a multiprocessor before one has several passes of rows: by 16 f16 30000 x 256 12.5 -> 15.8 (H200). */
  static constexpr int short_bytes = 6144, short_rows = 256, short_resident = 32;
  /* Rows of a pass in one bank from which on they begin at other lanes: by 16 f16 of 64 73 -> 92, of 16 79 -> 103; f32
     and f16 by 4 f32 of 80 66 -> 69, f16 of 96 92 -> 98; f64 by 8 10000 x 64 4.6 -> 5.2. Without that f32 of 32 from
     the second element on 103 -> 68, f64 of 16 107 -> 62 (H200). */
  template <int size> static constexpr int short_turned = size == 8 ? 4 : 8;
  /* Words of a lane at a time, where they are copied, of longer rows too: by 1 f32 of 16 71 -> 68 where it begins in a
     word, f32 of 160 61 -> 63, all short rows within 1 %, by 4 too (H200); longer ones not measured since. */
  static constexpr int fetched = 2;
  /* Blocks of a multiprocessor that wait for others of a row that begins anywhere, by registers: by 4 f32 2317 x 38101
     199 -> 204 us, 600 x 65537 93 -> 97; by 6 f16, which spill, 217 x 230311 72 -> 91 (H200). */
  template <int size> static constexpr int loose_blocks = size == 2 ? 4 : 6;

  /* ---- rmsnorm by a ring: 2^10 x 2^16 174 -> 137 ---- */

  /* Warps that fetch; 4: no gain. */
  static constexpr int ring_loaders = 2;
  /* Warps that add squares up. With 4 of them, and one that fetches, 2^9 x 2^17 145.4 -> 154.4, while blocks still
     exchanged sums in clusters. */
  static constexpr int ring_adders = 6;
  /* Warps that write; 8: 4 us more; 20: no gain. */
  static constexpr int ring_writers = 16;
  /* Words of a writer's lane at a time; 2 and 8: no gain. */
  static constexpr int ring_writer_words = 4;
  /* Warps that gather pieces' sums; 5: 0 to 8 us more. */
  static constexpr int ring_gatherers = 2;
  /* Leaves of a piece; 8: 3 us more, 4: 7 to 18, since there is more to gather. */
  static constexpr int ring_leaves = 16;
  /* Pieces that the ring has room for, else it does not pay: hardly longer than the piece, 2^17 columns took 165 for
     145. */
  static constexpr int ring_pieces_held = 3;
  /* Leaves of a multiprocessor from which on it pays: 200 and 300 x 65536 37.8 and 54.0 -> 33.7 and 46.5 us, but 800 x
     20000 37.6 -> 41.7. 24: the same. */
  static constexpr int ring_leaves_each = 48;
  /* Bytes of an element from which on it pays: f16 95 -> 101. */
  static constexpr int ring_least_size = 4;

  /* ---- rmsnorm in two launches; softmax of long rows ---- */

  /* Threads and elements of a block that scales, and elements of a thread at a time. H100: by 128 threads softmax 4 x
     2^23 207 -> 210, by 2048 elements 205 -> 204, rmsnorm of every other of 4096 x 4096 128 -> 129; by 2 at a time
     within 1 %. */
  static constexpr int scale_threads = 256, scale_segment = 4096, scale_unrolled = 4;

  /* ---- softmax, rows of up to two rows of lanes (softmax_few.cuh) ---- */

  /* Threads of a block; 128: 2^20 x 64 138 -> 160. */
  static constexpr int softmax_few_threads = 256;
  /* Elements of a thread; f32, 8: 1274813 x 3 9.4 -> 14.4 us. Twice as many where else 16 or 32 threads would have a
     dense row: bf16 178443 x 135 67.7 -> 58.2 us, f32 100000 x 100 28.9 -> 22.0, 200000 x 50 28.6 -> 23.4, f64 100000 x
     60 27.7 -> 25.4, f16 120000 x 128 23.5 -> 24.4. Doubled also where 8 threads have a row: f16 200000 x 50 19.4 ->
     35.9. */
  template <int size> static constexpr int softmax_few_own = size == 2 ? 8 : 4;
  /* 16-bit rows of two elements a lane, 16 threads each: threads of a multiprocessor from which on; else a warp has
     one. f16 6000 x 300 4.8 -> 5.5 us, 12000 x 300 8.2 -> 7.9, 300 columns of 120 MB 122 -> 107. Of other dtypes
     always: f32 6000 x 133 3.8 -> 3.2, 120 MB 92 -> 70, f64 x 98 92 -> 69 (H200). */
  static constexpr int softmax_few_resident = 1280;
  /* 16-bit rows go out by way of shared memory if they fill so many hundredths of the places that their threads have:
     f16, H200, us of 60 MB, rows of 7 80 -> 52, 15 111 -> 52, 31 76 -> 52, 111 68 -> 49; of 25 59 -> 60; below, rows of
     5 64 -> 68, 11 62 -> 66, 21 66 -> 70, 75 60.5 -> 59.9. */
  static constexpr int softmax_staged = 78;
  /* Exponentials of a thread that overlap, and share a test for what is there: f16 2^16 x 1024, 4: 87, now 80. Of up to
     16 elements but f64 4, as those of the last group are made whether they are there or not: by 8 bf16 178443 x 135
     58.5 us, now 52.0, 249914 x 342 163, now 152, f32 65536 x 300 45.3, now 42.8; by 4 f64 30000 x 300 38.2 -> 41.1. */
  template <int count, int size> static constexpr int softmax_at_once = count > (size == 8 ? 8 : 16) ? 8
                                                                       : count < 4                   ? count
                                                                                                     : 4;

  /* ---- softmax, longer rows that registers hold (softmax_rows.cuh) ---- */

  /* Few rows, rows of f64 or of any stride: warps of a block, 32 lanes of a leaf each. By 16 f64
     1000 x 30000 288 -> 301, f32 20 x 20000 5.78 -> 5.64 (H100). */
  static constexpr int softmax_warps = 32;
  /* Many rows: elements of a thread; 16: 1024 x 65536 188 -> 256. */
  static constexpr int softmax_elements = 32;
  /* Many rows: warps of a block; 8: bf16 3630 x 15704 102 -> 130. */
  static constexpr int softmax_wide_warps = 16;
  /* Warps of a multiprocessor from which on rows are many; 4: 400 x 1500 7 % more. */
  static constexpr int softmax_full_warps = 1;
  /* Rows of lanes up to which a warp has a row whole, and rows of a block whose warps have one each: by 2 rows of lanes
     65536 x 300 56.0 -> 61.8, x 500 within 1 %; by 2 rows of a block within 1 % (H100). 16-bit rows of up to 2 rows of
     lanes, if they are not many, have a kernel whose threads have no more elements: bf16 249914 x 342 216 -> 163 us,
     f16 100000 x 500 89.6 -> 71.7. */
  static constexpr int softmax_few_rows = 4, softmax_least_rows = 2, softmax_warp_rows = 4;
  /* Threads of a multiprocessor, so that their elements stay in registers: of 32 elements no more than 1024 fit, and
     768 take 3 % more of f16. Those of fewer elements: 1024 or 1536 within 1 % (H100). */
  template <int bytes> static constexpr int softmax_threads = bytes > 64 ? 1024 : 1536;
  /* f64, whose exponentials want registers: elements of a thread from each row of lanes, so that a warp has a row of up
     to a leaf, not two: 20000 x 300 33.7 -> 27.8 us, 252560 x 123 310 -> 149 to 159. */
  static constexpr int softmax_f64_each = 2;
  /* The same: threads of a multiprocessor, of rows of up to 4 and 8 rows of lanes. By 768 and 512 within 1 % (H100). */
  static constexpr int softmax_f64_threads = 1024, softmax_f64_leaf_threads = 640;
  /* Warps of each of a row's blocks, where these are not too many: 1024 x 65536 16: 188, 8: 177; f16 1072 x 34140 16:
     135, 8: 97, 4: 89. */
  static constexpr int softmax_pieces_warps = 4;
  /* A row that fits a block has only one where so many times the rows are more than the multiprocessors: 1
     or 2 within 1 % (H100). */
  static constexpr int softmax_row_share = 2;

  /* ---- softmax, rows that registers do not hold (softmax.cu) ---- */

  /* Warps of a block that sums leaves, which share a leaf where its lanes are more than theirs: in four launches f16 1
     x 18426 60 -> 17 us; 4 or 8 within 1 % of 4 x 2^23 (H100). */
  static constexpr int softmax_leaves_warps = 8;
  /* Warps of a block that folds them: 8 or 16 within 1 % (H100, 4 x 2^23, 20 x 3000000). */
  static constexpr int softmax_fold_warps = 16;
  /* Elements of a thread that scales, at a time, and blocks of a multiprocessor from which on each takes a segment.
     H100, 4 x 2^23: by 2 elements 207 -> 212. H200: by 4 or 16 blocks 1 x 3000000 27.8 -> 28.1, 4 x 2^23 within 1 %. */
  static constexpr int softmax_scale_own = 4, softmax_scale_waves = 8;
};

#endif
