/*
** Formulas of which a kernel need not run the steps: elements with the same in the place of each that is missing,
** because it is NaN, where(x == x, x, fill), or because a mask says so, where(mask, x, fill). Whoever has kernels that
** fill as they read finds them here.
*/
#ifndef GR_FILLING_H
#define GR_FILLING_H

#include "kernels/formula.h"
#include "kernels/numerics/numerics.h"

/* Of the test x == x of floats, which is not so of NaN alone, the node x; of others -1. */
static inline int gr_tested_node(const gr_program *g, int node) {
  const gr_node *n = &g->nodes[GR_IS_NUMBER(node) ? 0 : node];
  if (GR_IS_NUMBER(node) || n->kind != GR_NODE_STEP || n->op != GR_MAP_compare || n->relation != GR_IS_eq) return -1;
  return n->a == n->b && !GR_IS_NUMBER(n->a) && gr_is_float((gr_dtype)n->from) ? n->a : -1;
}

/* The nodes of x == x, or of (x == x) * (y == y); y is -1 of the first. */
static inline int gr_is_present_test(const gr_program *g, int node, int32_t of[2]) {
  const gr_node *test = &g->nodes[node];
  of[0] = gr_tested_node(g, node);
  of[1] = -1;
  if (of[0] >= 0 || test->kind != GR_NODE_STEP || test->op != GR_MAP_mul) return of[0] >= 0;
  of[0] = gr_tested_node(g, test->a);
  of[1] = gr_tested_node(g, test->b);
  return of[0] >= 0 && of[1] >= 0;
}

/* Whether a node is where(test, x, fill), with the same number or element for all that it fills. */
static inline int gr_is_filled(const gr_program *g, int node) {
  const gr_node *n = &g->nodes[node];
  if (n->kind != GR_NODE_STEP || n->op != GR_MAP_where || GR_IS_NUMBER(n->a) || GR_IS_NUMBER(n->c)) return 0;
  return GR_IS_NUMBER(n->b) || (g->nodes[n->b].kind == GR_NODE_INPUT && g->nodes[n->b].spread == GR_ONE);
}

/* What a consumer fills, or, of a count, what it counts the present elements of. */
typedef struct gr_filled {
  int32_t of[2]; /* nodes x, and y of a pair, else -1 */
  int32_t test;  /* the node that says what is there */
  int32_t nan;   /* it is that neither is NaN; else it is a mask */
} gr_filled;

/* Whether that consumer, of so many inputs, is of this kind; counts: its reducer is COUNT, of what a test gives. */
static inline int gr_find_filled(const gr_program *g, const gr_consumer *c, int inputs, int counts, gr_filled *f) {
  int32_t tested[2];
  f->test = c->a;
  if (!counts) {
    if (!gr_is_filled(g, c->a)) return 0;
    f->test = g->nodes[c->a].c;
    if (inputs == 2 && (!gr_is_filled(g, c->b) || g->nodes[c->b].c != f->test)) return 0;
  }
  f->nan = gr_is_present_test(g, f->test, tested);
  if (counts) {
    f->of[0] = tested[0];
    f->of[1] = tested[1];
    return f->nan;
  }
  f->of[0] = g->nodes[c->a].a;
  f->of[1] = inputs == 2 ? g->nodes[c->b].a : -1;
  f->nan = f->nan && tested[0] == f->of[0] && tested[1] == f->of[1];
  return 1;
}

#endif
