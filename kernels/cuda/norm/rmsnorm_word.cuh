/*
** What rmsnorm does with a word of a row: squares that are added up, and elements that are scaled. Kernels of f16 serve
** bf16, too, and ask which of them they have (brain) where a word is widened or rounded, not for each element.
*/
#ifndef GR_CUDA_NORM_RMSNORM_WORD_CUH
#define GR_CUDA_NORM_RMSNORM_WORD_CUH

#include "kernels/cuda/thread/load.cuh"
#include "kernels/cuda/warp/fold.cuh"

template <gr_dtype D> constexpr int per_word = 16 / gr_size<D>;
template <gr_dtype D> constexpr int leaf_bytes = GR_LEAF_ROWS(gr_size<D>) * GR_ROW_BYTES;

/* Elements as they are computed with, exactly: those of 16 bits (f16, or bf16 if brain) as f32, else as f64. */
template <gr_dtype D> using widened = std::conditional_t<gr_size<D> == 2, float, double>;
template <gr_dtype D, int count>
static __device__ __forceinline__ void widen(widened<D> (&v)[count], const gr_type<D> (&x)[count], bool brain) {
  if constexpr (gr_size<D> == 2) {
    gr_widen_16bit(v, x, brain);
  } else {
#pragma unroll
    for (int c = 0; c < count; c++) v[c] = gr_to_f64<D>(x[c]);
  }
}
template <gr_dtype D>
static __device__ __forceinline__ void widen_word(widened<D> (&v)[per_word<D>], const uint4 &u, bool brain) {
  gr_type<D> x[per_word<D>];
#pragma unroll
  for (int c = 0; c < per_word<D>; c++) x[c] = gr_pick<D>(u, c);
  widen<D>(v, x, brain);
}

template <gr_dtype D, int count>
static __device__ __forceinline__ void round_all(gr_type<D> (&y)[count], const double (&v)[count], bool brain) {
  if (D == GR_F16 && brain) {
#pragma unroll
    for (int c = 0; c < count; c++) {
      const gr_bf16 x = gr_from_f64<GR_BF16>(v[c]);
      memcpy(&y[c], &x, 2);
    }
  } else {
#pragma unroll
    for (int c = 0; c < count; c++) y[c] = gr_from_f64<D>(v[c]);
  }
}

/* An element times the factor and, if it has one, its weight; rounded. */
template <gr_dtype D>
static __device__ __forceinline__ gr_type<D> scale(gr_type<D> x, double r, bool weighted, gr_type<D> weight,
                                                   bool brain) {
  const gr_type<D> of[2] = {x, weight};
  widened<D> v[2];
  widen<D>(v, of, brain);
  double product[1] = {(double)v[0] * r};
  if (weighted) product[0] *= (double)v[1];
  gr_type<D> y[1];
  round_all<D>(y, product, brain);
  return y[0];
}

/* A word of weights. */
template <gr_dtype D>
struct weights_word {
  widened<D> of[per_word<D>];
  uint4 word;
  bool finite;
  __device__ __forceinline__ weights_word() : of{}, word{}, finite(true) {}
  __device__ __forceinline__ void set(const uint4 &u, bool brain) {
    word = u;
    widen_word<D>(of, u, brain);
    if constexpr (gr_size<D> == 2) {
      float sum = 0;
#pragma unroll
      for (int c = 0; c < per_word<D>; c++) sum = __fmaf_rn(of[c], 0, sum);
      finite = sum == 0;
    }
  }
};

/* Elements of a word, one by one. */
template <gr_dtype D>
struct __align__(16) packed_word {
  gr_type<D> e[per_word<D>];
  __device__ __forceinline__ uint4 word() const {
    uint4 u;
    memcpy(&u, e, 16);
    return u;
  }
};

/* The factor of a row; for 16-bit elements also rounded down and up, as f32, and whether these bounds mean anything. */
template <gr_dtype D>
struct row_factor {
  double r;
  __device__ __forceinline__ void set(double factor) { r = factor; }
};
template <>
struct row_factor<GR_F16> {
  double r;
  float low, high;
  __device__ __forceinline__ void set(double factor) {
    r = factor, low = __double2float_rd(factor), high = __double2float_ru(factor);
  }
  /* The sum of squares was finite, and so are the row's elements. */
  __device__ __forceinline__ bool finite() const { return low > 0 && high < INFINITY; }
};

/* The factors of a word's elements, all of which are of one row. */
template <gr_dtype D>
struct one_factor {
  row_factor<D> row;
  __device__ __forceinline__ const row_factor<D> &of(int) const { return row; }
  __device__ __forceinline__ bool finite() const { return row.finite(); }
};
/* The same where `first` of them are of one row, and the others of the next. */
template <gr_dtype D>
struct two_factors {
  row_factor<D> rows[2];
  int first;
  __device__ __forceinline__ row_factor<D> of(int c) const { return c < first ? rows[0] : rows[1]; }
  __device__ __forceinline__ bool finite() const { return rows[0].finite() && rows[1].finite(); }
};
/* The same of rows that are shorter than a word; the first element is number `at` of its row. */
template <gr_dtype D>
struct many_factors {
  const row_factor<D> *rows;
  int at;
  uint32_t inverse; /* of a row's elements, times 2^31, rounded up */
  __device__ __forceinline__ const row_factor<D> &of(int c) const {
    return rows[__umulhi(2 * (uint32_t)(at + c), inverse)];
  }
  __device__ __forceinline__ bool finite() const {
    bool all = true;
#pragma unroll
    for (int c = 0; c < per_word<D>; c++) all &= of(c).finite();
    return all;
  }
};

/*
** A word of 16-bit elements, scaled. Products in f64 would cost each three conversions, at an eighth of an addition's
** rate; so they are made in f32, from below and from above. Where both round to one number, so does all that lies
** between, and there the products in f64 lie. Of f16 one element in some 4000 is not settled so, of bf16 in 32000; with
** weights twice as many.
*/
struct scaled_16bit {
  uint32_t x[4], weights[4], y[4], open[4]; /* pairs of elements; open: bits where the two numbers differ */

  template <class Factors>
  __device__ __forceinline__ scaled_16bit(const uint4 &u, const Factors &factors, bool weighted,
                                          const weights_word<GR_F16> &w, bool brain)
      : x{u.x, u.y, u.z, u.w}, weights{w.word.x, w.word.y, w.word.z, w.word.w} {
    constexpr int C = per_word<GR_F16>;
    float v[C], below[C], above[C];
    widen_word<GR_F16>(v, u, brain);
#pragma unroll
    for (int c = 0; c < C; c++) {
      const row_factor<GR_F16> f = factors.of(c);
      below[c] = __fmul_rd(fabsf(v[c]), f.low);
      above[c] = __fmul_ru(fabsf(v[c]), f.high);
    }
    if (weighted) {
#pragma unroll
      for (int c = 0; c < C; c++) {
        below[c] = __fmul_rd(below[c], fabsf(w.of[c]));
        above[c] = __fmul_ru(above[c], fabsf(w.of[c]));
      }
    }
    gr_round_pairs(y, below, brain);
    gr_round_pairs(open, above, brain);
    /* Else all is settled by f64, as results may be NaN, which are not the dtype's one NaN here. */
    const bool finite = factors.finite() && w.finite;
#pragma unroll
    for (int i = 0; i < 4; i++) {
      open[i] = finite ? open[i] ^ y[i] : ~0u;
      y[i] |= (x[i] ^ weights[i]) & 0x80008000u;
    }
  }
  __device__ __forceinline__ bool is_open() const { return (open[0] | open[1] | open[2] | open[3]) != 0; }
  /* Settles what is open by products in f64, one element after the other. */
  template <class Factors>
  __device__ __forceinline__ void settle(const Factors &factors, bool weighted, bool brain) {
#pragma unroll 1
    while (is_open()) {
      const int first = open[0] ? 0 : open[1] ? 1 : open[2] ? 2 : 3;
      uint32_t bits = 0, pair = 0, weight = 0;
#pragma unroll
      for (int i = 0; i < 4; i++)
        if (i == first) bits = open[i], pair = x[i], weight = weights[i];
      const int at = bits & 0xffff ? 0 : 16;
      const gr_f16 now = scale<GR_F16>(gr_f16{(uint16_t)(pair >> at)}, factors.of(2 * first + at / 16).r, weighted,
                                       gr_f16{(uint16_t)(weight >> at)}, brain);
#pragma unroll
      for (int i = 0; i < 4; i++)
        if (i == first) {
          open[i] &= ~(0xffffu << at);
          y[i] = (y[i] & ~(0xffffu << at)) | (uint32_t)now.bits << at;
        }
    }
  }
  __device__ __forceinline__ uint4 word() const { return make_uint4(y[0], y[1], y[2], y[3]); }
};

/* A word of the row times its factors and the weights. */
template <gr_dtype D, class Factors>
static __device__ __forceinline__ uint4 scale_word(const uint4 &x, const Factors &factors, bool weighted,
                                                   const weights_word<D> &w, bool brain) {
  if constexpr (gr_size<D> == 2) {
    scaled_16bit y(x, factors, weighted, w, brain);
    if (y.is_open()) y.settle(factors, weighted, brain);
    return y.word();
  } else {
    packed_word<D> y;
#pragma unroll
    for (int c = 0; c < per_word<D>; c++) {
      double v = gr_to_f64<D>(gr_pick<D>(x, c)) * factors.of(c).r;
      if (weighted) v *= w.of[c];
      y.e[c] = gr_from_f64<D>(v);
    }
    return y.word();
  }
}

/* Squares of a word onto its lanes. Those of up to 32 bits are exact in a double, so that fma rounds as an addition
   does. */
template <gr_dtype D>
static __device__ __forceinline__ void add_squares(double (&s)[per_word<D>], const uint4 &u, bool brain) {
  widened<D> v[per_word<D>];
  widen_word<D>(v, u, brain);
#pragma unroll
  for (int c = 0; c < per_word<D>; c++) {
    double x = (double)v[c];
    s[c] = gr_size<D> <= 4 ? __fma_rn(x, x, s[c]) : s[c] + x * x;
  }
}
template <gr_dtype D>
static __device__ __forceinline__ double fold_squares(const double (&s)[per_word<D>], int lane) {
  gr_acc v[per_word<D>];
#pragma unroll
  for (int c = 0; c < per_word<D>; c++) v[c].f[0] = s[c];
  return gr_fold_halves<gr_in_f64<GR_RED_SUMSQ, D>, per_word<D>>(v, 32, lane).f[0];
}
template <gr_dtype D>
static __device__ __forceinline__ void start_squares(double (&s)[per_word<D>]) {
#pragma unroll
  for (int c = 0; c < per_word<D>; c++) s[c] = -0.0;
}

#endif
