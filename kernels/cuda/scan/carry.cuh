/*
** What lies before a number of a level: pieces of a tile, tiles of a group, groups of a superblock. Number k of a level
** is published joined with as many before it as k has ones at its end: 3 with 2, 1 and 0, 5 with 4, 6 alone. So what
** lies before k is a word for each bit that k has, joined in the order of a scan, as a carry goes through a binary
** counter; and as a lane has a column, all columns are looked up at once.
*/
#ifndef GR_CUDA_SCAN_CARRY_CUH
#define GR_CUDA_SCAN_CARRY_CUH

#include "kernels/cuda/scan/scan.cuh"

/* Where number k of a level is published. */
static __device__ __forceinline__ gr_halves *gr_scan_word(const gr_scan &q, gr_halves *level, int64_t k, int column) {
  return level + k * (int)q.count + column;
}

/* How many ones k has at its end, as a mask. */
static __device__ __forceinline__ unsigned gr_scan_ended(unsigned k) { return k & ~(k + 1); }

template <class S> struct gr_scan_carried {
  typename S::Value joined, beside;
};

/*
** v joined with what is published of number k's predecessors on a level, for those bits of k that are wanted: a bit
** stands for as many as it counts, and they end where the bits below it begin. Besides, a word, or nothing where it is
** NULL. All lanes want the same of their columns, those that are not there nothing.
*/
template <class S>
static __device__ __forceinline__ gr_scan_carried<S>
gr_scan_carry_of(const gr_halves *level, int count, bool there, int k, unsigned wanted, const gr_halves *besides,
                 gr_tag tag, typename S::Value v) {
  constexpr int together = Tuning::carried;
  typename S::Value beside = S::identity();
#pragma unroll 1
  do {
    typename S::Value found[together + 1];
    const gr_halves *at[together + 1];
    bool missing[together + 1];
#pragma unroll
    for (int b = 0; b < together; b++, wanted &= wanted - 1) {
      at[b] = level + ((k & -(int)(wanted & -wanted)) - 1) * (int64_t)count;
      missing[b] = there && wanted != 0;
    }
    at[together] = besides;
    missing[together] = there && besides;
    gr_await(at, missing, tag, S::identity(), found);
#pragma unroll
    for (int b = 0; b < together; b++) v = S::join(found[b], v);
    if (besides) beside = found[together];
    besides = NULL;
  } while (wanted != 0);
  return {v, beside};
}
/* Out of line, for a kernel whose blocks come here once: a quarter of its code. */
template <class S>
static __device__ __noinline__ gr_scan_carried<S>
gr_scan_carry_apart(const gr_halves *level, int count, bool there, int k, unsigned wanted, const gr_halves *besides,
                    gr_tag tag, typename S::Value v) {
  return gr_scan_carry_of<S>(level, count, there, k, wanted, besides, tag, v);
}
template <class S, bool apart = false>
static __device__ __forceinline__ gr_scan_carried<S> gr_scan_carry(const gr_scan &q, const gr_halves *level, int k,
                                                                   unsigned wanted, int column, typename S::Value v,
                                                                   const gr_halves *besides = NULL) {
  const bool there = column < (int)q.count;
  if constexpr (apart)
    return gr_scan_carry_apart<S>(level + column, (int)q.count, there, k, wanted, besides, q.tag, v);
  else return gr_scan_carry_of<S>(level + column, (int)q.count, there, k, wanted, besides, q.tag, v);
}

/* Publishes a group of tiles, which adds up to v, joined as above; and what lies before the next one. */
template <class S, bool apart = false>
static __device__ __forceinline__ void gr_scan_publish_group(const gr_scan &q, int group, int column,
                                                             typename S::Value v) {
  const unsigned in_super = group & 31, ended = gr_scan_ended(in_super);
  const gr_halves *before = group > 31 ? gr_scan_word(q, q.before, group - (int)in_super, column) : NULL;
  if (ended) v = gr_scan_carry<S, apart>(q, q.super, group, ended, column, v).joined;
  if (column < (int)q.count) gr_publish(gr_scan_word(q, q.super, group, column), v, q.tag);
  const gr_scan_carried<S> all =
      gr_scan_carry<S, apart>(q, q.super, group, in_super & ~ended, column, v, before);
  if (column < (int)q.count)
    gr_publish(gr_scan_word(q, q.before, group + 1, column), S::join(all.beside, all.joined), q.tag);
}

#endif
