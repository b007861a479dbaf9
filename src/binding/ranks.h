/* What functions need that take {comm = comm}. */
#ifndef GR_L_RANKS_H
#define GR_L_RANKS_H

#include "src/binding/comm.h"
#include "src/binding/results.h"

/* The communicator in option 'comm' of the table at arg, left on the stack; NULL if there is none. */
gr_comm *gr_l_option_comm(lua_State *L, int arg);
gr_comm *gr_l_check_comm(lua_State *L, int arg);
void gr_l_comm_metatable(lua_State *L);

/*
** A call into the core of which each rank of comm does its part. It is not tried again where memory was short: all
** would have to.
*/
#define GR_TRY_RANKS(L, c, ranks, arg, call)                  \
  do {                                                        \
    gr_context *c_ = (c);                                     \
    if (!(ranks)) {                                           \
      GR_TRY(L, c_, arg, call);                               \
    } else {                                                  \
      c_->comm = (ranks);                                     \
      const gr_status status_ = GR_CALL(L, c_, call);         \
      c_->comm = NULL;                                        \
      if (status_ != GR_OK) gr_l_raise(L, c_, status_, arg);  \
    }                                                         \
  } while (0)

#endif
