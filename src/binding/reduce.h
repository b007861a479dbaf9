/* What the Lua part `calls` needs of reductions. */
#ifndef GR_L_REDUCE_H
#define GR_L_REDUCE_H

#include "src/binding/state.h"
#include "src/core/ops.h"

/* Adds it to the table on top of the stack. */
void gr_l_brief_parts(lua_State *L, gr_context *);

/*
** What a call of op would reduce, for who does not call it: a at stack index `first`, b after it if op takes two, then
** options. What would itself be work (predicates, segments, futures, kernels by name) is an error.
*/
gr_reduction gr_l_reduction(lua_State *L, gr_op op, int first);

/* The operation at arg, one of those that a scan can run. */
gr_op gr_l_check_scanned(lua_State *L, int arg);

#endif
