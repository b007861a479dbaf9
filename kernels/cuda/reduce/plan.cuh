/*
** How a reduction is spread over the chip: the grid of leaves, segments and rows; columns are in reduce/plan_cols.cuh.
** accepts_* says whether a kernel takes a job, if the reducer has it; plan_* fills the arguments of the kernel, the
** launch and what a block takes. The rows of reduce/dispatch.cu choose among them.
*/
#ifndef GR_CUDA_REDUCE_PLAN_CUH
#define GR_CUDA_REDUCE_PLAN_CUH

#include "kernels/cuda/reduce/entry.cuh"
#include "kernels/cuda/grid/mailbox.h"
#include "kernels/cuda/reduce/rows_by_element_stage.cuh"
#include "kernels/cuda/reduce/tuning.h"

namespace {

constexpr int64_t gr_counters = (GR_COUNTER_BYTES - GR_PARTIAL_BYTES) / sizeof(unsigned);
constexpr int64_t gr_most_blocks = INT32_MAX;
using Shares = gr_reduce_shares;
/* GR_MOST_LEAVES in one vector: 128 GiB of f32. */
constexpr int64_t gr_most_nodes = GR_MOST_LEAVES >> 8;

struct Row;
struct Plan {
  const Row *row; /* that was chosen */
  gr_reducer reducer;
  int inputs;
  gr_reduce_entry entry;
  gr_reduce_args args;
  gr_reduce_launch launch;
  int64_t vectors;   /* per launch */
  int64_t per_block; /* vectors of one block, or group of blocks */
  int64_t node_words; /* 8-byte words of scratch */
  bool to_host;       /* the host waits for the result... */
  int64_t states;     /* ...and gets so many of each vector */
  bool many;          /* vectors of one array, which are not empty */
  bool made;          /* columns whose elements a formula makes */
  int64_t all_leaves; /* of all vectors: arrays may be shorter than the longest, whose leaves are in args */
};

gr_reduce_entry entry_of(gr_reducer red, gr_dtype t) {
#define GR_X(id, inputs, f, i) case GR_RED_##id: return gr_entry_##id(t);
  switch (red) { GR_REDUCERS(GR_X) }
#undef GR_X
  return {};
}

int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }
int64_t clamp(int64_t x, int64_t low, int64_t high) { return x < low ? low : x > high ? high : x; }
int64_t power_of_two(int64_t n) {
  int64_t p = 1;
  while (p < n) p *= 2;
  return p;
}
int64_t power_below(int64_t n) {
  int64_t p = 1;
  while (p * 2 <= n) p *= 2;
  return p;
}
constexpr int log2_of(int64_t p) {
  int k = 0;
  while (p > 1) p /= 2, k++;
  return k;
}

/* The sign's bit of integers that have one and are shorter than 8 bytes, for kernels that take them as unsigned; of
   others 0. */
int64_t sign_bit(gr_dtype t) {
  return t == GR_I8 || t == GR_I16 || t == GR_I32 ? INT64_C(1) << (8 * gr_size_of(t) - 1) : 0;
}

bool is_position(gr_reducer red) { return red == GR_RED_ARGMAX || red == GR_RED_ARGMIN; }

/* Blocks that can be there at once; where launches overlap, a part of them, so that two launches find room. */
int64_t slots_of(const Plan &p, const gr_reduce_tuning &t, int sms) {
  int blocks = t.leaves.blocks < p.entry.resident ? t.leaves.blocks : p.entry.resident;
  return (int64_t)sms * (p.args.inputs_stable ? (blocks + Shares::overlapping - 1) / Shares::overlapping : blocks);
}

bool aligned(const gr_vec &v, int64_t step) { return ((uintptr_t)v.data | (uintptr_t)step) % 16 == 0; }

/* Counters to combine the nodes of a vector as Team does at once, or more if there are not enough counters. */
template <class Team = gr_team_of_block>
void plan_nodes(gr_reduce_args &q) {
  for (q.radix_log2 = Team::batch_log2;; q.radix_log2 += Team::batch_log2) {
    q.counters = 0;
    for (int64_t k = q.nodes; k > 1;) k = ((k - 1) >> q.radix_log2) + 1, q.counters += (int)k;
    if (q.counters <= gr_counters) return;
  }
}

/* States of a vector that the host gets, if `all` is what it may get of all vectors. */
int64_t most_mailed(const Plan &p, int64_t all) { return clamp(all / p.args.job.count, 1, GR_MAILBOX_STATES); }

/* Leaves over warps and blocks: all of one vector in few blocks, or many vectors side by side. */
void plan_leaves(Plan &p, const gr_reduce_tuning &t, const gr_cuda_chip &chip) {
  const int sms = chip.sms;
  const gr_reduce_job &j = p.args.job;
  int64_t leaves = p.args.leaves, block = t.leaves.block_warps, warps, passes;
  if (p.to_host && leaves <= most_mailed(p, GR_MAILBOX_STATES)) {
    p.args.combine = GR_COMBINE_LEAVES_ON_HOST;
    block = warps = clamp(power_of_two(leaves), 1, t.leaves.mailbox_warps);
    passes = 1;
  } else if (j.count == 1) {
    int64_t slots = slots_of(p, t, sms), alone = t.leaves.one_block_leaves;
    warps = leaves <= alone ? power_of_two(leaves) : block;
    passes = leaves <= alone ? 1 : clamp(power_of_two(ceil_div(leaves, block * slots)), 1, t.leaves.most_passes);
    int64_t blocks = ceil_div(leaves, warps * passes);
    if (!p.args.inputs_stable && passes > 1 && blocks * Shares::bit.in > slots * Shares::bit.of &&
        blocks < slots * Shares::bit_waves)
      passes /= 2; /* little more than one wave of blocks: several waves of smaller ones end sooner */
    block = warps;
  } else {
    bool variance = p.reducer == GR_RED_VARIANCE || p.reducer == GR_RED_PRESENT;
    int64_t in_all = sms * (int64_t)(variance ? t.leaves.variance_warps : t.leaves.row_warps);
    int64_t wanted = ceil_div(in_all * leaves, p.all_leaves); /* warps for a vector, enough that one block does it */
    int64_t most = power_of_two(leaves) < block ? power_of_two(leaves) : block;
    warps = clamp(power_of_two(wanted), clamp(power_of_two(ceil_div(leaves, t.leaves.most_passes)), 1, most), most);
    passes = power_of_two(ceil_div(leaves, warps));
    if (wanted > warps) { /* several blocks to a vector: one wave of them, if their parts are of nearly the same size */
      int64_t all = ceil_div(p.all_leaves, warps * slots_of(p, t, sms));
      passes = clamp(power_of_two(all), 1, power_of_two(ceil_div(leaves, warps)));
      auto alike = [&] {
        return ceil_div(leaves, warps * passes) * warps * passes * Shares::alike.in <= leaves * Shares::alike.of;
      };
      while (passes > 1 && !alike()) passes /= 2;
      if (!alike() && leaves <= gr_leaves_warps) warps = power_of_two(leaves); /* they never are: one block a vector */
    }
  }
  passes = clamp(passes, 1, t.leaves.most_passes);
  while (ceil_div(leaves, warps * passes) > 65536 && warps * passes < 256) passes *= 2;
  p.args.nodes = (int)ceil_div(leaves, warps * passes);
  if (p.args.nodes > 1) block = warps; /* blocks with a counter hold one node each */
  else if (j.count > 1) block = clamp(t.leaves.vector_warps, warps, gr_leaves_warps);
  p.args.warps_log2 = (short)log2_of(warps);
  p.args.passes = (short)passes;
  p.launch.threads = (unsigned)(block * 32);
  p.per_block = p.args.nodes > 1 ? 1 : block / warps;
}

/*
** Segments: warps to each as for rows, leaves in turn until the longest is done. Chosen ones are longer than a node
** of a block and take several; in shorter ones among them the later nodes are empty.
*/
void plan_segments(Plan &p, const gr_reduce_tuning &t, const gr_cuda_chip &chip) {
  gr_reduce_job &j = p.args.job;
  const int sms = chip.sms;
  int64_t leaves = p.args.leaves, wanted = ceil_div((int64_t)sms * t.leaves.row_warps, j.count);
  int64_t warps = clamp(power_of_two(wanted), 1, t.leaves.block_warps), passes;
  if (j.chosen) {
    warps = t.leaves.block_warps;
    passes = power_of_two(ceil_div(leaves * j.count, warps * sms * t.leaves.blocks));
  } else {
    while (warps > 1 && warps > power_of_two(leaves)) warps /= 2;
    passes = power_of_two(ceil_div(leaves, warps));
  }
  passes = clamp(passes, 1, 32);
  if (!j.chosen)
    while (warps * passes < leaves) warps *= 2;
  p.args.nodes = j.chosen ? (int)ceil_div(leaves, warps * passes) : 1;
  p.args.warps_log2 = (short)log2_of(warps);
  p.args.passes = (short)passes;
  p.launch.threads = (unsigned)((p.args.nodes > 1 ? warps : clamp(t.leaves.vector_warps, warps, gr_leaves_warps)) * 32);
  p.per_block = p.args.nodes > 1 ? 1 : p.launch.threads / 32 / warps;
  j.a.step = j.a.stride; /* a segment starts so many elements in */
  j.b.step = j.b.stride;
}

bool accepts_segments(const Plan &p, const gr_cuda_chip &) { return p.args.job.offsets != NULL; }
bool accepts_all(const Plan &, const gr_cuda_chip &) { return true; }

/* ---- rows ---- */

/* Rows by one vector, all in whole words. */
bool by_aligned_vector(const gr_reduce_job &j) {
  int size = gr_size_of(j.dtype);
  return j.b.step == 0 && j.a.stride == size && j.b.stride == size && aligned(j.a, j.a.step) &&
         aligned(j.b, j.n * size);
}

/* Bytes from one row to the next that gr_reduce_rows_by_element takes: rows in order, not too far apart. */
bool fits_stage(const gr_reduce_job &j, const gr_vec &v) {
  int64_t bytes = j.n * gr_size_of(j.dtype);
  return v.stride == gr_size_of(j.dtype) && bytes <= gr_by_element_bytes && v.step >= 0 && v.step <= 2 * bytes;
}
bool accepts_rows_by_element(const Plan &p, const gr_cuda_chip &) {
  return p.many && fits_stage(p.args.job, p.args.job.a) && fits_stage(p.args.job, p.args.job.b);
}

/* Rows lie at most twice their bytes apart (fits_stage), so a stage has room for tiny_rows rows of up to 16 elements,
   which are one thread's; a row that is shared has more than half of the lanes of its threads then. */
static_assert((gr_by_element_bytes - gr_by_element_held * 8) / (2 * gr_by_element_held * 8) + 1 >= Shares::tiny_rows,
              "rows of so few elements are one thread's");
/*
** The logarithm of the threads that share a row; rows: of a warp. The fewest whose 16 lanes each hold no more than one
** element, or four where lanes have no order. If a warp's rows leave threads idle, or a row is longer than the tree has
** lanes, more: then each has its share of all lanes (several).
*/
int by_element_threads_log2(const Plan &p, int64_t rows) {
  const gr_reduce_job &j = p.args.job;
  auto single = [&](int log) { return p.entry.by_lanes && gr_by_element_is_single(gr_size_of(j.dtype), log); };
  int log = p.entry.by_lanes ? 1 : 2;
  while (single(log) && j.n > gr_by_element_held << log) log++;
  if (rows << log < 32)
    while (log < 5 && (single(log) || rows << log < 32)) log++;
  return log;
}

void plan_rows_by_element(Plan &p, const gr_reduce_tuning &t, const gr_cuda_chip &chip) {
  gr_reduce_job &j = p.args.job;
  gr_rows_by_element_args &how = p.args.rows_by_element;
  const int size = gr_size_of(j.dtype);
  int64_t bytes = j.n * size, rows, warps = t.rows_by_element.block_warps;
  int64_t step = j.a.step > j.b.step ? j.a.step : j.b.step;
  rows = step == 0 ? 32 : (gr_by_element_bytes - bytes) / step + 1;
  const bool tiny = j.n <= p.entry.alone && rows >= Shares::tiny_rows; /* a row of one thread */
  /* few rows: rather more warps */
  rows =
      clamp(rows, 1, clamp(ceil_div(j.count, (int64_t)chip.sms * t.rows_by_element.warps), tiny ? 32 : 1, INT32_MAX));
  if (tiny && rows > 32) rows = rows / 32 * 32;
  if (j.count <= t.rows_by_element.few_rows) warps = 1;
  how.row_threads_log2 = tiny ? 0 : by_element_threads_log2(p, rows);
  how.rows = (int)rows;
  how.gaps = step / size % 2 == 0 && how.row_threads_log2 < (p.entry.by_lanes ? 1 : 5);
  how.second_bytes = p.inputs == 2 ? gr_stage_bytes_for(size, j.b.step == 0 ? (int)bytes : gr_by_element_bytes) : 0;
  p.launch.threads = (unsigned)(warps * 32);
  p.launch.shared = (unsigned)(warps * (gr_stage_bytes_for(size, gr_by_element_bytes) + how.second_bytes));
  p.per_block = warps * rows;
}

/* Rows that have so few lanes that threads of a warp can share them. */
bool accepts_rows_of_integers(const Plan &p, const gr_cuda_chip &) {
  const gr_reduce_job &j = p.args.job;
  const int64_t size = gr_size_of(j.dtype);
  return p.many && j.a.stride == size && (p.inputs == 1 || j.b.stride == size) && j.n <= Shares::integer_row;
}

static_assert(Shares::integer_row <= 32 * gr_integer_lanes, "a row's threads are of one warp");
void plan_rows_of_integers(Plan &p, const gr_reduce_tuning &, const gr_cuda_chip &) {
  const gr_reduce_job &j = p.args.job;
  gr_rows_of_integers_args &how = p.args.rows_of_integers;
  const int size = gr_size_of(j.dtype);
  how.lanes = (int)clamp(power_of_two(j.n), 1, GR_LANES(size));
  how.row_threads_log2 = log2_of(ceil_div(how.lanes, gr_integer_lanes));
  how.size = size;
  how.sign = sign_bit(j.dtype);
  p.launch.threads = gr_integer_threads;
  p.per_block = gr_integer_threads >> how.row_threads_log2;
}

/*
** Rows of up to a leaf that gr_reduce_rows_staged takes: in whole words; narrow elements that come in any order without
** that too, but for tiny rows, which gr_reduce_rows_by_element does better; and sums of rows of half a word.
*/
bool accepts_rows_staged(const Plan &p, const gr_cuda_chip &) {
  const gr_reduce_job &j = p.args.job;
  int64_t size = gr_size_of(j.dtype), bytes = j.n * size;
  if (!p.many || j.a.stride != size || !(p.inputs == 1 || by_aligned_vector(j))) return false;
  if (aligned(j.a, j.a.step) && bytes % 16 == 0) return bytes <= GR_LEAF(size) * size;
  if (p.entry.stages_unaligned) return size <= 2 && j.n > Shares::staged_odd(size) && bytes <= GR_LEAF(size) * size;
  return j.op == GR_OP_sum && bytes == 8 && size < 8 && j.a.step == 8 && aligned(j.a, 0);
}

/*
** Few threads to a row. Of rows that follow each other, words of aligned ones trade places by the row's number
** (swizzle_*); other rows lie so far apart that threads meet different banks.
*/
void plan_rows_staged(Plan &p, const gr_reduce_tuning &t, const gr_cuda_chip &chip) {
  gr_reduce_job &j = p.args.job;
  gr_reduce_args &q = p.args;
  gr_rows_staged_args &how = q.rows_staged;
  int64_t bytes = j.n * gr_size_of(j.dtype);
  how.two_a_word = bytes == 8;
  how.unaligned = !how.two_a_word && (bytes % 16 != 0 || !aligned(j.a, j.a.step));
  how.row_words = (int)(how.unaligned ? (bytes + 30) / 16 : ceil_div(bytes, 16));
  int64_t lanes = clamp(power_of_two(how.row_words), 1, 32), each = clamp(lanes, 1, Shares::staged_words),
          threads = lanes / each;
  if (p.inputs == 2 && (how.row_words == 64 || how.row_words == 128))
    threads = how.row_words / 4, each = 32 / threads;
  bool power = !how.unaligned && how.row_words <= 16 && (how.row_words & (how.row_words - 1)) == 0;
  bool apart = how.row_words % (2 * threads) == threads;
  how.contiguous = j.a.step == bytes && (how.unaligned || power || apart || threads >= 8);
  if (how.contiguous && power && how.row_words > 1) {
    how.swizzle_from = how.row_words == 16 ? 4 : 3;
    how.swizzle_mask = how.row_words == 2 || how.row_words == 16 ? 1 : 3;
    how.swizzle_to = how.row_words == 16 ? 2 : how.row_words == 8;
  }
  how.pitch = (int)(how.contiguous || threads >= 8 ? how.row_words : (ceil_div(how.row_words, threads) | 1) * threads);
  how.stage_words = how.pitch <= p.entry.stage_words ? p.entry.stage_words : gr_most_stage;
  while (32 / threads * how.pitch > how.stage_words) threads *= 2, each /= 2;
  int64_t pass = 32 / threads, most = how.stage_words / how.pitch / pass; /* rows at a time; how many times */
  how.row_threads_log2 = log2_of(threads);
  how.words_log2 = log2_of(each);
  how.rows =
      (int)(clamp((j.count >> how.two_a_word) / ((int64_t)chip.sms * t.rows_staged.warps * pass), 1, most) * pass);
  p.launch.threads = gr_staged_warps * 32;
  p.launch.shared = (unsigned)(gr_staged_warps * how.stage_words * 16);
  p.per_block = (int64_t)gr_staged_warps * how.rows << how.two_a_word;
}

/* Of a leaf and more; of less, if rows_staged does not take them. */
bool accepts_rows_by_vector(const Plan &p, const gr_cuda_chip &chip) {
  const gr_reduce_job &j = p.args.job;
  int64_t size = gr_size_of(j.dtype);
  if (!p.many || j.b.step != 0 || j.a.stride != size || j.b.stride != size) return false;
  if (j.a.step < 0 || j.a.step > INT32_MAX / 2) return false;
  return j.n * size >= (by_aligned_vector(j) ? GR_LEAF(size) * size
                                             : gr_reduce_tuning_for(chip).rows_by_vector.least_bytes);
}

void plan_rows_by_vector(Plan &p, const gr_reduce_tuning &t, const gr_cuda_chip &chip) {
  gr_reduce_job &j = p.args.job;
  gr_reduce_args &q = p.args;
  gr_rows_by_vector_args &how = q.rows_by_vector;
  int warps = gr_by_vector_warps;
  how.unaligned = !by_aligned_vector(j);
  how.row_warps_log2 = (short)log2_of(clamp(power_of_two(q.leaves), 1, warps));
  q.nodes = (int)ceil_div(q.leaves, (int64_t)1 << how.row_warps_log2);
  /* One wave of blocks, or several of up to 32 rows. */
  int64_t groups =
      clamp((int64_t)chip.sms * t.rows_by_vector.blocks * (warps >> how.row_warps_log2) / q.nodes, 1, j.count);
  int64_t rows = ceil_div(j.count, groups);
  how.rows = (int)ceil_div(rows, ceil_div(rows, t.rows_by_vector.most_rows));
  plan_nodes(q);
  p.launch.threads = (unsigned)(warps * 32);
  p.per_block = (int64_t)(warps >> how.row_warps_log2) * how.rows;
}

}  // namespace

#endif
