/*
** The instructions of each element operator, for formulas that the driver compiles (src/backend/jit). Never run: nvcc
** makes PTX of these kernels when the module is built, mk/skeletons.lua takes their bodies out, with the places where
** operands come in and the result goes out. One kernel a row of GR_MAPS and dtype, named gr_step_OPERATOR_DTYPE; of
** comparisons and casts one for each relation and for each dtype to cast to, too.
**
** An operand is in one register: floats of 4 and 8 bytes and i64 as they are, everything else in 32 bits, integers with
** their sign, 16-bit floats as their bits.
*/
#include "kernels/cuda/map/element.cuh"

template <gr_dtype D>
using gr_register = std::conditional_t<D == GR_F32, float,
                                       std::conditional_t<D == GR_F64, double,
                                                          std::conditional_t<D == GR_I64, int64_t, int32_t>>>;

template <gr_dtype D>
static __device__ __forceinline__ gr_type<D> gr_from_register(gr_register<D> x) {
  if constexpr (gr_size<D> < 4 && gr_element<D>::kind == GR_INT)
    __builtin_assume(x >= -(1 << (8 * gr_size<D> - 1)) && x < 1 << (8 * gr_size<D> - 1));
  else if constexpr (gr_size<D> < 4) __builtin_assume(x >= 0 && x < 1 << 8 * gr_size<D>);
  if constexpr (D == GR_F16 || D == GR_BF16) return gr_type<D>{(uint16_t)x};
  else return (gr_type<D>)x;
}
template <gr_dtype D>
static __device__ __forceinline__ gr_register<D> gr_to_register(gr_type<D> x) {
  if constexpr (D == GR_F16 || D == GR_BF16) return x.bits;
  else return (gr_register<D>)x;
}

#define GR_TAKE(letter, which) asm volatile("//GR_IN " #which " %0" : "=" letter(x))
template <gr_dtype D, int which>
static __device__ __forceinline__ gr_type<D> gr_operand_in() {
  gr_register<D> x;
  static_assert(which < 3, "operators have up to three operands");
#define GR_TAKE_EITHER(letter)                 \
  if constexpr (which == 0) GR_TAKE(letter, 0); \
  else if constexpr (which == 1) GR_TAKE(letter, 1); \
  else GR_TAKE(letter, 2)
  if constexpr (D == GR_F32) { GR_TAKE_EITHER("f"); }
  else if constexpr (D == GR_F64) { GR_TAKE_EITHER("d"); }
  else if constexpr (D == GR_I64) { GR_TAKE_EITHER("l"); }
  else { GR_TAKE_EITHER("r"); }
  return gr_from_register<D>(x);
}
template <gr_dtype D>
static __device__ __forceinline__ void gr_result_out(gr_type<D> value) {
  gr_register<D> x = gr_to_register<D>(value);
  if constexpr (D == GR_F32) asm volatile("//GR_OUT %0" ::"f"(x));
  else if constexpr (D == GR_F64) asm volatile("//GR_OUT %0" ::"d"(x));
  else if constexpr (D == GR_I64) asm volatile("//GR_OUT %0" ::"l"(x));
  else asm volatile("//GR_OUT %0" ::"r"(x));
}

/* What computes in the dtype itself, and masks of it. Integers that become f64 are cast first: then f64's is theirs. */
template <gr_dtype D, int op, int rule, int operands, bool raw = false>
static __device__ __forceinline__ void gr_step() {
  constexpr bool same = rule == GR_MAP_SAME || rule == GR_MAP_CALL;
  if constexpr (same || rule == GR_MAP_MASK) {
    gr_type<D> x = gr_operand_in<D, 0>(), y = x, z = x;
    if constexpr (operands > 1) y = gr_operand_in<D, 1>();
    if constexpr (operands > 2) z = gr_operand_in<D, 2>();
    if constexpr (same) gr_result_out<D>(gr_map_one<D, op, raw>(x, y, z));
    else gr_result_out<GR_U8>((uint8_t)gr_map_holds<D, op>(x, y));
  }
}

template <gr_dtype D, gr_relation relation>
static __device__ __forceinline__ void gr_step_compare() {
  const auto x = gr_map_in<D>(gr_operand_in<D, 0>());
  const auto y = gr_map_in<D>(gr_operand_in<D, 1>());
  gr_result_out<GR_U8>(relation == GR_IS_lt   ? x < y
                       : relation == GR_IS_le ? x <= y
                       : relation == GR_IS_eq ? x == y
                       : relation == GR_IS_ne ? !(x == y)
                       : relation == GR_IS_ge ? y <= x
                                              : y < x);
}

template <gr_dtype D>
static __device__ __forceinline__ void gr_step_where() {
  const gr_type<D> x = gr_operand_in<D, 0>(), y = gr_operand_in<D, 1>();
  const uint8_t mask = gr_operand_in<GR_U8, 2>();
  gr_result_out<D>(mask ? x : y);
}

#define GR_STEPS_OF(name, operands, f, i, id, s)                                                  \
  extern "C" __global__ void gr_step_##name##_##s() {                                             \
    gr_step<GR_##id, GR_MAP_##name, gr_floating<GR_##id> ? GR_MAP_##f : GR_MAP_##i, operands>(); \
  }
#define GR_X(name, operands, f, i, real, whole)                                                  \
  GR_STEPS_OF(name, operands, f, i, U8, u8) GR_STEPS_OF(name, operands, f, i, I8, i8)            \
  GR_STEPS_OF(name, operands, f, i, U16, u16) GR_STEPS_OF(name, operands, f, i, I16, i16)        \
  GR_STEPS_OF(name, operands, f, i, U32, u32) GR_STEPS_OF(name, operands, f, i, I32, i32)        \
  GR_STEPS_OF(name, operands, f, i, I64, i64) GR_STEPS_OF(name, operands, f, i, F16, f16)        \
  GR_STEPS_OF(name, operands, f, i, BF16, bf16) GR_STEPS_OF(name, operands, f, i, F32, f32)      \
  GR_STEPS_OF(name, operands, f, i, F64, f64)
static_assert(GR_DTYPE_COUNT == 11, "a dtype without steps");
GR_MAPS(GR_X)
#undef GR_X

/* What computes with any NaN as with another (src/backend/jit/element.c), where its result need not be the one NaN. */
#define GR_RAW_OF(name, operands, id, s)                               \
  extern "C" __global__ void gr_step_##name##_##s##_raw() {            \
    gr_step<GR_##id, GR_MAP_##name, GR_MAP_SAME, operands, true>();    \
  }
#define GR_RAW(name, operands) GR_RAW_OF(name, operands, F32, f32) GR_RAW_OF(name, operands, F64, f64)
GR_RAW(add, 2) GR_RAW(sub, 2) GR_RAW(mul, 2) GR_RAW(div, 2) GR_RAW(neg, 1) GR_RAW(abs, 1) GR_RAW(square, 1)
GR_RAW(sqrt, 1)
extern "C" __global__ void gr_step_cast_f32_raw() { gr_result_out<GR_F64>((double)gr_operand_in<GR_F32, 0>()); }

#define GR_X(id, s, l, type, kind)                                                                      \
  extern "C" __global__ void gr_step_lt_##s() { gr_step_compare<GR_##id, GR_IS_lt>(); }                 \
  extern "C" __global__ void gr_step_le_##s() { gr_step_compare<GR_##id, GR_IS_le>(); }                 \
  extern "C" __global__ void gr_step_eq_##s() { gr_step_compare<GR_##id, GR_IS_eq>(); }                 \
  extern "C" __global__ void gr_step_ne_##s() { gr_step_compare<GR_##id, GR_IS_ne>(); }                 \
  extern "C" __global__ void gr_step_ge_##s() { gr_step_compare<GR_##id, GR_IS_ge>(); }                 \
  extern "C" __global__ void gr_step_gt_##s() { gr_step_compare<GR_##id, GR_IS_gt>(); }                 \
  extern "C" __global__ void gr_step_choose_##s() { gr_step_where<GR_##id>(); }
static_assert(GR_RELATION_COUNT == 6, "a relation without steps");
GR_DTYPES(GR_X)
#undef GR_X

/*
** Casts as map/map.cu does them: i64, and integers to integers, without a detour by f64. f32 becomes integers of 32
** bits by the instruction, which takes what does not fit to the nearest that does and NaN to 0; and what has 32 bits or
** fewer becomes f32, rounded once, if at all.
*/
template <gr_dtype D, gr_dtype TO>
static __device__ __forceinline__ void gr_step_cast() {
  const gr_type<D> x = gr_operand_in<D, 0>();
  if constexpr (D == GR_F32 && TO == GR_I32) return gr_result_out<TO>(__float2int_rz(x));
  if constexpr (D == GR_F32 && TO == GR_U32) return gr_result_out<TO>(__float2uint_rz(x));
  if constexpr (TO == GR_F32 && gr_size<D> <= 4) return gr_result_out<TO>(gr_canonical32(gr_to_f32<D>(x)));
#define GR_X(id, s, l, type, kind)                                             \
  if constexpr (TO == GR_##id) {                                               \
    if constexpr (!gr_floating<D> && (D == GR_I64 || !gr_floating<TO>))        \
      gr_result_out<TO>(gr_i64_to_##s((int64_t)x));                            \
    else gr_result_out<TO>(gr_f64_to_##s(gr_to_f64<D>(x)));                    \
  }
  GR_DTYPES(GR_X)
#undef GR_X
}

#define GR_CAST(id, s, to_id, to_s) \
  extern "C" __global__ void gr_step_cast_##s##_##to_s() { gr_step_cast<GR_##id, GR_##to_id>(); }
#define GR_X(id, s, l, type, kind)                                                                \
  GR_CAST(id, s, U8, u8) GR_CAST(id, s, I8, i8) GR_CAST(id, s, U16, u16) GR_CAST(id, s, I16, i16) \
  GR_CAST(id, s, U32, u32) GR_CAST(id, s, I32, i32) GR_CAST(id, s, I64, i64) GR_CAST(id, s, F16, f16) \
  GR_CAST(id, s, BF16, bf16) GR_CAST(id, s, F32, f32) GR_CAST(id, s, F64, f64)
GR_DTYPES(GR_X)
#undef GR_X
