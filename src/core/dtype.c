#include "src/core/dtype.h"

#include <inttypes.h>
#include <stdio.h>

#define GR_X(id, s, l, type, kind) \
  {#s, #l, (int)sizeof(type), GR_##kind, GR_LOWEST(GR_##kind, sizeof(type)), GR_HIGHEST(GR_##kind, sizeof(type))},
const gr_dtype_info gr_dtypes[GR_DTYPE_COUNT] = {GR_DTYPES(GR_X)};
#undef GR_X

int gr_dtype_named(const char *name) {
  for (int t = 0; t < GR_DTYPE_COUNT; t++)
    if (!strcmp(name, gr_dtypes[t].name) || !strcmp(name, gr_dtypes[t].long_name)) return t;
  return -1;
}

char gr_dtype_letter(gr_dtype t) {
  static const char letters[] = {[GR_UINT] = 'u', [GR_INT] = 'i', [GR_FLOAT] = 'f'};
  return letters[gr_dtypes[t].kind];
}

int gr_dtype_of_letter(char letter, size_t size) {
  for (int t = 0; t < GR_DTYPE_COUNT; t++)
    if (gr_dtype_letter((gr_dtype)t) == letter && (size_t)gr_size((gr_dtype)t) == size) return t;
  return -1;
}

gr_value gr_element_get(gr_dtype t, const void *p) {
  gr_value r = {.is_float = gr_dtypes[t].kind == GR_FLOAT};
  switch (t) {
/* clang-format off */
#define INTEGER(id, type) \
  case GR_##id: { type x; memcpy(&x, p, sizeof x); r.v[0].i = (int64_t)x; break; }
#define REAL(id, s, type) \
  case GR_##id: { type x; memcpy(&x, p, sizeof x); r.v[0].f = gr_widen_##s(x); break; }
    INTEGER(U8, uint8_t) INTEGER(I8, int8_t) INTEGER(U16, uint16_t) INTEGER(I16, int16_t)
    INTEGER(U32, uint32_t) INTEGER(I32, int32_t) INTEGER(I64, int64_t)
    REAL(F16, f16, gr_f16) REAL(BF16, bf16, gr_bf16) REAL(F32, f32, float) REAL(F64, f64, double)
#undef INTEGER
#undef REAL
    /* clang-format on */
  }
  r.v[1] = r.v[0];
  return r;
}

_Static_assert(GR_FLOAT_COUNT == 4, "f64 is the default below");

void gr_element_put_f(gr_dtype t, void *p, double x) {
  float f = (float)x;
  gr_f16 h;
  gr_bf16 b;
  switch (t) {
    case GR_F16:
      h = gr_f64_to_f16(x);
      memcpy(p, &h, sizeof h);
      break;
    case GR_BF16:
      b = gr_f64_to_bf16(x);
      memcpy(p, &b, sizeof b);
      break;
    case GR_F32: memcpy(p, &f, sizeof f); break;
    default: memcpy(p, &x, sizeof x); break; /* f64 */
  }
}

void gr_element_put_i(gr_dtype t, void *p, int64_t x) {
  float f = (float)x; /* straight from the integer: by way of a double it could round twice */
  switch (t) {
    case GR_F32: memcpy(p, &f, sizeof f); break;
    case GR_F16:
    case GR_BF16:
    case GR_F64: gr_element_put_f(t, p, (double)x); break;
    default: memcpy(p, &x, (size_t)gr_size(t)); break; /* little-endian: the low bytes are the narrow integer */
  }
}

int gr_float_fits(gr_dtype t, double x) {
  switch (t) {
    case GR_F16: return fabs(x) < 65520.0;
    case GR_BF16: return fabs(x) < 3.3961775292304957e38; /* halfway from the largest bf16 to 2^128 */
    case GR_F32: return fabs(x) < 3.4028235677973366e38;  /* halfway from FLT_MAX to 2^128 */
    default: return 1;
  }
}

static const char *store_integer(gr_dtype t, void *p, const gr_number *x, char text[96]) {
  const gr_dtype_info *d = &gr_dtypes[t];
  if (!x->whole && x->f == floor(x->f) && x->f - x->f == 0)
    snprintf(text, 96, "value %.14g does not fit %s", x->f, d->name);
  else if (!x->whole) snprintf(text, 96, "value %.14g is not a whole number, as %s needs", x->f, d->name);
  else if (x->i < d->lowest || x->i > d->highest)
    snprintf(text, 96, "value %" PRId64 " does not fit %s (%" PRId64 " to %" PRId64 ")", x->i, d->name, d->lowest,
             d->highest);
  else return gr_element_put_i(t, p, x->i), NULL;
  return text;
}

const char *gr_element_store(gr_dtype t, void *p, const gr_number *x, char text[96]) {
  if (!gr_is_float(t)) return store_integer(t, p, x, text);
  if (x->f - x->f == 0 && !gr_float_fits(t, x->f))
    return snprintf(text, 96, "value %.14g does not fit %s", x->f, gr_dtypes[t].name), text;
  if (x->integer) gr_element_put_i(t, p, x->i);
  else gr_element_put_f(t, p, x->f);
  return NULL;
}

void gr_swap_bytes(void *elements, size_t n, size_t size) {
  char *p = elements;
  for (char *end = p + n * size; p < end; p += size)
    for (size_t k = 0; k < size / 2; k++) {
      char x = p[k];
      p[k] = p[size - 1 - k];
      p[size - 1 - k] = x;
    }
}
