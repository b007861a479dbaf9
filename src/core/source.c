#include "src/core/source.h"

#include <errno.h>
#include <fcntl.h>
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

gr_status gr_source_open(gr_source *s, const char *path) {
  struct stat st;
  s->bytes = -1;
  do s->fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
  while (s->fd < 0 && errno == EINTR);
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

gr_status gr_source_read(const gr_source *s, void *to, size_t bytes, size_t *got) {
  for (*got = 0; *got < bytes;) {
    size_t rest = bytes - *got;
    ssize_t n = read(s->fd, (char *)to + *got, rest < ((size_t)1 << 30) ? rest : (size_t)1 << 30);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return GR_SYSTEM;
    if (n == 0) break;
    *got += (size_t)n;
  }
  return GR_OK;
}
