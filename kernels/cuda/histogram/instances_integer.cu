#include "kernels/cuda/histogram/start.cuh"

/* Bytes have kernels of their own. */
static_assert(GR_DTYPE_COUNT - GR_FLOAT_COUNT == 7, "an integer without histograms");

cudaError_t gr_hist_integers(gr_dtype t, const gr_hist_plan *p, cudaStream_t stream) {
  switch (t) {
    case GR_U16: return gr_hist_launch_narrow<uint16_t>(p, stream);
    case GR_I16: return gr_hist_launch_narrow<int16_t>(p, stream);
    case GR_U32: return gr_hist_launch<uint32_t>(p, stream);
    case GR_I32: return gr_hist_launch<int32_t>(p, stream);
    case GR_I64: return gr_hist_launch<int64_t>(p, stream);
    default: return cudaErrorInvalidValue;
  }
}
