/* The device's memory, as the pool of the core asks for it. */
#include "src/backend/cuda/cuda.h"

void *gr_cuda_alloc(gr_backend *b, size_t bytes) {
  gr_cuda_device *d = (gr_cuda_device *)b;
  void *p = NULL;
  int was = gr_cuda_enter_device(d);
  if (was < 0) return NULL;
  if (cudaMalloc(&p, bytes ? bytes : 256) != cudaSuccess) {
    (void)cudaGetLastError();
    p = NULL;
  }
  gr_cuda_leave_device(d, was);
  return p;
}

/* Errors are of no use here: at the end of the process the runtime may be gone already. */
void gr_cuda_free(gr_backend *b, void *p, size_t bytes) {
  gr_cuda_device *d = (gr_cuda_device *)b;
  int was = gr_cuda_enter_device(d);
  (void)bytes;
  if (was < 0) return;
  if (cudaFree(p) != cudaSuccess) (void)cudaGetLastError();
  gr_cuda_leave_device(d, was);
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
  return now;
}
