/*
** Results that the host waits for. Each half of a word goes beside the launch's number, in one 8-byte store: the host
** takes the halves when all of them carry the number, so no store must wait for another to arrive (host:
** src/backend/cuda.h).
*/
#ifndef GR_TELL_CUH
#define GR_TELL_CUH

#include <stdint.h>

static __device__ __forceinline__ void gr_tell(uint64_t *told, uint64_t word, uint64_t ticket) {
  asm volatile("st.relaxed.sys.global.v2.b64 [%0], {%1, %2};" ::"l"(told), "l"(word << 32 | (uint32_t)ticket),
               "l"((word & ~(uint64_t)UINT32_MAX) | (uint32_t)ticket)
               : "memory");
}

/* The end of a launch whose results lie elsewhere in mapped memory; this thread has written or seen them. */
static __device__ __forceinline__ void gr_tell_end(uint64_t *told, uint64_t ticket) {
  __threadfence_system();
  gr_tell(told, 0, ticket);
  gr_tell(told + 2, 0, ticket);
}

#endif
