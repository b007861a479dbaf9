/* Elements by their positions, and values to them. As in ops.h: callers have checked dtypes, lengths and devices. */
#ifndef GR_CORE_LOOKUP_H
#define GR_CORE_LOOKUP_H

#include "src/core/map.h"

/*
** out[k] = a[index[k]]. fresh: nobody else sees out, so that it may be written before it is known whether all of index
** are positions; else nothing is written if one is not.
*/
gr_status gr_take(gr_context *, const gr_array *a, const gr_array *index, gr_array *out, int fresh);

/* The same where all are known to be: nothing waits. */
gr_status gr_take_known(gr_context *, const gr_array *a, const gr_array *index, gr_array *out);

/* The positions where mask (u8) is not zero, `kept` of them, as a new array of i64. */
gr_status gr_positions(gr_context *, const gr_array *mask, int64_t kept, gr_array *out);

/*
** Put values (as many as index has, or one number's bits) to those elements of a. *arg: whose fault GR_BAD is, 2 (the
** index) or 3 (the values). Nothing is written then.
*/
gr_status gr_put(gr_context *, gr_put_op, gr_array *a, const gr_array *index, gr_term values, int *arg);

/* The same where mask (u8, as long as a) is not zero: values has as many elements as that has, or is one number. */
gr_status gr_put_masked(gr_context *, gr_array *a, const gr_array *mask, gr_term values, int *arg);

#endif
