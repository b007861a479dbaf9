/*
** The functions of element operators, for f32 and f64: pure arithmetic in a fixed order, so that compilers for CPUs and
** GPUs give the same bits. They have no branches, so that loops become vector code and warps stay together; where an
** argument asks for more work than others, that is a function of its own (GR_SELDOM), and gr_<name>_seldom says when.
** Each algorithm is written once, in the .inc files, for a type R; FN(name) is gr_name_f32 or gr_name_f64. A NaN that
** they return may be any: who stores it makes it the one NaN. How far results are off, measured: docs/numerics.md.
*/
#ifndef GR_FUNCTIONS_H
#define GR_FUNCTIONS_H

#include "kernels/numerics/functions/fused.h"
#include "kernels/numerics/functions/turns.h"
#include "kernels/numerics/math.h"

/* Goes up whenever any finite argument may give other bits than before. 1: exp, log and tanh in f64 for all. */
#define GR_FUNCTIONS_VERSION 2

#define FN_JOIN(name, type) gr_##name##_##type

/* Conditions are joined by & and |, which are no branches; clang takes that for a slip. */
#if defined(__clang__)
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wunknown-warning-option"
#pragma clang diagnostic ignored "-Wbitwise-instead-of-logical"
#pragma clang diagnostic ignored "-Wbitwise-conditional-parentheses"
#endif

/* ---- f64 ---- */

#define R double
#define U uint64_t
#define FN(name) FN_JOIN(name, f64)
#define FMA gr_fma_f64
#define BITS gr_bits64
#define FROM gr_from_bits64
#define ROOT sqrt
#define WIDTH 64
#define DIGITS 53
#define BIAS 1023
#define MAGIC 6755399441055744.0 /* 1.5 * 2^52 */
#include "kernels/numerics/functions/constants_f64.h"
#include "kernels/numerics/functions/all.inc"

/* ---- f32 ---- */

#define R float
#define U uint32_t
#define FN(name) FN_JOIN(name, f32)
#define FMA gr_fma_f32
#define BITS gr_bits32
#define FROM gr_from_bits32
#define ROOT sqrtf
#define WIDTH 32
#define DIGITS 24
#define BIAS 127
#define MAGIC 12582912.0f /* 1.5 * 2^23 */
#include "kernels/numerics/functions/constants_f32.h"
#include "kernels/numerics/functions/all.inc"

#include "kernels/numerics/functions/pow.h"
#include "kernels/numerics/functions/whole.h"

#if defined(__clang__)
#pragma clang diagnostic pop
#endif

/*
** What the rows of GR_MAPS call, by the type of x. A loop runs twice where some elements ask for more: with way
** GR_WAY_ASK it finds out whether one does, then all go the short way, or the one that is right for all.
*/
#define OF(name) (sizeof(x) == 4 ? gr_##name##_f32((float)(x)) : gr_##name##_f64((double)(x)))
#define OF2(name) (sizeof(x) == 4 ? gr_##name##_f32((float)(x), (float)(y)) : gr_##name##_f64((double)(x), (double)(y)))
#ifdef __CUDACC__
#define PARTED(name) OF(name)
#define SURE(name) OF(name)
#define PARTED2(name) OF2(name)
#else
typedef enum gr_way { GR_WAY_ASK, GR_WAY_SHORT, GR_WAY_ALL } gr_way;
#define PARTED(name) \
  (way == GR_WAY_ASK ? (seldom |= OF(name##_seldom), 0) : way == GR_WAY_SHORT ? OF(name##_within) : OF(name))
/* The same, whose short way gives nothing but numbers. */
#define SURE(name) (number |= way == GR_WAY_SHORT, PARTED(name))
#define PARTED2(name) \
  (way == GR_WAY_ASK ? (seldom |= OF2(name##_seldom), 0) : way == GR_WAY_SHORT ? OF2(name##_within) : OF2(name))
#endif

#endif
