/*
** Compaction in one launch. A block takes a tile of 4096 elements, packs what is kept in shared memory, publishes how
** many these are, learns from the tiles before it where they go (decoupled look-back, Merrill and Garland 2016), and
** writes them side by side. Counts are integers, so it does not matter where the look-back stops. A tile is read
** before its count is published, and results never lie ahead of their elements, so the output may be the input.
*/
#include "kernels/cuda/scan/scan.cuh"
#include "kernels/cuda/select/tuning.h"

constexpr int THREADS = gr_select_tuning::compact_threads, WARPS = THREADS / 32, EACH = gr_select_tuning::compact_each,
              TILE = THREADS * EACH;

struct gr_compact_args {
  const char *a;
  const char *mask;
  char *out;
  int64_t a_stride, mask_stride, out_stride, n, tiles;
  unsigned *next;
  gr_halves *tile;
  gr_tag tag;
};

/*
** One warp: how many are kept before the tile. What a tile publishes: its count times two, and one more if that
** includes all tiles before it. Before the first one there is nothing.
*/
static __device__ __forceinline__ int64_t gr_compact_before(const gr_compact_args &q, int64_t tile, int64_t total,
                                                            int lane) {
  int64_t before = 0;
  if (lane == 0) gr_publish(&q.tile[tile], (uint64_t)total * 2 + (tile == 0), q.tag);
  if (tile == 0) return 0;
  for (int64_t last = tile - 1;; last -= 32) {
    const gr_halves *at[1] = {&q.tile[last - lane]};
    bool wanted[1] = {last - lane >= 0};
    uint64_t v[1];
    gr_await(at, wanted, q.tag, (uint64_t)1, v);
    unsigned whole = __ballot_sync(~0u, v[0] & 1);
    int64_t part = lane <= (whole ? __ffs(whole) - 1 : 31) ? (int64_t)(v[0] >> 1) : 0;
#pragma unroll
    for (int h = 16; h; h /= 2) part += __shfl_xor_sync(~0u, part, h);
    before += part;
    if (whole) break;
  }
  if (lane == 0) gr_publish(&q.tile[tile], (uint64_t)(before + total) * 2 + 1, q.tag);
  return before;
}

template <typename U>
static __global__ void __launch_bounds__(THREADS) gr_compact_tiles(const __grid_constant__ gr_compact_args q) {
  __shared__ U kept[TILE];
  __shared__ int counts[WARPS];
  __shared__ int64_t shared_tile, shared_before;
  int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
  /* The counter wraps to zero when every block has asked. */
  if (threadIdx.x == 0) shared_tile = atomicInc(q.next, (unsigned)(q.tiles - 1));
  __syncthreads();
  int64_t tile = shared_tile, first = tile * TILE + warp * (EACH * 32) + lane, left = q.n - first;
  uint8_t m[EACH];
  U e[EACH];
#pragma unroll
  for (int i = 0; i < EACH; i++) {
    m[i] = 0;
    e[i] = 0;
    if (i * 32 < left) {
      m[i] = *(const uint8_t *)(q.mask + (first + i * 32) * q.mask_stride);
      e[i] = *(const U *)(q.a + (first + i * 32) * q.a_stride);
    }
  }
  unsigned votes[EACH];
  int count = 0, at = 0, total = 0;
#pragma unroll
  for (int i = 0; i < EACH; i++) {
    votes[i] = __ballot_sync(~0u, m[i] != 0);
    count += __popc(votes[i]);
  }
  if (lane == 0) counts[warp] = count;
  __syncthreads();
#pragma unroll
  for (int k = 0; k < WARPS; k++) {
    if (k < warp) at += counts[k];
    total += counts[k];
  }
#pragma unroll
  for (int i = 0; i < EACH; i++) {
    if (m[i]) kept[at + __popc(votes[i] & ((1u << lane) - 1))] = e[i];
    at += __popc(votes[i]);
  }
  __syncthreads();
  if (warp == 0) {
    int64_t before = gr_compact_before(q, tile, total, lane);
    if (lane == 0) shared_before = before;
  }
  __syncthreads();
  char *out = q.out + shared_before * q.out_stride;
  for (int i = threadIdx.x; i < total; i += THREADS) *(U *)(out + i * q.out_stride) = kept[i];
}

static int64_t tiles_of(const gr_compact_job *job) { return (job->n + TILE - 1) / TILE; }

int gr_cuda_compact(const gr_compact_job *job, const gr_cuda_run *run) {
  int size = gr_size_of(job->dtype);
  const void *kernel = size == 1   ? (const void *)gr_compact_tiles<uint8_t>
                       : size == 2 ? (const void *)gr_compact_tiles<uint16_t>
                       : size == 4 ? (const void *)gr_compact_tiles<uint32_t>
                                   : (const void *)gr_compact_tiles<uint64_t>;
  gr_compact_args q;
  if (job->n <= 0) return cudaSuccess;
  q.a = (const char *)job->a.data;
  q.mask = (const char *)job->mask.data;
  q.out = (char *)job->out.data;
  q.a_stride = job->a.stride;
  q.mask_stride = job->mask.stride;
  q.out_stride = job->out.stride;
  q.n = job->n;
  q.tiles = tiles_of(job);
  int e = gr_cuda_need(run, GR_COUNTER_BYTES + (size_t)q.tiles * sizeof(gr_halves));
  if (e != cudaSuccess) return e;
  q.next = (unsigned *)run->scratch->memory;
  q.tile = (gr_halves *)((char *)run->scratch->memory + GR_COUNTER_BYTES);
  q.tag = gr_tag_of(run->epoch);
  void *args[] = {&q};
  return cudaLaunchKernel(kernel, (unsigned)q.tiles, THREADS, args, 0, (cudaStream_t)run->stream);
}
