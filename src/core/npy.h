/* NumPy's NPY format 1.0 to 3.0: headers, and elements in Fortran order. */
#ifndef GR_NPY_H
#define GR_NPY_H

#include "src/core/context.h"
#include "src/core/dtype.h"

#define GR_MAX_DIMENSIONS 32
#define GR_NPY_HEADER_LIMIT ((size_t)1 << 20)

typedef struct gr_npy {
  gr_dtype dtype;
  int dimensions;
  int64_t shape[GR_MAX_DIMENSIONS];
  int64_t n;           /* product of shape */
  int64_t data_offset; /* of the elements in the file */
  int swap, fortran;   /* the bytes of an element lie in the other order; the first index runs fastest */
} gr_npy;

/* The header at the start of a file of file_bytes (-1: nobody knows), whose first bytes are given. */
gr_status gr_npy_parse(gr_context *, const unsigned char *bytes, size_t have, int64_t file_bytes, gr_npy *out);
/* Whether so many bytes of data are what the header promises; more: there may be others behind them. */
gr_status gr_npy_fits(gr_context *, const gr_npy *, int64_t there, int more);
/* How many bytes of the file the parser must see, from its first 12 (10 of version 1); 0: not NPY. */
size_t gr_npy_header_bytes(const unsigned char *first12);
/* Writes a header into text (room for 4096) and returns its length, or 0 for a dtype that NPY has not. */
size_t gr_npy_format(char *text, gr_dtype, int dimensions, const int64_t *shape);

/* Puts elements that lie in Fortran order, and come in pieces, where they belong in C order. */
typedef struct gr_turn {
  char *to;       /* where all of them go */
  int64_t offset; /* of the next one, in bytes */
  int size, dimensions;
  int64_t at[GR_MAX_DIMENSIONS], length[GR_MAX_DIMENSIONS], step[GR_MAX_DIMENSIONS]; /* step: bytes */
} gr_turn;
void gr_turn_begin(gr_turn *, const gr_npy *, void *to);
void gr_turn_put(gr_turn *, const void *elements, int64_t n);

#endif
