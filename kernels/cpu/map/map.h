/*
** The inner loops of element operators, compiled for each instruction set that gives them more: wider vectors, fma
** (map_base.c, map_avx2.c, map_avx512.c). All work on elements side by side; out may be an input.
*/
#ifndef GR_CPU_MAP_H
#define GR_CPU_MAP_H

#include "kernels/numerics/map.h"

typedef void (*gr_map_loop)(const void *a, const void *b, const void *c, void *out, int64_t n);
typedef void (*gr_map_convert)(const void *from, void *to, int64_t n);
/* Those of the first n elements (at most as many as kept has room for) whose mask is not zero; how many. */
typedef int64_t (*gr_map_keep)(const void *a, const uint8_t *mask, void *kept, int64_t n);

/* The types that conversions pass through: each holds the values of some dtypes exactly. */
typedef enum gr_via { GR_VIA_F32, GR_VIA_F64, GR_VIA_I64, GR_VIA_COUNT } gr_via;

/*
** Two steps in one loop, with nothing between them in memory: first(a, b) or first(a), then what takes that, t, and
** perhaps c. NaN between them may be any, as all of these give the one NaN.
*/
/* clang-format off */
#define GR_FIRSTS(X)                                                                          \
  X(add, x + y) X(sub, x - y) X(mul, x * y) X(square, x * x) X(abs, x > 0 ? x : 0 - x)
#define GR_SECONDS(X, first, t)                                                               \
  X(first, add, t + z) X(first, sub, t - z) X(first, sub_from, z - t) X(first, mul, t * z)    \
  X(first, div, t / z) X(first, div_by, z / t) X(first, square, t * t) X(first, sqrt, SQRT(t)) \
  X(first, abs, t > 0 ? t : 0 - t)
/* clang-format on */
typedef enum gr_pair_first {
#define GR_X(name, value) GR_FIRST_##name,
  GR_FIRSTS(GR_X)
#undef GR_X
      GR_FIRST_COUNT
} gr_pair_first;
typedef enum gr_pair_second {
#define GR_X(first, name, value) GR_SECOND_##name,
  GR_SECONDS(GR_X, , )
#undef GR_X
      GR_SECOND_COUNT
} gr_pair_second;

typedef struct gr_map_loops {
  gr_map_loop map[GR_MAP_COUNT][GR_DTYPE_COUNT];          /* by the dtype that is computed in; NULL: none */
  gr_map_loop compare[GR_RELATION_COUNT][GR_DTYPE_COUNT]; /* lt, le, eq, ne: the others are those backwards */
  gr_map_loop where[4];                                   /* by log2 of the size; c is the mask */
  gr_map_loop power[2];                                   /* of f32, of f64: pow, quicker where b is one number */
  gr_map_loop filled[GR_DTYPE_COUNT];                     /* b where a is NaN; NULL of integers */
  gr_map_keep keep[4];
  gr_map_convert to[GR_VIA_COUNT][GR_DTYPE_COUNT], from[GR_VIA_COUNT][GR_DTYPE_COUNT];
  gr_map_loop pair[2][GR_FIRST_COUNT][GR_SECOND_COUNT]; /* of f32, of f64 */
} gr_map_loops;

/* How an element operator runs on elements side by side, in the loops of the instruction set in use. */
typedef struct gr_map_step {
  gr_map_loop loop;              /* NULL: conversions alone (cast) */
  gr_map_convert to, from;       /* between the dtypes and what is computed in; NULL where they agree */
  int size, wide_size, out_size; /* of an element, of what is computed in, of a result */
  int turned;                    /* the loop wants b, then a */
  int numbers_wide;              /* numbers in an operand's place are what is computed in already */
} gr_map_step;
gr_map_step gr_map_step_of(gr_map, gr_relation, gr_dtype in, gr_dtype out);
/* That of where(compare(a, "==", a), a, b), floats, in one loop. */
gr_map_step gr_map_filled_step(gr_dtype);
/* The loop of two, of which the first is operand `place` of the second; NULL: they have none. */
gr_map_loop gr_map_pair(gr_map first, gr_map second, int place, gr_dtype);
/* A number's bits, m times, as what is computed in. */
void gr_map_fill(const gr_map_step *, uint64_t value, void *to, int64_t m);

extern const gr_map_loops gr_map_base, gr_map_avx2, gr_map_avx512;

#endif
