#include "src/backend/slabs.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/*
** The pool asks for quarters of an octave, which from 64 KiB on are whole units. Slabs grow with what is in them, from
** what a driver maps at once: a program with a few small arrays takes no more than that.
*/
#define UNIT ((size_t)16 << 10)
#define LEAST (3 * UNIT)
#define FIRST ((size_t)2 << 20)
#define LARGEST ((size_t)32 << 20)
#define MOST (LARGEST / 4)
#define WORDS (LARGEST / UNIT / 64)

typedef struct gr_slab {
  char *memory;
  size_t units, free, stale;                /* how many: all, free at once, given back but not waited for */
  uint64_t taken[WORDS], given_back[WORDS]; /* a bit a unit; what is given back is still taken until a wait */
} gr_slab;

/* ---- bits ---- */

static void set(uint64_t *bits, size_t at, size_t count, int value) {
  for (size_t k = at; k < at + count; k++) {
    const uint64_t bit = UINT64_C(1) << (k & 63);
    if (value) bits[k >> 6] |= bit;
    else bits[k >> 6] &= ~bit;
  }
}

/* The first unit from `at` on that is taken, or is not; `end` if there is none before it. */
static size_t next(const uint64_t *bits, size_t at, size_t end, int taken) {
  while (at < end) {
    const uint64_t word = (taken ? bits[at >> 6] : ~bits[at >> 6]) >> (at & 63);
    if (word) {
      at += (size_t)__builtin_ctzll(word);
      return at < end ? at : end;
    }
    at = (at | 63) + 1;
  }
  return end;
}

/* Where the first stretch of so many free units begins; the slab's end if there is none. */
static size_t find(const gr_slab *s, size_t need) {
  for (size_t at = 0; at + need <= s->units;) {
    at = next(s->taken, at, s->units, 0);
    if (at + need > s->units) break;
    const size_t end = next(s->taken, at, at + need, 1);
    if (end == at + need) return at;
    at = end;
  }
  return s->units;
}

/* ---- slabs, under the lock ---- */

static void *carve(gr_slabs *all, size_t need) {
  for (int k = 0; k < all->count; k++) {
    gr_slab *s = all->list[k];
    if (s->free < need) continue;
    const size_t at = find(s, need);
    if (at == s->units) continue;
    set(s->taken, at, need, 1);
    s->free -= need;
    all->used += need * UNIT;
    return s->memory + at * UNIT;
  }
  return NULL;
}

/* Whether blocks that were given back may make room in a slab. */
static int may_settle(const gr_slabs *all, size_t need) {
  for (int k = 0; k < all->count; k++)
    if (all->list[k]->stale && all->list[k]->free + all->list[k]->stale >= need) return 1;
  return 0;
}

/* After a wait: what had been given back is free. */
static void settle(gr_slabs *all) {
  for (int k = 0; k < all->count; k++) {
    gr_slab *s = all->list[k];
    for (size_t w = 0; w < WORDS && s->stale; w++) s->taken[w] &= ~s->given_back[w];
    if (s->stale) memset(s->given_back, 0, sizeof s->given_back);
    s->free += s->stale;
    s->stale = 0;
  }
}

/* The number of slabs that begin at or below the address. */
static int below(const gr_slabs *all, const char *p) {
  int low = 0, high = all->count;
  while (low < high) {
    const int middle = (low + high) / 2;
    if ((uintptr_t)all->list[middle]->memory <= (uintptr_t)p) low = middle + 1;
    else high = middle;
  }
  return low;
}

/* A slab more, of which the block would be a quarter at most; whether there is one. */
static int add(gr_slabs *all, size_t bytes) {
  size_t size = all->bytes > 4 * bytes ? all->bytes : 4 * bytes;
  size = size > LARGEST ? LARGEST : (size + FIRST - 1) / FIRST * FIRST;
  if (all->count == all->room) {
    const int room = all->room ? 2 * all->room : 16;
    gr_slab **list = realloc(all->list, (size_t)room * sizeof *list);
    if (!list) return 0;
    all->list = list;
    all->room = room;
  }
  gr_slab *s = calloc(1, sizeof *s);
  if (!s) return 0;
  s->memory = all->source->take(all->device, size);
  if (!s->memory) {
    free(s);
    return 0;
  }
  s->units = s->free = size / UNIT;
  const int at = below(all, s->memory);
  memmove(all->list + at + 1, all->list + at, (size_t)(all->count - at) * sizeof *all->list);
  all->list[at] = s;
  all->count++;
  all->bytes += size;
  return 1;
}

static void drop(gr_slabs *all, int at) {
  gr_slab *s = all->list[at];
  all->count--;
  all->bytes -= s->units * UNIT;
  memmove(all->list + at, all->list + at + 1, (size_t)(all->count - at) * sizeof *all->list);
  all->source->give(all->device, s->memory, s->units * UNIT);
  free(s);
}

/* ---- taking and giving ---- */

void gr_slabs_open(gr_slabs *all, const gr_slab_source *source, void *device) {
  const char *wish = getenv("GPUREDUCE_SLABS");
  *all = (gr_slabs){.source = source, .device = device, .off = wish && !strcmp(wish, "0")};
  pthread_mutex_init(&all->lock, NULL);
}

void *gr_slabs_take(gr_slabs *all, size_t bytes) {
  const size_t need = (bytes + UNIT - 1) / UNIT;
  void *p = NULL;
  if (!all->off && bytes >= LEAST && bytes <= MOST) {
    pthread_mutex_lock(&all->lock);
    p = carve(all, need);
    if (!p && may_settle(all, need) && all->source->wait(all->device)) {
      settle(all);
      p = carve(all, need);
    }
    if (!p && add(all, bytes)) p = carve(all, need);
    pthread_mutex_unlock(&all->lock);
  }
  return p ? p : all->source->take(all->device, bytes);
}

void gr_slabs_give(gr_slabs *all, void *block, size_t bytes) {
  pthread_mutex_lock(&all->lock);
  const int k = below(all, block) - 1;
  gr_slab *s = k < 0 ? NULL : all->list[k];
  const size_t from = s ? (size_t)((char *)block - s->memory) / UNIT : 0, count = (bytes + UNIT - 1) / UNIT;
  const int carved = s && from < s->units;
  if (carved) {
    set(s->given_back, from, count, 1);
    s->stale += count;
    all->used -= count * UNIT;
    if (s->free + s->stale == s->units) drop(all, k);
  }
  pthread_mutex_unlock(&all->lock);
  if (!carved) all->source->give(all->device, block, bytes);
}

size_t gr_slabs_unused(gr_slabs *all) {
  pthread_mutex_lock(&all->lock);
  const size_t unused = all->bytes - all->used;
  pthread_mutex_unlock(&all->lock);
  return unused;
}
