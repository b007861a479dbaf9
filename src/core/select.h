/* Quantiles, by selection: exact, in a few passes over the data. */
#ifndef GR_SELECT_H
#define GR_SELECT_H

#include "src/core/formula/present.h"

/* Those that NumPy has. X(id, name); GR_MIDDLE is the median's: the middle element, or the mean of the two there,
   rounded once. */
#define GR_METHODS(X)                        \
  X(LINEAR, linear)                          \
  X(LOWER, lower)                            \
  X(HIGHER, higher)                          \
  X(NEAREST, nearest)                        \
  X(MIDPOINT, midpoint)                      \
  X(INVERTED, inverted_cdf)                  \
  X(AVERAGED, averaged_inverted_cdf)         \
  X(CLOSEST, closest_observation)            \
  X(INTERPOLATED, interpolated_inverted_cdf) \
  X(HAZEN, hazen)                            \
  X(WEIBULL, weibull)                        \
  X(MEDIAN_UNBIASED, median_unbiased)        \
  X(NORMAL_UNBIASED, normal_unbiased)

#define GR_X(id, name) GR_##id,
typedef enum gr_quantile_method { GR_METHODS(GR_X) GR_MIDDLE } gr_quantile_method;
#undef GR_X
extern const char *const gr_method_names[]; /* NULL ends the list */

/* Whether results are elements of the data; the others are f64. */
static inline int gr_quantile_selects(gr_quantile_method m) {
  return m == GR_LOWER || m == GR_HIGHER || m == GR_NEAREST || m == GR_INVERTED || m == GR_CLOSEST;
}

/*
** The shares q (0 to 1; count of them, in any order) of a, which has an element. NaN in the data: all results are NaN.
*/
gr_status gr_quantiles(gr_context *, const gr_array *a, const double *q, int64_t count, gr_quantile_method,
                       gr_value *out);

/*
** Whose quantiles they are. weights: NULL, or as gr_quantiles_weighted (select_weighted.h) takes them; the method is
** not looked at, then. What is present is copied first where some may be missing; a vector without any is GR_BAD, with
** words that have the function's name.
*/
typedef struct gr_sample {
  const gr_array *a, *weights;
  gr_missing missing;
  const char *name;
} gr_sample;

/* The same of each row or column, or of the whole, into out: share after share, each with a result of every vector. */
gr_status gr_quantiles_each(gr_context *, gr_shape, const gr_sample *, const double *q, int64_t count,
                            gr_quantile_method, gr_array *out);
/* Of the whole, to the host. */
gr_status gr_quantiles_sampled(gr_context *, const gr_sample *, const double *q, int64_t count, gr_quantile_method,
                               gr_value *out);

/* The element of that rank, from 0 for the least; NaN if there is one. */
gr_status gr_ranked(gr_context *, const gr_array *a, int64_t wanted, gr_value *out);

#endif
