/*
** What becomes of expressions. In one pass where the backend can; else their elements go to an array first, by the
** steps
** one after the other, and the operation takes that: the same bits. As in ops.h: callers have checked, failures
** have words.
*/
#ifndef GR_FORMULA_RUN_H
#define GR_FORMULA_RUN_H

#include "src/core/formula/expression.h"
#include "src/core/ops.h"

/* The elements, into an array of the dtype and length, which may be one of the inputs that are read side by side. */
gr_status gr_expression_eval(gr_context *, const gr_expression *, gr_array *out);

/*
** An operand of a reduction: an array; or an expression, and an array of its dtype and length that nothing has been
** stored to, which takes its elements if they must be somewhere.
*/
typedef struct gr_reduced {
  const gr_expression *e; /* NULL: the array alone */
  gr_array *a;            /* NULL: no operand */
} gr_reduced;
#define GR_NONE ((gr_reduced){NULL, NULL})

/* Its elements are in its array from now on. */
gr_status gr_reduced_eval(gr_context *, gr_reduced *);
gr_status gr_reduced_eval_both(gr_context *, gr_reduced *, gr_reduced *);

/* As gr_reduce_all and gr_reduce_each (ops.h). */
gr_status gr_formula_reduce_all(gr_context *, gr_op, gr_reduced a, gr_reduced b, double ddof, gr_value *result);
gr_status gr_formula_reduce_each(gr_context *, gr_op, gr_shape, gr_reduced a, gr_reduced b, double ddof, gr_array *out,
                                 gr_array *out2);

/*
** Whether a reduction takes its operands in one pass, without their elements anywhere (into dense results; but for
** squares of f64 that leave its range); and the bytes that it reads of an expression's arrays.
*/
int gr_formula_fuses(gr_op, gr_shape, gr_reduced a, gr_reduced b);
int64_t gr_expression_reads(const gr_expression *);

/*
** Operations that take elements as they are made, where the backend can: whether it does so with these operands (either
** may be an array; b.a NULL: there is none), of which `out` shares no memory with what they read, unless it is NULL;
** and the operation, whose job has all but these vectors. sums: of an exact one. GR_NOT_FUSED: nothing was done,
** and the elements must be stored; not where the backend takes all.
*/
int gr_formula_feeds(gr_feeding, gr_reduced a, gr_reduced b, const gr_array *out);
gr_status gr_formula_feed(gr_context *, gr_feeding, gr_reduced a, gr_reduced b, const void *job, gr_exact *sums,
                          const char *name);

/* Several reductions in one pass, of operands of one length on one device: results[k] as gr_reduce_all gives them. */
typedef struct gr_wanted {
  gr_op op;
  gr_reduced a, b;
  double ddof;
} gr_wanted;
int gr_formula_together(const gr_wanted *, int count); /* whether that is so, and the device can */
/*
** Merges all operands into one new expression, and fills in its consumers. The caller frees *e, even after a failure;
** NULL: there was no memory.
*/
gr_status gr_formula_merge(gr_context *, const gr_wanted *, int count, gr_consumer *, gr_expression **e);
/*
** What consumers make of an expression, squares in whatever range (gr_may_overflow); GR_NOT_FUSED: nothing was done.
*/
gr_status gr_formula_values(gr_context *, const gr_expression *, gr_consumer *, int count, gr_value *results);
gr_status gr_formula_reduce_together(gr_context *, gr_wanted *, int count, gr_value *results);
/* Stores an operand's elements; all of them take them from there that have the same array. */
gr_status gr_formula_store(gr_context *, gr_wanted *, int count, gr_reduced);
/*
** One of them into a ticket, as the backend's start (backend.h), where it takes an expression as it is: *job then says
** what comes. GR_NOT_FUSED: it does not, and nothing was done.
*/
gr_status gr_formula_start(gr_context *, const gr_wanted *, gr_reduce_job *job, gr_ticket *);
/*
** As gr_formula_reduce_each, each vector's result being that of as many elements as `present` is not 0 in (a sum's 0,
** if there are none): GR_NOT_FUSED, and nothing is done, where the backend cannot count them in the same pass; counts:
** whether it may. Not of columns or segments; a backend that feeds operations has other ways.
*/
int gr_formula_counts(gr_shape, gr_reduced a);
gr_status gr_formula_reduce_counted(gr_context *, gr_op, gr_shape, gr_reduced a, gr_reduced b, gr_reduced present,
                                    gr_array *out);
/*
** The same of operands in which NaN is filled (gr_filling_for), by kernels that leave it out: means, extremes (minmax
** as min is filled) and positions, of none NaN and 0. GR_NOT_FUSED, and nothing is done, where no kernel does.
*/
gr_status gr_formula_reduce_present(gr_context *, gr_op, gr_shape, gr_reduced a, gr_reduced b, gr_array *out,
                                    gr_array *out2);
/* Of operands that lie over ranks, up to GR_FORMULA_TOGETHER in one exchange. mine: whether this rank has them. */
gr_status gr_formula_reduce_ranked(gr_context *, gr_wanted *, int count, gr_status mine, gr_value *results);

/*
** The same of each vector, into dense arrays: GR_NOT_FUSED, and nothing is done, where that is not one pass.
*/
gr_status gr_formula_reduce_each_together(gr_context *, gr_shape, const gr_wanted *, int count, gr_array *const *out);

#endif
