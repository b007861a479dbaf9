#include "src/mpi/nccl.h"

#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Of nccl.h, which has been so since NCCL 2.0: a program built without that header runs where the library is. */
typedef struct nccl_id {
  char bytes[128];
} nccl_id;
enum { NCCL_UINT64 = 5, NCCL_SUM = 0, NCCL_IN_PROGRESS = 7 };

/* As of NCCL 2.14, which later ones read too: what a call that does not wait is told. */
typedef struct nccl_config {
  size_t size;
  unsigned magic, version;
  int blocking, unset; /* the next version's field begins here */
} nccl_config;
_Static_assert(sizeof(nccl_config) == 24, "as long as that of NCCL 2.14");

#define CODES (-1000) /* NCCL's code k is CODES - k here, as MPI's are above 0 */

static struct {
  int version;
  char why[256];
  int (*get_version)(int *version);
  int (*get_id)(nccl_id *);
  int (*init)(void **joined, int size, nccl_id, int rank);
  int (*all_reduce)(const void *from, void *to, size_t count, int type, int op, void *joined, void *stream);
  int (*destroy)(void *joined);
  int (*abandon)(void *joined);
  const char *(*words)(int code);
  /* Since NCCL 2.14: an init that does not wait, and how it stands. */
  int (*begin)(void **joined, int size, nccl_id, int rank, nccl_config *);
  int (*state)(void *joined, int *code);
} nccl;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void load(void) {
  const struct {
    const char *name;
    void *to;
    int may_lack;
  } functions[] = {{"ncclGetVersion", &nccl.get_version, 0}, {"ncclGetUniqueId", &nccl.get_id, 0},
                   {"ncclCommInitRank", &nccl.init, 0},      {"ncclAllReduce", &nccl.all_reduce, 0},
                   {"ncclCommDestroy", &nccl.destroy, 0},    {"ncclCommAbort", &nccl.abandon, 0},
                   {"ncclGetErrorString", &nccl.words, 0},   {"ncclCommInitRankConfig", &nccl.begin, 1},
                   {"ncclCommGetAsyncError", &nccl.state, 1}};
  const char *name = getenv("GPUREDUCE_NCCL");
  if (name && !strcmp(name, "0")) {
    snprintf(nccl.why, sizeof nccl.why, "GPUREDUCE_NCCL is 0");
    return;
  }
  void *library = dlopen(name && *name ? name : "libnccl.so.2", RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    const char *error = dlerror();
    snprintf(nccl.why, sizeof nccl.why, "%s", error ? error : "NCCL does not load");
    return;
  }
  for (size_t k = 0; k < sizeof functions / sizeof functions[0]; k++) {
    void *function = dlsym(library, functions[k].name);
    if (!function && functions[k].may_lack) continue;
    if (!function) {
      snprintf(nccl.why, sizeof nccl.why, "NCCL has no %s", functions[k].name);
      return;
    }
    memcpy(functions[k].to, &function, sizeof function);
  }
  if (nccl.get_version(&nccl.version) != 0 || nccl.version <= 0) {
    nccl.version = 0;
    snprintf(nccl.why, sizeof nccl.why, "NCCL does not tell its version");
  }
}

int gr_nccl_version(const char **why) {
  pthread_once(&once, load); /* scripts of several threads may ask for it */
  *why = nccl.why;
  return nccl.version;
}

/* Whether all have the same NCCL, and each a GPU of its own. */
static int can_join(const gr_nccl_card *cards, int size) {
  static const uint8_t nothing[GR_COMM_IDENTITY];
  for (int r = 0; r < size; r++) {
    if (cards[r].version == 0 || cards[r].version != cards[0].version || cards[r].tries != cards[0].tries) return 0;
    if (!memcmp(cards[r].identity, nothing, sizeof nothing)) return 0;
    for (int s = 0; s < r; s++)
      if (!memcmp(cards[r].identity, cards[s].identity, sizeof nothing)) return 0;
  }
  return 1;
}

/* An id of rank 0's for all; *failed: there is none. */
static int share_id(MPI_Comm comm, int rank, nccl_id *id, int *failed) {
  struct {
    int failed;
    nccl_id id;
  } first = {1, {{0}}};
  if (rank == 0) first.failed = nccl.get_id(&first.id);
  const int code = MPI_Bcast(&first, sizeof first, MPI_BYTE, 0, comm);
  *id = first.id;
  *failed = first.failed;
  return code;
}

/*
** Whether all ranks can join. One that cannot leaves the others waiting in an init of NCCL, so it is tried first by one
** that does not wait: ranks tell one another how theirs stands until all have joined or one has failed. That
** communicator is given up, since all that is added by it would take the ways of calls that do not wait. *failed: what
** the worst has come to.
*/
static int try_join(MPI_Comm comm, int size, int rank, int *failed) {
  enum { DONE, UNDER_WAY, FAILED };
  nccl_config config = {sizeof config, 0xcafebeef, 21400, 0, INT_MIN};
  nccl_id id;
  void *trial = NULL;
  int code = share_id(comm, rank, &id, failed), worst = UNDER_WAY;
  if (code != MPI_SUCCESS || *failed) return code;
  int state = nccl.begin(&trial, size, id, rank, &config);
  while (code == MPI_SUCCESS && worst == UNDER_WAY) {
    if (state == NCCL_IN_PROGRESS && nccl.state(trial, &state) != 0) state = NCCL_IN_PROGRESS + 1;
    const int own = state == 0 ? DONE : state == NCCL_IN_PROGRESS ? UNDER_WAY : FAILED;
    code = MPI_Allreduce(&own, &worst, 1, MPI_INT, MPI_MAX, comm);
    if (worst == UNDER_WAY) usleep(1000);
  }
  if (trial) nccl.abandon(trial);
  *failed = worst != DONE;
  return code;
}

int gr_nccl_join(MPI_Comm comm, const uint8_t identity[GR_COMM_IDENTITY], gr_nccl_card *cards, void **joined) {
  gr_nccl_card mine;
  nccl_id id;
  const char *why;
  int rank = 0, size = 1, failed = 0;
  memset(&mine, 0, sizeof mine);
  mine.version = gr_nccl_version(&why);
  mine.tries = nccl.begin && nccl.state;
  memcpy(mine.identity, identity, sizeof mine.identity);
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  int code = MPI_Allgather(&mine, sizeof mine, MPI_BYTE, cards, sizeof mine, MPI_BYTE, comm);
  if (code != MPI_SUCCESS || !can_join(cards, size)) return code != MPI_SUCCESS ? code : GR_COMM_APART;
  if (*joined) nccl.destroy(*joined); /* of devices that ranks had before */
  *joined = NULL;
  if (cards[0].tries) code = try_join(comm, size, rank, &failed);
  if (code == MPI_SUCCESS && !failed) code = share_id(comm, rank, &id, &failed);
  if (code != MPI_SUCCESS || failed) return code != MPI_SUCCESS ? code : GR_COMM_APART;
  const int own = nccl.init(joined, size, id, rank) != 0;
  code = MPI_Allreduce(&own, &failed, 1, MPI_INT, MPI_MAX, comm);
  if (code == MPI_SUCCESS && !failed) return 0;
  if (!own) nccl.abandon(*joined);
  *joined = NULL;
  return code != MPI_SUCCESS ? code : GR_COMM_APART;
}

int gr_nccl_add(void *joined, void *stream, uint64_t *values, int64_t count) {
  const int code = nccl.all_reduce(values, values, (size_t)count, NCCL_UINT64, NCCL_SUM, joined, stream);
  return code == 0 ? 0 : CODES - code;
}

void gr_nccl_leave(void **joined) {
  if (*joined) nccl.abandon(*joined);
  *joined = NULL;
}

const char *gr_nccl_words(int code) { return code < CODES && nccl.words ? nccl.words(CODES - code) : NULL; }
