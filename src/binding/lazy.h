/* Operators on expressions: they give expressions. */
#ifndef GR_L_LAZY_H
#define GR_L_LAZY_H

#include "src/binding/expression.h"

/* The array, the number or the expression at arg; of a transposed matrix one in order, in its place. */
gr_given gr_l_given(lua_State *L, int arg);

/*
** The operator on the first arguments, in the order of gr_map_job: arrays, numbers and expressions. Pushes an
** expression. What follows them are options, of which expressions take none. Where there is none but gr.row,
** gr.column and gr.scalar among them, it is done at once, as operators on arrays are.
*/
int gr_l_lazy(lua_State *L, gr_combining, gr_map, gr_relation, gr_dtype to, const int *args, int count, int options);
int gr_l_lazy_map(lua_State *L, gr_map, int count);

void gr_l_formula_metatables(lua_State *L); /* the module is on top of the stack */

#endif
