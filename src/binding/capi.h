/* The part of the C API (include/gpureduce.h) that knows Lua; the rest is src/capi. */
#ifndef GR_L_CAPI_H
#define GR_L_CAPI_H

#include "include/gpureduce.h"
#include "src/binding/state.h"

/* The config that the host has left for the state that opens now, checked; NULL: none. */
const gpureduce_config *gr_l_config(lua_State *L);
/* The table goes to the registry, and into the module, which is on top of the stack. */
void gr_l_capi_open(lua_State *L);
/* gr.safe: no script finds it any more; the registry keeps it for the host. */
void gr_l_capi_hide(lua_State *L);
/* The state closes; what a host still has of its context stays of use. */
void gr_l_capi_close(gr_context *);

#endif
