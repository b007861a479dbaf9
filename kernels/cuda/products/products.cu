/*
** Dots of each two columns of a matrix, less their means, in one pass over it. A block brings leaves of all columns to
** shared memory, as f64 that are centred already; a warp takes four columns by four of a leaf, and lane l of it the
** tree's lanes l and l + 32 of each of the 16 products, in registers. A second launch folds the leaves of each pair.
*/
#include "kernels/cuda/products/products.h"
#include "kernels/cuda/products/tuning.h"
#include "kernels/cuda/thread/element.cuh"

namespace {

using Tuning = gr_products_tuning;
constexpr int threads = Tuning::threads, loads = Tuning::loads, together = Tuning::together, leaf = GR_LEAF(8);

struct arguments {
  gr_products_job job;
  int64_t leaves;
  int32_t pitch, each;   /* doubles of a row here; leaves of a block */
  int32_t tiles, across; /* of a leaf, and in a row of them */
  double *part, *spare;  /* by pair, then leaf: its sum; room for an eighth of that */
};

__host__ __device__ inline int pairs_of(int columns) { return columns * (columns + 1) / 2; }

/* Of j <= k: its number among all pairs. */
__device__ __forceinline__ int pair_of(int j, int k, int columns) { return j * columns - j * (j - 1) / 2 + k - j; }

/* Elements of one column, from row `first` on in steps, less its mean, to where they are wanted. */
template <typename T, class Convert>
__device__ __forceinline__ void bring(const char *p, int64_t step, int first, int by, int here, double mean, double *to,
                                      int pitch, const Convert &convert) {
  for (int r = first; r < here; r += by * loads) {
    T x[loads];
#pragma unroll
    for (int u = 0; u < loads; u++)
      if (r + u * by < here) x[u] = *(const T *)(p + (r + u * by) * step);
#pragma unroll
    for (int u = 0; u < loads; u++)
      if (r + u * by < here) to[(r + u * by) * pitch] = convert(x[u]) - mean;
  }
}

__device__ __forceinline__ void bring_all(const arguments &q, int64_t row, int here, double *x) {
  const int columns = q.job.columns, by = threads / columns, column = (int)threadIdx.x % columns;
  const int first = (int)threadIdx.x / columns;
  const int64_t step = columns * q.job.a.stride;
  const char *p = (const char *)q.job.a.data + row * step + column * q.job.a.stride;
  if (first >= by) return;
  const double mean = q.job.means[column];
  switch (q.job.dtype) {
#define GR_X(id, s, l, type, kind)                                                                \
  case GR_##id:                                                                                   \
    bring<gr_type<GR_##id>>(p, step, first, by, here, mean, x + column, q.pitch,                  \
                            [](gr_type<GR_##id> e) { return gr_to_f64<GR_##id>(e); });            \
    break;
    GR_DTYPES(GR_X)
#undef GR_X
  }
}

/* All halves of the tree's lanes but the first, of 2 * n sums at once: lanes share them out, 16 / n of them each. */
template <int n>
__device__ __forceinline__ double fold(double (&v)[16], int lane) {
  if constexpr (n == 0) {
    return v[0] + __shfl_xor_sync(~0u, v[0], 1);
  } else {
    const bool upper = lane & 2 * n;
#pragma unroll
    for (int m = 0; m < n; m++) {
      const double keep = upper ? v[m + n] : v[m], give = upper ? v[m] : v[m + n];
      v[m] = keep + __shfl_xor_sync(~0u, give, 2 * n);
    }
    return fold<n / 2>(v, lane);
  }
}

/* Four columns from x on by four from y on, of `here` rows that are there. */
template <bool whole>
__device__ __forceinline__ void multiply(const double *x, const double *y, int pitch, int here, int lane,
                                         double (&sum)[16]) {
  double upper[16];
#pragma unroll
  for (int m = 0; m < 16; m++) sum[m] = upper[m] = -0.0;
#pragma unroll 1
  for (int row = lane; row < leaf; row += 64) {
#pragma unroll
    for (int half = 0; half < 2; half++) {
      const double2 *a = (const double2 *)(x + (row + half * 32) * pitch);
      const double2 *b = (const double2 *)(y + (row + half * 32) * pitch);
      const double2 a0 = a[0], a1 = a[1], b0 = b[0], b1 = b[1];
      const double left[4] = {a0.x, a0.y, a1.x, a1.y}, right[4] = {b0.x, b0.y, b1.x, b1.y};
#pragma unroll
      for (int m = 0; m < 16; m++) {
        double product = left[m / 4] * right[m % 4];
        if (!whole && row + half * 32 >= here) product = -0.0; /* which adds nothing */
        if (half) upper[m] += product;
        else sum[m] += product;
      }
    }
  }
#pragma unroll
  for (int m = 0; m < 16; m++) sum[m] += upper[m];
}

__global__ void __launch_bounds__(threads, 2) leaves_of_products(const __grid_constant__ arguments q) {
  extern __shared__ __align__(16) double memory[];
  const int lane = threadIdx.x & 31, warp = __shfl_sync(~0u, threadIdx.x >> 5, 0), columns = q.job.columns;
  const int64_t first = blockIdx.x * (int64_t)q.each, row = first * leaf;
  const int here = (int)min((int64_t)q.each * leaf, q.job.rows - row);
  bring_all(q, row, here, memory);
  __syncthreads();
#pragma unroll 1
  for (int unit = warp; unit < q.each * q.tiles; unit += threads / 32) {
    const int own = unit / q.tiles, left = here - own * leaf;
    int tile = unit % q.tiles, j = 0;
    while (tile >= q.across - j) tile -= q.across - j, j++;
    const int k = j + tile;
    if (left <= 0) return;
    const double *x = memory + own * leaf * q.pitch;
    double sum[16];
    if (left >= leaf) multiply<true>(x + 4 * j, x + 4 * k, q.pitch, left, lane, sum);
    else multiply<false>(x + 4 * j, x + 4 * k, q.pitch, left, lane, sum);
    const double mine = fold<8>(sum, lane); /* number lane / 2 */
    const int a = 4 * j + (lane >> 3), b = 4 * k + (lane >> 1 & 3);
    if ((lane & 1) == 0 && a <= b && b < columns)
      q.part[pair_of(a, b, columns) * q.leaves + first + own] = mine;
  }
}

/* A block has a pair: neighbours fold with neighbours, eight of them at a time. What is not there is -0. */
__global__ void __launch_bounds__(threads) fold_of_products(const __grid_constant__ arguments q) {
  int64_t count = q.leaves;
  double *from = q.part + blockIdx.x * q.leaves, *to = q.spare + blockIdx.x * ((q.leaves + 7) / 8);
  while (count > 1) {
    const int64_t next = (count + together - 1) / together;
    for (int64_t o = threadIdx.x; o < next; o += threads) {
      double v[together];
#pragma unroll
      for (int u = 0; u < together; u++) v[u] = o * together + u < count ? from[o * together + u] : -0.0;
#pragma unroll
      for (int n = 1; n < together; n *= 2)
#pragma unroll
        for (int u = 0; u < together; u += 2 * n) v[u] += v[u + n];
      to[o] = v[0];
    }
    __syncthreads();
    double *was = from;
    from = to;
    to = was;
    count = next;
  }
  if (threadIdx.x) return;
  int pair = (int)blockIdx.x, j = 0;
  const int columns = q.job.columns;
  while (pair >= columns - j) pair -= columns - j, j++;
  const double sum = from[0], value = sum == sum ? sum : gr_nan();
  q.job.out[j * columns + j + pair] = value;
  q.job.out[(j + pair) * columns + j] = value;
}

int across_of(int columns) { return (columns + 3) / 4; }
int pitch_of(int columns) { return 4 * across_of(columns) + 2; } /* lanes, two doubles each, meet no other's bank */
size_t bytes_of(int columns) { return (size_t)leaf * (size_t)pitch_of(columns) * sizeof(double); }

cudaError_t start(const void *kernel, int64_t blocks, size_t shared, arguments &q, const gr_cuda_run *run) {
  void *args[] = {&q};
  return cudaLaunchKernel(kernel, (unsigned)blocks, threads, args, shared, (cudaStream_t)run->stream);
}

}  // namespace

extern "C" int gr_cuda_products_most(const gr_cuda_chip *chip) {
  int columns = Tuning::most_columns;
  while (columns > 0 && bytes_of(columns) > (size_t)chip->shared_optin) columns -= 4;
  return columns;
}

extern "C" int gr_cuda_products(const gr_products_job *job, const gr_cuda_run *run) {
  arguments q = {};
  q.job = *job;
  q.leaves = (job->rows + leaf - 1) / leaf;
  q.across = across_of(job->columns);
  q.tiles = q.across * (q.across + 1) / 2;
  q.pitch = pitch_of(job->columns);
  const size_t bytes = bytes_of(job->columns), optin = (size_t)run->chip->shared_optin;
  const size_t most = Tuning::block_bytes < optin ? Tuning::block_bytes : optin;
  q.each = bytes < most ? (int32_t)(most / bytes) : 1;
  const int64_t pairs = pairs_of(job->columns), blocks = (q.leaves + q.each - 1) / q.each;
  if (blocks > INT32_MAX) return cudaErrorInvalidValue;
  int e = gr_cuda_need(run, GR_COUNTER_BYTES + (size_t)(pairs * (q.leaves + (q.leaves + 7) / 8)) * sizeof(double));
  if (e != cudaSuccess) return e;
  q.part = (double *)((char *)run->scratch->memory + GR_COUNTER_BYTES);
  q.spare = q.part + pairs * q.leaves;
  const void *first = (const void *)leaves_of_products;
  e = cudaFuncSetAttribute(first, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)(bytes * q.each));
  if (e == cudaSuccess) e = start(first, blocks, bytes * q.each, q, run);
  return e == cudaSuccess ? start((const void *)fold_of_products, pairs, 0, q, run) : e;
}
