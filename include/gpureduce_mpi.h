/*
** A communicator of the host's for its scripts: gpureduce_mpi_push(L, comm) pushes one as gpureduce.mpi has them. For
** programs that use MPI themselves, and have called MPI_Init; docs/ranks.md tells how. C11 and C++17. Include mpi.h
** and lua.h first: this needs no library but those.
*/
#ifndef GPUREDUCE_MPI_H
#define GPUREDUCE_MPI_H

#include <stdint.h>

#define GPUREDUCE_MPI_MAJOR 1 /* goes up when something is no longer as it was */

/* In the registry of Lua, as soon as the state has required "gpureduce.mpi": a light userdata that points to: */
#define GPUREDUCE_MPI_TABLE "gpureduce.mpi.capi"
typedef struct gpureduce_mpi {
  uint32_t size; /* of this struct, as the module knows it; members are added at its end */
  uint16_t major, minor;
  uint32_t comm_bytes; /* of an MPI_Comm, in the MPI that the module was made with */
  const char *(*push)(lua_State *L, const void *comm);
} gpureduce_mpi;

/*
** Pushes a communicator of the same ranks as comm and returns NULL; or pushes nothing and returns why. The first time
** for each comm it is collective, since it makes a copy, whose messages meet none of the host's. comm stays the host's:
** its error handler is left alone, and with MPI_Comm_free of it the copy goes, too; what scripts still have of it then
** raises. As any push it needs a slot of the stack, and raises an error of Lua when Lua has no memory.
*/
static inline const char *gpureduce_mpi_push(lua_State *L, MPI_Comm comm) {
  const gpureduce_mpi *table;
  lua_getfield(L, LUA_REGISTRYINDEX, GPUREDUCE_MPI_TABLE);
  table = (const gpureduce_mpi *)lua_touserdata(L, -1);
  lua_pop(L, 1);
  if (!table) return "gpureduce.mpi is not loaded in this Lua state";
  if (table->major != GPUREDUCE_MPI_MAJOR || table->size < sizeof *table)
    return "gpureduce.mpi is of another version than gpureduce_mpi.h";
  if (table->comm_bytes != sizeof comm) return "gpureduce.mpi was made with another MPI than this program";
  return table->push(L, &comm);
}

#endif
