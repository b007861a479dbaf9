/*
** A communicator as the core sees it: how many ranks there are, and how bytes get from one to the others. Whoever moves
** them (src/mpi/mpi.c does it by MPI) fills in the table of functions; nothing here knows of MPI. All functions but
** post, await and add_there are collective, and return 0 or a code that `words` puts into words. Bytes are moved and
** integers added; no function adds floats, whose order is the core's affair.
*/
#ifndef GR_RANKS_COMM_H
#define GR_RANKS_COMM_H

#include <stddef.h>
#include <stdint.h>

struct gr_backend;

#define GR_COMM_VERSION 3

/* What `join` gives, on all ranks, where their devices cannot be joined: no failure, the host adds instead. */
#define GR_COMM_APART (-100)

/* Bytes that tell a device from all others, as a UUID; all zeros: no device that others can work with. */
#define GR_COMM_IDENTITY 16

/* Bytes that go to a peer, or come from it. */
typedef struct gr_message {
  int peer;
  void *data;
  int64_t bytes;
} gr_message;

typedef struct gr_comm_table {
  int version;
  /* all: `bytes` of each rank, in their order. */
  int (*gather)(void *handle, const void *mine, void *all, int64_t bytes);
  /* The same of different lengths, which all ranks know. */
  int (*gather_parts)(void *handle, const void *mine, void *all, const int64_t *bytes);
  /*
  ** Every message sent meets one that is expected: of two between the same peers in their order. post begins that, and
  ** await, which follows it whatever either returns, ends it: until then both lists and the memory of all messages are
  ** lent, and no other function is called.
  */
  int (*post)(void *handle, const gr_message *sent, int64_t sends, const gr_message *expected, int64_t receipts);
  int (*await)(void *handle);
  /* values become their sums over all ranks, modulo 2^64. */
  int (*add)(void *handle, uint64_t *values, int64_t count);
  int (*broadcast)(void *handle, void *data, int64_t bytes, int root);
  int (*barrier)(void *handle);
  /* The communicator of the ranks that name the same colour, in the order of key, then of rank. */
  int (*split)(void *handle, int colour, int key, void **part, int *rank, int *size);
  /*
  ** Of devices; all NULL: there is no way from one to another. join: the device that is current, whose identity no
  ** other has, becomes this rank's part of what add_there works on, if all can be joined. add_there: as add, of values
  ** in that device's memory and in the order of its stream, so it may return before they are added; every rank of the
  ** communicator calls it, and where one cannot, all of them leave: what they wait for in their streams ends.
  */
  int (*join)(void *handle, const uint8_t identity[GR_COMM_IDENTITY]);
  int (*add_there)(void *handle, void *stream, uint64_t *values, int64_t count);
  void (*leave)(void *handle);
  void (*drop)(void *handle);
  void (*words)(int code, char *text, size_t room);
} gr_comm_table;

/*
** What each rank says as a call begins, and which text goes with it if there is a mistake. A rank that guesses where
** its part begins sends its states along: where all have guessed right, no other message is needed.
*/
#define GR_CARD_FIELDS 10
typedef struct gr_card {
  int64_t n;                       /* elements that it has, of each vector */
  int64_t width;                   /* how many vectors; 0: it has no elements, and cannot know */
  uint64_t what;                   /* a digest of what it calls */
  int64_t failed;                  /* a gr_status: 0, or why it cannot take part */
  int64_t low, all;                /* the guess: where its part begins, and the length of all; all < 0: none */
  uint64_t fields[GR_CARD_FIELDS]; /* of the states of its nodes, as in a message */
} gr_card;
#define GR_CARD_TEXT 256

typedef struct gr_comm {
  const gr_comm_table *table;
  void *handle; /* NULL: it has been closed */
  int rank, size;
  /* Room for each rank's card and text, and where each rank's elements begin: allocated with the communicator, so that
     no rank stays away from a call because it has no memory to say so. */
  gr_card *cards;
  char *texts;
  int64_t *starts;  /* size + 1 */
  int64_t *lengths; /* size: bytes that each rank sends */
  int64_t *before;  /* size + 1: starts of the last number, which the next one guesses; negative: there was none */
  int64_t width;    /* of the call at work: how many vectors */
  const struct gr_backend *device; /* that was joined last, or was to be */
  int joined;                      /* which came to something */
  int mirrored;                    /* of the call at work: starts count from the other end, and so do ranks */
} gr_comm;

#endif
