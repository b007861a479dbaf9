/*
** Compaction in two launches. The first reads the mask: of each unit of 512 elements, and of each chunk of units,
** which a warp counts, how many are kept before it. So in the second a warp knows where the elements of its unit go,
** and waits for nothing but memory: to look back at tiles that are still being counted costs more than to read the
** mask again. A lane has 16 neighbours of the mask as a word; a pair of lanes makes a row of them, 32 bits for the
** 32 elements that the warp then loads at once, those that are kept.
*/
#include <type_traits>
#include "kernels/cuda/grid/dependent_launch.cuh"
#include "kernels/cuda/grid/last_block.cuh"
#include "kernels/cuda/grid/publish.cuh"
#include "kernels/cuda/select/tuning.h"
#include "kernels/cuda/thread/load.cuh"

constexpr int UNIT = GR_COMPACT_UNIT, ROWS = UNIT / 32, TOGETHER = gr_select_tuning::compact_counted,
              COUNTERS = gr_select_tuning::compact_counters, EACH = gr_select_tuning::compact_chunks,
              KEEPERS = gr_select_tuning::compact_threads;
static_assert(UNIT == 32 * 16 && 8 % TOGETHER == 0, "a word of the mask each lane; a chunk is 8 units, or 16, ...");

struct gr_compact_args {
  const char *a, *mask;
  char *out;
  int64_t a_stride, mask_stride, out_stride, n, units, chunks;
  int32_t chunk_log2, size; /* units of a chunk; bytes of an element */
  int64_t *kept, *before_chunk;
  unsigned *of_chunk, *in_chunk; /* how many are kept of a chunk, and of a unit's chunk before it */
  unsigned *next;                /* a counter, which is zero between launches */
  gr_halves *read;               /* out has bytes of a: of each unit, whether it has been read; else NULL */
  gr_tag tag;
};

/* The uppermost bit of each byte: whether it is not zero. Then the same as four bits. */
static __device__ __forceinline__ unsigned gr_marks(unsigned x) {
  return (((x & 0x7f7f7f7fu) + 0x7f7f7f7fu) | x) & 0x80808080u;
}
static __device__ __forceinline__ unsigned gr_four(unsigned x) { return gr_marks(x) * 0x00204081u >> 28; }

/* 16 neighbours of the mask from k on as bits, wherever they lie, and however many there are. */
static __device__ __forceinline__ unsigned gr_marks_one_by_one(const gr_compact_args &q, int64_t k) {
  const char *from = q.mask + k * q.mask_stride;
  const int count = (int)(q.n - k < 16 ? q.n - k : 16);
  unsigned bits = 0;
#pragma unroll 1
  for (int j = 0; j < count; j++, from += q.mask_stride) bits |= (unsigned)(*(const uint8_t *)from != 0) << j;
  return bits;
}

static __device__ __forceinline__ int gr_sum_of_lanes(int x) {
#pragma unroll
  for (int h = 16; h; h /= 2) x += __shfl_xor_sync(~0u, x, h);
  return x;
}

/* One block, when all chunks have been counted: how many are kept before each. A thread has EACH chunks. */
static __device__ __forceinline__ void gr_add_chunks(const gr_compact_args &q) {
  __shared__ int64_t warps[COUNTERS / 32];
  const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5, from = threadIdx.x * EACH;
  unsigned of[EACH];
  int64_t own = 0;
#pragma unroll
  for (int k = 0; k < EACH; k++) of[k] = from + k < q.chunks ? __ldcg(q.of_chunk + from + k) : 0;
#pragma unroll
  for (int k = 0; k < EACH; k++) own += of[k];
  int64_t before = own;
#pragma unroll
  for (int h = 1; h < 32; h *= 2) {
    const int64_t left = __shfl_up_sync(~0u, before, h);
    if (lane >= h) before += left;
  }
  if (lane == 31) warps[warp] = before;
  before -= own;
  __syncthreads();
#pragma unroll 4
  for (int w = 0; w < warp; w++) before += warps[w];
#pragma unroll
  for (int k = 0; k < EACH; k++) {
    if (from + k < q.chunks) q.before_chunk[from + k] = before;
    before += of[k];
  }
  if (threadIdx.x == COUNTERS - 1) *q.kept = before;
}

static __global__ void __launch_bounds__(COUNTERS) gr_compact_count(const __grid_constant__ gr_compact_args q) {
  const int lane = threadIdx.x & 31;
  const int64_t c = blockIdx.x * (int64_t)(COUNTERS / 32) + (threadIdx.x >> 5);
  if (c < q.chunks) {
    const int64_t end = (c + 1) << q.chunk_log2 < q.units ? (c + 1) << q.chunk_log2 : q.units;
    const bool by_words = q.mask_stride == 1 && (uintptr_t)q.mask % 16 == 0;
    unsigned before = 0;
    auto note = [&](int64_t unit, int of_lane) {
      const int count = gr_sum_of_lanes(of_lane);
      if (lane == 0) q.in_chunk[unit] = before;
      before += count;
    };
    int64_t unit = c << q.chunk_log2;
#pragma unroll 1
    for (; by_words && unit < end && q.n - unit * UNIT >= TOGETHER * UNIT; unit += TOGETHER) {
      uint4 m[TOGETHER];
#pragma unroll
      for (int u = 0; u < TOGETHER; u++) m[u] = gr_load16(q.mask + (unit + u) * UNIT + lane * 16);
#pragma unroll
      for (int u = 0; u < TOGETHER; u++)
        note(unit + u,
             __popc(gr_marks(m[u].x) | gr_marks(m[u].y) >> 1 | gr_marks(m[u].z) >> 2 | gr_marks(m[u].w) >> 3));
    }
#pragma unroll 1
    for (; unit < end; unit++) note(unit, __popc(gr_marks_one_by_one(q, unit * UNIT + lane * 16)));
    if (lane == 0) q.of_chunk[c] = before;
  }
  if (gr_last_block(q.next, gridDim.x)) gr_add_chunks(q);
}

/* Row r of the unit: lane 2r has it. */
static __device__ __forceinline__ unsigned gr_rows_of_unit(const gr_compact_args &q, int64_t first, int lane) {
  unsigned own;
  if (q.mask_stride == 1 && q.n - first >= UNIT) {
    const char *from = q.mask + first + lane * 16;
    const uint4 m = gr_load_end(gr_load_begin(from), from, 16);
    own = gr_four(m.x) | gr_four(m.y) << 4 | gr_four(m.z) << 8 | gr_four(m.w) << 12;
  } else {
    own = gr_marks_one_by_one(q, first + lane * 16);
  }
  return own | __shfl_down_sync(~0u, own, 1) << 16;
}

/*
** Where out has bytes of a: this warp has read its unit, and returns when those have been read whose elements lie where
** `count` elements from `at` on go to, which are none behind its own.
*/
static __device__ __forceinline__ void gr_let_read(const gr_compact_args &q, int64_t unit, int64_t at, int count,
                                                   int lane) {
  __threadfence();
  __syncwarp();
  if (lane == 0) gr_publish(&q.read[unit], 1u, q.tag);
  const int64_t other = at / UNIT + lane;
  const gr_halves *of[1] = {&q.read[other]};
  bool wanted[1] = {count > 0 && other <= (at + count - 1) / UNIT};
  unsigned v[1];
  gr_await(of, wanted, q.tag, 0u, v);
}

/* An element of so many bytes, which lies apart from others; U, if those lie side by side, knows how many these are. */
struct gr_apart {
  uint64_t x;
};
template <typename U>
static __device__ __forceinline__ U gr_element_at(const char *p, int64_t k, int64_t stride, int size) {
  if constexpr (!std::is_same_v<U, gr_apart>) return ((const U *)p)[k];
  else {
    p += k * stride;
    return {size == 1   ? *(const uint8_t *)p
            : size == 2 ? *(const uint16_t *)p
            : size == 4 ? *(const uint32_t *)p
                        : *(const uint64_t *)p};
  }
}
template <typename U>
static __device__ __forceinline__ void gr_put_element(char *p, int k, int64_t stride, int size, U e) {
  if constexpr (!std::is_same_v<U, gr_apart>) ((U *)p)[k] = e;
  else {
    p += k * stride;
    if (size == 1) *(uint8_t *)p = (uint8_t)e.x;
    else if (size == 2) *(uint16_t *)p = (uint16_t)e.x;
    else if (size == 4) *(uint32_t *)p = (uint32_t)e.x;
    else *(uint64_t *)p = e.x;
  }
}

template <typename U>
static __global__ void __launch_bounds__(KEEPERS) gr_compact_keep(const __grid_constant__ gr_compact_args q) {
  const int lane = threadIdx.x & 31;
  int64_t block = blockIdx.x;
  if (q.read) { /* blocks that others wait for have begun */
    __shared__ unsigned taken;
    if (threadIdx.x == 0) taken = atomicInc(q.next, gridDim.x - 1);
    __syncthreads();
    block = taken;
  }
  const int64_t unit = block * (KEEPERS / 32) + (threadIdx.x >> 5), first = unit * UNIT;
  if (unit >= q.units) return;
  const int64_t at = q.before_chunk[unit >> q.chunk_log2] + q.in_chunk[unit];
  const char *from = q.a + (first + lane) * q.a_stride;
  const unsigned rows = gr_rows_of_unit(q, first, lane);
  unsigned row[ROWS];
  U e[ROWS];
#pragma unroll
  for (int r = 0; r < ROWS; r++) row[r] = __shfl_sync(~0u, rows, 2 * r);
#pragma unroll
  for (int r = 0; r < ROWS; r++)
    if (row[r] >> lane & 1) e[r] = gr_element_at<U>(from, r * 32, q.a_stride, q.size);
  if (q.read) gr_let_read(q, unit, at, gr_sum_of_lanes(lane & 1 ? 0 : __popc(rows)), lane);
  char *to = q.out + at * q.out_stride;
  const unsigned below = (1u << lane) - 1;
  int before = 0;
#pragma unroll
  for (int r = 0; r < ROWS; r++) {
    if (row[r] >> lane & 1) gr_put_element(to, before + __popc(row[r] & below), q.out_stride, q.size, e[r]);
    before += __popc(row[r]);
  }
}

int gr_cuda_compact(const gr_compact_job *job, const gr_cuda_run *run) {
  const int size = gr_size_of(job->dtype);
  const void *keep = gr_for_size(size, [](auto u) { return (const void *)gr_compact_keep<decltype(u)>; });
  if (job->a.stride != size || job->out.stride != size) keep = (const void *)gr_compact_keep<gr_apart>;
  gr_compact_args q = {};
  if (job->n <= 0) return cudaSuccess;
  q.a = (const char *)job->a.data;
  q.mask = (const char *)job->mask.data;
  q.out = (char *)job->out.data;
  q.a_stride = job->a.stride;
  q.mask_stride = job->mask.stride;
  q.out_stride = job->out.stride;
  q.n = job->n;
  q.size = size;
  q.units = (q.n + UNIT - 1) / UNIT;
  for (q.chunk_log2 = 3; (q.units - 1) >> q.chunk_log2 >= COUNTERS * EACH; q.chunk_log2++) continue;
  q.chunks = ((q.units - 1) >> q.chunk_log2) + 1;
  q.kept = job->kept;
  q.before_chunk = job->state;
  q.of_chunk = (unsigned *)(q.before_chunk + q.chunks);
  q.in_chunk = q.of_chunk + q.chunks;
  const bool apart = !q.out || gr_misses(gr_span(job->a, 1, q.n, size), gr_span(job->out, 1, q.n, size));
  const int e = gr_cuda_need(run, GR_COUNTER_BYTES + (apart ? 0 : (size_t)q.units * sizeof(gr_halves)));
  if (e != cudaSuccess) return e;
  q.next = (unsigned *)run->scratch->memory;
  if (!apart) q.read = (gr_halves *)((char *)run->scratch->memory + GR_COUNTER_BYTES);
  q.tag = gr_tag_of(run->epoch);
  void *args[] = {&q};
  const int64_t counting = (q.chunks + COUNTERS / 32 - 1) / (COUNTERS / 32), keeping = KEEPERS / 32;
  return q.out ? cudaLaunchKernel(keep, (unsigned)((q.units + keeping - 1) / keeping), KEEPERS, args, 0,
                                  (cudaStream_t)run->stream)
               : cudaLaunchKernel((const void *)gr_compact_count, (unsigned)counting, COUNTERS, args, 0,
                                  (cudaStream_t)run->stream);
}
