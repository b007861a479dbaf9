/* What is done with matrices as a whole. As in ops.h: callers have checked, failures have words. */
#ifndef GR_CORE_MATRIX_H
#define GR_CORE_MATRIX_H

#include "src/core/formula/present.h"

/* The elements of the matrix a, column by column, into out: of its dtype and length, and apart from it. */
gr_status gr_transpose(gr_context *, const gr_array *a, gr_array *out);

/*
** Covariances of the columns of a, read as so many rows, into out: a dense array of f64, columns x columns. The
** mean of a column is subtracted in f64, the products added along the tree, the sums divided by rows - ddof.
** correlation: divided by both deviations besides, within -1 and 1, and 1 on the diagonal.
*/
gr_status gr_covariance(gr_context *, const gr_array *a, int64_t rows, double ddof, int correlation, gr_array *out);

/*
** The same of what is present: of each two columns of those rows in which both are, with means and deviations of these
** rows alone; NaN where they are ddof or fewer. Where nothing may be missing, of all rows.
*/
gr_status gr_covariance_present(gr_context *, const gr_array *a, int64_t rows, const gr_missing *, double ddof,
                                int correlation, gr_array *out);

#endif
