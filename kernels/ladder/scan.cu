/*
** The running sum, as it is taught: four ways to scan what one block has, and the three phases that make a long scan of
** them: every block scans its tile and leaves the tile's total; the totals are scanned, by the same means; every block
** adds what came before its tile. The data is read twice and written twice; the production kernel (scan/scan.cuh) looks
** back at the tiles before its own instead, and reads and writes once.
*/
#include "kernels/ladder/cuda.cuh"

namespace {

extern __shared__ float part[];

/* What a block has to do: n elements from in to out (which may be in), the tile's total to totals. */
struct Tiles {
  const float *in;
  float *out, *totals;
  int64_t n;
  int exclusive;
};

__device__ float load(const Tiles &t, int64_t i) { return i < t.n ? t.in[i] : 0; }
__device__ void store(const Tiles &t, int64_t i, float x) {
  if (i < t.n) t.out[i] = x;
}

/* ---- hillis_steele: log2(block) steps, each adds the value 1, 2, 4, ... places to the left; n log n additions ---- */

__global__ void hillis_steele(Tiles t) {
  int me = threadIdx.x, threads = blockDim.x;
  int64_t i = my_index();
  part[me] = load(t, i);
  __syncthreads();
  for (int distance = 1; distance < threads; distance *= 2) {
    float left = me >= distance ? part[me - distance] : 0;
    __syncthreads(); /* all have read before any writes */
    part[me] += left;
    __syncthreads();
  }
  store(t, i, t.exclusive ? (me > 0 ? part[me - 1] : 0) : part[me]);
  if (me == threads - 1) t.totals[blockIdx.x] = part[me];
}

/* ---- blelloch: a tree summed upwards, then handed down; 2 n additions; two elements a thread ---- */

/* One word of padding in 32, so that strides of powers of two do not all meet in one bank. */
__device__ int padded(int k) { return k + (k >> 5); }

__global__ void blelloch(Tiles t) {
  int me = threadIdx.x, threads = blockDim.x, size = 2 * threads;
  int64_t base = blockIdx.x * (int64_t)size;
  float low = load(t, base + me), high = load(t, base + me + threads), total;
  part[padded(me)] = low;
  part[padded(me + threads)] = high;
  for (int half = 1; half < size; half *= 2) { /* up: each node takes its left child's sum */
    __syncthreads();
    int right = (me + 1) * 2 * half - 1;
    if (right < size) part[padded(right)] += part[padded(right - half)];
  }
  __syncthreads();
  total = part[padded(size - 1)];
  __syncthreads();
  if (me == 0) part[padded(size - 1)] = 0;
  for (int half = threads; half > 0; half /= 2) { /* down: left child gets the node, right child node + left sum */
    __syncthreads();
    int right = (me + 1) * 2 * half - 1;
    if (right < size) {
      float left_sum = part[padded(right - half)], before = part[padded(right)];
      part[padded(right - half)] = before;
      part[padded(right)] = before + left_sum;
    }
  }
  __syncthreads();
  store(t, base + me, part[padded(me)] + (t.exclusive ? 0 : low));
  store(t, base + me + threads, part[padded(me + threads)] + (t.exclusive ? 0 : high));
  if (me == 0) t.totals[blockIdx.x] = total;
}

/* ---- warp: shuffle up within each warp; one warp scans the warps' totals ---- */

__device__ float warp_scan(float x) {
  for (int distance = 1; distance < 32; distance *= 2) {
    float left = __shfl_up_sync(~0u, x, distance);
    if (my_lane() >= distance) x += left;
  }
  return x;
}

/* The sum of what the threads before this one have; everyone learns the block's total. */
__device__ float before_me(float x, float &total) {
  float upto = warp_scan(x), before = __shfl_up_sync(~0u, upto, 1);
  if (my_lane() == 0) before = 0;
  if (my_lane() == 31) part[my_warp()] = upto;
  __syncthreads();
  if (my_warp() == 0) {
    float scanned = warp_scan(my_lane() < blockDim.x / 32 ? part[my_lane()] : 0);
    part[my_lane()] = scanned;
  }
  __syncthreads();
  total = part[blockDim.x / 32 - 1];
  return my_warp() > 0 ? part[my_warp() - 1] + before : before;
}

__global__ void warp(Tiles t) {
  int64_t i = my_index();
  float x = load(t, i), total, before = before_me(x, total);
  store(t, i, t.exclusive ? before : before + x);
  if (threadIdx.x == 0) t.totals[blockIdx.x] = total;
}

/* ---- three_phase: four neighbours a thread, scanned in registers, so that a quarter of the threads meet ---- */

__global__ void four_each(Tiles t) {
  int64_t i = my_index() * 4;
  bool whole = i + 4 <= t.n && (((uintptr_t)t.in | (uintptr_t)t.out) & 15) == 0;
  float4 x;
  if (whole) x = *(const float4 *)(t.in + i);
  else x = make_float4(load(t, i), load(t, i + 1), load(t, i + 2), load(t, i + 3));
  float4 s = x;
  s.y += s.x, s.z += s.y, s.w += s.z;
  float total, before = before_me(s.w, total);
  if (t.exclusive) s = make_float4(before, before + s.x, before + s.y, before + s.z);
  else s = make_float4(before + s.x, before + s.y, before + s.z, before + s.w);
  if (whole) {
    *(float4 *)(t.out + i) = s;
  } else {
    store(t, i, s.x), store(t, i + 1, s.y), store(t, i + 2, s.z), store(t, i + 3, s.w);
  }
  if (threadIdx.x == 0) t.totals[blockIdx.x] = total;
}

/* ---- the third phase: tile k adds the scanned total of what came before it ---- */

__global__ void add_before(float *out, const float *before, int tile, int64_t n) {
  int64_t base = blockIdx.x * (int64_t)tile;
  float x = before[blockIdx.x];
  for (int64_t i = base + threadIdx.x; i < base + tile && i < n; i += blockDim.x) out[i] += x;
}

/* Elements that one block of the rung scans; 0 when it is none of these. */
int tile_of(gr_rung rung, int block) {
  switch (rung) {
    case GR_RUNG_HILLIS_STEELE:
    case GR_RUNG_SCAN_WARP: return block;
    case GR_RUNG_BLELLOCH: return 2 * block;
    case GR_RUNG_THREE_PHASE: return 4 * block;
    default: return 0;
  }
}

cudaError_t scan_tiles(const gr_ladder_job *job, cudaStream_t stream, Tiles t, unsigned blocks) {
  unsigned threads = job->block, all = threads * sizeof(float), warps = 32 * sizeof(float);
  switch (job->rung) {
    case GR_RUNG_HILLIS_STEELE: hillis_steele<<<blocks, threads, all, stream>>>(t); break;
    case GR_RUNG_BLELLOCH: blelloch<<<blocks, threads, 2 * all + all / 16 + 4, stream>>>(t); break;
    case GR_RUNG_SCAN_WARP: warp<<<blocks, threads, warps, stream>>>(t); break;
    default: four_each<<<blocks, threads, warps, stream>>>(t);
  }
  return cudaGetLastError();
}

/* totals: room for the totals of this level and of those above it. */
cudaError_t three_phases(const gr_ladder_job *job, cudaStream_t stream, Tiles t, uint64_t *launches) {
  int tile = tile_of(job->rung, job->block);
  int64_t tiles = gr_blocks_for(t.n, tile);
  cudaError_t e = scan_tiles(job, stream, t, (unsigned)tiles);
  *launches += 1;
  if (tiles == 1 || e != cudaSuccess) return e;
  Tiles above = {t.totals, t.totals, t.totals + tiles, tiles, 1};
  e = three_phases(job, stream, above, launches);
  if (e != cudaSuccess) return e;
  *launches += 1;
  add_before<<<(unsigned)tiles, job->block, 0, stream>>>(t.out, t.totals, tile, t.n);
  return cudaGetLastError();
}

}  // namespace

extern "C" size_t gr_cuda_ladder_scratch(const gr_ladder_job *job, const gr_cuda_chip *chip) {
  size_t values = (size_t)chip->sms * 32; /* results of at most 2048 / 64 blocks a multiprocessor */
  if (tile_of(job->rung, 1)) values = (size_t)(job->n / 32) + 64; /* a scan: the totals of every level of tiles */
  if (job->rung == GR_RUNG_TWO_PASS) values = (size_t)job->rows;
  return GR_COUNTER_BYTES + values * sizeof(float);
}

extern "C" int gr_cuda_ladder_scan(const gr_ladder_job *job, const gr_cuda_run *run, uint64_t *launches) {
  Tiles t = {(const float *)job->a, (float *)job->out, (float *)gr_ladder_scratch_of(run), job->n, job->exclusive};
  return three_phases(job, (cudaStream_t)run->stream, t, launches);
}
