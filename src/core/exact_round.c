#include "src/core/exact_round.h"

#include <stdio.h>

/* ---- large numbers ---- */

/* digits * 2^exponent, and a little more if nonzero digits below were cut off; exponents are multiples of 32. */
#define DIGITS 304 /* the square of an f64 dot, and what a quotient needs below it */
typedef struct large {
  uint32_t digit[DIGITS];
  int count, exponent, negative, cut;
} large;

static void trim(large *a) {
  while (a->count && a->digit[a->count - 1] == 0) a->count--;
}

/* The magnitude and sign of an accumulator. */
static void large_of(large *a, gr_exact *s) {
  uint64_t borrow = 1;
  gr_exact_carry(s);
  a->cut = 0;
  a->count = s->high > s->low ? s->high - s->low : 0;
  a->negative = a->count && s->limb[s->high - 1] < 0;
  a->exponent = 32 * (a->count ? s->low : 0) + GR_EXACT_UNIT;
  for (int k = 0; k < a->count; k++) {
    int64_t limb = s->limb[s->low + k];
    if (a->negative) {
      borrow += ~(uint64_t)limb & UINT32_MAX;
      a->digit[k] = (uint32_t)borrow;
      borrow >>= 32;
    } else {
      a->digit[k] = (uint32_t)limb;
    }
  }
  /* The highest limb of a full accumulator may hold more than 32 bits. */
  if (a->count && s->high == GR_EXACT_LIMBS) {
    int64_t top = s->limb[GR_EXACT_LIMBS - 1] >> 32;
    a->digit[a->count++] = (uint32_t)(a->negative ? ~(uint64_t)top + borrow : (uint64_t)top);
  }
  trim(a);
}

/* Appends zero digits below. */
static void extend(large *a, int digits) {
  memmove(a->digit + digits, a->digit, (size_t)a->count * 4);
  memset(a->digit, 0, (size_t)digits * 4);
  a->count += a->count ? digits : 0;
  a->exponent -= 32 * digits;
}

/* Gives both the lower of their exponents. */
static void align(large *a, large *b) {
  if (a->exponent > b->exponent) extend(a, (a->exponent - b->exponent) / 32);
  else if (b->exponent > a->exponent) extend(b, (b->exponent - a->exponent) / 32);
}

static void multiply(large *r, const large *a, const large *b) {
  memset(r->digit, 0, (size_t)(a->count + b->count) * 4);
  for (int i = 0; i < a->count; i++) {
    uint64_t carry = 0;
    for (int j = 0; j < b->count; j++) {
      carry += (uint64_t)a->digit[i] * b->digit[j] + r->digit[i + j];
      r->digit[i + j] = (uint32_t)carry;
      carry >>= 32;
    }
    r->digit[i + b->count] = (uint32_t)carry;
  }
  r->count = a->count + b->count;
  r->exponent = a->exponent + b->exponent;
  r->negative = a->negative != b->negative;
  r->cut = 0;
  trim(r);
}

static void times(large *a, uint64_t n) {
  large b = {.count = 2}, r;
  b.digit[0] = (uint32_t)n;
  b.digit[1] = (uint32_t)(n >> 32);
  trim(&b);
  b.negative = 0;
  multiply(&r, a, &b);
  r.negative = a->negative;
  *a = r;
}

/* a - b of magnitudes; a >= b, same exponent. */
static void subtract(large *a, const large *b) {
  int64_t borrow = 0;
  for (int k = 0; k < a->count; k++) {
    borrow += (int64_t)a->digit[k] - (k < b->count ? b->digit[k] : 0);
    a->digit[k] = (uint32_t)borrow;
    borrow >>= 32;
  }
  trim(a);
}

static int compare(const large *a, const large *b) {
  if (a->count != b->count) return a->count < b->count ? -1 : 1;
  for (int k = a->count - 1; k >= 0; k--)
    if (a->digit[k] != b->digit[k]) return a->digit[k] < b->digit[k] ? -1 : 1;
  return 0;
}

/* The quotient, cut off; n < 2^63. */
static void divide(large *a, uint64_t n) {
  uint64_t rest = 0;
  for (int k = a->count - 1; k >= 0; k--) {
    if (n <= UINT32_MAX) {
      rest = rest << 32 | a->digit[k];
      a->digit[k] = (uint32_t)(rest / n);
      rest %= n;
    } else {
      uint32_t quotient = 0;
      for (int bit = 31; bit >= 0; bit--) {
        rest = rest << 1 | (a->digit[k] >> bit & 1);
        quotient <<= 1;
        if (rest >= n) rest -= n, quotient |= 1;
      }
      a->digit[k] = quotient;
    }
  }
  a->cut |= rest != 0;
  trim(a);
}

static int bit_length(const large *a) {
  int n = 32 * a->count;
  if (n == 0) return 0;
  for (uint32_t top = a->digit[a->count - 1]; !(top >> 31); top <<= 1) n--;
  return n;
}

static int bit_at(const large *a, int k) { return k >= 0 && k < 32 * a->count && a->digit[k >> 5] >> (k & 31) & 1; }
static uint64_t digit_at(const large *a, int k) { return k >= 0 && k < a->count ? a->digit[k] : 0; }

/* 64 bits from bit `from` on (it may be negative: zeros lie below); whether anything else lies below them. */
static uint64_t bits_from(const large *a, int from, int *rest) {
  const int first = from >= 0 ? from / 32 : -((31 - from) / 32), above = from - 32 * first;
  uint64_t m = digit_at(a, first) | digit_at(a, first + 1) << 32;
  if (above) m = m >> above | digit_at(a, first + 2) << (64 - above);
  *rest = a->cut;
  for (int k = 0; k < a->count && 32 * k < from; k++)
    *rest |= (from - 32 * k >= 32 ? a->digit[k] : a->digit[k] & ((UINT32_C(1) << (from - 32 * k)) - 1)) != 0;
  return m;
}

static void shift_left(large *a) {
  uint32_t carry = 0;
  for (int k = 0; k < a->count; k++) {
    uint32_t d = a->digit[k];
    a->digit[k] = d << 1 | carry;
    carry = d >> 31;
  }
  if (carry) a->digit[a->count++] = carry;
}

/* ---- rounding ---- */

/* m * 2^exponent (the top bit of m is set) and a little more if `rest`, as the nearest f64 or f32. */
static double nearest(uint64_t m, int exponent, int rest, int negative, int single) {
  int digits = single ? 24 : 53, lowest = single ? -149 : -1074;
  int place = exponent + 64 - digits, drop;
  uint64_t kept = 0, below = m, half, bits, infinity = (uint64_t)(single ? 255 : 2047) << (digits - 1);
  if (place < lowest) place = lowest;
  drop = place - exponent; /* at least 11 */
  if (drop < 64) {
    kept = m >> drop;
    below = m & ((UINT64_C(1) << drop) - 1);
  }
  half = drop <= 64 ? UINT64_C(1) << (drop - 1) : UINT64_MAX; /* beyond: less than half of the lowest place */
  if (drop <= 64 && (below > half || (below == half && (rest || (kept & 1))))) kept++;
  /* The leading bit of kept adds one to the exponent field, and so does a carry out of it. */
  bits = ((uint64_t)(place - lowest) << (digits - 1)) + kept;
  if (bits > infinity) bits = infinity;
  if (single) return (double)gr_from_bits32((uint32_t)bits | (uint32_t)negative << 31);
  return gr_from_bits64(bits | (uint64_t)negative << 63);
}

static double nearest_of(const large *a, int single) {
  int rest, from = bit_length(a) - 64;
  uint64_t m = bits_from(a, from, &rest);
  return a->count ? nearest(m, a->exponent + from, rest, a->negative, single) : 0;
}

/* The square root of a magnitude: 61 bits of it, two of the radicand at a time. */
static double root_of(const large *a, int single) {
  int rest, from = bit_length(a) - 120;
  uint64_t root = 0, left = 0;
  if (a->count == 0) return 0;
  if ((a->exponent + from) & 1) from--;
  bits_from(a, from, &rest);
  for (int k = from + 120; k >= from; k -= 2) {
    left = left << 2 | (uint64_t)(bit_at(a, k + 1) << 1 | bit_at(a, k));
    root <<= 1;
    if (left > 2 * root) left -= 2 * root + 1, root++;
  }
  rest |= left != 0;
  for (from = (a->exponent + from) / 2; !(root >> 63); root <<= 1) from--;
  return nearest(root, from, rest, 0, single);
}

/* ---- results ---- */

/* Infinities and NaN by their flags; an exact zero is -0 only where every addend was. 1 if that settles it. */
static int settled(gr_exact *s, double *result) {
  if (s->flags & GR_EXACT_SPECIAL) {
    int both = (s->flags & GR_EXACT_INF) && (s->flags & GR_EXACT_MINUS);
    *result = s->flags & GR_EXACT_NAN || both ? gr_nan() : s->flags & GR_EXACT_INF ? INFINITY : -INFINITY;
    return 1;
  }
  *result = (s->flags & GR_EXACT_SOME) && !(s->flags & GR_EXACT_NONZERO) ? -0.0 : 0.0;
  return gr_exact_is_zero(s);
}

double gr_exact_value(gr_exact *s, int single) {
  double r;
  large a;
  if (settled(s, &r)) return r;
  large_of(&a, s);
  return nearest_of(&a, single);
}

static double mean_of(gr_exact *s, int64_t n, int single) {
  double r;
  large a;
  if (settled(s, &r)) return r;
  large_of(&a, s);
  extend(&a, 4);
  divide(&a, (uint64_t)n);
  return nearest_of(&a, single);
}

static double norm_of(gr_exact *s, int single) {
  double r;
  large a;
  if (settled(s, &r)) return r == 0 ? 0 : r;
  large_of(&a, s);
  return root_of(&a, single);
}

/* (x - y)^2 sums to xx + yy - 2 xy. */
static double mse_of(const gr_exact_sums *q, int64_t n, int single) {
  gr_exact s = *q->xx, minus = *q->xy;
  gr_exact_merge(&s, q->yy);
  gr_exact_carry(&minus);
  for (int k = minus.low; k < minus.high; k++) minus.limb[k] *= -2;
  gr_exact_merge(&s, &minus);
  s.flags = GR_EXACT_SOME | GR_EXACT_NONZERO;
  return mean_of(&s, n, single);
}

/* Squared deviations sum to xx - x^2 / n, so the variance is (n xx - x^2) / (n (n - ddof)). */
static double var_of(const gr_exact_sums *q, int64_t n, int64_t ddof, int root, int single) {
  large x, square, a;
  if (q->x->flags & GR_EXACT_SPECIAL || n <= ddof) return gr_nan();
  large_of(&x, q->x);
  multiply(&square, &x, &x);
  large_of(&a, q->xx);
  times(&a, (uint64_t)n);
  align(&a, &square);
  subtract(&a, &square);
  extend(&a, 8);
  divide(&a, (uint64_t)n);
  divide(&a, (uint64_t)(n - ddof));
  return root ? root_of(&a, single) : nearest_of(&a, single);
}

/* 128 bits of a / b, by shifting and subtracting; b is not zero, and both lose what they hold. */
static void ratio(large *q, large *a, large *b) {
  int ahead = bit_length(a) - bit_length(b);
  if (ahead > 0) extend(b, ahead / 32);
  else extend(a, -ahead / 32);
  for (; bit_length(a) < bit_length(b); a->exponent--) shift_left(a);
  for (; bit_length(b) < bit_length(a); b->exponent--) shift_left(b);
  *q = (large){.count = 4, .exponent = a->exponent - b->exponent - 127};
  for (int k = 127; k >= 0; k--) {
    if (compare(a, b) >= 0) {
      subtract(a, b);
      q->digit[k >> 5] |= UINT32_C(1) << (k & 31);
    }
    shift_left(a);
  }
  q->cut = a->count != 0;
  trim(q);
}

/* The root of xy^2 / (xx yy), with the sign of xy. */
static double cosine_of(const gr_exact_sums *q, int single) {
  double r;
  large xx, yy, xy, square, product;
  if ((q->xx->flags | q->yy->flags) & GR_EXACT_SPECIAL) return gr_nan();
  if (gr_exact_is_zero(q->xx) || gr_exact_is_zero(q->yy)) return gr_nan();
  if (settled(q->xy, &r)) return r;
  large_of(&xx, q->xx);
  large_of(&yy, q->yy);
  large_of(&xy, q->xy);
  multiply(&square, &xy, &xy);
  multiply(&product, &xx, &yy);
  ratio(&xx, &square, &product);
  r = root_of(&xx, single);
  return xy.negative ? -r : r;
}

double gr_exact_result(gr_op op, const gr_exact_sums *q, int64_t n, int64_t ddof, int single) {
  int sums = op == GR_OP_sum || op == GR_OP_norm1 || op == GR_OP_norm2 || op == GR_OP_dot;
  if (n == 0) return sums ? 0 : gr_nan();
#define GR_X(name, sums, value) \
  if (op == GR_OP_##name) return value;
  GR_EXACT_OPS(GR_X)
#undef GR_X
  return gr_nan();
}

/* ---- bytes ---- */

/* 12 bytes: "GRX", 1, flags, 7 zeros; then limbs 0 .. 136 with 4 bytes each and the last with 8, little-endian. */
#define HEAD 12
static const unsigned char magic[4] = {'G', 'R', 'X', 1};

/*
** The highest limb has room for some 2^97 times the sum of as many products of two doubles as there can be. Crafted
** bytes and sums that are doubled on and on are stopped long before it overflows.
*/
static int in_range(const gr_exact *s) {
  int64_t top = s->limb[GR_EXACT_LIMBS - 1];
  return top >= INT32_MIN && top <= INT32_MAX;
}

void gr_exact_pack(gr_exact *s, unsigned char bytes[GR_EXACT_BYTES]) {
  int64_t carry = 0;
  if (s->flags & GR_EXACT_SPECIAL) { /* the finite addends do not matter any more */
    uint32_t flags = s->flags | GR_EXACT_NONZERO;
    gr_exact_clear(s);
    s->flags = flags;
  }
  gr_exact_carry(s);
  memset(bytes, 0, GR_EXACT_BYTES);
  memcpy(bytes, magic, 4);
  bytes[4] = (unsigned char)s->flags;
  for (int k = 0; k < GR_EXACT_LIMBS; k++) { /* the sign goes all the way up */
    int64_t v = s->limb[k] + carry;
    int size = k == GR_EXACT_LIMBS - 1 ? 8 : 4;
    for (int i = 0; i < size; i++) bytes[HEAD + 4 * k + i] = (unsigned char)((uint64_t)v >> 8 * i);
    carry = v >> 32;
  }
}

const char *gr_exact_unpack(gr_exact *s, const unsigned char *bytes, size_t length, char text[64]) {
  gr_exact_clear(s);
  if (length != GR_EXACT_BYTES) return snprintf(text, 64, "%d bytes expected, got %zu", GR_EXACT_BYTES, length), text;
  if (memcmp(bytes, magic, 3) != 0) return "the bytes of an accumulator start with 'GRX'";
  if (bytes[3] != magic[3])
    return snprintf(text, 64, "version %d of the format expected, got %d", magic[3], bytes[3]), text;
  for (int k = 5; k < HEAD; k++)
    if (bytes[k]) return "the header is damaged";
  if (bytes[4] >= 2 * GR_EXACT_NONZERO) return "the header is damaged";
  s->flags = bytes[4];
  for (int k = 0; k < GR_EXACT_LIMBS; k++) {
    uint64_t v = 0;
    for (int i = k == GR_EXACT_LIMBS - 1 ? 7 : 3; i >= 0; i--) v = v << 8 | bytes[HEAD + 4 * k + i];
    s->limb[k] = (int64_t)v;
  }
  s->low = 0;
  s->high = GR_EXACT_LIMBS;
  if (in_range(s)) return NULL;
  gr_exact_clear(s);
  return "the sum is larger than any of 2^63 products";
}

int gr_exact_join(gr_exact *s, const gr_exact *other) {
  gr_exact sum = *other; /* it may be s itself */
  gr_exact_carry(&sum);
  gr_exact_carry(s);
  gr_exact_merge(&sum, s);
  gr_exact_carry(&sum);
  if (!in_range(&sum)) return 0;
  *s = sum;
  return 1;
}
