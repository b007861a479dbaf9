/* How functions and metatables come into the module: as closures over its context (state.h). */
#ifndef GR_L_REGISTER_H
#define GR_L_REGISTER_H

#include "src/binding/state.h"

typedef struct gr_function {
  const char *name;
  lua_CFunction f;
  lua_Integer number;
} gr_function;

/*
** Add functions to the table on top of the stack; the list ends with a NULL name. Their first upvalue is the registry's
** GR_OWN(instance), the userdata that holds the context.
*/
void gr_l_register(lua_State *L, const gr_function *list);
/*
** The metatable of that name (GR_OWN), in the registry: metamethods, and an __index of methods. Scripts do not get to
** see it.
*/
void gr_l_make_metatable(lua_State *L, const char *name, const gr_function *methods, const gr_function *meta);
/* The metatable on top of the stack gets the event, by a function of another name. */
void gr_l_set_event(lua_State *L, const char *event, const char *name, lua_CFunction, lua_Integer number);
/* Behind the `count` names that are there, those of the functions in the table at t; NULL at the end. For hints. */
#define GR_NAMES 205
void gr_l_list_functions(lua_State *L, int t, int count, const char *names[GR_NAMES]);
/* Hides the metatable on top of the stack: getmetatable gives its name. */
void gr_l_hide_metatable(lua_State *L, const char *name);

#endif
