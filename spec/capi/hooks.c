/*
** What a host gives the library: its threads, its allocators, a log, a stop flag: capi_hooks DEVICE. Each check that
** fails says where; the last line says "ok". spec/capi_spec.lua runs it.
*/
#include "check.h"

#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

/* ---- allocators: each block knows its size, and what came from here goes back here ---- */

static _Atomic long blocks[2], bytes[2], misaligned;

static void *take(int side, size_t n, size_t alignment) {
  void *p = NULL;
  if (posix_memalign(&p, alignment, n) != 0) return NULL;
  blocks[side]++;
  bytes[side] += (long)n;
  if ((size_t)p % alignment) misaligned++;
  return p;
}
static void give(int side, void *p, size_t n) {
  blocks[side]--;
  bytes[side] -= (long)n;
  free(p);
}

static void *host_alloc(void *user, size_t n, size_t alignment) {
  CHECK(user == blocks);
  return take(0, n, alignment);
}
static void host_free(void *user, void *p, size_t n) { give(user != blocks, p, n); }
static void *device_alloc(void *user, const char *name, size_t n) {
  CHECK(user == blocks && !strcmp(name, device) && n % 256 == 0);
  return take(1, n, 256);
}
static void device_free(void *user, const char *name, void *p, size_t n) {
  CHECK(user == blocks && !strcmp(name, device));
  give(1, p, n);
}

/* ---- a job system: two threads and the caller, pieces from the last to the first, and one left out ---- */

typedef struct job {
  void (*piece)(void *, int64_t);
  void *work;
  _Atomic int64_t left;
} job;

static _Atomic long jobs, pieces_run;
static int leaves_out;

static void *help(void *arg) {
  job *j = arg;
  int64_t k;
  while ((k = atomic_fetch_sub(&j->left, 1) - 1) >= leaves_out) {
    j->piece(j->work, k);
    pieces_run++;
  }
  return NULL;
}

static void run_job(void *user, int64_t pieces, void (*piece)(void *work, int64_t k), void *work) {
  job j = {piece, work, pieces};
  pthread_t id[2];
  CHECK(user == &jobs);
  jobs++;
  for (int k = 0; k < 2; k++) pthread_create(&id[k], NULL, help, &j);
  help(&j);
  for (int k = 0; k < 2; k++) pthread_join(id[k], NULL);
}

/* ---- the log ---- */

static char logged[4000];
static void log_line(void *user, const char *line) {
  CHECK(user == logged);
  strncat(logged, line, sizeof logged - strlen(logged) - 2);
  strcat(logged, "\n");
}

/* ---- the stop flag: raised by another thread, in the middle of a call ---- */

static int32_t flag;
static void *stop_soon(void *context) {
  const struct timespec while_it_works = {0, 20000000};
  nanosleep(&while_it_works, NULL);
  OK(gpureduce_stop(context, 1));
  return NULL;
}

static void test_stop(gpureduce_context *c) {
  gpureduce_array *a = NULL, *sorted = NULL;
  gpureduce_number r;
  OK(gpureduce_make(c, GPUREDUCE_F64, 1 << 22, 0, &a));
  OK(gpureduce_fill(a, (gpureduce_number){.f = 0.5}));
  OK(gpureduce_stop(c, 1));
  NO(GPUREDUCE_STOPPED, "interrupted", gpureduce_reduce("sum", a, NULL, NULL, &r));
  OK(gpureduce_stop(c, 0));
  CHECK(reduced("sum", a, NULL) == 1 << 21);
  pthread_t id;
  pthread_create(&id, NULL, stop_soon, c);
  gpureduce_status status = GPUREDUCE_OK;
  for (int k = 0; k < 100000 && status == GPUREDUCE_OK; k++) status = gpureduce_scan("sum", a, NULL, &sorted);
  CHECK(status == GPUREDUCE_STOPPED);
  pthread_join(id, NULL);
  OK(gpureduce_stop(c, 0));
  flag = 1; /* the host's own */
  NO(GPUREDUCE_STOPPED, "interrupted", gpureduce_reduce("sum", a, NULL, NULL, &r));
  flag = 0;
  CHECK(reduced("sum", a, NULL) == 1 << 21);
  OK(gpureduce_limit(c, 0, 0, 1e-6));
  NO(GPUREDUCE_STOPPED, "interrupted", gpureduce_scan("sum", a, NULL, &sorted));
  OK(gpureduce_limit(c, 0, 0, 0));
  OK(gpureduce_scan("sum", a, NULL, &sorted));
  OK(gpureduce_drop(a));
  OK(gpureduce_drop(sorted));
}

int main(int argc, char **argv) {
  if (argc != 2) return fprintf(stderr, "usage: capi_hooks DEVICE\n"), 2;
  device = argv[1];
  gpureduce_config config = {.size = sizeof config, .device = device, .threads = 3, .run = run_job, .run_user = &jobs,
                             .host_alloc = host_alloc, .host_free = host_free, .device_alloc = device_alloc,
                             .device_free = device_free, .alloc_user = blocks, .log = log_line, .log_user = logged,
                             .stop = &flag};
  gpureduce_context *c = NULL, *d = NULL;
  setenv("GPUREDUCE_TRACE", "1", 1);
  OK(gpureduce_open(&config, &c));
  unsetenv("GPUREDUCE_TRACE");
  CHECK(strstr(logged, "in use: chosen by the host\n"));

  gpureduce_array *a = NULL, *b = NULL;
  OK(gpureduce_random(c, "randn", GPUREDUCE_F64, 3000017, 7, 0, &a));
  const double sum = reduced("sum", a, NULL);
  CHECK(jobs > 0 && pieces_run > jobs);
  OK(gpureduce_scan("sum", a, NULL, &b));
  double last, again;
  OK(gpureduce_get(b, 3000016, 1, &last));
  leaves_out = 1; /* piece 0 is not called: the caller does what is left */
  OK(gpureduce_scan("sum", a, NULL, &b));
  OK(gpureduce_get(b, 3000016, 1, &again));
  CHECK(last == again && reduced("sum", a, NULL) == sum);
  leaves_out = 0;
  CHECK(blocks[0] > 0 && bytes[0] > 0 && misaligned == 0);
  CHECK((blocks[1] > 0) == (strcmp(device, "cpu") != 0));
  CHECK(strstr(logged, "sum of 3000017 f64"));
  if (!strcmp(device, "cpu")) test_stop(c);

  config.log = NULL; /* the same allocators are fine, others are too late */
  OK(gpureduce_open(&config, &d));
  OK(gpureduce_close(d));
  config.alloc_user = NULL;
  NO(GPUREDUCE_BAD, "the library has memory already, so they come too late", gpureduce_open(&config, &d));
  config.host_free = NULL;
  NO(GPUREDUCE_BAD, "both of a pair expected, got one", gpureduce_open(&config, &d));
  config = (gpureduce_config){.size = sizeof config, .device = "nosuch"};
  NO(GPUREDUCE_BAD, "no device 'nosuch' (there are:", gpureduce_open(&config, &d));
  config = (gpureduce_config){.size = sizeof config, .device = device, .stream = &config};
  NO(GPUREDUCE_BAD, "has no streams", gpureduce_open(&config, &d));
  config = (gpureduce_config){.size = sizeof config, .threads = 5000};
  NO(GPUREDUCE_BAD, "threads: 0 to 1024 expected, got 5000", gpureduce_open(&config, &d));
  config = (gpureduce_config){.size = sizeof config, .seconds = -1};
  NO(GPUREDUCE_BAD, "seconds: 0 or more expected, got -1", gpureduce_open(&config, &d));
  config = (gpureduce_config){.device = device, .stop = (void *)&config};
  config.size = offsetof(gpureduce_config, stop);
  OK(gpureduce_open(&config, &d)); /* as of an earlier header, which has no such member */
  OK(gpureduce_close(d));
  config.size = 12;
  NO(GPUREDUCE_VERSION, "size of config", gpureduce_open(&config, &d));
  NO(GPUREDUCE_NULL, "out is NULL", gpureduce_open(NULL, NULL));
  OK(gpureduce_drop(a));
  OK(gpureduce_drop(b));
  OK(gpureduce_close(c));
  CHECK(blocks[0] == 0 && blocks[1] == 0 && bytes[0] == 0 && bytes[1] == 0); /* the last context gives all back */
  return ended();
}
