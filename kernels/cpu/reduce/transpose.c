/* A strip of a row-major matrix, turned: to[c] gets the strip's column c, contiguous. */
#include "kernels/cpu/reduce/reduce.h"

#define GR_ROWS_AHEAD 24 /* rows from a load to its prefetch */

#if GR_CPU_X86
#include <emmintrin.h>

/* One step of turning: pairs of elements from two registers, low halves and high halves. */
static inline __m128i gr_low(int size, __m128i x, __m128i y) {
  switch (size) {
    case 1: return _mm_unpacklo_epi8(x, y);
    case 2: return _mm_unpacklo_epi16(x, y);
    case 4: return _mm_unpacklo_epi32(x, y);
    default: return _mm_unpacklo_epi64(x, y);
  }
}
static inline __m128i gr_high(int size, __m128i x, __m128i y) {
  switch (size) {
    case 1: return _mm_unpackhi_epi8(x, y);
    case 2: return _mm_unpackhi_epi16(x, y);
    case 4: return _mm_unpackhi_epi32(x, y);
    default: return _mm_unpackhi_epi64(x, y);
  }
}

/*
** A square of 16 bytes by 16 / size rows. Interleaving row i with row i + half, log2 times over, puts the
** columns one after the other.
*/
static inline __attribute__((always_inline)) void gr_turn_square(int size, char *to, int64_t pitch, const char *from,
                                                                 int64_t stride) {
  const int side = 16 / size, half = side / 2;
  __m128i x[16], y[16];
  int i, step;
  for (i = 0; i < side; i++) x[i] = _mm_loadu_si128((const __m128i *)(const void *)(from + i * stride));
  for (step = 1; step < side; step *= 2) {
    for (i = 0; i < half; i++) {
      y[2 * i] = gr_low(size, x[i], x[i + half]);
      y[2 * i + 1] = gr_high(size, x[i], x[i + half]);
    }
    for (i = 0; i < side; i++) x[i] = y[i];
  }
  for (i = 0; i < side; i++) _mm_storeu_si128((__m128i *)(void *)(to + i * pitch), x[i]);
}
#endif

static inline __attribute__((always_inline)) void gr_turn_of(int size, char *to, int64_t pitch, const char *from,
                                                             int64_t stride, int64_t rows, int columns) {
  int64_t k = 0;
  int c;
#if GR_CPU_X86
  const int side = 16 / size;
  for (; k + side <= rows; k += side) {
    for (c = 0; c < side; c++) GR_PREFETCH(from + (k + c + GR_ROWS_AHEAD) * stride);
    for (c = 0; c + side <= columns; c += side)
      gr_turn_square(size, to + c * pitch + k * size, pitch, from + k * stride + c * size, stride);
    for (; c < columns; c++) {
      int i;
      for (i = 0; i < side; i++)
        memcpy(to + c * pitch + (k + i) * size, from + (k + i) * stride + c * size, (size_t)size);
    }
  }
#endif
  for (; k < rows; k++)
    for (c = 0; c < columns; c++) memcpy(to + c * pitch + k * size, from + k * stride + c * size, (size_t)size);
}

void gr_turn(int size, char *to, int64_t pitch, const char *from, int64_t stride, int64_t rows, int columns) {
  switch (size) {
    case 1: gr_turn_of(1, to, pitch, from, stride, rows, columns); break;
    case 2: gr_turn_of(2, to, pitch, from, stride, rows, columns); break;
    case 4: gr_turn_of(4, to, pitch, from, stride, rows, columns); break;
    default: gr_turn_of(8, to, pitch, from, stride, rows, columns); break;
  }
}
