/* An expression by its steps one after the other, for devices that cannot run it in one pass. */
#ifndef GR_FORMULA_STEPS_H
#define GR_FORMULA_STEPS_H

#include "src/core/formula/expression.h"

/* Into an array of its dtype and length. Steps' results are on the device, as few at a time as the order allows. */
gr_status gr_expression_steps(gr_context *, const gr_expression *, gr_array *out);

#endif
