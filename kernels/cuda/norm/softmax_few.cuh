/*
** Softmax of short rows, which have an element for each lane of the tree, or two. Several of them share a warp: a row
** has q.width neighbouring threads, a power of two, of which thread t has elements t, t + width and so on. Where lanes
** have two elements, these are a thread's, in the two halves of its own, so that the first fold adds them up.
*/
#ifndef GR_CUDA_NORM_SOFTMAX_FEW_CUH
#define GR_CUDA_NORM_SOFTMAX_FEW_CUH

#include <cstring>
#include "kernels/cuda/norm/softmax_element.cuh"

/*
** own: elements of a thread at most. dense_width: where the elements of rows lie side by side, the width, known when
** compiled; else 0. staged: results of a block's rows, which have no gaps either, go to shared memory and from there
** by whole words, as of 16 bits each store of a warp would touch most sectors of its rows.
*/
template <gr_dtype D, int own, int dense_width, bool staged = false>
static __global__ void __launch_bounds__(Tuning::softmax_few_threads)
    softmax_few(const __grid_constant__ softmax_args q) {
  constexpr int threads = Tuning::softmax_few_threads;
  __shared__ uint4 stage[staged ? threads * own * gr_size<D> / 16 : 1];
  const int width = dense_width ? dense_width : q.width, rows = threads / width;
  const int64_t x_stride = dense_width ? gr_size<D> : q.x_stride, out_stride = dense_width ? gr_size<D> : q.out_stride;
  const int64_t row0 = blockIdx.x * (int64_t)rows, row = row0 + (int)threadIdx.x / width;
  int first = (int)threadIdx.x & (width - 1), n = (int)q.n;
  bool last = blockIdx.x == gridDim.x - 1; /* the block that may have fewer rows */
  const elements_left left = {row < q.count ? n - first : 0, n, last ? 0 : n - width + 1};
  const char *x = q.x + row * q.x_step + first * x_stride;
  char *out = q.out + row * q.out_step + first * out_stride;
  if (staged) out = (char *)stage + ((int)threadIdx.x / width * n + first) * gr_size<D>;
  computed<D> v[own], most = (computed<D>)-INFINITY, y[own];
  double s[own];
  auto behind = [&](int j) { return j * width; };
  gr_start_reading(false);
  load_present<D>(v, left, behind, [&](int j) { return x + j * width * x_stride; }, q.brain);
#pragma unroll
  for (int j = 0; j < own; j++) most = larger(most, v[j]);
#pragma unroll
  for (int h = width / 2; h > 0; h /= 2) most = larger(most, __shfl_xor_sync(~0u, most, h));
  exponentials(v, most, y, left, behind);
#pragma unroll
  for (int j = 0; j < own; j++) s[j] = (double)y[j];
  computed<D> factor = factor_of<D>(fold_lanes<own>(s, width));
  store_present<D>(y, factor, left, behind, [&](int j) { return out + j * width * out_stride; }, q.brain);
  if constexpr (staged) {
    const int bytes = (int)min((int64_t)rows, q.count - row0) * n * gr_size<D>;
    out = q.out + row0 * q.out_step;
    __syncthreads();
#pragma unroll 1
    for (int i = (int)threadIdx.x; i < bytes / 16; i += threads) ((uint4 *)out)[i] = stage[i];
    const int at = bytes / 16 * 16 + (int)threadIdx.x * gr_size<D>;
    if (at < bytes) *(gr_type<D> *)(out + at) = *(const gr_type<D> *)((const char *)stage + at);
  }
}

/*
** Rows that are one word of 8 or 16 bytes: a thread's, which loads and stores it whole. Element by element, each store
** of a warp would touch every sector of its rows. Of so little work, asking which of two types elements are would be a
** sixth: bf16 has kernels of its own.
*/
template <gr_dtype D, int own>
static __global__ void __launch_bounds__(Tuning::softmax_few_threads)
    softmax_word(const __grid_constant__ softmax_args q) {
  using Word = std::conditional_t<own * gr_size<D> == 16, uint4, uint2>;
  struct alignas(Word) row_of {
    gr_type<D> e[own];
  } x;
  const int64_t row = blockIdx.x * (int64_t)Tuning::softmax_few_threads + (int)threadIdx.x;
  computed<D> v[own], most = (computed<D>)-INFINITY, y[own];
  double s[own];
  gr_start_reading(false);
  if (row >= q.count) return;
  const Word word = *(const Word *)(q.x + row * q.x_step);
  memcpy(&x, &word, sizeof x);
#pragma unroll
  for (int j = 0; j < own; j++) most = larger(most, v[j] = widened<D>(x.e[j]));
  exponentials(v, most, y, elements_left{own, own, own}, [](int j) { return j; });
#pragma unroll
  for (int j = 0; j < own; j++) s[j] = (double)y[j];
  const computed<D> factor = factor_of<D>(fold_lanes<own>(s, 1));
#pragma unroll
  for (int j = 0; j < own; j++) x.e[j] = factor == factor ? rounded<D>(y[j] * factor) : gr_from_f64<D>(gr_nan());
  Word done;
  memcpy(&done, &x, sizeof x);
  *(Word *)(q.out + row * q.out_step) = done;
}

template <gr_dtype D> static const void *word_kernel(int64_t bytes) {
  return bytes == 16  ? (const void *)softmax_word<D, 16 / gr_size<D>>
         : bytes == 8 ? (const void *)softmax_word<D, 8 / gr_size<D>>
                      : NULL;
}

template <gr_dtype D, int own, int width> static const void *staged_kernel() {
  if constexpr (gr_size<D> == 2) return (const void *)softmax_few<D, own, width, true>;
  else return NULL;
}

/* Threads of a row at most, where rows are dense. */
constexpr int few_widest = 16;

/* Whether rows are short. Those with two elements for some lanes have to be dense, and many of 16 bits. */
template <gr_dtype D> static bool is_few(const softmax_args &q, const gr_cuda_run *run) {
  constexpr int lanes = GR_LANES(gr_size<D>);
  const bool full = gr_size<D> > 2 || q.count * few_widest >= (int64_t)run->chip->sms * Tuning::softmax_few_resident;
  return q.n <= lanes || (q.n <= 2 * lanes && is_dense<D>(q) && full);
}

/*
** Takes the least width that does, or, where rows are dense, less from 16 on (`dense`): then threads have twice or four
** times as many elements. The last row of that table is of 16-bit floats and f32 alone, as no f64 row is longer than
** 128. Rows of one or two elements are one thread's with room for two.
*/
template <gr_dtype D>
static cudaError_t start_few(softmax_args *q, const gr_cuda_run *run) {
  constexpr int own = Tuning::softmax_few_own<gr_size<D>>, threads = Tuning::softmax_few_threads;
  static const struct {
    const void *kernel, *staged; /* where it pays */
    int width;
  } dense[] = {{(const void *)softmax_few<D, own, 1>, staged_kernel<D, own, 1>(), 1},
               {(const void *)softmax_few<D, own, 2>, staged_kernel<D, own, 2>(), 2},
               {(const void *)softmax_few<D, own, 4>, staged_kernel<D, own, 4>(), 4},
               {(const void *)softmax_few<D, own, 8>, NULL, 8},
               {(const void *)softmax_few<D, 2 * own, 8>, staged_kernel<D, 2 * own, 8>(), 8},
               {(const void *)softmax_few<D, 2 * own, few_widest>, NULL, few_widest},
               {(const void *)softmax_few<D, gr_size<D> == 8 ? 2 * own : 4 * own, few_widest>, NULL, few_widest}};
  const bool dense_rows = is_dense<D>(*q);
  const int64_t bytes = q->n * gr_size<D>;
  const uint64_t places = (uintptr_t)q->x | (uintptr_t)q->out | (uint64_t)q->x_step | (uint64_t)q->out_step;
  const void *word = D == GR_F16 && q->brain ? word_kernel<GR_BF16>(bytes) : word_kernel<D>(bytes);
  if (word && dense_rows && places % (uint64_t)bytes == 0)
    return start_blocks(q, word, (q->count - 1) / threads + 1, threads / 32, run);
  int which = 0;
  while ((own << which) < q->n) which++;
  q->width = dense_rows ? dense[which].width : 1 << which;
  const void *kernel = dense_rows ? dense[which].kernel : (const void *)softmax_few<D, own, 0>;
  if (q->n <= 2 && dense_rows) kernel = (const void *)softmax_few<D, 2, 1>;
  const bool whole = dense_rows && q->out_step == bytes && (uintptr_t)q->out % 16 == 0;
  if (whole && dense[which].staged && q->n * 100 >= Tuning::softmax_staged * (own << which))
    kernel = dense[which].staged;
  return start_blocks(q, kernel, (q->count - 1) / (threads / q->width) + 1, threads / 32, run);
}

#endif
