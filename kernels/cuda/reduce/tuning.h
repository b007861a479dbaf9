/*
** Tuning numbers of the reductions. They choose grids, blocks and registers, never results. The figures beside them are
** of one H200 (docs/findings/reduce.md, rows.md, columns.md), us in graphs or, of rows and columns, in a stream, else
** GB/s read and written; elsewhere the same numbers are safe: they only count warps and multiprocessors. Figures that
** say "H100" are us of one H100 back to back (bench/tuning.lua, docs/adding.md): every other value was run beside the
** one in use.
*/
#ifndef GR_CUDA_REDUCE_TUNING_H
#define GR_CUDA_REDUCE_TUNING_H

#include "kernels/cuda/launch.h"
#include "kernels/cuda/thread/reducer.cuh"

/* ---- what a plan and its kernel both go by, so that it stands here once ---- */

/* gr_reduce_leaves: warps of a block at most, for which its shared memory has room: by 8 var f16 2048 x 65536 within
   1 % (H100). */
constexpr int gr_leaves_warps = 16;
/* gr_reduce_rows_by_element (H200, us of 300000 rows): what a warp stages of its rows, in bytes: by 2048 max f32 of 101
   34.9 -> 44.4, sum f32 of 33 14.0 -> 14.4, by 8192 57.6 and 27.6; and warps of a block at most: by 8 max 35.2 -> 74,
   by 2 within 1 %. */
constexpr int gr_by_element_bytes = 4096, gr_by_element_warps = 4;
/* The same: lanes of the tree that a thread folds on its own, of rows that have no more than one element in each: by 8
   f32 of 13 by a vector 7.8 -> 9.6, var f32 of 33 19.5 -> 24.7, by 32 9.4 and 17.3. */
constexpr int gr_by_element_held = 16;
/* gr_reduce_rows_by_vector: warps of a block, and blocks that find room on a multiprocessor: by 2 warps, or 4 blocks,
   within 1 % (H100, 1024 x 65536, 10000 x 2001). */
constexpr int gr_by_vector_warps = 4, gr_by_vector_blocks = 6;
/* gr_reduce_cols_few_rows: bytes of all rows that a thread has in registers at most (4 rows of 2^24 f32 2238 ->
   4036..4120; by 64 bytes var f32 of 24 rows 37.5 -> 69.8 us, H100), and warps of a block: by 4 var f32 5 x 1502209
   18.5 -> 20.3 us, sum f32 of 4 rows within 1 %. */
constexpr int gr_few_bytes = 128, gr_few_warps = 8;
/* The same: bytes of a thread's word, of few rows, and of more. H100: by 4 instead of 8 max u8 of 8 rows 39.1 -> 85.4
   us; by 8 instead of 16 sum f32 of 4 rows 134 -> 158, var f16 of 5 18.1 -> 21.9. By 16 instead of 8 var f64 of 12 rows
   36.5 -> 51.2; by 8 instead of 4 var f32 of 24 rows 37.9 -> 70.0. */
template <int size>
constexpr int gr_few_wide = size == 1 ? 8 : 16;
template <int size>
constexpr int gr_few_narrow = size == 8 ? 8 : 4;
/* Whether it has both: of more rows of 16 bits, of which a narrow word has two, sums are cols_sum's, and extremes are
   cols_unordered's: max f16 24 x 1000001 33.8 -> 21.3 us (H100). */
constexpr bool gr_few_has_narrow(gr_reducer red, int size) {
  return size != 2 || (red != GR_RED_SUM && red != GR_RED_MINMAX);
}
/* gr_reduce_cols_flat: warps of a block at most: by 8 f32 of 6929148 rows var of 5 63.8 -> 59.4 us, sum of 7 70.0 ->
   63.7, but more than 8 columns would be elsewhere (H100); leaves of a node at most: by 16 var of 5 43.3 -> 48.1, sum
   of 3 20.1 -> 22.0, by 64 within 1 % (H200). */
constexpr int gr_flat_warps = 16, gr_flat_leaves = 32;
/* The same: words of a thread in flight, and blocks of a multiprocessor. Variances: by 4 words f32 of 5 columns 64.3 ->
   69.3 us, by two blocks 64.1 -> 66.0 (H100). Sums and products, by 8 words and one block f32 375186 x 62 by a vector
   27.2 -> 30.1, sum 300000 x 33 8.7 -> 14.2, 6929148 x 13 84.0 -> 83.9, f16 48.0 -> 45.5. */
constexpr int gr_flat_words_for(bool variance) { return variance ? 8 : 4; }
constexpr int gr_flat_blocks_for(bool variance) { return variance ? 1 : 2; }
/* The same: turns of a thread at most, as a logarithm, so columns of so many times gr_flat_warps; more are not
   measured. By other kernels, so: sum f16 3000000 x 17 53 -> 28 us, f32 678726 x 29 28 -> 19, 300000 x 33
   23 -> 11, 1000000 x 129 157 -> 128, f64 200000 x 401 177 -> 155, f16 2000000 x 50 57.6 -> 54.1; by a vector f64
   259627 x 83 55 -> 43, f32 1000000 x 99 121 -> 122. */
constexpr int gr_flat_turns_for(int size) { return size == 2 ? 2 : size == 4 ? 4 : 5; }
/* gr_reduce_cols_by_lane: warps of a block at most, lanes of the tree that a thread has together, levels of its stack,
   and groups' elements that it holds by the inputs: var f32 48 x 909414 held 79 us, in turn by eight warps 215; f16 82
   x 1167340 204 and 776. H100: by 8 warps var f32 447 x 40518 30.7 -> 45.8, bf16 25165 x 725 44.1 -> 71.1; by 2 levels
   var f32 48 x 909414 80.7 -> 129, dot f32 within 1 %; by 4 lanes together var f32 447 x 40518 31.0 -> 46.2, f16 82 x
   1167340 208 -> 307 (of 8 bytes it must be 4: by 2 results differ); by 4 elements var f32 447 x 40518 30.9 -> 41.9,
   f16 629 x 137138 209 -> 244; of two inputs by 2 dot f32 100 x 1000001 308 -> 328, bf16 3000 x 30001 150 -> 164. */
constexpr int gr_by_lane_warps = 16, gr_by_lane_levels = 3;
template <int size>
constexpr int gr_by_lane_together = size == 8 ? 4 : 8;
template <int inputs>
constexpr int gr_by_lane_slots = inputs == 2 ? 4 : 8;
/* The same: warps of a block that need not share a leaf: by 2 var f32 48 x 909414 79.6 -> 81.3, f16 40 x 1167340 104 ->
   102 (H100); and rows of a column for which there is a warp where none are held: by 512 var bf16 25165 x 725 44.3 ->
   44.7. */
constexpr int gr_by_lane_alone = 4, gr_by_lane_rows = 64;
/* The same: where a leaf is held, warps of a block beyond which they read rows side by side, half as many columns each,
   so that blocks of one multiprocessor load while others fold; and how often at most, as a logarithm. us by 16 warps,
   so, and once more: var bf16 744 x 54166 74 -> 62 -> 59, f16 600 x 100001 131 -> 111 -> 102, f32 700 x 50001 71 -> 57
   -> 57, 1000 x 50001 82 -> 70 -> 78, f64 500 x 50001 59 -> 54 -> 62; by 8 warps and 4 var f16 300 x 300001 177 -> 160,
   f32 300 x 100001 56 -> 50. */
constexpr int gr_by_lane_held_warps = 4;
constexpr int gr_by_lane_sides_for(int size) { return size == 2 ? 2 : 1; }
/* gr_reduce_rows_of_integers: lanes of a thread, and threads of a block: by 16 lanes norm i32 262144 x 16 11.3 -> 14.4
   us, 65536 x 64 12.1 -> 13.4 (H200); 64 or 256 threads are not told apart from 128. */
constexpr int gr_integer_lanes = 8, gr_integer_threads = 128;
/* gr_reduce_cols_sum: warps of a block, which is a power of two; by 8 1 % less, by 16 1 to 7 %. */
constexpr int gr_cols_sum_warps = 4;
/* gr_reduce_cols_unordered: warps of a block (with 8 instead var i16 of 16 columns 3351 -> 2845), and bytes that a lane
   has on their way, of all inputs: of bytes by 128 instead of 64 sum u8 65536 x 1024 25.9 -> 32.7 us, and of two
   inputs four rows must be there together; of others by 64 instead of 128 max f32 20000 x 1001 30.2 -> 31.0 (H100). */
constexpr int gr_strip_warps = 4;
constexpr int gr_strip_batch_bytes_for(int size, int inputs) { return size == 1 && inputs == 1 ? 64 : 128; }
/* gr_reduce_rows_staged: warps of a block: 2 or 4 within 1 % (H100, rows of 64 and 256 f32); and words of 16 bytes that
   a warp stages at most: by 288 instead variances are 5 to 10 % slower. */
constexpr int gr_staged_warps = 4, gr_most_stage = 544;
/* gr_reduce_cols_variance_ring: warps that read, by which a leaf's rows are laid out: by 8 results differ; slots of a
   ring, bytes of a slot, of a warp: var f32 of 1024 columns by 6 slots of four rows 2610, by 12 of two 2226, by 24 of
   one 1773, while threads copied for themselves and asked more of each row; rows of states: 8 or 16 within 1 % (H100);
   units that the warp which makes states may be behind: two or three within 1 %, by one and a barrier of all f32 100000
   x 512 75 -> 79 us, 2097152 x 32 83 -> 87 (H200). */
constexpr int gr_variance_warps = 16, gr_variance_slots = 6, gr_variance_slot_bytes = 2048, gr_variance_states = 16,
              gr_variance_units = 3;
/* Of columns: nodes that the last block can fold; with more, gr_reduce_leaves does them: only columns of more than 2^26
   rows have so many. */
constexpr int64_t gr_most_column_nodes = 1 << 18;

/* ---- what a plan goes by alone, a struct a kernel, where chips may differ ---- */

typedef struct gr_reduce_tuning {
  struct {
    /* Up to so many leaves one block does all: 2^14 f32 2.57 us, by blocks of 8 and 4 warps 3.54 and 3.43. H100, as
       results for later, by up to 8 leaves: 2^14 4.48 -> 4.40, max of 2^13 4.24 -> 4.32, which is what runs differ by.
       */
    int one_block_leaves;
    /* Warps of a block whose leaves the host folds: a number of 2^14 7.46 us; by 1, 2, 8, 16 warps 7.50, 7.44, 7.51,
       7.59. */
    int mailbox_warps;
    /* Warps of a block when a vector takes several: 2^22 6.8 us, 2^24 18.5; by 16 warps 7.3 and 19.1. */
    int block_warps;
    /* Of which so many a multiprocessor are wanted before leaves are taken in turn: one wave, as registers let as many
       reside. 2^24 18.5 us; three, of 80 registers, 23.5. */
    int blocks;
    /* Leaves that a warp takes in turn at most; 8: 10^8 96.3 -> 95.7 us, others 1 % more; 4: 1 to 10 % more. */
    int most_passes;
    /* Warps of a block that does whole vectors, or more if one takes more: 4 or 8 within 1 % (H100, sum f32 16384 x
       4096, max f32 4096 x 2000). */
    int vector_warps;
    /* Warps in flight a multiprocessor before a row gets one warp only; 24: 0 to 4 % more, f16 4096 x 65536 117.2 ->
       121.9 us. Turing has room for half the threads; what another number brings there is not measured. */
    int row_warps;
    /* The same of variances, which fetch the next leaf early, so that fewer do: f32 2000 x 20000 41.2 us; with 32 50.5,
       with 64 71.1. */
    int variance_warps;
  } leaves;
  struct {
    /* Blocks of a multiprocessor, one wave, as the kernel's registers let as many reside. */
    int blocks;
    /* Rows that a warp takes, one after the other, of a leaf of the vector: a lane keeps the result of each, so no
       more. By 16 f32 262144 x 1024 378 -> 383 us (H100). */
    int most_rows;
    /* Bytes of a row that begins anywhere in a word; a shorter one is staged with the vector beside it: by 640 rows of
       165 f32 49 -> 73 us, of 85 f64 43 -> 58; by 4096 of 691 33 -> 48 (H200, 120 MB). */
    int least_bytes;
  } rows_by_vector;
  struct {
    /* Warps of a multiprocessor before a warp takes more rows than one pass: by 8 or 32 sum f32 65536 x 64 6.64 ->
       6.91, 6.96 us, 16384 x 256 6.64 -> 6.63, 6.89 (H200). */
    int warps;
  } rows_staged;
  struct {
    /* Warps of a multiprocessor before a warp takes several rows: by 32 max f32 20000 x 101 4.95 -> 5.40 us, by 8 5.01
       (H200). */
    int warps;
    /* Warps of a block, which has one of up to few_rows rows: 0 or 3 within 1 % (H100, 3 x 33). */
    int block_warps, few_rows;
  } rows_by_element;
  struct {
    /* Warps of a multiprocessor from which blocks get smaller, to so many warps, so that several find room: prod f32
       16384 x 1024 by 64 27.3 us, by 32 21.1, by 16 17.5, so 17.4, 2000 x 3001 by 32 10.2, by 16 8.2, so 6.7; by 8
       warps at least 262144 x 1024 265 -> 325, by 2 261 (H200). */
    int warps, least_warps;
  } cols_by_lane;
  struct {
    /* Warps of a multiprocessor before strips get longer, one wave: u8 sums 72 us, with 20 73..77, with 48 82. */
    int warps;
    /* Percent of lanes in use from which no longer word rows are tried: by 70 of 17 columns sum u8 8.77 -> 8.83 us, max
       f32 24.9 -> 24.5 (H100). */
    int good_share;
    /* Below it word rows need not be aligned: then one lane in 32 only passes on what it reads. Not measured. */
    int least_share;
  } cols_unordered;
  struct {
    /* Warps of a multiprocessor: with 4 KB in flight each f64 3959 -> 4401, 3885 -> 4180. */
    int warps;
    /* Warps of a multiprocessor before strips narrow and warps share a leaf: by 8 sum f32 1000 x 1000 4.67 -> 4.81
       us, f16 4096 x 16384 within 1 % (H100). */
    int least_warps;
    /* Words of a strip, as a logarithm, which gets so narrow before blocks share a leaf, to 128 bytes: f16 1000 x 1000
       6.6 -> 3.8 us, f64 100000 x 64 17.4 -> 13.0; to 256 bytes 5.2 and 17. */
    int narrowest;
    /* Bytes of states of leaves in turn: by 8 or 32 KB sum f32 65536 x 1024, 1000000 x 64 within 1 % (H200). */
    int state_bytes;
    /* Percent of lanes in use where rows begin anywhere in a word; else cols_by_lane does them. f32 2^16 x 1023, where
       it is more, 3560; H100: by 40 1000000 x 37 62.1 -> 63.4 us. */
    int least_share;
    /* Bytes of a matrix of more than so many rows; below, cols_by_lane has it done before blocks that share a leaf have
       met: products with a vector f32 1867 x 24 3.84 -> 2.02 us, 300 x 300 2.75 -> 1.50, 1000 x 1000 3.66 -> 1.88, f64
       5000 x 100 4.89 -> 3.44. By 64 MB f32 700 x 8000 7.8 -> 11.8, 5000 x 1000 11.0 -> 9.7. Of any number of rows f32
       100 x 100 1.09 -> 1.25. Formulas' columns, which cols_by_lane does not make, have no such limit. */
    int64_t least_bytes;
    int least_rows;
  } cols_sum;
  struct {
    /* Bytes of a matrix for each multiprocessor; below, cols_by_lane has started sooner: by 64 KB var f32 4096 x
       768 6.98 -> 12.8 us, 8192 x 768 within 1 % (H100). */
    int64_t least_bytes;
    /* Percent of multiprocessors that larger nodes may leave idle more than the best ones would: by 0 or 10 var f64
       100000 x 96 46.0 -> 47.7, 47.3 us, f32 65536 x 1024 within 1 % (H200). */
    int idle;
  } cols_variance_ring;
} gr_reduce_tuning;

/* Only Hopper's are measured. A chip gets numbers of its own for a figure that is more than noise. */
static inline const gr_reduce_tuning &gr_reduce_tuning_for(const gr_cuda_chip &chip) {
  static constexpr gr_reduce_tuning hopper = {
      .leaves = {.one_block_leaves = 16,
                 .mailbox_warps = 4,
                 .block_warps = 8,
                 .blocks = 4,
                 .most_passes = 16,
                 .vector_warps = 8,
                 .row_warps = 128,
                 .variance_warps = 24},
      .rows_by_vector = {.blocks = gr_by_vector_blocks, .most_rows = 32, .least_bytes = 1280},
      .rows_staged = {.warps = 16},
      .rows_by_element = {.warps = 16, .block_warps = gr_by_element_warps, .few_rows = 3},
      .cols_by_lane = {.warps = 8, .least_warps = 4},
      .cols_unordered = {.warps = 16, .good_share = 85, .least_share = 60},
      .cols_sum = {.warps = 16,
                   .least_warps = 12,
                   .narrowest = 3,
                   .state_bytes = 16 << 10,
                   .least_share = 60,
                   .least_bytes = 4 << 20,
                   .least_rows = 128},
      .cols_variance_ring = {.least_bytes = 128 << 10, .idle = 3},
  };
  static constexpr gr_reduce_tuning turing = [] {
    gr_reduce_tuning t = hopper;
    t.leaves.row_warps = 64;
    return t;
  }();
  return chip.major < 8 ? turing : hopper;
}

/* ---- what a plan goes by alone, on every chip alike ---- */

/* A share of something: `of` divided by `in`. */
struct gr_share {
  int of, in;
};
struct gr_reduce_shares {
  /* gr_reduce_leaves: where launches overlap each has one in so many of the places, so that two find room: 2^22 5.65 ->
     4.8 us, 2^23 9.0 -> 8.0, 2^24 16.4 -> 15.9. A launch that waits loses by it: 7.3 -> 8.0. */
  static constexpr int overlapping = 2;
  /* The same: blocks that are more than such a share of the places, and fewer than so many times them, are a wave and a
     bit: then warps rather take fewer leaves in turn. 512 blocks in 396 places: dots of 2^26 125 -> 133 us. By 9/8 or
     3/2, and by 3, dots of 2^26, sums of 3 and 5 x 10^7 f32 within 1 % (H200). */
  static constexpr gr_share bit = {5, 4};
  static constexpr int bit_waves = 2;
  /* The same: parts of a row are alike if together they have room for no more than such a share of its leaves. Rows are
     cut so: var f16 2048 x 65536 1576 -> 2559. H100, by 9/8: sum f32 300 x 100000 40.6 -> 43.2 us, var f16 within 1 %.
     */
  static constexpr gr_share alike = {5, 4};
  /* The same: block 0 polls no more nodes than so many for each of its threads. By polling 2^16 to 2^20 take 0.45 us
     less; the number is what its code has. Of formulas one, as two are more to compile (gr_end_number has one). */
  static constexpr int polled_nodes = 2, polled_of_formulas = 1;
  /* The same: a launch that waits lets the next one begin early where warps take no more leaves in turn than this, or
     blocks fill such a share of the places. Where places stay free it would take them: f16 2^26 34 -> 37 us. By 1 or 4,
     and by 1/2 or all, 2^24 and 10^7 f32, 2^26 f16 within 1 % (H200). */
  static constexpr int early_passes = 2;
  static constexpr gr_share early = {9, 10};
  /* The same: blocks of a multiprocessor up to which those that wait ask L2 for their data: 2^20 3.9 -> 3.6 us; where
     all places are taken, of 2^22, 6.8 -> 7.9. By 1 a number of 2^21 11.6 -> 11.7 us (H100). */
  static constexpr int ahead_blocks = 2;

  /* gr_reduce_rows_by_element: rows of a stage, with fewer of which none is one thread's: by 32 max f32 300000 x 50
     17.9 -> 19.6 us (H200). */
  static constexpr int tiny_rows = 16;
  /* gr_reduce_cols_sum: bytes of a row of 8-byte elements, from which rows that begin within a word go by lane, where
     no word is shifted: sum f64 1225 x 17635 58.9 -> 44.2 us, 300 x 100001 80.5 -> 61.8, 65536 x 1023 139 -> 135,
     1700 x 20001 and 30000 x 3001 within 1 %; but 1000000 x 101 229 -> 240, by a vector 500000 x 101 115 -> 128. */
  static constexpr int sum_odd_row = 8000;
  /* gr_reduce_rows_of_integers: elements of a row, beyond which gr_reduce_leaves has a warp for each: norm of 2^22
     i32 in rows of 256 13.2 us so, 8.6 by the kernel; as many as a warp has lanes of the tree. */
  static constexpr int integer_row = 256;
  /* gr_reduce_rows_staged: words of a row for which there is a thread. By one var f32 rows of 16 2691 -> 1490. */
  static constexpr int staged_words = 4;
  /* The same: elements of a row that begins anywhere in a word, up to which rows_by_element takes it: u8 rows of 3 425
     us so, by words 851. H200: sums of 10^6 rows of u8 of 25 19.8 us, by words 13.9, of 13 9.4 and 10.6, maxima of f16
     of 21 16.8 and 19.2. */
  static constexpr int staged_odd(int64_t size) { return size == 1 ? 16 : 32; }

  /* gr_reduce_cols_variance_ring: bytes of a matrix row at least, of those that gr_reduce_cols_flat leaves: by 64 var
     i32 1000000 x 8 15.9 -> 18.6 us (H200); and rows of which there must be more, if there is no whole leaf, as
     gr_reduce_cols_by_lane holds few. us by lane and so: var bf16 1500 x 30000 107 and 116, 1700 x 60000 250 and 198,
     3000 x 20000 157 and 68, f32 600 x 40000 42 and 63 (H200). */
  static constexpr int ring_row = 32;
  static constexpr int64_t ring_rows = 1536;
  /* gr_reduce_cols_flat: bytes of an aligned matrix row below which it takes variances of floats. By the ring f32
     1000000 x 8 21.9 us, so 19.1; f64 1000000 x 4 22.5 and 19.1. */
  static constexpr int flat_row = 64;
  /* The same: bytes of a block's states of leaves at most: by 32 KB sum f64 2000000 x 201 734 -> 715 us (H200); and
     threads of a multiprocessor, as long as there are leaves: by 512 sum f16 5000000 x 5 14.5 -> 18.0 us, by a vector
     2594183 x 6 17.7 -> 19.3, sum f32 678726 x 29 19.0 -> 20.4, 6929148 x 13 85.4 -> 84.7; by 128 f16 5000000 x 5
     13.3. */
  static constexpr int flat_state_bytes = 16 << 10, flat_threads = 256;
  /* gr_reduce_cols_unordered: one in so many of the batches of a leaf is enough for a warp where strips are many: by 2
     or 8 var i16, u8 65536 x 1024 within 1 % (H200). */
  static constexpr int strip_batches = 4;
  /* The same: bytes of a column for each field of a node's state, and batches of a warp for each node at least: by 128
     or 512 bytes sum u8 65536 x 1024 20.2 -> 20.5, 19.6 us, max f32 4194304 x 16 within 1 %, as both by 2 or 8 batches
     (H200). */
  static constexpr int strip_node_bytes = 256, strip_node_batches = 4;
  /* gr_reduce_cols_sum: units in turn, as a logarithm, of columns of one leaf and of more, at most: of one leaf 1 or 2
     within 1 % (H100, f32 64 x 1048576), of more 4 or 8 (H200, 65536 x 1024, 4194304 x 16); and only where rounds of
     blocks get no longer than such a share: f64 300 x 140000 112 -> 82 us; by 5/4 or 20/19 within 1 % (H200). */
  static constexpr int sum_units_of_leaf = 2, sum_units = 8;
  static constexpr gr_share sum_rounds = {10, 9};
  /* The same: turns of a warp, as a logarithm, beyond the levels of its stack in registers, from which on warps share a
     leaf: by 2 f32 65536 x 1024 91.6 -> 93.9 us, 1000000 x 64 within 1 % (H100). */
  static constexpr int sum_turns = 3;
};

/* ---- what the compiler is told: registers, or warps that must find room on a multiprocessor, so that nothing spills
   (-Xptxas -v says so) ---- */

/* What of a reducer decides. */
struct gr_reducer_traits {
  gr_reducer red;
  int size, inputs, fields; /* of an element, in bytes; of the state */
  bool lanes, leaves, variance, extreme, position, light;
};
template <class R>
constexpr gr_reducer_traits gr_traits_of = {R::red,
                                            gr_size<R::dtype>,
                                            R::inputs,
                                            R::fields,
                                            R::lanes,
                                            R::leaves,
                                            R::variance,
                                            R::kind == GR_ACC_ORDER || R::kind == GR_ACC_POSITION,
                                            R::kind == GR_ACC_POSITION,
                                            R::light};

/*
** Registers of gr_reduce_leaves. 64 let four blocks of 256 threads reside, 128 KB in flight: one wave of blocks covers
** 2^24 elements (sum 23.5 us with 80 registers, 18.5 with 64; max of 2^22 9.4 -> 7.9). Two inputs have as much in
** flight with two blocks (dot of 2^22 13.0 -> 11.9); 16-bit floats have twice the lanes. Elsewhere than on Hopper
** extremes would spill at 64.
*/
constexpr int gr_leaves_registers_for(const gr_reducer_traits &r, int arch) {
  if (r.inputs > 1 || (r.fields > 1 && !r.extreme) || (r.red == GR_RED_PROD && r.size <= 2)) return 128;
  if (r.red == GR_RED_SUMSQ && r.lanes && r.size == 2) return 88;
  if (r.position) return arch == 900 ? 64 : arch >= 1000 || r.size <= 2 ? 80 : 96;
  if (((r.lanes || r.extreme) && r.size == 2) || (r.extreme && arch >= 1000)) return 80;
  return 64;
}

/*
** gr_reduce_rows_staged: words of a warp's rows, of which what takes longer has more on its way: with 288 instead of
** 544 sums and extremes are 3 to 10 % faster, variances 5 to 10 % slower.
*/
constexpr bool gr_staged_is_slow(const gr_reducer_traits &r) { return r.lanes && (r.variance || r.inputs > 1); }
constexpr int gr_staged_words_for(const gr_reducer_traits &r, int most) { return gr_staged_is_slow(r) ? most : 288; }
/*
** The same: blocks. Of f32 2^18 x 256 by a vector 5, of 544 words, 65.6 us; with 288 words 5, 6, 7 blocks 69.7, 71.8,
** 79.4. Variances of f16 rows of 1024 by 6 and 7 blocks 192.7 and 195 us, by 5 181. H100: sums and extremes of f32 by 6
** or 8, variances of f32 and f64 by 5 or 6 within 1 %; sums of f16 rows of 64 and 512 by 4 49.4 -> 49.9, 91.3 -> 92.3.
*/
constexpr int gr_staged_blocks_for(const gr_reducer_traits &r, int arch) {
  if (!gr_staged_is_slow(r)) return r.lanes && r.size == 2 ? 6 : 8;
  if (r.size == 2) return 5;
  return r.inputs == 1 ? 6 : arch >= 1000 ? 4 : 5;
}
/* The same, variances: a thread keeps the elements of up to 2^k words in registers, 512 bytes a row: f32 rows of 16
   2924 -> 4023, f16 2072 -> 3756. H100: by k = 1 rows of 16 f32 102 -> 107 us, of 64 f16 99.6 -> 148. */
constexpr int gr_staged_kept_log2 = 2;
/* The same: words of a lane at a time, where they are copied and rows of half a word folded, where a thread folds its
   own, and where f16 is summed: var f16 rows of 512, 1024, 4096 187.7, 162.0, 161.0 -> 185.8, 160.0, 158.9 us. H100: by
   2 copied and folded sum f32 rows of 2 8.07 -> 7.92, of 64 within 1 %; by one of its own rows of 64 and 256 within 1
   %. */
constexpr int gr_staged_unrolled = 4, gr_staged_folded = 2, gr_staged_summed = 4;

/*
** Blocks of gr_reduce_rows_by_element (H200, us of 300000 rows): by a vector f32 of 101 by 6 instead of 7 44.1 -> 45.7,
** f64 of 51 by 5 instead of 6 39.2 -> 41.4 (two matrices 68 -> 65), by 7 40.7 (74); var f32 of 13 by 8 instead of 7 7.2
** -> 7.4, of 101 49.4 -> 47.5; sum u8 of 15 by 7 instead of 8 9.28 -> 9.57, by 9 9.53; sum f32 of 301 by 8 instead of
** 9 92.5 -> 95.6, by 7 99.0. By 9 sums of 101 bf16 spill: 43 -> 49 (120 MB).
*/
constexpr int gr_by_element_blocks_for(const gr_reducer_traits &r) {
  if (r.red == GR_RED_SUM && r.fields > 1) return 7; /* what is present; by 9 it spills: rows of 64 f32 88 -> 84 us */
  if (r.inputs > 1) return r.fields > 1 ? 4 : r.size == 8 ? 6 : 7;
  return r.variance ? 7 : r.lanes && r.size > 2 ? 9 : 8;
}
/*
** The same: elements of a row of one thread at most; of more, threads share one. Without lanes a thread makes none for
** an element that is not there: by 32 instead of 64 max f32 of 50 17.7 -> 19.6, by 16 instead of 32 max i64 of 25 18.2
** -> 19.6, by 64 instead of 112 argmax f16 of 75 24.5 -> 29.7, by 128 of 127 73 -> 105 (120 MB).
*/
constexpr int gr_by_element_alone_for(const gr_reducer_traits &r) {
  if (r.lanes) return gr_by_element_held;
  return r.size == 2 ? 112 : r.size == 8 ? 32 : 64;
}
/* The same: elements, or four bytes of them, at a time: by 2 or 8 max f32 of 101 and sum u8 of 15 within 2 %. */
constexpr int gr_by_element_unrolled = 4;

/* Elements of a lane that gr_reduce_cols_by_lane has in a flight, of which two are on their way. Both passes of
   variances (whose sums of 16-bit floats are in f64) would spill by two. */
constexpr int gr_by_lane_deep_for(const gr_reducer_traits &r) {
  const bool of_variance = r.red == GR_RED_VARIANCE || (r.red == GR_RED_SUM && !r.light);
  return r.size == 2 && r.fields == 1 && !of_variance ? 2 : 1;
}

/* Blocks of gr_reduce_cols_by_lane that find room: two of 64 registers where they do without spilling. */
constexpr int gr_by_lane_blocks_for(const gr_reducer_traits &r) {
  return r.inputs == 1 && r.fields == 1 && !r.variance && r.red != GR_RED_PROD ? 2 : 1;
}

/* Blocks of gr_reduce_cols_few_rows: by 3 instead of 4 var f32 of 5 rows 17.4 -> 19.0 us, sum f32 of 4 within 1 %; by 2
   instead of 3 var f16 of 5 rows 14.7 -> 19.1 (H100). */
constexpr int gr_few_blocks_for(const gr_reducer_traits &r, int arch) {
  return (r.inputs == 2 && r.size == 8) || (r.variance && r.size <= 2) || (r.position && r.size == 1) ? 3 : 4;
}

/* Warps of gr_reduce_cols_sum: 20 of 96 registers give f16 3 % more (3865..4336), f32 1 % less and spills. */
constexpr int gr_cols_sum_resident_for(const gr_reducer_traits &r, int arch) {
  return r.inputs == 1 && r.light && arch >= 900 ? 20 : 16;
}
/* The same: levels of the stack in registers, the others lie in shared memory: with all of them f32 spills. By 1 sum
   f32 65536 x 1024 61.6 -> 62.5 us, by 3 within 1 % (H200). */
constexpr int gr_cols_sum_levels_for(int size) { return size == 2 ? 0 : 2; }

/*
** Warps of gr_reduce_cols_unordered: 128 registers where lanes hold much or there are two inputs, else 96. bytes: what
** a lane holds of its word. Byte dots would spill with 20 (before Hopper with 16). By 20 instead of 16 var i16 of 4, 64
** columns 2718, 3943 where 16 warps have 2584, 3671, but of u8 1703 for 2029, and 108 bytes spill; 24: slower. H200,
** us, by 20: var i16 65536 x 1024 38.3 -> 34.4, u8 4194304 x 16 26.0 -> 26.4, dot i16 65536 x 512 33.6 -> 33.8.
*/
constexpr int gr_strip_resident_for(const gr_reducer_traits &r, int bytes, int arch) {
  if (arch < 900 && r.red == GR_RED_DOT && r.size == 1) return 12;
  if (arch >= 900 && r.variance && r.size == 2) return 20;
  return r.leaves || r.inputs == 2 || bytes > 95 ? 16 : 20;
}
/* The same: bytes that a lane holds of a word's columns at most, where leaves have an end and where not, and fields of
   states of a block for each of its lanes. H200, 65536 x 1024: by 32 where leaves have an end var i16 38.3 -> 44.6 us,
   u8 19.4 -> 21.4, by 128 35.1 and 27.9; by 64 or 256 where not sum u8 within 1 %, max u8 20.6 -> 19.6, within 1 %; by
   64 or 256 fields sum and var of u8 within 1 %. */
constexpr int gr_strip_held_of_leaves = 64, gr_strip_held = 128, gr_strip_states = 128;

#endif
