/*
** Copies to shared memory that go on while the thread computes. Below compute capability 8.0 they are plain copies.
*/
#ifndef GR_CUDA_BLOCK_CP_ASYNC_CUH
#define GR_CUDA_BLOCK_CP_ASYNC_CUH

#include <stdint.h>
#include <type_traits>

__device__ __forceinline__ unsigned gr_shared_address(const void *p) { return (unsigned)__cvta_generic_to_shared(p); }

/* Copies `size` bytes, aligned; 1 and 2 bytes always by a plain copy. */
template <int size>
__device__ __forceinline__ void gr_copy_async(void *to, const void *from) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  if constexpr (size == 16)
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(gr_shared_address(to)), "l"(from) : "memory");
  else if constexpr (size >= 4)
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(gr_shared_address(to)), "l"(from), "n"(size)
                 : "memory");
  else
#endif
  {
    using Word = std::conditional_t<
        size == 16, uint4,
        std::conditional_t<size == 8, uint2,
                           std::conditional_t<size == 4, uint32_t, std::conditional_t<size == 2, uint16_t, uint8_t>>>>;
    *(Word *)to = *(const Word *)from;
  }
}
/* Waits until all copies of this thread are there. */
__device__ __forceinline__ void gr_copies_wait() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_all;" ::: "memory");
#endif
}

#endif
