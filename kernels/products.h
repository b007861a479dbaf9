/* Sums of products of a matrix's columns, each less a number of its own: what a device does at once for covariances. */
#ifndef GR_KERNELS_PRODUCTS_H
#define GR_KERNELS_PRODUCTS_H

#include "kernels/jobs.h"

/*
** Element (row, column) lies at a.data + (row * columns + column) * a.stride. out[j * columns + k] is the dot of
** columns j and k, of f64 and along the tree, after means[j] and means[k] have been subtracted: both sides of it are
** filled in.
*/
typedef struct gr_products_job {
  gr_dtype dtype;
  int32_t columns;
  int64_t rows;
  gr_vec a;
  const double *means;
  double *out;
} gr_products_job;

#endif
