#include "src/core/file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/core/ranks/meet.h"
#include "src/core/ranks/nodes.h"
#include "src/core/save.h"

int gr_file_is_npy(const char *path) {
  const size_t n = strlen(path);
  return n >= 4 && !strcmp(path + n - 4, ".npy");
}

/* ---- pieces ---- */

/* Reads exactly bytes, or sets errno (a file that shrinks meanwhile reads as EIO). */
static gr_status read_all(gr_source *s, void *to, size_t bytes) {
  size_t got;
  gr_status status = gr_source_read(s, to, bytes, &got);
  if (status == GR_OK && got < bytes) return errno = EIO, GR_SYSTEM;
  return status;
}

/* At most so many bytes of a stream into blocks. */
static gr_status read_blocks(gr_context *c, gr_source *s, gr_blocks *b, int64_t most) {
  size_t room, got = 1;
  while (got && b->bytes < most) {
    char *to = gr_blocks_room(b, &room);
    if (!to) return gr_fail(c, GR_NO_MEMORY, "out of memory: reading a stream");
    if ((int64_t)room > most - b->bytes) room = (size_t)(most - b->bytes);
    gr_status status = gr_source_read(s, to, room, &got);
    if (status != GR_OK) return status;
    gr_blocks_add(b, got);
  }
  return GR_OK;
}

/* ---- loading ---- */

/* A lying length must not cost memory: no more of a header is read than the limit, and the parser says why not. */
static gr_status read_header(gr_context *c, gr_load *l) {
  unsigned char first[12] = {0}, *b = NULL;
  size_t have, more = 0, header = 0;
  gr_status status = gr_source_read(&l->source, first, 10, &have);
  if (status == GR_OK && have == 10 && first[6] > 1) status = gr_source_read(&l->source, first + 10, 2, &more);
  have += more;
  if (status == GR_OK && have >= 10) header = gr_npy_header_bytes(first);
  if (header > GR_NPY_HEADER_LIMIT || header < have) header = have; /* as much as the parser needs to refuse it */
  if (status == GR_OK && !(b = malloc(header ? header : 1)))
    return gr_fail(c, GR_NO_MEMORY, "out of memory: reading a header");
  if (status == GR_OK) memcpy(b, first, have);
  if (status == GR_OK) status = gr_source_read(&l->source, b + have, header - have, &more);
  if (status == GR_OK) status = gr_npy_parse(c, b, have + more, l->source.bytes, &l->header);
  free(b);
  l->dtype = l->header.dtype;
  l->offset = l->header.data_offset;
  l->count = l->header.n;
  return status;
}

/* What a stream holds after an NPY header, which must be what that says. */
static gr_status npy_stream(gr_context *c, gr_load *l) {
  int64_t promised = l->count * gr_size(l->dtype);
  if (promised > GR_STREAM_LIMIT)
    return gr_fail(c, GR_BAD,
                   "its header promises %" PRId64 " bytes; of what is no file of its own, at most %" PRId64 " are read",
                   promised, GR_STREAM_LIMIT);
  gr_status status = read_blocks(c, &l->source, &l->blocks, promised + 1);
  return status == GR_OK ? gr_npy_fits(c, &l->header, l->blocks.bytes, 1) : status;
}

/* As many bytes of a stream as are to be skipped. */
static gr_status skip(gr_context *c, gr_load *l) {
  char buffer[4096];
  if (l->offset > GR_STREAM_LIMIT)
    return gr_fail(c, GR_BAD,
                   "of what is no file of its own, at most %" PRId64 " bytes are skipped, offset %" PRId64 " asked",
                   GR_STREAM_LIMIT, l->offset);
  for (int64_t left = l->offset; left > 0;) {
    size_t got, want = left < (int64_t)sizeof buffer ? (size_t)left : sizeof buffer;
    gr_status status = gr_source_read(&l->source, buffer, want, &got);
    if (status != GR_OK) return status;
    left -= (int64_t)got;
    if (got < want)
      return gr_fail(c, GR_BAD, "offset %" PRId64 " is past the end of the file (%" PRId64 " bytes)", l->offset,
                     l->offset - left);
  }
  return GR_OK;
}

static gr_status raw_stream(gr_context *c, gr_load *l) {
  int64_t size = gr_size(l->dtype);
  gr_status status = skip(c, l);
  if (status != GR_OK || l->count >= 0) return status; /* so many: they are read where they belong */
  status = read_blocks(c, &l->source, &l->blocks, GR_STREAM_LIMIT + 1);
  if (status != GR_OK) return status;
  if (l->blocks.bytes > GR_STREAM_LIMIT)
    return gr_fail(c, GR_BAD,
                   "no end after %" PRId64 " bytes: of what is no file of its own, no more are read without 'count'",
                   GR_STREAM_LIMIT);
  l->count = l->blocks.bytes / size;
  if (l->blocks.bytes % size)
    return gr_fail(c, GR_BAD, "%" PRId64 " bytes are not a whole number of %s elements", l->blocks.bytes,
                   gr_dtypes[l->dtype].name);
  return GR_OK;
}

static gr_status raw_extent(gr_context *c, gr_load *l) {
  int64_t size = gr_size(l->dtype), file_bytes = l->source.bytes, rest = file_bytes - l->offset;
  if (rest < 0)
    return gr_fail(c, GR_BAD, "offset %" PRId64 " is past the end of the file (%" PRId64 " bytes)", l->offset,
                   file_bytes);
  if (l->count < 0) {
    if (rest % size)
      return gr_fail(c, GR_BAD, "%" PRId64 " bytes are not a whole number of %s elements", rest,
                     gr_dtypes[l->dtype].name);
    l->count = rest / size;
  } else if (l->count > rest / size)
    return gr_fail(c, GR_BAD, "%" PRId64 " elements asked, the file has %" PRId64, l->count, rest / size);
  if (lseek(l->source.fd, (off_t)l->offset, SEEK_SET) < 0) return GR_SYSTEM;
  return GR_OK;
}

gr_status gr_load_begin(gr_context *c, gr_load *l) {
  gr_status status = gr_source_open(c, &l->source, l->path);
  int stream = l->source.bytes < 0;
  if (status != GR_OK) return status;
  if (l->map && !l->source.regular) return gr_fail(c, GR_BAD, "only a file can be mapped, not a pipe or a device");
  if (!l->npy) return stream ? raw_stream(c, l) : raw_extent(c, l);
  status = read_header(c, l);
  return status == GR_OK && stream ? npy_stream(c, l) : status;
}

void gr_load_end(gr_load *l) {
  gr_source_close(&l->source);
  gr_blocks_free(&l->blocks);
}

/* Maps whole pages from the start of the file: the array begins at l->offset within. */
static gr_status map_in(gr_context *c, const gr_load *l, gr_array *out) {
  int size = gr_size(l->dtype);
  size_t bytes = (size_t)(l->offset + l->count * size);
  gr_array whole = {0};
  if (l->offset % size)
    return gr_fail(c, GR_BAD, "a mapping needs an offset that is a multiple of %d, got %" PRId64, size, l->offset);
  gr_status status = gr_array_make(c, &whole, GR_U8, (int64_t)bytes);
  if (status != GR_OK) return status;
  void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE, l->source.fd, 0);
  if (p == MAP_FAILED) {
    int error = errno;
    gr_array_release(&whole);
    errno = error;
    return GR_SYSTEM;
  }
  gr_storage_adopt(whole.storage, p, GR_MAPPED);
  gr_array_set(out, whole.storage, l->dtype, l->count, l->offset, size);
  return GR_OK;
}

/* Elements in Fortran order, piece by piece: there is no second copy of the file. */
static gr_status turn_in(gr_context *c, gr_load *l, char *to) {
  size_t room, size = (size_t)gr_size(l->dtype);
  int64_t left = l->count * (int64_t)size;
  gr_turn turn;
  gr_turn_begin(&turn, &l->header, to);
  if (l->source.bytes < 0) {
    for (; l->blocks.first; gr_blocks_drop(&l->blocks))
      gr_turn_put(&turn, l->blocks.first->bytes, (int64_t)(l->blocks.first->used / size));
    return GR_OK;
  }
  char *piece = gr_blocks_room(&l->blocks, &room); /* freed at the end */
  if (!piece) return gr_fail(c, GR_NO_MEMORY, "out of memory: reading in Fortran order");
  while (left > 0) {
    if ((int64_t)room > left) room = (size_t)left;
    gr_status status = read_all(&l->source, piece, room);
    if (status != GR_OK) return status;
    gr_turn_put(&turn, piece, (int64_t)(room / size));
    left -= (int64_t)room;
  }
  return GR_OK;
}

static gr_status read_in(gr_context *c, gr_load *l, char *to) {
  size_t got, bytes = (size_t)l->count * (size_t)gr_size(l->dtype);
  if (l->header.fortran) return turn_in(c, l, to);
  if (l->blocks.bytes) return gr_blocks_move(&l->blocks, to), GR_OK;
  if (l->source.bytes >= 0) return read_all(&l->source, to, bytes);
  gr_status status = gr_source_read(&l->source, to, bytes, &got);
  if (status != GR_OK || got == bytes) return status;
  return gr_fail(c, GR_BAD, "%" PRId64 " elements asked, the file has %" PRId64, l->count,
                 (int64_t)got / gr_size(l->dtype));
}

/* NPY files whose elements do not lie as they must are read instead; of a raw file the caller said where they lie. */
static int maps(const gr_load *l) {
  int lies = !l->header.swap && !l->header.fortran && l->offset % gr_size(l->dtype) == 0;
  return l->map && l->count && l->source.bytes > 0 && (lies || !l->npy);
}

gr_status gr_load_finish(gr_context *c, gr_load *l, gr_array *out) {
  gr_vec to;
  if (maps(l)) return map_in(c, l, out);
  gr_status status = gr_array_make(c, out, l->dtype, l->count);
  if (status != GR_OK || !l->count) return status;
  status = gr_array_write(out, GR_HOST, 1, &to);
  char *elements = (char *)(uintptr_t)to.data;
  if (status == GR_OK) status = read_in(c, l, elements);
  if (status == GR_OK && l->header.swap) gr_swap_bytes(elements, (size_t)l->count, (size_t)gr_size(l->dtype));
  if (status != GR_OK) {
    int error = errno;
    gr_array_release(out);
    errno = error;
  }
  return status;
}

/* ---- saving ---- */

static int put_elements(gr_writer *w, const gr_array *a, const gr_vec *v) {
  enum { BYTES = 65536 };
  size_t size = (size_t)gr_size(a->dtype), room = BYTES / size;
  if (gr_array_dense(a)) return gr_writer_put(w, v->data, (size_t)a->n * size);
  char *buffer = malloc(BYTES); /* not on the stack, of which callers may have little */
  int fine = buffer != NULL;
  for (int64_t k = 0; fine && k < a->n;) {
    size_t m = 0;
    for (; m < room && k < a->n; m++, k++) memcpy(buffer + m * size, (const char *)v->data + k * v->stride, size);
    fine = gr_writer_put(w, buffer, m * size);
  }
  const int error = errno;
  free(buffer);
  errno = error;
  return fine;
}

gr_status gr_file_save(gr_context *c, const char *path, const gr_array *a, int npy, int dimensions,
                       const int64_t *shape) {
  char header[4096];
  size_t header_bytes = 0;
  gr_writer w;
  gr_vec v;
  if (npy && !(header_bytes = gr_npy_format(header, a->dtype, dimensions, shape)))
    return gr_fail(c, GR_BAD, "NPY has no %s: save it raw, under a name that does not end in .npy",
                   gr_dtypes[a->dtype].name);
  gr_status status = gr_array_read(a, GR_HOST, &v);
  if (status != GR_OK) return status;
  if (!gr_writer_open(c, &w, path)) return gr_writer_failed(c);
  int ok = gr_writer_put(&w, header, header_bytes) && put_elements(&w, a, &v);
  return gr_writer_end(&w, ok) ? GR_OK : gr_writer_failed(c);
}

/* ---- over ranks ---- */

static gr_status in_words(gr_context *c, const char *path, gr_status status) {
  return status == GR_SYSTEM ? gr_fail(c, status, "%s: %s", path, strerror(errno)) : status;
}

/* What is wrong with a file comes with its name, as of one process. */
static gr_status of_file(gr_context *c, const char *path, gr_status status) {
  char why[sizeof c->error];
  const size_t length = strlen(path), most = 120; /* the reason fits into what ranks send each other, too */
  if (status != GR_BAD) return in_words(c, path, status);
  memcpy(why, c->error, sizeof why);
  return gr_fail(c, status, "%s%s: %s", length > most ? "..." : "", length > most ? path + length - most : path, why);
}

/* What only one process can read in order. */
static gr_status is_in_parts(gr_context *c, const gr_load *l) {
  if (l->source.bytes < 0) return gr_fail(c, GR_BAD, "only a file can be read in parts, not a pipe or a device");
  if (l->header.fortran) return gr_fail(c, GR_BAD, "'comm' is not served by NPY files in Fortran order");
  return GR_OK;
}

gr_status gr_load_part(gr_context *c, gr_load *l, int64_t *first, gr_status mine) {
  const gr_comm *comm = c->comm;
  char text[128];
  mine = of_file(c, l->path, mine == GR_OK ? is_in_parts(c, l) : mine);
  const int size = gr_size(l->dtype), matrix = l->npy && l->header.dimensions == 2;
  const int64_t rows = matrix ? l->header.shape[0] : l->count, columns = matrix ? l->header.shape[1] : 1;
  snprintf(text, sizeof text, "load of %s, %lld x %lld from byte %lld", gr_dtypes[l->dtype].name, (long long)rows,
           (long long)columns, (long long)l->offset);
  gr_status status = gr_ranks_meet(c, text, 0, 0, mine);
  if (status != GR_OK) return status;
  /* Rows are few, so they are spread evenly; elements end with leaves, so that reductions move none. */
  const int64_t leaf = matrix ? 1 : GR_LEAF(size);
  const int64_t from = gr_even_start(rows, comm->size, comm->rank, leaf),
                end = gr_even_start(rows, comm->size, comm->rank + 1, leaf);
  *first = from;
  l->count = (end - from) * columns;
  l->offset += from * columns * size;
  if (matrix) l->header.shape[0] = end - from;
  if (lseek(l->source.fd, (off_t)l->offset, SEEK_SET) < 0) status = in_words(c, l->path, GR_SYSTEM);
  return gr_ranks_agree(c, status);
}

gr_status gr_load_agree(gr_context *c, const gr_load *l, gr_status mine) {
  return gr_ranks_agree(c, of_file(c, l->path, mine));
}

/* The file beside the target as rank 0 has it, for the ranks that have not made it. */
typedef struct beside {
  char machine[64]; /* which runs since its last start: others have other processes under the same numbers */
  int64_t process, fd, device, node;
  char name[PATH_MAX]; /* empty: it has none */
} beside;

static void name_machine(char machine[64]) {
  const int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
  const ssize_t got = fd < 0 ? 0 : read(fd, machine, 63);
  machine[got > 0 ? got : 0] = 0;
  if (fd >= 0) close(fd);
}

/* Where rank 0 has it. */
static gr_status find_beside(gr_context *c, const gr_writer *w, beside *b) {
  struct stat st;
  const int folder = (int)(w->name - w->path);
  if (w->folder < 0) return gr_fail(c, GR_BAD, "only a file can be written by ranks, not a pipe or a device");
  if (w->temporary[0] && snprintf(b->name, sizeof b->name, "%.*s%s", folder, w->path, w->temporary) >= PATH_MAX)
    return gr_fail(c, GR_BAD, "%s: the path is too long", w->path);
  if (fstat(w->fd, &st) != 0) return in_words(c, w->path, GR_SYSTEM);
  name_machine(b->machine);
  b->process = getpid();
  b->fd = w->fd;
  b->device = (int64_t)st.st_dev;
  b->node = (int64_t)st.st_ino;
  return GR_OK;
}

/* The file without a name, by the process that has it open; -1: it cannot be reached from here. */
static int open_unnamed(const beside *b) {
  char here[64], place[GR_WRITER_PLACE];
  struct stat st;
  name_machine(here);
  if (!here[0] || strcmp(here, b->machine) != 0) return -1;
  gr_writer_place((pid_t)b->process, (int)b->fd, place);
  const int fd = open(place, O_WRONLY | O_CLOEXEC);
  if (fd < 0 || (fstat(fd, &st) == 0 && (int64_t)st.st_dev == b->device && (int64_t)st.st_ino == b->node)) return fd;
  close(fd); /* numbers of processes are those of another container */
  return -1;
}

static gr_status share(gr_context *c, beside *b, gr_status mine) {
  const gr_comm *comm = c->comm;
  const gr_status status = gr_ranks_agree(c, mine);
  if (status != GR_OK) return status;
  return gr_ranks_moved(c, comm->table->broadcast(comm->handle, b, sizeof *b, 0));
}

/* All open the file beside the target. It gets a name only where one of them cannot reach it without. */
static gr_status open_beside(gr_context *c, gr_writer *w, gr_status mine) {
  const gr_comm *comm = c->comm;
  beside b = {.fd = -1};
  int64_t reached = 1;
  if (comm->rank != 0) *w = (gr_writer){.context = c, .since = gr_stop_note(&c->stop), .fd = -1, .folder = -1};
  else if (mine == GR_OK) mine = find_beside(c, w, &b);
  gr_status status = share(c, &b, mine);
  if (status != GR_OK) return status;
  if (!b.name[0]) {
    if (comm->rank != 0) w->fd = open_unnamed(&b);
    status = gr_ranks_agree_on(c, w->fd >= 0, GR_OK);
    for (int r = 0; r < comm->size && status == GR_OK; r++) reached &= comm->cards[r].n;
    if (status != GR_OK || reached) return status;
    if (comm->rank == 0) {
      mine = gr_writer_name(w) ? GR_OK : in_words(c, w->path, gr_writer_failed(c));
      if (mine == GR_OK) mine = find_beside(c, w, &b);
    }
    status = share(c, &b, mine);
  }
  if (status == GR_OK && w->fd < 0) w->fd = open(b.name, O_WRONLY | O_NOFOLLOW | O_CLOEXEC);
  return status;
}

/* This rank's elements where they belong. Rank 0 ends its file later; who else has it open brings it to the disk. */
static gr_status put_part(gr_context *c, gr_writer *w, const gr_array *a, const gr_vec *v, int64_t offset) {
  const int mine = c->comm->rank != 0;
  if (w->fd < 0) return GR_SYSTEM;
  int ok = lseek(w->fd, (off_t)offset, SEEK_SET) >= 0 && put_elements(w, a, v);
  if (mine) {
    const int error = errno;
    if (ok && fsync(w->fd) != 0 && errno != EINVAL) ok = 0;
    else errno = error;
    if (close(w->fd) != 0 && errno != EINTR) ok = 0;
    w->fd = -1;
  }
  return ok ? GR_OK : gr_writer_failed(c);
}

gr_status gr_file_save_ranks(gr_context *c, const char *path, const gr_array *a, int npy) {
  char header[4096], text[GR_CARD_TEXT];
  const size_t length = strlen(path), most = 120; /* two texts fit into one error */
  size_t header_bytes = 0;
  gr_writer w = {.fd = -1, .folder = -1};
  gr_vec v;
  int opened = 0;
  snprintf(text, sizeof text, "save of %s%s to %s%s", gr_dtypes[a->dtype].name, npy ? " as NPY" : "",
           length > most ? "..." : "", length > most ? path + length - most : path);
  gr_status status = gr_array_read(a, GR_HOST, &v);
  status = gr_ranks_meet(c, text, a->n, gr_array_columns(a), status);
  if (status != GR_OK) return status;
  const int64_t all = gr_ranks_all(c), width = c->comm->width, size = gr_size(a->dtype);
  const int64_t shape[2] = {width ? all / width : all, width};
  if (width && a->n % width)
    status = gr_fail(c, GR_BAD, "rows of %lld elements expected, as other ranks have, got a length of %lld",
                     (long long)width, (long long)a->n);
  if (status == GR_OK && npy && !(header_bytes = gr_npy_format(header, a->dtype, width ? 2 : 1, shape)))
    status = gr_fail(c, GR_BAD, "NPY has no %s: save it raw, under a name that does not end in .npy",
                     gr_dtypes[a->dtype].name);
  if (c->comm->rank == 0 && status == GR_OK) {
    opened = gr_writer_open(c, &w, path);
    if (!opened || !gr_writer_put(&w, header, header_bytes)) status = in_words(c, path, gr_writer_failed(c));
  }
  status = open_beside(c, &w, status);
  if (status == GR_OK) {
    status = put_part(c, &w, a, &v, (int64_t)header_bytes + gr_ranks_before(c) * size);
    status = gr_ranks_agree(c, in_words(c, path, status));
  }
  if (c->comm->rank != 0 && w.fd >= 0) close(w.fd); /* of a file that others could not open */
  /* All have written, or one has not; rank 0 gives the file its name, or removes it. */
  const int keep = status == GR_OK;
  if (opened && !gr_writer_end(&w, keep) && keep) status = in_words(c, path, gr_writer_failed(c));
  return keep ? gr_ranks_agree(c, status) : status;
}
