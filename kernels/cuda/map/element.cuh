/* One element of an element operator: what a row of GR_MAPS says, in the type that its dtype computes in. */
#ifndef GR_CUDA_MAP_ELEMENT_CUH
#define GR_CUDA_MAP_ELEMENT_CUH

#include "kernels/cuda/thread/element.cuh"
#include "kernels/numerics/functions/functions.h"
#include "kernels/numerics/map.h"

template <gr_dtype D>
struct gr_computed {
  using type = gr_type<D>;
};
template <>
struct gr_computed<GR_F16> {
  using type = float;
};
template <>
struct gr_computed<GR_BF16> {
  using type = float;
};

static __device__ __forceinline__ float gr_map_root(float x) { return sqrtf(x); }
static __device__ __forceinline__ double gr_map_root(double x) { return sqrt(x); }

template <gr_dtype D>
static __device__ __forceinline__ typename gr_computed<D>::type gr_map_in(gr_type<D> x) {
  if constexpr (D == GR_F16 || D == GR_BF16) return gr_to_f32<D>(x);
  else return x;
}

template <gr_dtype D, typename V>
static __device__ __forceinline__ gr_type<D> gr_map_out(V x) {
  if constexpr (D == GR_F16) return x == x ? gr_rounded_f32<D>(x) : gr_f16{0x7e00};
  else if constexpr (D == GR_BF16) return x == x ? gr_rounded_f32<D>(x) : gr_bf16{0x7fc0};
  else if constexpr (D == GR_F32) return gr_canonical32(x);
  else if constexpr (D == GR_F64) return gr_canonical(x);
  else return (gr_type<D>)x;
}

/* One value of an operator; op is known when compiled, so the switch goes away. raw: a NaN may be any NaN. */
template <gr_dtype D, int op, bool raw = false>
static __device__ __forceinline__ gr_type<D> gr_map_one(gr_type<D> ex, gr_type<D> ey, gr_type<D> ez) {
  using T = typename gr_computed<D>::type;
  using W = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;
  const T x = gr_map_in<D>(ex), y = gr_map_in<D>(ey), z = gr_map_in<D>(ez);
  (void)y;
  (void)z;
#define SQRT gr_map_root
#define GR_X(name, operands, f, i, real, whole)                          \
  if constexpr (op == GR_MAP_##name) {                                   \
    constexpr int rule = gr_floating<D> ? GR_MAP_##f : GR_MAP_##i;       \
    if constexpr (rule != GR_MAP_SAME && rule != GR_MAP_CALL) return ex; \
    else if constexpr (raw) return (gr_type<D>)(real);                   \
    else if constexpr (gr_floating<D>) return gr_map_out<D>((T)(real));  \
    else return (gr_type<D>)(whole);                                     \
  }
  GR_MAPS(GR_X)
#undef GR_X
#undef SQRT
  return ex;
}

/* What a mask holds, of a pair; op is known when compiled, as above. */
template <gr_dtype D, int op>
static __device__ __forceinline__ bool gr_map_holds(gr_type<D> ex, gr_type<D> ey) {
  using T = typename gr_computed<D>::type;
  using W = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;
  const T x = gr_map_in<D>(ex), y = gr_map_in<D>(ey), z = x;
  (void)y;
  (void)z;
#define SQRT gr_map_root
#define GR_X(name, operands, f, i, real, whole)     \
  if constexpr (op == GR_MAP_##name) {              \
    if constexpr (gr_floating<D>) return real;      \
    else return whole;                              \
  }
  GR_MAPS(GR_X)
#undef GR_X
#undef SQRT
  return false;
}

#endif
