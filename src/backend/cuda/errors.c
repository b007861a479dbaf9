/*
** What CUDA's functions return becomes a status and a sentence. A fault such as an illegal address loses the device to
** this process for good: from then on nothing of CUDA is called, so that each call says at once what happened.
*/
#include "src/backend/cuda/cuda.h"

#include <stdatomic.h>
#include <stdio.h>

/* 1: a thread met a fault and writes lost_why; 2: it has. */
static atomic_int lost;
static char lost_why[200];

void gr_cuda_forked(void) {
  snprintf(lost_why, sizeof lost_why,
           "this process is a child of fork, and CUDA works in the parent alone, which had started it before");
  atomic_store(&lost, 2);
}

static int is_sticky(cudaError_t e) {
  switch (e) {
    case cudaErrorIllegalAddress:
    case cudaErrorLaunchTimeout:
    case cudaErrorAssert:
    case cudaErrorHardwareStackError:
    case cudaErrorIllegalInstruction:
    case cudaErrorMisalignedAddress:
    case cudaErrorInvalidAddressSpace:
    case cudaErrorInvalidPc:
    case cudaErrorLaunchFailure:
    case cudaErrorECCUncorrectable:
    case cudaErrorNvlinkUncorrectable:
    case cudaErrorContextIsDestroyed: return 1;
    default: return 0;
  }
}

gr_status gr_cuda_check(gr_cuda_queue *q, cudaError_t e, const char *doing) {
  if (e == cudaSuccess) return GR_OK;
  (void)cudaGetLastError(); /* ours, not to be found by the host program */
  snprintf(q->base.error, sizeof q->base.error, "%s failed on %s: %s (%s)", doing, q->base.backend->name,
           cudaGetErrorString(e), cudaGetErrorName(e));
  if (is_sticky(e)) {
    int expected = 0;
    q->base.lost = 1;
    if (atomic_compare_exchange_strong(&lost, &expected, 1)) {
      snprintf(lost_why, sizeof lost_why, "%.150s", q->base.error);
      atomic_store(&lost, 2);
    }
  }
  return e == cudaErrorMemoryAllocation ? GR_NO_MEMORY : GR_DEVICE;
}

int gr_cuda_enter(gr_cuda_queue *q) {
  int was = 0;
  if (atomic_load(&lost)) {
    q->base.lost = 1;
    snprintf(q->base.error, sizeof q->base.error, "the device is lost to this process: %s",
             atomic_load(&lost) == 2 ? lost_why : "another thread met the fault");
    return -1;
  }
  cudaError_t e = cudaGetDevice(&was);
  if (e == cudaSuccess && was != q->device->chip.device) e = cudaSetDevice(q->device->chip.device);
  return gr_cuda_check(q, e, "choosing the device") == GR_OK ? was : -1;
}

void gr_cuda_leave(gr_cuda_queue *q, int was) {
  if (was != q->device->chip.device) (void)cudaSetDevice(was);
}

int gr_cuda_enter_device(const gr_cuda_device *d) {
  int was = 0;
  if (atomic_load(&lost) || cudaGetDevice(&was) != cudaSuccess) return -1;
  if (was != d->chip.device && cudaSetDevice(d->chip.device) != cudaSuccess) return -1;
  return was;
}

void gr_cuda_leave_device(const gr_cuda_device *d, int was) {
  if (was != d->chip.device) (void)cudaSetDevice(was);
}
