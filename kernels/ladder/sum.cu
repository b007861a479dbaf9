/*
** Sum, min and max, as they are taught: the rungs of the dot product (kernels/ladder/dot.cu explains each) for one
** input and any way of folding two values into one. Min and max fold integers that are ordered like the floats
** (kernels/ladder/ladder.h), so that plain integer atomics find them and every rung gives the same bits; sums are f32,
** in whatever order they meet.
*/
#include <cooperative_groups.h>
#include "kernels/ladder/cuda.cuh"

namespace {

struct Sum {
  typedef float T;
  uint32_t flip; /* of Extreme */
  __device__ T load(float x) const { return x; }
  __device__ static T fold(T x, T y) { return x + y; }
  __device__ static void atomic(T *p, T x) { atomicAdd(p, x); }
};

struct Extreme {
  typedef uint32_t T;
  uint32_t flip; /* turns the order round, for min */
  __device__ T load(float x) const { return gr_ladder_key(x, flip); }
  __device__ static T fold(T x, T y) { return x > y ? x : y; }
  __device__ static void atomic(T *p, T x) { atomicMax(p, x); }
};
/* Both start at 0: no key is as small as that. */

extern __shared__ unsigned char shared_bytes[];
template <class Op> __device__ typename Op::T *part() { return (typename Op::T *)shared_bytes; }

template <class Op> __global__ void naive_atomic(Op op, const float *a, typename Op::T *out, int64_t n) {
  int64_t i = my_index();
  if (i < n) Op::atomic(out, op.load(a[i]));
}

template <class Op> __device__ typename Op::T thread_fold(Op op, const float *a, int64_t n) {
  typename Op::T x = 0;
  for (int64_t i = my_index(); i < n; i += all_threads()) x = Op::fold(x, op.load(a[i]));
  return x;
}

template <class Op> __device__ typename Op::T warp_fold(typename Op::T x) {
  for (int half = 16; half > 0; half /= 2) x = Op::fold(x, __shfl_down_sync(~0u, x, half));
  return x;
}

template <class Op> __global__ void warp_atomic(Op op, const float *a, typename Op::T *out, int64_t n) {
  typename Op::T x = warp_fold<Op>(thread_fold(op, a, n));
  if (my_lane() == 0) Op::atomic(out, x);
}

/* ---- warp_butterfly: partners swap, so all 32 lanes end with the result; here lane 31 delivers it ---- */

template <class Op> __global__ void warp_butterfly(Op op, const float *a, typename Op::T *out, int64_t n) {
  typename Op::T x = thread_fold(op, a, n);
  for (int distance = 16; distance > 0; distance /= 2) x = Op::fold(x, __shfl_xor_sync(~0u, x, distance));
  if (my_lane() == 31) Op::atomic(out, x);
}

/* ---- masked_warp: the warp at the end of the data has idle lanes, which may not take part in a shuffle ---- */

template <class Op> __global__ void masked_warp(Op op, const float *a, typename Op::T *out, int64_t n) {
  int64_t i = my_index();
  unsigned mask = __ballot_sync(~0u, i < n); /* asked of all lanes, before any of them leaves */
  if (i >= n) return;
  typename Op::T x = op.load(a[i]);
  int active = __popc(mask); /* lanes 0 .. active - 1 */
  for (int half = 16; half > 0; half /= 2) {
    typename Op::T y = __shfl_down_sync(mask, x, half);
    if (my_lane() + half < active) x = Op::fold(x, y); /* what comes from outside the mask means nothing */
  }
  if (my_lane() == 0) Op::atomic(out, x);
}

template <class Op> __device__ void tree_to(int width, typename Op::T x) {
  typename Op::T *p = part<Op>();
  p[threadIdx.x] = x;
  __syncthreads();
  for (int half = blockDim.x / 2; half >= width; half /= 2) {
    if (threadIdx.x < half) p[threadIdx.x] = Op::fold(p[threadIdx.x], p[threadIdx.x + half]);
    __syncthreads();
  }
}

template <class Op> __global__ void shared_atomic(Op op, const float *a, typename Op::T *out, int64_t n) {
  tree_to<Op>(1, thread_fold(op, a, n));
  if (threadIdx.x == 0) Op::atomic(out, part<Op>()[0]);
}

template <class Op> __global__ void shared_warp_atomic(Op op, const float *a, typename Op::T *out, int64_t n) {
  tree_to<Op>(32, thread_fold(op, a, n));
  if (threadIdx.x >= 32) return;
  typename Op::T x = warp_fold<Op>(part<Op>()[threadIdx.x]);
  if (threadIdx.x == 0) Op::atomic(out, x);
}

template <class Op> __device__ typename Op::T block_fold(typename Op::T x) {
  typename Op::T *p = part<Op>();
  x = warp_fold<Op>(x);
  if (my_lane() == 0) p[my_warp()] = x;
  __syncthreads();
  if (my_warp() == 0) x = warp_fold<Op>(my_lane() < blockDim.x / 32 ? p[my_lane()] : 0);
  return x;
}

template <class Op> __global__ void warp_block_atomic(Op op, const float *a, typename Op::T *out, int64_t n) {
  typename Op::T x = block_fold<Op>(thread_fold(op, a, n));
  if (threadIdx.x == 0) Op::atomic(out, x);
}

template <class Op> __global__ void block_folds(Op op, const float *a, typename Op::T *folds, int64_t n) {
  tree_to<Op>(1, thread_fold(op, a, n));
  if (threadIdx.x == 0) folds[blockIdx.x] = part<Op>()[0];
}

template <class Op> __device__ void finish_folds(const typename Op::T *folds, int count, typename Op::T *out) {
  typename Op::T x = 0;
  for (int i = threadIdx.x; i < count; i += blockDim.x) x = Op::fold(x, folds[i]);
  x = block_fold<Op>(x);
  if (threadIdx.x == 0) *out = x;
}

template <class Op> __global__ void finish(const typename Op::T *folds, int count, typename Op::T *out) {
  finish_folds<Op>(folds, count, out);
}

template <class Op> __device__ typename Op::T vector_fold(Op op, const float *a, int64_t n) {
  int64_t me = my_index(), head = unaligned_head(a, n), words = (n - head) / 4, tail = head + words * 4;
  const float4 *a4 = (const float4 *)(a + head);
  typename Op::T x = 0;
#pragma unroll 4
  for (int64_t i = me; i < words; i += all_threads()) {
    float4 p = a4[i];
    x = Op::fold(x, Op::fold(Op::fold(op.load(p.x), op.load(p.y)), Op::fold(op.load(p.z), op.load(p.w))));
  }
  if (me < head) x = Op::fold(x, op.load(a[me]));
  if (me < n - tail) x = Op::fold(x, op.load(a[tail + me]));
  return x;
}

template <class Op> __global__ void vectorized(Op op, const float *a, typename Op::T *out, int64_t n) {
  typename Op::T x = warp_fold<Op>(vector_fold(op, a, n));
  if (my_lane() == 0) Op::atomic(out, x);
}

template <class Op> __global__ void vector_block_folds(Op op, const float *a, typename Op::T *folds, int64_t n) {
  typename Op::T x = block_fold<Op>(vector_fold(op, a, n));
  if (threadIdx.x == 0) folds[blockIdx.x] = x;
}

template <class Op>
__global__ void cooperative(Op op, const float *a, typename Op::T *folds, typename Op::T *out, int64_t n) {
  typename Op::T x = block_fold<Op>(vector_fold(op, a, n));
  if (threadIdx.x == 0) folds[blockIdx.x] = x;
  cooperative_groups::this_grid().sync();
  if (blockIdx.x == 0) finish_folds<Op>(folds, gridDim.x, out);
}

template <class Op> cudaError_t launch(Op op, const gr_ladder_job *job, const gr_cuda_run *run, uint64_t *launches) {
  typedef typename Op::T T;
  const float *a = (const float *)job->a;
  T *out = (T *)job->out, *folds = (T *)gr_ladder_scratch_of(run);
  int64_t n = job->n;
  int threads = job->block;
  size_t tree = threads * sizeof(T), warps = 32 * sizeof(T);
  unsigned each = (unsigned)gr_blocks_for(n, threads), filling = gr_filling_grid(n, 1, job, run);
  unsigned wide = gr_filling_grid(n, 16, job, run), kept = (unsigned)gr_ladder_partials(job->rung, n, threads);
  cudaStream_t stream = (cudaStream_t)run->stream;
  auto zero = [&] { *launches += 1; cudaMemsetAsync(out, 0, sizeof *out, stream); };
  *launches += 1;
  switch (job->rung) {
    case GR_RUNG_NAIVE_ATOMIC: zero(); naive_atomic<<<each, threads, 0, stream>>>(op, a, out, n); break;
    case GR_RUNG_WARP_ATOMIC: zero(); warp_atomic<<<filling, threads, 0, stream>>>(op, a, out, n); break;
    case GR_RUNG_WARP_BUTTERFLY: zero(); warp_butterfly<<<filling, threads, 0, stream>>>(op, a, out, n); break;
    case GR_RUNG_MASKED_WARP: zero(); masked_warp<<<each, threads, 0, stream>>>(op, a, out, n); break;
    case GR_RUNG_SHARED_ATOMIC: zero(); shared_atomic<<<filling, threads, tree, stream>>>(op, a, out, n); break;
    case GR_RUNG_SHARED_WARP_ATOMIC:
      zero();
      shared_warp_atomic<<<filling, threads, tree, stream>>>(op, a, out, n);
      break;
    case GR_RUNG_WARP_BLOCK_ATOMIC:
      zero();
      warp_block_atomic<<<filling, threads, warps, stream>>>(op, a, out, n);
      break;
    case GR_RUNG_VECTORIZED: zero(); vectorized<<<wide, threads, 0, stream>>>(op, a, out, n); break;
    case GR_RUNG_SHARED_HOST: block_folds<<<kept, threads, tree, stream>>>(op, a, out, n); break;
    case GR_RUNG_TWO_PHASE:
      *launches += 1;
      block_folds<<<filling, threads, tree, stream>>>(op, a, folds, n);
      finish<Op><<<1, threads, warps, stream>>>(folds, (int)filling, out);
      break;
    case GR_RUNG_VECTORIZED_TWO_PHASE:
      *launches += 1;
      vector_block_folds<<<wide, threads, warps, stream>>>(op, a, folds, n);
      finish<Op><<<1, threads, warps, stream>>>(folds, (int)wide, out);
      break;
    case GR_RUNG_COOPERATIVE: {
      void *args[] = {&op, &a, &folds, &out, &n};
      cudaError_t e = gr_launch_cooperative(cooperative<Op>, args, job, run);
      if (e != cudaSuccess) return e;
      break;
    }
    default: return cudaErrorInvalidValue;
  }
  return cudaGetLastError();
}

}  // namespace

extern "C" int gr_cuda_ladder_sum(const gr_ladder_job *job, const gr_cuda_run *run, uint64_t *launches) {
  if (job->op == GR_OP_sum) return launch(Sum{0}, job, run, launches);
  return launch(Extreme{gr_ladder_flip(job->op)}, job, run, launches);
}
