/* Histograms by NumPy's rule: bin k holds edges[k] <= x < edges[k+1], the last one its upper edge as well. */
#ifndef GR_HISTOGRAM_H
#define GR_HISTOGRAM_H

#include "src/core/formula/present.h"
#include "src/core/ladder.h"

typedef struct gr_binning {
  int64_t bins;
  const gr_array *edges; /* f64, rising; or NULL: evenly spaced bins */
  int modulo;            /* bin = x mod bins, for integers; 2: all of them are in 0 .. bins - 1 */
  int log;               /* edges spaced by equal factors, above 0 */
  int has_min, has_max;  /* else from the data's finite range */
  double min, max;
  const char *limits;       /* the option that says them; NULL: min and max */
  gr_kernel_choice *kernel; /* asked for by name, or NULL */
  gr_reduced weights;       /* as long as the data; or none: every sample counts 1 */
  gr_missing missing;       /* which samples are not there: neither counted nor in the range */
  const gr_array *into;     /* where counts go, beside the data and apart from it; or NULL: they are made */
} gr_binning;

/*
** counts gets bins + 3 elements, of which the last three count what lies below, what lies above, and NaN: i64, or f64
** with weights of a float dtype. edges gets bins + 1 of f64; NULL with modulo when nobody asks for them. Both arrays
** are made here; with binning->into, counts is a view of that. Of expressions, what is needed twice is stored: samples
** whose own range is taken, and weights of floats, whose largest comes first.
*/
gr_status gr_histogram(gr_context *, gr_reduced a, const gr_binning *, gr_array *counts, gr_array *edges);

/*
** The same of each row or column, all with the same bins; where min or max is missing, they are those of all elements.
** counts becomes a matrix of a row for each of them, and tails one of their last three.
*/
gr_status gr_histogram_each(gr_context *, gr_shape, const gr_array *a, const gr_binning *, gr_array *counts,
                            gr_array *tails, gr_array *edges);

/*
** The edges of one histogram's bins: where they are, what is known of them, and for integers the limits (each bin's
** least integer, and the last one's greatest), an array of its own where kernels need them.
*/
typedef struct gr_made_bins {
  gr_array *edges, limits;
  double first, last;
  int formula; /* kernels need neither edges nor limits: the former follow from first and last */
  int rise;    /* even edges whose steps are so wide that bin k, by division, is off by one at most */
} gr_made_bins;

/* Makes them for samples like a, whose range is taken if it must be. made->edges is an array to make; no modulo. */
gr_status gr_make_bins(gr_context *, const gr_array *a, const gr_binning *, gr_made_bins *made);

/* What even bins from first to last, or bins by edges, make of a histogram, but for addresses. */
gr_histogram_job gr_histogram_job_of(const gr_array *a, const gr_binning *, double first, double last);

/* Edges that were made here go into an array as long. */
gr_status gr_edges_into(gr_context *, const gr_array *edges, gr_array *to);

/* What counts hold: i64, with weights (or NULL) of a float dtype f64. */
gr_dtype gr_histogram_dtype(const gr_array *weights);

/*
** density[k] = counts[k] / (width of bin k) / (all that was counted in bins): NumPy's density. Of pairs each row of
** counts has a width of its own besides (rows: their edges, else NULL). Made on the host.
*/
gr_status gr_density(gr_context *, const gr_array *counts, const gr_array *rows, const gr_array *edges,
                     gr_array *density);

#endif
