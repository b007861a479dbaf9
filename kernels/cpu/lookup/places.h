/* The places that some indices of a vector stand for. */
#ifndef GR_CPU_PLACES_H
#define GR_CPU_PLACES_H

#include "kernels/cpu/kernels_cpu.h"
#include "kernels/numerics/lookup.h"

#define GR_PLACES 512 /* looked up at a time */

/* clang-format off */
#define GR_PLACES_OF(id, type)                                                \
    case GR_##id:                                                             \
      for (k = 0; k < m; k++, p += stride) {                                  \
        type x;                                                               \
        memcpy(&x, p, sizeof(x));                                             \
        to[k] = gr_place((int64_t)x, length);                                 \
      }                                                                       \
      break;

/* Of index[from .. from + m - 1]; returns whether all are below length. */
static inline int gr_places(gr_dtype t, const gr_vec *index, int64_t from, int m, int64_t length, int64_t *to) {
  const int64_t stride = index->stride;
  const char *p = (const char *)index->data + from * stride;
  int k, good = 1;
  switch (t) {
    GR_PLACES_OF(U8, uint8_t) GR_PLACES_OF(I8, int8_t) GR_PLACES_OF(U16, uint16_t) GR_PLACES_OF(I16, int16_t)
    GR_PLACES_OF(U32, uint32_t) GR_PLACES_OF(I32, int32_t) GR_PLACES_OF(I64, int64_t)
    case GR_F16: case GR_BF16: case GR_F32: case GR_F64: return 0; /* the core lets none through */
  }
  for (k = 0; k < m; k++) good &= (uint64_t)to[k] < (uint64_t)length;
  return good;
}
/* clang-format on */
#undef GR_PLACES_OF

/* Whether each of m places is above the one before, the first above *before, which becomes the last. */
static inline int gr_rise(const int64_t *at, int m, int64_t *before) {
  int k, rise = at[0] > *before;
  for (k = 1; k < m; k++) rise &= at[k] > at[k - 1];
  *before = at[m - 1];
  return rise;
}

#endif
