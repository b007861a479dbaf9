/* A strip of a row-major matrix, turned: to[c] gets the strip's column c, contiguous. */
#include "kernels/cpu/isa/vec_common.h"
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
** A square of 16 bytes by 16 / size rows, of which the first `rows` are there, and of whose columns the first `columns`
** are wanted. Interleaving row i with row i + half, log2 times over, puts the columns one after the other.
*/
GR_INLINE void gr_turn_square(int size, char *to, int64_t pitch, const char *from, int64_t stride, int rows,
                              int columns) {
  const int side = 16 / size, half = side / 2;
  __m128i x[16], y[16];
  GR_UNROLL for (int i = 0; i < side; i++) x[i] =
      i < rows ? _mm_loadu_si128((const __m128i *)(const void *)(from + i * stride)) : _mm_setzero_si128();
  GR_UNROLL for (int step = 1; step < side; step *= 2) {
    GR_UNROLL for (int i = 0; i < half; i++) {
      y[2 * i] = gr_low(size, x[i], x[i + half]);
      y[2 * i + 1] = gr_high(size, x[i], x[i + half]);
    }
    GR_UNROLL for (int i = 0; i < side; i++) x[i] = y[i];
  }
  GR_UNROLL for (int i = 0; i < side; i++) if (i < columns) _mm_storeu_si128((__m128i *)(void *)(to + i * pitch), x[i]);
}

/*
** Of a matrix at least as wide and long as a square: the last squares overlap those before them. Of 8 bytes a column
** alone is quicker element by element.
*/
GR_INLINE void gr_turn_squares(int size, char *to, int64_t pitch, const char *from, int64_t stride, int64_t rows,
                               int columns) {
  const int side = 16 / size, last = columns - side;
  int64_t at;
  int c;
  for (int64_t k = 0; k < rows; k += side) {
    at = k + side <= rows ? k : rows - side;
    for (c = 0; c < side; c++) GR_PREFETCH(from + (at + c + GR_ROWS_AHEAD) * stride);
    for (c = 0; c <= last; c += side)
      gr_turn_square(size, to + c * pitch + at * size, pitch, from + at * stride + c * size, stride, side, side);
    if (c == columns) continue;
    if (size < 8) {
      gr_turn_square(size, to + last * pitch + at * size, pitch, from + at * stride + last * size, stride, side, side);
    } else {
      memcpy(to + c * pitch + at * size, from + at * stride + c * size, (size_t)size);
      memcpy(to + c * pitch + (at + 1) * size, from + (at + 1) * stride + c * size, (size_t)size);
    }
  }
}

/*
** Narrower ones, row after row: a load takes what follows a row with it, which is there but for the last rows. How many
** rows were turned.
*/
GR_INLINE int64_t gr_turn_narrow(int size, char *to, int64_t pitch, const char *from, int64_t stride, int64_t rows,
                                 int columns) {
  const int side = 16 / size;
  int64_t k;
  for (k = 0; k + side <= rows && (k + side - 1) * stride + 16 <= (rows - 1) * stride + columns * size; k += side)
    gr_turn_square(size, to + k * size, pitch, from + k * stride, stride, side, columns);
  return k;
}

/* Shorter ones, where results lie side by side: a store writes what the next one overwrites. How many columns. */
GR_INLINE int gr_turn_short(int size, char *to, const char *from, int64_t stride, int rows, int columns) {
  const int side = 16 / size, pitch = rows * size;
  int c;
  for (c = 0; c + side <= columns && (c + side - 1) * pitch + 16 <= columns * pitch; c += side)
    gr_turn_square(size, to + c * pitch, pitch, from + c * size, stride, rows, side);
  return c;
}
#endif

GR_INLINE void gr_turn_of(int size, char *to, int64_t pitch, const char *from, int64_t stride, int64_t rows,
                          int columns) {
  int64_t k = 0;
  int c, first = 0;
#if GR_CPU_X86
  const int side = 16 / size;
  if (rows >= side && columns >= side) {
    gr_turn_squares(size, to, pitch, from, stride, rows, columns);
    return;
  }
  if (columns == 1 && stride == size) {
    memcpy(to, from, (size_t)(rows * size));
    return;
  }
  if (rows == 1 && pitch == size) {
    memcpy(to, from, (size_t)(columns * size));
    return;
  }
  if (size < 8 && stride > 0 && columns < side) k = gr_turn_narrow(size, to, pitch, from, stride, rows, columns);
  else if (size < 8 && pitch == rows * size && rows < side)
    first = gr_turn_short(size, to, from, stride, (int)rows, columns);
#endif
  for (; k < rows; k++)
    for (c = first; c < columns; c++) memcpy(to + c * pitch + k * size, from + k * stride + c * size, (size_t)size);
}

void gr_turn(int size, char *to, int64_t pitch, const char *from, int64_t stride, int64_t rows, int columns) {
  switch (size) {
    case 1: gr_turn_of(1, to, pitch, from, stride, rows, columns); break;
    case 2: gr_turn_of(2, to, pitch, from, stride, rows, columns); break;
    case 4: gr_turn_of(4, to, pitch, from, stride, rows, columns); break;
    default: gr_turn_of(8, to, pitch, from, stride, rows, columns); break;
  }
}
