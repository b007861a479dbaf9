/*
** Operations on arrays: they bring the inputs to the side where the kernels run, mark the outputs, and hand a job
** to the backend. Callers have checked shapes and dtypes (the binding words those errors); all arrays of
** one call live on one backend. On failure context->error has the words.
*/
#ifndef GR_OPS_H
#define GR_OPS_H

#include "src/core/copy.h"
#include "src/core/operation.h"
#include "src/core/segments.h"

/*
** How an array is read as a matrix: rows 0 means flat. axis 2 reduces along each row, 1 down each column. Or
** segments, which go with no rows.
*/
typedef struct gr_shape {
  int64_t rows;
  int axis;
  int pairs; /* two inputs: row by row; else every row of a with the whole of b */
  const gr_segments *segments;
} gr_shape;

/*
** A reduction as it is asked for. exact: correctly rounded; custom: in op's place (formula/operator.h), or NULL; fused:
** it is known that its expressions were taken in one pass.
*/
typedef struct gr_reduction {
  gr_op op;
  const struct gr_custom *custom;
  gr_shape shape;
  const gr_array *a, *b;                 /* b: NULL with one input */
  const struct gr_expression *of, *with; /* whose elements these would be (formula/expression.h), or NULL */
  double ddof;
  int exact, fused;
} gr_reduction;

/* Whoever watches the calls of a's context (explain.c) is told before anything is done. */
void gr_tell(gr_op, gr_shape, const gr_array *a, const gr_array *b, double ddof, int exact);

/* How many vectors of which length (of segments: the shortest) a shape makes of n elements. */
int64_t gr_shape_results(gr_shape, int64_t n);
int64_t gr_shape_length(gr_shape, int64_t n);

/* Vector k (0-based) of them, as a part of the array; of an array without elements one without any. */
gr_array gr_shape_vector(gr_shape, const gr_array *a, int64_t k);

/* The inputs, current on that side and cut into rows or columns; b may be NULL, or one vector for all rows of a. */
gr_status gr_shape_read(gr_shape, gr_side, const gr_array *a, const gr_array *b, gr_vec *va, gr_vec *vb);

/* The vectors of a job whose a and b are set to the whole arrays: how many, how long, and where. */
void gr_shape_cut(gr_shape, const gr_array *a, const gr_array *b, gr_reduce_job *);

/* The job of one vector of so many elements; where they lie is not in it yet. */
static inline gr_reduce_job gr_reduce_job_new(gr_op op, gr_dtype t, int64_t n, double ddof) {
  return (gr_reduce_job){.op = op, .dtype = t, .n = n, .count = 1, .ddof = ddof, .scale_a = 1, .scale_b = 1};
}

/* The same as gr_reduce_all with ddof 0, for short dense vectors in the CPU's memory; 0: another way is needed. */
int gr_reduce_small(gr_op, const gr_array *a, const gr_array *b, gr_value *result);
int gr_reduce_is_small(const gr_array *a, const gr_array *b); /* whether they are, for those who only ask */

/* One number (minmax: two) from the whole array; waits. b is NULL for operations of one input. */
gr_status gr_reduce_all(gr_context *, gr_op, const gr_array *a, const gr_array *b, double ddof, gr_value *result);

/*
** The same by steps, for futures: the job (inputs are brought to the side of the kernels), whether its squares may
** leave the safe range (then the second word is 0.0), and the factor that brings largest near 1 (0: it cannot).
*/
gr_status gr_reduce_job_of(gr_op, const gr_array *a, const gr_array *b, double ddof, gr_reduce_job *);
int gr_may_overflow(gr_op, gr_dtype);
double gr_scale_near_one(double largest);

/* The whole of an array on the way of another reduction, of which alone a trace tells. */
gr_status gr_reduce_quietly(gr_context *, gr_op, const gr_array *, gr_value *result);

/*
** Reduces those vectors again, one by one, whose squares left the safe range, into out: flags are 1 for the others, 0
** also for vectors of zeros alone.
*/
gr_status gr_reduce_redo(gr_context *, gr_op, gr_shape, const gr_array *a, const gr_array *b, gr_array *out,
                         gr_array *flags);

/* Whether each result is known, as a position in rows or columns of one element, which is its first: 1. */
static inline int gr_is_only_place(gr_op op, gr_shape s, int64_t n) {
  return (op == GR_OP_argmin || op == GR_OP_argmax) && s.rows && n && gr_shape_length(s, n) == 1;
}

/* One number from each row or column, into out (minmax: minima; out2: maxima), arrays of the result dtype. */
gr_status gr_reduce_each(gr_context *, gr_op, gr_shape, const gr_array *a, const gr_array *b, double ddof,
                         gr_array *out, gr_array *out2);

/*
** Of each column of a matrix whose rows lie over the ranks of the context's communicator. The arrays are made here, as
** a rank without rows does not know how many columns there are; t is their dtype.
*/
gr_status gr_reduce_ranks(gr_context *, gr_op, gr_shape, const gr_array *a, const gr_array *b, double ddof, gr_dtype t,
                          gr_array *out, gr_array *out2);

/* gr_reduce_all over ranks; mine: whether this one has its arrays. Where one has not, all fail. */
gr_status gr_reduce_over_ranks(gr_context *, gr_op, const gr_array *a, const gr_array *b, double ddof, gr_status mine,
                               gr_value *result);

/*
** Several numbers of what lies over these ranks, in one exchange: for argmin and argmax also who has the position. Of
** min and max and their like no rank need have an element, but all together must.
*/
typedef struct gr_ranks_wanted {
  gr_op op;
  const gr_array *a, *b;
  double ddof;
  gr_value value;
  int rank;
} gr_ranks_wanted;
#define GR_RANKED_MOST 64
gr_status gr_reduce_ranked(gr_context *, gr_ranks_wanted *, int count, gr_status mine);

/* Of each row or column; of the whole, which over ranks is that of all parts. */
gr_status gr_scan_each(gr_context *, gr_op, gr_shape, const gr_array *a, gr_array *out, int exclusive, int reverse);
static inline gr_status gr_scan(gr_context *c, gr_op op, const gr_array *a, gr_array *out, int exclusive, int reverse) {
  return gr_scan_each(c, op, (gr_shape){.axis = 2}, a, out, exclusive, reverse);
}
gr_dtype gr_scan_dtype(gr_op, gr_dtype);
gr_status gr_rmsnorm(gr_context *, const gr_array *x, const gr_array *w, gr_array *out, int64_t rows, double eps);
gr_status gr_softmax(gr_context *, const gr_array *x, gr_array *out, int64_t rows);
/* The same dtype, length, shape and elements. */
gr_status gr_equal(gr_context *, const gr_array *a, const gr_array *b, int *equal);

#endif
