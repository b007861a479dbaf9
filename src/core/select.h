/* Quantiles, by selection: exact, in a few passes over the data. */
#ifndef GR_SELECT_H
#define GR_SELECT_H

#include "src/core/array.h"

/* Those that NumPy has; GR_MIDDLE is the median's: the middle element, or the mean of the two there, rounded once. */
typedef enum gr_quantile_method {
  GR_LINEAR, GR_LOWER, GR_HIGHER, GR_NEAREST, GR_MIDPOINT, GR_MIDDLE
} gr_quantile_method;

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
