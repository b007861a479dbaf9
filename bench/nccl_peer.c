/*
** What bench/ranks_nccl.lua compares with: NCCL's own allreduce of u64, waited for, on the GPU of this rank's place.
** gpureduce.mpi has started MPI.
*/
#include <cuda_runtime_api.h>
#include <lauxlib.h>
#include <lua.h>

#include "src/mpi/nccl.h"

static void check(lua_State *L, int code, const char *what) {
  if (code != 0) luaL_error(L, "%s: %d", what, code);
}

/* time(rank, count, calls): the seconds of one ncclAllReduce of so many u64, the mean of so many that follow each
   other, and, as the second result, where each is waited for. */
static int l_time(lua_State *L) {
  static void *joined;
  static cudaStream_t stream;
  const int rank = (int)luaL_checkinteger(L, 1), calls = (int)luaL_checkinteger(L, 3);
  const int64_t count = luaL_checkinteger(L, 2);
  uint64_t *values;
  check(L, (int)cudaSetDevice(rank), "cudaSetDevice");
  if (!joined) {
    static gr_nccl_card cards[64];
    const uint8_t identity[GR_COMM_IDENTITY] = {(uint8_t)(rank + 1)};
    check(L, gr_nccl_join(MPI_COMM_WORLD, identity, cards, &joined), "joining");
    check(L, (int)cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreate");
  }
  check(L, (int)cudaMalloc((void **)&values, (size_t)count * 8), "cudaMalloc");
  check(L, (int)cudaMemset(values, 0, (size_t)count * 8), "cudaMemset");
  check(L, (int)cudaDeviceSynchronize(), "waiting");
  for (int waits = 0; waits < 2; waits++) {
    MPI_Barrier(MPI_COMM_WORLD);
    const double began = MPI_Wtime();
    for (int k = 0; k < calls; k++) {
      check(L, gr_nccl_add(joined, stream, values, count), "ncclAllReduce");
      if (waits) check(L, (int)cudaStreamSynchronize(stream), "waiting");
    }
    check(L, (int)cudaStreamSynchronize(stream), "waiting");
    lua_pushnumber(L, (MPI_Wtime() - began) / calls);
  }
  check(L, (int)cudaFree(values), "cudaFree");
  return 2;
}

__attribute__((visibility("default"))) int luaopen_nccl_peer(lua_State *L);
int luaopen_nccl_peer(lua_State *L) {
  lua_pushcfunction(L, l_time);
  return 1;
}
