/* A formula and what its names stand for become an expression. */
#ifndef GR_FORMULA_BIND_H
#define GR_FORMULA_BIND_H

#include "src/core/formula/expression.h"
#include "src/core/formula/formula.h"

/* What a name stands for: one of the three; or an input of that number and dtype that comes with each job. */
typedef struct gr_given {
  const gr_array *array;
  const gr_expression *expression;
  gr_number number;
  int comes, input;
  gr_dtype dtype;
} gr_given;

/* The bytes of an expression that a formula may become with these. */
size_t gr_formula_expression_room(const gr_formula *, const gr_given *);

/* e: such a block, empty. given: one for each name; n: the length where no array says it, or -1. */
gr_status gr_formula_bind(gr_context *, const gr_formula *, const gr_given *given, int64_t n, gr_expression *e);

/* A name and what it stands for. */
typedef struct gr_named {
  char name[16];
  gr_given given;
} gr_named;

/* The text with these, all names of which are among them, in memory of its own; the caller drops *out, even after a
   failure. */
gr_status gr_formula_express(gr_context *, const char *text, const gr_named *, int count, gr_expression **out);

/*
** What the formula comes to, by steps of an expression that is being made. meanings: room for one a phrase. length:
** what n stands for; NULL: the length.
*/
gr_status gr_formula_mean(gr_builder *, const gr_formula *, const gr_given *, const gr_given *length,
                          gr_meaning *meanings, gr_meaning *out);
/* How many steps, and how many numbers, that may take. */
int gr_formula_steps(const gr_formula *);

/* An expression of an array's elements, in a block for one node and one input. */
gr_status gr_expression_of(gr_context *, const gr_array *, gr_expression *e);

/* A row or a column (GR_ROW, GR_COLUMN) for all of what it meets, in such a block; its length is not known yet. */
gr_status gr_expression_spread(gr_context *, const gr_array *, gr_spread, gr_expression *e);

/* What operators on expressions do. */
typedef enum gr_combining {
  GR_COMBINES_MAP,
  GR_COMBINES_POWER,
  GR_COMBINES_AND,
  GR_COMBINES_OR,
  GR_COMBINES_NOT,
  GR_COMBINES_MASK
} gr_combining;
typedef struct gr_combination {
  gr_combining does;
  gr_map op; /* of GR_COMBINES_MAP; the operands are those of gr_map_job (of where the mask is the third) */
  gr_relation relation;
  gr_dtype to;
  int count;         /* operands */
  gr_given given[3]; /* one of them at least is no number */
} gr_combination;
size_t gr_combination_room(const gr_combination *);
gr_status gr_expression_combine(gr_context *, const gr_combination *, gr_expression *e);

#endif
