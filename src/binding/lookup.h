/* a[index] and a[mask], for what brackets do with arrays. */
#ifndef GR_L_LOOKUP_H
#define GR_L_LOOKUP_H

#include "src/binding/state.h"

/* The key at 2 is an array or an expression: gives the elements, or puts the value at 3. */
int gr_l_take_by(lua_State *L);
int gr_l_put_by(lua_State *L);

#endif
