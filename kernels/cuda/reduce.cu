/*
** The plan of a reduction: which of the three kernels, what grid, how much scratch; then the launch.
**
** Scratch: after the counters, the nodes of every vector that takes more than one block. Counters are one a
** vector (or a group of columns), so a launch takes at most gr_counters of those at a time; more vectors of
** several blocks each take several launches, each of them large.
*/
#include "kernels/cuda/reduce.cuh"
#include "kernels/cuda/tune.h"

namespace {

constexpr int64_t gr_counters = (GR_COUNTER_BYTES - GR_POST_BYTES) / sizeof(unsigned);
constexpr int64_t gr_most_blocks = INT32_MAX, gr_stage_bytes = 4096;
/* What the last block can fold; beyond: 128 GiB of f32 in one vector. */
constexpr int64_t gr_most_column_nodes = 1 << 18, gr_most_nodes = 1 << 17;

struct Plan {
  gr_reduce_entry entry;
  gr_reduce_args args;
  gr_reduce_launch launch;
  int64_t vectors;   /* per launch */
  int64_t per_block; /* vectors of one block, or group of blocks */
  int64_t blocks_per_group;
  int64_t node_words; /* 8-byte words of scratch */
  bool told;          /* somebody waits for the result */
};

#define GR_X(id, inputs, f, i) inputs,
const int inputs_of[] = {GR_REDUCERS(GR_X)};
#undef GR_X

gr_reduce_entry entry_of(gr_reducer red, gr_dtype t) {
  gr_reduce_entry (*const families[])(gr_reducer, gr_dtype) = {
      gr_reduce_sums, gr_reduce_orders, gr_reduce_norms, gr_reduce_spreads, gr_reduce_pairs, gr_reduce_accurates};
  for (auto family : families) {
    gr_reduce_entry e = family(red, t);
    if (e.launch) return e;
  }
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
int log2_of(int64_t p) {
  int k = 0;
  while (p > 1) p /= 2, k++;
  return k;
}

bool is_place(gr_reducer red) { return red == GR_RED_ARGMAX || red == GR_RED_ARGMIN; }

/* Whether neighbouring vectors are neighbours in memory, in all inputs; the second may be one vector for all. */
bool is_columns(const gr_reduce_job &j) {
  int size = gr_size_of(j.dtype);
  return j.a.step == size && j.a.stride != size && (j.b.step == size || j.b.step == 0);
}

/* Blocks that can be there at once; where launches overlap, half of them, so that two launches find room. */
int64_t slots_of(const Plan &p, const gr_tune &t, int sms) {
  int blocks = t.flat_blocks < p.entry.resident ? t.flat_blocks : p.entry.resident;
  return (int64_t)sms * (p.args.untouched ? (blocks + 1) / 2 : blocks);
}

/* Leaves over warps and blocks: all of one vector in few blocks, or many vectors side by side. */
void plan_leaves(Plan &p, const gr_tune &t, int sms) {
  const gr_reduce_job &j = p.args.job;
  int64_t leaves = p.args.leaves, block = t.flat_warps, warps, passes;
  if (j.count == 1) {
    /* Two inputs of more leaves take one multiprocessor longer than several need to meet. */
    int64_t slots = slots_of(p, t, sms), alone = t.one_block_leaves;
    if (p.told && inputs_of[gr_reducer_of(j.op, j.dtype)] == 2) alone /= 2;
    if (p.told && leaves <= 2 * t.one_block_leaves) block /= 2;
    warps = leaves <= alone ? power_of_two(leaves) : block;
    passes = leaves <= alone ? 1 : clamp(power_of_two(ceil_div(leaves, block * slots)), 1, t.most_passes);
    int64_t blocks = ceil_div(leaves, warps * passes);
    if (!p.args.untouched && passes > 1 && blocks * 4 > slots * 5 && blocks < slots * 2)
      passes /= 2; /* one wave and a bit: rather several */
    block = warps;
  } else {
    int64_t wanted = ceil_div((int64_t)sms * t.row_warps, j.count); /* warps for each vector */
    warps = clamp(power_of_two(wanted), 1, power_of_two(leaves) < block ? power_of_two(leaves) : block);
    passes = power_of_two(ceil_div(leaves, warps));
    if (wanted > warps) { /* several blocks to a vector: one wave of them, if their parts are alike */
      int64_t all = ceil_div(leaves * j.count, warps * slots_of(p, t, sms));
      passes = clamp(power_of_two(all), 1, power_of_two(ceil_div(leaves, warps)));
      while (passes > 1 && ceil_div(leaves, warps * passes) * warps * passes * 8 > leaves * 9) passes /= 2;
    }
  }
  passes = clamp(passes, 1, t.most_passes);
  while (ceil_div(leaves, warps * passes) > 65536 && warps * passes < 256) passes *= 2;
  p.args.nodes = (int)ceil_div(leaves, warps * passes);
  if (p.args.nodes > 1 && warps < 4) { /* blocks that meet at a counter hold one node each */
    while (warps < 8 && warps < leaves) warps *= 2;
    p.args.nodes = (int)ceil_div(leaves, warps * passes);
  }
  if (p.args.nodes > 1) block = warps;
  else if (j.count > 1) block = clamp(8, warps, 16);
  p.args.warps = (short)log2_of(warps);
  p.args.passes = (short)passes;
  p.launch.shape = GR_LEAVES;
  p.launch.threads = (unsigned)(block * 32);
  p.per_block = p.args.nodes > 1 ? 1 : block / warps;
  p.blocks_per_group = p.args.nodes;
}

/*
** Segments: warps to each as for rows, leaves in turn until the longest is done. Chosen ones are longer than a node
** of a block and take several; in shorter ones among them the later nodes are empty.
*/
void plan_segments(Plan &p, const gr_tune &t, int sms) {
  gr_reduce_job &j = p.args.job;
  int64_t leaves = p.args.leaves, wanted = ceil_div((int64_t)sms * t.row_warps, j.count);
  int64_t warps = clamp(power_of_two(wanted), 1, t.flat_warps), passes;
  if (j.chosen) {
    warps = t.flat_warps;
    passes = power_of_two(ceil_div(leaves * j.count, warps * sms * t.flat_blocks));
  } else {
    while (warps > 1 && warps > power_of_two(leaves)) warps /= 2;
    passes = power_of_two(ceil_div(leaves, warps));
  }
  passes = clamp(passes, 1, 32);
  if (!j.chosen)
    while (warps * passes < leaves) warps *= 2;
  p.args.nodes = j.chosen ? (int)ceil_div(leaves, warps * passes) : 1;
  p.args.warps = (short)log2_of(warps);
  p.args.passes = (short)passes;
  p.launch.shape = GR_LEAVES;
  p.launch.threads = (unsigned)((p.args.nodes > 1 ? warps : clamp(8, warps, 16)) * 32);
  p.per_block = p.args.nodes > 1 ? 1 : p.launch.threads / 32 / warps;
  p.blocks_per_group = p.args.nodes;
  j.a.step = j.a.stride; /* a segment starts so many elements in */
  j.b.step = j.b.stride;
}

/* Bytes from one row to the next that gr_reduce_short takes: rows in order, not too far apart. */
bool fits_stage(const gr_reduce_job &j, const gr_vec &v) {
  int64_t bytes = j.n * gr_size_of(j.dtype);
  return v.stride == gr_size_of(j.dtype) && bytes <= gr_stage_bytes && v.step >= 0 && v.step <= 2 * bytes;
}
bool is_short(const gr_reduce_job &j) { return fits_stage(j, j.a) && fits_stage(j, j.b); }

bool aligned(const gr_vec &v, int64_t step) { return ((uintptr_t)v.data | (uintptr_t)step) % 16 == 0; }

/* Counters to fold the nodes of a vector by eights, or by more if there are not enough. */
void plan_climb(gr_reduce_args &q) {
  for (q.radix = 3; q.radix == 3 || q.counters > gr_counters; q.radix += 3) {
    q.counters = 0;
    for (int64_t k = q.nodes; k > 1;) k = ((k - 1) >> q.radix) + 1, q.counters += (int)k;
  }
  q.radix -= 3;
}

void plan_short(Plan &p, int sms) {
  gr_reduce_job &j = p.args.job;
  int64_t bytes = j.n * gr_size_of(j.dtype), rows, warps = 4;
  int64_t step = j.a.step > j.b.step ? j.a.step : j.b.step;
  bool tiny = j.n <= 64 && bytes <= 256 && 15 * step + bytes <= gr_stage_bytes; /* a row of one thread */
  rows = step == 0 ? 32 : (gr_stage_bytes - bytes) / step + 1;
  rows = clamp(rows, 1,
               clamp(ceil_div(j.count, (int64_t)sms * 16), tiny ? 32 : 1, INT32_MAX)); /* few rows: rather more warps */
  if (tiny && rows > 32) rows = rows / 32 * 32;
  if (j.count < 4) warps = 1;
  /* Few lanes to a thread, or 8 in groups of threads that share a warp, or the whole warp. */
  p.args.threads = tiny ? 0 : j.n <= 128 && j.n <= GR_LANES(gr_size_of(j.dtype)) ? log2_of(power_of_two(j.n) / 8) : 5;
  p.args.rows = (int)rows;
  p.args.nodes = 1;
  p.launch.shape = GR_SHORT;
  p.launch.threads = (unsigned)(warps * 32);
  p.per_block = warps * rows;
  p.blocks_per_group = 1;
}

/*
** Rows of up to a leaf that gr_reduce_lanes takes: in whole words; narrow elements that come in any order without that
** too, but for tiny rows, which gr_reduce_short does better; and sums of rows of half a word.
*/
bool by_rows(const Plan &p) {
  const gr_reduce_job &j = p.args.job;
  int64_t size = gr_size_of(j.dtype), bytes = j.n * size;
  if (j.n <= 0 || j.a.stride != size || p.entry.short_rows < GR_BY_LANES) return false;
  if (aligned(j.a, j.a.step) && bytes % 16 == 0) return bytes <= GR_LEAF(size) * size;
  if (p.entry.short_rows == GR_BY_WORDS) return size <= 2 && j.n > 64 && bytes <= GR_LEAF(size) * size;
  return j.op == GR_OP_sum && bytes == 8 && size < 8 && j.a.step == 8 && aligned(j.a, 0);
}

/*
** Few threads to a row. Of rows that follow each other, words of aligned ones trade places by the row's number (radix,
** counters, deep); other rows lie so far apart that threads meet different banks.
*/
void plan_rows(Plan &p, int sms) {
  gr_reduce_job &j = p.args.job;
  gr_reduce_args &q = p.args;
  int64_t bytes = j.n * gr_size_of(j.dtype);
  q.near = bytes == 8;
  q.loose = !q.near && (bytes % 16 != 0 || !aligned(j.a, j.a.step));
  q.beside = (int)(q.loose ? (bytes + 30) / 16 : ceil_div(bytes, 16));
  int64_t lanes = clamp(power_of_two(q.beside), 1, 32), each = clamp(lanes, 1, 4), threads = lanes / each;
  bool power = !q.loose && q.beside <= 16 && (q.beside & (q.beside - 1)) == 0;
  bool apart = q.beside % (2 * threads) == threads;
  q.plain = j.a.step == bytes && (q.loose || power || apart || threads >= 8);
  if (q.plain && power && q.beside > 1) {
    q.radix = q.beside == 16 ? 4 : 3;
    q.counters = q.beside == 2 || q.beside == 16 ? 1 : 3;
    q.deep = q.beside == 16 ? 2 : q.beside == 8;
  }
  q.wide = (int)(q.plain || threads >= 8 ? q.beside : (ceil_div(q.beside, threads) | 1) * threads);
  q.together = q.wide <= p.entry.stage ? p.entry.stage : gr_most_stage;
  while (32 / threads * q.wide > q.together) threads *= 2, each /= 2;
  int64_t pass = 32 / threads, most = q.together / q.wide / pass; /* rows at a time; how many times */
  q.threads = log2_of(threads);
  q.each = log2_of(each);
  q.rows = (int)(clamp((j.count >> q.near) / (sms * 16 * pass), 1, most) * pass);
  q.nodes = 1;
  p.launch.shape = GR_ROWS;
  p.launch.threads = gr_lanes_warps * 32;
  p.launch.shared = (unsigned)(gr_lanes_warps * q.together * 16);
  p.per_block = (int64_t)gr_lanes_warps * q.rows << q.near;
  p.blocks_per_group = 1;
}

/* Rows by one vector, all in whole words. */
bool by_vector(const gr_reduce_job &j) {
  int size = gr_size_of(j.dtype);
  return j.b.step == 0 && j.a.stride == size && j.b.stride == size && aligned(j.a, j.a.step) && aligned(j.b, j.n * size);
}

/* Of several leaves. */
void plan_vector(Plan &p, int sms) {
  gr_reduce_job &j = p.args.job;
  gr_reduce_args &q = p.args;
  int warps = gr_lanes_warps;
  q.together = log2_of(clamp(power_of_two(q.leaves), 1, warps));
  q.nodes = (int)ceil_div(q.leaves, (int64_t)1 << q.together);
  /* One wave of blocks, or several of up to 32 rows. */
  int64_t groups = clamp((int64_t)sms * 6 * (warps >> q.together) / q.nodes, 1, j.count);
  int64_t rows = ceil_div(j.count, groups);
  q.rows = (int)ceil_div(rows, ceil_div(rows, 32));
  plan_climb(q);
  p.launch.shape = GR_VECTOR;
  p.launch.threads = (unsigned)(warps * 32);
  p.per_block = (int64_t)(warps >> q.together) * q.rows;
  p.blocks_per_group = q.nodes;
}

void plan_columns(Plan &p, const gr_tune &t, const gr_cuda_chip &chip) {
  const gr_reduce_job &j = p.args.job;
  gr_reduce_args &q = p.args;
  int size = gr_size_of(j.dtype), word = size * p.entry.columns, warps = p.entry.warps, levels = 5;
  int64_t lanes = p.entry.lanes, words = ceil_div(j.count, p.entry.columns), pieces = ceil_div(words, 32);
  int64_t enough = (int64_t)chip.sms * t.column_blocks;
  bool one_each = j.n <= lanes, shared_b = j.b.step == 0;
  bool dense = j.a.stride == j.count * size && (shared_b || j.b.stride == j.a.stride);
  q.leaves = clamp(ceil_div(j.n, p.entry.leaf), 1, INT64_MAX);
  q.wide = 32;
  q.passes = 1;
  if (!one_each && dense && words <= 16) { /* several rows to a piece */
    q.wide = (int)words;
    q.near = log2_of(power_below(32 / words));
  }
  q.loose = !aligned(j.a, j.a.stride << q.near) || (!shared_b && !aligned(j.b, j.b.stride << q.near));
  bool words_lie = q.near == 0 || j.a.stride % word == 0;
  q.loose = q.loose || !words_lie;
  int64_t rows = power_of_two(j.n > 0 ? j.n : 1);
  if (one_each) {
    q.beside = rows < 8 && !q.loose ? 3 - log2_of(rows) : 0;
    q.each = rows < 8 ? 0 : log2_of(rows / 8);
  } else {
    q.rows = j.n <= 8 * lanes ? 1 : log2_of(p.entry.leaf / lanes / 8) + 1;
    q.each = log2_of(lanes) - q.near;
  }
  q.plain = q.beside == 0 && (words_lie || size < 4);
  /* Warps share a leaf as far as its lanes ask for it, or while there are too few blocks. */
  int64_t most = q.leaves == 1 ? pieces : q.leaves, units = q.leaves * pieces;
  q.together = log2_of(clamp(power_of_two(most), 1, warps));
  while (q.each > 0 && q.deep < log2_of(warps) &&
         ((p.entry.ordered && q.each > levels) || ceil_div(units, (int64_t)1 << q.together) < enough)) {
    q.deep++, q.each--;
    if (q.together + q.deep > log2_of(warps)) q.together--;
  }
  if (q.deep == 0 && q.leaves == 1 && gr_reducer_of(j.op, j.dtype) != GR_RED_SPREAD) {
    /* Units in turn, some 64 KB for each warp. */
    int64_t bytes = rows * 32 * word, wanted = clamp((64 << 10) / bytes, 1, 64);
    wanted = clamp(power_below(clamp(pieces / (enough * warps), 1, 64)), 1, wanted);
    q.passes = (short)(wanted > (1 << q.beside) ? wanted : 1 << q.beside);
  } else {
    q.beside = 0;
  }
  q.turn = (int)clamp(32 - q.each - q.deep - q.near, 0, 31);
  q.nodes = q.leaves == 1 ? 1 : (int)ceil_div(q.leaves, (int64_t)1 << q.together);
  plan_climb(q);
  p.launch.shape = GR_COLUMNS;
  p.launch.threads = 32u << (q.deep + q.together);
  p.launch.early = chip.major >= 9;
  p.per_block = (int64_t)(q.wide * p.entry.columns) * (q.leaves == 1 ? (int64_t)q.passes << q.together : 1);
  p.blocks_per_group = q.nodes;
}

/* Columns of up to 8 rows: see gr_reduce_few. */
void plan_few(Plan &p) {
  p.args.loose = !aligned(p.args.job.a, p.args.job.a.stride);
  p.args.nodes = 1;
  p.launch.shape = GR_FEW;
  p.launch.threads = 256;
  p.per_block = 256 * p.entry.few;
  p.blocks_per_group = 1;
}

/* Leaves are full, or nearly. */
bool fills_leaves(const gr_reduce_job &j) {
  int64_t leaf = GR_LEAF(gr_size_of(j.dtype));
  return ceil_div(j.n, leaf) * leaf * 4 <= j.n * 5;
}

/* Spreads of columns of 64 bits: see gr_spread_leaves. */
bool by_leaves(const gr_reduce_job &j) { return aligned(j.a, j.a.stride) && j.count >= 4 && fills_leaves(j); }

void plan_spread(Plan &p, int sms) {
  const gr_reduce_job &j = p.args.job;
  gr_reduce_args &q = p.args;
  int64_t words = ceil_div(j.count, 2);
  q.leaves = ceil_div(j.n, GR_LEAF(8));
  q.deep = log2_of(GR_LANES(8));
  q.wide = log2_of(clamp(power_of_two(words), 1, 4));
  q.beside = 8 - q.deep - q.wide; /* of 256 threads */
  q.each = 5 - q.wide;
  q.turn = q.deep - q.each;
  /* Leaves in turn as long as there are four runs of them for each multiprocessor. */
  int64_t units = ceil_div(words, (int64_t)1 << q.wide) * ceil_div(q.leaves, (int64_t)1 << q.beside);
  int64_t steps = log2_of(power_below(clamp(units / (sms * 4), 1, (int64_t)32 >> q.beside)));
  q.passes = (short)(q.beside + (q.leaves == 1 ? 0 : steps));
  q.nodes = (int)ceil_div(q.leaves, (int64_t)1 << q.passes);
  plan_climb(q);
  int64_t columns = 2 << q.wide, states = (int64_t)1 << (q.nodes > 1 && q.radix > q.passes ? q.radix : q.passes);
  q.threads = (256 >> q.each) * 3 * 8;
  p.launch.shape = GR_TALL;
  p.launch.threads = 256;
  p.launch.shared = (unsigned)(2 * q.threads + states * columns * 24);
  p.launch.most = (unsigned)(sms * 3);
  p.per_block = columns;
  p.blocks_per_group = q.nodes;
}

/* Sums of columns of f64: see gr_reduce_streams. Of little data they are no faster so. */
bool by_streams(const gr_reduce_job &j) {
  return aligned(j.a, j.a.stride) && fills_leaves(j) && j.n * j.count >= 4 << 20;
}

void plan_streams(Plan &p, const gr_cuda_chip &chip) {
  const gr_reduce_job &j = p.args.job;
  gr_reduce_args &q = p.args;
  int64_t columns = p.entry.stream, wanted = (int64_t)chip.sms * 16, words = ceil_div(j.count, columns);
  q.wide = log2_of(clamp(power_of_two(words), 1, 32));
  q.leaves = ceil_div(j.n, GR_LEAF(8));
  int turns = log2_of(GR_LANES(8)) - (5 - q.wide), most = log2_of(power_of_two(q.leaves)); /* of one warp, all lanes */
  int64_t units = ceil_div(words, (int64_t)1 << q.wide) * q.leaves;
  while (q.deep < 2 && (turns - q.deep > 5 || units << q.deep < wanted || (q.leaves > 1 && 2 - q.deep > most))) q.deep++;
  q.each = turns - q.deep;
  q.turn = 32 - q.each;
  q.together = 2 - q.deep;
  if (q.leaves > 1) { /* leaves in turn: one wave of blocks */
    int64_t passes = log2_of(power_below(clamp(2 * (units << q.deep) / wanted, 1, 32)));
    most = (most < 5 ? most : 5) - q.together;
    if (most > 3) most = 3; /* 24 KB of states */
    q.passes = (short)(passes < most ? passes : most);
  }
  q.nodes = q.leaves == 1 ? 1 : (int)ceil_div(q.leaves, (int64_t)1 << (q.together + q.passes));
  plan_climb(q);
  p.launch.shape = GR_TALL;
  p.launch.threads = 128;
  p.launch.shared = (unsigned)((((columns + 1) << q.wide) * 8) << (2 + q.passes));
  p.launch.early = chip.major >= 9;
  p.per_block = (columns << q.wide) * (q.leaves == 1 ? (int64_t)1 << q.together : 1);
  p.blocks_per_group = q.nodes;
}

int64_t gcd(int64_t a, int64_t b) { return b == 0 ? a : gcd(b, a % b); }

/*
** Rows side by side in word rows of gr_reduce_strips, 1 to `warps` strips long, so that lanes are used well: `lanes` have a
** word in each strip, and their number must be a multiple of `steps`. Gives the share of lanes used, in percent.
*/
int64_t beside(const gr_reduce_job &j, int64_t row, int64_t strip, int64_t steps, int64_t warps, int &near, int64_t &strips) {
  int64_t best = 0;
  for (int64_t k = 1; k <= warps && best < 85; k *= 2) {
    int64_t rows = k * strip / row / steps * steps, used = rows * row * 100 / (k * strip);
    if (rows > j.n) rows = j.n;
    if (used > best) best = used, near = (int)rows, strips = k;
  }
  return best;
}

/* Columns of reducers whose leaves have no order inside: see gr_reduce_strips. */
void plan_strips(Plan &p, const gr_tune &t, const gr_cuda_chip &chip, int inputs) {
  const gr_reduce_job &j = p.args.job;
  gr_reduce_args &q = p.args;
  int64_t size = gr_size_of(j.dtype), word = size * p.entry.columns, row = j.count * size, warps = p.entry.warps;
  int64_t batch = 128 / word / inputs, strips = 0;
  auto loose = [&](const gr_vec &v) { return ((uintptr_t)v.data | (uintptr_t)(v.stride * q.near)) % word != 0; };
  auto all_loose = [&] { return loose(j.a) | (inputs == 2 && j.b.step != 0 && loose(j.b)) << 1; };
  q.near = 1;
  if (j.a.stride == row && j.b.stride == row && row * 2 <= warps * 31 * word) {
    int64_t whole = beside(j, row, 32 * word, word / gcd(row, word), warps, q.near, strips);
    if (whole < 60 || all_loose()) beside(j, row, 31 * word, 1, warps, q.near, strips);
  }
  q.loose = all_loose();
  q.wide = q.loose ? 31 : 32;
  if (q.near == 1) strips = ceil_div(row, q.wide * word);
  int64_t wanted = (int64_t)chip.sms * t.strip_warps, rows = ceil_div(j.n, q.near), unit = batch;
  int64_t batches = ceil_div(p.entry.leaf && j.n > p.entry.leaf ? ceil_div(p.entry.leaf, q.near) : rows, batch);
  int most = log2_of(q.near > 1 ? warps / strips : warps);
  if (p.entry.leaf && ceil_div(j.n, p.entry.leaf) * strips > wanted) batches = ceil_div(batches, 4); /* small blocks do */
  while (q.deep < most && unit < batches * batch && strips << q.deep < wanted) q.deep++, unit *= 2;
  q.together = log2_of(clamp(power_of_two(strips), 1, warps >> q.deep));
  if (p.entry.leaf) {
    q.rows = p.entry.leaf;
  } else { /* rows of a node: so many that nodes are few beside what was read, and not more than 32 bits can add up */
    int64_t least = ceil_div(256 * p.entry.fields / size, q.near * unit) * unit, share = ceil_div(ceil_div(rows * strips << q.deep, wanted), unit) * unit;
    q.rows = (int)(clamp(share, least > 4 * unit ? least : 4 * unit, unit << 8) * q.near);
  }
  q.nodes = j.n > q.rows ? (int)ceil_div(j.n, q.rows) : 1;
  plan_climb(q);
  p.launch.shape = GR_COLUMNS;
  p.launch.threads = 32u << (q.deep + q.together);
  p.launch.early = chip.major >= 9;
  p.per_block = q.near > 1 ? j.count : (int64_t)q.wide * p.entry.columns << q.together;
  p.blocks_per_group = q.nodes;
}

/*
** Few nodes are posted: no more blocks wait than there are multiprocessors, so that others find room whatever order
** blocks start in. The next launch may begin early unless this one leaves many places free: it would take them, and its
** blocks would be spread unevenly from then on. Blocks that begin early and have places to spare ask for their data at
** once (sum of 2^20 f32 3.9 -> 3.6 us; of 2^22, where they have none, 6.8 -> 7.9).
*/
void plan_meeting(Plan &p, const gr_tune &t, const gr_cuda_chip &chip) {
  int64_t nodes = p.args.nodes, count = p.args.job.count, blocks = nodes * ceil_div(count, p.per_block);
  p.args.posted = nodes > 1 && count <= chip.sms && nodes <= 2 * p.launch.threads && p.launch.threads <= 256 &&
                  count * nodes * p.entry.fields * 16 <= GR_POST_BYTES;
  p.launch.early = chip.major >= 9 && (p.args.untouched || p.args.passes <= 2 || blocks * 10 >= slots_of(p, t, chip.sms) * 9);
  p.args.ahead = p.launch.early && !p.args.untouched && p.args.flat && !p.args.strided && p.args.passes == 1 &&
                 blocks <= 2 * chip.sms;
}

/* apart: the vectors are arrays of their own. untouched and told: never more nodes in scratch memory. */
Plan plan(const gr_reduce_job &job, const gr_cuda_chip &chip, bool apart = false, bool untouched = false,
          bool told = false) {
  Plan p = {};
  gr_tune t = gr_tune_for(chip.major, chip.minor);
  gr_reducer red = gr_reducer_of(job.op, job.dtype);
  int size = gr_size_of(job.dtype), inputs = inputs_of[red];
  p.entry = entry_of(red, job.dtype);
  p.args.job = job;
  bool twin = red == GR_RED_ARGMIN || red == GR_RED_SUMABS || (red == GR_RED_COUNT && gr_is_float(job.dtype));
  p.args.context = {red == GR_RED_SUMABS ? 1.0 : job.scale_a, job.scale_b, twin ? -1 : 0};
  if (is_place(red) && (job.dtype == GR_I8 || job.dtype == GR_I16 || job.dtype == GR_I32))
    p.args.context.twin ^= (int64_t)1 << (8 * size - 1);
  if (inputs == 1) p.args.job.b = job.a;
  p.args.leaves = clamp(ceil_div(job.n, GR_LEAF(size)), 1, INT64_MAX);
  p.args.flat = job.count == 1 && !job.offsets;
  p.args.untouched = untouched;
  p.told = told;
  p.args.strided = p.args.job.a.stride != size || p.args.job.b.stride != size;
  bool many = job.n > 0 && job.count > 1 && p.entry.columns > 0 && !apart;
  bool left_out = chip.major < 9 && (red == GR_RED_DOT_KAHAN || red == GR_RED_DOT_NEUMAIER); /* reduce_columns.cuh */
  if (job.offsets) plan_segments(p, t, chip.sms);
  else if (many && p.entry.vector && by_vector(p.args.job) && p.args.leaves > 1) plan_vector(p, chip.sms);
  else if (many && by_rows(p) && (inputs == 1 || by_vector(p.args.job))) plan_rows(p, chip.sms);
  else if (many && p.entry.short_rows && is_short(p.args.job)) plan_short(p, chip.sms);
  else if (many && is_columns(p.args.job) && p.entry.few && job.n <= 8) plan_few(p);
  else if (many && is_columns(p.args.job) && p.entry.spread && by_leaves(p.args.job)) plan_spread(p, chip.sms);
  else if (many && is_columns(p.args.job) && p.entry.stream && by_streams(p.args.job)) plan_streams(p, chip);
  else if (many && is_columns(p.args.job) && p.entry.ordered && !left_out) plan_columns(p, t, chip);
  else if (many && is_columns(p.args.job) && !p.entry.ordered) plan_strips(p, t, chip, inputs);
  else plan_leaves(p, t, chip.sms);
  if ((p.launch.shape == GR_COLUMNS || p.launch.shape == GR_TALL) && p.args.nodes > gr_most_column_nodes) {
    p.args.leaves = ceil_div(job.n, GR_LEAF(size));
    p.args.counters = 1;
    p.launch = {};
    plan_leaves(p, t, chip.sms);
  }
  if (p.launch.shape == GR_LEAVES) plan_meeting(p, t, chip);
  int64_t groups = p.args.nodes == 1 ? gr_most_blocks : gr_counters / (p.args.counters > 1 ? p.args.counters : 1);
  p.vectors = groups * p.per_block;
  if (p.vectors > job.count) p.vectors = job.count;
  p.node_words = p.args.nodes > 1 ? p.vectors * p.args.nodes * p.entry.fields : 0;
  return p;
}

}  // namespace

cudaError_t gr_launch_kernel(const void *kernel, const gr_reduce_args &q, const gr_reduce_launch &l) {
  void *arguments[] = {const_cast<gr_reduce_args *>(&q)};
  return gr_start_early(kernel, arguments, (int32_t)l.blocks, (int32_t)l.threads, l.shared, l.early, l.stream);
}

static size_t scratch_of(const Plan &p) { return GR_COUNTER_BYTES + (size_t)p.node_words * sizeof(int64_t); }

extern "C" size_t gr_cuda_reduce_scratch(const gr_reduce_job *job, const gr_cuda_chip *chip) {
  return scratch_of(plan(*job, *chip));
}

static Plan plan_arrays(const gr_reduce_job &first, int count, const gr_cuda_chip &chip) {
  gr_reduce_job all = first;
  all.count = count;
  return plan(all, chip, true);
}

extern "C" size_t gr_cuda_reduce_arrays_scratch(const gr_reduce_job *first, int count, const gr_cuda_chip *chip) {
  return scratch_of(plan_arrays(*first, count, *chip));
}

/* ---- launches that overlap ---- */

static bool misses(const gr_cuda_span &span, const void *from, int64_t bytes) {
  return (const char *)from >= span.to || (const char *)from + bytes <= span.from;
}
static gr_cuda_span both(const gr_cuda_span &a, const gr_cuda_span &b) {
  if (a.from == a.to) return b;
  if (b.from == b.to) return a;
  return {a.from < b.from ? a.from : b.from, a.to > b.to ? a.to : b.to};
}
/* What a launch writes, in results of 8 bytes. */
static gr_cuda_span results_of(const gr_reduce_job &j, const gr_cuda_run &run) {
  auto results = [&j](void *p) -> gr_cuda_span { return {(char *)p, p ? (char *)p + j.count * 8 : nullptr}; };
  if (run.done) return {};
  if (j.chosen) return {nullptr, (const char *)UINTPTR_MAX};
  return both(results(j.out), results(j.out2));
}
/*
** Whether this launch may read at once (sums back to back: 2^22 f32 7.3 -> 4.8 us, one element in a graph 1.28 -> 0.60). If
** not, all earlier ones are over before it lets the next one start.
*/
static bool reads_at_once(const gr_reduce_job &j, const gr_cuda_run &run) {
  int size = gr_size_of(j.dtype);
  const gr_vec &b = inputs_of[gr_reducer_of(j.op, j.dtype)] == 2 ? j.b : j.a;
  return run.written && run.chip->major >= 9 && j.count == 1 && !j.offsets && j.a.stride == size && b.stride == size &&
         misses(*run.written, j.a.data, j.n * size) && misses(*run.written, b.data, j.n * size);
}

static int launch(Plan &p, const gr_cuda_run *run) {
  int64_t count = p.args.job.count;
  gr_cuda_span results = results_of(p.args.job, *run);
  if (!p.entry.launch || (p.launch.shape == GR_LEAVES && p.args.nodes > gr_most_nodes)) return cudaErrorInvalidValue;
  p.args.counter = (unsigned *)run->scratch;
  p.args.post = (uint64_t *)((char *)run->scratch + GR_COUNTER_BYTES - GR_POST_BYTES);
  p.args.node = (int64_t *)((char *)run->scratch + GR_COUNTER_BYTES);
  p.args.a = p.args.job.a.data;
  p.args.b = p.args.job.b.data;
  p.args.n = p.args.job.n;
  p.args.stride_a = p.args.job.a.stride;
  p.args.stride_b = p.args.job.b.stride;
  p.args.op = (uint8_t)p.args.job.op;
  p.args.out = p.args.job.out;
  p.args.out2 = p.args.job.out2;
  p.args.out_dtype = (uint8_t)p.args.job.out_dtype;
  p.args.done = run->done;
  if (run->done) p.args.ahead = false; /* the host waits, nothing ran before */
  p.args.ticket = run->ticket;
  p.launch.stream = (cudaStream_t)run->stream;
  if (run->written) *run->written = p.args.untouched ? both(*run->written, results) : results;
  for (int64_t first = 0; first < count; first += p.vectors) {
    cudaError_t e;
    p.args.first = first;
    p.args.job.count = count - first < p.vectors ? count - first : p.vectors;
    p.launch.blocks = (unsigned)(ceil_div(p.args.job.count, p.per_block) * p.blocks_per_group);
    if (p.launch.most && p.launch.blocks > p.launch.most) p.launch.blocks = p.launch.most;
    if ((e = p.entry.launch(p.args, p.launch)) != cudaSuccess) return e;
  }
  return cudaSuccess;
}

extern "C" int gr_cuda_reduce(const gr_reduce_job *job, const gr_cuda_run *run) {
  Plan p = plan(*job, *run->chip, false, reads_at_once(*job, *run), run->done != nullptr);
  return launch(p, run);
}

extern "C" int gr_cuda_reduce_arrays(const gr_reduce_job *const *jobs, int count, const gr_cuda_run *run) {
  Plan p = plan_arrays(*jobs[0], count, *run->chip);
  p.args.arrays = 1;
  for (int k = 0; k < count; k++) {
    const gr_reduce_job &j = *jobs[k];
    p.args.array[k] = {j.a.data, j.b.data, j.op};
  }
  return launch(p, run);
}
