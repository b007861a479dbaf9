/*
** Tuning of the scans. The numbers choose kernels, grids and what is on its way, never results: what the order of
** additions goes by (a tile's elements, its rows, groups of 32 tiles) is in scan.cuh. The figures are of one H200
** (docs/findings/scan.md), of f32 sums if nothing else is said; no other chip has numbers of its own. Figures that say
** "H100" are us of one H100 (bench/tuning.lua, docs/adding.md): every other value was run beside the one in use.
*/
#ifndef GR_CUDA_SCAN_TUNING_H
#define GR_CUDA_SCAN_TUNING_H

struct gr_scan_tuning {
  /* ---- a tile a block: short.cuh, many.cuh ---- */

  /* A vector of up to so many tiles has a block for each of them, a longer one goes through the ring: 2^18 elements
     7.3 -> 5.7 us, since blocks wait for others once. No more than a superblock of tiles, as a block adds up all groups
     before its own itself. H100, up to 256 tiles: 1.5 x 10^6 elements 6.30 -> 8.96 us, 3 x 10^6 11.8 -> 13.0. */
  static constexpr int short_tiles = 1024;
  /* Warps that write results, each of them two rows of a tile; those of the ring, and all of such a block. Two rows are
     what the code has, so there are no other numbers. */
  static constexpr int writers = 8;
  /* Blocks that find room on a multiprocessor, so a thread has 64 registers: where 2 or 4 groups of tiles were asked
     for at once it took 76 to 91, fewer blocks found room, and 2^21 elements took 9.25 us, not 6.96. */
  static constexpr int short_blocks = 4;
  /* Elements that a thread of many.cuh moves in a row where vectors share a warp's row: by 2 rows of 20 106 -> 105
     us, of 300 130 -> 127 (H100). */
  static constexpr int many_elements = 4;

  /* ---- vectors of up to 8 elements, a thread each: gr_scan_few ---- */

  /* So many at least; vectors of a thread, one after the other, and bytes of them in a block, at most. */
  static constexpr int few_vectors = 4096, few_turns = 4, few_bytes = 20 << 10;

  /* ---- columns, down which warps go: down.cuh ---- */

  /* So many elements of each column at least, and so many in all. H200, sums of f32: by 128 100 x 100000 33.7 -> 93.8
     us, by 256 200 x 100000 47.7 -> 128; by 2^21 in all 1500 x 1000 7.2 -> 17.8, by 2^19 1000 x 700 6.0 -> 5.8. */
  static constexpr int down_length = 64, down_elements = 1 << 20;
  /* Threads of a multiprocessor. */
  static constexpr int down_threads = 1024;

  /* ---- what lies before a number of a level: carry.cuh ---- */

  /* Totals of a column that are waited for together: with 4, kernels spill on 8.0 and 12.0, on 9.0 with 5. */
  static constexpr int carried = 3;

  /* ---- fewer columns than 32 without gaps, whose pieces go through a ring: woven.cuh ---- */

  /* So many elements of each column at least, and so many in all. H200, sums of f32: by 2^18 in all 100000 x 3 5.6 ->
     9.6 us, by 2^20 1000000 x 3 16.8 -> 17.2, by 2^23 2000000 x 3 25.5 -> 32.3; by 1024 or 16384 of each 10000 x 24 and
     100000 x 24 within 1 %. */
  static constexpr int woven_length = 4096, woven_elements = 1 << 22;
  /* Pieces that a block has room for at least, if a row of each column is not more: sums of 3 columns of f32 227 us by
     nine of 12 rows, 195 by four of 24; of f64 177 by four of 12, 186 by two of 24. */
  static constexpr int woven_pieces = 4;
  /* How many times as long as elements results must be to have a place of their own: sums of 3 columns of u8 277 -> 204
     us; by 16 174 -> 233, by 2 of f16 157 -> 161 (H200). */
  static constexpr int woven_apart = 4;
  /* Of 13 warps those that bring pieces, one where elements are narrow; those that look back, a piece each in turn, 3
     of them 1 to 2 % slower; and those that add up: by two loaders and three adders 8 columns of f32 205 -> 191 us. */
  static constexpr int woven_loaders = 2, woven_lookers = 2, woven_adders = 3;
  /* Those that add up where they fetch narrow elements besides: with 6 instead of 4 sums of 3 columns of u8 204 -> 189
     us, of 16 220 -> 194; maxima of 3 columns of 2 x 10^7 u8 89.7 -> 73.6, by 5 81.6, by 7 79.9, of f16 145 -> 113, 128
     and 126 (H200). The others write. */
  static constexpr int woven_fetchers = 6;

  /* ---- the ring: ring.cuh ---- */

  /* Warps that add rows up, four rows each; beside them one that loads, three for tiles' totals, and the writers. The
     rows of a tile are added up by fours, so there are no other numbers. One of the three looks back: 3639 GB/s with
     two that do, 3454 with four, and with a warp for groups' totals one is best. */
  static constexpr int ring_adders = 4;
  /* Blocks of a multiprocessor: 2^28 elements 3639 GB/s, with one of 28 warps 2789. */
  static constexpr int ring_blocks = 2;
  /* Tiles that are asked for and not yet added up, at most: 3631 GB/s, with 3, 2 and 1 3625, 3640 and 1950. */
  static constexpr int ring_ahead = 4;
  /* Tiles that a ring has room for, at least and at most: where two rings of the least find no room, one block has it
     all. H100: by 8 at most sums of 2^26 u8 227 -> 221 us, maxima within 1 %. By 1 or 3 at least f64 within 1 %
     (H200). */
  static constexpr int ring_least_slots = 2, ring_slots = 16;
  /* Bytes that a tile of strided narrow elements lies across, up to which L2 is asked for it ahead. Sums of every other
     f16 of 2^26 222 -> 166 us, u8 247 -> 187; tiles of f16 maxima, which are longer, 181 -> 184, so not these. */
  static constexpr int announced_bytes = 24576;
  /* Bytes of a lane's values in a row up to which a writer has two rows under way: f32 sums have 64, and 3740 GB/s row
     by row, 3694 to 3741 by two. H200: by 16 or 64 bytes 2^26 i32 maxima, u8 and f32 sums within 1 %. */
  static constexpr int paired_bytes = 32;

  /* ---- a warp's elements: rows.cuh ---- */

  /* Copies of a lane that are asked for in a row: of every other element of 2^26, by four -> by eight, u8 sums 334 ->
     250 us, f16 sums 328 -> 228, 8 bytes 392 -> 397. Of whole words: not measured. */
  static constexpr int copies = 8;
  /* Words of a lane that are loaded together where narrow elements lie across words, and results that go out one by one
     in a row: 2 or 4, and 1 or 2, within 1 % (H100, every other of 2^25 f16, 2^26 u8, 2^25 f32). */
  static constexpr int words_across = 4, results_apart = 2;
};

#endif
