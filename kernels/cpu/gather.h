/* Elements of a strided vector, side by side. */
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

#endif
