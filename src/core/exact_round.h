/*
** From exact sums to correctly rounded results: the only code that rounds. It computes with integers alone and rounds
** to the nearest number, ties to even; subnormals are kept, and infinity is only what the result itself rounds to.
*/
#ifndef GR_EXACT_ROUND_H
#define GR_EXACT_ROUND_H

#include "kernels/numerics/exact.h"

/*
** The operations that are rounded once. X(name, the sums it needs, its result): n elements, ddof of var and std.
*/
#define GR_EXACT_OPS(X)                                  \
  X(sum, SUM_X, gr_exact_value(q->x, single))            \
  X(norm1, SUM_X, gr_exact_value(q->x, single))          \
  X(dot, SUM_XY, gr_exact_value(q->xy, single))          \
  X(mean, SUM_X, mean_of(q->x, n, single))               \
  X(norm2, SUM_XX, norm_of(q->xx, single))               \
  X(var, SUM_X | SUM_XX, var_of(q, n, ddof, 0, single))  \
  X(std, SUM_X | SUM_XX, var_of(q, n, ddof, 1, single))  \
  X(mse, SUM_XX | SUM_XY | SUM_YY, mse_of(q, n, single)) \
  X(cosine, SUM_XX | SUM_XY | SUM_YY, cosine_of(q, single))

/* What a result is made of: the sums that an operation needs. */
typedef struct gr_exact_sums {
  gr_exact *x;  /* sum, mean, norm1 (of magnitudes), var, std */
  gr_exact *xx; /* norm2, var, std, mse, cosine */
  gr_exact *xy; /* dot, mse, cosine */
  gr_exact *yy; /* mse, cosine */
} gr_exact_sums;

/*
** The result of op, a row of the table above, over n elements; ddof of var and std
** is whole and below n. single: rounded to f32 instead of f64. The sums are carried. For mse the caller has
** dealt with infinities and NaN (flags of xx and yy).
*/
double gr_exact_result(gr_op op, const gr_exact_sums *, int64_t n, int64_t ddof, int single);

/* The value of an accumulator alone. */
double gr_exact_value(gr_exact *, int single);

/*
** 568 bytes that do not depend on the machine: "GRX", a version (1), flags, and the sum in two's complement. Equal sums
** have equal bytes. gr_exact_unpack returns why the bytes are none (in text), or NULL.
*/
#define GR_EXACT_BYTES 568
void gr_exact_pack(gr_exact *, unsigned char bytes[GR_EXACT_BYTES]);
const char *gr_exact_unpack(gr_exact *, const unsigned char *bytes, size_t length, char text[64]);

/* Adds one accumulator to another; returns 0 and changes nothing if the sum is larger than one can hold. */
int gr_exact_join(gr_exact *, const gr_exact *other);

#endif
