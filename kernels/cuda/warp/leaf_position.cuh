/*
** The first of the largest of a leaf: rows are compared by what is in them, and only a better one is looked through.
*/
#ifndef GR_CUDA_WARP_LEAF_POSITION_CUH
#define GR_CUDA_WARP_LEAF_POSITION_CUH

#include "kernels/cuda/warp/leaf.cuh"

/*
** The best key that any warp of a node has, of elements of 4 bytes: a warp that is behind need not look where its own
** lies (argmax of 2^22 f32 7.34 -> 7.15 us; of u8 and f16 no gain).
*/
template <class Q>
constexpr bool gr_shares_best = Q::kind == GR_ACC_POSITION && gr_size<Q::dtype> == 4;
template <class Q>
__device__ __forceinline__ typename Q::K &gr_best_of_node(int node) {
  __shared__ typename Q::K best[16];
  return best[node];
}

/* What words are xored with: floats change their sign, integers what key_xor says. */
template <class Q>
__device__ __forceinline__ uint32_t gr_flip_of(int64_t key_xor) {
  constexpr int size = gr_size<Q::dtype>;
  constexpr uint32_t own = size == 1 ? 0xffu : size == 2 ? 0xffffu : ~0u;
  return ((uint32_t)key_xor & (gr_floating<Q::dtype> ? own ^ own >> 1 : own)) * (~0u / own);
}

/*
** The largest element of a lane's word: of 8 bytes its key; of others as it is, narrow ones in both halves of a word,
** where what lies below a byte decides nothing.
*/
template <class Q>
using gr_largest = std::conditional_t<gr_size<Q::dtype> == 8, int64_t, uint32_t>;
template <class Q>
__device__ __forceinline__ gr_largest<Q> gr_larger(gr_largest<Q> a, gr_largest<Q> b) {
  if constexpr (gr_size<Q::dtype> == 8) return max(a, b);
  else return gr_better<Q::dtype, true, Q::nan>(a, b);
}
template <class Q>
__device__ __forceinline__ gr_largest<Q> gr_largest_of(const uint4 &w, uint32_t flip, int64_t key_xor) {
  constexpr gr_dtype D = Q::dtype;
  if constexpr (gr_size<D> == 8) {
    return max(Q::key(gr_pick<D>(w, 0), key_xor), Q::key(gr_pick<D>(w, 1), key_xor));
  } else {
    uint32_t u[4] = {w.x ^ flip, w.y ^ flip, w.z ^ flip, w.w ^ flip};
    if constexpr (gr_size<D> == 1)
#pragma unroll
      for (int i = 0; i < 4; i++) u[i] = gr_larger<Q>(u[i], u[i] << 8);
    return gr_larger<Q>(gr_larger<Q>(u[0], u[1]), gr_larger<Q>(u[2], u[3]));
  }
}
/* The key of that element. */
template <class Q>
__device__ __forceinline__ gr_largest<Q> gr_alone(gr_largest<Q> x) {
  if constexpr (gr_size<Q::dtype> < 4) x = gr_better_half<Q::dtype, true, Q::nan>(x);
  return gr_size<Q::dtype> == 1 ? x >> 24 : x;
}
template <class Q>
__device__ __forceinline__ typename Q::K gr_key_of_largest(gr_largest<Q> x, int64_t key_xor) {
  constexpr gr_dtype D = Q::dtype;
  if constexpr (gr_size<D> == 8) return x;
  typename Q::K key = gr_key_of<D>((uint32_t)x);
  if (gr_floating<D> && key == (gr_size<D> == 4 ? INT32_MAX : INT16_MAX)) return Q::of_nan();
  if constexpr (!gr_floating<D> && gr_size<D> < 4) /* as Q::key */
    key |= (typename Q::K)(key_xor & -((int64_t)1 << 8 * gr_size<D>));
  return key;
}
/* A word of elements that have the lowest key: infinite ones, or, where these are above NaN, NaN. */
template <class Q>
__device__ __forceinline__ uint4 gr_lowest_word(uint32_t flip, int64_t key_xor) {
  constexpr gr_dtype D = Q::dtype;
  if constexpr (!Q::nan) {
    constexpr uint32_t u = D == GR_F64   ? 0x7ff80000u
                           : D == GR_F32 ? 0x7fc00000u
                           : D == GR_F16 ? 0x7e007e00u
                                         : 0x7fc07fc0u;
    return make_uint4(u, u, u, u);
  }
  if constexpr (gr_size<D> == 8) {
    uint64_t u = (uint64_t)(INT64_MIN ^ key_xor);
    if (gr_floating<D>) u = key_xor ? 0x7ff0000000000000u : 0xfff0000000000000u;
    return make_uint4((uint32_t)u, (uint32_t)(u >> 32), (uint32_t)u, (uint32_t)(u >> 32));
  }
  uint32_t u = D == GR_F32 ? 0xff800000u : D == GR_F16 ? 0xfc00fc00u : D == GR_BF16 ? 0xff80ff80u : 0u;
  u ^= flip;
  return make_uint4(u, u, u, u);
}

/* Element `lane` of the word at p, in the first place of a word. */
template <class Q>
__device__ __forceinline__ uint4 gr_element_of(const char *p, int lane, bool mine) {
  constexpr gr_dtype D = Q::dtype;
  constexpr int size = gr_size<D>;
  uint4 word;
  if constexpr (!Q::formula) return gr_gather<D, 1>(p + lane * size, 0, mine);
  gr_formula_word<1>(word, word, p, lane < 16 / size ? lane + 1 : 0); /* what follows it may not be there */
  const int by = lane * size;
  uint32_t low = by < 4 ? word.x : by < 8 ? word.y : by < 12 ? word.z : word.w;
  return make_uint4(low >> (by & 3) * 8, by < 8 ? word.y : word.w, 0, 0);
}

/*
** Rows r.. of a leaf at position k, for a warp that keeps one best of all its lanes. The largest of each row first;
** only if it is better, the first row and lane that have it; then the elements of that one word, read again, a lane
** each. Unaligned, the leaf ends in one row more, in the first lane.
*/
template <class Q, int rows>
__device__ __forceinline__ void gr_position_rows(typename Q::Lane &l, uint4 (&w)[rows], gr_leaf_view &v, int r,
                                              int64_t key_xor, int64_t k, int lane, int node) {
  constexpr gr_dtype D = Q::dtype;
  constexpr int size = gr_size<D>, each = 16 / size;
  const uint32_t flip = gr_flip_of<Q>(key_xor);
  gr_largest<Q> row[rows], after, best;
  if (r == 0 && v.shift != 0) {
    if (gr_after_late<Q>) gr_load_after<Q>(v);
    const uint4 lowest = gr_lowest_word<Q>(flip, key_xor);
    w[0] = gr_blend(w[0], lowest, v.skip);
    after = gr_largest_of<Q>(gr_blend(lowest, v.after_a, v.skip), flip, key_xor);
  }
#pragma unroll
  for (int i = 0; i < rows; i++) row[i] = gr_largest_of<Q>(w[i], flip, key_xor);
  if (r != 0 || v.shift == 0) after = row[0];
  best = after;
#pragma unroll
  for (int i = 0; i < rows; i++) best = gr_larger<Q>(best, row[i]);
  best = gr_alone<Q>(best);
  typename Q::K key = gr_key_of_largest<Q>(best, key_xor), most = gr_warp_max(key);
  int64_t at = k - v.shift / size + r * GR_LANES(size);
  if constexpr (gr_shares_best<Q>) {
    typename Q::K &shared = gr_best_of_node<Q>(node), seen = *(volatile typename Q::K *)&shared;
    if (most < __shfl_sync(~0u, seen, 0)) return; /* one answer for the whole warp */
    if (lane == 0) atomicMax(&shared, most);
  }
  if (most < l.best || (most == l.best && (uint64_t)l.position < (uint64_t)at)) return;
  unsigned which = gr_alone<Q>(after) == best ? GR_LEAF_ROWS(size) : ~0u;
#pragma unroll
  for (int i = rows - 1; i >= 0; i--)
    if (gr_alone<Q>(row[i]) == best) which = i;
  which = gr_warp_min(key == most ? which * 32 + lane : ~0u);
  int bytes = lane * size;
  bool mine = lane < each;
  if (which == 0 && r == 0) mine = mine && bytes >= v.shift;
  if (which == GR_LEAF_ROWS(size) * 32) mine = bytes < v.shift;
  const char *p = v.a + (r * GR_ROW_BYTES + (int)which * 16 - lane * 16);
  uint4 element = gr_element_of<Q>(p, lane, mine);
  unsigned found = __ballot_sync(~0u, mine && Q::key(gr_pick<D>(element, 0), key_xor) == most);
  int64_t position = at + (which * each + __ffs(found) - 1);
  if (most > l.best || (uint64_t)position < (uint64_t)l.position) l.position = position;
  l.best = most;
}

#endif
