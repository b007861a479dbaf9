/* Arithmetic of a formula's numbers among themselves: once, when it is bound, and never for each element. */
#ifndef GR_FORMULA_NUMBER_H
#define GR_FORMULA_NUMBER_H

#include "src/core/context.h"
#include "src/core/dtype.h"

gr_number gr_number_i(int64_t x);
gr_number gr_number_f(double x);

/* op of numbers, by the element operator: integers among themselves as i64, all else as f64. */
gr_status gr_number_map(gr_context *, gr_map op, const gr_number in[3], gr_number *out);
int gr_number_compare(gr_relation, const gr_number *x, const gr_number *y);

/* The number as an element of that dtype has it. */
gr_number gr_number_cast(gr_dtype, const gr_number *);

static inline int gr_number_true(const gr_number *x) { return x->integer ? x->i != 0 : x->f != 0; }

#endif
