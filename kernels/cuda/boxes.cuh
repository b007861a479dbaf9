/*
** Boxes of a matrix to shared memory by the copying machine of Hopper and later (TMA): one thread asks, whoever waits for
** the arrival sees the data. The host describes the matrix in a map (boxes_host.cuh).
*/
#ifndef GR_BOXES_CUH
#define GR_BOXES_CUH

#include <stdint.h>
#include "kernels/cuda/async.cuh"

struct alignas(64) gr_box_map {
  uint64_t opaque[16]; /* a CUtensorMap */
};

/* `count` arrivals for each phase; before a barrier of those who use it. */
__device__ __forceinline__ void gr_arrivals_start(uint64_t *b, unsigned count = 1) {
#if __CUDA_ARCH__ >= 900
  asm volatile("mbarrier.init.shared.b64 [%0], %1;\n fence.mbarrier_init.release.cluster;" ::"r"(gr_shared_address(b)), "r"(count)
               : "memory");
#endif
}
/* This thread's own stores have arrived; the machine may write there later. */
__device__ __forceinline__ void gr_arrive(uint64_t *b) {
#if __CUDA_ARCH__ >= 900
  asm volatile("mbarrier.arrive.shared.b64 _, [%0];" ::"r"(gr_shared_address(b)) : "memory");
#endif
}
__device__ __forceinline__ void gr_machine_may_write() {
#if __CUDA_ARCH__ >= 900
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
#endif
}
__device__ __forceinline__ void gr_await_arrival(uint64_t *b, unsigned phase) {
#if __CUDA_ARCH__ >= 900
  asm volatile(
      "{\n.reg .pred p;\nagain:\n mbarrier.try_wait.parity.shared.b64 p, [%0], %1;\n@!p bra again;\n}" ::"r"(gr_shared_address(b)),
      "r"(phase)
      : "memory");
#endif
}
/* This thread's arrival, and `bytes` of boxes that must have come too. */
__device__ __forceinline__ void gr_expect(uint64_t *b, unsigned bytes) {
#if __CUDA_ARCH__ >= 900
  asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(gr_shared_address(b)), "r"(bytes) : "memory");
#endif
}
/* A box, from the place (x, y, z, w) on; what lies outside the matrix comes as zeros. */
__device__ __forceinline__ void gr_copy_box(void *to, const gr_box_map &map, int x, int y, int z, int w, uint64_t *b) {
#if __CUDA_ARCH__ >= 900
  asm volatile(
      "cp.async.bulk.tensor.4d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3, %4, %5}], [%6];" ::"r"(
          gr_shared_address(to)),
      "l"(&map), "r"(x), "r"(y), "r"(z), "r"(w), "r"(gr_shared_address(b))
      : "memory");
#endif
}

#endif
