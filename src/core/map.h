/* Element operators and compaction on arrays. As in ops.h: callers have checked, failures have words. */
#ifndef GR_CORE_MAP_H
#define GR_CORE_MAP_H

#include "src/core/array.h"

/* An array, or (array == NULL) the bits of a number in its place; see gr_map_job. */
typedef struct gr_term {
  const gr_array *array;
  uint64_t value;
} gr_term;

typedef struct gr_map_call {
  gr_map op;
  gr_relation relation; /* of compare */
  gr_tally tally;       /* compare counts: out is a dense array of gr_tally_length(n) i64 */
  gr_dtype dtype;       /* of a and b */
  gr_term a, b, c;
} gr_map_call;

static inline int64_t gr_tally_length(int64_t n) { return (n + GR_TALLY - 1) / GR_TALLY; }

/*
** The number, of any size and kind, as the right side of a comparison with elements of that dtype: its bits, and
** the relation
** that then says the same. NULL, or why it cannot be, in text.
*/
const char *gr_compare_number(gr_dtype, gr_relation *, const gr_number *, uint64_t *value, char text[96]);

/* The rows of the operand that is a matrix: what comes of a matrix and a vector of its length is one, too. Or 0. */
int64_t gr_map_rows(const gr_map_call *);

/* out has the length of the arrays, and may be one of them. */
gr_status gr_map_arrays(gr_context *, const gr_map_call *, gr_array *out);
gr_status gr_cast(gr_context *, const gr_array *a, gr_array *out); /* to the dtype of out */

/* out has as many elements as mask has that are not zero. */
gr_status gr_compact(gr_context *, const gr_array *a, const gr_array *mask, gr_array *out);
/*
** The same where nobody has counted: *kept is how many there are. out becomes a new array of them, or (into) a view of
** the first elements of into; it is none if there is no room for them there, and nothing is written.
*/
gr_status gr_compact_counting(gr_context *, const gr_array *a, const gr_array *mask, const gr_array *into,
                              gr_array *out, int64_t *kept);

#endif
