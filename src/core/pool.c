#include "src/core/pool.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "src/core/clock.h"

/*
** Blocks below this come straight from malloc, which is quick for them. For larger ones the pool saves malloc's search,
** and for the largest the page faults of new memory.
*/
#define SMALL ((size_t)1 << 10)
#define LINE ((size_t)64)
#define PAGED ((size_t)64 << 10) /* from here on blocks start at a page */
#define HUGE_PAGE ((size_t)2 << 20)
#define HUGE_PAGED (2 * HUGE_PAGE)
/* Requests above this may be served by a larger cached block: larger by a quarter, up to MOST_SLACK. */
#define REUSE_LARGER ((size_t)1 << 20)
#define SLACK(bytes) ((bytes) / 4 < MOST_SLACK ? (bytes) / 4 : MOST_SLACK)
#define MOST_SLACK ((size_t)64 << 20)
#define HOST_CACHE ((size_t)256 << 20)
#define DEVICE_FLOOR ((size_t)32 << 20) /* a device may always hold this much */
#define LATELY INT64_C(1000000000)      /* nanoseconds: a peak counts for one to two of these */
#define SMALL_CLASSES (SMALL / LINE)
#define CLASSES 232

typedef struct block {
  struct block *next, **at;      /* among the cached ones of its class; at: what points to it */
  struct block *newer, **behind; /* by the time at which they were given back */
  struct cache *cache;
  void *memory;
  size_t bytes;
  gr_queue *queue; /* whose work may still use it; NULL: nobody's */
} block;

typedef struct cache {
  gr_backend *backend; /* NULL: host */
  size_t used, cached;
  size_t peak[2]; /* of used: in the present interval and in the one before */
  int64_t since;  /* the present interval began */
  block *class[CLASSES], *oldest, **newest;
} cache;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static cache caches[GR_MAX_BACKENDS + 1];
static int cache_count;
static size_t limit = GR_POOL_AUTO, most_used;

/* ---- sizes ---- */

static size_t up(size_t bytes, size_t unit) { return (bytes + unit - 1) & ~(unit - 1); }

static int octave_of(size_t bytes) { return 63 - __builtin_clzll(bytes - 1); } /* 2^octave < bytes <= 2^(octave+1) */

size_t gr_pool_round(size_t bytes) {
  if (bytes <= SMALL) return bytes ? up(bytes, LINE) : LINE;
  size_t unit = (size_t)1 << (octave_of(bytes) - 2);
  return up(bytes, unit < HUGE_PAGE ? unit : HUGE_PAGE);
}

size_t gr_pool_class(size_t rounded) {
  if (rounded <= SMALL) return rounded / LINE - 1;
  int octave = octave_of(rounded);
  return SMALL_CLASSES + (size_t)(octave - 10) * 4 + ((rounded - 1) >> (octave - 2) & 3);
}

/* ---- the system's memory ---- */

/* Aligned to 64 bytes; malloc's own pointer lies just before it. aligned_alloc is many times slower. */
static void *small_take(size_t bytes) {
  char *given = malloc(bytes + LINE), *p;
  if (!given) return NULL;
  p = given + LINE - (uintptr_t)given % LINE;
  memcpy(p - sizeof given, &given, sizeof given);
  return p;
}

static void small_give(char *p) {
  char *given;
  memcpy(&given, p - sizeof given, sizeof given);
  free(given);
}

/* The host's; all zeros: the system's. It changes only while there is no block. */
static gr_allocator by;

static void *system_take(gr_backend *backend, size_t bytes) {
  void *p = NULL;
  if (backend && by.device) return by.device(by.user, backend->name, up(bytes, 256));
  if (backend) return backend->alloc(backend, bytes);
  if (by.host) return by.host(by.user, bytes, bytes < PAGED ? LINE : 4096);
  if (bytes < SMALL) return small_take(bytes);
  if (posix_memalign(&p, bytes < PAGED ? LINE : bytes < HUGE_PAGED ? 4096 : HUGE_PAGE, bytes) != 0) return NULL;
#ifdef MADV_HUGEPAGE
  /* A hint; out of cache, reading is up to 1.6 times as fast. */
  if (bytes >= HUGE_PAGED) madvise(p, bytes, MADV_HUGEPAGE);
#endif
  return p;
}

static void system_give(gr_backend *backend, void *memory, size_t bytes) {
  if (backend && by.device) by.free_device(by.user, backend->name, memory, up(bytes, 256));
  else if (backend) backend->free(backend, memory, bytes);
  else if (by.host) by.free_host(by.user, memory, bytes);
  else if (bytes < SMALL) small_give(memory);
  else free(memory);
}

/* ---- caches, under the lock ---- */

static cache *cache_of(gr_backend *backend) {
  cache *c = caches;
  while (c < caches + cache_count && c->backend != backend) c++;
  if (c == caches + cache_count) {
    cache_count++; /* there is room for every backend (context.h) */
    c->backend = backend;
    c->newest = &c->oldest;
  }
  return c;
}

/* After used has grown, and before it shrinks. */
static void note_peak(cache *c) {
  if (!c->backend) return;
  const int64_t now = gr_nanoseconds();
  if (now - c->since > LATELY) {
    c->peak[1] = now - c->since > 2 * LATELY ? c->used : c->peak[0];
    c->peak[0] = c->used;
    c->since = now;
  }
  if (c->used > c->peak[0]) c->peak[0] = c->used;
}

/*
** How many bytes may be cached when so many more are in use: no more than the recent peak, and with those in use a
** quarter more. Without that quarter every second request of random size asks the driver, with it every fifth.
*/
static size_t bound_of(const cache *c, size_t more) {
  size_t peak = c->peak[0] > c->peak[1] ? c->peak[0] : c->peak[1], used = c->used + more;
  if (limit != GR_POOL_AUTO) return limit;
  if (!c->backend) return HOST_CACHE;
  if (peak < DEVICE_FLOOR) peak = DEVICE_FLOOR;
  const size_t all = peak + peak / 4;
  return used > all ? 0 : all - used < peak ? all - used : peak;
}

static void count_in(cache *c, size_t bytes) {
  size_t all = 0;
  c->used += bytes;
  note_peak(c);
  for (int k = 0; k < cache_count; k++) all += caches[k].used;
  if (all > most_used) most_used = all;
}

static void put(cache *c, block *b) {
  block **head = &c->class[gr_pool_class(b->bytes)];
  b->cache = c;
  b->next = *head;
  b->at = head;
  if (b->next) b->next->at = &b->next;
  *head = b;
  b->newer = NULL;
  b->behind = c->newest;
  *c->newest = b;
  c->newest = &b->newer;
  c->cached += b->bytes;
}

static void remove_block(block *b) {
  cache *c = b->cache;
  *b->at = b->next;
  if (b->next) b->next->at = b->at;
  *b->behind = b->newer;
  if (b->newer) b->newer->behind = b->behind;
  else c->newest = b->behind;
  c->cached -= b->bytes;
}

/* The smallest cached block that is large enough, and not much too large. */
static block *find(cache *c, gr_queue *queue, size_t bytes) {
  const size_t most = bytes <= REUSE_LARGER ? bytes : bytes + SLACK(bytes), last = gr_pool_class(most);
  block *best = NULL;
  for (size_t k = gr_pool_class(bytes); k <= last && !best; k++)
    for (block *b = c->class[k]; b && !(best && best->bytes == bytes); b = b->next) {
      const int free_now = !b->queue || b->queue == queue;
      if (free_now && b->bytes >= bytes && b->bytes <= most && (!best || b->bytes < best->bytes)) best = b;
    }
  return best;
}

/* Moves the oldest blocks to a list until no more than bound bytes stay. */
static void shrink(cache *c, size_t bound, block **gone) {
  while (c->cached > bound) {
    block *b = c->oldest;
    remove_block(b);
    b->next = *gone;
    *gone = b;
  }
}

/* Not under the lock: it may take until the device has ended what it does, after which no queue uses these blocks. */
static size_t free_blocks(block *gone) {
  size_t bytes = 0;
  while (gone) {
    block *b = gone;
    gone = b->next;
    bytes += b->bytes;
    system_give(b->cache->backend, b->memory, b->bytes);
    free(b);
  }
  return bytes;
}

/* ---- taking and giving ---- */

/* A new block. If the system refuses, cached blocks are freed, and the request is made again without rounding. */
static void *take_new(gr_backend *backend, size_t exact, size_t *bytes) {
  block *gone = NULL;
  void *p = system_take(backend, *bytes);
  if (p) return p;
  pthread_mutex_lock(&lock);
  shrink(cache_of(backend), 0, &gone);
  pthread_mutex_unlock(&lock);
  if (free_blocks(gone) == 0 && exact == *bytes) return NULL;
  *bytes = exact;
  return system_take(backend, exact);
}

void *gr_pool_take(gr_backend *backend, gr_queue *queue, size_t *bytes) {
  if (*bytes > SIZE_MAX / 4) return NULL;
  size_t exact = up(*bytes + !*bytes, backend ? 256 : LINE), size = gr_pool_round(exact);
  block *gone = NULL, *b = NULL;
  void *p;
  if (size <= REUSE_LARGER) exact = size; /* these classes are one size each */
  if (backend || size >= SMALL) {
    pthread_mutex_lock(&lock);
    cache *c = cache_of(backend);
    b = find(c, queue, exact);
    if (b) {
      remove_block(b);
      count_in(c, b->bytes);
    } else {
      shrink(c, bound_of(c, size), &gone);
    }
    pthread_mutex_unlock(&lock);
    free_blocks(gone);
  }
  if (b) {
    *bytes = b->bytes;
    p = b->memory;
    free(b);
    return p;
  }
  p = take_new(backend, exact, &size);
  *bytes = size;
  if (!p) return NULL;
  queue->stats.allocations++;
  pthread_mutex_lock(&lock);
  count_in(cache_of(backend), size);
  pthread_mutex_unlock(&lock);
  return p;
}

void gr_pool_give(gr_backend *backend, gr_queue *queue, void *memory, size_t bytes) {
  if (!memory) return;
  block *b = NULL, *gone = NULL;
  if (backend || bytes >= SMALL) b = malloc(sizeof *b);
  pthread_mutex_lock(&lock);
  cache *c = cache_of(backend);
  note_peak(c);
  c->used -= bytes;
  const size_t bound = bound_of(c, 0);
  if (b && bytes > bound) {
    free(b);
    b = NULL;
  }
  if (b) {
    *b = (block){.memory = memory, .bytes = bytes, .queue = backend ? queue : NULL};
    put(c, b);
  }
  shrink(c, bound, &gone);
  pthread_mutex_unlock(&lock);
  free_blocks(gone);
  if (!b) system_give(backend, memory, bytes);
}

void gr_pool_settle(gr_queue *queue) {
  pthread_mutex_lock(&lock);
  for (block *b = cache_of(queue->backend)->oldest; b; b = b->newer)
    if (b->queue == queue) b->queue = NULL;
  pthread_mutex_unlock(&lock);
}

void gr_pool_limit(size_t bytes) {
  block *gone = NULL;
  pthread_mutex_lock(&lock);
  limit = bytes;
  for (cache *c = caches; c < caches + cache_count; c++) {
    note_peak(c);
    shrink(c, bound_of(c, 0), &gone);
  }
  pthread_mutex_unlock(&lock);
  free_blocks(gone);
}

size_t gr_pool_trim(void) {
  block *gone = NULL;
  pthread_mutex_lock(&lock);
  for (cache *c = caches; c < caches + cache_count; c++) shrink(c, 0, &gone);
  pthread_mutex_unlock(&lock);
  const size_t bytes = free_blocks(gone);
#ifdef __GLIBC__
  malloc_trim(0); /* free() alone keeps memory that lies below a block in use */
#endif
  return bytes;
}

int gr_pool_allocate_by(const gr_allocator *a) {
  int can = 1;
  pthread_mutex_lock(&lock);
  for (const cache *c = caches; c < caches + cache_count; c++) can = can && !c->used && !c->cached;
  if (can) by = *a;
  else can = !memcmp(&by, a, sizeof by);
  pthread_mutex_unlock(&lock);
  return can;
}

/* Backends are asked without the lock: theirs is held while a device is waited for, and taken first by who forks. */
gr_pool_counts gr_pool_read(void) {
  gr_pool_counts now = {0};
  gr_backend *asked[GR_MAX_BACKENDS];
  int count = 0;
  pthread_mutex_lock(&lock);
  for (const cache *c = caches; c < caches + cache_count; c++) {
    *(c->backend ? &now.device : &now.host) += c->used;
    now.pooled += c->cached;
    if (c->backend) asked[count++] = c->backend;
  }
  now.peak = most_used;
  pthread_mutex_unlock(&lock);
  for (int k = 0; k < count; k++) now.unused += asked[k]->unused ? asked[k]->unused(asked[k]) : 0;
  return now;
}

/* ---- fork ---- */

void gr_pool_before_fork(void) { pthread_mutex_lock(&lock); }

void gr_pool_after_fork(void) { pthread_mutex_unlock(&lock); }
