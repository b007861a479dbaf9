/* What the Lua part `help` needs. */
#ifndef GR_L_HELP_H
#define GR_L_HELP_H

#include "src/binding/compat.h"

/* Adds it to the table on top of the stack. */
void gr_l_help_parts(lua_State *L);

#endif
