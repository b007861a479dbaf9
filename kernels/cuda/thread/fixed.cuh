/* Sums of integers of 128 bits (numerics/fixed.h) in global memory. */
#ifndef GR_CUDA_THREAD_FIXED_CUH
#define GR_CUDA_THREAD_FIXED_CUH

#include "kernels/numerics/fixed.h"

/* Who carries out of the low word adds the carry to the high one. */
static __device__ __forceinline__ void gr_fixed_add_global(unsigned long long *at, gr_fixed x) {
  uint64_t carry = 0;
  if (x.low) carry = atomicAdd(at, (unsigned long long)x.low) > ~(unsigned long long)x.low;
  if (x.high + carry) atomicAdd(at + 1, (unsigned long long)(x.high + carry));
}

#endif
