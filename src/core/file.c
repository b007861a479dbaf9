#include "src/core/file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- loading ---- */

/* Reads exactly bytes, or sets errno (a file that shrinks meanwhile reads as EIO). */
static int read_all(int fd, void *to, size_t bytes, int64_t offset) {
  while (bytes > 0) {
    ssize_t got = pread(fd, to, bytes < ((size_t)1 << 30) ? bytes : (size_t)1 << 30, (off_t)offset);
    if (got < 0 && errno == EINTR) continue;
    if (got == 0) errno = EIO;
    if (got <= 0) return 0;
    to = (char *)to + got;
    offset += got;
    bytes -= (size_t)got;
  }
  return 1;
}

/* A lying length must not cost memory: the header is read in as far as the file goes, at most 64 KiB of it. */
static gr_status read_header(gr_context *c, int fd, int64_t file_bytes, gr_load *l) {
  size_t have = file_bytes < 65536 ? (size_t)file_bytes : 65536;
  unsigned char *b = malloc(65536);
  if (!b) return gr_fail(c, GR_NO_MEMORY, "out of memory: reading a header");
  gr_status status = read_all(fd, b, have, 0) ? gr_npy_parse(c, b, have, file_bytes, &l->header) : GR_SYSTEM;
  free(b);
  l->dtype = l->header.dtype;
  l->offset = l->header.data_offset;
  l->count = l->header.n;
  return status;
}

static gr_status raw_extent(gr_context *c, int64_t file_bytes, gr_load *l) {
  int64_t size = gr_size(l->dtype), rest = file_bytes - l->offset;
  if (rest < 0)
    return gr_fail(c, GR_BAD, "offset %" PRId64 " is past the end of the file (%" PRId64 " bytes)", l->offset, file_bytes);
  if (l->count < 0) {
    if (rest % size)
      return gr_fail(c, GR_BAD, "%" PRId64 " bytes are not a whole number of %s elements", rest, gr_dtypes[l->dtype].name);
    l->count = rest / size;
  } else if (l->count > rest / size)
    return gr_fail(c, GR_BAD, "%" PRId64 " elements asked, the file has %" PRId64, l->count, rest / size);
  return GR_OK;
}

/* Maps whole pages from the start of the file: the array begins at l->offset within. */
static gr_status map_in(gr_context *c, int fd, const gr_load *l, gr_array *out) {
  int size = gr_size(l->dtype);
  size_t bytes = (size_t)(l->offset + l->count * size);
  gr_array whole = {0};
  if (l->offset % size)
    return gr_fail(c, GR_BAD, "a mapping needs an offset that is a multiple of %d, got %" PRId64, size, l->offset);
  gr_status status = gr_array_make(c, &whole, GR_U8, (int64_t)bytes);
  if (status != GR_OK) return status;
  void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
  if (p == MAP_FAILED) {
    int error = errno;
    gr_array_release(&whole);
    errno = error;
    return GR_SYSTEM;
  }
  gr_storage_adopt(whole.storage, p, GR_MAPPED);
  out->storage = whole.storage;
  out->dtype = l->dtype;
  out->n = l->count;
  out->offset = l->offset;
  out->stride = size;
  return GR_OK;
}

static gr_status read_in(gr_context *c, int fd, const gr_load *l, gr_array *out) {
  gr_vec to;
  gr_status status = gr_array_make(c, out, l->dtype, l->count);
  if (status == GR_OK) status = gr_array_write(out, GR_HOST, 1, &to);
  if (status != GR_OK) return status;
  return read_all(fd, (void *)(uintptr_t)to.data, (size_t)(l->count * gr_size(l->dtype)), l->offset) ? GR_OK : GR_SYSTEM;
}

gr_status gr_file_load(gr_context *c, gr_load *l, gr_array *out) {
  struct stat st;
  int fd = open(l->path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return GR_SYSTEM;
  gr_status status = fstat(fd, &st) == 0 ? GR_OK : GR_SYSTEM;
  if (status == GR_OK && S_ISDIR(st.st_mode)) {
    errno = EISDIR;
    status = GR_SYSTEM;
  }
  if (status == GR_OK) status = l->npy ? read_header(c, fd, st.st_size, l) : raw_extent(c, st.st_size, l);
  if (status == GR_OK) status = l->map && l->count ? map_in(c, fd, l, out) : read_in(c, fd, l, out);
  int error = errno;
  close(fd);
  errno = error;
  return status;
}

/* ---- saving ---- */

static int write_all(int fd, const void *from, size_t bytes) {
  while (bytes > 0) {
    ssize_t put = write(fd, from, bytes < ((size_t)1 << 30) ? bytes : (size_t)1 << 30);
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) return 0;
    from = (const char *)from + put;
    bytes -= (size_t)put;
  }
  return 1;
}

static int write_elements(int fd, const gr_array *a, const gr_vec *v) {
  char buffer[65536];
  size_t size = (size_t)gr_size(a->dtype), room = sizeof buffer / size;
  if (gr_array_dense(a)) return write_all(fd, v->data, (size_t)a->n * size);
  for (int64_t k = 0; k < a->n;) {
    size_t m = 0;
    for (; m < room && k < a->n; m++, k++) memcpy(buffer + m * size, (const char *)v->data + k * v->stride, size);
    if (!write_all(fd, buffer, m * size)) return 0;
  }
  return 1;
}

gr_status gr_file_save(gr_context *c, const char *path, const gr_array *a, int npy, int dimensions, const int64_t *shape) {
  char header[4096];
  size_t header_bytes = 0;
  gr_vec v;
  if (npy && !(header_bytes = gr_npy_format(header, a->dtype, dimensions, shape)))
    return gr_fail(c, GR_BAD, "NPY has no %s: save it raw, under a name that does not end in .npy", gr_dtypes[a->dtype].name);
  gr_status status = gr_array_read(a, GR_HOST, &v);
  if (status != GR_OK) return status;
  int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (fd < 0) return GR_SYSTEM;
  int ok = write_all(fd, header, header_bytes) && write_elements(fd, a, &v), error = errno;
  if (close(fd) != 0 && ok) return GR_SYSTEM;
  errno = error;
  return ok ? GR_OK : GR_SYSTEM;
}
