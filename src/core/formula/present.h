/*
** Operands some of whose elements are missing, because they are NaN or a mask says so: as expressions, so that whoever
** takes elements as they are made needs no copy. A mask of those that are present, and the elements with something else
** in the place of those that are missing.
*/
#ifndef GR_FORMULA_PRESENT_H
#define GR_FORMULA_PRESENT_H

#include "src/core/formula/run.h"

/* What makes an element a missing one. */
typedef struct gr_missing {
  int nan;         /* that it is NaN: of floats */
  gr_reduced mask; /* that this, as long, is 0 there; a NULL: there is none */
} gr_missing;

static inline int gr_may_miss(const gr_missing *m) { return m->nan || m->mask.a; }
/* Of vector k of the shape alone; a mask must be an array, whose vector is put into *mask. */
gr_missing gr_missing_of(gr_shape, const gr_missing *, int64_t k, gr_array *mask);

/* Operands of one call: a pair is missing if either element is. */
typedef struct gr_partial {
  gr_reduced a, b;   /* b.a NULL: one operand */
  gr_spread spread;  /* of b */
  gr_reduced tested; /* what is asked whether it is NaN, in a's place; a NULL: a itself */
  gr_missing missing;
} gr_partial;

/* A reduction of what is present (src/core/missing.h). */
typedef struct gr_partial_reduction {
  gr_op op;
  gr_shape shape;
  gr_partial of; /* its spread follows from the shape */
  double ddof;
  int exact, single; /* correctly rounded; to f32 */
  int turned;        /* rows of the shape are columns to whoever asks */
  int64_t column;    /* what is reduced is this column of a matrix, from 1; 0: the whole, or all vectors of the shape */
} gr_partial_reduction;

/* An expression in memory of its own, and a promise of its elements. Zeros: nothing yet. */
typedef struct gr_made {
  gr_expression *e;
  gr_array a;
} gr_made;

static inline gr_reduced gr_made_operand(gr_made *m) { return (gr_reduced){m->e, &m->a}; }
void gr_made_drop(gr_made *);

/* 0 where the element, or the pair, is missing (u8), elsewhere something else: 1, if `truths` are asked for. */
gr_status gr_partial_present(gr_context *, const gr_partial *, int truths, gr_made *);

/* In the place of what is missing: a number that a's dtype holds, or an array of that dtype. */
typedef struct gr_filling {
  gr_number number;
  const gr_array *array; /* NULL: the number */
  gr_spread spread;
} gr_filling;

gr_filling gr_filling_of(gr_number);
/* The greatest of the dtype, infinite of floats, or the least. */
gr_filling gr_filling_end(gr_dtype, int greatest);

/*
** What changes nothing in a reduction; second: of the other factor, or for the maximum of minmax. Reductions that are
** not named there are sums, which a 0 does not change, but that one of -0 alone becomes 0.
*/
gr_filling gr_filling_for(gr_op, gr_dtype, int second);

/* Operand a, or b (second), filled. widen: cast to f64 first. */
gr_status gr_partial_fill(gr_context *, const gr_partial *, int second, int widen, gr_filling, gr_made *);

/*
** Operand a, floats of which a mask leaves out some, as reducers take it that leave NaN out: it is NaN where something
** is missing, and, unless NaN is missing as well, infinite where it was NaN. There is no variance of either.
*/
gr_status gr_partial_numbers(gr_context *, const gr_partial *, gr_made *);

/*
** Ranks meet for a reduction of n elements each, of which some are missing; mine: whether this one can take part. *all:
** how many elements they have together.
*/
gr_status gr_partial_meet(gr_context *, const gr_missing *, gr_op, gr_dtype, double ddof, int exact, int64_t n,
                          int64_t *all);

/*
** " of row 3", or of whatever vector v of the shape is (turned: to who asks rows are columns), or of this column, which
** is counted from 1; of the whole "".
*/
#define GR_PLACE 48
const char *gr_partial_place(gr_shape, int turned, int64_t column, int64_t v, char text[GR_PLACE]);
/* Words for a vector of which nothing is present, where `name` needs an element: GR_BAD. */
gr_status gr_partial_none(gr_context *, const gr_missing *, gr_shape, int turned, int64_t column, int64_t v,
                          const char *name);

/* What is present of x, as long as the operand, one after the other: a new array, made here. split: and which is. */
gr_status gr_partial_split(gr_context *, const gr_partial *, gr_reduced x, gr_made *present, gr_array *out);
gr_status gr_partial_compact(gr_context *, const gr_partial *, gr_reduced x, gr_array *out);

/*
** As gr_formula_scan and gr_scan_each: a missing element adds nothing, and its place has what there is so far (of
** nothing +0, 1, or what is above or below all). gr_partial_scan takes what has nothing missing, too.
*/
gr_status gr_partial_filled(gr_context *, gr_op, const gr_partial *, gr_array *out); /* what is scanned, made here */
gr_status gr_partial_scan(gr_context *, gr_op, gr_shape, const gr_partial *, gr_array *out, int exclusive, int reverse);

#endif
