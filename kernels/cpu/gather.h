/* Elements of a strided vector, side by side, and back. */
#ifndef GR_CPU_GATHER_H
#define GR_CPU_GATHER_H

#include <stdint.h>
#include <string.h>

#define GR_GATHER(type) \
  for (k = 0; k < m; k++, from += stride) memcpy((type *)to + k, from, sizeof(type))

static inline void gr_gather(void *to, const char *from, int64_t stride, int64_t m, int size) {
  int64_t k;
  switch (size) {
    case 1: GR_GATHER(uint8_t); break;
    case 2: GR_GATHER(uint16_t); break;
    case 4: GR_GATHER(uint32_t); break;
    default: GR_GATHER(uint64_t); break;
  }
}
#undef GR_GATHER

/* And back. */
#define GR_SCATTER(type) \
  for (k = 0; k < m; k++, to += stride) memcpy(to, (const type *)from + k, sizeof(type))

static inline void gr_scatter(const void *from, char *to, int64_t stride, int64_t m, int size) {
  int64_t k;
  switch (size) {
    case 1: GR_SCATTER(uint8_t); break;
    case 2: GR_SCATTER(uint16_t); break;
    case 4: GR_SCATTER(uint32_t); break;
    default: GR_SCATTER(uint64_t); break;
  }
}
#undef GR_SCATTER

#endif
