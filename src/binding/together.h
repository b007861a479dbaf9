/* gr.many of expressions. */
#ifndef GR_L_TOGETHER_H
#define GR_L_TOGETHER_H

#include "src/binding/state.h"

/*
** The list at 1, of n items, if expressions are among them. operations: where the table of reductions is. now: if all
** items are a name and operands, without options, and the device can, pushes all results, made in as few passes as can
** be, and returns how many. Else -1; and unless an item has 'into', a list of arrays is in its place, where each
** expression's elements were made once.
*/
int gr_l_many_expressions(lua_State *L, gr_context *, int n, int now, int operations);

#endif
