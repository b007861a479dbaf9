/* What a host has taken away (gr.safe): each raises if it has. */
#ifndef GR_L_SAFE_H
#define GR_L_SAFE_H

#include "src/binding/state.h"

void gr_l_needs_files(lua_State *L, const gr_context *, const char *name);
void gr_l_needs_pointers(lua_State *L, const gr_context *);
void gr_l_needs_process(lua_State *L, const gr_context *); /* settings of the whole process */

#endif
