/* Arrays in files: raw elements, and NPY. */
#ifndef GR_FILE_H
#define GR_FILE_H

#include "src/core/array.h"
#include "src/core/npy.h"
#include "src/core/source.h"

typedef struct gr_load {
  const char *path;
  int npy, map;          /* map: a private mapping instead of a copy */
  gr_dtype dtype;        /* raw: given; NPY: found */
  int64_t offset, count; /* raw: bytes to skip, elements to take (-1: all there are) */
  gr_npy header;         /* NPY: found */
  gr_source source;      /* from begin to end */
  gr_blocks blocks;      /* of a stream whose length nobody knew */
} gr_load;

/*
** Loading in three steps, so that the caller may make room between the first and the second, and repeat the second:
** begin finds out how many elements of which dtype there are (dtype, count, header), finish makes the array, and end
** must follow every begin, even one that failed. GR_SYSTEM: errno says why. GR_BAD: the file is not what it claims, and
** context->error says how.
*/
gr_status gr_load_begin(gr_context *, gr_load *);
gr_status gr_load_finish(gr_context *, gr_load *, gr_array *out);
void gr_load_end(gr_load *);

/* Whether a path is that of an NPY file: its name ends in .npy. */
int gr_file_is_npy(const char *path);

/* Raw elements, or NPY of that shape, whose product is a->n. The file is replaced whole (save.h). */
gr_status gr_file_save(gr_context *, const char *path, const gr_array *a, int npy, int dimensions,
                       const int64_t *shape);

/*
** Over the ranks of the context's communicator. Between gr_load_begin, whose status is `mine`, and gr_load_finish: the
** load becomes one of this rank's part (of a matrix of its rows), which begins at *first, from 0. A failure of the
** system is put into words, as only one rank may have had it.
*/
gr_status gr_load_part(gr_context *, gr_load *, int64_t *first, gr_status mine);
/* After gr_load_finish, whose status is `mine`: all ranks have their parts, or none. */
gr_status gr_load_agree(gr_context *, const gr_load *, gr_status mine);
/* All parts in one file, in the order of the ranks. Each writes its own; the file is replaced whole, too. */
gr_status gr_file_save_ranks(gr_context *, const char *path, const gr_array *a, int npy);

#endif
