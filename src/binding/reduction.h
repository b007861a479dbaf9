/* What a reduction's call asks for: its operands and options, as they are read. */
#ifndef GR_L_REDUCTION_H
#define GR_L_REDUCTION_H

#include "src/binding/ladder.h"
#include "src/binding/missing.h"
#include "src/binding/ranks.h"
#include "src/core/future.h"

/* The options of reductions, and a bit for each, so that only those are looked up that a call gives. */
#define OF_ALL(X) X(rows) X(axis) X(into) X(at) X(async) X(segments) X(keepdims) X(out) X(skipnan) X(mask) X(comm)
#define OF_SOME(X) X(pairs) X(accumulate) X(ddof) X(op) X(value) X(exact) X(kernel) X(block) X(timed)
#define GR_X(name) NUMBER_##name,
enum { OF_ALL(GR_X) OF_SOME(GR_X) };
#undef GR_X
#define GR_X(name) HAS_##name = 1 << NUMBER_##name,
enum { OF_ALL(GR_X) OF_SOME(GR_X) };
#undef GR_X

/* What a call asks for, gathered from its arguments. */
typedef struct gr_call {
  gr_op op;
  gr_array *a, *b;
  gr_reduced of, with; /* the same; where they are expressions, a and b are promises of their elements */
  gr_shape shape;
  gr_segments segments; /* where shape points when there are any */
  gr_missing missing;   /* which elements are not reduced; tested: those that may be NaN, where a is made of them */
  gr_reduced tested;
  gr_comm *comm;     /* the arrays are this rank's parts; or NULL */
  gr_future *gather; /* where the number goes instead of being computed now, or NULL */
  double ddof;
  gr_kernel_choice kernel;  /* asked for by name, or info == NULL */
  int exact, single;        /* correctly rounded; to f32 */
  int options;              /* where the options table is */
  int given;                /* HAS_* of what is in it */
  int later;                /* asks for a future */
  int keepdims, transposed; /* results are a matrix; a lies transposed, and shape is that of what lies there */
  int has_at;
  int64_t at; /* the position in 'into' of the only result */
} gr_call;

/* The options at q->options, if there are any; what reads elements may make those of expressions. */
void gr_l_read_reduction(lua_State *L, gr_call *q);

/* Of expressions: their elements are made, as what follows needs arrays. */
void gr_l_make_operands(lua_State *L, gr_call *q);

#endif
