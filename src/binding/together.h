/* gr.many of expressions. */
#ifndef GR_L_TOGETHER_H
#define GR_L_TOGETHER_H

#include "src/binding/state.h"

/*
** The list at 1, of n items, if expressions are among them and all are a name and operands, without options.
** operations:
** where the table of these is. now: pushes all results, made in as few passes as can be, and returns how many; or,
** where
** that cannot be, gives -1 and puts a list of arrays in its place, each expression's elements made once. -1 and the
** same
** list: it is not like that.
*/
int gr_l_many_expressions(lua_State *L, gr_context *, int n, int now, int operations);

#endif
