#include "kernels/cpu/room.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#define LINE 64

/* AddressSanitizer is told what has been taken, and sees what is used beyond it. */
#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#define GAP LINE
#define MAY_USE(from, bytes) ASAN_UNPOISON_MEMORY_REGION(from, bytes)
#define MAY_NOT_USE(from, bytes) ASAN_POISON_MEMORY_REGION(from, (size_t)(bytes))
#else
#define GAP 0
#define MAY_USE(from, bytes) ((void)0)
#define MAY_NOT_USE(from, bytes) ((void)0)
#endif

typedef struct room {
  _Alignas(LINE) char bytes[GR_ROOM];
} room;

static room common; /* costs nothing before it is touched */
static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;
static pthread_key_t key;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static atomic_int has_key;

static _Thread_local struct {
  room *room; /* this thread's, or the common one while it is this thread's turn */
  size_t used;
} mine;

/* Of a thread that ends. What runs after this, another library's, may call once more. */
static void end(void *whole) {
  free(whole);
  mine.room = NULL;
}

static void make_key(void) { atomic_store(&has_key, pthread_key_create(&key, end) == 0); }

/* Where a library that was linked statically is unloaded, threads that end later must not look for its key. */
__attribute__((destructor)) static void forget_key(void) {
  if (atomic_exchange(&has_key, 0)) pthread_key_delete(key);
}

static void begin(void) {
  pthread_once(&once, make_key);
  mine.room = atomic_load(&has_key) ? aligned_alloc(LINE, sizeof(room)) : NULL;
  if (!mine.room || pthread_setspecific(key, mine.room) != 0) {
    free(mine.room);
    pthread_mutex_lock(&turn);
    mine.room = &common;
  }
  MAY_NOT_USE(mine.room->bytes, sizeof(room));
}

void *gr_room_take(size_t bytes) {
  if (!mine.room) begin();
  char *const taken = mine.room->bytes + mine.used;
  mine.used += (bytes + LINE - 1) / LINE * LINE + GAP;
  if (mine.used > sizeof(room)) abort(); /* GR_ROOM is no longer what kernels take within each other */
  MAY_USE(taken, bytes);
  return taken;
}

void gr_room_give(void *taken) {
  MAY_NOT_USE(taken, mine.room->bytes + mine.used - (char *)taken);
  mine.used = (size_t)((char *)taken - mine.room->bytes);
  if (mine.used || mine.room != &common) return;
  mine.room = NULL;
  pthread_mutex_unlock(&turn);
}

void gr_room_free(void) {
  if (!mine.room || mine.used) return;
  pthread_setspecific(key, NULL);
  free(mine.room);
  mine.room = NULL;
}

void gr_room_after_fork(void) { pthread_mutex_init(&turn, NULL); }
