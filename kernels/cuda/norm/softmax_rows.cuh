/*
** Softmax of rows that are longer than a leaf has lanes, but for those that softmax_few takes (is_few). Each is read
** once and waits in registers for its sum: it has a warp, a block, or several blocks, which publish the largest element
** and the sum of what they have.
*/
#ifndef GR_CUDA_NORM_SOFTMAX_ROWS_CUH
#define GR_CUDA_NORM_SOFTMAX_ROWS_CUH

#include "kernels/cuda/norm/softmax_element.cuh"

/*
** How the warps of a leaf share it out. A thread has `each` lanes of the tree, those that fold first, and of each of
** them the elements in `rows` rows of the leaf (fewer than it has where the rows to be done are shorter): `count`
** elements. dense: the elements of a row lie side by side.
*/
template <gr_dtype D, int most_rows, int lanes_each, bool is_dense> struct leaf_share {
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
/*
** thin: one lane a thread, so that a leaf has as many warps as can be; for few rows, for f64 and for any stride.
** wide: many elements a thread, whose lanes fold without another thread; for many dense rows.
*/
template <gr_dtype D, bool dense> using thin = leaf_share<D, GR_LEAF_ROWS(gr_size<D>), 1, dense>;
template <gr_dtype D, int most_rows> using wide = leaf_share<D, most_rows, Tuning::softmax_elements / most_rows, true>;

/* The elements of one thread, and the exponentials that become of them. */
template <typename S> struct thread_part {
  using T = computed<S::dtype>;
  T v[S::count], y[S::count];
  elements_left left;

  static __device__ __forceinline__ int behind(int i) { return S::behind(i); }

  /*
  ** x: where the first of them lies; n: how many elements of the row there are from there on, 0 or less where blocks
  ** reach past its end. The next lane's are one element further on.
  */
  __device__ __forceinline__ void load(const char *x, int64_t stride, int64_t n, int lane, bool brain) {
    left.own = (int)max(min(n, (int64_t)S::leaf), (int64_t)-S::leaf);
    left.most = left.own + lane;
    left.least = left.own + lane - 31;
    load_present<S::dtype>(v, left, behind, [&](int i) { return x + S::bytes(i, stride); }, brain);
  }

  __device__ __forceinline__ T largest() const {
    T most = (T)-INFINITY;
#pragma unroll
    for (int i = 0; i < S::count; i++) most = larger(most, v[i]);
    return most;
  }

  /* Makes the exponentials, and returns their sum: lane by lane, then by halves over this thread's lanes. */
  __device__ __forceinline__ double sum(T most) {
    double s[S::each];
    exponentials(v, most, y, left, behind);
#pragma unroll
    for (int g = 0; g < S::each; g++) s[g] = -0.0;
#pragma unroll
    for (int i = 0; i < S::count; i++) s[i % S::each] += (double)y[i];
    fold_own<S::each / 2>(s);
    return s[0];
  }

  __device__ __forceinline__ void store(char *out, int64_t stride, T factor, bool brain) const {
    store_present<S::dtype>(y, factor, left, behind, [&](int i) { return out + S::bytes(i, stride); }, brain);
  }
};

/* Up to 32 values of warps in shared memory as one, for every thread: their sum by adjacency, or the largest. */
template <bool sum, typename T> static __device__ __forceinline__ T fold_warps(const T *shared, int count) {
  int lane = (int)(threadIdx.x & 31);
  T v = lane < count ? shared[lane] : sum ? (T)-0.0 : (T)-INFINITY;
#pragma unroll
  for (int h = 1; h < 32; h *= 2) {
    T other = __shfl_xor_sync(~0u, v, h);
    v = sum ? v + other : larger(v, other);
  }
  return v;
}

/* The sum of a leaf from those of its threads, for each of them; several warps exchange theirs in shared memory. */
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

/*
** From the value of each block of a row, v, that of the whole row, for every thread. The blocks wait for each other:
** they start in order, and a row has fewer of them than fit the device at once, so those that wait do not keep out
** those that they wait for.
*/
template <bool sum>
static __device__ __forceinline__ double fold_blocks(const softmax_args &q, double v, double *shared) {
  int lane = (int)(threadIdx.x & 31), warps = (int)(blockDim.x >> 5), units = (q.pieces + 31) >> 5;
  gr_halves *of = q.partials + (sum ? q.count * q.pieces : 0), *row = of + blockIdx.x / q.pieces * (int64_t)q.pieces;
  if (threadIdx.x == 0) gr_publish(of + blockIdx.x, v, q.tag);
  for (int u = (int)(threadIdx.x >> 5); u < units; u += warps) {
    v = gather_blocks<sum>(row + u * 32, q.pieces - u * 32, q.tag, lane);
    if (lane == 0) shared[u] = v;
  }
  __syncthreads();
  return fold_warps<sum>(shared, units);
}

/* Who has a row. */
enum row_owner { OF_WARP, OF_BLOCK, OF_BLOCKS };

/* So many blocks on a multiprocessor, or fewer for compute capability 7.5, which has room for 1024 threads on each. */
constexpr int blocks_fitting(int warps, int blocks) {
  return gr_arch == 750 && warps * 32 * blocks > 1024 ? 1024 / (warps * 32) : blocks;
}

/* A warp has a row, of one leaf; or a block has a row; or a block has one of the q.pieces of a row, 2^k leaves long. */
template <typename S, row_owner owns, int warps, int blocks>
static __global__ void __launch_bounds__(warps * 32, blocks_fitting(warps, blocks))
    softmax_rows(const __grid_constant__ softmax_args q) {
  using T = computed<S::dtype>;
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
  mine.load(q.x + row * q.x_step + first * q.x_stride, q.x_stride, there ? q.n - first : -32, lane, q.brain);
  T most = mine.largest();
#pragma unroll
  for (int h = 16; h > 0; h /= 2) most = larger(most, __shfl_xor_sync(~0u, most, h));
  if constexpr (owns != OF_WARP) {
    if (lane == 0) most_of[warp] = most;
    __syncthreads();
    most = fold_warps<false>(most_of, (int)(blockDim.x >> 5));
  }
  if constexpr (owns == OF_BLOCKS) most = (T)fold_blocks<false>(q, (double)most, pieces[0]);
  double sum = fold_leaf<S>(mine.sum(most), part, warp, lane);
  if (owns != OF_WARP && leaves > 1) {
    if (lane == 0 && warp % S::warps == 0) sum_of[leaf] = sum;
    __syncthreads();
    sum = fold_warps<true>(sum_of, leaves);
  }
  if constexpr (owns == OF_BLOCKS) sum = fold_blocks<true>(q, sum, pieces[1]);
  mine.store(q.out + row * q.out_step + first * q.out_stride, q.out_stride, factor_of<S::dtype>(sum), q.brain);
}

/* ---- launching ---- */

/*
** How many leaves of a row one block takes, if it has so many warps at most. All of them, if it can and rows are more
** than half the multiprocessors. Else a few; fewer, while all blocks of all rows together are no more than the
** multiprocessors; more, if a row had more blocks than there are multiprocessors, since these wait for each other.
** 0: even the largest blocks would be too many to a row.
*/
template <typename S> static int leaves_of_block(const softmax_args &q, int warps, int sms) {
  auto pieces = [&](int leaves) { return (q.leaves - 1) / leaves + 1; };
  if (q.leaves * S::warps <= warps && (q.leaves == 1 || Tuning::softmax_row_share * q.count > sms))
    return (int)q.leaves;
  int leaves = max(Tuning::softmax_pieces_warps / S::warps, 1);
  while (leaves > 1 && q.count * pieces(leaves / 2) <= sms) leaves /= 2;
  while (pieces(leaves) > sms && leaves * S::warps < Tuning::softmax_wide_warps) leaves *= 2;
  return pieces(leaves) <= sms && q.count * pieces(leaves) <= INT32_MAX ? leaves : 0;
}

/* A warp to a row, of up to a leaf; threads: of a multiprocessor. */
template <typename S, int threads> static cudaError_t start_warps(softmax_args *q, const gr_cuda_run *run) {
  constexpr int warps = Tuning::softmax_warp_rows;
  static_assert(S::warps == 1, "nobody shares the row");
  return start_blocks(q, (const void *)softmax_rows<S, OF_WARP, warps, threads / (warps * 32)>,
                      (q->count - 1) / warps + 1, warps, run);
}

/* A block to a row, which has as many warps as the row's leaves need. */
template <typename S, int warps, int blocks> static cudaError_t start_rows(softmax_args *q, const gr_cuda_run *run) {
  q->pieces = 1;
  return start_blocks(q, (const void *)softmax_rows<S, OF_BLOCK, warps, blocks>, q->count, (int)q->leaves * S::warps,
                      run);
}

/* Several blocks to a row. */
template <typename S> static cudaError_t start_pieces(softmax_args *q, int leaves, const gr_cuda_run *run) {
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

/* Dense rows, so many of them that threads with many elements still keep all multiprocessors busy. */
template <gr_dtype D> static cudaError_t start_wide(softmax_args *q, int leaves, const gr_cuda_run *run) {
  constexpr int rows = GR_LEAF_ROWS(gr_size<D>), warps = Tuning::softmax_wide_warps;
  using Few = leaf_share<D, Tuning::softmax_few_rows, GR_LANES(gr_size<D>) / 32, true>;
  using Two = leaf_share<D, Tuning::softmax_least_rows, GR_LANES(gr_size<D>) / 32, true>;
  using Half = wide<D, rows / 2>;
  using Whole = wide<D, rows>;
  if constexpr (gr_size<D> == 2)
    if (q->n <= Two::rows * Two::lanes) return start_warps<Two, Tuning::softmax_threads<4 * Two::count>>(q, run);
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

/* Few rows, f64 and any stride. False: a row would have more blocks than may wait for each other. */
template <gr_dtype D, bool dense> static bool start_thin(softmax_args *q, const gr_cuda_run *run, cudaError_t *e) {
  using T = thin<D, dense>;
  constexpr int warps = Tuning::softmax_warps;
  int leaves = leaves_of_block<T>(*q, warps, run->chip->sms);
  if (leaves >= q->leaves) *e = start_rows<T, warps, 1>(q, run);
  else if (leaves) *e = start_pieces<T>(q, leaves, run);
  return leaves != 0;
}

/* Whether registers hold the rows until their sums are known; if so, the launch is under way, and *e is its error. */
template <gr_dtype D> static bool start_in_registers(softmax_args *q, const gr_cuda_run *run, cudaError_t *e) {
  if constexpr (D == GR_F64) {
    using Few = leaf_share<D, Tuning::softmax_few_rows, Tuning::softmax_f64_each, true>;
    using Leaf = leaf_share<D, GR_LEAF_ROWS(8), Tuning::softmax_f64_each, true>;
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
