#include "src/core/source.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- blocks ---- */

char *gr_blocks_room(gr_blocks *b, size_t *room) {
  if (!b->last || b->last->used == GR_BLOCK_BYTES) {
    gr_block *more = malloc(sizeof *more + GR_BLOCK_BYTES);
    if (!more) return NULL;
    more->next = NULL;
    more->used = 0;
    if (b->last) b->last->next = more;
    else b->first = more;
    b->last = more;
  }
  *room = GR_BLOCK_BYTES - b->last->used;
  return b->last->bytes + b->last->used;
}

void gr_blocks_add(gr_blocks *b, size_t bytes) {
  b->last->used += bytes;
  b->bytes += (int64_t)bytes;
}

void gr_blocks_drop(gr_blocks *b) {
  gr_block *gone = b->first;
  b->first = gone->next;
  if (!b->first) b->last = NULL;
  b->bytes -= (int64_t)gone->used;
  free(gone);
}

void gr_blocks_free(gr_blocks *b) {
  while (b->first) gr_blocks_drop(b);
}

void gr_blocks_move(gr_blocks *b, void *to) {
  for (char *p = to; b->first; gr_blocks_drop(b)) {
    memcpy(p, b->first->bytes, b->first->used);
    p += b->first->used;
  }
}

/* ---- sources ---- */

/* No open waits for another end; a file that a lease keeps from those who would not wait is waited for. */
static int open_to_read(const char *path) {
  for (int way = O_NONBLOCK;;) {
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | way);
    if (fd < 0 && errno == EWOULDBLOCK && way) way = 0;
    else if (fd >= 0 || errno != EINTR) return fd;
  }
}

gr_status gr_source_open(gr_context *c, gr_source *s, const char *path) {
  struct stat st;
  s->context = c;
  s->since = gr_stop_note(&c->stop);
  s->bytes = -1;
  s->fd = open_to_read(path);
  if (s->fd < 0 || fstat(s->fd, &st) != 0) return GR_SYSTEM;
  if (S_ISDIR(st.st_mode)) return errno = EISDIR, GR_SYSTEM;
  s->regular = S_ISREG(st.st_mode);
  if (s->regular && st.st_size > 0) s->bytes = st.st_size;
  return GR_OK;
}

void gr_source_close(gr_source *s) {
  int error = errno;
  if (s->fd >= 0) close(s->fd);
  s->fd = -1;
  errno = error;
}

/* So many bytes at once, and from the first so many on a look before each read. */
#define PIECE ((size_t)16 << 20)
#define A_WHILE 20 /* milliseconds */

/* Until there is something to read: what a stream has, or its end. */
static gr_status wait_for_bytes(const gr_source *s) {
  struct pollfd p = {.fd = s->fd, .events = POLLIN};
  gr_status status = s->taken < (int64_t)PIECE ? GR_OK : gr_context_look(s->context);
  while (status == GR_OK && s->bytes < 0) {
    const int ready = poll(&p, 1, A_WHILE);
    if (ready > 0) break;
    if (ready < 0 && errno != EINTR) return GR_SYSTEM;
    status = gr_context_look(s->context);
  }
  return status;
}

gr_status gr_source_read(gr_source *s, void *to, size_t bytes, size_t *got) {
  gr_stop_resume(&s->context->stop, s->since);
  for (*got = 0; *got < bytes;) {
    const size_t rest = bytes - *got;
    gr_status status = wait_for_bytes(s);
    if (status != GR_OK) return status;
    const ssize_t n = read(s->fd, (char *)to + *got, rest < PIECE ? rest : PIECE);
    if (n < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (n < 0) return GR_SYSTEM;
    if (n == 0) break;
    *got += (size_t)n;
    s->taken += n;
  }
  return GR_OK;
}
