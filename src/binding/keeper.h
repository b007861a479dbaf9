/* Lua values that are kept for as long as arrays lie in their memory; and how arrays are released. */
#ifndef GR_L_KEEPER_H
#define GR_L_KEEPER_H

#include "src/binding/state.h"
#include "src/core/wrap.h"

/* Keeps the value at i alive for as long as the wrapping. */
void gr_l_keep(lua_State *L, gr_context *, int i, gr_wrapping *);
/* What a:release() does: and lets go of what the array kept. */
void gr_l_release(lua_State *L, gr_array *);
/* Lets go of what only arrays kept that are gone. L is NULL once the Lua state is gone, and its registry with it. */
void gr_l_forget_orphans(lua_State *L, gr_context *);

#endif
