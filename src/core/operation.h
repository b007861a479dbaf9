/* Names of operations, and the dtype of results, from the tables in kernels/tables.h. */
#ifndef GR_OPERATION_H
#define GR_OPERATION_H

#include "kernels/numerics/numerics.h"

/* One row for each operation: its name and what it gives. */
typedef struct gr_op_info {
  const char *name;
  int inputs, raises_on_empty;
  enum { GR_GIVES_F64, GR_GIVES_I64, GR_GIVES_SAME, GR_GIVES_BOOL } floats, integers;
} gr_op_info;
extern const gr_op_info gr_ops[GR_OP_COUNT];

/* Names in the order of their enums; NULL ends each list. Relations are called as they are written: '<'. */
extern const char *const gr_op_names[], *const gr_map_names[], *const gr_relation_names[];
extern const char *const gr_scanned_names[], *const gr_put_names[]; /* operations that scans take; ways to put */

/* Compares short words: a call of strcmp takes as long as a small reduction. */
static inline int gr_same_word(const char *a, const char *b) {
  while (*a && *a == *b) a++, b++;
  return *a == *b;
}

int gr_op_named(const char *name); /* or -1 */

gr_dtype gr_result_dtype(gr_op op, gr_dtype dtype); /* of an array of results */

#endif
