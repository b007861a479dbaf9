/* Custom operators, where reductions and scans take one in the place of a name. */
#ifndef GR_L_OPERATOR_H
#define GR_L_OPERATOR_H

#include "src/binding/state.h"

typedef struct gr_custom gr_custom;
gr_custom *gr_l_test_operator(lua_State *L, int i); /* NULL if it is none */

/* Of the operand at `first`, which may be an expression, with the options at that index: all results, on the stack. */
int gr_l_operator_reduce(lua_State *L, gr_custom *, int first, int options);
int gr_l_operator_scan(lua_State *L, gr_custom *, int first, int options);

void gr_l_operator_metatable(lua_State *L);

#endif
