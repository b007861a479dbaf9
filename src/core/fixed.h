/* Sums of floats that do not depend on the order (kernels/numerics/fixed.h). */
#ifndef GR_CORE_FIXED_H
#define GR_CORE_FIXED_H

#include "src/core/array.h"

/*
** The unit that sums of the elements of x are multiples of, by the largest of them. One that is not finite fails: what,
** in words, was expected.
*/
gr_status gr_unit_of(gr_context *, const gr_array *x, const char *what, int32_t *unit);

#endif
