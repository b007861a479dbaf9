/* New arrays, the byte budget, and calls into the core that may fail. */
#ifndef GR_L_RESULTS_H
#define GR_L_RESULTS_H

#include "src/binding/state.h"
#include "src/core/array.h"

/* A released array with its metatable, on the stack: ready to own what the core makes. */
gr_array *gr_l_push_array(lua_State *L);
gr_array *gr_l_push_array_of(lua_State *L, gr_l_state *); /* the same where no closure of the module runs */
/* A view of all of a that nobody else knows of, on the stack: holds the data while Lua allocates. */
gr_array *gr_l_hold(lua_State *L, const gr_array *a);
/* n zeros; collects first when the budget says so. */
gr_array *gr_l_new_array(lua_State *L, gr_context *, gr_dtype, int64_t n);
/* The same on the device of a (NULL: the present one): what results of a are made with. */
gr_array *gr_l_new_beside(lua_State *L, gr_context *, const gr_array *a, gr_dtype, int64_t n);
/* The same of a's length and shape. */
gr_array *gr_l_new_like(lua_State *L, gr_context *, const gr_array *a, gr_dtype);
/*
** Collects when so many bytes more would pass the budget; of an array of that length, if one can be so long. Before the
** array is there: a step of the collector that it survives would be the first of the two that make it old.
*/
void gr_l_reserve(lua_State *L, gr_context *, size_t bytes);
void gr_l_reserve_array(lua_State *L, gr_context *, gr_dtype, int64_t n);
void gr_l_can_collect(lua_State *L, gr_context *); /* a new context */

/* After GR_NO_MEMORY: collect garbage and empty the pool; the caller tries once more, as GR_AGAIN does. */
void gr_l_reclaim(lua_State *L, gr_context *);
/*
** After a failure: whether the call may do better now. Memory has been reclaimed; or the device was lost, and of the
** arrays on the stack those that the host has whole have become the CPU's.
*/
int gr_l_again(lua_State *L, gr_context *, gr_status);
/* Raise what a failed core function said; arg: whose fault GR_BAD is. Does not return. */
int gr_l_raise(lua_State *L, gr_context *, gr_status, int arg);

#define GR_CALL(L, c, call) ((c)->stop.caller = (L), (c)->raw_count = 0, gr_l_called(c, call))

/* A call that may get a second chance: status becomes what came of it at last. */
#define GR_AGAIN(L, c, status, call)                                                   \
  do {                                                                                 \
    (status) = GR_CALL(L, c, call);                                                    \
    if ((status) != GR_OK && gr_l_again(L, c, status)) (status) = GR_CALL(L, c, call); \
  } while (0)

#define GR_TRY(L, c, arg, call)                            \
  do {                                                     \
    gr_context *c_ = (c);                                  \
    gr_status status_;                                     \
    GR_AGAIN(L, c_, status_, call);                        \
    if (status_ != GR_OK) gr_l_raise(L, c_, status_, arg); \
  } while (0)

#endif
