/* What other parts need of the element operators. */
#ifndef GR_L_MAP_H
#define GR_L_MAP_H

#include "src/binding/options.h"

/* Options op and value: a mask of the elements that satisfy them, or a tally, on the stack; NULL if not given. */
gr_array *gr_l_predicate(lua_State *L, int options, const gr_array *a, gr_tally tally);

int gr_l_compact(lua_State *L); /* gr.compact */

/* Adds the operators to the metatable on top of the stack. */
void gr_l_map_metamethods(lua_State *L);

#endif
