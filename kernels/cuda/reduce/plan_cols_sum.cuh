/*
** How columns that are added up, or by one vector, are spread over the chip: gr_reduce_cols_flat, gr_reduce_cols_sum.
*/
#ifndef GR_CUDA_REDUCE_PLAN_COLS_SUM_CUH
#define GR_CUDA_REDUCE_PLAN_COLS_SUM_CUH

#include "kernels/cuda/reduce/plan_cols.cuh"

namespace {

/* Rows of half a word go two to a word; by a vector, with both their factors in one load. */
bool in_pairs(const gr_reduce_job &j) {
  int64_t size = gr_size_of(j.dtype), row = j.count * size;
  bool factors = !shared_b(j) || (j.b.stride == size && (uintptr_t)j.b.data % 4 == 0);
  return size == 2 && row == 8 && j.a.stride == row && j.n % 2 == 0 && factors;
}

/* How gr_reduce_cols_flat has columns in a block: leaves side by side, parts of a leaf in turn, threads. */
struct FlatShape {
  int sides_log2, turns_log2, threads, lanes_at, means_at, states_at;
  FlatShape(const gr_reduce_job &j) {
    const int columns = (int)j.count, size = gr_size_of(j.dtype);
    sides_log2 = columns * 2 > gr_flat_warps ? 0 : log2_of(power_below(gr_flat_warps / 2 / columns));
    turns_log2 = log2_of(power_of_two(ceil_div(columns, gr_flat_warps)));
    threads = 32 * columns >> turns_log2 << sides_log2;
    lanes_at = threads * 16 / size * 8 * (turns_log2 ? turns_log2 : 1);
    means_at = lanes_at + threads * 8;
    states_at = means_at + (columns << sides_log2) * 8;
  }
};

/* Bytes of shared memory that gr_reduce_cols_flat is allowed, less what it has besides; and never asks for more. */
int flat_allowed(const gr_cuda_chip &chip) { return (int)clamp(chip.shared_optin - (4 << 10), 0, 92 << 10); }

/*
** Few columns without gaps, which are no whole words, nor pairs that are: see gr_reduce_cols_flat. A block has a leaf
** at least, so of more columns than a block has warps there must be leaves enough: half of the multiprocessors read as
** fast as all.
*/
bool accepts_cols_flat(const Plan &p, const gr_cuda_chip &chip) {
  const gr_reduce_job &j = p.args.job;
  const int size = gr_size_of(j.dtype);
  const int64_t row = j.count * size, leaves = ceil_div(j.n, GR_LEAF(size));
  const bool varies = p.reducer == GR_RED_VARIANCE, few = j.count <= gr_flat_warps;
  if (!are_columns(p) || (p.inputs == 2 && !(shared_b(j) && j.b.stride == size)) || j.a.stride != row ||
      !aligned(j.a, 0) || j.n < GR_LEAF(size) || (row % 16 == 0 && !(varies && row < Shares::flat_row)))
    return false;
  if (few) return varies || !in_pairs(j);
  return !varies && j.count <= gr_flat_warps << gr_flat_turns_for(size) && leaves * 2 >= chip.sms &&
         FlatShape(j).states_at + Shares::flat_state_bytes <= flat_allowed(chip);
}

void plan_cols_flat(Plan &p, const gr_reduce_tuning &, const gr_cuda_chip &chip) {
  const gr_reduce_job &j = p.args.job;
  gr_reduce_args &q = p.args;
  gr_cols_flat_args &how = q.cols_flat;
  const FlatShape w(j);
  const int64_t blocks = (int64_t)chip.sms * Shares::flat_threads / w.threads, state = j.count * p.entry.fields * 8;
  q.leaves = ceil_div(j.n, GR_LEAF(gr_size_of(j.dtype)));
  /* Leaves of a block: more, as long as there are threads enough on all multiprocessors, and room for the states. */
  int log = w.sides_log2;
  while (log < log2_of(gr_flat_leaves) && q.leaves >> (log + 1) >= blocks &&
         state << (log + 1) <= Shares::flat_state_bytes)
    log++;
  how.sides_log2 = (short)w.sides_log2;
  how.turns_log2 = (short)w.turns_log2;
  how.passes_log2 = log - w.sides_log2;
  how.reverse_shift = w.turns_log2 ? 32 - w.turns_log2 : 0;
  how.lanes_at = w.lanes_at;
  how.means_at = w.means_at;
  how.states_at = w.states_at;
  q.nodes = (int)ceil_div(q.leaves, (int64_t)1 << log);
  plan_nodes(q);
  p.launch.threads = (unsigned)(ceil_div(w.threads, 32) * 32);
  p.launch.shared = (unsigned)(w.states_at + (state << log));
  p.launch.allowed = (unsigned)flat_allowed(chip);
  p.per_block = j.count;
}

/* How gr_reduce_cols_sum looks at columns, whatever the chip is. */
struct SumShape {
  int pair; /* rows go two to a word: 1, else 0 */
  /* Logarithms of: words side by side, lanes of the tree that there are, elements of a lane, turns of 8 words. */
  int wide, lanes, each, turns;
  bool loose; /* rows begin anywhere in a word: a lane more than a strip has words */
  explicit SumShape(const gr_reduce_job &j) {
    int64_t size = gr_size_of(j.dtype), most, n;
    pair = in_pairs(j);
    loose = !aligned(j.a, j.a.stride << pair);
    most = GR_LANES(size) >> pair, n = clamp(j.n >> pair, 1, GR_LEAF(size) >> pair);
    wide = log2_of(clamp(power_of_two(ceil_div(j.count * size, 16) + loose), 1, 32));
    lanes = log2_of(clamp(power_of_two(n), 1, most));
    each = log2_of(power_of_two(ceil_div(n, most)));
    turns = lanes - (each < 3 ? 3 - each : 0) - (5 - wide);
  }
};

/* Percent of what lanes read that is columns, where rows begin anywhere in a word. */
int64_t good_share(const gr_reduce_job &j, const SumShape &w) {
  int64_t row = j.count * gr_size_of(j.dtype), lanes = (int64_t)1 << w.wide;
  return row * 100 / (ceil_div(ceil_div(row, 16), lanes - 1) * lanes * 16);
}

bool accepts_cols_sum(const Plan &p, const gr_cuda_chip &chip) {
  const gr_reduce_job &j = p.args.job;
  if (!are_columns(p)) return false;
  const auto &how = gr_reduce_tuning_for(chip).cols_sum;
  const int64_t size = gr_size_of(j.dtype);
  if (!p.made && j.n > how.least_rows && j.n * j.count * size < how.least_bytes) return false;
  auto fits = [](int64_t stride) { return stride >= INT32_MIN / 2 && stride <= INT32_MAX / 2; };
  SumShape w(j);
  if (w.loose && (w.pair || w.wide == 0 || good_share(j, w) < how.least_share))
    return false;
  if (w.loose && size == 8 && !p.made && j.count * size >= Shares::sum_odd_row &&
      j.n * j.count * size >= how.least_bytes)
    return false;
  return (p.inputs == 1 || shared_b(j)) && fits(j.a.stride) && fits(j.b.stride) &&
         w.turns >= 0;
}

void plan_cols_sum(Plan &p, const gr_reduce_tuning &t, const gr_cuda_chip &chip) {
  gr_reduce_job &j = p.args.job;
  gr_reduce_args &q = p.args;
  gr_cols_sum_args &how = q.cols_sum;
  SumShape w(j);
  int64_t size = gr_size_of(j.dtype), columns = 16 / size, wanted = (int64_t)chip.sms * t.cols_sum.warps;
  int64_t least = (int64_t)chip.sms * t.cols_sum.least_warps;
  int64_t words = ceil_div(j.count * size, 16);
  if (w.pair) j.n /= 2, j.a.stride *= 2, j.b.stride *= 2;
  how.two_a_word = w.pair;
  how.words_log2 = (short)w.wide;
  how.tree_lanes_log2 = w.lanes;
  how.elements_log2 = w.each;
  q.leaves = ceil_div(j.n, GR_LEAF(size) >> w.pair);
  /* warps: of a block, side by side or sharing a leaf */
  constexpr int warps = log2_of(gr_cols_sum_warps);
  int turns = w.turns, most = log2_of(power_of_two(q.leaves));
  auto units_of = [&](int log) { return ceil_div(words, ((int64_t)1 << log) - w.loose) * q.leaves; };
  int64_t units = units_of(how.words_log2);
  /* Strips get narrower, to 128 bytes, before blocks share a leaf. */
  while (!w.pair && how.words_log2 > t.cols_sum.narrowest && turns > 0 && units << warps < least)
    how.words_log2--, turns--, units = units_of(how.words_log2);
  how.strip_words = (short)((1 << how.words_log2) - w.loose);
  how.unaligned = w.loose;
  /* So many warps share a leaf that all have some, and none many turns. Lanes of a pair would have to fold after
     warps. */
  int sharing = 0;
  while (!w.pair && sharing < turns &&
         (units << sharing < least || turns - sharing > p.entry.cols_sum_levels + Shares::sum_turns))
    sharing++;
  how.leaf_warps_log2 = sharing < warps ? sharing : warps;
  how.leaf_blocks_log2 = sharing - how.leaf_warps_log2;
  while (!w.pair && how.leaf_blocks_log2 == 0 && how.leaf_warps_log2 < warps && how.leaf_warps_log2 < turns &&
         q.leaves > 1 && warps - how.leaf_warps_log2 > most)
    how.leaf_warps_log2++;
  how.turns_log2 = turns - how.leaf_warps_log2 - how.leaf_blocks_log2;
  how.reverse_shift = how.turns_log2 ? 32 - how.turns_log2 : 0;
  how.units_log2 = warps - how.leaf_warps_log2;
  /* Units in turn: one wave of blocks, and 16 KB of states of leaves. */
  int64_t state = (((columns + 1) << how.words_log2) * 8 * p.entry.fields) << warps;
  if (how.leaf_blocks_log2 == 0) {
    auto rounds = [&](int log) { return ceil_div(units << how.leaf_warps_log2, wanted << log) << log; };
    int passes = 0, longest = q.leaves == 1 ? Shares::sum_units_of_leaf : Shares::sum_units;
    for (int k = 1; k <= longest; k++)
      if (rounds(k) * Shares::sum_rounds.in <= rounds(0) * Shares::sum_rounds.of &&
          units << how.leaf_warps_log2 >> k >= least)
        passes = k;
    if (q.leaves > 1 && passes > most - how.units_log2) passes = most > how.units_log2 ? most - how.units_log2 : 0;
    while (q.leaves > 1 && passes > 0 && state << passes > t.cols_sum.state_bytes) passes--;
    how.passes_log2 = (short)passes;
  }
  q.nodes = (int)ceil_div(q.leaves, q.leaves == 1 ? 1 : (int64_t)1 << (how.units_log2 + how.passes_log2))
            << how.leaf_blocks_log2;
  plan_nodes(q);
  how.state_bytes = (int)(q.leaves > 1 ? state << how.passes_log2 : state);
  /* levels of the stack in shared memory */
  int64_t kept = how.turns_log2 > p.entry.cols_sum_levels ? how.turns_log2 - p.entry.cols_sum_levels : 0;
  p.launch.threads = gr_cols_sum_warps * 32;
  p.launch.shared = (unsigned)(how.state_bytes + kept * gr_cols_sum_warps * 32 * columns * 8);
  p.per_block =
      (columns >> w.pair) * how.strip_words * (q.leaves == 1 ? (int64_t)1 << (how.units_log2 + how.passes_log2) : 1);
}

}  // namespace

#endif
