/* Lua values that are kept for as long as arrays lie in their memory; and how arrays are released. */
#ifndef GR_L_KEEPER_H
#define GR_L_KEEPER_H

#include "src/binding/state.h"
#include "src/core/wrap.h"

/* Keeps the value at i alive for as long as the wrapping. */
void gr_l_keep(lua_State *L, gr_context *, int i, gr_wrapping *);
/* What a:release() does: releases the array, and what it kept alive. */
void gr_l_release(lua_State *L, gr_array *);
/*
** Frees references of wrappings that are gone, and memory whose tensors are (dlpack.h). L is NULL once the Lua state,
** and so its registry, is gone.
*/
void gr_l_forget_orphans(lua_State *L, gr_context *);

#endif
