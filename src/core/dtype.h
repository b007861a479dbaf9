/* Element types: names, sizes, kinds, and single elements in and out of memory. The table is in kernels/tables.h. */
#ifndef GR_DTYPE_H
#define GR_DTYPE_H

#include <stddef.h>
#include "kernels/numerics/numerics.h"

typedef struct gr_dtype_info {
  const char *name, *long_name;
  int size; /* bytes of an element */
  gr_kind kind;
  int64_t lowest, highest; /* integers: the range */
} gr_dtype_info;

extern const gr_dtype_info gr_dtypes[GR_DTYPE_COUNT];

static inline int gr_size(gr_dtype t) { return gr_dtypes[t].size; }

/* The dtype called name (short or long), or -1. */
int gr_dtype_named(const char *name);

/* 'u', 'i' or 'f', as NumPy calls kinds; and the dtype of that kind and size, or -1: two bytes of 'f' are f16. */
char gr_dtype_letter(gr_dtype);
int gr_dtype_of_letter(char letter, size_t size);

/* One element as a value, and back. Floats are rounded to nearest even. */
gr_value gr_element_get(gr_dtype t, const void *p);
void gr_element_put_f(gr_dtype t, void *p, double x);  /* float dtypes */
void gr_element_put_i(gr_dtype t, void *p, int64_t x); /* any dtype; integers are in range */
/* Number k of a value as an element, which of a float is one of a float dtype; and as a double. */
static inline void gr_element_put(gr_dtype t, void *p, const gr_value *v, int k) {
  if (v->is_float) gr_element_put_f(t, p, v->v[k].f);
  else gr_element_put_i(t, p, v->v[k].i);
}
/* x as f32 has it. */
static inline double gr_single(double x) {
  float f;
  gr_element_put_f(GR_F32, &f, x);
  return (double)f;
}
static inline double gr_value_double(const gr_value *v, int k) { return v->is_float ? v->v[k].f : (double)v->v[k].i; }

/* A script's number: f; where f is whole and fits 64 bits, i as well. integer: i is exact, and f is rounded from it. */
typedef struct gr_number {
  int whole, integer;
  int64_t i;
  double f;
} gr_number;

static inline int gr_whole(double x, int64_t *out) {
  if (!(x >= -0x1p63 && x < 0x1p63) || x != floor(x)) return 0;
  *out = (int64_t)x;
  return 1;
}

/* Stores a number as one element; NULL, or why it cannot be, in text. */
const char *gr_element_store(gr_dtype t, void *p, const gr_number *, char text[96]);

/* The bytes of each of n elements in the other order. */
void gr_swap_bytes(void *elements, size_t n, size_t size);

/* Whether a finite x stays finite when it is rounded to the float dtype t. */
int gr_float_fits(gr_dtype t, double x);

#endif
