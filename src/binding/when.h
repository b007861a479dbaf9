/* What reductions need of futures (when.c). */
#ifndef GR_WHEN_H
#define GR_WHEN_H

#include "src/binding/binding.h"
#include "src/core/future.h"

/* Push a reduction's result as Lua values (minmax: two); returns how many. */
int gr_l_push_result(lua_State *L, gr_op, const gr_value *);

/* While the context gathers: take the reduction in, give no values. */
int gr_l_gather(lua_State *L, gr_context *, gr_op, const gr_array *a, const gr_array *b, double ddof);

/* Something is about to be written: what was gathered goes first. */
void gr_l_before_output(lua_State *L, gr_context *);

/* {async = true}: push a future of the reduction, or of the n values on top, which the work queued on q makes. */
int gr_l_later(lua_State *L, gr_context *, gr_op, const gr_array *a, const gr_array *b, double ddof);
int gr_l_later_values(lua_State *L, gr_context *, int n, gr_queue *q, const char *name);

/* Push the table of the results that a future at i has had from the start; 0 and nothing if there is none. */
int gr_l_push_future_values(lua_State *L, int i);

/* After all functions are in the module table on top: a table in the registry of their names by function; and the metatables. */
#define GR_FUNCTIONS_NAME "gpureduce.functions"
void gr_l_when_functions(lua_State *L);
void gr_l_when_metatables(lua_State *L, gr_context *);

#endif
