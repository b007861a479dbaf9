/*
** A long call can be stopped from outside: it raises "interrupted" between two of its pieces, some milliseconds later.
** There are three reasons to. The host's flag, `raised` or one of its own, which any thread may set and which stops
** every long call for as long as it is up; the sign that the binding gives for the caller, when it is another one than
** when the work began; and the time that a host allows a call.
**
** Inputs stay as they are, and so does everything else but the array that was to be written, whose elements are
** anybody's guess. Work of less than GR_LONG elements does not look: it is done before anybody could ask. Only the CPU
** looks.
*/
#ifndef GR_STOP_H
#define GR_STOP_H

#include <stdatomic.h>
#include <stdint.h>
#include "src/core/clock.h"

#define GR_LONG ((int64_t)1 << 20)

typedef struct gr_stop {
  atomic_int raised;
  const _Atomic int32_t *flag;                /* the host's own, or NULL */
  uint64_t (*sign)(void *host, void *caller); /* NULL: only the flag counts */
  void *host, *caller;                        /* what it is asked about; caller: NULL when no call is under way */
  int64_t most;                               /* nanoseconds that a call may take; 0: any */
  int known;                                  /* the call under way has begun long work, then and with that sign */
  int64_t began;
  uint64_t before;
} gr_stop;

static inline uint64_t gr_stop_sign(const gr_stop *s) { return s->sign ? s->sign(s->host, s->caller) : 0; }

/* Before work that looks; once more in the same call it goes on from where it was. */
static inline void gr_stop_begin(gr_stop *s) {
  if (s->caller && s->known) return;
  s->before = gr_stop_sign(s);
  s->began = s->most ? gr_nanoseconds() : 0;
  s->known = 1;
}

/* The long work of a call that goes on in several calls of the core: what it knew when it began. */
typedef struct gr_stop_since {
  uint64_t before;
  int64_t began;
} gr_stop_since;
static inline gr_stop_since gr_stop_note(gr_stop *s) {
  gr_stop_begin(s);
  return (gr_stop_since){s->before, s->began};
}
static inline void gr_stop_resume(gr_stop *s, gr_stop_since since) {
  s->before = since.before;
  s->began = since.began;
  s->known = 1;
}

static inline int gr_stop_raised(const gr_stop *s) {
  return atomic_load_explicit(&s->raised, memory_order_relaxed) ||
         (s->flag && atomic_load_explicit(s->flag, memory_order_relaxed));
}

/* The host's reasons, for work that began then. */
static inline int gr_stop_due(const gr_stop *s, int64_t began) {
  return gr_stop_raised(s) || (s->most && gr_nanoseconds() - began > s->most);
}
static inline int gr_stop_asked(const gr_stop *s) { return gr_stop_sign(s) != s->before || gr_stop_due(s, s->began); }

#endif
