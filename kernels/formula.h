/*
** A formula as backends get it: a program of typed steps in topological order, and what becomes of its results. Each
** step is one row of GR_MAPS on operands that are earlier nodes or numbers, and gives the bits of that element operator
** run by itself: what it computes is rounded to its dtype before anybody reads it.
**
** Structure and values are apart, so that a backend that compiles can go by the structure alone: nodes hold no number,
** only places in `numbers`; inputs are numbered, and their vectors and lengths come with the job. Two programs whose
** nodes, dtypes of inputs and consumers are the same are the same code.
*/
#ifndef GR_FORMULA_H
#define GR_FORMULA_H

#include "kernels/jobs.h"

#define GR_FORMULA_NODES 4096 /* of a program, and of a formula's text */
#define GR_FORMULA_INPUTS 64  /* arrays */
#define GR_FORMULA_TOGETHER 8 /* consumers in one pass */
#define GR_FORMULA_DEPTH 200  /* steps on the longest way from an input to a result */

typedef enum gr_node_kind {
  GR_NODE_INPUT,    /* element k of input `input`, as its spread says */
  GR_NODE_POSITION, /* k + 1, i64 */
  GR_NODE_STEP      /* op(a, b, c) */
} gr_node_kind;

/* Which element of an input belongs to position k of a matrix of so many columns. */
typedef enum gr_spread {
  GR_EACH,  /* k */
  GR_ONE,   /* the only one */
  GR_ROW,   /* k % columns: one row for all rows */
  GR_COLUMN /* k / columns: one column for all columns */
} gr_spread;
#define GR_TRUTH 1 /* in its place, of a step: gives 0 and 1 alone */

/* An operand: a node (0 or more), or ~k for number k. */
#define GR_IS_NUMBER(operand) ((operand) < 0)
#define GR_NUMBER_OF(operand) (~(operand))

typedef struct gr_node {
  uint8_t kind;  /* gr_node_kind */
  uint8_t dtype; /* of the result */
  uint8_t from;  /* steps: the dtype of a and b, in which it is computed as gr_map_rule says */
  uint8_t op;    /* steps: gr_map */
  uint8_t relation;
  uint8_t input; /* inputs: which one */
  uint8_t spread;
  uint8_t height;  /* steps on the longest way here */
  int16_t a, b, c; /* operands as in gr_map_job; as many as the operator takes (where: c is the mask, u8) */
  int16_t next;    /* of the builder: another node of the same hash */
} gr_node;

/* A number has the dtype `from` of its step, or f64 where that widens integers (gr_map_job says the same). */
typedef struct gr_program {
  gr_node *nodes;
  uint64_t *numbers;
  int32_t count, number_count, input_count;
} gr_program;

/* A reduction of node a, or of nodes a and b: as gr_reduce_job, whose vectors are not used. */
typedef struct gr_consumer {
  gr_reduce_job job;
  int32_t a, b;
} gr_consumer;

/*
** Operations that take a formula's elements as they are made. Columns are a reduction: element k of vector v is
** position k * count + v. PRESENT is a reduction to arrays of what is not NaN, of operands in which NaN is filled
** (filling.h): rows or columns as the job's a.step and a.stride say. Means divide by how many elements there are; of
** none means and extremes are NaN, positions 0; minmax takes what min does.
*/
#define GR_FEEDINGS(X) X(COLUMNS) X(PRESENT) X(HISTOGRAM) X(WEIGHTS) X(SCAN) X(COMPACT) X(EXACT)
typedef enum gr_feeding {
  GR_FEEDS_NOTHING,
#define GR_X(name) GR_FEEDS_##name,
  GR_FEEDINGS(GR_X)
#undef GR_X
} gr_feeding;
#define GR_FEEDS_ALL (~0u) /* a bit for each */

/*
** Positions 0 .. n - 1. Either every one of node `result` is stored to out (consumer_count == 0); or it is reduced:
** by several consumers to one number each, all of them of whole vectors of n, whose words (two a consumer) go to the
** host as gr_backend.reduce gives them; or by one consumer (where a backend feeds operations, by several, which agree
** in the vectors) to job.count vectors, into job.out: vector v is positions v * job.n .. v * job.n + job.n - 1, or its
** segment. Vectors have the tree of a vector that lies in memory. Or by two (where a backend does not) of which the
** second, a count, has no job.out: results of the first are those of as many elements.
**
** Or (feeds) it is what an operation takes: nodes a and b stand for vectors of its job (a and b, of weights: a and w;
** of compact: a and mask; b -1: no such vector), which are not used, except as said of PRESENT. sums: of an exact sum.
*/
typedef struct gr_formula_job {
  const gr_program *program;
  const gr_vec *inputs;
  int64_t n, columns; /* columns: of the matrix that spreads mean; n without one */
  int32_t result, consumer_count;
  const gr_consumer *consumers;
  gr_vec out;
  uint64_t *words; /* NULL: into job.out of the first consumer */
  gr_feeding feeds;
  int32_t a, b;
  const void *operation; /* a gr_reduce_job, or a gr_histogram_job, gr_weights_job, ... */
  struct gr_exact *sums;
} gr_formula_job;

#endif
