/* What the operations of the C API share: options, numbers, names. */
#ifndef GR_CAPI_OPERATIONS_H
#define GR_CAPI_OPERATIONS_H

#include "src/capi/call.h"
#include "src/core/ops.h"

/* Which options an operation takes; others must be 0. */
enum {
  GR_TAKES_SHAPE = 1,
  GR_TAKES_SEGMENTS = 2,
  GR_TAKES_PAIRS = 4,
  GR_TAKES_EXACT = 8,
  GR_TAKES_DDOF = 16,
  GR_TAKES_ORDER = 32, /* exclusive, reverse */
  GR_TAKES_DTYPE = 64,
  GR_TAKES_EPS = 128,
  GR_TAKES_MISSING = 256, /* mask, skipnan */
  GR_TAKES_SINGLE = 512,
  GR_TAKES_WEIGHTS = 1024
};

/* The options, or those that NULL stands for; NULL when they are refused. */
const gpureduce_options *gr_capi_options(gr_capi *, const gpureduce_options *, int takes);

/* How options read a (segments aside); -1 rows are those of a matrix. */
int gr_capi_shape(gr_capi *, const gpureduce_options *, const gr_array *a, gr_shape *);

/* mask (or NULL) and nan say which elements of a are missing. */
int gr_capi_missing(gr_capi *, const gpureduce_array *mask, int nan, const gr_array *a, gr_missing *);

/* How options read an operand: as rows, columns or segments, and what of it is missing. It stays where it is. */
typedef struct gr_capi_reading {
  gr_reduced of;
  gr_shape shape;
  gr_segments segments; /* where shape points when there are any */
  gr_missing missing;
} gr_capi_reading;
int gr_capi_vectors(gr_capi *, const gpureduce_options *, gr_reduced a, gr_capi_reading *);

/* A reduction of one or two operands (else b.a is NULL) to a number, by name. */
typedef struct gr_capi_operation {
  gr_op op;
  gr_reduced a, b;
  double ddof;
} gr_capi_operation;
/* Sets op, which takes these operands; lengths of the two may still differ. */
int gr_capi_check_operation(gr_capi *, const char *op, gr_capi_operation *);

/* Dtype and length; what: the name of b in errors. */
int gr_capi_like(gr_capi *, const gr_array *a, const gr_array *b, int64_t n, const char *what);

int gr_capi_float(gr_capi *, const gr_array *);
/* The place of name in a list that ends with NULL; -1 when it is not there, and refused. */
int gr_capi_named(gr_capi *, const char *name, const char *const *names, const char *what);

gr_number gr_capi_number(gpureduce_number);
gpureduce_number gr_capi_result(const gr_value *, int k);
int gr_capi_element(gr_capi *, gr_dtype, const gpureduce_number *, uint64_t *bits);

#endif
