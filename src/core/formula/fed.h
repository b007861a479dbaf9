/* Scans and compacts of operands that may be expressions: fed with elements as they are made, where the backend can. */
#ifndef GR_FORMULA_FED_H
#define GR_FORMULA_FED_H

#include "src/core/formula/run.h"

/* As gr_scan and gr_compact (ops.h, map.h). */
gr_status gr_formula_scan(gr_context *, gr_op, gr_reduced a, gr_array *out, int exclusive, int reverse);
gr_status gr_formula_compact(gr_context *, gr_reduced a, const gr_array *mask, gr_array *out);

#endif
