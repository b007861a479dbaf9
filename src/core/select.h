/* Quantiles, by selection: exact, in a few passes over the data. */
#ifndef GR_SELECT_H
#define GR_SELECT_H

#include "src/core/array.h"

/* Those that NumPy has. X(id, name); GR_MIDDLE is the median's: the middle element, or the mean of the two there,
   rounded once. */
#define GR_METHODS(X) X(LINEAR, linear) X(LOWER, lower) X(HIGHER, higher) X(NEAREST, nearest) X(MIDPOINT, midpoint)

#define GR_X(id, name) GR_##id,
typedef enum gr_quantile_method { GR_METHODS(GR_X) GR_MIDDLE } gr_quantile_method;
#undef GR_X

/* Whether results are elements of the data (lower, higher, nearest); the others are f64. */
static inline int gr_quantile_selects(gr_quantile_method m) {
  return m == GR_LOWER || m == GR_HIGHER || m == GR_NEAREST;
}

/*
** The shares q (0 to 1; count of them, in any order) of a, which has an element. NaN in the data: all results are NaN.
*/
gr_status gr_quantiles(gr_context *, const gr_array *a, const double *q, int64_t count, gr_quantile_method,
                       gr_value *out);

#endif
