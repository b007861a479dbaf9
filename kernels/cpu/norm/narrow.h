/* Narrow rows for softmax and rmsnorm: turned a block of them at a time, so that a vector works on several. */
#ifndef GR_CPU_NARROW_H
#define GR_CPU_NARROW_H

#include "kernels/cpu/isa/table.h"

static inline int gr_takes_narrow(gr_dtype t, int most, int64_t n, int64_t count, const gr_vec *x, const gr_vec *out) {
  return n <= most && count >= 8 && x->stride == gr_size_of(t) && out->stride == gr_size_of(t);
}

/* Rows from .. end - 1, of n elements. w: n weights as doubles, or NULL. */
void gr_narrow_rows(gr_narrow kernel, gr_dtype t, const gr_vec *x, const gr_vec *out, int n, int64_t from, int64_t end,
                    const double *w, double eps);

#endif
