/*
** Copies to shared memory that go on while the thread computes, in groups that complete in order. Below compute
** capability 8.0 they are plain copies.
*/
#ifndef GR_CUDA_BLOCK_CP_ASYNC_CUH
#define GR_CUDA_BLOCK_CP_ASYNC_CUH

#include "kernels/cuda/thread/load.cuh"

__device__ __forceinline__ unsigned gr_shared_address(const void *p) { return (unsigned)__cvta_generic_to_shared(p); }

__device__ __forceinline__ void gr_copy16(void *to, const void *from) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(gr_shared_address(to)), "l"(from)
               : "memory");
#else
  *(uint4 *)to = gr_load16(from);
#endif
}
__device__ __forceinline__ void gr_copy4(void *to, const void *from) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(gr_shared_address(to)), "l"(from)
               : "memory");
#else
  *(unsigned *)to = __ldg((const unsigned *)from);
#endif
}
__device__ __forceinline__ void gr_copies_end_group() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}
/* Until at most `later` groups of this thread are under way. */
template <int later>
__device__ __forceinline__ void gr_copies_wait() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_group %0;" ::"n"(later) : "memory");
#endif
}

#endif
