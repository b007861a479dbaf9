/* How reductions of columns are spread over the chip: a plan for each of their kernels, and when it is taken. */
#ifndef GR_CUDA_REDUCE_PLAN_COLS_CUH
#define GR_CUDA_REDUCE_PLAN_COLS_CUH

#include "kernels/cuda/block/tma_host.cuh"
#include "kernels/cuda/reduce/plan.cuh"
#include "kernels/cuda/reduce/cols_variance_ring_slots.cuh"

namespace {

/* The second input is one vector for all columns. */
bool shared_b(const gr_reduce_job &j) { return j.b.step == 0; }

/* Whether neighbouring vectors are neighbours in memory, in all inputs; the second may be one vector for all. */
bool are_columns(const Plan &p) {
  const gr_reduce_job &j = p.args.job;
  int size = gr_size_of(j.dtype);
  return p.many && j.a.step == size && j.a.stride != size && (j.b.step == size || shared_b(j));
}

/*
** Bytes of a word by which gr_reduce_cols_few_rows takes columns, 0 if it does not. Aligned sums of more rows than wide
** words hold are cols_sum's.
*/
int few_rows_word(const Plan &p) {
  const gr_reduce_job &j = p.args.job;
  int size = gr_size_of(j.dtype), wide = size == 1 ? gr_few_wide<1> : gr_few_wide<2>;
  int narrow = size == 8 ? gr_few_narrow<8> : gr_few_narrow<1>;
  bool vector = p.inputs == 2 && shared_b(j), matrices = p.inputs == 2 && !vector;
  int64_t most = gr_few_bytes >> matrices;
  if (j.n * wide <= most) return wide;
  bool summed = p.entry.kernel[GR_KERNEL_cols_sum] && !matrices && aligned(j.a, j.a.stride);
  return j.n * narrow <= most && !vector && !summed && gr_few_has_narrow(p.reducer, size) ? narrow : 0;
}
bool accepts_cols_few_rows(const Plan &p, const gr_cuda_chip &) { return are_columns(p) && few_rows_word(p) != 0; }

void plan_cols_few_rows(Plan &p, const gr_reduce_tuning &, const gr_cuda_chip &) {
  const gr_reduce_job &j = p.args.job;
  gr_cols_few_rows_args &how = p.args.cols_few_rows;
  int word = few_rows_word(p), size = gr_size_of(j.dtype);
  auto loose = [&](const gr_vec &v) { return ((uintptr_t)v.data | (uintptr_t)v.stride) % word != 0; };
  how.narrow = word < (size == 1 ? gr_few_wide<1> : gr_few_wide<2>);
  how.unaligned = loose(j.a) | (p.inputs == 2 && !shared_b(j) && loose(j.b)) << 1;
  p.launch.threads = gr_few_warps * 32;
  p.per_block = gr_few_warps * (how.unaligned ? 31 : 32) * (word / size);
}

/* Whatever keeps the order within a leaf: see gr_reduce_cols_by_lane. */
bool accepts_cols_by_lane(const Plan &p, const gr_cuda_chip &) { return are_columns(p); }

void plan_cols_by_lane(Plan &p, const gr_reduce_tuning &t, const gr_cuda_chip &chip) {
  const gr_reduce_job &j = p.args.job;
  gr_reduce_args &q = p.args;
  gr_cols_by_lane_args &how = q.cols_by_lane;
  const int size = gr_size_of(j.dtype);
  const int together = size == 8 ? gr_by_lane_together<8> : gr_by_lane_together<4>;
  const int slots = log2_of(p.inputs == 2 ? gr_by_lane_slots<2> : gr_by_lane_slots<1>);
  const int64_t leaf = GR_LEAF(size), rows = j.n < leaf ? j.n : leaf;
  const int64_t lanes = clamp(power_of_two(rows), together, GR_LANES(size));
  q.leaves = ceil_div(j.n, leaf);
  how.groups_log2 = log2_of(lanes / together);
  how.rows_log2 = log2_of(power_of_two(ceil_div(rows, lanes)));
  const int all = how.groups_log2 + how.rows_log2, wanted = all > slots ? all - slots : 0;
  const int most = log2_of(gr_by_lane_warps), narrow = j.count < 32 ? 5 - log2_of(power_of_two(j.count)) : 0;
  how.sides_log2 = narrow < how.groups_log2 ? narrow : how.groups_log2;
  /* Warps: so many that they hold a leaf, or, if they cannot, that each has some rows. */
  const bool fits = gr_by_lane_holds_for(p.reducer) && wanted <= most + how.sides_log2 && wanted <= how.groups_log2;
  /* Rows side by side for smaller blocks, unless their columns would be more than one launch has counters for. */
  q.nodes = (int)q.leaves;
  plan_nodes(q);
  auto at_once = [&](int sides) { return q.counters * ceil_div(j.count, 32 >> sides) <= gr_counters; };
  while (fits && how.sides_log2 < gr_by_lane_sides_for(size) && at_once(how.sides_log2 + 1) &&
         wanted - how.sides_log2 > log2_of(gr_by_lane_held_warps))
    how.sides_log2++;
  int64_t some = clamp(power_of_two(rows / gr_by_lane_rows), 1, gr_by_lane_warps);
  const int64_t blocks = q.leaves * ceil_div(j.count, 32 >> how.sides_log2);
  while (some > t.cols_by_lane.least_warps && blocks * some > chip.sms * t.cols_by_lane.warps) some /= 2;
  const int least = how.groups_log2 > gr_by_lane_levels ? how.groups_log2 - gr_by_lane_levels : 0;
  how.shares_log2 = fits ? wanted : log2_of(some);
  how.shares_log2 = (int)clamp(how.shares_log2, how.sides_log2 > least ? how.sides_log2 : least, how.groups_log2);
  how.held = fits ? 1 << (all - how.shares_log2) : 0;
  how.reverse_shift = 32 - (how.groups_log2 - how.shares_log2);
  p.launch.threads = 32u << (how.shares_log2 - how.sides_log2);
  p.per_block = 32 >> how.sides_log2;
  if (how.shares_log2 == 0) p.launch.threads *= gr_by_lane_alone, p.per_block *= gr_by_lane_alone;
}

/* Variances of columns, from 128 KB for each multiprocessor on: see gr_reduce_cols_variance_ring. */
bool accepts_cols_variance_ring(const Plan &p, const gr_cuda_chip &chip) {
  const gr_reduce_job &j = p.args.job;
  int64_t size = gr_size_of(j.dtype), row = j.count * size;
  bool there = gr_has_tma && chip.major >= 9 && chip.shared_optin >= (int)p.entry.ring_bytes;
  bool fits = aligned(j.a, j.a.stride) && j.a.stride > 0 && j.a.stride < INT64_C(1) << 27 && j.count < INT32_MAX &&
              j.n < INT32_MAX;
  bool long_enough = j.n >= GR_LEAF(size) || j.n > Shares::ring_rows;
  return are_columns(p) && there && fits && row >= Shares::ring_row && long_enough &&
         j.n * row >= chip.sms * gr_reduce_tuning_for(chip).cols_variance_ring.least_bytes;
}

void plan_cols_variance_ring(Plan &p, const gr_reduce_tuning &t, const gr_cuda_chip &chip) {
  const gr_reduce_job &j = p.args.job;
  gr_reduce_args &q = p.args;
  gr_cols_variance_ring_args &how = q.cols_variance_ring;
  int size = gr_size_of(j.dtype), log_all = gr_variance_numbers_of(size).log_all;
  int64_t words = ceil_div(j.count * size, 16);
  q.leaves = ceil_div(j.n, GR_LEAF(size));
  how.words_log2 = log2_of(clamp(power_of_two(words), 1, 1 << log_all));
  how.leaves_log2 = log_all - how.words_log2;
  /* The largest nodes that keep multiprocessors as busy as smaller ones would, within the rows of states that there
     are. */
  int64_t groups = ceil_div(words, (int64_t)1 << how.words_log2);
  auto idle = [&](int k) { /* of a hundred, with nodes of 2^k leaves */
    int64_t runs = groups * ceil_div(q.leaves, (int64_t)1 << k);
    return (int)(100 - runs * 100 / (ceil_div(runs, chip.sms) * chip.sms));
  };
  int passes = how.leaves_log2, least = 100;
  for (int k = how.leaves_log2; k <= how.leaves_log2 + gr_variance_states - (1 << how.leaves_log2); k++)
    least = idle(k) < least ? idle(k) : least;
  for (int k = how.leaves_log2; k <= how.leaves_log2 + gr_variance_states - (1 << how.leaves_log2); k++)
    if (idle(k) <= least + t.cols_variance_ring.idle) passes = k;
  how.node_leaves_log2 = (short)passes;
  q.nodes = (int)ceil_div(q.leaves, (int64_t)1 << how.node_leaves_log2);
  plan_nodes<gr_team_of_warp>(q);
  p.launch.threads = gr_variance_threads;
  p.launch.shared = p.launch.allowed = p.entry.ring_bytes;
  p.launch.most = (unsigned)chip.sms;
  p.launch.early = groups == 1; /* else neighbours would not run side by side: f16 of 1024 columns 2889 -> 2692 GB/s */
  p.per_block = (int64_t)(16 / size) << how.words_log2;
}

int64_t gcd(int64_t a, int64_t b) { return b == 0 ? a : gcd(b, a % b); }

/*
** Rows side by side in word rows of gr_reduce_cols_unordered, 1 to `warps` strips long, so that lanes are used well:
** `lanes` have a word in each strip, and their number must be a multiple of `steps`. Gives the share of lanes used, in
** percent; good: a share from which nothing longer is tried.
*/
int64_t beside(const gr_reduce_job &j, int64_t row, int64_t strip, int64_t steps, int64_t warps, int64_t good,
               int &near, int64_t &strips) {
  int64_t best = 0;
  for (int64_t k = 1; k <= warps && best < good; k *= 2) {
    int64_t rows = k * strip / row / steps * steps, used = rows * row * 100 / (k * strip);
    if (rows > j.n) rows = j.n;
    if (used > best) best = used, near = (int)rows, strips = k;
  }
  return best;
}

/* Columns of reducers whose leaves have no order inside: see gr_reduce_cols_unordered. */
bool accepts_cols_unordered(const Plan &p, const gr_cuda_chip &) { return are_columns(p); }

void plan_cols_unordered(Plan &p, const gr_reduce_tuning &t, const gr_cuda_chip &chip) {
  const gr_reduce_job &j = p.args.job;
  gr_reduce_args &q = p.args;
  gr_cols_unordered_args &how = q.cols_unordered;
  int64_t size = gr_size_of(j.dtype), word = size * p.entry.columns, row = j.count * size, warps = p.entry.warps;
  int64_t batch = gr_strip_batch_bytes_for((int)size, p.inputs) / word / p.inputs, strips = 0;
  int64_t good = t.cols_unordered.good_share;
  auto loose = [&](const gr_vec &v) { return ((uintptr_t)v.data | (uintptr_t)(v.stride * how.rows)) % word != 0; };
  auto all_loose = [&] { return loose(j.a) | (p.inputs == 2 && !shared_b(j) && loose(j.b)) << 1; };
  how.rows = 1;
  if (j.a.stride == row && (shared_b(j) || j.b.stride == row) && row * 2 <= warps * 31 * word) {
    int64_t whole = beside(j, row, 32 * word, word / gcd(row, word), warps, good, how.rows, strips);
    if (whole < t.cols_unordered.least_share || all_loose())
      beside(j, row, 31 * word, 1, warps, good, how.rows, strips);
  }
  how.unaligned = all_loose();
  how.row_lanes = how.unaligned ? 31 : 32;
  if (how.rows == 1) strips = ceil_div(row, how.row_lanes * word);
  int64_t wanted = (int64_t)chip.sms * t.cols_unordered.warps, rows = ceil_div(j.n, how.rows), unit = batch;
  int64_t batches = ceil_div(p.entry.leaf && j.n > p.entry.leaf ? ceil_div(p.entry.leaf, how.rows) : rows, batch);
  int most = log2_of(how.rows > 1 ? warps / strips : warps);
  /* small blocks do */
  if (p.entry.leaf && ceil_div(j.n, p.entry.leaf) * strips > wanted) batches = ceil_div(batches, Shares::strip_batches);
  while (how.strip_warps_log2 < most && unit < batches * batch && strips << how.strip_warps_log2 < wanted)
    how.strip_warps_log2++, unit *= 2;
  how.strips_log2 = log2_of(clamp(power_of_two(strips), 1, warps >> how.strip_warps_log2));
  if (p.entry.leaf) {
    how.node_rows = p.entry.leaf;
  } else { /* rows of a node: so many that nodes are few beside what was read, and not more than 32 bits can add up */
    int64_t least = ceil_div(Shares::strip_node_bytes * p.entry.fields / size, how.rows * unit) * unit,
            share = ceil_div(ceil_div(rows * strips << how.strip_warps_log2, wanted), unit) * unit,
            few = Shares::strip_node_batches;
    how.node_rows = (int)(clamp(share, least > few * unit ? least : few * unit, unit << 8) * how.rows);
  }
  q.nodes = j.n > how.node_rows ? (int)ceil_div(j.n, how.node_rows) : 1;
  plan_nodes(q);
  p.launch.threads = 32u << (how.strip_warps_log2 + how.strips_log2);
  p.per_block = how.rows > 1 ? j.count : (int64_t)how.row_lanes * p.entry.columns << how.strips_log2;
}

}  // namespace

#endif
