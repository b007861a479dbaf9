/* The host mailbox, from the kernel's side (grid/mailbox.h). */
#ifndef GR_CUDA_GRID_MAILBOX_CUH
#define GR_CUDA_GRID_MAILBOX_CUH

#include "kernels/cuda/grid/publish.cuh"

/* A word for the host; the mark is the launch's number (host: src/backend/cuda/cuda.h). */
static __device__ __forceinline__ void gr_mailbox_put(uint64_t *mailbox, uint64_t word, uint64_t ticket) {
  gr_halves h = gr_split(word, {(uint32_t)ticket, (uint32_t)ticket});
  asm volatile("st.relaxed.sys.global.v2.b64 [%0], {%1, %2};" ::"l"(mailbox), "l"(h.low), "l"(h.high) : "memory");
}

/* The end of a launch whose results lie elsewhere in mapped memory; this thread has written or seen them. */
static __device__ __forceinline__ void gr_mailbox_end(uint64_t *mailbox, uint64_t ticket) {
  __threadfence_system();
  gr_mailbox_put(mailbox, 0, ticket);
  gr_mailbox_put(mailbox + 2, 0, ticket);
}

#endif
