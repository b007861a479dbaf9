/* Random numbers for the programs among the specs: SplitMix64 (Steele, Lea, Flood 2014), from a state that they set. */
#ifndef GR_SPEC_CHANCE_H
#define GR_SPEC_CHANCE_H

#include <stdint.h>

static uint64_t state;

static inline uint64_t next(void) {
  uint64_t z = state += UINT64_C(0x9e3779b97f4a7c15);
  z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
  return z ^ z >> 31;
}
static inline int64_t below(int64_t n) { return (int64_t)(next() % (uint64_t)n); }

#endif
