/* Arrays in files: raw elements, and NumPy's NPY format 1.0 to 3.0 (C order, little-endian). */
#ifndef GR_FILE_H
#define GR_FILE_H

#include "src/core/array.h"

#define GR_MAX_DIMENSIONS 32

typedef struct gr_npy {
  gr_dtype dtype;
  int dimensions;
  int64_t shape[GR_MAX_DIMENSIONS];
  int64_t n;           /* product of shape */
  int64_t data_offset; /* of the elements in the file */
} gr_npy;

typedef struct gr_load {
  const char *path;
  int npy, map; /* map: a private mapping in place of a copy */
  gr_dtype dtype;           /* raw: given; NPY: found */
  int64_t offset, count;    /* raw: bytes to skip, elements to take (-1: all there are) */
  gr_npy header;            /* NPY: found */
} gr_load;

/* GR_SYSTEM: errno says why. GR_BAD: the file is not what it claims, context->error says how. */
gr_status gr_file_load(gr_context *, gr_load *, gr_array *out);

/* dimensions 0: raw elements; else NPY of that shape, whose product is a->n. */
gr_status gr_file_save(gr_context *, const char *path, const gr_array *a, int npy, int dimensions, const int64_t *shape);

/* The NPY header at the start of a file of file_bytes, whose first bytes are given (npy.c). */
gr_status gr_npy_parse(gr_context *, const unsigned char *bytes, size_t have, int64_t file_bytes, gr_npy *out);
/* How many bytes of the file the parser must see, from its first 12; 0: not NPY. */
size_t gr_npy_header_bytes(const unsigned char *first12);
/* Writes a header into text (room for 4096) and returns its length, or 0 for a dtype that NPY has not. */
size_t gr_npy_format(char *text, gr_dtype, int dimensions, const int64_t *shape);

#endif
