/* Gates in shared memory, at which the warps of a block wait for each other or for what they have fetched. */
#ifndef GR_GATE_CUH
#define GR_GATE_CUH

#include <stdint.h>
#include "kernels/cuda/async.cuh"

/*
** A gate counts arrivals and opens when all are there, again and again: its phases alternate. Of warps in which all lanes
** have read or written all arrive: the order then holds without what a warp's own barriers add to it.
*/
struct gr_gate {
#if __CUDA_ARCH__ >= 800
  uint64_t barrier;
  __device__ __forceinline__ unsigned at() { return gr_shared_address(&barrier); }
  __device__ __forceinline__ void init(unsigned count) {
    asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(at()), "r"(count) : "memory");
  }
  __device__ __forceinline__ void arrive() {
    asm volatile("{\n .reg .b64 t;\n mbarrier.arrive.shared.b64 t, [%0];\n}" ::"r"(at()) : "memory");
  }
  /* ... when all that this thread has fetched is there. */
  __device__ __forceinline__ void arrive_fetched() {
    asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::"r"(at()) : "memory");
  }
  /* All lanes come before any waits: one that has yet to arrive somewhere would be held up with the warp. */
  __device__ __forceinline__ void wait(unsigned phase) {
    unsigned open;
    __syncwarp();
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
  __device__ __forceinline__ void wait(unsigned phase) {
    __syncwarp();
    while ((*(volatile unsigned *)&arrived / needed & 1) == phase) {}
    __threadfence_block();
  }
#endif
};

#endif
