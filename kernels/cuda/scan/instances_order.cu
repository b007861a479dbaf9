#include "kernels/cuda/scan/start.cuh"

cudaError_t gr_scan_orders(gr_dtype t, const gr_scan *q, const gr_cuda_chip *chip, cudaStream_t stream) {
#define CASE(S, D) case D: return gr_scan_start<S<D>>(*q, chip, stream);
  switch (gr_scan_pattern(t)) {
    CASE(gr_scan_pairs, GR_U8) CASE(gr_scan_pairs, GR_U16) CASE(gr_scan_pairs, GR_F16) CASE(gr_scan_pairs, GR_BF16)
    CASE(gr_scan_order, GR_U32) CASE(gr_scan_order, GR_I64) CASE(gr_scan_order, GR_F32) CASE(gr_scan_order, GR_F64)
    default: return cudaErrorInvalidValue;
  }
#undef CASE
}
