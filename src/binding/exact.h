/* What other parts need of exact sums. */
#ifndef GR_L_EXACT_H
#define GR_L_EXACT_H

#include "src/binding/options.h"

/* The option 'out' of exact results: 1 for f32, 0 for f64, the default. */
int gr_l_option_single(lua_State *L, int arg);

void gr_l_accumulator_metatable(lua_State *L);

#endif
