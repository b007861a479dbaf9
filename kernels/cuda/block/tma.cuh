/*
** Tiles of a matrix to shared memory by TMA, the copy engine of Hopper and later: one thread asks, and whoever waits at
** the mbarrier sees the data. The host describes the matrix in a tensor map (block/tma_host.cuh).
*/
#ifndef GR_CUDA_BLOCK_TMA_CUH
#define GR_CUDA_BLOCK_TMA_CUH

#include <stdint.h>
#include "kernels/cuda/block/mbarrier.cuh"

struct alignas(64) gr_tensor_map {
  uint64_t opaque[16]; /* a CUtensorMap */
};

/* After this thread has accessed shared memory that TMA is to write next, before it arrives at the mbarrier. */
__device__ __forceinline__ void gr_order_before_tma() {
#if __CUDA_ARCH__ >= 900
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
#endif
}
/* The tile that begins at (x, y, z, w); what lies outside the matrix comes as zeros. */
__device__ __forceinline__ void gr_copy_tile(void *to, const gr_tensor_map &map, int x, int y, int z, int w,
                                             gr_mbarrier &arrival) {
#if __CUDA_ARCH__ >= 900
  asm volatile(
      "cp.async.bulk.tensor.4d.shared::cluster.global.mbarrier::complete_tx::bytes"
      " [%0], [%1, {%2, %3, %4, %5}], [%6];"
      :
      : "r"(gr_shared_address(to)), "l"(&map), "r"(x), "r"(y), "r"(z), "r"(w), "r"(gr_shared_address(&arrival))
      : "memory");
#endif
}

#endif
