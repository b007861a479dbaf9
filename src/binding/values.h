/* Single elements and results between Lua and memory. */
#ifndef GR_L_VALUES_H
#define GR_L_VALUES_H

#include "src/binding/args.h"
#include "src/core/operation.h"

/* The number at i, which is one. */
gr_number gr_l_to_number(lua_State *L, int i);
/* Store the Lua number at i as one element; NULL, or why it cannot be, in text. */
const char *gr_l_put(lua_State *L, int i, gr_dtype, void *p, char text[96]);
void gr_l_push_element(lua_State *L, gr_dtype, const void *p);
void gr_l_push_value(lua_State *L, const gr_value *, int k);
/* The number at arg as a value of that dtype, or an error that names the argument. */
gr_value gr_l_check_value(lua_State *L, int arg, gr_dtype);

/* A field of the table on top; of text that is NULL none. */
void gr_l_set_text(lua_State *L, const char *key, const char *text);
void gr_l_set_whole(lua_State *L, const char *key, int64_t x);

/* Push a reduction's result as Lua values (minmax: two); returns how many. */
int gr_l_push_result(lua_State *L, gr_op, const gr_value *);

#endif
