/*
** An expression: a program of typed steps, the arrays it reads and the numbers it takes. It holds the arrays as views
** do, so that their memory lives as long as it does. It lies in one block that its owner gives.
**
** It is made by a builder, which says what does not fit with what in words (GR_BAD) and never asks for memory.
*/
#ifndef GR_EXPRESSION_H
#define GR_EXPRESSION_H

#include "kernels/formula.h"
#include "src/core/array.h"
#include "src/core/formula/number.h"

/* How many parts there are in an expression, or room for. */
typedef struct gr_parts {
  int nodes, numbers, inputs;
} gr_parts;

typedef struct gr_expression {
  gr_program program;
  gr_array *inputs;
  uint64_t *ids;    /* of numbers: those of one id are one, wherever expressions meet again that share it */
  gr_queue *where;  /* of an expression without arrays */
  int64_t n;        /* positions; -1: not known yet, of a row, a column or a scalar alone (gr_expression_line) */
  int64_t columns;  /* of the matrix that rows and columns mean, or 0 */
  int64_t bare;     /* rows of a matrix that has no columns, or 0 */
  int32_t matrix;   /* its elements are one: a matrix is among its inputs, or gr.row or gr.column */
  int32_t result;   /* the node that it comes to */
  int32_t released; /* by its owner: nobody may use it */
  gr_parts room;
} gr_expression;

/* What a part of it is: a node, or (node < 0) a number. */
typedef struct gr_meaning {
  int node;
  gr_number number;
} gr_meaning;

typedef struct gr_builder {
  gr_context *context;
  gr_expression *e;
  int16_t heads[256];
} gr_builder;

/* Those of an expression, or of an array (NULL), besides; and whether one may have so many. */
void gr_parts_add(gr_parts *, const gr_expression *);
static inline int gr_parts_fit(gr_parts p) {
  return p.nodes <= GR_FORMULA_NODES && p.numbers <= GR_FORMULA_NODES && p.inputs <= GR_FORMULA_INPUTS;
}

size_t gr_expression_room(gr_parts);
void gr_expression_settle(const gr_expression *); /* before a release that who owns wrapped memory asks for */
void gr_expression_release(gr_expression *);      /* lets go of its arrays: who uses it then meets GR_RELEASED */
void gr_expression_drop(gr_expression *);         /* the same, and frees its block, which malloc gave; or NULL */

/* Begins an empty one in a block that has room for those parts; or in a new block: *e is NULL where there is none. */
void gr_builder_start(gr_builder *, gr_context *, gr_expression *e, gr_parts);
gr_status gr_builder_start_new(gr_builder *, gr_context *, gr_expression **e, gr_parts);

/* ---- parts; each of them once, however often it is asked for ---- */

gr_status gr_build_input(gr_builder *, const gr_array *, gr_spread, int *node);
/* Input number `input` of each job, of that dtype: no array of the expression's. */
gr_status gr_build_coming(gr_builder *, gr_dtype, int input, int *node);
gr_status gr_build_position(gr_builder *, int *node);
/* All of another expression; *node: what it comes to here. */
gr_status gr_build_merge(gr_builder *, const gr_expression *, int *node);
/* A step whose operands are there. */
gr_status gr_build_step(gr_builder *, gr_node, int *node);
/* A place for the bits of a number: an operand. id: 0 for a new number. */
gr_status gr_build_number(gr_builder *, uint64_t bits, uint64_t id, int *operand);

/* Inputs have all been given, and it comes to that node: checks rows and columns. */
gr_status gr_build_end(gr_builder *, int node);

/* ---- looking ---- */

static inline int gr_expression_alive(const gr_expression *e) { return e->program.count > 0 && !e->released; }
static inline gr_dtype gr_expression_dtype(const gr_expression *e) {
  return (gr_dtype)e->program.nodes[e->result].dtype;
}
/* The rows of its elements as a matrix, or 0. */
static inline int64_t gr_expression_rows(const gr_expression *e) {
  return !e->matrix ? 0 : e->columns ? e->n / e->columns : e->bare;
}
/* Whether it is a row, a column or a scalar alone, whose length is that of what it meets. */
static inline int gr_expression_line(const gr_expression *e) { return e->n < 0; }
#define GR_LINE_ALONE "a row, a column or a scalar alone has no length: use its array"
/* The queue of its arrays, which all have it in common. */
gr_queue *gr_expression_queue(const gr_expression *);
/* Its steps in words, a line each; returns the length, which may be more than size. */
size_t gr_program_text(const gr_program *, char *text, size_t size);

/*
** An array of its dtype and length beside its own, which is nowhere yet and asks for no memory until it is stored
** to.
*/
gr_status gr_expression_promise(gr_context *, const gr_expression *, gr_array *out);

#endif
