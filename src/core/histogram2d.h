/* Histograms of pairs: how many lie in each cell, a bin of x and a bin of y, which are those of gr_histogram. */
#ifndef GR_HISTOGRAM2D_H
#define GR_HISTOGRAM2D_H

#include "src/core/histogram.h"

/* What lies in no cell: pairs outside of the bins, and pairs of which one is NaN. */
enum { GR_PAIRS_OUTSIDE, GR_PAIRS_NAN, GR_PAIRS_TAILS };

/* Cells are numbered in 32 bits, with what histograms count besides. */
#define GR_MOST_CELLS (((int64_t)1 << 31) - 16)

typedef struct gr_pairs {
  gr_reduced samples[2]; /* x and y, equally long and on one device */
  gr_binning bins[2];    /* bins or edges, log, min and max alone */
  gr_reduced weights;    /* one for each pair; or none */
} gr_pairs;

/*
** counts gets the cells, y's bins side by side, and then GR_PAIRS_TAILS elements: i64, or f64 with weights of a float
** dtype. edges[0] and edges[1] get those of x and y, f64. The three arrays are made here.
*/
gr_status gr_histogram2d(gr_context *, const gr_pairs *, gr_array *counts, gr_array *const edges[2]);

#endif
