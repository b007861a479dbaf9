/*
** Correctly rounded reductions of arrays, and exact accumulators (docs/exact.md). Callers have checked shapes and
** dtypes; on failure context->error has the words.
*/
#ifndef GR_CORE_EXACT_H
#define GR_CORE_EXACT_H

#include "src/core/exact_round.h"
#include "src/core/formula/run.h"

/* Whether op has an exact form for the dtype: sums and dots of integers are exact as they are, in 64 bits. */
int gr_exact_has(gr_op op, gr_dtype dtype);

/*
** op of the whole of an array or an expression (b.a NULL: one operand); ddof is whole. single: rounded to f32. count:
** how many elements there are to be, if the others add nothing (NULL: all).
*/
gr_status gr_exact_all(gr_context *, gr_op, gr_reduced a, gr_reduced b, int64_t ddof, int single, const int64_t *count,
                       double *result);
/* Whether it takes an expression's elements as they are made: what several sums need is stored. */
int gr_exact_feeds(gr_op, gr_reduced a, gr_reduced b);

/*
** op of each row, column or segment into out, an array of f64 or f32 that is rounded to directly; a count of each.
** Expressions are stored.
*/
gr_status gr_exact_each(gr_context *, gr_op, gr_shape, gr_reduced a, gr_reduced b, int64_t ddof, const int64_t *counts,
                        gr_array *out);

/* Add all elements of a, or with b the products of the two, to an accumulator. */
gr_status gr_exact_add(gr_context *, gr_exact *, gr_reduced a, gr_reduced b);

/* The accumulators of all ranks of the context's communicator added up, in each of them. */
gr_status gr_exact_ranks(gr_context *, gr_exact *);

/* 128 bits that tell the bytes of a (in logical order) from others; the same on every device and for every view. */
gr_status gr_digest(gr_context *, const gr_array *, uint64_t result[2]);
gr_status gr_digest_here(gr_context *, const gr_array *, uint64_t result[2]); /* of what each rank has whole */

#endif
