/* Integers: division with Lua's signs, remainders, shifts. None traps: by 0 all give 0, and the lowest by -1 wraps. */
#ifndef GR_WHOLE_H
#define GR_WHOLE_H

#include "kernels/numerics/functions/fused.h"

GR_WITHIN int64_t gr_whole_sign(int64_t x) { return (x > 0) - (x < 0); }

/* Lua's //: towards minus infinity. */
GR_WITHIN int64_t gr_whole_div(int64_t x, int64_t y) {
  int64_t q;
  if (y == 0 || y == -1) return y ? (int64_t)(0 - (uint64_t)x) : 0;
  q = x / y;
  return q - (x % y != 0 && (x < 0) != (y < 0));
}

/* Lua's %: the sign of y. */
GR_WITHIN int64_t gr_whole_mod(int64_t x, int64_t y) {
  int64_t r;
  if (y == 0 || y == -1) return 0;
  r = x % y;
  return r != 0 && (r < 0) != (y < 0) ? r + y : r;
}

/* C's %: the sign of x. */
GR_WITHIN int64_t gr_whole_rest(int64_t x, int64_t y) { return y == 0 || y == -1 ? 0 : x % y; }

/* Lua's << of integers of that width: zeros come in, a negative count shifts the other way, and one of the width or
   more leaves nothing. */
GR_WITHIN uint64_t gr_whole_shift(uint64_t x, int64_t count, int width) {
  const uint64_t kept = x & (~UINT64_C(0) >> (64 - width)), by = count < 0 ? 0 - (uint64_t)count : (uint64_t)count;
  const uint64_t within = by & 63, r = count < 0 ? kept >> within : kept << within;
  return by < (uint64_t)width ? r : 0;
}
GR_WITHIN uint64_t gr_whole_shift_back(uint64_t x, int64_t count, int width) {
  return gr_whole_shift(x, count == INT64_MIN ? INT64_MAX : -count, width);
}

#endif
