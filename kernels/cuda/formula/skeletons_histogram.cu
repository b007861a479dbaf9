/*
** Skeletons: histograms with holes (formula/hole.cuh) where samples are loaded: of evenly spaced bins that are
** estimated in f32 (0) or in f64 (1), by edges (2), and in L2, where bins are many (3); of numbers of bins (4);
** gr_hist_skeleton of histogram.cuh.
*/
#include "kernels/cuda/histogram/global.cuh"

#define GR_HIST_BOUNDS __launch_bounds__(gr_histogram_tuning::large_threads, gr_histogram_tuning::large_blocks)
#define GR_BLOCKS(way, s, type, in_f32, swizzled)                                                          \
  extern "C" __global__ void GR_HIST_BOUNDS                                                                \
      gr_histogram_##way##_##s(const __grid_constant__ gr_hist a) {                                       \
    gr_hist_in_blocks<type, gr_quick_even<in_f32>, gr_shared_sink<false, swizzled>, false, true>(a);      \
  }
#define GR_WIDER(s, type)                                                                                  \
  GR_BLOCKS(1, s, type, false, false)                                                                     \
  extern "C" __global__ void GR_HIST_BOUNDS                                                                \
      gr_histogram_2_##s(const __grid_constant__ gr_hist a) {                                             \
    gr_hist_in_blocks<type, gr_quick_table, gr_shared_sink<false, false>, true, true>(a);                 \
  }
#define GR_MANY(s, type)                                                                                   \
  extern "C" __global__ void                                                                              \
      __launch_bounds__(gr_histogram_tuning::global_threads, gr_histogram_tuning::global_blocks)          \
          gr_histogram_3_##s(const __grid_constant__ gr_hist a) {                                         \
    gr_hist_in_global<type, gr_quick_even<false>, true>(a);                                               \
  }
GR_BLOCKS(0, f16, gr_f16, true, false) GR_BLOCKS(0, bf16, gr_bf16, true, false)
GR_BLOCKS(0, u16, uint16_t, true, false) GR_BLOCKS(0, i16, int16_t, true, false)
GR_BLOCKS(0, f32, float, true, true) GR_BLOCKS(0, u32, uint32_t, true, true) GR_BLOCKS(0, i32, int32_t, true, true)
GR_WIDER(f32, float) GR_WIDER(f64, double) GR_WIDER(u32, uint32_t) GR_WIDER(i32, int32_t) GR_WIDER(i64, int64_t)
GR_MANY(f32, float) GR_MANY(f64, double) GR_MANY(u32, uint32_t) GR_MANY(i32, int32_t) GR_MANY(i64, int64_t)
extern "C" __global__ void GR_HIST_BOUNDS gr_histogram_4_i32(const __grid_constant__ gr_hist a) {
  gr_hist_in_blocks<int32_t, gr_quick_known, gr_shared_sink<false, false>, false, true>(a);
}
