/* What a call would do, without doing it: for gr.explain, and of reductions for GPUREDUCE_TRACE, a line a call. */
#ifndef GR_EXPLAIN_H
#define GR_EXPLAIN_H

#include "src/core/formula/operate.h"
#include "src/core/histogram.h"
#include "src/core/ops.h"

typedef struct gr_explanation {
  gr_explained how;
  const char *device;
  int64_t reads, writes; /* bytes of the inputs' elements, and of the results */
  int64_t uploads;       /* bytes that would be copied to the device first, in whole chunks */
} gr_explanation;

/* There is at least one element and one result. Launches nothing, and changes nothing; fails with GR_RELEASED alone. */
gr_status gr_explain(const gr_reduction *, gr_explanation *);
gr_status gr_explain_scan(gr_op, const gr_array *, gr_explanation *);
/* Of even bins between min and max, which are given, or modulo. */
gr_status gr_explain_histogram(const gr_array *, const gr_binning *, gr_explanation *);

#define GR_EXPLAIN_TEXT 512
void gr_explain_text(const gr_reduction *, const gr_explanation *, char text[GR_EXPLAIN_TEXT]);
/* what: the call, in words, which the line begins with. */
void gr_explain_line(const char *what, const gr_explanation *, char text[GR_EXPLAIN_TEXT]);

/* Both of a custom operator that has been made for the dtype of a. */
gr_status gr_explain_custom(const gr_custom *, gr_shape, gr_reduced a, gr_explanation *, char text[GR_EXPLAIN_TEXT]);

/* Before first use. With GPUREDUCE_TRACE set, every reduction of this context writes that line to the log. */
void gr_explain_trace(gr_context *);

#endif
