/* Time. */
#ifndef GR_CLOCK_H
#define GR_CLOCK_H

#include <stdint.h>
#include <time.h>

/* Nanoseconds on a clock that only goes forward. */
static inline int64_t gr_nanoseconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

#endif
