/* Tensor maps for TMA (block/tma.cuh), made by the driver; the module is not linked with it. */
#ifndef GR_CUDA_BLOCK_TMA_HOST_CUH
#define GR_CUDA_BLOCK_TMA_HOST_CUH

#include <cuda.h>
#include <cuda_runtime.h>
#include <string.h>
#include "kernels/cuda/block/tma.cuh"

/* Four dimensions, the first of elements side by side; strides of the others in bytes, multiples of 16 below 2^40. */
struct gr_tensor_shape {
  const void *data;
  int size; /* of an element */
  bool swizzled; /* rows of 128 bytes: their words are xored with the row's number */
  uint64_t dims[4], strides[3];
  uint32_t tile[4];
};

static inline cudaError_t gr_make_tensor_map(gr_tensor_map *map, const gr_tensor_shape &s) {
#if CUDART_VERSION >= 12050
  using Encode = decltype(&cuTensorMapEncodeTiled);
  static const Encode encode = [] {
    void *f = NULL;
    cudaDriverEntryPointQueryResult found;
    cudaError_t e = cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &f, 12000, cudaEnableDefault, &found);
    return e == cudaSuccess && found == cudaDriverEntryPointSuccess ? (Encode)f : (Encode)NULL;
  }();
  CUtensorMap m;
  cuuint32_t one[4] = {1, 1, 1, 1};
  if (!encode) return cudaErrorNotSupported;
  static_assert(sizeof(m) == sizeof(map->opaque), "a tensor map");
  CUtensorMapDataType type = s.size == 2   ? CU_TENSOR_MAP_DATA_TYPE_UINT16
                             : s.size == 4 ? CU_TENSOR_MAP_DATA_TYPE_UINT32
                                           : CU_TENSOR_MAP_DATA_TYPE_UINT64;
  if (encode(&m, type, 4, (void *)s.data, (const cuuint64_t *)s.dims, (const cuuint64_t *)s.strides,
             (const cuuint32_t *)s.tile, one, CU_TENSOR_MAP_INTERLEAVE_NONE,
             s.swizzled ? CU_TENSOR_MAP_SWIZZLE_128B : CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_L2_PROMOTION_L2_128B,
             CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) != CUDA_SUCCESS)
    return cudaErrorInvalidValue;
  memcpy(map->opaque, &m, sizeof(m));
  return cudaSuccess;
#else
  (void)map, (void)s;
  return cudaErrorNotSupported;
#endif
}
/* Whether this toolkit can make them. */
constexpr bool gr_has_tma = CUDART_VERSION >= 12050;

#endif
