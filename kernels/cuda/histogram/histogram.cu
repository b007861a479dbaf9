/* Which kernel a histogram gets and on what grid; bytes; and the sum of the blocks' rows. */
#include "kernels/cuda/histogram/start.cuh"

using Tuning = gr_histogram_tuning;
/* Bytes of a block in shared memory beside the counters: what is the system's, and what kernels declare. */
constexpr int BESIDE = 2048;

cudaError_t gr_hist_values(const gr_hist_plan *p, cudaStream_t stream) {
  if (!p->args.packed)
    return gr_hist_start(gr_hist_blocks<uint8_t, gr_quick_value, gr_shared_sink<false, false>, false>, p, stream);
  return p->args.parts > 1
             ? gr_hist_start(gr_hist_blocks<uint16_t, gr_quick_value, gr_packed_sink<true>, false>, p, stream)
             : gr_hist_start(gr_hist_blocks<uint16_t, gr_quick_value, gr_packed_sink<false>, false>, p, stream);
}

/* Counts that blocks add to begin at zero. A kernel, which reads nothing, so that the next launch may begin with it. */
static __global__ void __launch_bounds__(Tuning::clear_threads)
    gr_hist_clear(const __grid_constant__ gr_hist a, bool at_once) {
  constexpr uint32_t threads = Tuning::clear_threads, each = Tuning::clear_slots;
  uint32_t k = blockIdx.x * threads * each + threadIdx.x;
  gr_start_reading(at_once);
  gr_await_earlier();
#pragma unroll
  for (uint32_t i = 0; i < each; i++, k += threads)
    if (k < (uint32_t)a.bins.bins + 3) *gr_slot(a, k) = 0;
}

/* ---- the sum of the rows that blocks left ---- */

/* The sums of a warp that all go to one place are one addition. */
static __device__ void add_values(const gr_hist &a, uint32_t value, uint64_t sum) {
  unsigned long long *to = gr_slot(a, gr_slot_of_value(a, value));
  int alike;
  __match_all_sync(~0u, (unsigned long long)(uintptr_t)to, &alike);
  for (int h = 16; alike && h > 0; h /= 2) sum += __shfl_xor_sync(~0u, sum, h);
  if (sum && (!alike || (threadIdx.x & 31) == 0)) atomicAdd(to, (unsigned long long)sum);
}

/* 32 words of the rows a block. Its warps take rows in turn, all at once if there is one for each multiprocessor. */
constexpr int MERGE_WARPS = Tuning::merge_warps, MERGE_DEEP = Tuning::merge_loads;
static __global__ void __launch_bounds__(MERGE_WARPS * 32)
gr_hist_merge(const __grid_constant__ gr_hist a, int32_t units, int32_t groups) {
  __shared__ uint64_t partial[2][MERGE_WARPS][32];
  int32_t lane = (int32_t)threadIdx.x & 31, warp = (int32_t)threadIdx.x >> 5;
  int32_t part = (int32_t)blockIdx.x / groups, q = (int32_t)blockIdx.x % groups * 32 + lane;
  int64_t step = gr_row_words(a) * a.parts;
  const uint32_t *rows = a.rows + part * gr_row_words(a), *whole = rows + gr_row_pairs(a);
  uint32_t most = 0;
  uint64_t sums[2] = {0, 0};
  gr_await_earlier();
  gr_let_next_start();
#pragma unroll 1
  for (int32_t from = warp; from < units; from += MERGE_WARPS * MERGE_DEEP) {
    uint32_t w[MERGE_DEEP], low = 0, high = 0;
#pragma unroll
    for (int i = 0; i < MERGE_DEEP; i++)
      w[i] = from + i * MERGE_WARPS < units ? __ldcg(rows + (from + i * MERGE_WARPS) * step + q) : 0;
#pragma unroll
    for (int i = 0; i < MERGE_DEEP; i++) low += w[i] & 0xffff, high += w[i] >> 16, most = __vmaxu2(most, w[i]);
    sums[0] += low;
    sums[1] += high;
  }
#pragma unroll
  for (int k = 0; k < 2; k++) {
    if ((most >> 16 * k & 0xffff) == 0xffff) {
      sums[k] = 0;
#pragma unroll 1
      for (int32_t r = warp; r < units; r += MERGE_WARPS) {
        uint32_t w = __ldcg(rows + r * step + q) >> 16 * k & 0xffff;
        sums[k] += w == 0xffff ? __ldcg(whole + r * step + 2 * q + k) : w;
      }
    }
    partial[k][warp][lane] = sums[k];
  }
#if __CUDA_ARCH__ >= 800
  /* Nobody needs these lines any more: memory need not have them. */
  __syncwarp();
#pragma unroll 1
  for (int32_t r = warp + lane * MERGE_WARPS; r < units; r += 32 * MERGE_WARPS)
    asm volatile("discard.global.L2 [%0], 128;" : : "l"(rows + r * step + q - lane) : "memory");
#endif
  __syncthreads();
  if (warp < 2) {
    int32_t k = 2 * q + warp;
    int64_t bin = (int64_t)part * a.part_bins + k;
    uint64_t sum = 0;
#pragma unroll
    for (int w = 0; w < MERGE_WARPS; w++) sum += partial[warp][w][lane];
    if (a.packed) { /* all lanes have a value */
      if (k < a.part_bins && bin < 65536) add_values(a, (uint32_t)bin, sum);
    } else if (k < a.part_bins && bin < a.bins.bins) {
      a.counts[bin] = (int64_t)sum;
    }
  } else if (warp < 5 && blockIdx.x == 0 && !a.packed) { /* tails */
    uint64_t sum = 0;
#pragma unroll 1
    for (int32_t r = lane; r < units; r += 32) sum += __ldcg(whole + r * step + a.part_bins + (warp - 2));
    for (int h = 16; h > 0; h /= 2) sum += __shfl_xor_sync(~0u, sum, h);
    if (lane == 0) a.tails[warp - 2] = (int64_t)sum;
  }
}

/* ---- the plan ---- */

/* Whether every edge is first + k / per_bin without rounding, per_bin a power of two. */
static int on_grid(double first, double last, double per_bin) {
  int exponent;
  return frexp(per_bin, &exponent) == 0.5 && first * per_bin == floor(first * per_bin) &&
         fmax(fabs(first), fabs(last)) * per_bin < 1 << 23;
}

/*
** The estimates of evenly spaced bins and how far they may be off, in bins: what rounding takes off the sample (32-bit
** integers in f32), the factor, the summands, the result and the edges, with a quarter to spare. Integer samples on
** integer edges are taken at x + 1/2, half an integer off every edge. unsure: how near an edge the f32 estimate may be.
*/
static enum gr_hist_way estimate(gr_bins *b, gr_dtype t, double first, double last, int whole, double unsure) {
  const double ulp = 1.2e-7, half = whole && !gr_is_float(t) ? 0.5 : 0.0;
  double lead = first - half, add = -lead * b->per_bin, reach = fmax(fabs(first), fabs(last)) + half;
  double most = reach * b->per_bin, error;
  int ordinary = b->per_bin > 1e-30 && b->per_bin < 1e30 && reach < 1e30 && t != GR_I64 && t != GR_F64, grid;
  b->quick_first = lead;
  b->quick_half = 0.5 - ((most + b->bins) * 2.0e-14 + 1e-9);
  b->quick_first_f = (float)lead;
  b->quick_add_f = (float)add;
  b->per_bin_f = (float)b->per_bin;
  grid = on_grid(first, last, b->per_bin) && reach <= 1 << 24 && b->quick_add_f == add;
  error = reach * fabs(b->per_bin_f - b->per_bin) + fabs(b->quick_add_f - add) + (b->bins + 2) * ulp +
          fabs(b->quick_first_f - lead) * b->per_bin + (most + b->bins) * 2.0e-14;
  if ((t == GR_U32 || t == GR_I32) && reach > 1 << 24) error += most * ulp;
  error = 1.25 * error + 1e-6;
  b->quick_half_f = (float)(0.5 - error);
  ordinary = ordinary && b->bins < 1 << 22 && error < 0.1;
  b->exact = ordinary && (grid || (half > 0 && error < 0.4 * b->per_bin));
  return ordinary && (b->exact || error < unsure) ? GR_HIST_F32 : GR_HIST_F64;
}

static enum gr_hist_way bins_of(const gr_histogram_job *job, const gr_cuda_chip *chip, gr_bins *b) {
  double last = job->first + (double)job->bins / job->per_bin, cells;
  b->edges = job->edges;
  b->limits = job->ilimits;
  b->bins = (int32_t)job->bins;
  b->modulo = job->modulo;
  b->first = job->first;
  b->per_bin = job->per_bin;
  b->magic = UINT64_MAX / (uint64_t)job->bins + 1;
  if (job->modulo) return GR_HIST_MODULO;
  b->guess = job->guess && job->per_bin > 0 && job->per_bin < 1e300;
  if (b->guess)
    return estimate(b, job->dtype, job->first, last, job->whole,
                    Tuning::unsure(chip->major, chip->minor, gr_size_of(job->dtype)));
  cells = 1.0 / (last - job->first);
  b->cell_first = (float)job->first;
  b->per_width = cells > 0 && cells < 1e38 && fabs(job->first) < 1e38 ? (float)cells : 0.0f;
  return GR_HIST_TABLE;
}

static int64_t at_least(int64_t a, int64_t b) { return a > b ? a : b; }
static int64_t at_most(int64_t a, int64_t b) { return a < b ? a : b; }

/* How the data lies: whole 16-byte loads, and what is left at both ends. */
static void lay_out(gr_hist *h, const gr_histogram_job *job, int size) {
  int64_t off = (int64_t)((uintptr_t)job->a.data & 15);
  h->data = (const char *)job->a.data;
  h->n = job->n;
  h->stride = job->a.stride;
  h->contiguous = job->a.stride == size || job->n < 2;
  h->head = at_most(job->n, (16 - off) % 16 / size);
  h->vectors = h->contiguous ? (job->n - h->head) * size / 16 : 0;
}

/* Copies of each counter, and what counters take. Of few samples copies cost more to clear and add up than they
   save. */
static void copy_counters(const gr_histogram_job *job, gr_hist_plan *p, int size, int64_t table, int64_t samples) {
  gr_hist *h = &p->args;
  int64_t words = at_most(Tuning::copies_words(size), samples / Tuning::copies_samples);
  h->shift = 0;
  while (!h->packed && (job->way != GR_HISTOGRAM_LARGE || h->by_value) && h->shift < 5 &&
         (int64_t)h->part_bins << (h->shift + 1) <= words)
    h->shift++;
  if (h->packed || (size == 4 && p->way == GR_HIST_F32 && h->words == h->part_bins))
    h->swizzle = 0x7cu & (0u - (4u << h->shift));
  p->shared = (size_t)(gr_hist_words(h->words, h->packed, h->shift) + table) * 4;
}

/*
** What is counted, bins or values, and in how many parts: samples of 8 bits by value, many of 16 bits by value in
** packed counters; in L2 if bins are more than blocks can share out, or samples too few for so many.
*/
static void choose_counters(const gr_histogram_job *job, gr_hist_plan *p, int size, int64_t room) {
  gr_hist *h = &p->args;
  int few = job->way == GR_HISTOGRAM_BY_SIZE && job->bins > Tuning::sparse_bins &&
            job->n + Tuning::sparse_start < Tuning::sparse_samples * job->bins;
  int worth = (job->n >= Tuning::values_from && job->bins > Tuning::values_bins) || p->way == GR_HIST_F64 ||
              p->way == GR_HIST_TABLE;
  p->global = job->way == GR_HISTOGRAM_GLOBAL && size > 1;
  h->by_value = size == 1 || (size == 2 && !p->global && (worth || job->bins > room));
  if (!h->by_value && (job->bins > Tuning::most_parts * room || few || (p->way == GR_HIST_TABLE && job->bins > room)))
    p->global = 1;
  h->packed = h->by_value && size == 2;
  h->parts = 1;
  if (p->global) return;
  int64_t counters = h->by_value ? 1 << 8 * size : job->bins;
  h->parts = (int32_t)((counters + 2 * room - 1) / (2 * room));
  h->part_bins = (int32_t)((counters + h->parts - 1) / h->parts);
  if (h->packed) h->part_bins = (h->part_bins + 63) & ~63; /* whole rows of 32 words */
  h->words = !h->packed && counters > room ? (int32_t)room : h->part_bins;
}

/*
** Everything but the scratch pointers; rows: bytes of rows that the blocks need, 0 for none. crowded: other launches
** run beside this one, so that fewer blocks do better.
*/
static void plan(const gr_histogram_job *job, const gr_cuda_chip *chip, int crowded, gr_hist_plan *p, size_t *rows) {
  gr_hist *h = &p->args;
  int size = gr_size_of(job->dtype);
  memset(p, 0, sizeof *p);
  p->allowed = chip->shared_optin - BESIDE;
  p->device = chip->device;
  lay_out(h, job, size);
  p->way = bins_of(job, chip, &h->bins);
  h->dtype = job->dtype;
  h->counts = job->counts;
  h->tails = job->tails;
  h->skips_nan = job->skips_nan;
  int64_t table = p->way != GR_HIST_TABLE || size < 4 ? 0 : size == 4 ? 2 * GR_CELLS : GR_CELLS;
  int64_t room = ((chip->shared_optin - BESIDE) / 4 - 2 * GR_HIST_SPARE - table) & ~1;
  int64_t per_block = Tuning::small_blocks, units;
  choose_counters(job, p, size, room);
  int wide = h->words < h->part_bins, plain = !p->global && !h->packed && !wide && h->parts == 1;
  int has_rows = !p->global && (h->packed || (!h->by_value && job->bins > GR_HIST_FEW));
  p->threads = p->global ? Tuning::global_threads : Tuning::small_threads;
  if (!p->global) copy_counters(job, p, size, table, INT64_MAX);
  /* One large block a multiprocessor where it needs the room, or the rows of many small ones would cost more. */
  if (!p->global &&
      (Tuning::small_blocks * (p->shared + BESIDE) > (size_t)chip->shared_optin ||
       (has_rows && job->n >= Tuning::large_rows_from) || (h->by_value && job->n >= Tuning::large_values_from)))
    p->threads = Tuning::large_threads, per_block = Tuning::large_blocks;
  int loads = p->global ? Tuning::global_loads : crowded && !has_rows ? Tuning::crowded_loads : Tuning::loads;
  /* Where counters are in L2 no thread has two loads, if there are not more than the chip has threads. */
  int64_t wanted = h->contiguous ? h->vectors / loads : job->n / Tuning::strided_loads;
  while (p->global && p->threads > Tuning::global_least_threads && wanted < (int64_t)p->threads * chip->sms)
    p->threads /= 2;
  units = p->global ? (wanted + p->threads - 1) / p->threads : wanted / p->threads;
  units = at_most(at_least(units, 1), at_least(chip->sms * per_block / h->parts, 1));
  units = at_least(units, job->n >> (wide ? 23 : 30)); /* so much fits a counter */
  if (has_rows && plain && job->bins <= Tuning::alone_bins && job->n * size <= Tuning::alone_bytes)
    units = 1, p->threads = Tuning::large_threads;
  if (plain && units == 1) has_rows = 0;
  if (!p->global) copy_counters(job, p, size, table, job->n / units);
  if (p->global) {
    h->slots = (uint32_t)Tuning::least_slots;
    while (h->slots < Tuning::most_slots && h->slots * Tuning::slot_samples * units < job->n) h->slots *= 2;
    p->shared = 2 * h->slots * sizeof(uint32_t);
  }
  p->blocks = (int32_t)(units * h->parts);
  h->cleared = p->global || h->packed || (h->by_value && job->bins > GR_HIST_FEW);
  *rows = has_rows ? (size_t)p->blocks * (size_t)gr_row_words(*h) * 4 : 0;
}

void gr_cuda_explain_histogram(const gr_histogram_job *job, const gr_cuda_chip *chip, gr_explained *e) {
  gr_hist_plan p;
  size_t rows;
  plan(job, chip, 0, &p, &rows);
  *e = {p.global ? "gr_hist_global" : "gr_hist_blocks",
        p.global           ? "more bins than blocks share out, or few samples for many bins: counters in L2"
        : p.args.by_value  ? "values of 8 or 16 bits are counted, and each of them then put into its bin"
        : p.args.parts > 1 ? "bins in parts, each in the shared memory of blocks of its own"
                           : "counters in shared memory",
        rows ? "a second kernel adds up the rows of the blocks" : p.blocks > 1 ? "atomic additions" : NULL, NULL,
        1 + (rows != 0) + (p.args.cleared != 0), p.blocks, p.threads, (int64_t)p.shared,
        (int64_t)(GR_COUNTER_BYTES + rows)};
}

int gr_cuda_histogram_skeleton(const gr_histogram_job *job, const gr_cuda_chip *chip) {
  gr_hist_plan p;
  size_t rows;
  plan(job, chip, 0, &p, &rows);
  const int size = gr_size_of(job->dtype), wide = !p.global && p.args.words < p.args.part_bins;
  if (p.args.by_value || p.args.parts > 1 || wide) return GR_HIST_NO_SKELETON;
  if (job->modulo) return job->modulo == 2 && job->dtype == GR_I32 && !p.global ? GR_HIST_KNOWN : GR_HIST_NO_SKELETON;
  if (p.global) return p.way == GR_HIST_TABLE || size == 2 ? GR_HIST_NO_SKELETON : GR_HIST_MANY;
  if (p.way == GR_HIST_TABLE) return GR_HIST_EDGES;
  return size == 2 || (size == 4 && p.way == GR_HIST_F32) ? GR_HIST_EVEN32 : GR_HIST_EVEN64;
}

int gr_cuda_histogram(const gr_histogram_job *job, const gr_cuda_run *run) {
  gr_hist_plan p;
  size_t rows;
  cudaStream_t stream = (cudaStream_t)run->stream;
  int crowded = run->written && !gr_is_empty(run->running) && run->running.from;
  if (job->bins < 1 || job->bins > INT32_MAX) return cudaErrorInvalidValue;
  plan(job, run->chip, crowded, &p, &rows);
  cudaError_t e = (cudaError_t)gr_cuda_need(run, GR_COUNTER_BYTES + rows);
  if (e != cudaSuccess) return e;
  p.args.area = (uint64_t *)run->scratch->memory;
  if (rows) p.args.rows = (uint32_t *)((char *)run->scratch->memory + GR_COUNTER_BYTES);
  p.early = run->chip->major >= 9;
  gr_cuda_span counts = gr_span(job->counts, job->bins), tails = gr_span(job->tails, 3);
  gr_cuda_run then = *run;
  if (p.args.cleared) {
    bool at_once = gr_reads_at_once(*run, p.early, {}, {counts, tails});
    void *args[] = {&p.args, &at_once};
    int64_t slots = job->bins + 3;
    int32_t blocks = (int32_t)((slots - 1) / (Tuning::clear_threads * Tuning::clear_slots) + 1);
    static uint64_t shares;
    if (p.global && !run->formula) e = gr_hist_share_memory((const void *)gr_hist_clear, run->chip->device, &shares);
    if (e != cudaSuccess) return e;
    e = gr_start_early((const void *)gr_hist_clear, args, blocks, Tuning::clear_threads, 0, p.early, stream);
    if (run->written) then.running = *run->written;
  }
  p.formula = run->formula;
  p.args.inputs_stable =
      gr_reads_at_once(then, p.early && p.args.contiguous && !p.args.packed && p.args.words == p.args.part_bins,
                       {gr_elements(*run, job->a, 1, job->n, gr_size_of(job->dtype)),
                        gr_span(job->edges, job->bins + 1), gr_span(job->ilimits, job->bins + 1)},
                       {counts, tails});
  if (e == cudaSuccess)
    e = p.args.by_value            ? gr_hist_values(&p, stream)
        : gr_is_float(job->dtype) ? gr_hist_floats(job->dtype, &p, stream)
                                  : gr_hist_integers(job->dtype, &p, stream);
  if (e == cudaSuccess && rows) {
    int32_t units = p.blocks / p.args.parts, groups = (int32_t)gr_row_pairs(p.args) / 32;
    void *args[] = {&p.args, &units, &groups};
    int32_t blocks = groups * p.args.parts, threads = MERGE_WARPS * 32;
    gr_reads_at_once(*run, false, {}, {counts, tails});
    e = gr_start_early((const void *)gr_hist_merge, args, blocks, threads, 0, run->chip->major >= 9, stream);
  }
  return e;
}
