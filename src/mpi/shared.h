/*
** Memory that the ranks of a communicator share, if all are processes of one host and few: what is short goes that way,
** since MPI looks at all of its devices in each call. Which way something goes both sides know from its length and from
** what went before, so nobody asks. Where there is no such memory everything goes by MPI.
*/
#ifndef GR_MPI_SHARED_H
#define GR_MPI_SHARED_H

#include <mpi.h>
#include <stdint.h>

#include "src/core/ranks/comm.h"

typedef struct gr_shared gr_shared;

/*
** Collective. beside: how many ranks of comm are on this host. NULL on all ranks if one cannot have it, or
** GPUREDUCE_SHARED is 0 on one. Returns what MPI has failed with.
*/
int gr_shared_open(MPI_Comm comm, int beside, gr_shared **);
void gr_shared_close(gr_shared *); /* of one rank alone; NULL: nothing */

/* The communicator's gather (comm.h): gathers of at most so many bytes a rank, all of which go this way. */
#define GR_SHARED_GATHER 4096
int gr_shared_gather(gr_shared *, MPI_Comm comm, const void *mine, void *all, int64_t bytes);

/*
** Messages (post and await of comm.h): whether one goes this way, which it has then, or comes, which gr_shared_take
** waits for. Between two gathers one from each rank to each other does.
*/
int gr_shared_put(gr_shared *, const gr_message *sent);
int gr_shared_expect(gr_shared *, const gr_message *expected);
int gr_shared_went(const gr_shared *, const gr_message *sent);
int gr_shared_comes(const gr_shared *, const gr_message *expected);
int gr_shared_take(gr_shared *, MPI_Comm comm);

#endif
