/*
** Skeletons: scans with holes (formula/hole.cuh) where a tile's elements are loaded; short: a tile a block. Integers as
** unsigned ones of their size. For chips from 8.0 on, whose barriers the long ones need.
*/
#include "kernels/cuda/scan/start.cuh"

/* A scan whose elements are a formula's. */
template <class S> struct gr_scan_of_formula : S {
  static constexpr bool formula = true;
};

#define GR_SCANS(what, s, ...)                                                                            \
  extern "C" __global__ void __launch_bounds__(Tuning::writers * 32, Tuning::short_blocks)                \
      gr_scan_short_##what##_##s(const __grid_constant__ gr_scan q) {                                     \
    gr_scan_tile<gr_scan_of_formula<__VA_ARGS__>>(q);                                                     \
  }                                                                                                       \
  extern "C" __global__ void __launch_bounds__(GR_SCAN_THREADS, Tuning::ring_blocks)                      \
      gr_scan_long_##what##_##s(const __grid_constant__ gr_scan q) {                                      \
    gr_scan_tiles<gr_scan_of_formula<__VA_ARGS__>>(q);                                                    \
  }
#define GR_SUMS(s, kind, D) GR_SCANS(sum, s, gr_scan_##kind<D, false>) GR_SCANS(prod, s, gr_scan_##kind<D, true>)
GR_SUMS(f16, float, GR_F16) GR_SUMS(bf16, float, GR_BF16) GR_SUMS(f32, float, GR_F32) GR_SUMS(f64, float, GR_F64)
GR_SUMS(u8, integer, GR_U8) GR_SUMS(u16, integer, GR_U16) GR_SUMS(u32, integer, GR_U32) GR_SUMS(i64, integer, GR_I64)
GR_SCANS(order, u8, gr_scan_pairs<GR_U8>) GR_SCANS(order, u16, gr_scan_pairs<GR_U16>)
GR_SCANS(order, f16, gr_scan_pairs<GR_F16>) GR_SCANS(order, bf16, gr_scan_pairs<GR_BF16>)
GR_SCANS(order, u32, gr_scan_order<GR_U32>) GR_SCANS(order, i64, gr_scan_order<GR_I64>)
GR_SCANS(order, f32, gr_scan_order<GR_F32>) GR_SCANS(order, f64, gr_scan_order<GR_F64>)
