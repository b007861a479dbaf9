/*
** Softmax of rows: e^(x - the largest) over the sum of those, which follows the tree of docs/numerics.md in f64. Rows
** are read once as long as the registers of blocks that run at the same time hold them (softmax_few.cuh,
** softmax_rows.cuh). Longer ones take four launches: the largest elements by a reduction, then, here, the sums of
** leaves, the sums of rows and the results.
*/
#include "kernels/cuda/norm/softmax_few.cuh"
#include "kernels/cuda/norm/softmax_rows.cuh"

/* The sums of leaves. */
template <typename S>
static __global__ void __launch_bounds__(Tuning::softmax_leaves_warps * 32)
    softmax_leaves(const __grid_constant__ softmax_args q) {
  __shared__ double part[S::warps > 1 ? Tuning::softmax_leaves_warps : 1][32];
  int lane = (int)(threadIdx.x & 31), warp = (int)(threadIdx.x >> 5);
  int64_t at = blockIdx.x * (int64_t)(Tuning::softmax_leaves_warps / S::warps) + warp / S::warps, row = at / q.leaves;
  bool there = row < q.count;
  int64_t first = (at - row * q.leaves) * S::leaf + warp % S::warps * 32 + lane;
  thread_part<S> mine;
  mine.load(q.x + row * q.x_step + first * q.x_stride, q.x_stride, there ? q.n - first : -32, lane, q.brain);
  double sum = fold_leaf<S>(mine.sum((computed<S::dtype>)(there ? q.largest[row] : 0.0)), part, warp, lane);
  if (lane == 0 && warp % S::warps == 0 && there) q.leaf_sums[at] = sum;
}

/* A block folds the leaves of its row, 256 at a time; the row's sum comes to its first place in upper_sums. */
static __global__ void __launch_bounds__(Tuning::softmax_fold_warps * 32)
    softmax_fold(const __grid_constant__ softmax_args q) {
  using R = gr_in_f64<GR_RED_SUM, GR_F64>;
  double *from = q.leaf_sums + blockIdx.x * q.leaves, *to = q.upper_sums + blockIdx.x * q.pitch;
  int64_t left = q.leaves;
  int lane = (int)(threadIdx.x & 31);
  for (;;) {
    int64_t units = (left + 255) / 256;
    for (int64_t u = threadIdx.x >> 5; u < units; u += Tuning::softmax_fold_warps) {
      gr_acc acc = gr_fold_256<R>((const int64_t *)from + u * 256, 0, (int)min((int64_t)256, left - u * 256), lane);
      if (lane == 0) to[u] = acc.f[0];
    }
    __syncthreads();
    if (units == 1) break;
    double *swap = from;
    from = to;
    to = swap;
    left = units;
  }
  if (threadIdx.x == 0) q.upper_sums[blockIdx.x * q.pitch] = *(volatile double *)to;
}

/* The results; a block has a segment of a row, of which there are so many. */
template <gr_dtype D>
static __global__ void __launch_bounds__(Tuning::scale_threads)
    softmax_scale(const __grid_constant__ softmax_args q, int64_t segments, int64_t segment) {
  constexpr int count = Tuning::softmax_scale_own, threads = Tuning::scale_threads;
  int64_t row = blockIdx.x / segments, k = blockIdx.x % segments * segment, end = min(k + segment, q.n);
  int lane = (int)(threadIdx.x & 31);
  computed<D> most = (computed<D>)q.largest[row], factor = factor_of<D>(q.upper_sums[row * q.pitch]);
  auto behind = [](int i) { return i * threads; };
#pragma unroll 1
  for (k += threadIdx.x; k < end; k += count * threads) {
    computed<D> v[count], y[count];
    const char *x = q.x + row * q.x_step + k * q.x_stride;
    char *out = q.out + row * q.out_step + k * q.out_stride;
    const int n = (int)(end - k);
    const elements_left left = {n, n + lane, n + lane - 31};
    load_present<D>(v, left, behind, [&](int i) { return x + i * threads * q.x_stride; }, q.brain);
    exponentials(v, most, y, left, behind);
    store_present<D>(y, factor, left, behind, [&](int i) { return out + i * threads * q.out_stride; }, q.brain);
  }
}

/* ---- launching ---- */

static size_t aligned(size_t bytes) { return (bytes + 255) & ~(size_t)255; }

template <gr_dtype D> static cudaError_t start(const gr_softmax_job *job, const gr_cuda_run *run) {
  cudaStream_t stream = (cudaStream_t)run->stream;
  softmax_args q;
  memset(&q, 0, sizeof q);
  q.x = (const char *)job->x.data;
  q.out = (char *)job->out.data;
  q.brain = job->dtype == GR_BF16;
  q.n = job->n;
  q.count = job->count;
  q.x_step = job->x.step;
  q.out_step = job->out.step;
  q.x_stride = job->x.stride;
  q.out_stride = job->out.stride;
  q.leaves = (job->n - 1) / GR_LEAF(gr_size<D>) + 1;
  using T = thin<D, false>;
  cudaError_t e = cudaSuccess;
  if (is_few<D>(q, run)) return start_few<D>(&q, run);
  if (start_in_registers<D>(&q, run, &e)) return e;
  int64_t segment = Tuning::softmax_scale_own * Tuning::scale_threads;
  if (job->n * job->count > segment * run->chip->sms * Tuning::softmax_scale_waves) segment = Tuning::scale_segment;
  int64_t segments = (job->n + segment - 1) / segment, together = Tuning::softmax_leaves_warps / T::warps;
  q.pitch = (q.leaves + 255) / 256;
  size_t largest = aligned((size_t)q.count * 8), leaf_sums = aligned((size_t)(q.count * q.leaves) * 8),
         upper_sums = (size_t)(q.count * q.pitch) * 8;
  char *memory;
  gr_reduce_job maxima = gr_f64_of_each(GR_OP_max, job->dtype, job->x, job->n, job->count);
  e = (cudaError_t)gr_reduce_to_scratch(maxima, *run, largest + leaf_sums + upper_sums, &memory);
  if (e != cudaSuccess) return e;
  q.largest = (double *)memory;
  q.leaf_sums = (double *)(memory + largest);
  q.upper_sums = (double *)(memory + largest + leaf_sums);
  void *args[] = {&q}, *more[] = {&q, &segments, &segment};
  e = cudaLaunchKernel((const void *)softmax_leaves<T>,
                       (unsigned)((q.count * q.leaves - 1) / together + 1),
                       Tuning::softmax_leaves_warps * 32, args, 0, stream);
  if (e == cudaSuccess)
    e = cudaLaunchKernel((const void *)softmax_fold, (unsigned)q.count, Tuning::softmax_fold_warps * 32, args, 0,
                         stream);
  if (e == cudaSuccess)
    e = cudaLaunchKernel((const void *)softmax_scale<D>, (unsigned)(segments * q.count), Tuning::scale_threads, more, 0,
                         stream);
  return e;
}

int gr_cuda_softmax(const gr_softmax_job *job, const gr_cuda_run *run) {
  if (job->n <= 0 || job->count <= 0) return cudaSuccess;
  const gr_dtype served = job->dtype == GR_BF16 ? GR_F16 : job->dtype;
  return gr_for_dtype<GR_F16, GR_F32, GR_F64>(served, [&](auto d) { return start<decltype(d)::value>(job, run); });
}
