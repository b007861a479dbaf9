#include "kernels/cuda/scan/start.cuh"

template <gr_dtype D, bool multiplies> static cudaError_t start_floats(const gr_scan &q, const gr_scan_place &at) {
  using Few = gr_scan_float<D, multiplies, true>;
  if constexpr (D == GR_BF16) return gr_scan_start<gr_scan_float<GR_F16, multiplies>, Few>(q, at);
  else return gr_scan_start<gr_scan_float<D, multiplies>, Few>(q, at);
}

cudaError_t gr_scan_floats(gr_dtype t, int multiplies, const gr_scan *q, const gr_scan_place &at) {
  return gr_for_float(t, [&](auto d) {
    constexpr gr_dtype D = decltype(d)::value;
    return multiplies ? start_floats<D, true>(*q, at) : start_floats<D, false>(*q, at);
  });
}

static_assert(GR_DTYPE_COUNT - GR_FLOAT_COUNT == 7, "an integer without scans");

cudaError_t gr_scan_integers(gr_dtype t, int multiplies, const gr_scan *q, const gr_scan_place &at) {
  return gr_for_dtype<GR_U8, GR_U16, GR_U32, GR_I64>(gr_scan_serving(t), [&](auto d) {
    constexpr gr_dtype D = decltype(d)::value;
    return multiplies ? gr_scan_start<gr_scan_integer<D, true>>(*q, at)
                      : gr_scan_start<gr_scan_integer<D, false>>(*q, at);
  });
}
