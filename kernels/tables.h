/*
** The tables that everything else goes by: dtypes, reducers, operations, element operators, comparisons. Each is the
** only list of its kind; everything that repeats is generated from it. What cannot be generated does not compile while
** it lacks a row: switches over these enumerations have no default (-Werror=switch), and where a table elsewhere names
** all rows by hand, an assertion beside it counts them.
*/
#ifndef GR_TABLES_H
#define GR_TABLES_H

#include <stdint.h>

/* How many rows a table has; no enumeration has its count as a member, since a switch would need a case for it. */
#define GR_ROW(...) +1

/* A 16-bit float in its own type, so that no code adds its bits as an integer by mistake. */
typedef struct { uint16_t bits; } gr_f16;
typedef struct { uint16_t bits; } gr_bf16;

/* X(id, short name, long name, C type, kind); kind: UINT, INT or FLOAT. */
#define GR_DTYPES(X) GR_INTEGERS(X) GR_FLOATING(X)
#define GR_INTEGERS(X)                     \
  X(U8, u8, uint8, uint8_t, UINT)          \
  X(I8, i8, int8, int8_t, INT)             \
  X(U16, u16, uint16, uint16_t, UINT)      \
  X(I16, i16, int16, int16_t, INT)         \
  X(U32, u32, uint32, uint32_t, UINT)      \
  X(I32, i32, int32, int32_t, INT)         \
  X(I64, i64, int64, int64_t, INT)
#define GR_FLOATING(X)                     \
  X(F16, f16, float16, gr_f16, FLOAT)      \
  X(BF16, bf16, bfloat16, gr_bf16, FLOAT)  \
  X(F32, f32, float32, float, FLOAT)       \
  X(F64, f64, float64, double, FLOAT)

#define GR_X(id, s, l, type, kind) GR_##id,
typedef enum gr_dtype { GR_DTYPES(GR_X) } gr_dtype;
#undef GR_X
enum { GR_DTYPE_COUNT = GR_DTYPES(GR_ROW) };
/* Of floats; beside a switch over these alone, whose default is one of them, an assertion counts them. */
enum { GR_FLOAT_COUNT = GR_FLOATING(GR_ROW) };

/* Bytes of an element. */
static inline int gr_size_of(gr_dtype t) {
  static const signed char size[] = {
#define GR_X(id, s, l, type, kind) (signed char)sizeof(type),
    GR_DTYPES(GR_X)
#undef GR_X
  };
  return size[t];
}

typedef enum gr_kind { GR_UINT, GR_INT, GR_FLOAT } gr_kind;

/* The range of integers of so many bytes; of floats 0. */
#define GR_HIGHEST(kind, size) \
  ((kind) == GR_FLOAT ? 0 : (int64_t)((uint64_t)INT64_MAX >> (64 - 8 * (size) - ((kind) == GR_UINT))))
#define GR_LOWEST(kind, size) ((kind) == GR_INT ? -GR_HIGHEST(kind, size) - 1 : 0)

/*
** Reducers: what a kernel accumulates. An operation is a reducer and a way to finish it (gr_finish in
** numerics.h), so mean costs no kernel of its own. PRESENT is VARIANCE of those elements that are not NaN.
** X(id, inputs, accumulator of floats, of integers).
*/
#define GR_REDUCERS(X)                   \
  X(SUM, 1, TREE, WRAP)                  \
  X(SUMWIDE, 1, NONE, WIDE)              \
  X(PROD, 1, TREE, WRAP)                 \
  X(MINMAX, 1, ORDER, ORDER)             \
  X(ARGMIN, 1, POSITION, POSITION)       \
  X(ARGMAX, 1, POSITION, POSITION)       \
  X(COUNT, 1, WRAP, WRAP)                \
  X(SUMABS, 1, TREE, TREE)               \
  X(SUMSQ, 1, TREE, TREE)                \
  X(VARIANCE, 1, VARIANCE, VARIANCE)     \
  X(PRESENT, 1, VARIANCE, NONE)          \
  X(SUMEXP, 1, SCALED, SCALED)           \
  X(DOT, 2, TREE, WRAP)                  \
  X(SQDIFF, 2, TREE, TREE)               \
  X(COSINE, 2, TRIPLE, TRIPLE)           \
  X(DIFFER, 2, WRAP, WRAP)               \
  X(SUM_F32, 1, TREE, NONE)              \
  X(SUM_KAHAN, 1, PAIRED, NONE)          \
  X(SUM_NEUMAIER, 1, PAIRED, NONE)       \
  X(DOT_F32, 2, TREE, NONE)              \
  X(DOT_KAHAN, 2, PAIRED, NONE)          \
  X(DOT_NEUMAIER, 2, PAIRED, NONE)

#define GR_X(id, inputs, f, i) GR_RED_##id,
typedef enum gr_reducer { GR_REDUCERS(GR_X) } gr_reducer;
#undef GR_X
#define GR_X(id, inputs, f, i) GR_INPUTS_##id = inputs,
enum { GR_REDUCERS(GR_X) };
#undef GR_X
enum { GR_REDUCER_COUNT = GR_REDUCERS(GR_ROW) };

/* Kinds of accumulators, the states that reducers have. X(id, fields in use). */
#define GR_ACCUMULATORS(X)                                                     \
  X(NONE, 0)     /* the reducer is not defined for this kind of dtype */       \
  X(TREE, 1)     /* one double folded along the fixed tree */                  \
  X(WRAP, 1)     /* one int64 that wraps */                                    \
  X(ORDER, 2)    /* two int64 keys: smallest, largest */                       \
  X(POSITION, 2) /* key and position of the best element */                    \
  X(VARIANCE, 3) /* sum, sum of squared deviations, count; of count 0 no more */ \
  X(TRIPLE, 3)   /* three doubles: ab, aa, bb */                               \
  X(PAIRED, 2)   /* sum and its compensation */                                \
  X(WIDE, 2)     /* low 32 bits and the rest of an integer sum */              \
  X(SCALED, 2)   /* the largest, sum of e^(x - largest) */

#define GR_X(id, fields) GR_ACC_##id,
typedef enum gr_acc_kind { GR_ACCUMULATORS(GR_X) } gr_acc_kind;
#undef GR_X

/* The state of a reduction: of one lane, of a subtree, of the whole. Which fields are in use: gr_acc_kind. */
typedef union gr_acc {
  double f[3];
  int64_t i[3];
} gr_acc;

/*
** Operations as users name them. X(name, reducer, result of floats, result of integers, on empty input, called by).
** Results: F64, I64, SAME (the input's dtype), BOOL (u8 in arrays); on empty: ZERO, UNDEFINED, START (what the reducer
** starts with is the result: 1 of products) or RAISE; called by a FUNCTION of its own in the module, or by its NAME
** alone (gr.reduce), which others may stand for (gr.norm, accumulate = "f32").
*/
#define GR_OPS(X)                                      \
  X(sum, SUM, F64, I64, ZERO, FUNCTION)                \
  X(prod, PROD, F64, I64, START, FUNCTION)             \
  X(min, MINMAX, SAME, SAME, RAISE, FUNCTION)          \
  X(max, MINMAX, SAME, SAME, RAISE, FUNCTION)          \
  X(minmax, MINMAX, SAME, SAME, RAISE, FUNCTION)       \
  X(mean, SUM, F64, F64, UNDEFINED, FUNCTION)          \
  X(var, VARIANCE, F64, F64, UNDEFINED, FUNCTION)      \
  X(std, VARIANCE, F64, F64, UNDEFINED, FUNCTION)      \
  X(argmin, ARGMIN, I64, I64, RAISE, FUNCTION)         \
  X(argmax, ARGMAX, I64, I64, RAISE, FUNCTION)         \
  X(any, COUNT, BOOL, BOOL, ZERO, FUNCTION)            \
  X(all, COUNT, BOOL, BOOL, START, FUNCTION)           \
  X(count, COUNT, I64, I64, ZERO, FUNCTION)            \
  X(norm1, SUMABS, F64, F64, ZERO, NAME)               \
  X(norm2, SUMSQ, F64, F64, ZERO, NAME)                \
  X(norminf, MINMAX, F64, F64, ZERO, NAME)             \
  X(dot, DOT, F64, I64, ZERO, FUNCTION)                \
  X(mse, SQDIFF, F64, F64, UNDEFINED, FUNCTION)        \
  X(cosine, COSINE, F64, F64, UNDEFINED, FUNCTION)     \
  X(logsumexp, SUMEXP, F64, F64, START, FUNCTION)      \
  X(differ, DIFFER, I64, I64, ZERO, NAME)              \
  X(sum_f32, SUM_F32, F64, F64, ZERO, NAME)            \
  X(sum_kahan, SUM_KAHAN, F64, F64, ZERO, NAME)        \
  X(sum_neumaier, SUM_NEUMAIER, F64, F64, ZERO, NAME)  \
  X(dot_f32, DOT_F32, F64, F64, ZERO, NAME)            \
  X(dot_kahan, DOT_KAHAN, F64, F64, ZERO, NAME)        \
  X(dot_neumaier, DOT_NEUMAIER, F64, F64, ZERO, NAME)  \
  X(sumsq, SUMSQ, F64, F64, ZERO, NAME)                \
  X(var_present, PRESENT, F64, F64, UNDEFINED, NAME)   \
  X(std_present, PRESENT, F64, F64, UNDEFINED, NAME)

#define GR_X(name, reducer, f, i, e, by) GR_OP_##name,
typedef enum gr_op { GR_OPS(GR_X) } gr_op;
#undef GR_X
enum { GR_OP_COUNT = GR_OPS(GR_ROW) };

/* Those of them that a scan runs. */
#define GR_SCANNED(X) X(sum) X(prod) X(min) X(max)
enum { GR_SCANNED_COUNT = GR_SCANNED(GR_ROW) };

/* What accumulate = asks for, besides "f64": each has a sibling of sum and one of dot, sum_f32 and dot_f32. */
#define GR_MODES(X) X(f32) X(kahan) X(neumaier)

/*
** Element operators: the only list of them, from which both backends and the binding are made, and a fused kernel
** could be. X(name, operands, result of floats, of integers, value of floats, value of integers).
**   results  SAME: the input's dtype; CALL: that too, by a function that is much work (kernels/numerics/functions);
**            F64: elements are widened to f64; MASK: u8, 1 or 0; NOT: the operator is not for these;
**            NONE: the operator has loops and kernels of its own
**   values   C expressions in the elements x, y, z of type T; integers compute in W, unsigned and wide enough, so that
**            they wrap. SQRT is the square root of T. OF and OF2 call the function of that name for f32 or f64; PARTED
**            and PARTED2 one that does some elements in another way, SURE one that of all others gives no NaN
*/
#define GR_MAPS(X)                                                                            \
  X(add, 2, SAME, SAME, x + y, (W)x + (W)y)                                                   \
  X(sub, 2, SAME, SAME, x - y, (W)x - (W)y)                                                   \
  X(mul, 2, SAME, SAME, x * y, (W)x * (W)y)                                                   \
  X(div, 2, SAME, F64, x / y, x)                                                              \
  X(floordiv, 2, CALL, CALL, OF2(floordiv), gr_whole_div(x, y))                               \
  X(mod, 2, CALL, CALL, PARTED2(mod), gr_whole_mod(x, y))                                     \
  X(fmod, 2, CALL, CALL, PARTED2(fmod), gr_whole_rest(x, y))                                  \
  X(pow, 2, CALL, F64, OF2(pow), x)                                                           \
  X(neg, 1, SAME, SAME, -x, 0 - (W)x)                                                         \
  X(abs, 1, SAME, SAME, x > 0 ? x : 0 - x, x < 1 ? 0 - (W)x : (W)x)                           \
  X(sign, 1, SAME, SAME, OF(sign), gr_whole_sign(x))                                          \
  X(square, 1, SAME, SAME, x * x, (W)x * (W)x)                                                \
  X(minimum, 2, SAME, SAME, OF2(minimum), x < y ? x : y)                                      \
  X(maximum, 2, SAME, SAME, OF2(maximum), x > y ? x : y)                                      \
  X(clamp, 3, SAME, SAME, x < y ? y : x > z ? z : x, x < y ? y : x > z ? z : x)               \
  X(floor, 1, SAME, SAME, OF(floor), x)                                                       \
  X(ceil, 1, SAME, SAME, OF(ceil), x)                                                         \
  X(round, 1, SAME, SAME, OF(round), x)                                                       \
  X(trunc, 1, SAME, SAME, OF(trunc), x)                                                       \
  X(sqrt, 1, SAME, F64, SQRT(x), x)                                                           \
  X(rsqrt, 1, CALL, F64, OF(rsqrt), x)                                                        \
  X(cbrt, 1, CALL, F64, OF(cbrt), x)                                                          \
  X(hypot, 2, CALL, F64, OF2(hypot), x)                                                       \
  X(exp, 1, CALL, F64, SURE(exp), x)                                                          \
  X(exp2, 1, CALL, F64, OF(exp2), x)                                                          \
  X(expm1, 1, CALL, F64, OF(expm1), x)                                                        \
  X(log, 1, CALL, F64, SURE(log), x)                                                          \
  X(log2, 1, CALL, F64, OF(log2), x)                                                          \
  X(log10, 1, CALL, F64, OF(log10), x)                                                        \
  X(log1p, 1, CALL, F64, OF(log1p), x)                                                        \
  X(sin, 1, CALL, F64, PARTED(sin), x)                                                        \
  X(cos, 1, CALL, F64, PARTED(cos), x)                                                        \
  X(tan, 1, CALL, F64, PARTED(tan), x)                                                        \
  X(asin, 1, CALL, F64, OF(asin), x)                                                          \
  X(acos, 1, CALL, F64, OF(acos), x)                                                          \
  X(atan, 1, CALL, F64, OF(atan), x)                                                          \
  X(atan2, 2, CALL, F64, OF2(atan2), x)                                                       \
  X(sinh, 1, CALL, F64, OF(sinh), x)                                                          \
  X(cosh, 1, CALL, F64, OF(cosh), x)                                                          \
  X(tanh, 1, CALL, F64, OF(tanh), x)                                                          \
  X(band, 2, NOT, SAME, x, x & y)                                                             \
  X(bor, 2, NOT, SAME, x, x | y)                                                              \
  X(bxor, 2, NOT, SAME, x, x ^ y)                                                             \
  X(bnot, 1, NOT, SAME, x, ~(W)x)                                                             \
  X(shl, 2, NOT, SAME, x, gr_whole_shift((uint64_t)x, y, 8 * (int)sizeof(x)))                 \
  X(shr, 2, NOT, SAME, x, gr_whole_shift_back((uint64_t)x, y, 8 * (int)sizeof(x)))            \
  X(isnan, 1, MASK, MASK, x != x, 0)                                                          \
  X(isinf, 1, MASK, MASK, x - x != 0 && x == x, 0)                                            \
  X(isfinite, 1, MASK, MASK, x - x == 0, 1)                                                   \
  X(land, 2, MASK, MASK, x != 0 && y != 0, x != 0 && y != 0)                                  \
  X(lor, 2, MASK, MASK, x != 0 || y != 0, x != 0 || y != 0)                                   \
  X(lnot, 1, MASK, MASK, x == 0, x == 0)                                                      \
  X(cast, 1, NONE, NONE, x, x)                                                                \
  X(compare, 2, NONE, NONE, x, x)                                                             \
  X(where, 3, NONE, NONE, x, x)

#define GR_X(name, operands, f, i, real, whole) GR_MAP_##name,
typedef enum gr_map { GR_MAPS(GR_X) } gr_map;
#undef GR_X
enum { GR_MAP_COUNT = GR_MAPS(GR_ROW) };

/* Comparisons. X(name, as people write it). With NaN only ne holds. */
#define GR_RELATIONS(X) X(lt, "<") X(le, "<=") X(eq, "==") X(ne, "~=") X(ge, ">=") X(gt, ">")

#define GR_X(name, text) GR_IS_##name,
typedef enum gr_relation { GR_RELATIONS(GR_X) } gr_relation;
#undef GR_X
enum { GR_RELATION_COUNT = GR_RELATIONS(GR_ROW) };

/* What put does with the element that is there and a value. X(name). */
#define GR_PUTS(X) X(set) X(add) X(min) X(max)

#define GR_X(name) GR_PUT_##name,
typedef enum gr_put_op { GR_PUTS(GR_X) } gr_put_op;
#undef GR_X

#endif
