/*
** Reductions of present elements that a context has run before. What leaves NaN out of plain arrays is one program for
** each operation and dtype, whatever the arrays are; putting it together takes longer than all else that the host does
** for a call, so each is kept, without the arrays.
*/
#ifndef GR_FORMULA_KNOWN_H
#define GR_FORMULA_KNOWN_H

#include "src/core/formula/run.h"

typedef struct gr_known gr_known;

/* The one for an operation on a dtype; NULL: nobody has kept it. */
gr_known *gr_known_find(gr_context *, gr_op, gr_dtype);

/*
** Keeps the program of a run that has just succeeded, for this operation and dtype: of one array, or of two different
** ones. Nothing is kept without memory for it, or where an operand had to be stored.
*/
void gr_known_keep(gr_context *, gr_op, gr_dtype, const gr_wanted *, int count, int arrays);

/*
** Runs it on arrays of that dtype; b: NULL for operations of one array. GR_NOT_FUSED: no result; the expression of
** these arrays must be built and run.
*/
gr_status gr_known_run(gr_context *, const gr_known *, const gr_array *a, const gr_array *b, gr_value *results);

#endif
