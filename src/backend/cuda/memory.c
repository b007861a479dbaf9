/* The device's memory, as the pool of the core asks for it: blocks of slabs, beneath which is the driver. */
#include "src/backend/cuda/cuda.h"

/* ---- the driver, with the device current ---- */

static void *driver_take(void *device, size_t bytes) {
  void *p = NULL;
  (void)device;
  if (cudaMalloc(&p, bytes ? bytes : 256) == cudaSuccess) return p;
  (void)cudaGetLastError();
  return NULL;
}

/* Errors are of no use here: at the end of the process the runtime may be gone already. */
static void driver_give(void *device, void *p, size_t bytes) {
  (void)device, (void)bytes;
  if (cudaFree(p) != cudaSuccess) (void)cudaGetLastError();
}

/* All streams of the device, the host program's too, as cudaFree does. */
static int driver_wait(void *device) {
  (void)device;
  if (cudaDeviceSynchronize() == cudaSuccess) return 1;
  (void)cudaGetLastError();
  return 0;
}

const gr_slab_source gr_cuda_driver = {driver_take, driver_give, driver_wait};

/* ---- for the pool ---- */

void *gr_cuda_alloc(gr_backend *b, size_t bytes) {
  gr_cuda_device *d = (gr_cuda_device *)b;
  int was = gr_cuda_enter_device(d);
  if (was < 0) return NULL;
  void *p = gr_slabs_take(&d->slabs, bytes);
  gr_cuda_leave_device(d, was);
  return p;
}

void gr_cuda_free(gr_backend *b, void *p, size_t bytes) {
  gr_cuda_device *d = (gr_cuda_device *)b;
  int was = gr_cuda_enter_device(d);
  if (was < 0) return;
  gr_slabs_give(&d->slabs, p, bytes);
  gr_cuda_leave_device(d, was);
}

size_t gr_cuda_unused(gr_backend *b) {
  gr_cuda_device *d = (gr_cuda_device *)b;
  int was = gr_cuda_enter_device(d); /* not in a child of fork, where somebody may hold the lock for ever */
  if (was < 0) return 0;
  gr_cuda_leave_device(d, was);
  return gr_slabs_unused(&d->slabs);
}

size_t gr_cuda_available(gr_backend *b) {
  gr_cuda_device *d = (gr_cuda_device *)b;
  size_t now = 0, total = 0;
  int was = gr_cuda_enter_device(d);
  if (was < 0) return 0;
  if (cudaMemGetInfo(&now, &total) != cudaSuccess) {
    (void)cudaGetLastError();
    now = 0;
  }
  gr_cuda_leave_device(d, was);
  return now + gr_cuda_unused(b);
}
