/* The places that indices stand for: a block looks at THREADS x EACH of them at a time, a thread at EACH. */
#ifndef GR_CUDA_LOOKUP_PLACES_CUH
#define GR_CUDA_LOOKUP_PLACES_CUH

#include <cuda_runtime.h>
#include "kernels/cuda/launch.h"
#include "kernels/cuda/lookup/tuning.h"
#include "kernels/cuda/thread/element.cuh"
#include "kernels/numerics/lookup.h"

constexpr int THREADS = gr_lookup_tuning::threads, EACH = gr_lookup_tuning::each, TILE = THREADS * EACH;

typedef struct gr_places {
  const char *index;
  int64_t stride, n, length;
  gr_dtype positions;
} gr_places;

/* Whether there is such a place. */
static __device__ __forceinline__ bool gr_is_place(const gr_places &q, int64_t at) {
  return (uint64_t)at < (uint64_t)q.length;
}

/*
** Those of the indices k, k + step, ... (EACH of them; past the last one: none). All are loaded before one is looked
** at: in place of what would follow the last index another is loaded once more, so that no load waits for a branch.
** Nor are those read whose bit in `known`, which is the same for a warp, is set: their places are anything. table:
** where to load is computed once for all dtypes of positions, which is less code, and slower where loads are few.
*/
template <int step, bool table = true>
static __device__ __forceinline__ void gr_find_places(const gr_places &q, int64_t k, int64_t (&at)[EACH],
                                                      unsigned known = 0) {
  const int64_t left = q.n - k, apart = q.stride * step;
  const int there = left > (EACH - 1) * step ? EACH : left > 0 ? (int)((left + step - 1) / step) : 0;
  const int unknown = known ? __ffs((int)~known) - 1 : 0, again = unknown < there ? unknown : 0;
  const char *p = q.index + (there ? k * q.stride : 0);
  int64_t away[EACH];
#pragma unroll
  for (int u = 0; u < EACH; u++) away[u] = (u < there && !(known >> u & 1) ? u : again) * apart;
#define LOAD(id, type)                                                                                  \
  case GR_##id: {                                                                                       \
    type x[EACH];                                                                                       \
    _Pragma("unroll") for (int u = 0; u < EACH; u++)                                                    \
      x[u] = *(const type *)(p + (table ? away[u] : (u < there && !(known >> u & 1) ? u : again) * apart)); \
    _Pragma("unroll") for (int u = 0; u < EACH; u++) at[u] = (int64_t)x[u];                             \
    break;                                                                                              \
  }
  switch (q.positions) {
    LOAD(U8, uint8_t) LOAD(I8, int8_t) LOAD(U16, uint16_t) LOAD(I16, int16_t)
    LOAD(U32, uint32_t) LOAD(I32, int32_t)
    default: LOAD(I64, int64_t)
  }
#undef LOAD
#pragma unroll
  for (int u = 0; u < EACH; u++) at[u] = u < there ? gr_place(at[u], q.length) : -1;
}

/* A block a tile; where there are more than a grid has, they go round. */
static inline unsigned gr_lookup_grid(int64_t n, int64_t tile) {
  int64_t blocks = (n + tile - 1) / tile;
  return (unsigned)(blocks < 1 ? 1 : blocks > INT32_MAX ? INT32_MAX : blocks);
}

#endif
