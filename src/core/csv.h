/* One column of a CSV file: a strict reader (RFC 4180) that takes the file in pieces, each byte once. */
#ifndef GR_CSV_H
#define GR_CSV_H

#include "src/core/source.h"

#define GR_CSV_FIELD_LIMIT ((size_t)1 << 20) /* of the names in a header, and of a field that is to be a number */

typedef struct gr_csv {
  /* what the caller asks for */
  const char *path;
  char separator;
  int header;         /* the first row has the names */
  const char *column; /* by name (there is a header), else NULL */
  size_t column_length;
  int64_t position; /* of the column, 1 and up; by name: found */
  gr_dtype dtype;
  /* what was found */
  int64_t width; /* fields of the first row; 0: there is none */
  gr_blocks elements;
  char *names; /* of the header, each ended by a NUL that counts */
  size_t names_length;
  int fault; /* after GR_BAD: which argument's, 1 the path and 2 the options */
  struct gr_csv_parser *parser;
  gr_source source;
} gr_csv;

/* Opens, reads and closes. What was found stays until gr_csv_end, which must follow every read. */
gr_status gr_csv_read(gr_context *, gr_csv *);
void gr_csv_end(gr_csv *);

/* The parts of a read, for bytes that are not in a file: any number of feeds, then finish. */
gr_status gr_csv_begin(gr_context *, gr_csv *);
gr_status gr_csv_feed(gr_context *, gr_csv *, const char *bytes, size_t n);
gr_status gr_csv_finish(gr_context *, gr_csv *);

#endif
