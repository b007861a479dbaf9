/*
** An MPI that fails, for who preloads it (spec/ranks_spec.lua): a digit of FAILING for each rank says which of its
** calls of MPI_Isend is the first to return an error instead of sending. A rank that sends something before is late.
** With FAILING_WAIT the first MPI_Waitall returns an error instead of waiting; who takes back what is still expected
** then says so. NO_GATHER: MPI_Allgather always fails. KILLED is the rank that is killed as it brings a file to the
** disk; NO_TMPFILE: files without a name are unknown; NO_PROC: rank 1 sees no files of other processes; NO_LINK: files
** get no names by links.
*/
#define _GNU_SOURCE 1
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <mpi.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int MPI_Isend(const void *data, int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm, MPI_Request *request) {
  static int calls;
  const char *failing = getenv("FAILING");
  int rank = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const int first = failing && rank < (int)strlen(failing) ? failing[rank] - '0' : INT_MAX;
  if (++calls >= first) return MPI_ERR_OTHER;
  if (failing && calls == 1) usleep(300000);
  return PMPI_Isend(data, count, type, peer, tag, comm, request);
}

int MPI_Allgather(const void *mine, int count, MPI_Datatype type, void *all, int each, MPI_Datatype of, MPI_Comm comm) {
  if (getenv("NO_GATHER")) return MPI_ERR_OTHER;
  return PMPI_Allgather(mine, count, type, all, each, of, comm);
}

#define NAMED __attribute__((visibility("default")))

static int is_rank(const char *name) {
  const char *said = getenv(name), *own = getenv("OMPI_COMM_WORLD_RANK");
  return said && own && atoi(said) == atoi(own);
}

NAMED int fsync(int fd) {
  int (*real)(int) = (int (*)(int))dlsym(RTLD_NEXT, "fsync");
  if (is_rank("KILLED")) kill(getpid(), SIGKILL);
  return real(fd);
}

NAMED int open(const char *path, int flags, ...) {
  int (*real)(const char *, int, ...) = (int (*)(const char *, int, ...))dlsym(RTLD_NEXT, "open");
  va_list rest;
  va_start(rest, flags);
  const int mode = va_arg(rest, int);
  va_end(rest);
  if (is_rank("NO_PROC") && strstr(path, "/fd/")) return errno = EACCES, -1;
  return real(path, flags, mode);
}

NAMED int openat(int folder, const char *path, int flags, ...) {
  int (*real)(int, const char *, int, ...) = (int (*)(int, const char *, int, ...))dlsym(RTLD_NEXT, "openat");
  va_list rest;
  va_start(rest, flags);
  const int mode = va_arg(rest, int);
  va_end(rest);
  if (getenv("NO_TMPFILE") && (flags & O_TMPFILE) == O_TMPFILE) return errno = EOPNOTSUPP, -1;
  return real(folder, path, flags, mode);
}

NAMED int linkat(int from, const char *path, int folder, const char *name, int flags) {
  typedef int link_function(int, const char *, int, const char *, int);
  if (getenv("NO_LINK")) return errno = EPERM, -1;
  return ((link_function *)dlsym(RTLD_NEXT, "linkat"))(from, path, folder, name, flags);
}

static int waits;

int MPI_Waitall(int count, MPI_Request requests[], MPI_Status statuses[]) {
  if (getenv("FAILING_WAIT") && waits++ == 0) return MPI_ERR_IN_STATUS;
  return PMPI_Waitall(count, requests, statuses);
}

int MPI_Cancel(MPI_Request *request) {
  int rank = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (waits) printf("rank %d expects nothing any more\n", rank), fflush(stdout);
  return PMPI_Cancel(request);
}
