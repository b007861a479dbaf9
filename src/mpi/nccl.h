/*
** NCCL, which adds integers between the GPUs of several processes. It is loaded when ranks first join their devices:
** libnccl.so.2, or what GPUREDUCE_NCCL names (0: none). Where one rank has none, or another version, or two have the
** same GPU, the ranks' hosts add instead.
*/
#ifndef GR_MPI_NCCL_H
#define GR_MPI_NCCL_H

#include <mpi.h>
#include <stdint.h>

#include "src/core/ranks/comm.h"

/*
** What a rank tells the others of its GPU and its NCCL, whose version is 0 where it has none. tries: it has an init
** that does not wait.
*/
typedef struct gr_nccl_card {
  int32_t version, tries;
  uint8_t identity[GR_COMM_IDENTITY];
} gr_nccl_card;

/*
** A communicator of NCCL's of comm's ranks, on the current device: collective. cards: room for one of each rank.
** Returns 0, GR_COMM_APART on all ranks, or what MPI failed with. *joined, one that was made before or NULL, is given
** up for it.
*/
int gr_nccl_join(MPI_Comm comm, const uint8_t identity[GR_COMM_IDENTITY], gr_nccl_card *cards, void **joined);

/* As gr_comm_table.add_there. What NCCL fails with is a code of its own, which gr_nccl_words knows. */
int gr_nccl_add(void *joined, void *stream, uint64_t *values, int64_t count);

/* Gives *joined up, and what waits in streams for ranks that did not add. */
void gr_nccl_leave(void **joined);

/* The words for a code; NULL: it is none of NCCL's. */
const char *gr_nccl_words(int code);

/* The version that is loaded, as NCCL counts (22803 is 2.28.3); 0: none is, and why. */
int gr_nccl_version(const char **why);

#endif
