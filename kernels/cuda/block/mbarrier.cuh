/* Barrier objects in shared memory (mbarrier), at which warps wait for each other or for what they have fetched. */
#ifndef GR_CUDA_BLOCK_MBARRIER_CUH
#define GR_CUDA_BLOCK_MBARRIER_CUH

#include <stdint.h>
#include "kernels/cuda/block/cp_async.cuh"

/*
** An mbarrier counts arrivals; when all are there its phase ends and the next one, of the other parity, begins. If all
** lanes of a warp have read or written, all of them arrive: then the order holds without relying on the warp's own
** barriers.
*/
struct alignas(8) gr_mbarrier { /* the host, which knows the second form, asks for as much shared memory */
#if __CUDA_ARCH__ >= 800
  uint64_t barrier;
  __device__ __forceinline__ unsigned at() { return gr_shared_address(&barrier); }
  __device__ __forceinline__ void init(unsigned count) {
    asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(at()), "r"(count) : "memory");
  }
  __device__ __forceinline__ void arrive() {
    asm volatile("{\n .reg .b64 t;\n mbarrier.arrive.shared.b64 t, [%0];\n}" ::"r"(at()) : "memory");
  }
  /* Arrives when all that this thread has fetched is there. */
  __device__ __forceinline__ void arrive_fetched() {
    asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::"r"(at()) : "memory");
  }
  /* Waits until that phase has ended, in a warp whose lanes have come together already. */
  __device__ __forceinline__ void pass(unsigned phase) {
    unsigned open;
    do {
#if __CUDA_ARCH__ >= 900
      asm volatile("{\n .reg .pred p;\n mbarrier.try_wait.parity.shared.b64 p, [%1], %2;\n selp.u32 %0, 1, 0, p;\n}"
                   : "=r"(open) : "r"(at()), "r"(phase) : "memory");
#else
      asm volatile("{\n .reg .pred p;\n mbarrier.test_wait.parity.shared.b64 p, [%1], %2;\n selp.u32 %0, 1, 0, p;\n}"
                   : "=r"(open) : "r"(at()), "r"(phase) : "memory");
#endif
    } while (!open);
  }
#else
  unsigned needed, arrived;
  __device__ __forceinline__ void init(unsigned count) { needed = count, arrived = 0; }
  __device__ __forceinline__ void arrive() {
    __threadfence_block();
    atomicAdd(&arrived, 1);
  }
  __device__ __forceinline__ void arrive_fetched() { arrive(); }
  __device__ __forceinline__ void pass(unsigned phase) {
    while ((*(volatile unsigned *)&arrived / needed & 1) == phase) {}
    __threadfence_block();
  }
#endif
  /* The same in any warp. All lanes come before any waits: one that has yet to arrive somewhere would be held up. */
  __device__ __forceinline__ void wait(unsigned phase) {
    __syncwarp();
    pass(phase);
  }
  /* This thread arrives, and so many bytes have to come too, by TMA (9.0 and later). */
  __device__ __forceinline__ void expect(unsigned bytes) {
#if __CUDA_ARCH__ >= 900
    asm volatile("{\n .reg .b64 t;\n mbarrier.arrive.expect_tx.shared.b64 t, [%0], %1;\n}" ::"r"(at()), "r"(bytes)
                 : "memory");
#endif
  }
};

/* Makes them known to TMA: after init and before a barrier of the block. */
__device__ __forceinline__ void gr_mbarriers_visible() {
#if __CUDA_ARCH__ >= 900
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
#endif
}

#endif
