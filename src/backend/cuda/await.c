/* How the host waits for a launch: it polls the words of mapped memory to which the kernel writes its ticket. */
#include "src/backend/cuda/cuda.h"

#include <stdatomic.h>
#include <time.h>
#include "src/core/clock.h"
#include "src/core/pause.h"

void gr_cuda_clear_mailbox(uint64_t *words, int halves) {
  volatile uint64_t *word = words;
  for (int k = 0; k < halves; k++) word[k] = 0;
  atomic_thread_fence(memory_order_seq_cst);
}

/* Whether the stream is healthy; a kernel that faulted, or ended without its ticket, is not. */
static gr_status ask_stream(gr_cuda_queue *q, const uint64_t *halves, int count, uint64_t ticket, const char *what) {
  cudaError_t e = cudaStreamQuery(q->stream);
  if (e == cudaErrorNotReady) (void)cudaGetLastError();
  else if (e != cudaSuccess) return gr_cuda_check(q, e, what);
  else if (!gr_mailbox_arrived(halves, count, ticket)) return gr_cuda_check(q, cudaErrorLaunchFailure, what);
  return GR_OK;
}

/* Spins at first, asking the stream now and then. A wait that has lasted long naps, for a small part of that time. */
gr_status gr_cuda_await(gr_cuda_queue *q, const uint64_t *halves, int count, uint64_t ticket, int64_t limit,
                        const char *what, int *there) {
  if ((*there = gr_mailbox_arrived(halves, count, ticket))) return GR_OK;
  int64_t began = gr_nanoseconds(), asked = began;
  for (unsigned spins = 1; !(*there = gr_mailbox_arrived(halves, count, ticket)); spins++) {
    if (limit != 0) {
      if (spins > GR_WAIT_SPINS) gr_pause();
      if (spins % GR_WAIT_CLOCK) continue;
    }
    int64_t now = gr_nanoseconds();
    if (limit == 0 || now - asked > GR_WAIT_ASK) {
      gr_status status = ask_stream(q, halves, count, ticket, what);
      if (status != GR_OK) return status;
      asked = now;
    }
    if (limit >= 0 && now - began >= limit) {
      *there = gr_mailbox_arrived(halves, count, ticket);
      return GR_OK;
    }
    if (now - began > GR_WAIT_NAPS) { /* a nap takes too much for short waits */
      const int64_t part = (now - began) / GR_WAIT_NAP_SHARE;
      struct timespec t = {0, part < GR_WAIT_NAP ? part : GR_WAIT_NAP};
      nanosleep(&t, NULL);
    }
  }
  return GR_OK;
}
