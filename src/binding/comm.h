/*
** Communicators: objects of this module that a module of its own, gpureduce.mpi, fills with life. What it needs for
** that lies in the registry, as a light userdata under the name below.
*/
#ifndef GR_L_COMM_H
#define GR_L_COMM_H

#include "src/binding/compat.h"
#include "src/core/ranks/comm.h"

#define GR_COMM_NAME "gpureduce.comm"
#define GR_COMM_EXPORTS "gpureduce.comm.exports"

typedef struct gr_comm_exports {
  int version; /* GR_COMM_VERSION, which its other members are of */
  /* Pushes a communicator, which owns the handle that `hold` gives of `with`; NULL: there was no memory for it. All of
     Lua's own memory is there before that, so that no error leaves a handle behind. */
  int (*push)(lua_State *L, const gr_comm_table *, void *(*hold)(void *with, int *rank, int *size), void *with);
  /* Raises where the host lets scripts have no communicator. */
  void (*allowed)(lua_State *L, const char *name);
  /* Says which of its host's ranks this is, from 0: which GPU it takes, if nothing has chosen one before. */
  void (*placed)(lua_State *L, int local);
} gr_comm_exports;

#endif
