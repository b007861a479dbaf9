/* What functions need that take {comm = comm}. */
#ifndef GR_L_RANKS_H
#define GR_L_RANKS_H

#include "src/binding/comm.h"
#include "src/binding/expression.h"
#include "src/binding/results.h"
#include "src/core/missing.h"
#include "src/core/ops.h"
#include "src/core/ranks/meet.h"

/* The communicator in option 'comm' of the table at arg, left on the stack; NULL if there is none. */
gr_comm *gr_l_option_comm(lua_State *L, int arg);
gr_comm *gr_l_check_comm(lua_State *L, int arg);
/* Raises: what does not go with 'comm', and what to write for it. Does not return. */
int gr_l_refuse_with_comm(lua_State *L, int arg, const char *other);
void gr_l_comm_metatable(lua_State *L);

/* Raises what a call failed of that all ranks took part in, in words that are the same on all. Does not return. */
int gr_l_raise_alike(lua_State *L, gr_context *, gr_status);

/*
** A call into the core of which each rank of comm does its part. It is not tried again where memory was short: all
** would have to.
*/
#define GR_TRY_RANKS(L, c, ranks, arg, call)                     \
  do {                                                           \
    if (!(ranks)) {                                              \
      GR_TRY(L, c, arg, call);                                   \
    } else {                                                     \
      const gr_status alike_ = GR_CALL_RANKS(L, c, ranks, call); \
      if (alike_ != GR_OK) gr_l_raise_alike(L, c, alike_);       \
    }                                                            \
  } while (0)

/* What came of such a call; who makes it says what follows. */
#define GR_CALL_RANKS(L, c, ranks, call) ((c)->comm = (ranks), gr_l_parted(c, GR_CALL(L, c, call)))
static inline gr_status gr_l_parted(gr_context *c, gr_status status) { return c->comm = NULL, status; }

/* Where a rank cannot even begin, all ranks of comm hear of it. Raises as on them. Does not return. */
int gr_l_stay_away(lua_State *L, gr_context *, gr_comm *, int arg, gr_status);

/* As GR_TRY_WITH, of what is done by itself before ranks meet in a call, where that goes over ranks. */
#define GR_TRY_BEFORE(L, c, ranks, arg, e, f, call)                                                \
  do {                                                                                             \
    gr_context *c_ = (c);                                                                          \
    gr_status status_ = GR_CALL(L, c_, call);                                                      \
    if (status_ != GR_OK && gr_l_again_with(L, c_, status_, e, f)) status_ = GR_CALL(L, c_, call); \
    if (status_ != GR_OK && (ranks)) gr_l_stay_away(L, c_, ranks, arg, status_);                   \
    if (status_ != GR_OK) gr_l_raise(L, c_, status_, arg);                                         \
  } while (0)

/* What each rank does by itself after ranks have met in a call: where it fails on one, all hear of it. */
#define GR_TRY_AFTER(L, c, ranks, arg, call)                              \
  do {                                                                    \
    if (!(ranks)) {                                                       \
      GR_TRY(L, c, arg, call);                                            \
    } else {                                                              \
      gr_context *after_ = (c);                                           \
      const gr_status mine_ = GR_CALL(L, after_, call);                   \
      GR_TRY_RANKS(L, after_, ranks, arg, gr_ranks_agree(after_, mine_)); \
    }                                                                     \
  } while (0)

/*
** A new array before ranks meet (comm NULL: of one process), on the device of `beside` or (NULL) the present one. Where
** a rank has no room for its own, all hear of it.
*/
gr_array *gr_l_new_part(lua_State *L, gr_context *, gr_comm *, const gr_array *beside, gr_dtype, int64_t n);

/*
** Pushes a reduction over comm's ranks, of which the arrays are this one's parts; of positions the rank that has them,
** too. options: the argument whose fault it is if that is not served; kept: the axis that keepdims keeps, or 0.
*/
int gr_l_push_ranks(lua_State *L, gr_context *, gr_comm *, const gr_partial_reduction *, int options, int kept);

/*
** The quick way of a reduction of one or two whole arrays, with a table at `options` that has {comm = comm} and nothing
** else. Returns how many results there are; 0: the call is none of these.
*/
int gr_l_push_over_ranks(lua_State *L, gr_context *, gr_op, const gr_array *a, const gr_array *b, int options);

/*
** An item of gr.many that has a name, the one or two arrays that it takes, and so much `more`; what it takes from the
** stack stays there. 0: it is something else. operations: where the table of operations by name is.
*/
int gr_l_read_item(lua_State *L, int item, int more, int operations, gr_ranks_wanted *);

/*
** Computes the n items of gr.many, a list at 1, if all are {name, arrays, {comm = comm}} with one communicator. Returns
** how many results there are, or -1. operations: where the table of operations by name is.
*/
int gr_l_many_ranks(lua_State *L, gr_context *, int n, int operations);

#endif
