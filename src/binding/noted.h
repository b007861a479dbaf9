/* Arrays that open scopes will release. */
#ifndef GR_L_NOTED_H
#define GR_L_NOTED_H

#include "src/binding/state.h"

/* The array on top of the stack is noted for the innermost scope. */
void gr_l_note_array(lua_State *L, gr_l_state *);
/* Push the table of those that are noted, by number. */
void gr_l_push_noted(lua_State *L);
/* Whether a finalizer runs. */
int gr_l_finalizing(lua_State *L);

#endif
