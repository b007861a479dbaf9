/* The options that name a kernel of the ladder. */
#ifndef GR_L_LADDER_H
#define GR_L_LADDER_H

#include "src/binding/options.h"
#include "src/core/ladder.h"

/* The options kernel, block and timed, checked for a, the first argument; info is NULL when none is asked for. */
gr_kernel_choice gr_l_option_kernel(lua_State *L, int arg, gr_taught, const gr_array *a);
/* Several runs may not write over their own input. */
void gr_l_check_timed_into(lua_State *L, int arg, const gr_kernel_choice *, const gr_array *a, const gr_array *into);
int gr_l_push_seconds(lua_State *L, const gr_kernel_choice *); /* when timed; how many values it pushed */
/* A reduction by that kernel: pushes an array for rows, else one number; then the seconds when asked for. */
int gr_l_push_taught(lua_State *L, gr_kernel_choice *, gr_op, gr_shape, gr_array *a, gr_array *b, int options);

#endif
