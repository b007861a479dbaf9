#include "src/capi/handles.h"

#ifdef GR_CHECKED
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

/* A hash table with open addressing; a place whose kind is NONE and whose pointer is not NULL has been removed. */
typedef struct place {
  const void *pointer;
  gr_handle kind;
} place;

static pthread_mutex_t lock; /* recursive */
static pthread_once_t once = PTHREAD_ONCE_INIT;
static place *places;
static size_t room, taken; /* taken: places that are or were in use */

/* Where p is, or would be put. */
static place *find(const void *p) {
  size_t k = (size_t)((uint64_t)(uintptr_t)p * UINT64_C(0x9E3779B97F4A7C15) >> 20) & (room - 1);
  while (places[k].pointer && places[k].pointer != p) k = (k + 1) & (room - 1);
  return &places[k];
}

/* Twice the room, for those that are in use. Without memory for it a checked build cannot go on. */
static void grow(void) {
  place *old = places;
  const size_t count = room;
  room = room ? 2 * room : 1024;
  taken = 0;
  places = calloc(room, sizeof *places);
  if (!places) abort();
  for (size_t k = 0; k < count; k++) {
    if (old[k].kind == GR_HANDLE_NONE) continue;
    *find(old[k].pointer) = old[k];
    taken++;
  }
  free(old);
}

static void make_lock(void) {
  pthread_mutexattr_t recursive;
  pthread_mutexattr_init(&recursive);
  pthread_mutexattr_settype(&recursive, PTHREAD_MUTEX_RECURSIVE);
  pthread_mutex_init(&lock, &recursive);
  pthread_mutexattr_destroy(&recursive);
}

void gr_handle_hold(void) {
  pthread_once(&once, make_lock);
  pthread_mutex_lock(&lock);
}

void gr_handle_let_go(void) { pthread_mutex_unlock(&lock); }

void gr_handle_add(const void *p, gr_handle kind) {
  gr_handle_hold();
  if (2 * taken >= room) grow();
  place *at = find(p);
  if (!at->pointer) taken++;
  *at = (place){p, kind};
  gr_handle_let_go();
}

void gr_handle_remove(const void *p) {
  gr_handle_hold();
  if (room) find(p)->kind = GR_HANDLE_NONE;
  gr_handle_let_go();
}

int gr_handle_known(const void *p, gr_handle kind) {
  gr_handle_hold();
  const int known = room && find(p)->kind == kind;
  gr_handle_let_go();
  return known;
}

int gr_handle_take(const void *p, gr_handle kind) {
  gr_handle_hold();
  const int known = gr_handle_known(p, kind);
  if (known) gr_handle_remove(p);
  gr_handle_let_go();
  return known;
}
#endif
