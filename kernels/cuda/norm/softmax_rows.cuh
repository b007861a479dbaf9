/*
** Softmax of rows of more than a row of lanes, which are read once and wait in registers for their sum: a row has a
** warp, a block, or several blocks, which publish the largest element and the sum of what they have.
*/
#ifndef GR_CUDA_NORM_SOFTMAX_ROWS_CUH
#define GR_CUDA_NORM_SOFTMAX_ROWS_CUH

#include "kernels/cuda/norm/softmax_element.cuh"

/*
** How warps share a leaf out: each has `each` times 32 of its lanes, apart by what folds last, and as many rows of them
** as the leaf can have here. A thread has `count` elements. dense: the row's elements lie side by side.
*/
template <gr_dtype D, int most_rows, int lanes_each, bool is_dense> struct share {
  static constexpr gr_dtype dtype = D;
  static constexpr bool dense = is_dense;
  static constexpr int rows = most_rows, each = lanes_each, count = rows * each;
  static constexpr int lanes = GR_LANES(gr_size<D>), leaf = GR_LEAF(gr_size<D>), warps = lanes / 32 / each;
  /* How far behind a thread's first element its element i is. */
  static __device__ __forceinline__ constexpr int behind(int i) { return i / each * lanes + i % each * warps * 32; }
  static __device__ __forceinline__ int64_t bytes(int i, int64_t stride) {
    return dense ? behind(i) * gr_size<D> : behind(i) * stride;
  }
};
/* For few rows, and those of f64 or any stride; and for many. */
template <gr_dtype D, bool dense> using thin = share<D, GR_LEAF_ROWS(gr_size<D>), 1, dense>;
template <gr_dtype D, int most_rows> using wide = share<D, most_rows, Tuning::softmax_elements / most_rows, true>;

/* A thread's elements, whose first is at x; lane: its warp's threads have theirs side by side. */
template <typename S> struct thread_part {
  using T = exact<S::dtype>;
  T v[S::count], y[S::count];
  present is;

  static __device__ __forceinline__ int behind(int i) { return S::behind(i); }

  /* n: elements of the row from this thread's first, below 0 where blocks reach past it. */
  __device__ __forceinline__ void load(const char *x, int64_t stride, int64_t n, int lane) {
    is.n = (int)max(min(n, (int64_t)S::leaf), (int64_t)-S::leaf);
    is.most_n = is.n + lane;
    is.least_n = is.n + lane - 31;
    load_present<S::dtype>(v, is, behind, [&](int i) { return x + S::bytes(i, stride); });
  }

  __device__ __forceinline__ T largest() const {
    T most = (T)-INFINITY;
#pragma unroll
    for (int i = 0; i < S::count; i++) most = larger(most, v[i]);
    return most;
  }

  /* Elements become exponentials; their sums by lane, folded as far as these are this thread's, are what it returns. */
  __device__ __forceinline__ double sum(T most) {
    double s[S::each];
    exponentials(v, most, y, is, behind);
#pragma unroll
    for (int g = 0; g < S::each; g++) s[g] = -0.0;
#pragma unroll
    for (int i = 0; i < S::count; i++) s[i % S::each] += (double)y[i];
#pragma unroll
    for (int h = S::each / 2; h > 0; h /= 2)
#pragma unroll
      for (int g = 0; g < h; g++) s[g] = s[g] + s[g + h];
    return s[0];
  }

  __device__ __forceinline__ void store(char *out, int64_t stride, T factor) const {
    store_present<S::dtype>(y, factor, is, behind, [&](int i) { return out + S::bytes(i, stride); });
  }
};

/* One value from each of `count` warps; all threads get them folded: the sum by adjacency, or the largest. */
template <bool sum, typename T> static __device__ __forceinline__ T across(const T *shared, int count) {
  int lane = (int)(threadIdx.x & 31);
  T v = lane < count ? shared[lane] : sum ? (T)-0.0 : (T)-INFINITY;
#pragma unroll
  for (int h = 1; h < 32; h *= 2) {
    T other = __shfl_xor_sync(~0u, v, h);
    v = sum ? v + other : larger(v, other);
  }
  return v;
}

/* A leaf's sum from those of its threads, which pass through shared memory if it has several warps: to each of them. */
template <typename S>
static __device__ __forceinline__ double fold_leaf(double sum, double (*part)[32], int warp, int lane) {
  double s[S::warps];
  s[0] = sum;
  if constexpr (S::warps > 1) {
    part[warp][lane] = sum;
    __syncthreads();
#pragma unroll
    for (int j = 0; j < S::warps; j++) s[j] = part[warp / S::warps * S::warps + j][lane];
  }
  return fold_lanes<S::warps>(s);
}

/* The values of up to 32 blocks, as soon as they are published, as one: the sum by adjacency, or the largest. */
template <bool sum>
static __device__ __forceinline__ double gather(const gr_halves *of, int count, gr_tag tag, int lane) {
  const gr_halves *at[1] = {of + lane};
  bool wanted[1] = {lane < count};
  double v[1];
  gr_await(at, wanted, tag, sum ? -0.0 : -(double)INFINITY, v);
#pragma unroll
  for (int h = 1; h < 32; h *= 2) {
    double other = __shfl_xor_sync(~0u, v[0], h);
    v[0] = sum ? v[0] + other : larger(v[0], other);
  }
  return v[0];
}

/*
** A block's value becomes that of all blocks of its row, who wait for each other. Blocks start in order and a row has
** fewer of them than fit the device at once, so those that wait do not keep out those that they wait for.
*/
template <bool sum>
static __device__ __forceinline__ double of_row(const soft_job &q, double v, double *shared) {
  int lane = (int)(threadIdx.x & 31), warps = (int)(blockDim.x >> 5), units = (q.pieces + 31) >> 5;
  gr_halves *of = q.partials + (sum ? q.count * q.pieces : 0), *row = of + blockIdx.x / q.pieces * (int64_t)q.pieces;
  if (threadIdx.x == 0) gr_publish(of + blockIdx.x, v, q.tag);
  for (int u = (int)(threadIdx.x >> 5); u < units; u += warps) {
    v = gather<sum>(row + u * 32, q.pieces - u * 32, q.tag, lane);
    if (lane == 0) shared[u] = v;
  }
  __syncthreads();
  return across<sum>(shared, units);
}

/* What has a row. */
enum owner { OF_WARP, OF_BLOCK, OF_BLOCKS };

/* Blocks of a multiprocessor, of which one of compute capability 7.5 has room for 1024 threads. */
constexpr int blocks_fitting(int warps, int blocks) {
  return gr_arch == 750 && warps * 32 * blocks > 1024 ? 1024 / (warps * 32) : blocks;
}

/* A warp has a row of one leaf; or a block has a row, or one of q.pieces of it, of a power of two of leaves. */
template <typename S, owner owns, int warps, int blocks>
static __global__ void __launch_bounds__(warps * 32, blocks_fitting(warps, blocks))
    softmax_rows(const __grid_constant__ soft_job q) {
  using T = exact<S::dtype>;
  __shared__ double part[S::warps > 1 ? warps : 1][32], sum_of[warps], pieces[owns == OF_BLOCKS ? 2 : 1][32];
  __shared__ T most_of[warps];
  int lane = (int)(threadIdx.x & 31), warp = (int)(threadIdx.x >> 5);
  int leaf = owns == OF_WARP ? 0 : warp / S::warps, leaves = (int)(blockDim.x >> 5) / S::warps;
  int64_t row = blockIdx.x, piece = 0;
  if (owns == OF_WARP) row = row * warps + warp;
  if (owns == OF_BLOCKS) row /= q.pieces, piece = blockIdx.x - row * q.pieces;
  int64_t first = (piece * leaves + leaf) * S::leaf + warp % S::warps * 32 + lane;
  bool there = owns != OF_WARP || row < q.count;
  thread_part<S> mine;
  gr_start_reading(false);
  mine.load(q.x + row * q.x_step + first * q.x_stride, q.x_stride, there ? q.n - first : -32, lane);
  T most = mine.largest();
#pragma unroll
  for (int h = 16; h > 0; h /= 2) most = larger(most, __shfl_xor_sync(~0u, most, h));
  if constexpr (owns != OF_WARP) {
    if (lane == 0) most_of[warp] = most;
    __syncthreads();
    most = across<false>(most_of, (int)(blockDim.x >> 5));
  }
  if constexpr (owns == OF_BLOCKS) most = (T)of_row<false>(q, (double)most, pieces[0]);
  double sum = fold_leaf<S>(mine.sum(most), part, warp, lane);
  if (owns != OF_WARP && leaves > 1) {
    if (lane == 0 && warp % S::warps == 0) sum_of[leaf] = sum;
    __syncthreads();
    sum = across<true>(sum_of, leaves);
  }
  if constexpr (owns == OF_BLOCKS) sum = of_row<true>(q, sum, pieces[1]);
  mine.store(q.out + row * q.out_step + first * q.out_stride, q.out_stride, factor_of<S::dtype>(sum));
}

/* ---- launching ---- */

/*
** Leaves of a row that a block of so many warps has: all, or, of several blocks, as few as there are blocks for. 0:
** there are not.
*/
template <typename S> static int leaves_of_block(const soft_job &q, int warps, int sms) {
  auto pieces = [&](int leaves) { return (q.leaves - 1) / leaves + 1; };
  if (q.leaves * S::warps <= warps && (q.leaves == 1 || Tuning::softmax_row_share * q.count > sms))
    return (int)q.leaves;
  int leaves = max(Tuning::softmax_pieces_warps / S::warps, 1);
  while (leaves > 1 && q.count * pieces(leaves / 2) <= sms) leaves /= 2;
  while (pieces(leaves) > sms && leaves * S::warps < Tuning::softmax_wide_warps) leaves *= 2;
  return pieces(leaves) <= sms && q.count * pieces(leaves) <= INT32_MAX ? leaves : 0;
}

/* Rows of a leaf at most, a warp each. */
template <typename S, int threads> static cudaError_t start_warps(soft_job *q, const gr_cuda_run *run) {
  constexpr int warps = Tuning::softmax_warp_rows;
  static_assert(S::warps == 1, "nobody shares the row");
  return start_blocks(q, (const void *)softmax_rows<S, OF_WARP, warps, threads / (warps * 32)>,
                      (q->count - 1) / warps + 1, warps, run);
}

/* Rows of so few leaves that a block of so many warps has one. */
template <typename S, int warps, int blocks> static cudaError_t start_rows(soft_job *q, const gr_cuda_run *run) {
  q->pieces = 1;
  return start_blocks(q, (const void *)softmax_rows<S, OF_BLOCK, warps, blocks>, q->count, (int)q->leaves * S::warps,
                      run);
}

/* Rows that several blocks have. */
template <typename S> static cudaError_t start_pieces(soft_job *q, int leaves, const gr_cuda_run *run) {
  constexpr int warps = Tuning::softmax_wide_warps; /* at most */
  q->pieces = (int32_t)((q->leaves - 1) / leaves + 1);
  size_t halves = 2 * (size_t)(q->count * q->pieces) * sizeof(gr_halves);
  int e = gr_cuda_need(run, GR_COUNTER_BYTES + halves);
  if (e != cudaSuccess) return (cudaError_t)e;
  q->partials = (gr_halves *)((char *)run->scratch->memory + GR_COUNTER_BYTES);
  q->tag = gr_tag_of(run->epoch);
  return start_blocks(q, (const void *)softmax_rows<S, OF_BLOCKS, warps, Tuning::softmax_warps / warps>,
                      q->count * q->pieces, leaves * S::warps, run);
}

/* Dense rows of more than a row of lanes, enough of them that all multiprocessors have warps of many elements. */
template <gr_dtype D> static cudaError_t start_wide(soft_job *q, int leaves, const gr_cuda_run *run) {
  constexpr int rows = GR_LEAF_ROWS(gr_size<D>), warps = Tuning::softmax_wide_warps;
  using Few = share<D, Tuning::softmax_few_rows, GR_LANES(gr_size<D>) / 32, true>;
  using Half = wide<D, rows / 2>;
  using Whole = wide<D, rows>;
  if (q->n <= Few::rows * Few::lanes) return start_warps<Few, Tuning::softmax_threads<4 * Few::count>>(q, run);
  if constexpr (Whole::warps == 1) {
    if (q->leaves == 1) return start_warps<Whole, Tuning::softmax_threads<4 * Whole::count>>(q, run);
  } else {
    constexpr int blocks = Tuning::softmax_threads<4 * Half::count> / (Half::warps * 32);
    if (q->n <= Half::rows * Half::lanes) return start_rows<Half, Half::warps, blocks>(q, run);
  }
  if (leaves < q->leaves) return start_pieces<Whole>(q, leaves, run);
  return start_rows<Whole, warps, Tuning::softmax_threads<4 * Whole::count> / (warps * 32)>(q, run);
}

/* Few rows, those of f64, and those of any stride; false if a row has more blocks than wait for each other. */
template <gr_dtype D, bool dense> static bool start_thin(soft_job *q, const gr_cuda_run *run, cudaError_t *e) {
  using T = thin<D, dense>;
  constexpr int warps = Tuning::softmax_warps;
  int leaves = leaves_of_block<T>(*q, warps, run->chip->sms);
  if (leaves >= q->leaves) *e = start_rows<T, warps, 1>(q, run);
  else if (leaves) *e = start_pieces<T>(q, leaves, run);
  return leaves != 0;
}

/* Rows that registers of as many blocks as run at once hold; false if these do not. */
template <gr_dtype D> static bool start_held(soft_job *q, const gr_cuda_run *run, cudaError_t *e) {
  if constexpr (D == GR_F64) {
    using Few = share<D, Tuning::softmax_few_rows, Tuning::softmax_f64_each, true>;
    using Leaf = share<D, GR_LEAF_ROWS(8), Tuning::softmax_f64_each, true>;
    if (!is_dense<D>(*q)) return start_thin<D, false>(q, run, e);
    if (q->n <= Few::rows * Few::lanes) return *e = start_warps<Few, Tuning::softmax_f64_threads>(q, run), true;
    if (q->n <= Leaf::leaf && q->count >= run->chip->sms * Tuning::softmax_full_warps)
      return *e = start_warps<Leaf, Tuning::softmax_f64_leaf_threads>(q, run), true;
    return start_thin<D, true>(q, run, e);
  } else {
    using W = wide<D, GR_LEAF_ROWS(gr_size<D>)>;
    int sms = run->chip->sms, leaves = leaves_of_block<W>(*q, Tuning::softmax_wide_warps, sms);
    bool full = q->count * q->leaves * W::warps >= sms * Tuning::softmax_full_warps;
    if (!leaves || !full || !is_dense<D>(*q)) return start_thin<D, false>(q, run, e);
    *e = start_wide<D>(q, leaves, run);
    return true;
  }
}

#endif
