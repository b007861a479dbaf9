/*
** Tuning numbers of the reductions. They choose grids, blocks and registers, never results. The figures beside them are
** of one H200 (docs/findings); elsewhere the same numbers are safe: they only count warps and multiprocessors.
*/
#ifndef GR_CUDA_REDUCE_TUNING_H
#define GR_CUDA_REDUCE_TUNING_H

#include "kernels/cuda/launch.h"
#include "kernels/cuda/thread/reducer.cuh"

/* ---- what a plan and its kernel both go by, so that it stands here once ---- */

/* gr_reduce_rows_by_element: what a warp stages of its rows, in bytes, and warps of a block at most. Other bytes and
   warps: not measured apart. */
constexpr int gr_by_element_bytes = 4096, gr_by_element_warps = 4;
/* gr_reduce_rows_by_vector: warps of a block, and blocks that find room on a multiprocessor. Not measured apart. */
constexpr int gr_by_vector_warps = 4, gr_by_vector_blocks = 6;
/* gr_reduce_cols_few_rows: bytes of all rows that a thread has in registers at most (4 rows of 2^24 f32 2238 ->
   4036..4120 GB/s; other limits are not measured), and warps of a block, not measured apart. */
constexpr int gr_few_bytes = 128, gr_few_warps = 8;
/* Bytes of a thread's word: of few rows, and of more. */
template <int size>
constexpr int gr_few_wide = size == 1 ? 8 : 16;
template <int size>
constexpr int gr_few_narrow = size == 8 ? 8 : 4;
/* gr_reduce_cols_flat: warps of a block at most, and so columns; leaves of a node at most. Not measured apart. */
constexpr int gr_flat_warps = 16, gr_flat_leaves = 32;
/* gr_reduce_cols_ordered: rows that are copied together, and levels of the stack in registers, so that a warp takes
   2^levels lanes of the tree at most. Not measured apart. */
constexpr int gr_ordered_flight = 8, gr_ordered_levels = 5;
/* gr_reduce_cols_sum: warps of a block, which is a power of two. Not measured apart. */
constexpr int gr_cols_sum_warps = 4;
/* gr_reduce_cols_unordered: warps of a block (with 8 instead var i16 of 16 columns 3351 -> 2845 GB/s), and bytes that a
   lane has on their way, of all inputs; not measured apart. */
constexpr int gr_strip_warps = 4, gr_strip_batch_bytes = 128;
/* gr_reduce_rows_staged: warps of a block, and words of 16 bytes that a warp stages at most. Not measured apart. */
constexpr int gr_staged_warps = 4, gr_most_stage = 544;
/* gr_reduce_cols_variance_ring: warps that read; slots of a ring; bytes of a slot, of a warp; rows of states. Not
   measured apart. */
constexpr int gr_variance_warps = 16, gr_variance_slots = 6, gr_variance_slot_bytes = 2048, gr_variance_states = 16;
/* Of columns: nodes that the last block can fold; with more, gr_reduce_leaves does them. Not measured apart. */
constexpr int64_t gr_most_column_nodes = 1 << 18;

/* ---- what a plan goes by alone: a struct a kernel ---- */

typedef struct gr_reduce_tuning {
  struct {
    int one_block_leaves; /* up to so many leaves one block does all: 2^14 f32 2.57 us, else 2.67 */
    int mailbox_warps;    /* warps of a block whose leaves the host folds */
    int block_warps;      /* warps of a block when a vector takes several blocks... */
    int blocks; /* ...of which so many a multiprocessor are wanted before leaves are taken in turn: one wave */
    int most_passes;      /* leaves a warp takes in turn at most; 8 and 4 were slower beyond 2^26 */
    int vector_warps;     /* warps of a block that does whole vectors, or more if one takes more; no other was tried */
    int row_warps;        /* warps in flight a multiprocessor before a row gets one warp only */
    int variance_warps;   /* the same of variances, which fetch the next leaf early, so that fewer do */
  } leaves;
  struct {
    int blocks;    /* a multiprocessor, one wave; the kernel's registers let as many reside */
    int most_rows; /* that a warp takes, one after the other, of a leaf of the vector */
    int least_bytes; /* of a row that begins anywhere in a word */
  } rows_by_vector;
  struct {
    int warps; /* a multiprocessor before a warp takes more rows than one pass */
  } rows_staged;
  struct {
    int warps;       /* a multiprocessor before a warp takes several rows */
    int block_warps; /* of a block; one of up to few_rows rows */
    int few_rows;
  } rows_by_element;
  struct {
    int blocks;     /* a multiprocessor before warps stop sharing a leaf, and blocks widen */
    int unit_bytes; /* of a warp's units in turn, so that its start pays */
  } cols_ordered;
  struct {
    int warps; /* a multiprocessor before strips get longer, one wave: u8 sums 72 us, with 20 73..77, with 48 82 */
    int good_share;  /* percent of lanes in use from which no longer word rows are tried */
    int least_share; /* below it word rows need not be aligned: then one lane in 32 only passes on what it reads */
  } cols_unordered;
  struct {
    int warps;       /* a multiprocessor: with 4 KB in flight each f64 3959 -> 4401, 3885 -> 4180 */
    int least_warps; /* a multiprocessor before strips narrow and warps share a leaf: 1000 x 1000 f16 6.6 -> 3.8 us */
    int narrowest;   /* log2 of the words of a strip, which gets so narrow before blocks share a leaf: 128 bytes */
    int state_bytes; /* of leaves in turn: 16 KB */
    int least_share; /* percent of lanes in use where rows begin anywhere in a word; else cols_ordered packs rows */
  } cols_sum;
  struct {
    int64_t least_bytes; /* a multiprocessor; below, cols_ordered has started sooner */
    int idle;            /* percent of multiprocessors that larger nodes may leave idle more than the best ones would */
  } cols_variance_ring;
} gr_reduce_tuning;

/* Only Hopper's is measured. A chip gets numbers of its own for a figure that is more than noise. */
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
      .rows_by_vector = {.blocks = gr_by_vector_blocks, .most_rows = 32, .least_bytes = 640},
      .rows_staged = {.warps = 16},
      .rows_by_element = {.warps = 16, .block_warps = gr_by_element_warps, .few_rows = 3},
      .cols_ordered = {.blocks = 4, .unit_bytes = 64 << 10},
      .cols_unordered = {.warps = 16, .good_share = 85, .least_share = 60},
      .cols_sum = {.warps = 16, .least_warps = 12, .narrowest = 3, .state_bytes = 16 << 10, .least_share = 60},
      .cols_variance_ring = {.least_bytes = 128 << 10, .idle = 3},
  };
  static constexpr gr_reduce_tuning turing = [] {
    gr_reduce_tuning t = hopper;
    t.leaves.row_warps = 64; /* half the threads fit */
    return t;
  }();
  return chip.major < 8 ? turing : hopper;
}

constexpr int gr_leaves_warps = 16; /* of a block of gr_reduce_leaves at most: its shared memory has room for them */

/* ---- what the compiler is told: registers, or warps that must find room on a multiprocessor, so that nothing spills
   (-Xptxas -v says so) ---- */

/* What of a reducer decides. */
struct gr_reducer_traits {
  gr_reducer red;
  int size, inputs, fields; /* of an element, in bytes; of the state */
  bool lanes, leaves, variance, extreme, position;
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
                                            R::kind == GR_ACC_POSITION};

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

/* gr_reduce_rows_staged: words of a warp's rows, of which what takes longer has more on its way; and blocks. */
constexpr bool gr_staged_is_slow(const gr_reducer_traits &r) { return r.lanes && (r.variance || r.inputs > 1); }
constexpr int gr_staged_words_for(const gr_reducer_traits &r, int most) { return gr_staged_is_slow(r) ? most : 288; }
constexpr int gr_staged_blocks_for(const gr_reducer_traits &r, int arch) {
  if (!gr_staged_is_slow(r)) return r.lanes && r.size == 2 ? 6 : 8;
  if (r.size == 2) return 5;
  return r.inputs == 1 ? 6 : arch >= 1000 ? 4 : 5;
}

/* Blocks of gr_reduce_rows_by_element. */
constexpr int gr_by_element_blocks_for(const gr_reducer_traits &r, bool is_f16) {
  return r.inputs > 1 ? 4 : r.variance ? 6 : !r.lanes ? 7 : r.red == GR_RED_SUM && is_f16 ? 8 : 9;
}

/* Blocks of gr_reduce_cols_few_rows. */
constexpr int gr_few_blocks_for(const gr_reducer_traits &r, int arch) {
  return (r.inputs == 2 && r.size == 8) || (r.variance && r.size <= 2) ? 3 : 4;
}

/* Blocks of gr_reduce_cols_flat, the largest ones. */
constexpr int gr_flat_blocks_for(gr_reducer red, int size) { return red == GR_RED_VARIANCE || size == 2 ? 1 : 2; }

/* Warps of gr_reduce_cols_sum: 20 of 96 registers give f16 3 % more (3865..4336), f32 1 % less and spills. */
constexpr int gr_cols_sum_resident_for(const gr_reducer_traits &r, int arch) {
  return r.inputs == 1 && r.size == 2 && arch >= 900 ? 20 : 16;
}

/* Warps of gr_reduce_cols_ordered: registers are 96, 128, 168 or, for the most state, 255. bytes: of a lane's word. */
constexpr int gr_ordered_resident_for(const gr_reducer_traits &r, int bytes) {
  if (r.lanes && r.fields == 3) return 8;
  if (r.fields == 3 || (r.lanes && r.fields == 2) || (r.lanes && r.red == GR_RED_SUMSQ && r.size >= 4)) return 12;
  return r.fields * r.inputs > 1 || (r.lanes && bytes == 16) ? 16 : 20;
}

/*
** Warps of gr_reduce_cols_unordered: 128 registers where lanes hold much or there are two inputs, else 96. bytes: what
** a lane holds of its word. Byte dots would spill with 20 (before Hopper with 16).
*/
constexpr int gr_strip_resident_for(const gr_reducer_traits &r, int bytes, int arch) {
  if (arch < 900 && r.red == GR_RED_DOT && r.size == 1) return 12;
  return r.leaves || r.inputs == 2 || bytes > 95 ? 16 : 20;
}

#endif
