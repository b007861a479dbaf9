/*
** An operator of somebody's own as backends get it: what makes states of an element, what merges the states of two
** neighbours, and what makes results of the last. Each is a program (formula.h), so what holds for formulas holds here:
** the same structure is the same code, whatever the numbers are.
*/
#ifndef GR_OPERATOR_H
#define GR_OPERATOR_H

#include "kernels/formula.h"

#define GR_OPERATOR_STATES 6 /* of an operator; and as many results */

/*
** What a program gives: an operand as in gr_node, a node or (~k) number k, which is then an element of that dtype.
** Inputs, all of them spread as GR_EACH:
**   map     0: the element; its place in its vector is a GR_NODE_POSITION
**   merge   2 k: state k of the left part, 2 k + 1: of the right one
**   finish  k: state k of the whole; `states`: how many elements it is made of, an f64
*/
typedef struct gr_operator {
  gr_program map, merge, finish;
  gr_dtype dtype; /* of elements */
  int32_t states, results;
  int32_t ordered;  /* the merge does not commute: folded in the order of a scan, whose tree it has */
  int32_t position; /* whether map takes it */
  int32_t counts;   /* whether finish takes how many there are */
  gr_dtype state[GR_OPERATOR_STATES], result[GR_OPERATOR_STATES];
  uint64_t identity[GR_OPERATOR_STATES]; /* elements, in the lowest bytes: what nothing comes to */
  int32_t mapped[GR_OPERATOR_STATES], merged[GR_OPERATOR_STATES], finished[GR_OPERATOR_STATES];
} gr_operator;

/*
** Reduce each of count vectors of a, as gr_reduce_job says with its n, count, a and offsets (all positions are sound,
** and longest is the longest segment); along the tree of a's dtype, or in order. Absent elements are not merged: states
** of nothing are the identity only where a vector has no element at all. Or a scan of the only vector.
** Result k of vector v (of a scan: at position v) goes to out[k].
**
** On the CPU also parts of a vector that lies over ranks. Where the merge commutes: GR_OPERATOR_STATES_OF: the states
** of a node, whose first element is at position `first` (from 0), go to out. GR_OPERATOR_NODES: a.data are states, 8
** bytes each, of so many nodes from left to right with so many leaves each; they are folded to the results of n
** elements.
**
** In order, of a scan or a merge that does not commute, whose elements lie as the scan meets them also where it is
** reversed: `first` of `whole` lie before them, whole tiles. GR_OPERATOR_TILES: the states of a node of the scan's
** tree, of tiles, go to out. GR_OPERATOR_PART: `nodes` such nodes lie before, whose states are in `before` as above and
** which have leaves[k] tiles each; results are those of a scan, or of the last element, by all before it.
*/
enum { GR_OPERATOR_WHOLE, GR_OPERATOR_STATES_OF, GR_OPERATOR_NODES, GR_OPERATOR_TILES, GR_OPERATOR_PART };
typedef struct gr_operator_job {
  const gr_operator *op;
  int64_t n, count, longest;
  gr_vec a;
  const void *offsets;
  int32_t offsets_are_i32;
  int32_t scans, exclusive, reverse, part;
  int64_t first, whole, nodes;
  const uint64_t *before;
  const int64_t *leaves;
  gr_vec out[GR_OPERATOR_STATES];
} gr_operator_job;

#endif
