#include "kernels/cuda/scan.cuh"

cudaError_t gr_scan_orders(gr_dtype t, const gr_scan *q, const gr_cuda_chip *chip, cudaStream_t stream) {
  switch (t) {
#define GR_X(id, s, l, type, kind) case GR_##id: return gr_scan_start<gr_scan_order<GR_##id>>(q, chip, stream);
    GR_DTYPES(GR_X)
#undef GR_X
    default: return cudaErrorInvalidValue;
  }
}
