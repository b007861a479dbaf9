/* Fills and copies. As in ops.h: callers have checked, failures have words. */
#ifndef GR_CORE_COPY_H
#define GR_CORE_COPY_H

#include "src/core/array.h"

gr_status gr_fill(gr_context *, gr_array *, gr_value);
/* Same dtype and length, may overlap, may change backend. */
gr_status gr_copy(gr_context *, const gr_array *a, gr_array *out);

#endif
