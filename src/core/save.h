/*
** Files that are replaced whole: what is written goes beside the target, reaches the disk, and takes the target's name.
** Whoever opens the name sees the old bytes or the new ones, and a writer that fails or dies leaves the old ones. The
** file beside it has no name until all is written, where the system has such files: it is gone with its writers.
*/
#ifndef GR_SAVE_H
#define GR_SAVE_H

#include <stddef.h>
#include <sys/types.h>

#include "src/core/context.h"

typedef struct gr_writer {
  gr_context *context;
  gr_stop_since since;
  int64_t put;        /* bytes so far */
  int fd, folder;     /* folder: of the target, open; -1 where the target is written directly */
  char *path, *name;  /* the target, links followed, and its last part */
  char temporary[40]; /* beside the target; empty: the file has no name yet */
  int old;            /* there is a file to replace: the next three are its own */
  mode_t mode;
  uid_t owner;
  gid_t group;
} gr_writer;

/*
** These return 1, or 0 with errno, which gr_writer_failed makes a status of. Symbolic links are followed, and what is
** there and is no regular file (a terminal, a pipe, a device) is written directly. After a failure of open there is
** nothing to end; after one of put, gr_writer_end. A pipe may keep the writer waiting, who looks meanwhile whether the
** call is to stop, and so does the writer of a large file.
*/
int gr_writer_open(gr_context *, gr_writer *, const char *path);
int gr_writer_put(gr_writer *, const void *from, size_t bytes);

/* Where other processes of this machine find a file without a name; and gives it one, for those that cannot. */
#define GR_WRITER_PLACE 64
void gr_writer_place(pid_t, int fd, char place[GR_WRITER_PLACE]);
int gr_writer_name(gr_writer *);

/* keep: the file takes the target's name once it is on the disk. If not, or where that fails, it is removed. */
int gr_writer_end(gr_writer *, int keep);

/* GR_SYSTEM: errno says why; GR_STOPPED; or GR_NO_MEMORY, after which the caller collects garbage and tries again. */
gr_status gr_writer_failed(gr_context *);

/* All of it in one, for text that is there already. */
gr_status gr_save_bytes(gr_context *, const char *path, const void *from, size_t bytes);

#endif
