/*
** What a reduction of present elements (missing.h) reduces on its way: operands that are filled, and passes over them.
** Results of many vectors stay where the kernels run until one of them is asked for.
*/
#ifndef GR_MISSING_PASSES_H
#define GR_MISSING_PASSES_H

#include "src/core/formula/known.h"
#include "src/core/formula/present.h"

/*
** What is reduced, of each vector or of the whole. MAIN: the result, or what it is made of; OTHER: what stands beside
** it (the other extreme, the best element of a position, squares); COUNT: how many elements are present; FIRST: where
** the first of these is.
*/
typedef enum gr_pass_of { GR_PASS_MAIN, GR_PASS_OTHER, GR_PASS_COUNT, GR_PASS_FIRST, GR_PASSES } gr_pass_of;
#define GR_ONLY(k) (1 << GR_PASS_##k)
typedef struct gr_pass {
  gr_op op;
  gr_reduced a, b;
  double ddof;
  gr_array many; /* of each vector, and where the host reads them */
  gr_vec at;
  gr_value one; /* of the whole */
} gr_pass;

typedef struct gr_passes {
  gr_context *context;
  gr_partial_reduction q;
  gr_dtype dtype;
  int whole;
  int64_t results, all; /* all: elements of all ranks, if there are more than this one */
  gr_made first, second, present;
  const gr_known *known; /* serves the first run, for which no operands are made */
  int keep;              /* the first run is to be known from then on */
  gr_array centers;
  gr_pass pass[GR_PASSES];
} gr_passes;

/* The first operand, filled, or the second, unless it is already; both. */
gr_status gr_passes_fill(gr_passes *, int second);
gr_status gr_passes_fill_all(gr_passes *);

/* What a pass is to reduce (b without an expression: one operand); that COUNT is to count present elements. */
void gr_passes_want(gr_passes *, gr_pass_of, gr_op, gr_made *a, gr_made *b, double ddof);
gr_status gr_passes_want_counts(gr_passes *);

/*
** Those passes (set: GR_ONLY of each): together, where they can be. before: what came of making their operands; ranks
** fail together.
*/
gr_status gr_passes_run(gr_passes *, int set, gr_status before);

/* Brings to the host what they gave of many vectors; then their results can be asked for. */
gr_status gr_passes_read(gr_passes *, int set);
gr_value gr_passes_value(const gr_passes *, gr_pass_of, int64_t vector);
double gr_passes_number(const gr_passes *, gr_pass_of, int64_t vector);
int64_t gr_passes_count(const gr_passes *, int64_t vector);

/* The least of what a pass gave, or the greatest, wherever that is. */
gr_status gr_passes_end(gr_passes *, gr_pass_of, int greatest, gr_value *result);

/* Releases all. */
void gr_passes_drop(gr_passes *);

#endif
