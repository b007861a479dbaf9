/*
** Words for somebody who waits for them, the host or another block: each half beside a mark, so that whoever sees the
** marks has the halves (8-byte accesses are whole), and no store must wait for another to arrive.
*/
#ifndef GR_CUDA_GRID_MAILBOX_CUH
#define GR_CUDA_GRID_MAILBOX_CUH

#include <stdint.h>

struct gr_halves {
  uint64_t low, high;
};
static __device__ __forceinline__ gr_halves gr_split(uint64_t word, uint32_t mark) {
  return {word << 32 | mark, (word & ~(uint64_t)UINT32_MAX) | mark};
}
static __device__ __forceinline__ uint64_t gr_join(gr_halves h) {
  return h.low >> 32 | (h.high & ~(uint64_t)UINT32_MAX);
}

/* A word for the host; the mark is the launch's number (host: src/backend/cuda/cuda.h). */
static __device__ __forceinline__ void gr_mailbox_put(uint64_t *mailbox, uint64_t word, uint64_t ticket) {
  gr_halves h = gr_split(word, (uint32_t)ticket);
  asm volatile("st.relaxed.sys.global.v2.b64 [%0], {%1, %2};" ::"l"(mailbox), "l"(h.low), "l"(h.high) : "memory");
}

/* The end of a launch whose results lie elsewhere in mapped memory; this thread has written or seen them. */
static __device__ __forceinline__ void gr_mailbox_end(uint64_t *mailbox, uint64_t ticket) {
  __threadfence_system();
  gr_mailbox_put(mailbox, 0, ticket);
  gr_mailbox_put(mailbox + 2, 0, ticket);
}

#endif
