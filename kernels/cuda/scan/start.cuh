/* Which kernel a scan takes, and how much shared memory. */
#ifndef GR_CUDA_SCAN_START_CUH
#define GR_CUDA_SCAN_START_CUH

#include "kernels/cuda/formula/start.cuh"
#include "kernels/cuda/scan/down.cuh"
#include "kernels/cuda/scan/ring.cuh"
#include "kernels/cuda/scan/many.cuh"
#include "kernels/cuda/scan/short.cuh"

static cudaError_t gr_scan_launch(const void *kernel, gr_scan &q, int32_t blocks, int32_t threads, int shared,
                                  const gr_scan_place &at) {
  void *args[] = {&q};
  if (at.asked) {
    at.asked->launches = 1;
    at.asked->blocks = blocks;
    at.asked->threads = threads;
    at.asked->shared = shared;
    return cudaSuccess;
  }
  const int early = at.chip->major >= 9;
  if (at.formula) return gr_start_formula(*at.formula, q, blocks, threads, (size_t)shared, early, at.stream);
  cudaError_t e =
      shared ? cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared) : cudaSuccess;
  if (e != cudaSuccess) return e;
  return gr_start_early(kernel, args, blocks, threads, (size_t)shared, early, at.stream);
}

template <class S> static cudaError_t gr_scan_start(gr_scan q, const gr_scan_place &at) {
  using Shape = gr_scan_shape<S>;
  const gr_cuda_chip *chip = at.chip;
  if constexpr (S::count == S::each)
    if (q.down) return gr_scan_start_strips<S>(q, at);
  if (q.count > 1 && q.tiles == 1) {
    for (q.lanes = 1; q.lanes * Shape::each < q.n;) q.lanes *= 2;
    int64_t blocks = (q.count * q.lanes - 1) / (GR_SCAN_ROWS * 32) + 1;
    return gr_scan_launch((const void *)gr_scan_many<S>, q, (int32_t)blocks, Tuning::writers * 32, 0, at);
  }
  if (q.tiles <= Tuning::short_tiles)
    return gr_scan_launch((const void *)gr_scan_short<S>, q, (int32_t)(q.count * q.tiles), Tuning::writers * 32, 0, at);
  /* Blocks share a multiprocessor's memory, where their rings of two tiles fit; 1 KB of each is the system's. */
  int each = gr_scan_ring<S>::slot_bytes, fixed = Tuning::writers * Shape::results;
  q.slots = ((chip->shared_optin + 1024) / Tuning::ring_blocks - 1024 - fixed) / each;
  if (q.slots < Tuning::ring_least_slots) q.slots = (chip->shared_optin - fixed) / each;
  if (q.slots > Tuning::ring_slots) q.slots = Tuning::ring_slots;
  return gr_scan_launch((const void *)gr_scan_long<S>, q, chip->sms * Tuning::ring_blocks, GR_SCAN_THREADS,
                        fixed + q.slots * each, at);
}

#endif
