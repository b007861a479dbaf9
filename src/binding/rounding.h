/* The options that say how float results are accumulated and rounded. */
#ifndef GR_L_ROUNDING_H
#define GR_L_ROUNDING_H

#include "src/binding/options.h"
#include "src/core/operation.h"
#include "src/core/ranks/comm.h"

/* The option 'out': 1 for f32, 0 for f64, the default. */
int gr_l_option_single(lua_State *L, int arg);
/* The same where results of what `name` does to elements of t would be of that dtype, and 'out' is for f64 alone. */
int gr_l_option_out(lua_State *L, int arg, const char *name, gr_dtype t, gr_dtype result);
/*
** Elements of f64 rounded into another array; into a new one of f32, of the same shape, which the array of f64 on top
** of the stack becomes. Over ranks all hear of it where one has no room for that.
*/
gr_status gr_l_round_into(gr_context *, const gr_array *wide, gr_array *out);
void gr_l_round_top(lua_State *L, gr_context *, gr_comm *, int arg);

/* accumulate = "f32", "kahan" or "neumaier" picks a sibling of sum and dot; "f64" is the default itself. */
gr_op gr_l_option_accumulate(lua_State *L, int arg, gr_op, gr_dtype);

#endif
