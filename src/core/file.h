/* Arrays in files: raw elements, and NumPy's NPY format 1.0 to 3.0. */
#ifndef GR_FILE_H
#define GR_FILE_H

#include "src/core/array.h"
#include "src/core/source.h"

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

typedef struct gr_load {
  const char *path;
  int npy, map;             /* map: a private mapping in place of a copy */
  gr_dtype dtype;           /* raw: given; NPY: found */
  int64_t offset, count;    /* raw: bytes to skip, elements to take (-1: all there are) */
  gr_npy header;            /* NPY: found */
  gr_source source;         /* from begin to end */
  gr_blocks blocks;         /* of a stream whose length nobody knew */
} gr_load;

/*
** In three steps, so that the caller may make room between the first and the second, and try the second again: begin
** finds out how many elements of what (dtype, count, header); finish makes the array; end goes with every begin,
** whatever became of it. GR_SYSTEM: errno says why. GR_BAD: the file is not what it claims, context->error says how.
*/
gr_status gr_load_begin(gr_context *, gr_load *);
gr_status gr_load_finish(gr_context *, gr_load *, gr_array *out);
void gr_load_end(gr_load *);

/* Raw elements, or NPY of that shape, whose product is a->n. The file is replaced whole (save.h). */
gr_status gr_file_save(gr_context *, const char *path, const gr_array *a, int npy, int dimensions,
                       const int64_t *shape);

/* ---- NPY (npy.c) ---- */

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
  char *to;      /* where all of them go */
  int64_t place; /* of the next one, in bytes */
  int size, dimensions;
  int64_t at[GR_MAX_DIMENSIONS], length[GR_MAX_DIMENSIONS], step[GR_MAX_DIMENSIONS]; /* step: bytes */
} gr_turn;
void gr_turn_begin(gr_turn *, const gr_npy *, void *to);
void gr_turn_put(gr_turn *, const void *elements, int64_t n);

#endif
