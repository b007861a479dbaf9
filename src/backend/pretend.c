/*
** A device that is not one: host memory that only this backend touches, poisoned when it is handed out, and
** every copy and wait counted as a real device's would be. Tests run on it where there is no GPU.
*/
#include "src/backend/pretend.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include "src/backend/cpu.h"

#define POISON 0xff /* every float of it is a NaN */

static struct {
  pthread_mutex_t lock;
  size_t capacity, used; /* bytes; capacity 0: no limit */
  int64_t fail_at;       /* allocations until one is refused; 0: never */
  int64_t lose_at;       /* reductions until the device is lost; 0: never */
} memory = {.lock = PTHREAD_MUTEX_INITIALIZER};

void gr_pretend_limits(size_t capacity, int64_t fail_at) {
  pthread_mutex_lock(&memory.lock);
  memory.capacity = capacity;
  memory.fail_at = fail_at > 0 ? fail_at : 0;
  pthread_mutex_unlock(&memory.lock);
}

static int admit(size_t bytes) {
  int granted;
  pthread_mutex_lock(&memory.lock);
  granted = !memory.capacity || (memory.used <= memory.capacity && bytes <= memory.capacity - memory.used);
  if (memory.fail_at > 0 && --memory.fail_at == 0) granted = 0;
  if (granted) memory.used += bytes;
  pthread_mutex_unlock(&memory.lock);
  return granted;
}

static void give_back(size_t bytes) {
  pthread_mutex_lock(&memory.lock);
  memory.used -= bytes;
  pthread_mutex_unlock(&memory.lock);
}

static void *pretend_alloc(gr_backend *backend, size_t bytes) {
  void *block;
  if (!admit(bytes)) return NULL;
  block = gr_cpu_alloc(backend, bytes);
  if (block) memset(block, POISON, bytes);
  else give_back(bytes);
  return block;
}

static void pretend_free(gr_backend *backend, void *block, size_t bytes) {
  if (!block) return;
  memset(block, POISON, bytes);
  gr_cpu_free(backend, block, bytes);
  give_back(bytes);
}

static size_t pretend_available(gr_backend *backend) {
  size_t left;
  pthread_mutex_lock(&memory.lock);
  left = memory.capacity > memory.used ? memory.capacity - memory.used : 0;
  if (!memory.capacity) left = gr_cpu_available(backend);
  pthread_mutex_unlock(&memory.lock);
  return left;
}

static gr_status usable(gr_queue *q) {
  if (!q->lost) return GR_OK;
  strcpy(q->error, "the device is lost");
  return GR_DEVICE;
}

static gr_status pretend_upload(gr_queue *q, void *device, const void *host, size_t bytes) {
  if (usable(q) != GR_OK) return GR_DEVICE;
  memcpy(device, host, bytes);
  q->stats.bytes_up += bytes;
  q->stats.copies++;
  return GR_OK;
}

/* The host may read what it gets at once: that is a wait. */
static gr_status pretend_download(gr_queue *q, void *host, const void *device, size_t bytes) {
  if (usable(q) != GR_OK) return GR_DEVICE;
  memcpy(host, device, bytes);
  q->stats.bytes_down += bytes;
  q->stats.copies++;
  q->stats.syncs++;
  return GR_OK;
}

static gr_status pretend_wait(gr_queue *q) {
  q->stats.syncs++;
  return GR_OK;
}

static gr_status pretend_reduce(gr_queue *q, const gr_reduce_job *job, uint64_t *result) {
  if (memory.lose_at > 0 && --memory.lose_at == 0) q->lost = 1;
  if (usable(q) != GR_OK) return GR_DEVICE;
  if (result) q->stats.syncs++;
  return gr_cpu_do_reduce(q, job, result);
}

static gr_status pretend_exact(gr_queue *q, const gr_exact_job *job, gr_exact *sums) {
  if (usable(q) != GR_OK) return GR_DEVICE;
  q->stats.syncs++;
  return gr_cpu_do_exact(q, job, sums);
}

static gr_status pretend_digest(gr_queue *q, const gr_digest_job *job, uint64_t result[2]) {
  if (usable(q) != GR_OK) return GR_DEVICE;
  q->stats.syncs++;
  return gr_cpu_do_digest(q, job, result);
}

static gr_backend pretend = {
  .name = "pretend",
  .description = "the CPU's kernels behind a memory of their own",
  .separate = 1,
  .alloc = pretend_alloc,
  .free = pretend_free,
  .available = pretend_available,
  .open = gr_cpu_open,
  .close = gr_cpu_close,
  .upload = pretend_upload,
  .download = pretend_download,
  .zero = gr_cpu_zero,
  .wait = pretend_wait,
  .reduce = pretend_reduce,
  .exact = pretend_exact,
  .digest = pretend_digest,
  GR_CPU_OPERATIONS,
};

static void read_limits(void) {
  const char *capacity = getenv("GPUREDUCE_PRETEND_CAPACITY"), *fail_at = getenv("GPUREDUCE_PRETEND_FAIL_AT");
  const char *lose_at = getenv("GPUREDUCE_PRETEND_LOSE_AT");
  if (capacity) memory.capacity = (size_t)strtoull(capacity, NULL, 10);
  if (fail_at) memory.fail_at = strtoll(fail_at, NULL, 10);
  if (lose_at) memory.lose_at = strtoll(lose_at, NULL, 10);
}

gr_backend *gr_pretend_backend(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, read_limits);
  return &pretend;
}
