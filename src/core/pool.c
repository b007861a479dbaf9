#include "src/core/pool.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* Blocks below this come from malloc alone, which is quick there; the pool spares the rest their search, the large ones page faults. */
#define SMALL ((size_t)1 << 10)
#define PAGED ((size_t)64 << 10) /* from here on blocks start at a page */
#define HUGE_PAGE ((size_t)2 << 20)
#define HUGE_PAGED (2 * HUGE_PAGE)
#define CACHE_LIMIT ((size_t)256 << 20) /* of host memory; a device's cache is limited by allocation failures */
#define CLASSES 240

typedef struct block {
  struct block *next;
  void *memory;
  size_t bytes;
  gr_backend *backend; /* NULL: host */
  gr_queue *queue;     /* whose work may still use it; NULL: nobody's */
} block;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static block *cache[CLASSES];
static size_t cached_host;
static gr_pool_counts counts;

/* Classes are a quarter of an octave apart, so a block is at most 25 % larger than asked. */
static size_t class_of(size_t bytes, size_t *rounded) {
  size_t octave = 0, unit, steps; /* unit: its logarithm */
  if (bytes < 256) bytes = 256;
  if (bytes > 256) octave = (size_t)(56 - __builtin_clzll(bytes - 1)); /* 2^(octave+7) < bytes <= 2^(octave+8) */
  unit = octave ? octave + 5 : 8;
  steps = (bytes + ((size_t)1 << unit) - 1) >> unit; /* 5 .. 8 above the first octave */
  *rounded = steps << unit;
  return octave * 4 + (octave ? steps - 5 : 0);
}

size_t gr_pool_round(size_t bytes) {
  size_t rounded;
  if (bytes < SMALL) return bytes ? (bytes + 255) & ~(size_t)255 : 256;
  class_of(bytes, &rounded);
  return rounded;
}

size_t gr_pool_class(size_t rounded) {
  size_t ignored;
  return class_of(rounded, &ignored);
}

/* At a multiple of 64, with what malloc gave just before it: malloc's aligned sister is many times slower. */
static void *small_take(size_t bytes) {
  char *given = malloc(bytes + 64), *p;
  if (!given) return NULL;
  p = given + 64 - (uintptr_t)given % 64;
  memcpy(p - sizeof given, &given, sizeof given);
  return p;
}

static void small_give(char *p) {
  char *given;
  memcpy(&given, p - sizeof given, sizeof given);
  free(given);
}

static void *system_take(gr_backend *backend, size_t bytes) {
  void *p = NULL;
  if (backend) return backend->alloc(backend, bytes);
  if (bytes < SMALL) return small_take(bytes);
  if (posix_memalign(&p, bytes < PAGED ? 64 : bytes < HUGE_PAGED ? 4096 : HUGE_PAGE, bytes) != 0) return NULL;
#ifdef MADV_HUGEPAGE
  if (bytes >= HUGE_PAGED) madvise(p, bytes, MADV_HUGEPAGE); /* a hint; out of cache, reading is up to 1.6 times as fast */
#endif
  return p;
}

static void system_give(gr_backend *backend, void *memory, size_t bytes) {
  if (backend) backend->free(backend, memory, bytes);
  else if (bytes < SMALL) small_give(memory);
  else free(memory);
}

static void count_in(gr_backend *backend, size_t bytes) {
  if (backend) counts.device += bytes;
  else counts.host += bytes;
  if (counts.host + counts.device > counts.peak) counts.peak = counts.host + counts.device;
}

static void *take_cached(gr_backend *backend, gr_queue *queue, size_t class, size_t bytes) {
  for (block **at = &cache[class]; *at; at = &(*at)->next) {
    block *b = *at;
    if (b->backend != backend || b->bytes != bytes || (b->queue && b->queue != queue)) continue;
    void *memory = b->memory;
    *at = b->next;
    counts.pooled -= bytes;
    if (!backend) cached_host -= bytes;
    free(b);
    return memory;
  }
  return NULL;
}

void *gr_pool_take(gr_backend *backend, gr_queue *queue, size_t bytes) {
  size_t rounded = gr_pool_round(bytes), ignored;
  void *p = NULL;
  if (rounded < bytes) return NULL;
  if (backend || rounded >= SMALL) {
    pthread_mutex_lock(&lock);
    p = take_cached(backend, queue, class_of(rounded, &ignored), rounded);
    if (p) count_in(backend, rounded);
    pthread_mutex_unlock(&lock);
    if (p) return p;
  }
  p = system_take(backend, rounded);
  if (!p) return NULL;
  queue->stats.allocations++;
  pthread_mutex_lock(&lock);
  count_in(backend, rounded);
  pthread_mutex_unlock(&lock);
  return p;
}

void gr_pool_give(gr_backend *backend, gr_queue *queue, void *memory, size_t bytes) {
  if (!memory) return;
  size_t rounded = gr_pool_round(bytes), ignored;
  block *b = NULL;
  if (backend || rounded >= SMALL) b = malloc(sizeof *b);
  pthread_mutex_lock(&lock);
  if (backend) counts.device -= rounded;
  else counts.host -= rounded;
  if (b && !backend && cached_host + rounded > CACHE_LIMIT) {
    free(b);
    b = NULL;
  }
  if (b) {
    size_t class = class_of(rounded, &ignored);
    *b = (block){cache[class], memory, rounded, backend, backend ? queue : NULL};
    cache[class] = b;
    counts.pooled += rounded;
    if (!backend) cached_host += rounded;
  }
  pthread_mutex_unlock(&lock);
  if (!b) system_give(backend, memory, rounded);
}

void gr_pool_settle(gr_queue *queue) {
  pthread_mutex_lock(&lock);
  for (int c = 0; c < CLASSES; c++)
    for (block *b = cache[c]; b; b = b->next)
      if (b->queue == queue) b->queue = NULL;
  pthread_mutex_unlock(&lock);
}

/* Freeing device memory waits for the device, so blocks of other queues may go as well. */
size_t gr_pool_trim(void) {
  block *all = NULL;
  size_t bytes = 0;
  pthread_mutex_lock(&lock);
  for (int c = 0; c < CLASSES; c++)
    while (cache[c]) {
      block *b = cache[c];
      cache[c] = b->next;
      b->next = all;
      all = b;
    }
  counts.pooled = cached_host = 0;
  pthread_mutex_unlock(&lock);
  while (all) {
    block *b = all;
    all = b->next;
    bytes += b->bytes;
    system_give(b->backend, b->memory, b->bytes);
    free(b);
  }
  return bytes;
}

gr_pool_counts gr_pool_read(void) {
  pthread_mutex_lock(&lock);
  gr_pool_counts now = counts;
  pthread_mutex_unlock(&lock);
  return now;
}
