/*
** The floating-point mode that the kernels are written for: round to nearest, subnormals kept, no traps.
** A host program may have set another one (games like flush-to-zero); it gets its own back.
*/
#ifndef GR_CPU_ROUNDING_H
#define GR_CPU_ROUNDING_H

#include <stdint.h>

#if defined(__SSE__)
#include <xmmintrin.h>

typedef unsigned gr_rounding;
#define GR_ROUNDING_BITS 0xffc0u /* all but the sticky flags: reading is cheap, writing is not */
#define GR_ROUNDING_WANT 0x1f80u

static inline gr_rounding gr_rounding_enter(void) {
  const unsigned now = _mm_getcsr();
  if ((now & GR_ROUNDING_BITS) != GR_ROUNDING_WANT) _mm_setcsr(GR_ROUNDING_WANT);
  return now;
}
static inline void gr_rounding_leave(gr_rounding before) {
  if ((before & GR_ROUNDING_BITS) != GR_ROUNDING_WANT) _mm_setcsr(before);
}

#elif defined(__aarch64__) && defined(__GNUC__)

typedef uint64_t gr_rounding;

static inline gr_rounding gr_rounding_enter(void) {
  uint64_t now;
  __asm__ volatile("mrs %0, fpcr" : "=r"(now));
  if (now) __asm__ volatile("msr fpcr, %0" ::"r"((uint64_t)0));
  return now;
}
static inline void gr_rounding_leave(gr_rounding before) {
  if (before) __asm__ volatile("msr fpcr, %0" ::"r"(before));
}

#else
#include <fenv.h>

typedef int gr_rounding;

static inline gr_rounding gr_rounding_enter(void) {
  const int now = fegetround();
  if (now != FE_TONEAREST) fesetround(FE_TONEAREST);
  return now;
}
static inline void gr_rounding_leave(gr_rounding before) {
  if (before != FE_TONEAREST) fesetround(before);
}

#endif
#endif
