#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1 /* O_PATH, O_TMPFILE */
#endif
#include "src/core/save.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static void close_keeping_errno(int fd) {
  int error = errno;
  if (fd >= 0) close(fd);
  errno = error;
}

/* ---- being stopped ---- */

#define A_WHILE 20               /* milliseconds */
#define PIECE ((size_t)16 << 20) /* bytes at once; from the first so many on a look before each write */

/* 0 when the call is to stop. */
static int goes_on(const gr_writer *w) {
  gr_stop_resume(&w->context->stop, w->since);
  return gr_stop_asked(&w->context->stop) ? errno = ECANCELED, 0 : 1;
}

/* ---- where the bytes go ---- */

/* A path of these two parts takes the place of the writer's, which the first may be the start of. */
static int set_path(gr_writer *w, const char *head, size_t head_length, const char *tail) {
  size_t n = strlen(tail);
  char *path = malloc(head_length + n + 1);
  if (!path) return 0;
  memcpy(path, head, head_length);
  memcpy(path + head_length, tail, n + 1);
  free(w->path);
  w->path = path;
  char *slash = strrchr(path, '/');
  w->name = slash ? slash + 1 : path;
  return 1;
}

/*
** A descriptor of this process under a name of the system (/dev/stdout, /dev/fd/3): its number, or -1. Opening the name
** would begin a regular file behind it anew, beside what the program has already written there.
*/
static int descriptor_of(const char *path) {
  char own[64], folder[PATH_MAX], real[PATH_MAX], *end;
  const char *last = strrchr(path, '/');
  if (!last || last[1] < '0' || last[1] > '9' || (size_t)(last - path) >= sizeof folder) return -1;
  memcpy(folder, path, (size_t)(last - path));
  folder[last - path] = 0;
  snprintf(own, sizeof own, "/proc/%ld/fd", (long)getpid());
  if (!realpath(folder, real) || strcmp(real, own) != 0) return -1;
  long fd = strtol(last + 1, &end, 10);
  return *end || fd > INT_MAX ? -1 : (int)fd;
}

/*
** Replaces the writer's path, as long as it is a symbolic link, by what that says. fd: a descriptor that the path
** names, or -1.
*/
static int follow(gr_writer *w, int *fd) {
  struct stat st;
  for (int links = 0;; links++) {
    *fd = descriptor_of(w->path);
    if (*fd >= 0 || lstat(w->path, &st) != 0 || !S_ISLNK(st.st_mode)) return 1;
    char to[PATH_MAX];
    ssize_t n = readlink(w->path, to, sizeof to - 1);
    if (n < 0) return 0;
    to[n] = 0;
    if (links == 40 || n == sizeof to - 1) return errno = links == 40 ? ELOOP : ENAMETOOLONG, 0;
    if (!set_path(w, w->path, to[0] == '/' ? 0 : (size_t)(w->name - w->path), to)) return 0;
  }
}

/* Opening does not wait for the reader of a pipe: until there is one it fails, and is tried again. */
static int open_directly(gr_writer *w, const char *path, int fd, int pipe) {
  if (fd == STDOUT_FILENO) fflush(stdout); /* what the program has printed comes first */
  if (fd >= 0) w->fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
  else
    while ((w->fd = open(path, O_WRONLY | O_CLOEXEC | (pipe ? O_NONBLOCK : 0))) < 0 && errno == ENXIO && pipe)
      if (poll(NULL, 0, A_WHILE), !goes_on(w)) return 0;
  return w->fd >= 0;
}

/* The folder: to rename within it, and to sync it to the disk, which needs permission to read it. */
static int open_folder(gr_writer *w) {
  char first = w->name[0];
  if (w->name == w->path) w->folder = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  else {
    w->name[0] = 0;
    w->folder = open(w->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (w->folder < 0 && errno == EACCES) w->folder = open(w->path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    w->name[0] = first;
  }
  return w->folder >= 0;
}

/* A name in the folder that nobody can have foreseen, for which `take` is tried until none has it. */
static int take_name(gr_writer *w, int (*take)(gr_writer *)) {
  for (int tries = 0; tries < 100; tries++) {
    uint64_t chance;
    if (getrandom(&chance, sizeof chance, 0) != (ssize_t)sizeof chance) break;
    snprintf(w->temporary, sizeof w->temporary, ".gpureduce-%016llx.tmp", (unsigned long long)chance);
    if (take(w)) return 1;
    if (errno != EEXIST) break;
  }
  w->temporary[0] = 0;
  return 0;
}

static mode_t mode_of_new(const gr_writer *w) { return w->old ? 0600 : 0666; }

static int create(gr_writer *w) {
  w->fd = openat(w->folder, w->temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode_of_new(w));
  return w->fd >= 0;
}

void gr_writer_place(pid_t process, int fd, char place[GR_WRITER_PLACE]) {
  snprintf(place, GR_WRITER_PLACE, "/proc/%ld/fd/%d", (long)process, fd);
}

/* Without privileges a name comes to such a file by way of /proc, so that is looked at before anything is written. */
static int create_unnamed(gr_writer *w) {
#ifdef O_TMPFILE
  struct stat own, seen;
  char place[GR_WRITER_PLACE];
  w->fd = openat(w->folder, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, mode_of_new(w));
  if (w->fd < 0) return 0;
  gr_writer_place(getpid(), w->fd, place);
  if (fstat(w->fd, &own) == 0 && stat(place, &seen) == 0 && own.st_ino == seen.st_ino && own.st_dev == seen.st_dev)
    return 1;
  close(w->fd);
  w->fd = -1;
#endif
  return 0;
}

static int link_unnamed(gr_writer *w) {
  char place[GR_WRITER_PLACE];
  gr_writer_place(getpid(), w->fd, place);
  return linkat(AT_FDCWD, place, w->folder, w->temporary, AT_SYMLINK_FOLLOW) == 0;
}

int gr_writer_name(gr_writer *w) { return w->temporary[0] || take_name(w, link_unnamed); }

static int open_target(gr_writer *w, const char *path) {
  struct stat st;
  int fd;
  w->old = stat(path, &st) == 0;
  if ((!w->old && errno != ENOENT) || !follow(w, &fd)) return 0;
  if (fd >= 0 || (w->old && !S_ISREG(st.st_mode))) return open_directly(w, path, fd, w->old && S_ISFIFO(st.st_mode));
  if (!w->name[0]) return errno = w->path[0] ? EISDIR : ENOENT, 0;
  if (w->old) { /* one that may not be written is not replaced either */
    if (faccessat(AT_FDCWD, w->path, W_OK, AT_EACCESS) != 0) return 0;
    w->mode = st.st_mode & 0777;
    w->owner = st.st_uid;
    w->group = st.st_gid;
  }
  return open_folder(w) && (create_unnamed(w) || take_name(w, create));
}

static void forget(gr_writer *w) {
  close_keeping_errno(w->folder);
  free(w->path);
  w->path = NULL;
  w->folder = w->fd = -1;
}

int gr_writer_open(gr_context *c, gr_writer *w, const char *path) {
  *w = (gr_writer){.context = c, .since = gr_stop_note(&c->stop), .fd = -1, .folder = -1};
  int ok = set_path(w, "", 0, path) && open_target(w, path);
  if (!ok) forget(w);
  return ok;
}

/* ---- the bytes ---- */

/*
** A pipe that nobody reads and a limit on the size of files come as signals, which would end the process. They are
** kept away from this thread while it writes, and what came meanwhile is taken, so that the call's error is all that
** is left of them.
*/
static void begin_quiet(sigset_t *ours, sigset_t *before) {
  sigset_t pending;
  sigemptyset(ours);
  sigaddset(ours, SIGPIPE);
  sigaddset(ours, SIGXFSZ);
  pthread_sigmask(SIG_BLOCK, ours, before);
  sigpending(&pending); /* what waited already is somebody else's */
  if (sigismember(&pending, SIGPIPE)) sigdelset(ours, SIGPIPE);
  if (sigismember(&pending, SIGXFSZ)) sigdelset(ours, SIGXFSZ);
}

static void end_quiet(const sigset_t *ours, const sigset_t *before) {
  const struct timespec none = {0, 0};
  int error = errno;
  while (sigtimedwait(ours, NULL, &none) > 0 || errno == EINTR) continue;
  pthread_sigmask(SIG_SETMASK, before, NULL);
  errno = error;
}

/* A pipe of our own is full. */
static int wait_for_room(const gr_writer *w) {
  struct pollfd p = {.fd = w->fd, .events = POLLOUT};
  while (poll(&p, 1, A_WHILE) <= 0)
    if (!goes_on(w)) return 0;
  return 1;
}

static int put_all(gr_writer *w, const char *from, size_t bytes) {
  while (bytes > 0) {
    if (w->put >= (int64_t)PIECE && !goes_on(w)) return 0;
    const ssize_t put = write(w->fd, from, bytes < PIECE ? bytes : PIECE);
    if (put < 0 && errno == EINTR) continue;
    if (put < 0 && errno == EAGAIN && wait_for_room(w)) continue;
    if (put == 0) errno = EIO;
    if (put <= 0) return 0;
    from += put;
    bytes -= (size_t)put;
    w->put += put;
  }
  return 1;
}

int gr_writer_put(gr_writer *w, const void *from, size_t bytes) {
  sigset_t ours, before;
  begin_quiet(&ours, &before);
  const int ok = put_all(w, from, bytes);
  end_quiet(&ours, &before);
  return ok;
}

/* ---- the end ---- */

/*
** Keeps the mode of the old file. Where its owner or group cannot be kept, the new ones do not get their permissions.
*/
static int keep_mode(gr_writer *w) {
  struct stat st;
  if (fstat(w->fd, &st) != 0) return 0;
  if (st.st_uid != w->owner && fchown(w->fd, w->owner, (gid_t)-1) != 0) errno = 0;
  if (st.st_gid != w->group && fchown(w->fd, (uid_t)-1, w->group) != 0) w->mode &= ~(mode_t)070;
  return fchmod(w->fd, w->mode) == 0;
}

static int reach_disk(int fd) {
  int failed;
  do failed = fsync(fd);
  while (failed && errno == EINTR);
  /* What cannot be brought to a disk, and a folder that may not be read, are as good as there. */
  return !failed || errno == EINVAL || errno == EBADF;
}

/* The bytes of a file that may not be given a name, as where a sandbox forbids links, go into one that has one. */
static int move_to_named(gr_writer *w) {
  const int unnamed = w->fd;
  off_t at = 0;
  ssize_t put;
  if (!take_name(w, create)) return w->fd = unnamed, 0;
  do put = sendfile(w->fd, unnamed, &at, PIECE);
  while (put > 0 || (put < 0 && errno == EINTR));
  close_keeping_errno(unnamed);
  return put == 0 && (!w->old || keep_mode(w)) && reach_disk(w->fd);
}

static int close_written(gr_writer *w) {
  int fd = w->fd;
  w->fd = -1;
  return close(fd) == 0 || errno == EINTR;
}

int gr_writer_end(gr_writer *w, int keep) {
  int error = errno, direct = w->folder < 0;
  int ok =
      keep && (direct || ((!w->old || keep_mode(w)) && reach_disk(w->fd) && (gr_writer_name(w) || move_to_named(w))));
  if (!keep) errno = error;
  if (ok) ok = close_written(w);
  else close_keeping_errno(w->fd);
  if (!direct) {
    if (ok && renameat(w->folder, w->temporary, w->folder, w->name) == 0) ok = reach_disk(w->folder);
    else {
      error = errno;
      if (w->temporary[0]) unlinkat(w->folder, w->temporary, 0);
      errno = error;
      ok = 0;
    }
  }
  forget(w);
  return ok;
}

gr_status gr_writer_failed(gr_context *c) {
  if (errno == ECANCELED) return gr_fail(c, GR_STOPPED, "interrupted");
  return errno == ENOMEM ? gr_fail(c, GR_NO_MEMORY, "out of memory: saving a file") : GR_SYSTEM;
}

gr_status gr_save_bytes(gr_context *c, const char *path, const void *from, size_t bytes) {
  gr_writer w;
  int ok = gr_writer_open(c, &w, path) && gr_writer_end(&w, gr_writer_put(&w, from, bytes));
  return ok ? GR_OK : gr_writer_failed(c);
}
