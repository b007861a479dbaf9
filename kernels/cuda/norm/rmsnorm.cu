/*
** RMSNorm: x / sqrt(mean(x^2) + eps) * w, row by row. Rows are read once and wait in shared memory while their sum of
** squares folds along the tree: several short ones to a warp, longer ones a warp to a leaf and up to 64 KB to a block;
** of still longer ones several blocks have a piece each and wait for each other's sums, or, of many, blocks stay and
** pass one after the other through a ring. Rows that are not of whole aligned words (loose) have kernels of their own.
** What is strided, or longer than all blocks hold, takes two launches: the sums of squares by the reduction, then the
** scaling.
*/
#include "kernels/cuda/norm/rmsnorm_loose.cuh"
#include "kernels/cuda/norm/rmsnorm_ring.cuh"
#include "kernels/cuda/norm/rmsnorm_short.cuh"

/*
** A warp for a leaf; `pieces` blocks for a row. A kernel of its own where a block has all of a row: 40 registers, not
** 48, and so more blocks (16384 x 4096 f32 138 -> 131.6 us).
*/
template <gr_dtype D, bool alone>
static __global__ void __launch_bounds__(Tuning::pieces_warps * 32, Tuning::pieces_blocks)
    rmsnorm_pieces(const __grid_constant__ rmsnorm_args q, int pieces, gr_halves *partials, gr_tag tag) {
  constexpr int words = GR_LEAF_ROWS(gr_size<D>);
  extern __shared__ uint4 kept[];
  int lane = threadIdx.x & 31, warp = gr_warp_index(), leaves = blockDim.x >> 5;
  unsigned row = alone ? blockIdx.x : blockIdx.x / (unsigned)pieces;
  int piece = alone ? 0 : (int)(blockIdx.x - row * (unsigned)pieces);
  int64_t offset = (int64_t)(piece * leaves + warp) * leaf_bytes<D> + lane * 16;
  int present =
      (int)max((int64_t)0, min((int64_t)words, (q.n * gr_size<D> - offset + GR_ROW_BYTES - 1) / GR_ROW_BYTES));
  const uint4 *from = (const uint4 *)(q.x + row * q.x_step + offset);
  uint4 *mine = kept + warp * words * 32 + lane;
  double s[per_word<D>];
  gr_start_reading(q.inputs_stable);
#pragma unroll
  for (int k = 0; k < words; k++)
    if (k < present) gr_copy_async<16>(mine + k * 32, from + k * 32);
  gr_copies_wait();
  if (!alone) gr_await_earlier(); /* sums are published */
  start_squares<D>(s);
#pragma unroll(Tuning::pieces_unrolled)
  for (int k = 0; k < present; k++) add_squares<D>(s, mine[k * 32], q.brain);
  double folded = fold_squares<D>(s, lane);
  one_factor<D> factor;
  factor.row.set(factor_of(q, sum_of_row<D, alone>(folded, lane, warp, pieces, partials, tag)));
  if (alone) gr_await_earlier();
  const uint4 *weights = (const uint4 *)(q.w + offset);
  uint4 *to = (uint4 *)(q.out + row * q.out_step + offset);
#pragma unroll(Tuning::pieces_unrolled)
  for (int k = 0; k < present; k++) {
    weights_word<D> w;
    if (q.w) w.set(__ldg(weights + k * 32), q.brain);
    __stcg(to + k * 32, scale_word<D>(mine[k * 32], factor, q.w != NULL, w, q.brain));
  }
}

/* The second launch for rows of any kind: a block scales a segment of one. */
template <gr_dtype D>
static __global__ void __launch_bounds__(Tuning::scale_threads)
    rmsnorm_scale(const __grid_constant__ rmsnorm_args q, int64_t segments, bool whole_words) {
  constexpr int C = per_word<D>;
  int64_t row = blockIdx.x / segments, k = blockIdx.x % segments * Tuning::scale_segment;
  int64_t end = min(k + Tuning::scale_segment, q.n);
  gr_await_earlier();
  gr_let_next_start();
  one_factor<D> factor;
  factor.row.set(factor_of(q, q.sums[row]));
  if (whole_words) {
    const uint4 *from = (const uint4 *)(q.x + row * q.x_step), *weights = (const uint4 *)q.w;
    uint4 *to = (uint4 *)(q.out + row * q.out_step);
    for (k = k / C + threadIdx.x; k < end / C; k += Tuning::scale_threads) {
      weights_word<D> w;
      if (q.w) w.set(__ldg(weights + k), q.brain);
      __stcg(to + k, scale_word<D>(from[k], factor, q.w != NULL, w, q.brain));
    }
    return;
  }
#pragma unroll(Tuning::scale_unrolled)
  for (k += threadIdx.x; k < end; k += Tuning::scale_threads) {
    gr_type<D> x = *(const gr_type<D> *)(q.x + row * q.x_step + k * q.x_stride), weight = {};
    if (q.w) weight = *(const gr_type<D> *)(q.w + k * q.w_stride);
    *(gr_type<D> *)(q.out + row * q.out_step + k * q.out_stride) =
        scale<D>(x, factor.row.r, q.w != NULL, weight, q.brain);
  }
}

/* ---- launching ---- */

/* How rows that are read once go: leaves (warps) of a block, blocks of a row; 0 if they are not. Or in a ring, or
   loose. */
typedef struct rmsnorm_plan {
  int warps, pieces;
  bool whole_words, loose; /* rows are of whole aligned words; or begin anywhere in one */
  ring_plan ring;
} rmsnorm_plan;

static bool have_common(int a, int b) {
  for (int k = 2; k <= b; k++)
    if (a % k == 0 && b % k == 0) return true;
  return false;
}

/*
** Worth while for many rows of wide elements (f16: 95 -> 101 us). All blocks are there at once, since they wait for
** each other (a launch on another stream gets no room before those of this one have it: bench/tree/streams.cu); if a
** row's last piece is smaller, so many that each block gets any piece of a row in turn.
*/
static ring_plan ring_of(int64_t count, int64_t leaves, int leaf, const gr_cuda_chip *chip) {
  ring_plan p = {Tuning::ring_leaves, 0, 0, chip->sms};
  int slots = (chip->shared_optin - 1024) / (leaf + (int)sizeof(ring_slot)) / Tuning::ring_adders * Tuning::ring_adders;
  p.pieces = (int)((leaves + p.leaves - 1) / p.leaves);
  p.last = (int)(leaves - (int64_t)(p.pieces - 1) * p.leaves);
  while (p.last < p.leaves && have_common(p.blocks, p.pieces)) p.blocks--;
  p.on_rows = p.blocks / p.pieces;
  p.on_pieces = p.blocks % p.pieces;
  if (chip->major >= 9 && slots >= Tuning::ring_pieces_held * p.leaves && p.pieces <= 32 && p.pieces <= p.blocks &&
      count * leaves >= Tuning::ring_leaves_each * chip->sms)
    p.slots = slots;
  return p;
}

static rmsnorm_plan plan_of(const gr_rmsnorm_job *job, const gr_cuda_chip *chip) {
  int64_t size = gr_size_of(job->dtype), leaf = GR_LEAF(size) * size, leaves = (job->n * size + leaf - 1) / leaf;
  uintptr_t all = (uintptr_t)job->x.data | (uintptr_t)job->out.data | (uintptr_t)job->w.data |
                  (uintptr_t)(job->n * size) | (uintptr_t)job->x.step | (uintptr_t)job->out.step;
  int most = Tuning::pieces_warps;
  rmsnorm_plan p = {};
  while (most * leaf > Tuning::pieces_bytes || most * leaf + 1024 > chip->shared_optin) most /= 2;
  if (job->x.stride != size || job->out.stride != size || all % size != 0) return p;
  if (job->w.data && job->w.stride != size) return p;
  p.whole_words = all % 16 == 0;
  p.loose = !p.whole_words;
  if (leaves > (chip->sms < Tuning::most_pieces ? chip->sms : Tuning::most_pieces) * (int64_t)most /
                   Tuning::pieces_waiting_share)
    return p;
  /* Blocks that wait for others are better smaller. */
  p.warps = leaves <= most ? (int)leaves : most / Tuning::pieces_waiting_share;
  p.pieces = (int)((leaves + p.warps - 1) / p.warps);
  if (job->count > INT32_MAX / p.pieces) return {};
  if (p.pieces > 1 && size >= Tuning::ring_least_size && !p.loose)
    p.ring = ring_of(job->count, leaves, (int)leaf, chip);
  return p;
}

/* More than 47 KB of shared memory have to be asked for. */
static cudaError_t launch(const void *kernel, void **args, int64_t blocks, int warps, size_t shared,
                          const gr_cuda_run *run) {
  cudaError_t e = cudaSuccess;
  if (shared > 47 << 10) e = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)shared);
  if (e != cudaSuccess) return e;
  return gr_start_early(kernel, args, (int32_t)blocks, warps * 32, shared, run->chip->major >= 9,
                        (cudaStream_t)run->stream);
}

/* Room for the partials of all rows. */
static cudaError_t partials_of(const rmsnorm_args *q, int pieces, const gr_cuda_run *run, gr_halves **out) {
  int e = gr_cuda_need(run, GR_COUNTER_BYTES + (size_t)q->count * (size_t)pieces * sizeof(gr_halves));
  *out = (gr_halves *)((char *)run->scratch->memory + GR_COUNTER_BYTES);
  return (cudaError_t)e;
}

template <gr_dtype D>
static cudaError_t start_pieces(const rmsnorm_args *q, rmsnorm_plan p, const gr_cuda_run *run) {
  gr_halves *partials = NULL;
  cudaError_t e = p.pieces > 1 ? partials_of(q, p.pieces, run, &partials) : cudaSuccess;
  if (e != cudaSuccess) return e;
  gr_tag tag = gr_tag_of(run->epoch);
  const void *kernel = p.pieces == 1 ? (const void *)rmsnorm_pieces<D, true> : (const void *)rmsnorm_pieces<D, false>;
  void *args[] = {(void *)q, &p.pieces, &partials, &tag};
  size_t bytes = (size_t)(p.pieces == 1 ? q->n * gr_size<D> : (int64_t)p.warps * leaf_bytes<D>);
  return launch(kernel, args, q->count * p.pieces, p.warps, bytes, run);
}

/*
** How many rows of a pass, as a power of two, begin in different banks, `apart` bytes from each other, and where many
** others begin in the same ones, how many lanes the next ones are turned by. Threads meet banks together with the rest
** of their warp, of elements of 8 bytes with half of it; two elements of 2 bytes are in one bank.
*/
template <int size> static void plan_turns(short_plan *p, int64_t apart) {
  constexpr int bank = size == 8 ? 8 : 4, banks = 128 / bank;
  if (apart % bank != 0) return;
  while ((apart / bank << p->apart_log2) % banks != 0) p->apart_log2++;
  if (banks >> p->row_threads_log2 >> p->apart_log2 >= Tuning::short_turned<size>)
    p->turn = size == 2 && p->row_threads_log2 == 0 ? 2 : 1;
}

/*
** As few threads share a row as have 16 lanes each. Rows with more elements than the tree has lanes have a whole warp
** instead, if a warp would not get a row for each of its groups of threads. As many rows to a warp as give each
** multiprocessor enough warps; loose ones only if they lie one behind the other.
*/
template <gr_dtype D>
static cudaError_t start_short(const rmsnorm_args *q, bool whole, const gr_cuda_run *run) {
  constexpr int lanes = GR_LANES(gr_size<D>);
  const int64_t bytes = q->n * gr_size<D>, each = q->count / ((int64_t)run->chip->sms * Tuning::short_resident);
  short_plan p = {};
  p.inverse = (uint32_t)(((1ll << 31) - 1) / q->n + 1);
  while (short_lanes << p.row_threads_log2 < (q->n < lanes ? q->n : lanes)) p.row_threads_log2++;
  int64_t most = Tuning::short_bytes / bytes, per = 32 >> p.row_threads_log2;
  if (most > Tuning::short_rows) most = Tuning::short_rows;
  if (most < 1 || (!whole && (q->x_step != bytes || q->out_step != bytes))) most = 1;
  if (q->n > lanes && (most < per || each < per)) p.row_threads_log2 = 5, per = 1;
  const int64_t rows = most < per || each < per ? per : (each < most ? each : most) / per * per;
  p.rows = (int)(rows < most ? rows : most);
  p.stage = loose_words((int)bytes * p.rows);
  if (q->n >= short_lanes / 2 && q->n <= lanes) /* of fewer, other lanes have nothing; more go round several times */
    plan_turns<gr_size<D>>(&p, bytes * (p.row_threads_log2 ? (p.rows + per - 1) / per : 1));
  static const void *const kernels[2][2] = {
      {(const void *)rmsnorm_short<D, false, false>, (const void *)rmsnorm_short<D, false, true>},
      {(const void *)rmsnorm_short<D, true, false>, (const void *)rmsnorm_short<D, true, true>}};
  void *args[] = {(void *)q, &p};
  const int64_t blocks = (q->count - 1) / ((int64_t)Tuning::short_warps * p.rows) + 1;
  size_t shared = Tuning::short_warps * ((size_t)p.stage * 16 + (size_t)p.rows * sizeof(row_factor<D>));
  return launch(kernels[whole][p.turn != 0], args, blocks, Tuning::short_warps, shared, run);
}

template <gr_dtype D>
static cudaError_t start_loose(const rmsnorm_args *q, rmsnorm_plan p, const gr_cuda_run *run) {
  constexpr int leaf = leaf_bytes<D>;
  gr_halves *partials = NULL;
  cudaError_t e = p.pieces > 1 ? partials_of(q, p.pieces, run, &partials) : cudaSuccess;
  if (e != cudaSuccess) return e;
  gr_tag tag = gr_tag_of(run->epoch);
  const void *kernel = p.pieces == 1 ? (const void *)rmsnorm_loose<D, true> : (const void *)rmsnorm_loose<D, false>;
  void *args[] = {(void *)q, &p.pieces, &partials, &tag};
  int words = p.warps * loose_words(leaf);
  if (p.pieces == 1) words += loose_words((int)(q->n * gr_size<D>) - (p.warps - 1) * leaf) - loose_words(leaf);
  return launch(kernel, args, q->count * p.pieces, p.warps, (size_t)words * 16, run);
}

template <gr_dtype D> static cudaError_t start_ring(const rmsnorm_args *q, ring_plan p, const gr_cuda_run *run) {
  size_t shared = (size_t)p.slots * row_ring<D>::slot_bytes;
  p.tag = gr_tag_of(run->epoch);
  cudaError_t e = partials_of(q, p.pieces, run, &p.partials);
  if (e != cudaSuccess) return e;
  void *args[] = {(void *)q, &p};
  return launch((const void *)rmsnorm_ring<D>, args, p.blocks, ring_warps, shared, run);
}

template <gr_dtype D> static cudaError_t start(const gr_rmsnorm_job *job, const gr_cuda_run *run) {
  cudaStream_t stream = (cudaStream_t)run->stream;
  int64_t segments = (job->n + Tuning::scale_segment - 1) / Tuning::scale_segment;
  rmsnorm_args q = {(const char *)job->x.data, (const char *)job->w.data, (char *)job->out.data, job->n, job->count,
            job->x.step, job->out.step, job->x.stride, job->w.stride, job->out.stride, job->eps, NULL, false,
            job->dtype == GR_BF16};
  rmsnorm_plan p = plan_of(job, run->chip);
  auto all_of = [job](const gr_vec &v) { return gr_span(v, job->count, job->n, gr_size<D>); };
  q.inputs_stable = gr_reads_at_once(*run, p.pieces > 0, {all_of(job->x), gr_span(job->w, 1, job->n, gr_size<D>)},
                                     {all_of(job->out)});
  if constexpr ((gr_size<D>) >= Tuning::ring_least_size)
    if (p.ring.slots) return start_ring<D>(&q, p.ring, run);
  if (p.pieces > 0 && job->n * gr_size<D> <= (p.loose ? leaf_bytes<D> : Tuning::short_whole))
    return start_short<D>(&q, p.whole_words, run);
  if (p.pieces > 0) return p.loose ? start_loose<D>(&q, p, run) : start_pieces<D>(&q, p, run);
  char *sums;
  gr_reduce_job r = gr_f64_of_each(GR_OP_sumsq, job->dtype, job->x, job->n, job->count);
  cudaError_t e = (cudaError_t)gr_reduce_to_scratch(r, *run, (size_t)job->count * 8, &sums);
  q.sums = (const double *)sums;
  void *args[] = {&q, &segments, &p.whole_words};
  if (e == cudaSuccess)
    e = gr_start_early((const void *)rmsnorm_scale<D>, args, (int32_t)(segments * job->count), Tuning::scale_threads, 0,
                       run->chip->major >= 9, stream);
  return e;
}

int gr_cuda_rmsnorm(const gr_rmsnorm_job *job, const gr_cuda_run *run) {
  if (job->n <= 0 || job->count <= 0) return cudaSuccess;
  const gr_dtype served = job->dtype == GR_BF16 ? GR_F16 : job->dtype;
  return gr_for_dtype<GR_F16, GR_F32, GR_F64>(served, [&](auto d) { return start<decltype(d)::value>(job, run); });
}
