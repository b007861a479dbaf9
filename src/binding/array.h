/* Arrays as Lua sees them. */
#ifndef GR_L_ARRAY_H
#define GR_L_ARRAY_H

#include "src/binding/state.h"

/* The metatable of arrays, whose methods are those of the module table on top of the stack. */
void gr_l_array_metatable(lua_State *L, gr_context *);
/* That of the module table on top of the stack: it knows the names of other libraries. */
void gr_l_module_metatable(lua_State *);

#endif
