/* Quantiles of weighted samples. */
#ifndef GR_SELECT_WEIGHTED_H
#define GR_SELECT_WEIGHTED_H

#include "src/core/array.h"

/*
** The least element up to which at least the share q of all weight lies, and some of it: NumPy's inverted_cdf. weights
** are as long as a, which has an element, and of any dtype. NaN in the data: all results are NaN. A zero has no sign.
*/
gr_status gr_quantiles_weighted(gr_context *, const gr_array *a, const gr_array *weights, const double *q,
                                int64_t count, gr_value *out);

#endif
