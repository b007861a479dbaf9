/*
** What every function of the module finds: it is a closure with three upvalues, the context, its own name (for error
** texts, the same for f(a) and a:f()), and a number that the function may use. The order in each: check all arguments,
** push the userdata that will own the result, call the core, raise.
**
** Any allocation of Lua's (a userdata, a table, a string, even a name to look an option up by) may run finalizers of
** the script, and these may call anything: release an operand, write to it, change the options table. Hence four rules:
** - options are read raw, and a string out of them is copied (gr_l_option_string);
** - a checked array stays an array, but may be released: its storage is then gr_released, and the core says so;
** - bare pointers (gr_vec) and copies of an array's struct are made and used between two allocations, or held by a
**   view of one's own (gr_l_hold);
** - what was found in an array's elements (a count, a range) and what relies on it happen in one call of the core.
*/
#ifndef GR_L_STATE_H
#define GR_L_STATE_H

#include "src/binding/compat.h"
#include "src/binding/own.h"

#define GR_VERSION "gpureduce 0.2.0"
#include "src/core/storage.h"

/* The core's context, and what belongs to one Lua state besides. */
typedef struct gr_l_state {
  gr_context core;             /* first, so that who has the context has this */
  int metatable;               /* of arrays: the reference to it, quicker to find than its name */
  int scopes, scoped;          /* scopes that are open, and arrays noted for them */
  int finalizing;              /* whether the innermost of them was opened by a finalizer */
  int collector, collecting;   /* the reference to a function that collects (results.c), and whether it is at work */
  size_t fresh;                /* bytes of results since the collector's last step for their sake */
  size_t gc_step_bytes;        /* how many must come before the next, if more than usual */
  int64_t timed;               /* when the Lua part that is at work began; 0: none is */
  struct gr_future *gathering; /* where reductions go instead of running: gr.async and gr.many set it around a call */
  const struct gr_function *reductions; /* those that gr.many calls */
  struct gr_orphan *orphans;            /* registry references that nobody needs any more (keeper.c) */
  int alike;    /* whether the last error of a call over ranks is one that all of them raise, in the same words */
  int importer; /* the reference to the protected half of gr.fromdlpack (dlpack.c) */
  struct gr_array *(*put_in_order)(lua_State *,
                                   int arg); /* of a transposed matrix: what lies as others do (matrix.c) */
} gr_l_state;

static inline gr_l_state *gr_l_state_of(gr_context *c) { return (gr_l_state *)c; }

/* The context, in a userdata of its own; that is empty once the state is closing, when finalizers may still call. */
static inline gr_context *gr_l_context(lua_State *L) {
  gr_context *c = *(gr_context **)lua_touserdata(L, lua_upvalueindex(1));
  if (!c) luaL_error(L, "gpureduce: the Lua state is closing");
  return c;
}
static inline const char *gr_l_name(lua_State *L) { return lua_tostring(L, lua_upvalueindex(2)); }
static inline lua_Integer gr_l_number(lua_State *L) { return lua_tointeger(L, lua_upvalueindex(3)); }

/* A call into the core: meanwhile it is known who calls, should it take long (stop.h). This is its end. */
static inline gr_status gr_l_called(gr_context *c, gr_status status) {
  c->stop.caller = NULL;
  c->stop.known = 0;
  if (status == GR_STOPPED) gr_storage_stopped(c);
  c->raw_count = 0;
  return status;
}

/* A call into the core whose operations may be left for later, if `on` is 1. */
#define GR_LATER(c, on, call) ((c)->later += (on), gr_l_later_until(c, on, call))
static inline gr_status gr_l_later_until(gr_context *c, int on, gr_status status) {
  c->later -= on;
  return status;
}
#endif
