/* Lua values as bytes, for other ranks: nil, booleans, numbers, strings, arrays, and tables of these. */
#ifndef GR_L_PACKED_H
#define GR_L_PACKED_H

#include "src/binding/args.h"

/*
** The value at i as bytes, in a block on the stack; NULL: it cannot be packed, and text says why. The numbers have the
** byte order of this machine.
*/
const char *gr_l_pack(lua_State *L, int i, size_t *bytes, char text[128]);

/* Pushes the value that these bytes are. Raises if they are none. */
void gr_l_unpack(lua_State *L, const char *bytes, size_t length);

#endif
