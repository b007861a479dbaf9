#define _GNU_SOURCE 1 /* memfd_create */
#include "src/mpi/shared.h"

#include <fcntl.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>
#include "src/core/pause.h"

#define MOST 8       /* ranks: each reads what all others have written */
#define PATIENCE 256 /* looks before others' work and MPI's own get their turn, */
#define BETWEEN 64   /* and then after every so many */
#define MESSAGE 8192 /* bytes: a leaf of the longest has no more */

/*
** Flag and data share a line, and what ranks have does not begin at the same place of a page, where loads would be
** taken for ones of what has been stored there.
*/
typedef struct slot {
  _Alignas(128) _Atomic uint64_t flag; /* the number of the gather that it is of */
  char data[GR_SHARED_GATHER + 256 - 8];
} slot;
typedef struct letter {
  _Alignas(128) _Atomic uint64_t flag; /* the number of the gather that comes next */
  char data[MESSAGE + 256 - 8];
} letter;
_Static_assert(sizeof(slot) % 4096 == 256 && sizeof(letter) % 4096 == 256, "places differ");

typedef struct memory {
  _Alignas(4096) char nonce[16];
  /* Of each rank for gathers of even and odd numbers: who has ended one has read the one before, so that may go. */
  slot slots[MOST][2];
  letter letters[MOST][MOST]; /* from, to */
} memory;

struct gr_shared {
  memory *memory;
  int rank, size;
  uint64_t round; /* gathers so far */
  struct {
    uint64_t sent, expected; /* the round in which a message went, and came, this way */
    const gr_message *went, *comes;
  } peer[MOST];
};

/* Who shares: the first rank's process and file. */
typedef struct place {
  int pid, file;
  char nonce[16];
} place;

static memory *map(int file) {
  void *at = mmap(NULL, sizeof(memory), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  return at == MAP_FAILED ? NULL : at;
}

static memory *make(place *p) {
  memory *m = NULL;
  p->pid = (int)getpid();
  p->file = memfd_create("gpureduce", MFD_CLOEXEC);
  if (p->file < 0) return NULL;
  if (getrandom(p->nonce, sizeof p->nonce, 0) == sizeof p->nonce && ftruncate(p->file, sizeof(memory)) == 0)
    m = map(p->file);
  if (m) memcpy(m->nonce, p->nonce, sizeof m->nonce);
  return m;
}

/* Ranks that do not see each other's processes may find another's file under that name, or none. */
static memory *find(const place *p) {
  static const char expected[] = "/memfd:gpureduce";
  char path[64], name[sizeof expected];
  struct stat s;
  memory *m = NULL;
  snprintf(path, sizeof path, "/proc/%d/fd/%d", p->pid, p->file);
  if (readlink(path, name, sizeof name) < (ssize_t)sizeof expected - 1 || memcmp(name, expected, sizeof expected - 1))
    return NULL;
  const int file = open(path, O_RDWR | O_CLOEXEC);
  if (file < 0) return NULL;
  if (fstat(file, &s) == 0 && s.st_size == (off_t)sizeof(memory)) m = map(file);
  close(file);
  if (m && memcmp(m->nonce, p->nonce, sizeof m->nonce)) munmap(m, sizeof *m), m = NULL;
  return m;
}

int gr_shared_open(MPI_Comm comm, int beside, gr_shared **out) {
  const char *said = getenv("GPUREDUCE_SHARED");
  place first = {0, -1, {0}};
  int there = 0, all = 0, rank = 0, size = 0;
  *out = NULL;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  if (size < 2 || size > MOST || beside != size) return MPI_SUCCESS; /* the same on all ranks */
  gr_shared *s = calloc(1, sizeof *s);
  if (s) *s = (gr_shared){.rank = rank, .size = size};
  if (s && rank == 0) s->memory = make(&first);
  int code = MPI_Bcast(&first, sizeof first, MPI_BYTE, 0, comm);
  if (code == MPI_SUCCESS && s && rank) s->memory = find(&first);
  there = s && s->memory && !(said && !strcmp(said, "0"));
  if (code == MPI_SUCCESS) code = MPI_Allreduce(&there, &all, 1, MPI_INT, MPI_MIN, comm);
  if (rank == 0 && first.file >= 0) close(first.file);
  if (code == MPI_SUCCESS && all) return *out = s, code;
  gr_shared_close(s);
  return code;
}

void gr_shared_close(gr_shared *s) {
  if (s && s->memory) munmap(s->memory, sizeof *s->memory);
  free(s);
}

/* MPI's messages move on only while somebody calls it, and the rank that is waited for may want this core. */
static int wait_for(_Atomic uint64_t *flag, uint64_t value, MPI_Comm comm) {
  for (int turn = 0, any; atomic_load_explicit(flag, memory_order_acquire) != value; turn++) {
    gr_pause();
    if (turn < PATIENCE) continue;
    turn = PATIENCE - BETWEEN;
    const int code = MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &any, MPI_STATUS_IGNORE);
    if (code != MPI_SUCCESS) return code;
    sched_yield();
  }
  return MPI_SUCCESS;
}

int gr_shared_gather(gr_shared *s, MPI_Comm comm, const void *mine, void *all, int64_t bytes) {
  const uint64_t round = ++s->round;
  slot *own = &s->memory->slots[s->rank][round % 2];
  memcpy(own->data, mine, (size_t)bytes);
  atomic_store_explicit(&own->flag, round, memory_order_release);
  for (int r = 0; r < s->size; r++) {
    slot *from = &s->memory->slots[r][round % 2];
    const int code = r == s->rank ? MPI_SUCCESS : wait_for(&from->flag, round, comm);
    if (code != MPI_SUCCESS) return code;
    memcpy((char *)all + r * bytes, r == s->rank ? mine : from->data, (size_t)bytes);
  }
  return MPI_SUCCESS;
}

/* Whoever has ended a gather after the last letter has taken that, so this one may lie in its place. */
int gr_shared_put(gr_shared *s, const gr_message *m) {
  if (m->bytes > MESSAGE || s->peer[m->peer].sent == s->round + 1) return 0;
  letter *to = &s->memory->letters[s->rank][m->peer];
  s->peer[m->peer].sent = s->round + 1;
  s->peer[m->peer].went = m;
  memcpy(to->data, m->data, (size_t)m->bytes);
  atomic_store_explicit(&to->flag, s->round + 1, memory_order_release);
  return 1;
}

int gr_shared_expect(gr_shared *s, const gr_message *m) {
  if (m->bytes > MESSAGE || s->peer[m->peer].expected == s->round + 1) return 0;
  s->peer[m->peer].expected = s->round + 1;
  s->peer[m->peer].comes = m;
  return 1;
}

int gr_shared_went(const gr_shared *s, const gr_message *m) { return s->peer[m->peer].went == m; }
int gr_shared_comes(const gr_shared *s, const gr_message *m) { return s->peer[m->peer].comes == m; }

int gr_shared_take(gr_shared *s, MPI_Comm comm) {
  int code = MPI_SUCCESS;
  for (int r = 0; r < s->size; r++) {
    const gr_message *m = s->peer[r].comes;
    s->peer[r].went = s->peer[r].comes = NULL;
    if (!m || code != MPI_SUCCESS) continue;
    letter *from = &s->memory->letters[r][s->rank];
    code = wait_for(&from->flag, s->round + 1, comm);
    if (code == MPI_SUCCESS) memcpy(m->data, from->data, (size_t)m->bytes);
  }
  return code;
}
