#include "kernels/cuda/scan/start.cuh"

static_assert(GR_DTYPE_COUNT == 11, "a dtype without scans by order");

cudaError_t gr_scan_orders(gr_dtype t, const gr_scan *q, const gr_scan_place &at) {
  return gr_for_dtype<GR_U8, GR_U16, GR_F16, GR_BF16, GR_U32, GR_I64, GR_F32, GR_F64>(gr_scan_serving(t), [&](auto d) {
    constexpr gr_dtype D = decltype(d)::value;
    if constexpr (gr_size<D> <= 2) return gr_scan_start<gr_scan_pairs<D>>(*q, at);
    else return gr_scan_start<gr_scan_order<D>>(*q, at);
  });
}
