/* Samples that are missing: what becomes of them before a histogram counts, and after it. */
#ifndef GR_HISTOGRAM_MISSING_H
#define GR_HISTOGRAM_MISSING_H

#include "src/core/formula/present.h"

/*
** Samples that are missing weigh 0, the others what they weigh, or 1; *weights (a NULL: none) are those then, of which
** *made has the memory. NaN without weights need none: they are counted apart, and forgotten.
*/
gr_status gr_histogram_weigh(gr_context *, gr_reduced of, const gr_missing *, gr_reduced *weights, gr_made *made);

/*
** The same; or, if samples may be `counted` and kernels without weights are much faster, floats become NaN where a
** mask leaves them out (*of is what to count then).
*/
gr_status gr_histogram_settle(gr_context *, int counted, gr_reduced *of, const gr_missing *, gr_reduced *weights,
                              gr_made *made);

/* Masked samples do not count for the range: those that are left, in an array. */
gr_status gr_histogram_keep(gr_context *, gr_reduced of, const gr_missing *, gr_array *ranged);

/* The missing are among the NaN, of which there are so many (one element): takes them out. */
gr_status gr_histogram_forget(gr_context *, const gr_missing *, gr_array *nan);

#endif
