/* What other parts need of exact sums. */
#ifndef GR_L_EXACT_H
#define GR_L_EXACT_H

#include "src/binding/options.h"

void gr_l_accumulator_metatable(lua_State *L);

#endif
