/* Which kernel a histogram gets and on what grid; bytes; and the sum of the blocks' rows. */
#include "kernels/cuda/histogram.cuh"

#define MOST_PARTS 8  /* ranges of bins that blocks share out before counters move to L2 */
/* Blocks that share a multiprocessor's registers; Turing has half the threads. */
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
#define BYTE_BLOCKS 2
#else
#define BYTE_BLOCKS 3
#endif
#define BYTE_COPIES 5 /* log2 of the copies of each of 256 counters: one a lane */

/* ---- bytes: count the 256 values, then give each to its bin ---- */

static __device__ __forceinline__ void count_word(uint32_t w, uint32_t *mine) {
#pragma unroll
  for (int k = 0; k < 4; k++) atomicAdd(mine + ((w >> (8 * k) & 0xffu) << BYTE_COPIES), 1u);
}

static __device__ __forceinline__ void count_byte(char value, uint32_t *mine) {
  atomicAdd(mine + ((uint32_t)(uint8_t)value << BYTE_COPIES), 1u);
}

/* The last block: bins from value counts. A value is at most one bin, so 256 threads do it at once. */
template <typename T> static __device__ void values_to_bins(const gr_hist &a) {
  __shared__ unsigned long long tails[3];
  if (threadIdx.x < 3) tails[threadIdx.x] = 0;
  if (a.rows == NULL) /* else the launcher has cleared them: there are many */
    for (int32_t k = (int32_t)threadIdx.x; k < a.bins.bins; k += (int32_t)blockDim.x) a.counts[k] = 0;
  __threadfence_block();
  __syncthreads();
  if (threadIdx.x < 256) {
    uint64_t count = gr_hist_drain(a.area + GR_HIST_COUNTS + threadIdx.x);
    int32_t k = a.bins.modulo ? gr_modulo(a.bins, (T)threadIdx.x) : gr_bin_exact(a.bins, (T)threadIdx.x);
    if (count) atomicAdd(k >= 0 ? (unsigned long long *)a.counts + k : tails + (-1 - k), (unsigned long long)count);
  }
  __syncthreads();
  if (threadIdx.x < 3) a.tails[threadIdx.x] = (int64_t)tails[threadIdx.x];
  if (threadIdx.x == 0) a.area[0] = 0;
}

template <typename T>
static __global__ void __launch_bounds__(512, BYTE_BLOCKS) hist_values(const __grid_constant__ gr_hist a) {
  const int deep = 4;
  uint32_t *mine = gr_hist_shared + GR_HIST_SPARE + (threadIdx.x & 31);
  int64_t threads = blockDim.x, step = gridDim.x * deep * threads, v = blockIdx.x * deep * threads + threadIdx.x;
  for (uint32_t k = threadIdx.x; k < GR_HIST_SPARE + (256u << BYTE_COPIES); k += blockDim.x) gr_hist_shared[k] = 0;
  __syncthreads();
  if (a.contiguous) {
    const char *body = a.data + a.head;
    for (; v + (deep - 1) * threads < a.vectors; v += step) {
      gr_pack<T> p[deep];
#pragma unroll
      for (int u = 0; u < deep; u++) p[u] = gr_load_pack<T>(body + (v + u * threads) * 16);
#pragma unroll
      for (int u = 0; u < 4 * deep; u++) count_word(p[u / 4].w[u % 4], mine);
    }
    for (int u = 0; u < deep && v < a.vectors; u++, v += threads) {
      gr_pack<T> p = gr_load_pack<T>(body + v * 16);
      for (int k = 0; k < 4; k++) count_word(p.w[k], mine);
    }
    int64_t tail = a.head + a.vectors * 16;
    if (blockIdx.x == 0 && threadIdx.x < a.head) count_byte(a.data[threadIdx.x], mine);
    if (blockIdx.x == 0 && tail + threadIdx.x < a.n) count_byte(a.data[tail + threadIdx.x], mine);
  } else {
    for (int64_t k = blockIdx.x * threads + threadIdx.x; k < a.n; k += gridDim.x * threads)
      count_byte(a.data[k * a.stride], mine);
  }
  __syncthreads();
  for (uint32_t k = threadIdx.x; k < 256; k += blockDim.x) {
    uint32_t sum = gr_copies(k, BYTE_COPIES);
    if (sum) atomicAdd((unsigned long long *)a.area + GR_HIST_COUNTS + k, (unsigned long long)sum);
  }
  if (gr_hist_last(a.area)) values_to_bins<T>(a);
}

cudaError_t gr_hist_bytes(const gr_hist_plan *p, int is_signed, cudaStream_t stream) {
  return is_signed ? gr_hist_start(hist_values<int8_t>, p, stream) : gr_hist_start(hist_values<uint8_t>, p, stream);
}

/* ---- the sum of the rows that blocks left ---- */

/* 32 columns a block, 8 warps that each take every 8th row. */
static __global__ void __launch_bounds__(256)
gr_hist_merge(const __grid_constant__ gr_hist a, int32_t units, int32_t groups) {
  __shared__ uint64_t partial[8][32];
  int32_t lane = (int32_t)threadIdx.x & 31, warp = (int32_t)threadIdx.x >> 5;
  int32_t part = (int32_t)blockIdx.x / groups, width = a.part_bins + 3;
  int32_t column = (int32_t)blockIdx.x % groups * 32 + lane;
  const uint32_t *rows = a.rows + (int64_t)part * units * width + column;
  uint64_t sum = 0;
  if (column < width) {
#pragma unroll 8
    for (int32_t r = warp; r < units; r += 8) sum += __ldcg(rows + (int64_t)r * width);
  }
  partial[warp][lane] = sum;
  __syncthreads();
  if (warp != 0 || column >= width) return;
  for (int w = 1; w < 8; w++) sum += partial[w][lane];
  int64_t bin = (int64_t)part * a.part_bins + column;
  if (column >= a.part_bins) {
    if (part == 0) a.tails[column - a.part_bins] = (int64_t)sum;
  } else if (bin < a.bins.bins) {
    a.counts[bin] = (int64_t)sum;
  }
}

/* ---- the plan ---- */

/*
** The estimates of evenly spaced bins and how far they may be off, in bins: rounding of the sample (32-bit
** integers in f32), of the factor, of the summand and of the result, with a quarter to spare. Integer samples on
** integer edges are taken at x + 1/2, which lies off every edge.
*/
static enum gr_hist_way estimate(gr_bins *b, gr_dtype t, double first, double last, int whole) {
  double most = fmax(fabs(first), fabs(last)) * b->per_bin, wide = t == GR_U32 || t == GR_I32 ? most : 0;
  double error = 7.5e-8 * (wide + most + fabs(first) * b->per_bin + 2.0 * b->bins) + 1e-6;
  double half = whole && !gr_is_float(t) ? 0.5 : 0.0;
  int ordinary = b->per_bin > 1e-30 && b->per_bin < 1e30 && fabs(first) < 1e30 && fabs(last) < 1e30;
  b->quick_first = first - half;
  b->quick_half = 0.5 - ((most + b->bins) * 2.0e-14 + 1e-9);
  b->quick_first_f = (float)(first - half);
  b->quick_add_f = (float)(-b->quick_first * b->per_bin - 0.5);
  b->per_bin_f = (float)b->per_bin;
  b->quick_half_f = (float)(0.5 - error);
  b->middle = (float)(0.5 * (b->bins - 1));
  b->half_bins = (float)(0.5 * b->bins);
  return ordinary && t != GR_I64 && t != GR_F64 && b->bins < 1 << 22 && error < 0.002 ? GR_HIST_F32 : GR_HIST_F64;
}

static enum gr_hist_way bins_of(const gr_histogram_job *job, gr_bins *b) {
  double last = job->first + (double)job->bins / job->per_bin, cells;
  /* 16-bit floats lie on edges too often for an estimate. */
  int crowded = (job->dtype == GR_F16 || job->dtype == GR_BF16) && job->bins <= GR_CELLS / 4 && job->n >= 1 << 16;
  b->edges = job->edges;
  b->limits = job->ilimits;
  b->bins = (int32_t)job->bins;
  b->modulo = job->modulo;
  b->first = job->first;
  b->per_bin = job->per_bin;
  b->magic = UINT64_MAX / (uint64_t)job->bins + 1;
  if (job->modulo) return GR_HIST_MODULO;
  b->guess = job->guess && job->per_bin > 0 && job->per_bin < 1e300;
  if (b->guess && !crowded) return estimate(b, job->dtype, job->first, last, job->whole);
  cells = 1.0 / (last - job->first);
  b->cell_first = (float)job->first;
  b->per_width = cells > 0 && cells < 1e38 && fabs(job->first) < 1e38 ? (float)cells : 0.0f;
  return GR_HIST_TABLE;
}

static int64_t at_least(int64_t a, int64_t b) { return a > b ? a : b; }
static int64_t at_most(int64_t a, int64_t b) { return a < b ? a : b; }

static int size_of(gr_dtype t) {
  static const signed char size[] = {
#define GR_X(id, s, l, type, kind) (signed char)sizeof(type),
    GR_DTYPES(GR_X)
#undef GR_X
  };
  return size[t];
}

/* How the data lies: whole 16-byte loads, and what is left at both ends. */
static void lay_out(gr_hist *h, const gr_histogram_job *job, int size) {
  int64_t off = (int64_t)((uintptr_t)job->a.data & 15);
  h->data = (const char *)job->a.data;
  h->n = job->n;
  h->stride = job->a.stride;
  h->contiguous = job->a.stride == size || job->n < 2;
  h->head = at_most(job->n, (16 - off) % 16 / size);
  h->vectors = (job->n - h->head) * size / 16;
}

/* Everything but the scratch pointers; rows: bytes of rows that the blocks need, 0 for none. */
static void plan(const gr_histogram_job *job, const gr_cuda_chip *chip, gr_hist_plan *p, size_t *rows) {
  gr_hist *h = &p->args;
  int size = size_of(job->dtype);
  memset(p, 0, sizeof *p);
  lay_out(h, job, size);
  p->way = bins_of(job, &h->bins);
  h->counts = job->counts;
  h->tails = job->tails;
  h->parts = 1;
  *rows = 0;
  int64_t table = p->way != GR_HIST_TABLE ? 0 : size == 4 ? 2 * GR_CELLS : GR_CELLS;
  int64_t room = (chip->shared_optin - 2048) / 4 - table, per_block = 2, units;
  p->threads = 512;
  if (size == 1) {
    p->shared = (GR_HIST_SPARE + (256u << BYTE_COPIES)) * 4;
    per_block = BYTE_BLOCKS;
  } else if (job->way == GR_HISTOGRAM_GLOBAL || job->bins > MOST_PARTS * room || (p->way == GR_HIST_TABLE && job->bins > room) ||
             (job->way == GR_HISTOGRAM_BY_SIZE && job->bins > 16384 && job->n < 8 * job->bins)) {
    p->global = 1;
    p->shared = 2 * GR_HIST_SLOTS * 4;
  } else {
    int64_t budget = size == 2 ? 16384 : 8192;
    h->parts = (int32_t)((job->bins + room - 1) / room);
    h->part_bins = (int32_t)((job->bins + h->parts - 1) / h->parts);
    while (job->way != GR_HISTOGRAM_LARGE && h->shift < 5 && (int64_t)h->part_bins << (h->shift + 1) <= budget) h->shift++;
    p->shared = (size_t)(GR_HIST_SPARE + ((int64_t)h->part_bins << h->shift) + 1 + table) * 4;
    if (2 * (p->shared + 2048) > (size_t)chip->shared_optin) p->threads = 1024, per_block = 1;
  }
  units = (h->contiguous ? h->vectors / 4 : job->n / 8) / p->threads;
  units = at_most(at_least(units, 1), at_least(chip->sms * per_block / h->parts, 1));
  units = at_least(units, job->n >> 30); /* 32-bit counters */
  p->blocks = (int32_t)(units * h->parts);
  if (size > 1 && !p->global && job->bins > GR_HIST_FEW)
    *rows = (size_t)p->blocks * (size_t)(h->part_bins + 3) * 4;
}

size_t gr_cuda_histogram_scratch(const gr_histogram_job *job, const gr_cuda_chip *chip) {
  gr_hist_plan p;
  size_t rows;
  plan(job, chip, &p, &rows);
  return GR_COUNTER_BYTES + rows;
}

static cudaError_t clear(const gr_histogram_job *job, int tails_too, cudaStream_t stream) {
  cudaError_t e = cudaMemsetAsync(job->counts, 0, (size_t)job->bins * 8, stream);
  if (e == cudaSuccess && tails_too) e = cudaMemsetAsync(job->tails, 0, 24, stream);
  return e;
}

int gr_cuda_histogram(const gr_histogram_job *job, const gr_cuda_run *run) {
  gr_hist_plan p;
  size_t rows;
  cudaStream_t stream = (cudaStream_t)run->stream;
  cudaError_t e = cudaSuccess;
  if (job->bins < 1 || job->bins > INT32_MAX) return cudaErrorInvalidValue;
  plan(job, run->chip, &p, &rows);
  p.args.area = (uint64_t *)run->scratch;
  if (rows) p.args.rows = (uint32_t *)((char *)run->scratch + GR_COUNTER_BYTES);
  if (size_of(job->dtype) == 1) {
    if (job->bins > 4096) { /* too many for one block to clear */
      e = clear(job, 0, stream);
      p.args.rows = (uint32_t *)run->scratch;
    }
    return e == cudaSuccess ? gr_hist_bytes(&p, job->dtype == GR_I8, stream) : e;
  }
  if (p.global) e = clear(job, 1, stream);
  if (e == cudaSuccess)
    e = gr_is_float(job->dtype) ? gr_hist_floats(job->dtype, &p, stream) : gr_hist_integers(job->dtype, &p, stream);
  if (e == cudaSuccess && rows) {
    int32_t units = p.blocks / p.args.parts, groups = (p.args.part_bins + 3 + 31) / 32;
    void *args[] = {&p.args, &units, &groups};
    e = cudaLaunchKernel((const void *)gr_hist_merge, (unsigned)(groups * p.args.parts), 256, args, 0, stream);
  }
  return e;
}
