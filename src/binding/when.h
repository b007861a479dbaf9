/* What other parts need of futures. */
#ifndef GR_L_WHEN_H
#define GR_L_WHEN_H

#include "src/binding/register.h"
#include "src/core/future.h"

/*
** gr.many and gr.async call the reductions by closures of their own, which scripts never get to see and whose number is
** GR_GATHERS: these put the reduction into the future that the context names. A reduction that a finalizer calls in the
** meantime goes by the ordinary function, and gives its number at once.
*/
#define GR_GATHERS 1
static inline gr_future *gr_l_gathering(lua_State *L, gr_context *c) {
  gr_future *f = gr_l_state_of(c)->gathering;
  return f && gr_l_number(L) == GR_GATHERS ? f : NULL;
}

/* Something is about to be written: what was gathered goes first. future: NULL if nothing is. */
void gr_l_before_output(lua_State *L, gr_context *, gr_future *);

/* A call that is to give a future: what an earlier one has left, which failed before it had one, is nobody's. */
void gr_l_later_begins(gr_context *);

/*
** {async = true}: push a future, to which its reduction is then added, and start it; or push one of the n values on
** top, which the work queued on q makes.
*/
gr_future *gr_l_push_later(lua_State *L, gr_context *);
void gr_l_start_later(lua_State *L, gr_context *, gr_future *);
int gr_l_later_values(lua_State *L, gr_context *, int n, gr_queue *q, const char *name);

/* Push the table of the results that a future at i has had from the start; 0 and nothing if there is none. */
int gr_l_push_future_values(lua_State *L, int i);

/*
** After all functions are in the module table on top: a table in the registry, GR_OWN(functions), of their names by
** function, among them the reductions, which gr.many knows; and the metatables.
*/
void gr_l_when_functions(lua_State *L, gr_context *, const gr_function *reductions);
void gr_l_when_metatables(lua_State *L);

#endif
