/*
** An MPI that fails, for who preloads it (spec/ranks_spec.lua): a digit of FAILING for each rank says which of its
** calls of MPI_Isend is the first to return an error instead of sending. A rank that sends something before is late.
** With FAILING_WAIT the first MPI_Waitall returns an error instead of waiting; who takes back what is still expected
** then says so.
*/
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int MPI_Isend(const void *data, int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm, MPI_Request *request) {
  static int calls;
  const char *failing = getenv("FAILING");
  int rank = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const int first = failing && rank < (int)strlen(failing) ? failing[rank] - '0' : 9;
  if (++calls >= first) return MPI_ERR_OTHER;
  if (calls == 1) usleep(300000);
  return PMPI_Isend(data, count, type, peer, tag, comm, request);
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
