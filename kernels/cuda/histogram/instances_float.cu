#include "kernels/cuda/histogram/start.cuh"

static_assert(GR_FLOAT_COUNT == 4, "a float without histograms");

cudaError_t gr_hist_floats(gr_dtype t, const gr_hist_plan *p, cudaStream_t stream) {
  switch (t) {
    case GR_F16: return gr_hist_launch_narrow<gr_f16>(p, stream);
    case GR_BF16: return gr_hist_launch_narrow<gr_bf16>(p, stream);
    case GR_F32: return gr_hist_launch<float>(p, stream);
    case GR_F64: return gr_hist_launch<double>(p, stream);
    default: return cudaErrorInvalidValue;
  }
}
