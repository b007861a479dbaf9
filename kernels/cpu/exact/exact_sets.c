/*
** Exact sums for each instruction set: what the sets share, then exact.inc once for each. Which set runs is
** select.c's choice, as for every other kernel.
*/
#include "kernels/cpu/exact/exact.h"
#include "kernels/cpu/isa/table.h"

#if defined(__GNUC__)
#define GR_ALWAYS static inline __attribute__((always_inline))
#else
#error "vector extensions needed (gcc or clang)"
#endif
#if defined(__clang__)
#define UNROLL _Pragma("clang loop unroll(full)")
#else
#define UNROLL _Pragma("GCC unroll 16")
#endif

#define BLOCK_BYTES 4096 /* sums of 2^10 integers of 52 bits, twice that of f64 products: no overflow */
#define AHEAD 8192 /* bytes from the second reading of a block to its prefetch; in the first memory has enough to do */
#define MAX_LEVELS 11 /* what products of any two f32 need; beyond that one by one is quicker */
#define SPLITTER 134217729.0

typedef struct span {
  uint32_t most, least;
} span; /* see span_of in exact.inc */
typedef struct ladder {
  int grid[MAX_LEVELS];
  double anchor[MAX_LEVELS];
} ladder;

/* ---- one by one ---- */

static void add_special(gr_exact *s, double x) {
  s->flags |= x != x ? GR_EXACT_NAN : x > 0 ? GR_EXACT_INF : GR_EXACT_MINUS;
}

static int is_special(double x) { return x - x != 0; }

static double element(int size, const char *x, int k) {
  float f;
  double d;
  if (size == 8) return memcpy(&d, x + 8 * k, 8), d;
  return memcpy(&f, x + 4 * k, 4), (double)f;
}

static void one_by_one(gr_exact *s, int size, const char *x, const char *y, int n, int magnitudes) {
  if (n == 0) return;
  gr_exact_expect(s, 2 * (uint32_t)n);
  if (size == 4) gr_exact_touch(s, y ? -298 : -149, y ? 256 : 128);
  else gr_exact_touch(s, y ? -2148 : -1074, y ? 2048 : 1024);
  for (int k = 0; k < n; k++) {
    double a = element(size, x, k), b = y ? element(size, y, k) : 1;
    if (magnitudes) a = fabs(a);
    if (is_special(a) || is_special(b)) add_special(s, a * b);
    else if (y) gr_exact_put_product(s, a, b);
    else gr_exact_put_f64(s, a);
  }
}

/* ---- which levels a block needs ---- */

/* The exponent fields of a block's largest and smallest magnitudes; subnormals count as the lowest normal numbers. */
static int top_field(int size, span r) {
  int field = (int)(r.most >> (size == 4 ? 24 : 21));
  return field ? field : 1;
}
static int bottom_field(int size, span r) {
  int field = size == 4 ? (int)((r.least + 1) >> 24) : (int)(r.least >> 21);
  return field ? field : 1;
}

/*
** How many levels take all addends of a block: 0 if there is nothing to add, -1 if they do not suffice. y: the other
** factors. Addends are below 2^top and multiples of 2^bottom; the highest grid is 51 bits below top, so that the
** bits of A + x count from those of A without leaving A's binade.
*/
static int plan(ladder *g, gr_exact *s, int size, span x, const span *y) {
  static const signed char rung[MAX_LEVELS + 1] = {0, 1, 2, 3, 4, 6, 6, 11, 11, 11, 11, 11};
  int bias = size == 4 ? 126 : 1022, last = size == 4 ? 255 : 2047, digits = size == 4 ? 24 : 53;
  int top = top_field(size, x) - bias, bottom = bottom_field(size, x) - bias - digits, need, l;
  if (top == last - bias || (y && top_field(size, *y) == last)) return -1; /* infinities or NaN */
  if (x.least == UINT32_MAX || (y && y->least == UINT32_MAX)) return 0;    /* nothing but zeros */
  if (y) {
    int other = top_field(size, *y) - bias;
    /* Rounded products and their errors must be exact, Dekker's factors finite. */
    if (size == 8 && (top > 990 || other > 990)) return -1;
    top += other;
    bottom += bottom_field(size, *y) - bias - digits;
    if (size == 8 && bottom < -1074) return -1;
  }
  if (top > 1020) return -1;
  need = top - 51 <= bottom ? 1 : 1 + (top - 51 - bottom + 51) / 52;
  if (need > MAX_LEVELS) return -1;
  need = rung[size == 8 && need < 2 ? 2 : need];
  for (l = 0; l < need; l++) {
    g->grid[l] = top - 51 - 52 * l < -1074 ? -1074 : top - 51 - 52 * l;
    g->anchor[l] = gr_from_bits64((uint64_t)(g->grid[l] + 52 + 1023) << 52 | UINT64_C(1) << 51);
  }
  gr_exact_expect(s, (uint32_t)need);
  gr_exact_touch(s, g->grid[need - 1], top + 32);
  return need;
}

#define GR_PASTE_(a, b) a##_##b
#define GR_PASTE(a, b) GR_PASTE_(a, b)

/* ---- the sets ---- */

#if GR_CPU_X86
#include <immintrin.h>
GR_TARGET(GR_AVX512)
#define W 8
#define GR_SUFFIX avx512
#include "kernels/cpu/exact/exact.inc"
GR_TARGET_END
GR_TARGET(GR_AVX2)
#define W 4
#define GR_SUFFIX avx2
#include "kernels/cpu/exact/exact.inc"
GR_TARGET_END
#endif

#define W 2
#define GR_SUFFIX plain
#include "kernels/cpu/exact/exact.inc"

const gr_exact_set *gr_exact_set_in_use(void) {
#if GR_CPU_X86
  const char *name = gr_cpu_in_use();
  if (!strcmp(name, "avx512")) return &gr_exact_avx512;
  if (!strcmp(name, "avx2")) return &gr_exact_avx2;
#endif
  return &gr_exact_plain;
}
