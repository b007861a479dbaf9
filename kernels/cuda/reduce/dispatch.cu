/*
** A reduction is planned once: which kernel, how it is spread, how much scratch memory; then it is launched, or filed
** in a batch.
**
** Scratch: after the counters, the nodes of every vector that takes more than one block. Counters are one a
** vector (or a group of columns), so a launch takes at most gr_counters of those at a time; more vectors of
** several blocks each take several launches, each of them large.
*/
#include "kernels/cuda/batch.h"
#include "kernels/cuda/block/tma_host.cuh"
#include "kernels/cuda/reduce/plan.cuh"
#include "kernels/cuda/reduce/plan_cols.cuh"
#include "kernels/cuda/reduce/plan_cols_sum.cuh"

namespace {

/*
** Few partials: block 0 polls them, without a counter. No more blocks poll than there are multiprocessors, so that
** others find room whatever order blocks start in. The next launch may begin early unless this one leaves many places
** free: it would take them, and its blocks would be spread unevenly from then on. Blocks that begin early and have
** places to spare ask for their data at once (sum of 2^20 f32 3.9 -> 3.6 us; of 2^22, where they have none, 6.8 ->
** 7.9).
*/
void plan_combine(Plan &p, const gr_reduce_tuning &t, const gr_cuda_chip &chip) {
  int64_t nodes = p.args.nodes, count = p.args.job.count, blocks = nodes * ceil_div(count, p.per_block);
  bool alone = p.launch.formula && p.launch.formula->alone;
  int polled = p.launch.formula && !p.launch.formula->present ? Shares::polled_of_formulas : Shares::polled_nodes;
  bool few = !alone && count <= chip.sms && nodes <= polled * p.launch.threads && p.launch.threads <= 256;
  if (p.to_host) {
    if (p.args.combine != GR_COMBINE_LEAVES_ON_HOST && nodes > 1 && nodes <= most_mailed(p, 2 * GR_MAILBOX_STATES))
      p.args.combine = GR_COMBINE_NODES_ON_HOST;
    p.states = p.args.combine == GR_COMBINE_LEAVES_ON_HOST  ? p.args.leaves
               : p.args.combine == GR_COMBINE_NODES_ON_HOST ? nodes
                                                            : 1;
  }
  if (p.args.combine == GR_COMBINE_LAST_BLOCK && nodes > 1 && few &&
      count * nodes * p.entry.fields * 16 <= GR_PARTIAL_BYTES)
    p.args.combine = GR_COMBINE_POLLING;
  p.launch.early =
      chip.major >= 9 && (p.args.inputs_stable || p.args.passes <= Shares::early_passes ||
                          blocks * Shares::early.in >= slots_of(p, t, chip.sms) * Shares::early.of);
  p.args.ahead = p.launch.early && !p.args.inputs_stable && p.args.flat && !p.args.strided && p.args.passes == 1 &&
                 blocks <= Shares::ahead_blocks * chip.sms;
}

/*
** Which kernel serves what: the first row wins whose kernel the reducer has and which accepts the job. The table in
** kernels/cuda/README.md has the same rows, with figures (spec/explain_spec.lua compares them).
*/
struct Row {
  gr_reduce_kernel kernel;
  const char *serves;
  bool (*accepts)(const Plan &, const gr_cuda_chip &);
  void (*plan)(Plan &, const gr_reduce_tuning &, const gr_cuda_chip &);
};
constexpr Row rows[] = {
    {GR_KERNEL_leaves, "segments", accepts_segments, plan_segments},
    {GR_KERNEL_rows_by_vector, "rows of a leaf or more by one vector, odd ones of 1280 bytes or more",
     accepts_rows_by_vector, plan_rows_by_vector},
    {GR_KERNEL_rows_staged, "rows up to a leaf, of whole aligned words; narrow ones also without",
     accepts_rows_staged, plan_rows_staged},
    {GR_KERNEL_rows_by_element, "other rows up to 4 KB, not far apart", accepts_rows_by_element, plan_rows_by_element},
    {GR_KERNEL_cols_few_rows, "columns of few rows", accepts_cols_few_rows, plan_cols_few_rows},
    {GR_KERNEL_cols_flat, "few odd columns without gaps", accepts_cols_flat, plan_cols_flat},
    {GR_KERNEL_cols_sum, "aligned or wide columns, of many bytes or few rows, added up or by one vector",
     accepts_cols_sum, plan_cols_sum},
    {GR_KERNEL_cols_variance_ring, "variances of large aligned columns, from Hopper on", accepts_cols_variance_ring,
     plan_cols_variance_ring},
    {GR_KERNEL_cols_by_lane, "other columns, where the order within a leaf matters", accepts_cols_by_lane,
     plan_cols_by_lane},
    {GR_KERNEL_cols_unordered, "other columns, where no order matters", accepts_cols_unordered, plan_cols_unordered},
    {GR_KERNEL_rows_of_integers, "other short rows of integers, multiplied and added up", accepts_rows_of_integers,
     plan_rows_of_integers},
    {GR_KERNEL_leaves, "everything else: flat vectors, long rows, strides", accepts_all, plan_leaves},
};
constexpr bool has_row(int kernel) {
  for (const Row &r : rows)
    if (r.kernel == kernel) return true;
  return false;
}
#define GR_X(name, scope) static_assert(has_row(GR_KERNEL_##name), "gr_reduce_" #name " has no row: nothing takes it");
GR_REDUCE_KERNELS(GR_X)
#undef GR_X
const Row *const last_row = rows + sizeof rows / sizeof *rows - 1;

/* The kernel that a formula's is, with holes, or without what is NaN. */
gr_reduce_kernel kernel_of(const gr_cuda_formula &f) {
  if (f.across) return GR_KERNEL_cols_sum;
  switch (f.present) {
    case GR_PRESENT_rows_staged: return GR_KERNEL_rows_staged;
    case GR_PRESENT_rows_by_element: return GR_KERNEL_rows_by_element;
    case GR_PRESENT_cols_unordered: return GR_KERNEL_cols_unordered;
    case GR_PRESENT_cols_flat: return GR_KERNEL_cols_flat;
    case GR_PRESENT_cols_sum: return GR_KERNEL_cols_sum;
    case GR_PRESENT_NONE:
    case GR_PRESENT_COUNT:
    case GR_PRESENT_leaves: break;
  }
  return GR_KERNEL_leaves;
}

const Row *row_of(const Plan &p, const gr_cuda_chip &chip) {
  if (!p.many && !p.args.job.offsets) return last_row; /* one vector: no other row is for these */
  const Row *r = rows;
  const gr_cuda_formula *formula = p.launch.formula;
  if (formula && p.args.job.offsets) return rows;
  if (formula && !formula->across) { /* that kernel it is */
    for (r = last_row; r->kernel != kernel_of(*formula);) r--;
    return r->accepts(p, chip) ? r : last_row;
  }
  while (r < last_row && !(p.entry.kernel[r->kernel] && r->accepts(p, chip))) r++;
  return r;
}

/* Rows of one element are the columns of one row, if they follow each other: then threads have whole words of them. */
void one_row(gr_reduce_job &j, int size) {
  if (j.a.step != size || (j.b.step != size && j.b.step != 0)) return;
  j.a.stride = j.count * size;
  if (j.b.step == size) j.b.stride = j.a.stride;
}

/*
** apart: the vectors are arrays of their own, of so many leaves together, the longest as long as the job says; or 0.
** made: columns whose elements a formula is to make.
*/
Plan plan(const gr_reduce_job &job, const gr_cuda_chip &chip, int64_t apart, bool inputs_stable, bool to_host,
          const gr_cuda_formula *formula = nullptr, bool made = false) {
  static const int8_t inputs_of[] = {
#define GR_X(id, inputs, f, i) inputs,
      GR_REDUCERS(GR_X)
#undef GR_X
  };
  Plan p;
  memset(&p, 0, sizeof p); /* the arguments' padding too: graphs compare them byte by byte */
  const gr_reduce_tuning &t = gr_reduce_tuning_for(chip);
  gr_reducer red = p.reducer = gr_reducer_of(job.op, job.dtype);
  int size = gr_size_of(job.dtype);
  p.inputs = inputs_of[red];
  p.entry = entry_of(red, job.dtype);
  p.launch.formula = formula;
  if (formula) {
    p.entry.kernel[kernel_of(*formula)] = formula->function;
    p.entry.resident = formula->resident;
    if (formula->fields) p.entry.fields = formula->fields;
  }
  p.args.job = job;
  bool variant = red == GR_RED_ARGMIN || red == GR_RED_SUMABS || (red == GR_RED_COUNT && gr_is_float(job.dtype));
  p.args.context = {red == GR_RED_SUMABS ? 1.0 : job.scale_a, job.scale_b, {variant ? -1 : 0}};
  if (is_position(red)) p.args.context.key_xor ^= sign_bit(job.dtype);
  if (p.inputs == 1) p.args.job.b = job.a;
  p.args.leaves = clamp(ceil_div(job.n, GR_LEAF(size)), 1, INT64_MAX);
  p.all_leaves = apart ? apart : p.args.leaves * job.count;
  p.args.flat = job.count == 1 && !job.offsets;
  p.args.inputs_stable = inputs_stable;
  p.to_host = to_host && !(formula && formula->alone);
  p.args.strided = p.args.job.a.stride != size || p.args.job.b.stride != size;
  const bool askew = ((uintptr_t)p.args.job.a.data ^ (uintptr_t)p.args.job.b.data) % 16 != 0;
  if (formula && formula->present == GR_PRESENT_leaves && askew)
    p.args.strided = true; /* their words are put right one by one (warp/leaf.cuh) */
  p.many = job.n > 0 && job.count > 1 && !apart;
  p.made = made || (formula && (formula->across || formula->present == GR_PRESENT_cols_sum));
  if (p.many && !job.offsets && job.n == 1) one_row(p.args.job, size);
  p.launch.early = chip.major >= 9;
  p.args.nodes = 1;
  p.row = row_of(p, chip);
  p.row->plan(p, t, chip);
  if (p.row->kernel != GR_KERNEL_leaves && are_columns(p) && p.args.nodes > gr_most_column_nodes) {
    p.args.leaves = ceil_div(job.n, GR_LEAF(size));
    p.args.counters = 1;
    p.launch = {};
    p.row = last_row;
    p.row->plan(p, t, chip);
  }
  if (p.row->kernel == GR_KERNEL_leaves) plan_combine(p, t, chip);
  if (formula && formula->alone) p.states = 1;
  if (formula && formula->alone) p.launch.early = p.args.ahead = false; /* its kernels wait for nothing */
  int64_t groups = p.args.nodes == 1 ? gr_most_blocks : gr_counters / (p.args.counters > 1 ? p.args.counters : 1);
  p.vectors = groups * p.per_block;
  if (p.vectors > job.count) p.vectors = job.count;
  p.node_words = p.args.nodes > 1 ? p.vectors * p.args.nodes * p.entry.fields : 0;
  return p;
}

size_t scratch_of(const Plan &p) { return GR_COUNTER_BYTES + (size_t)p.node_words * sizeof(int64_t); }

/* ---- launches ---- */

cudaError_t file(const void *kernel, const gr_reduce_args &q, const gr_reduce_launch &l) {
  static_assert(sizeof q == GR_OWN_ARGUMENT_BYTES, "a batch has room for other arguments");
  const size_t words = l.formula ? (size_t)l.formula->count * sizeof(uint64_t) : 0;
  if (sizeof q + words > GR_ARGUMENT_BYTES) return cudaErrorInvalidValue;
  gr_cuda_kernel *k = gr_batch_add(l.batch, kernel, &q, sizeof q, l.blocks, l.threads, l.shared, l.early);
  if (!k) return cudaErrorInvalidValue;
  if (!l.formula) return cudaSuccess;
  k->compiled = l.formula->compiled;
  k->bytes += (int32_t)words;
  memcpy((char *)k->arguments + sizeof q, l.formula->words, words);
  return cudaSuccess;
}

/* The matrix as tiles of gr_reduce_cols_variance_ring. */
cudaError_t make_ring_map(gr_tensor_map *map, const gr_reduce_args &q) {
  const gr_cols_variance_ring_args &how = q.cols_variance_ring;
  const gr_reduce_job &j = q.job;
  gr_variance_numbers s = gr_variance_numbers_of(gr_size_of(j.dtype));
  const bool wide = how.leaves_log2 == 0, joint = s.tile_rows == 1;
  const uint64_t whole = (uint64_t)(j.n / s.leaf_rows), near = (uint64_t)s.near, stride = (uint64_t)j.a.stride;
  const uint64_t rows = (uint64_t)j.n, columns = (uint64_t)(q.first + j.count), leaf = (uint64_t)s.leaf_rows;
  gr_tensor_shape shape = {(const char *)j.a.data,
                           s.size,
                           s.size == 4 && wide,
                           {columns, whole ? whole : 1, near, leaf / near},
                           {stride * leaf, stride, stride * near},
                           {(uint32_t)(16 / s.size) << how.words_log2,
                            1u << how.leaves_log2, (uint32_t)s.tile_near, (uint32_t)s.tile_rows}};
  if (wide) { /* no leaves, so that the last one may end anywhere */
    shape.dims[1] = 1;
    if (joint) shape.dims[2] = rows, shape.dims[3] = 1;
    else shape.dims[3] = rows / near;
  }
  return gr_make_tensor_map(map, shape);
}

cudaError_t start(gr_reduce_kernel which, const void *kernel, const gr_reduce_args &q,
                         const gr_reduce_launch &l) {
  if (l.batch) return file(kernel, q, l);
  if (l.formula) {
    gr_cuda_batch one;
    gr_reduce_launch there = l;
    one.count = 0;
    there.batch = &one;
    cudaError_t e = file(kernel, q, there);
    if (e != cudaSuccess) return e;
    return (cudaError_t)l.formula->launch(l.formula->function, l.blocks, l.threads, l.shared, l.early, l.stream,
                                          one.kernel[0].arguments);
  }
  gr_tensor_map map;
  void *arguments[] = {const_cast<gr_reduce_args *>(&q), &map};
  cudaError_t e = cudaSuccess;
  if (which == GR_KERNEL_cols_variance_ring) e = make_ring_map(&map, q);
  if (e == cudaSuccess && l.allowed && l.shared > 40 << 10) /* 48 KB, less what kernels have besides */
    e = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)l.allowed);
  if (e != cudaSuccess) return e;
  return gr_start_early(kernel, arguments, (int32_t)l.blocks, (int32_t)l.threads, l.shared, l.early, l.stream);
}

/*
** Sums back to back: 2^22 f32 7.3 -> 4.8 us, one element in a graph 1.28 -> 0.60; of 4 rows of 2^24 f16 34.9 -> 29.7.
** Results take 8 bytes at most. Of a graph the first one waits, which costs nothing, for those before the graph, and
** nobody here reads the host's mailbox: so the others wait for no one.
*/
bool reads_at_once(const gr_reduce_job &j, const gr_cuda_run &run) {
  int size = gr_size_of(j.dtype);
  bool first = run.batch && run.batch->count == 0;
  auto results = [&](void *p) {
    return run.done ? gr_cuda_span{} : j.chosen ? gr_anything : gr_span((int64_t *)p, j.count);
  };
  return gr_reads_at_once(run, !first && !j.offsets && !(run.formula && run.formula->alone),
                          {gr_elements(run, j.a, j.count, j.n, size), gr_elements(run, j.b, j.count, j.n, size)},
                          {results(j.out), results(j.out2)});
}

/* Blocks of a launch of so many vectors. */
unsigned blocks_of(const Plan &p, int64_t vectors) {
  int64_t blocks = ceil_div(vectors, p.per_block) * p.args.nodes;
  return p.launch.most && blocks > p.launch.most ? p.launch.most : (unsigned)blocks;
}

int launch(Plan &p, const gr_cuda_run *run) {
  int64_t count = p.args.job.count;
  const void *kernel = p.entry.kernel[p.row->kernel];
  if (!kernel || (p.row->kernel == GR_KERNEL_leaves && p.args.nodes > gr_most_nodes)) return cudaErrorInvalidValue;
  char *scratch = (char *)run->scratch->memory;
  p.args.counter = (unsigned *)scratch;
  p.args.partials = (gr_halves *)(scratch + GR_COUNTER_BYTES - GR_PARTIAL_BYTES);
  p.args.node = (int64_t *)(scratch + GR_COUNTER_BYTES);
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
  if (run->mailbox) *run->mailbox = {(int32_t)p.states, p.entry.fields};
  p.launch.stream = (cudaStream_t)run->stream;
  p.launch.batch = run->batch;
  for (int64_t first = 0; first < count; first += p.vectors) {
    cudaError_t e;
    p.args.first = first;
    p.args.job.count = count - first < p.vectors ? count - first : p.vectors;
    p.launch.blocks = blocks_of(p, p.args.job.count);
    if ((e = start(p.row->kernel, kernel, p.args, p.launch)) != cudaSuccess) return e;
  }
  return cudaSuccess;
}

}  // namespace

extern "C" int gr_cuda_reduce(const gr_reduce_job *job, const gr_cuda_run *run) {
  Plan p = plan(*job, *run->chip, 0, reads_at_once(*job, *run), run->done != nullptr, run->formula);
  int e = gr_cuda_need(run, scratch_of(p));
  return e == cudaSuccess ? launch(p, run) : e;
}

extern "C" int gr_cuda_reduce_arrays(const gr_reduce_job *const *jobs, int count, const gr_cuda_run *run) {
  gr_reduce_job all = *jobs[0];
  int64_t leaves = 0;
  all.count = count;
  for (int k = 0; k < count; k++) {
    if (jobs[k]->n > all.n) all.n = jobs[k]->n;
    leaves += clamp(ceil_div(jobs[k]->n, GR_LEAF(gr_size_of(all.dtype))), 1, INT64_MAX);
  }
  Plan p = plan(all, *run->chip, leaves, reads_at_once(*jobs[0], *run), true);
  p.args.arrays = 1;
  for (int k = 0; k < count; k++) {
    const gr_reduce_job &j = *jobs[k];
    p.args.array[k] = {j.a.data, j.b.data, j.n, j.op};
  }
  int e = gr_cuda_need(run, scratch_of(p));
  return e == cudaSuccess ? launch(p, run) : e;
}

extern "C" int gr_cuda_columns_fit(const gr_reduce_job *job, const gr_cuda_chip *chip) {
  Plan p = plan(*job, *chip, 0, false, false, nullptr, true);
  const gr_cols_sum_args &how = p.args.cols_sum;
  return p.reducer == GR_RED_SUM && p.row->kernel == GR_KERNEL_cols_sum && !how.unaligned && !how.two_a_word;
}

/* In gr_reduce_leaves a warp would be idle for most of a leaf if rows are shorter than half of one. */
extern "C" gr_cuda_present gr_cuda_present_for(const gr_reduce_job *job, const gr_cuda_chip *chip) {
  const Plan p = plan(*job, *chip, 0, false, false);
  const gr_reducer red = p.reducer;
  const bool extreme = red == GR_RED_MINMAX || is_position(red);
  const bool sum = red == GR_RED_SUM || red == GR_RED_SUMSQ || red == GR_RED_SUMABS;
  const bool shortened = p.row->kernel == GR_KERNEL_rows_staged || p.row->kernel == GR_KERNEL_rows_by_element;
  auto take = [&](gr_cuda_present kernel) {
    gr_cuda_formula formula = {};
    formula.present = kernel;
    formula.resident = 1; /* of which nothing here depends */
    formula.fields = red == GR_RED_SUM ? 2 : 0; /* as it counts */
    const Plan its = plan(*job, *chip, 0, false, false, &formula);
    return its.row->kernel == kernel_of(formula) ? kernel : GR_PRESENT_NONE;
  };
  if (job->offsets) return GR_PRESENT_NONE;
  if (are_columns(p) && extreme) return take(GR_PRESENT_cols_unordered);
  if (are_columns(p) && !sum) return GR_PRESENT_NONE;
  if (are_columns(p)) return take(accepts_cols_flat(p, *chip) ? GR_PRESENT_cols_flat : GR_PRESENT_cols_sum);
  if (!p.many || !shortened || job->n * 2 > GR_LEAF(gr_size_of(job->dtype))) return GR_PRESENT_leaves;
  const bool staged = p.row->kernel == GR_KERNEL_rows_staged && !p.args.rows_staged.two_a_word;
  if (staged && (red == GR_RED_SUM || red == GR_RED_MINMAX)) return GR_PRESENT_rows_staged;
  return (extreme || sum) && accepts_rows_by_element(p, *chip) ? GR_PRESENT_rows_by_element : GR_PRESENT_leaves;
}

int gr_reduce_to_scratch(const gr_reduce_job &job, const gr_cuda_run &run, size_t bytes, char **out) {
  Plan p = plan(job, *run.chip, 0, false, false);
  size_t before = (scratch_of(p) + 255) & ~(size_t)255;
  int e = gr_cuda_need(&run, before + bytes);
  if (e != cudaSuccess) return e;
  *out = (char *)run.scratch->memory + before;
  p.args.job.out = *out;
  gr_cuda_run part = run;
  part.written = NULL; /* it waits, and what it writes is the larger operation's business */
  return launch(p, &part);
}

/* ---- explaining ---- */

static const char *const kernel_names[] = {
#define GR_X(name, scope) "gr_reduce_" #name,
    GR_REDUCE_KERNELS(GR_X)
#undef GR_X
};

extern "C" void gr_cuda_explain(const gr_reduce_job *job, const gr_cuda_chip *chip, int to_host, gr_explained *e) {
  static const char *const combines[] = {
#define GR_X(id, text) text,
      GR_COMBINE_MODES(GR_X)
#undef GR_X
  };
  Plan p = plan(*job, *chip, 0, false, to_host);
  bool parts = p.args.nodes > 1 || p.states > 1;
  *e = {kernel_names[p.row->kernel], p.row->serves, parts ? combines[p.args.combine] : NULL, NULL,
        ceil_div(job->count, p.vectors), blocks_of(p, p.vectors), p.launch.threads, p.launch.shared,
        (int64_t)scratch_of(p)};
}

extern "C" int gr_cuda_reduce_row(int k, gr_explained *e) {
  if (k < 0 || k > last_row - rows) return 0;
  *e = {kernel_names[rows[k].kernel], rows[k].serves};
  return 1;
}
