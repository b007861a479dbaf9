/*
** Boxes of a matrix to shared memory by the copying machine of Hopper and later (TMA): one thread asks, whoever waits for
** the arrival sees the data. The host describes the matrix in a map (block/tma_host.cuh).
*/
#ifndef GR_BOXES_CUH
#define GR_BOXES_CUH

#include <stdint.h>
#include "kernels/cuda/block/mbarrier.cuh"

struct alignas(64) gr_box_map {
  uint64_t opaque[16]; /* a CUtensorMap */
};

/* Where this thread has stored something, before it arrives somewhere. */
__device__ __forceinline__ void gr_machine_may_write() {
#if __CUDA_ARCH__ >= 900
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
#endif
}
/* A box, from the place (x, y, z, w) on; what lies outside the matrix comes as zeros. */
__device__ __forceinline__ void gr_copy_box(void *to, const gr_box_map &map, int x, int y, int z, int w, gr_gate &gate) {
#if __CUDA_ARCH__ >= 900
  asm volatile(
      "cp.async.bulk.tensor.4d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3, %4, %5}], [%6];" ::"r"(
          gr_shared_address(to)),
      "l"(&map), "r"(x), "r"(y), "r"(z), "r"(w), "r"(gr_shared_address(&gate))
      : "memory");
#endif
}

#endif
