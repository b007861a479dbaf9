/* What the files of the CUDA backend share; nothing outside src/backend/cuda*.c includes it. */
#ifndef GR_BACKEND_CUDA_H
#define GR_BACKEND_CUDA_H

#include <cuda_runtime_api.h>
#include "kernels/cuda/ladder.h"
#include "kernels/cuda/launch.h"
#include "src/core/backend.h"

typedef struct gr_cuda_device {
  gr_backend base;
  gr_cuda_chip chip;
} gr_cuda_device;

/* Device memory that kernels of one stream share; the counters at its start are zero between launches. */
typedef struct gr_cuda_scratch {
  void *memory;
  size_t bytes;
} gr_cuda_scratch;

/* Pinned buffers taken in turn; done[k] is recorded when buffer k's copies have been issued. */
#define GR_RING 4
typedef struct gr_cuda_ring {
  char *memory;
  size_t size, used; /* of one buffer; bytes taken from the current one */
  int at;
  cudaEvent_t done[GR_RING];
} gr_cuda_ring;

/* Where a kernel leaves a result for the host: two words, then the ticket of the launch that wrote them. */
typedef struct gr_cuda_slot {
  uint64_t value[2], ticket;
} gr_cuda_slot;

typedef struct gr_cuda_queue {
  gr_queue base;
  gr_cuda_device *device;
  cudaStream_t stream;
  gr_cuda_ring small, large;
  gr_cuda_scratch work;  /* of every operation but scan */
  gr_cuda_scratch chain; /* of scan: what it leaves there is told from foreign bytes by its epoch alone */
  gr_cuda_slot *slot;    /* mapped pinned memory, as the host sees it */
  gr_cuda_slot *mapped;  /* as the device does */
  uint64_t epoch, ticket;
  cudaEvent_t marks[2]; /* made when first set */
} gr_cuda_queue;

/*
** Every entry makes the queue's device current and puts the caller's back: gr_cuda_enter gives what
** gr_cuda_leave takes, or -1 when the device is lost and nothing may be called.
*/
int gr_cuda_enter(gr_cuda_queue *);
void gr_cuda_leave(gr_cuda_queue *, int was);

/* GR_OK for cudaSuccess; else writes queue->error, latches a lost device and clears CUDA's last error. */
gr_status gr_cuda_check(gr_cuda_queue *, cudaError_t, const char *doing);

gr_status gr_cuda_upload(gr_queue *, void *device, const void *host, size_t bytes);
gr_status gr_cuda_download(gr_queue *, void *host, const void *device, size_t bytes);
cudaError_t gr_cuda_ring_open(gr_cuda_ring *, size_t size);
void gr_cuda_ring_close(gr_cuda_ring *);

#endif
