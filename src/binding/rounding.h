/* The options that say how float results are accumulated and rounded. */
#ifndef GR_L_ROUNDING_H
#define GR_L_ROUNDING_H

#include "src/binding/options.h"
#include "src/core/operation.h"

/* The option 'out': 1 for f32, 0 for f64, the default. */
int gr_l_option_single(lua_State *L, int arg);
/* The same where results of what `name` does to elements of t would be of that dtype, and 'out' is for f64 alone. */
int gr_l_option_out(lua_State *L, int arg, const char *name, gr_dtype t, gr_dtype result);
/* x as f32 has it. */
double gr_l_single(double x);

/* accumulate = "f32", "kahan" or "neumaier" picks a sibling of sum and dot; "f64" is the default itself. */
gr_op gr_l_option_accumulate(lua_State *L, int arg, gr_op, gr_dtype);

#endif
