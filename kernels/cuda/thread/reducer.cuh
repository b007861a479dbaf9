/*
** What a reducer is, seen from one thread, and what all have in common; sums.cuh, variance.cuh, extremes.cuh and
** reducers.cuh beside this file have them. A reducer R has a Lane, the state of one lane of a leaf (or, where order
** inside a leaf cannot matter, of a whole thread):
**   R::start()                         an empty lane
**   R::add(lane, x, y, context, code)  one element more (y: of the second input; code: where, see mark)
**   R::mark(lane, position)            after some adds: the code kept stands for that position (POSITION only)
**   R::state(lane, context)            the lane as a gr_acc
** R::lanes: adds must go to the lane their position says. R::leaves: leaves must merge in the tree's order. R::light: a
** lane is one register. R::variance: R is two reducers, one for each pass over a leaf; R::exact: or one, of exact sums;
** R::skips: NaN is left out, and a leaf has as many elements as the first pass counts.
** R::by_word: there is an add_word as well, a quicker way to add all elements of a 16-byte word; R::by_part: an
** add_part, of 4 bytes. R::by_place: an add_place, of one element of a word, to its lane; R::by_pair: an add_pair,
** of two neighbours of 16 bits, unless they are NaN, to their two lanes; the first lane of a word counts for all.
*/
#ifndef GR_CUDA_THREAD_REDUCER_CUH
#define GR_CUDA_THREAD_REDUCER_CUH

#include "kernels/cuda/thread/element.cuh"
#include "kernels/cuda/thread/quotient.cuh"

/* The architecture that code is for: on older ones some kernels take more registers. It is what is compiled for, but
   of skeletons for Hopper (formula/skeletons_present_hopper.cu). */
#if defined __CUDA_ARCH__ && !defined GR_SKELETONS_HOPPER
constexpr int gr_arch = __CUDA_ARCH__;
#else
constexpr int gr_arch = 900; /* plans count on this */
#endif
constexpr bool gr_before_hopper = gr_arch < 900;

/* What a reducer needs to know besides elements: factors, or the mean in a. */
struct gr_context {
  double a, b;
  /* One kernel serves two operations; what it does differs by this. */
  union {
    int64_t key_xor;   /* ARGMAX: keys are xored with it, for ARGMIN and for signed integers as unsigned ones */
    int64_t is_abs;    /* SUMSQ: -1 for SUMABS, which multiplies |x| by 1 */
    int64_t skip_sign; /* COUNT of integers: -1 where they are floats, whose sign does not count */
    int64_t numbers;   /* PRESENT, within a leaf: a bit for each element of this lane that is a number */
  };
};

#define GR_X(id, inputs, f, i) inputs,
constexpr int gr_inputs_table[] = {GR_REDUCERS(GR_X)};
#undef GR_X
#define GR_X(id, inputs, f, i) GR_ACC_##f,
constexpr gr_acc_kind gr_float_kinds[] = {GR_REDUCERS(GR_X)};
#undef GR_X
#define GR_X(id, inputs, f, i) GR_ACC_##i,
constexpr gr_acc_kind gr_int_kinds[] = {GR_REDUCERS(GR_X)};
#undef GR_X

#define GR_X(id, fields) fields,
constexpr int gr_fields_table[] = {GR_ACCUMULATORS(GR_X)};
#undef GR_X

template <gr_reducer RED, gr_dtype D>
constexpr gr_acc_kind gr_kind_for = gr_floating<D> ? gr_float_kinds[RED] : gr_int_kinds[RED];

/*
** gr_merge_variance, out of line, since it has three divisions. If both parts have the same number of elements, and
** that is a power of two (whole leaves), it multiplies by powers of two instead, with the same bits. moderate: sums are
** those of elements of up to 4 bytes, so that gr_quotient will do, and all three are under way together; of an infinite
** sum its part's squares are NaN already.
*/
template <bool moderate>
static __device__ __noinline__ gr_acc gr_merge_variance_apart(double s0, double q0, double n0, double s1, double q1,
                                                            double n1) {
  gr_acc a, b;
  int high = __double2hiint(n0);
  if (n0 == n1 && high != 0 && (__double2loint(n0) | (high & 0xfffff)) == 0) {
    double part = __hiloint2double((2 * 1023 << 20) - high, 0), d = s1 * part - s0 * part;
    a.f[0] = s0 + s1;
    a.f[1] = (q0 + q1) + (d * d) * (0.5 * n0);
    a.f[2] = 2 * n0;
    return a;
  }
  a.f[0] = s0;
  a.f[1] = q0;
  a.f[2] = n0;
  b.f[0] = s1;
  b.f[1] = q1;
  b.f[2] = n1;
  if (!moderate || n0 == 0 || n1 == 0) return gr_merge_variance(a, b);
  const double n = n0 + n1, r0 = gr_reciprocal(n0), r1 = gr_reciprocal(n1), r = gr_reciprocal(n);
  const double d = gr_quotient(s1, n1, r1) - gr_quotient(s0, n0, r0);
  a.f[0] = s0 + s1;
  a.f[1] = (q0 + q1) + (d * d) * gr_quotient(n0 * n1, n, r);
  a.f[2] = n;
  return a;
}

/* Out of line: an exponential is some fifty instructions. */
static __device__ __noinline__ gr_acc gr_merge_scaled_apart(double most, double sum, double x, double part) {
  gr_acc a, b;
  a.f[0] = most;
  a.f[1] = sum;
  b.f[0] = x;
  b.f[1] = part;
  return gr_merge_scaled(a, b);
}

/* What all reducers have in common. */
template <gr_reducer RED, gr_dtype D, gr_acc_kind KIND = gr_kind_for<RED, D>>
struct gr_common {
  static constexpr gr_reducer red = RED;
  static constexpr gr_dtype dtype = D;
  static constexpr gr_acc_kind kind = KIND;
  static constexpr int inputs = gr_inputs_table[RED], fields = gr_fields_table[kind];
  static constexpr bool variance = false, exact = false, skips = false, light = false, by_word = false,
                        by_part = false, by_place = false, by_pair = false;
  /* Elements come from a formula, not from memory; and then: of one vector whose state goes to the host's mailbox. */
  static constexpr bool formula = false, number = false;
  /* Elements that are NaN are left out, and of sums (counts) the others counted besides (thread/present.cuh). */
  static constexpr bool present = false, blanks = false, counts = false;
  /* Its last field is how many elements a formula's tally has counted, and is not there while leaves are read. */
  static constexpr bool tallied = false;
  /* What a thread keeps of all its elements beside the lanes of a leaf: nothing. */
  struct Beside {};
  static constexpr bool beside = false;
  using T = gr_type<D>;
  static __device__ __forceinline__ gr_acc merge(gr_acc a, gr_acc b) {
    if constexpr (kind == GR_ACC_VARIANCE)
      return gr_merge_variance_apart<gr_size<D> <= 4>(a.f[0], a.f[1], a.f[2], b.f[0], b.f[1], b.f[2]);
    else if constexpr (kind == GR_ACC_SCALED) return gr_merge_scaled_apart(a.f[0], a.f[1], b.f[0], b.f[1]);
    else return gr_merge(RED, kind, a, b);
  }
  static __device__ __forceinline__ gr_acc identity() { return gr_identity(kind, RED == GR_RED_PROD); }
  template <class Lane>
  static __device__ __forceinline__ void mark(Lane &, int64_t) {}
  /* 8 bytes of elements that change nothing (of one input, without lanes; not of extremes). */
  static __device__ __forceinline__ uint2 neutral() {
    constexpr uint32_t one = RED != GR_RED_PROD ? 0 : gr_size<D> == 1 ? 0x01010101u : gr_size<D> == 2 ? 0x00010001u : 1;
    return make_uint2(one, gr_size<D> == 8 ? 0 : one);
  }
};

/* An add_word by add_part. */
template <class R>
__device__ __forceinline__ void gr_add_parts(typename R::Lane &l, const uint4 &a, const uint4 &b, const gr_context &k) {
  R::add_part(l, a.x, b.x, k);
  R::add_part(l, a.y, b.y, k);
  R::add_part(l, a.z, b.z, k);
  R::add_part(l, a.w, b.w, k);
}

/* What a lane collects of a column: the reducer itself, or of exact variances the sums that they are made of. */
template <class R, bool = R::exact>
struct gr_collected {
  using type = R;
};
template <class R>
struct gr_collected<R, true> {
  using type = typename R::Moments;
};

#endif
