/*
** The plan of a reduction: which kernel, how much scratch; then the launch.
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
void plan_combine(Plan &p, const gr_tune &t, const gr_cuda_chip &chip) {
  int64_t nodes = p.args.nodes, count = p.args.job.count, blocks = nodes * ceil_div(count, p.per_block);
  bool few = count <= chip.sms && nodes <= 2 * p.launch.threads && p.launch.threads <= 256;
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
      chip.major >= 9 && (p.args.inputs_stable || p.args.passes <= 2 || blocks * 10 >= slots_of(p, t, chip.sms) * 9);
  p.args.ahead = p.launch.early && !p.args.inputs_stable && p.args.flat && !p.args.strided && p.args.passes == 1 &&
                 blocks <= 2 * chip.sms;
}

/* apart: the vectors are arrays of their own. inputs_stable and to_host: never more nodes in scratch memory. */
Plan plan(const gr_reduce_job &job, const gr_cuda_chip &chip, bool apart = false, bool inputs_stable = false,
          bool to_host = false) {
  Plan p = {};
  memset(&p.args, 0, sizeof p.args); /* its union whole: graphs compare arguments byte by byte */
  gr_tune t = gr_tune_for(chip.major, chip.minor);
  gr_reducer red = gr_reducer_of(job.op, job.dtype);
  int size = gr_size_of(job.dtype), inputs = inputs_of[red];
  p.entry = entry_of(red, job.dtype);
  p.args.job = job;
  bool variant = red == GR_RED_ARGMIN || red == GR_RED_SUMABS || (red == GR_RED_COUNT && gr_is_float(job.dtype));
  p.args.context = {red == GR_RED_SUMABS ? 1.0 : job.scale_a, job.scale_b, {variant ? -1 : 0}};
  if (is_position(red) && (job.dtype == GR_I8 || job.dtype == GR_I16 || job.dtype == GR_I32))
    p.args.context.key_xor ^= (int64_t)1 << (8 * size - 1);
  if (inputs == 1) p.args.job.b = job.a;
  p.args.leaves = clamp(ceil_div(job.n, GR_LEAF(size)), 1, INT64_MAX);
  p.args.flat = job.count == 1 && !job.offsets;
  p.args.inputs_stable = inputs_stable;
  p.to_host = to_host;
  p.args.strided = p.args.job.a.stride != size || p.args.job.b.stride != size;
  bool many = job.n > 0 && job.count > 1 && p.entry.columns > 0 && !apart;
  if (job.offsets) plan_segments(p, t, chip.sms);
  else if (many && p.entry.rows_by_vector && by_rows_by_vector(p.args.job) && job.n >= GR_LEAF(size))
    plan_rows_by_vector(p, chip.sms);
  else if (many && by_rows_staged(p) && (inputs == 1 || by_rows_by_vector(p.args.job))) plan_rows_staged(p, chip.sms);
  else if (many && p.entry.rows_way && by_rows_by_element(p.args.job)) plan_rows_by_element(p, chip.sms);
  else if (many && is_columns(p.args.job) && p.entry.few_rows_columns && job.n <= 8 && (inputs == 1 || shared_b(job)))
    plan_cols_few_rows(p, chip);
  else if (many && is_columns(p.args.job) && p.entry.cols_sum && by_cols_sum(p.args.job)) plan_cols_sum(p, chip);
  else if (many && is_columns(p.args.job) && by_cols_variance_ring(p.args.job, p.entry, chip))
    plan_cols_variance_ring(p, chip);
  else if (many && is_columns(p.args.job) && p.entry.ordered && !gr_ordered_left_out(red, chip.major))
    plan_cols_ordered(p, t, chip);
  else if (many && is_columns(p.args.job) && !p.entry.ordered) plan_cols_unordered(p, t, chip, inputs);
  else plan_leaves(p, t, chip.sms);
  if ((p.launch.shape == GR_COLS || p.launch.shape == GR_COLS_SUM || p.launch.shape == GR_COLS_VARIANCE_RING) &&
      p.args.nodes > gr_most_column_nodes) {
    p.args.leaves = ceil_div(job.n, GR_LEAF(size));
    p.args.counters = 1;
    p.launch = {};
    plan_leaves(p, t, chip.sms);
  }
  if (p.launch.shape == GR_LEAVES) plan_combine(p, t, chip);
  if (p.launch.shape == GR_ROWS_BY_ELEMENT || p.launch.shape == GR_ROWS_STAGED || p.launch.shape == GR_ROWS_BY_VECTOR)
    p.launch.early = chip.major >= 9;
  int64_t groups = p.args.nodes == 1 ? gr_most_blocks : gr_counters / (p.args.counters > 1 ? p.args.counters : 1);
  p.vectors = groups * p.per_block;
  if (p.vectors > job.count) p.vectors = job.count;
  p.node_words = p.args.nodes > 1 ? p.vectors * p.args.nodes * p.entry.fields : 0;
  return p;
}

}  // namespace

cudaError_t gr_launch_kernel(const void *kernel, const gr_reduce_args &q, const gr_reduce_launch &l) {
  static_assert(sizeof q <= GR_ARGUMENT_BYTES, "a kernel that is put down has more arguments than there is room for");
  if (l.batch) {
    if (l.batch->count == GR_BATCH) return cudaErrorInvalidValue;
    gr_cuda_kernel &k = l.batch->kernel[l.batch->count++];
    k.kernel = kernel;
    k.blocks = (int32_t)l.blocks;
    k.threads = (int32_t)l.threads;
    k.shared = (int32_t)l.shared;
    k.early = l.early;
    k.bytes = sizeof q;
    memcpy(k.arguments, &q, sizeof q);
    return cudaSuccess;
  }
  void *arguments[] = {const_cast<gr_reduce_args *>(&q)};
  return gr_start_early(kernel, arguments, (int32_t)l.blocks, (int32_t)l.threads, l.shared, l.early, l.stream);
}

/* Shapes of reduce/cols_variance_ring.cuh. */
cudaError_t gr_launch_ring(const void *kernel, const gr_reduce_args &q, const gr_reduce_launch &l) {
  const gr_reduce_job &j = q.job;
  gr_variance_numbers s = gr_variance_numbers_of(gr_size_of(j.dtype));
  uint64_t whole = (uint64_t)(j.n / s.leaf_rows), near = (uint64_t)s.near, stride = (uint64_t)j.a.stride;
  gr_tensor_shape shape = {(const char *)j.a.data,
                           s.size,
                           s.size == 4 && q.cols_variance_ring.leaves_log2 == 0,
                           {(uint64_t)(q.first + j.count), whole ? whole : 1, near, s.leaf_rows / near},
                           {stride * s.leaf_rows, stride, stride * near},
                           {(uint32_t)(16 / s.size) << q.cols_variance_ring.words_log2,
                            1u << q.cols_variance_ring.leaves_log2, (uint32_t)s.tile_near, (uint32_t)s.tile_rows}};
  gr_tensor_map map;
  cudaError_t e = gr_make_tensor_map(&map, shape);
  if (e == cudaSuccess) e = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)l.shared);
  if (e != cudaSuccess) return e;
  void *arguments[] = {const_cast<gr_reduce_args *>(&q), &map};
  return gr_start_early(kernel, arguments, (int32_t)l.blocks, (int32_t)l.threads, l.shared, l.early, l.stream);
}

static size_t scratch_of(const Plan &p) { return GR_COUNTER_BYTES + (size_t)p.node_words * sizeof(int64_t); }

extern "C" size_t gr_cuda_reduce_scratch(const gr_reduce_job *job, const gr_cuda_chip *chip) {
  return scratch_of(plan(*job, *chip));
}

static Plan plan_arrays(const gr_reduce_job &first, int count, const gr_cuda_chip &chip, bool inputs_stable) {
  gr_reduce_job all = first;
  all.count = count;
  return plan(all, chip, true, inputs_stable, true);
}

extern "C" size_t gr_cuda_reduce_arrays_scratch(const gr_reduce_job *first, int count, const gr_cuda_chip *chip) {
  return scratch_of(plan_arrays(*first, count, *chip, false));
}

/*
** Sums back to back: 2^22 f32 7.3 -> 4.8 us, one element in a graph 1.28 -> 0.60; of 4 rows of 2^24 f16 34.9 -> 29.7.
** Results take 8 bytes at most. Of a graph the first one waits, which costs nothing, for those before the graph, and
** nobody here reads the host's mailbox: so the others wait for no one.
*/
static bool reads_at_once(const gr_reduce_job &j, const gr_cuda_run &run) {
  int size = gr_size_of(j.dtype), inputs = inputs_of[gr_reducer_of(j.op, j.dtype)];
  bool first = run.batch && run.batch->count == 0;
  auto results = [&](void *p) {
    return run.done ? gr_cuda_span{} : j.chosen ? gr_anything : gr_span((int64_t *)p, j.count);
  };
  return gr_reads_at_once(run, !first && !j.offsets,
                          {gr_span(j.a, j.count, j.n, size), gr_span(inputs == 2 ? j.b : j.a, j.count, j.n, size)},
                          {results(j.out), results(j.out2)});
}

static int launch(Plan &p, const gr_cuda_run *run) {
  int64_t count = p.args.job.count;
  if (!p.entry.launch || (p.launch.shape == GR_LEAVES && p.args.nodes > gr_most_nodes)) return cudaErrorInvalidValue;
  p.args.counter = (unsigned *)run->scratch;
  p.args.partials = (gr_halves *)((char *)run->scratch + GR_COUNTER_BYTES - GR_PARTIAL_BYTES);
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
  if (run->mailbox) *run->mailbox = {(int32_t)p.states, p.entry.fields};
  p.launch.stream = (cudaStream_t)run->stream;
  p.launch.batch = run->batch;
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
  Plan p = plan_arrays(*jobs[0], count, *run->chip, reads_at_once(*jobs[0], *run));
  p.args.arrays = 1;
  for (int k = 0; k < count; k++) {
    const gr_reduce_job &j = *jobs[k];
    p.args.array[k] = {j.a.data, j.b.data, j.op};
  }
  return launch(p, run);
}
