/* What the Lua parts read and write. */
#ifndef GR_L_FILE_H
#define GR_L_FILE_H

#include "src/binding/state.h"

/* Adds the functions for it to the table on top of the stack. */
void gr_l_file_parts(lua_State *L);

#endif
