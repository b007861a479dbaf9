/*
** Folding variances of parts whose counts differ, as those of what is present do. What a level divides by is known
** before what it divides, and means do not wait for squares: so the quotients of all levels are under way together,
** where one merge after the other would wait for three in turn.
*/
#ifndef GR_CUDA_WARP_FOLD_COUNTED_CUH
#define GR_CUDA_WARP_FOLD_COUNTED_CUH

#include "kernels/cuda/thread/quotient.cuh"
#include "kernels/cuda/warp/fold.cuh"

/* Whether R has such states. */
template <class R>
constexpr bool gr_folds_counted = R::kind == GR_ACC_VARIANCE && R::skips;

/* A state with its mean, which is 0 of no elements, as are its squares. */
struct gr_counted_part {
  double sum, squares, count, mean;
};
__device__ __forceinline__ gr_counted_part gr_counted_part_of(const gr_acc &a) {
  const bool none = a.f[2] == 0;
  return {a.f[0], none ? 0 : a.f[1], a.f[2], none ? 0 : gr_quotient(a.f[0], a.f[2], gr_reciprocal(a.f[2]))};
}
/*
** What gr_merge_variance makes of two. A part of no elements adds nothing: the product of the counts is 0, and so is
** what the distance of the means is multiplied by; of f64, whose distances may have infinite squares, so is the
** distance. Of an infinite sum the mean is NaN, as its squares are already.
*/
template <bool wide>
__device__ __forceinline__ gr_counted_part gr_merge_counted(const gr_counted_part &a, const gr_counted_part &b) {
  const double sum = a.sum + b.sum, count = a.count + b.count, r = gr_reciprocal(count), product = a.count * b.count;
  const double d = wide && product == 0 ? 0 : b.mean - a.mean;
  const bool none = count == 0;
  const double weight = none ? 0 : gr_quotient(product, count, r);
  return {sum, (a.squares + b.squares) + (d * d) * weight, count, none ? 0 : gr_quotient(sum, count, r)};
}

/*
** Lane l has states l * each and on, the i-th of them get(i). All fold by adjacency, and all lanes get the result.
** False where a sum of f64 was such that gr_quotient is not for it.
*/
template <class R, int each, class Get>
__device__ __forceinline__ bool gr_fold_counted(const Get &get, gr_acc &result) {
  gr_counted_part v[each];
  constexpr bool wide = gr_size<R::dtype> == 8;
  bool usual = true;
  auto look = [&](const gr_counted_part &p) {
    if (wide) usual &= p.sum == 0 || gr_is_usual(p.sum);
  };
#pragma unroll
  for (int i = 0; i < each; i++) look(v[i] = gr_counted_part_of(get(i)));
#pragma unroll
  for (int n = 1; n < each; n *= 2)
#pragma unroll
    for (int i = 0; i < each; i += 2 * n) look(v[i] = gr_merge_counted<wide>(v[i], v[i + n]));
#pragma unroll
  for (int h = 1; h < 32; h *= 2) {
    const gr_counted_part other = {__shfl_xor_sync(~0u, v[0].sum, h), __shfl_xor_sync(~0u, v[0].squares, h),
                                   __shfl_xor_sync(~0u, v[0].count, h), __shfl_xor_sync(~0u, v[0].mean, h)};
    look(v[0] = gr_merge_counted<wide>(v[0], other));
  }
  result = R::identity();
  result.f[0] = v[0].sum;
  result.f[1] = v[0].squares;
  result.f[2] = v[0].count;
  return !wide || __all_sync(~0u, usual);
}

#endif
