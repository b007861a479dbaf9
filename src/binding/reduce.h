/* What the Lua part `calls` needs of reductions. */
#ifndef GR_L_REDUCE_H
#define GR_L_REDUCE_H

#include "src/binding/state.h"

/* Adds it to the table on top of the stack. */
void gr_l_brief_parts(lua_State *L, gr_context *);

#endif
