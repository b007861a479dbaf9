/* Stops a benchmark, and says where, if a call of CUDA fails (or one of ours that gives its errors). */
#ifndef BENCH_CHECK_CALL_CUH
#define BENCH_CHECK_CALL_CUH

#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

#define CHECK(call)                                              \
  do {                                                           \
    cudaError_t e_ = (cudaError_t)(call);                        \
    if (e_ != cudaSuccess) {                                     \
      printf("line %d: %s\n", __LINE__, cudaGetErrorString(e_)); \
      exit(1);                                                   \
    }                                                            \
  } while (0)

#endif
