/*
** Reductions of what is present of arrays and expressions (formula/present.h): results are those of the present
** elements, at their places in the tree, where a missing one changes nothing. Where none may be missing, of all of
** them. As in ops.h: callers have checked shapes and dtypes; on failure context->error has the words.
*/
#ifndef GR_CORE_MISSING_H
#define GR_CORE_MISSING_H

#include "src/core/formula/present.h"

/* One number (minmax: two) of the whole; of exact ones as gr_exact_all gives them. */
gr_status gr_partial_all(gr_context *, const gr_partial_reduction *, gr_value *result);

/*
** Of one process: a number of each vector of the shape, into out (minmax: minima, and maxima into out2), arrays of f64
** or f32 where results are f64, else of the result's dtype. They are not written if a vector has no result.
*/
gr_status gr_partial_each(gr_context *, const gr_partial_reduction *, gr_array *out, gr_array *out2);

#endif
