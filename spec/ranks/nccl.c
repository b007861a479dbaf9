/*
** An NCCL for specs (GPUREDUCE_NCCL names it), on pretend devices, whose memory is the host's: MPI adds. FAKE_NCCL says
** what goes wrong: "version" rank 1 has another one, "id" there is none, "init" rank 1 cannot join, "late" it finds
** that out when others have begun to wait for it, which they would for ever; "add" nobody adds, "one" rank 1 does not,
** for which the others' devices would wait for ever: those say what ends that. OLD: it is one before NCCL 2.14.
*/
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAMED __attribute__((visibility("default")))

typedef struct nccl_id {
  char bytes[128];
} nccl_id;

typedef struct nccl_config {
  size_t size;
  unsigned magic, version;
  int blocking;
} nccl_config;

static int fails(const char *what, int rank) {
  const char *fails = getenv("FAKE_NCCL");
  int own = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &own);
  return fails && !strcmp(fails, what) && (rank < 0 || own == rank);
}

NAMED int ncclGetVersion(int *version) {
  *version = fails("version", 1) ? 22000 : 22803;
  return 0;
}

NAMED int ncclGetUniqueId(nccl_id *id) {
  memset(id, 7, sizeof *id);
  return fails("id", -1) ? 2 : 0;
}

/* A communicator; asked: how often somebody has asked how it stands, if it was made without waiting. */
typedef struct joined_ranks {
  int trial, asked;
} joined_ranks;

static int make(void **joined, const nccl_id *id, int trial) {
  *joined = NULL;
  if (id->bytes[127] != 7 || fails("init", 1)) return 3;
  joined_ranks *j = calloc(1, sizeof *j);
  if (j) j->trial = trial;
  *joined = j;
  return j ? 0 : 3;
}

/* It waits for all, as NCCL's does. */
NAMED int ncclCommInitRank(void **joined, int size, nccl_id id, int rank) {
  (void)size, (void)rank;
#ifndef OLD
  if (fails("init", -1) || fails("late", -1)) puts("an init that waits for ever"), fflush(stdout);
#endif
  return make(joined, &id, 0);
}

#ifndef OLD
NAMED int ncclCommInitRankConfig(void **joined, int size, nccl_id id, int rank, const nccl_config *config) {
  (void)size, (void)rank;
  if (config->size != 24 || config->magic != 0xcafebeef || config->version < 21400 || config->blocking) return 4;
  const int code = make(joined, &id, 1);
  return code ? code : 7;
}

NAMED int ncclCommGetAsyncError(void *joined, int *code) {
  joined_ranks *j = joined;
  *code = ++j->asked < 3 || fails("init", -1) ? 7 : 0;
  if (fails("late", -1)) *code = fails("late", 1) && j->asked > 2 ? 3 : 7;
  return 0;
}
#endif

NAMED int ncclAllReduce(const void *from, void *to, size_t count, int type, int op, void *joined, void *stream) {
  if (type != 5 || op != 0 || from != to || !joined || stream || fails("add", -1) || fails("one", 1)) return 4;
  if (fails("one", -1)) return 0;
  return MPI_Allreduce(MPI_IN_PLACE, to, (int)count, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD) ? 5 : 0;
}

NAMED int ncclCommDestroy(void *joined) { return free(joined), 0; }

NAMED int ncclCommAbort(void *joined) {
  if (fails("one", -1) && !((joined_ranks *)joined)->trial) puts("nobody waits for what is not added"), fflush(stdout);
  return free(joined), 0;
}

NAMED const char *ncclGetErrorString(int code) { return code == 4 ? "it is said to fail" : "unknown"; }
