/*
** What the parts of the driver of custom operators share. Programs run in blocks (kernels/cpu/formula/block.h) on
** arrays of states, which a thread keeps in a workspace: many vectors, lanes and leaves take a step of the tree at
** once.
*/
#ifndef GR_CPU_OPERATOR_H
#define GR_CPU_OPERATOR_H

#include <stdatomic.h>
#include "kernels/cpu/formula/block.h"
#include "kernels/operator.h"

#define GR_FOLD_WIDTH 2048 /* states side by side */
#define GR_FOLD_INPUTS (2 * GR_OPERATOR_STATES)
#define GR_MOST_PIECES 512 /* of one vector */

/* A program as it runs. */
typedef struct gr_called {
  gr_block_plan plan;
  gr_formula_job job;
  gr_program program;
  gr_vec inputs[GR_FOLD_INPUTS];
  gr_consumer consumers[GR_OPERATOR_STATES];
  const int32_t *nodes; /* what it gives, count of them; and their sizes */
  int count, size[GR_OPERATOR_STATES];
} gr_called;

/* One array of so many positions for each state. */
typedef struct gr_states {
  char *at[GR_OPERATOR_STATES];
} gr_states;

typedef struct gr_operating {
  const gr_operator_job *job;
  gr_called map, merge, finish;
  int size;            /* of an element */
  int64_t lanes, leaf; /* of the tree, for elements of that size */
  int64_t tiles;       /* of a scan's piece */
  int64_t set_bytes;   /* of a workspace */
  char *memory;        /* of workspaces */
  atomic_int *taken;   /* workspaces in use */
  gr_states pieces;    /* of one long vector: GR_MOST_PIECES states */
  int sets;
} gr_operating;

/* Vectors of one length, taken together. */
typedef struct gr_bundle {
  const char *base;       /* of the first; NULL: each has its own */
  const char *const *own; /* where each begins */
  int64_t step, stride;   /* bytes from a vector to the next, from an element to the next */
  int64_t n, count;
  int64_t first; /* elements of the vector that lie before */
} gr_bundle;

/* What a thread works in: arrays of GR_FOLD_WIDTH positions. */
typedef struct gr_work {
  const gr_operating *o;
  int set;
  char *x;           /* elements in the order of the states */
  int64_t *position; /* and where they are in their vector, from 1 */
  double *counts;
  gr_states now, next, row, nodes; /* now: the result of each step */
  int64_t node_count, leaf_count;  /* of nodes: how many, for how many leaves */
  gr_states results;
  char *list, *planes; /* of segments: where they are; of what is folded in order */
} gr_work;

/* ---- run.c ---- */

gr_work gr_work_take(gr_operating *);
void gr_work_give(gr_operating *, const gr_work *);
int64_t gr_operator_size(const gr_operating *, int state);

/* m states: of elements and positions; of a left and a right array from those positions on, into `to` from there on. */
void gr_work_map(gr_work *, const char *x, const int64_t *position, gr_states to, int64_t m);
void gr_work_merge(gr_work *, gr_states left, int64_t l, gr_states right, int64_t r, gr_states to, int64_t t,
                   int64_t m);
void gr_work_copy(const gr_work *, gr_states from, int64_t f, gr_states to, int64_t t, int64_t m);
/* The identity, m times. */
void gr_work_fill(const gr_work *, gr_states to, int64_t t, int64_t m);
/* Results of m states, each made of counts[k] elements, into work->results. */
void gr_work_finish(gr_work *, gr_states from, const double *counts, int64_t m);
static inline void gr_swap(gr_states *a, gr_states *b) {
  const gr_states c = *a;
  *a = *b;
  *b = c;
}
/* Elements with strides on both sides. */
void gr_spread_elements(int size, char *to, int64_t pitch, const char *from, int64_t stride, int64_t m);

/* ---- fold.c: the tree; order.c: in order ---- */

/* The states of a bundle's vectors, all of n >= 1 elements, into work->now; how many vectors a bundle may have. */
void gr_fold_bundle(gr_work *, const gr_bundle *);
int64_t gr_fold_together(const gr_operating *, int64_t n);
/* The state in w->now joins those before it: of so many leaves. At the end all are folded into w->now. */
void gr_fold_push(gr_work *, int64_t leaves);
void gr_fold_collect(gr_work *);
/* Of one vector by all threads. */
void gr_fold_long(gr_operating *, const gr_bundle *, gr_parallel, gr_work *);

int64_t gr_order_bytes(const gr_operating *); /* of a workspace, for its planes */
int64_t gr_order_together(const gr_operating *, int64_t n);
void gr_order_bundle(gr_work *, const gr_bundle *);
void gr_order_long(gr_operating *, const gr_bundle *, gr_parallel, gr_work *);
void gr_order_scan(gr_operating *, gr_parallel);
/* A part of a vector that lies over ranks: the states of its tiles, or of its last element, into work->now. */
void gr_order_part(gr_operating *, gr_parallel, gr_work *);
static inline int gr_in_order(const gr_operator_job *job) {
  return job->scans || job->op->ordered || job->part == GR_OPERATOR_TILES;
}

#endif
