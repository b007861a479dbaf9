/* What becomes an array where one is wanted. */
#ifndef GR_L_MAKE_H
#define GR_L_MAKE_H

#include "src/binding/options.h"

/*
** An array, or a table of numbers, which becomes an array of that dtype beside a; left on the stack. each: one of them,
** in words.
*/
gr_array *gr_l_option_numbers(lua_State *L, gr_context *c, int arg, const char *name, const gr_array *a, gr_dtype,
                              const char *each);
/* The same of the value on top of the stack, which is part of that option. */
gr_array *gr_l_top_numbers(lua_State *L, gr_context *c, int arg, const char *name, const gr_array *a, gr_dtype,
                           const char *each);
/* What must hold of such an array if it is edges of a's bins. */
void gr_l_check_edges(lua_State *L, int arg, const char *name, const gr_array *a, const gr_array *edges);

#endif
