/* What a thread tells the processor while it looks again and again at what another writes. */
#ifndef GR_PAUSE_H
#define GR_PAUSE_H

static inline void gr_pause(void) {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("yield");
#endif
}

#endif
