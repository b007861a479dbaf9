#include "kernels/cuda/scan/start.cuh"

cudaError_t gr_scan_floats(gr_dtype t, int multiplies, const gr_scan *q, const gr_cuda_chip *chip,
                           cudaStream_t stream) {
#define CASE(D)                                                                          \
  case D:                                                                                \
    return multiplies ? gr_scan_start<gr_scan_float<D, true>>(*q, chip, stream)           \
                      : gr_scan_start<gr_scan_float<D, false>>(*q, chip, stream);
  switch (t) {
    CASE(GR_F16) CASE(GR_BF16) CASE(GR_F32) CASE(GR_F64)
    default: return cudaErrorInvalidValue;
  }
#undef CASE
}

cudaError_t gr_scan_integers(gr_dtype t, int multiplies, const gr_scan *q, const gr_cuda_chip *chip,
                           cudaStream_t stream) {
#define CASE(D)                                                                          \
  case D:                                                                                \
    return multiplies ? gr_scan_start<gr_scan_integer<D, true>>(*q, chip, stream)         \
                      : gr_scan_start<gr_scan_integer<D, false>>(*q, chip, stream);
  switch (gr_scan_pattern(t)) {
    CASE(GR_U8) CASE(GR_U16) CASE(GR_U32) CASE(GR_I64)
    default: return cudaErrorInvalidValue;
  }
#undef CASE
}
