/* Which kernel a scan takes, and how much shared memory. */
#ifndef GR_CUDA_SCAN_START_CUH
#define GR_CUDA_SCAN_START_CUH

#include "kernels/cuda/scan/ring.cuh"
#include "kernels/cuda/scan/short.cuh"

template <class S> static cudaError_t gr_scan_start(gr_scan q, const gr_cuda_chip *chip, cudaStream_t stream) {
  using Shape = gr_scan_shape<S>;
  const void *kernel = (const void *)gr_scan_long<S>;
  void *args[] = {&q};
  int blocks = chip->sms * GR_SCAN_BLOCKS, early = chip->major >= 9;
  if (q.tiles <= GR_SCAN_SHORT)
    return gr_start_early((const void *)gr_scan_short<S>, args, (int32_t)q.tiles, GR_SCAN_WRITERS * 32, 0, early,
                          stream);
  /* Blocks share a multiprocessor's memory, where their rings of two tiles fit; 1 KB of each is the system's. */
  int each = gr_scan_ring<S>::slot_bytes, fixed = GR_SCAN_WRITERS * Shape::results;
  q.slots = ((chip->shared_optin + 1024) / GR_SCAN_BLOCKS - 1024 - fixed) / each;
  if (q.slots < 2) q.slots = (chip->shared_optin - fixed) / each;
  if (q.slots > GR_SCAN_SLOTS) q.slots = GR_SCAN_SLOTS;
  int shared = fixed + q.slots * each;
  cudaError_t e = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared);
  if (e != cudaSuccess) return e;
  return gr_start_early(kernel, args, blocks, GR_SCAN_THREADS, (size_t)shared, early, stream);
}

#endif
