/* Reading in pieces: files, and streams whose length is not known before. */
#ifndef GR_SOURCE_H
#define GR_SOURCE_H

#include "src/core/context.h"

/* A list of blocks for bytes of unknown number; each block holds whole elements of any dtype. */
#ifndef GR_BLOCK_BYTES
#define GR_BLOCK_BYTES ((size_t)1 << 20)
#endif
typedef struct gr_block {
  struct gr_block *next;
  size_t used;
  char bytes[];
} gr_block;
typedef struct gr_blocks {
  gr_block *first, *last;
  int64_t bytes;
} gr_blocks;

/* Where the next bytes go, and how many fit; NULL: no memory. gr_blocks_add then says how many there were. */
char *gr_blocks_room(gr_blocks *, size_t *room);
void gr_blocks_add(gr_blocks *, size_t bytes);
/* Copies all of them and frees them. */
void gr_blocks_move(gr_blocks *, void *to);
void gr_blocks_drop(gr_blocks *); /* frees the first block */
void gr_blocks_free(gr_blocks *);

/*
** A file to read from its start. What has no size of its own (a pipe, a device, the files of /proc) is a stream: it is
** read to its end, and that may be no further than GR_STREAM_LIMIT. It may keep the reader waiting, who looks meanwhile
** whether the call is to stop, and so does the reader of a large file.
*/
#define GR_STREAM_LIMIT ((int64_t)256 << 20)
typedef struct gr_source {
  int fd, regular;
  int64_t bytes; /* -1: a stream */
  int64_t taken; /* bytes so far */
  gr_context *context;
  gr_stop_since since;
} gr_source;

gr_status gr_source_open(gr_context *, gr_source *, const char *path); /* GR_SYSTEM: errno says why */
void gr_source_close(gr_source *);                                     /* errno stays what it is */
/* Reads on until there are so many bytes, or the end; got: how many there are. */
gr_status gr_source_read(gr_source *, void *to, size_t bytes, size_t *got);

#endif
