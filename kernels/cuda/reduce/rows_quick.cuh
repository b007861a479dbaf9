/* Results of many short rows, of which there are so many that what is asked for each of them is what takes time. */
#ifndef GR_CUDA_REDUCE_ROWS_QUICK_CUH
#define GR_CUDA_REDUCE_ROWS_QUICK_CUH

#include "kernels/cuda/grid/combine.cuh"
#include "kernels/cuda/thread/sums.cuh"

/* As gr_variance_of, from the exact sum and sum of squares of n elements. */
template <gr_dtype D>
__device__ __forceinline__ gr_acc gr_variance_by(const gr_acc &moments, double n, double part) {
  const int64_t sum = (int64_t)moments.f[0], squares = (int64_t)moments.f[1];
  gr_acc r;
  r.f[0] = (double)sum;
  r.f[1] = gr_mean_of<D>((double)((int64_t)n * squares - sum * sum), n, part);
  r.f[2] = n;
  return r;
}

/*
** The commonest results, whose kind is asked for once and not row by row (half the instructions of rows of 16): sums,
** variances, and a smallest or largest in the rows' own type.
*/
template <class R>
__device__ __forceinline__ bool gr_is_quick(const gr_reduce_args &q) {
  constexpr bool whole = R::kind == GR_ACC_WRAP;
  if (q.done || q.out2) return false;
  if constexpr (R::kind == GR_ACC_ORDER) return (q.op == GR_OP_max || q.op == GR_OP_min) && q.out_dtype == R::dtype;
  else if constexpr (R::red == GR_RED_SUM || R::red == GR_RED_DOT)
    return (q.op == GR_OP_sum || q.op == GR_OP_dot) && q.out_dtype == (whole ? GR_I64 : GR_F64);
  else if constexpr (R::red == GR_RED_VARIANCE && gr_size<R::dtype> <= 4) /* gr_mean_of divides by whole numbers */
    return q.op == GR_OP_var && q.out_dtype == GR_F64 && q.job.ddof == (double)(int)q.job.ddof;
  else if constexpr (R::red == GR_RED_PRESENT && gr_size<R::dtype> <= 4)
    return q.op == GR_OP_var_present && q.out_dtype == GR_F64 && q.job.ddof == (double)(int)q.job.ddof;
  else return false;
}
/* less: n - ddof, and 1 / less. */
template <class R>
__device__ __forceinline__ void gr_write_quick(const gr_reduce_args &q, const gr_acc &acc, int64_t v, double less,
                                               double part) {
  constexpr gr_dtype D = R::dtype;
  if constexpr (R::kind == GR_ACC_ORDER) {
    int64_t key = q.op == GR_OP_max ? acc.i[1] : acc.i[0];
    bool nan = gr_floating<D> && (acc.i[0] < ~gr_key_inf(D) || acc.i[1] > gr_key_inf(D));
    if (R::present) nan |= acc.i[0] > acc.i[1]; /* none */
    if constexpr (gr_size<D> == 8) {
      if (gr_floating<D>) key = gr_key_bits64((uint64_t)key);
      ((int64_t *)q.out)[v] = nan ? 0x7ff8000000000000 : key;
    } else if constexpr (gr_size<D> == 4) {
      if (gr_floating<D>) key = gr_key_bits32((uint32_t)key);
      ((int32_t *)q.out)[v] = nan ? 0x7fc00000 : (int32_t)key;
    } else if constexpr (gr_size<D> == 2) {
      if (gr_floating<D>) key = gr_key_bits16((uint16_t)key);
      ((int16_t *)q.out)[v] = nan ? (D == GR_F16 ? 0x7e00 : 0x7fc0) : (int16_t)key;
    } else {
      ((int8_t *)q.out)[v] = (int8_t)key;
    }
  } else if constexpr (R::variance && R::skips) { /* as gr_present_variance */
    less = acc.f[2] - q.job.ddof;
    const double x = gr_canonical(gr_mean_of<D>(acc.f[1], less, gr_reciprocal(less)));
    ((double *)q.out)[v] = acc.f[2] == 0 && q.job.ddof <= 0 ? gr_nan() : less > 0 ? x : -1.0;
  } else if constexpr (R::variance) {
    ((double *)q.out)[v] = gr_canonical(gr_mean_of<D>(acc.f[1], less, part));
  } else if constexpr (R::kind == GR_ACC_WRAP) {
    ((int64_t *)q.out)[v] = acc.i[0];
  } else {
    ((double *)q.out)[v] = gr_canonical(acc.f[0]);
  }
}

#endif
